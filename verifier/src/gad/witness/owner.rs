//! Whose the defects of an entry's form are: what a `J.*` finding makes false, by where it stands.

use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::gad::form::Defects;

use crate::codes::Code;
use crate::codes::gad::Affect;
use crate::codes::gad::container::LIMIT_LINE;
use crate::gad::{GadFinding, Where};

/// The findings of `defects`, which stand in the entry at `place`. `entry_type` is `None` when the type
/// isn't known.
pub(super) fn findings(
    defects: &Defects,
    entry_type: Option<EntryType>,
    place: &Where,
    findings: &mut Vec<GadFinding>,
) {
    for defect in defects.list() {
        let Some(code) = Code::lookup(defect.code.as_str()) else { continue };
        let finding = GadFinding::new(code, place.clone().at(defect.pointer.as_str()));
        findings.push(if is_input(code) {
            finding.affecting(LIMIT_LINE.affects())
        } else if code.affects().is_empty() {
            finding.affecting(owners(entry_type, &defect.pointer))
        } else {
            finding
        });
    }
    // Those that are not listed may stand anywhere in the entry.
    if defects.omitted() > 0
        && let Some(last) = findings.pop()
    {
        let affects = [&last.affects, &[Affect::R1][..], owners(entry_type, "/body/p/body/")];
        let affects = affects.concat();
        findings.push(last.affecting(&affects));
    }
}

/// Whether a finding with this code ends the evaluation.
pub(super) fn is_input(code: Code) -> bool {
    code.as_str().starts_with("IN.")
}

/// What a defect at `pointer` of an entry makes false (formats, section 9).
fn owners(entry_type: Option<EntryType>, pointer: &str) -> &'static [Affect] {
    // The line, its body and its h; the payload is the only member that another rule owns.
    let (Some(entry_type), Some(inside)) = (entry_type, pointer.strip_prefix("/body/p")) else {
        return &[Affect::R1];
    };
    if entry_type.is_signed() && is_wrapper(inside) {
        return &[Affect::R1];
    }
    match entry_type {
        EntryType::Freeze => &[Affect::R2],
        EntryType::Verdict => &[Affect::R4],
        EntryType::Probe => &[Affect::R1, Affect::R5],
        EntryType::ScopeClosed | EntryType::Flag | EntryType::Remediation => &[Affect::R6],
        EntryType::GateRequest
        | EntryType::RevisedApprovalRequest
        | EntryType::Approval
        | EntryType::Refusal => &[Affect::R7],
        // R1 is the rule that reads them; the trace can't step over them either.
        EntryType::Checkpoint => &[Affect::R1, Affect::R3],
        EntryType::Dispatch
        | EntryType::ExecutorExit
        | EntryType::ExecutionResult
        | EntryType::Claim
        | EntryType::Retry
        | EntryType::Trip
        | EntryType::PlanCompleted
        | EntryType::PlanHalted
        | EntryType::PlanSuperseded
        | EntryType::NonconformanceNotice => &[Affect::R3],
    }
}

/// Whether this place of a signed payload belongs to the signed form and not to the table of its type.
fn is_wrapper(inside: &str) -> bool {
    let Some(member) = inside.strip_prefix("/body/") else { return true };
    matches!(member, "type" | "key_id" | "plan_hash")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorlog_proto::gad::At;
    use anchorlog_proto::gad::form::MAX_DEFECTS;
    use anchorlog_proto::json::JsonCode;

    #[test]
    fn what_is_not_listed_may_be_anybodys() {
        let mut defects = Defects::new();
        let of = |defects: &Defects| {
            let mut found = Vec::new();
            findings(defects, Some(EntryType::Verdict), &Where::entry(0), &mut found);
            found.last().unwrap().affects.clone()
        };
        for _ in 0..MAX_DEFECTS {
            defects.push(JsonCode::UnknownField, &At::root("/x"));
        }
        assert_eq!(of(&defects), [Affect::R1]);
        defects.push(JsonCode::UnknownField, &At::root("/body/p/body/x"));
        assert_eq!(of(&defects), [Affect::R1, Affect::R4]);
    }

    #[test]
    fn the_owner_is_the_rule_of_the_object() {
        use Affect::{R1, R2, R3, R4, R5, R6, R7};
        let of = |entry_type, pointer: &str| owners(Some(entry_type), pointer).to_vec();
        assert_eq!(owners(None, "/body/p/x"), [R1]);
        assert_eq!(of(EntryType::Dispatch, "/body/seq"), [R1]);
        assert_eq!(of(EntryType::Dispatch, "/h"), [R1]);
        assert_eq!(of(EntryType::Dispatch, "/body/p"), [R3]);
        assert_eq!(of(EntryType::Dispatch, "/body/p/input/0/node"), [R3]);
        assert_eq!(of(EntryType::Freeze, "/body/p/x"), [R2]);
        for wrapper in ["", "/x", "/signature", "/body", "/body/type", "/body/key_id"] {
            let pointer = format!("/body/p{wrapper}");
            assert_eq!(of(EntryType::Verdict, &pointer), [R1], "{wrapper}");
        }
        assert_eq!(of(EntryType::Verdict, "/body/p/body/exit_code"), [R4]);
        assert_eq!(of(EntryType::Probe, "/body/p/body/t"), [R1, R5]);
        assert_eq!(of(EntryType::ScopeClosed, "/body/p/body/node"), [R6]);
        assert_eq!(of(EntryType::Flag, "/body/p/paths"), [R6]);
        assert_eq!(of(EntryType::Approval, "/body/p/body/who"), [R7]);
        assert_eq!(of(EntryType::RevisedApprovalRequest, "/body/p/findings"), [R7]);
        assert_eq!(of(EntryType::PlanSuperseded, "/body/p/body/reason"), [R3]);
        assert_eq!(of(EntryType::Checkpoint, "/body/p/body/head"), [R1, R3]);
    }
}
