//! Accounting for contributors: the list of RFC 0028, with expectations written by hand.

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{Drift, Projection, Summary};
use anchorlog_proto::jp::fault::RefusalCode;
use anchorlog_verifier::jp::attribution::{
    Accounted, Packs, account, compare_drift, compare_summary, rfc_code,
};

use crate::jp_world::{OutputDraft, ProjectionDraft, StageDraft, evaluated, pack, pack_reversed};

/// Facts, and who contributes on them to the pack of the world, read off it by hand.
const CASES: [(&str, &str); 9] = [
    (r#"{"amount":true,"known":true}"#, "outcome yes / rule amount-ok known"),
    (r#"{"amount":true,"known":true,"forget":true}"#, "outcome yes / rule amount-ok"),
    (r#"{"known":true}"#, "outcome yes / rule known"),
    (
        r#"{"vip":true,"board":true,"known":true,"bad":true}"#,
        "outcome yes / forcing-exception board known",
    ),
    (r#"{"vip":true}"#, "outcome yes / forcing-exception known"),
    (r#"{"bad":true}"#, "outcome no / rule refuse"),
    (r#"{"bad":false}"#, "outcome review / fallback"),
    (r#"{"bad":true,"known":true}"#, "unresolved conflict / no outcome"),
    (
        r#"{"ask":true}"#,
        "unresolved exception-escalation, handoff requested by exception-escalation / no outcome",
    ),
];

fn all_facts() -> Vec<&'static str> {
    CASES.iter().map(|(facts, _)| *facts).collect()
}

fn projection() -> ProjectionDraft {
    // A rule with `escalate` is unknown without the fact it asks about.
    let facts: Vec<String> = all_facts().iter().map(|facts| with_bad(facts)).collect();
    let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
    ProjectionDraft::evaluated(&pack(), &facts).0
}

/// The facts with `bad` in them.
fn with_bad(facts: &str) -> String {
    if facts.contains("\"bad\"") {
        facts.to_owned()
    } else {
        facts.replacen('{', r#"{"bad":false,"#, 1)
    }
}

fn packs(texts: &[&str]) -> Packs {
    let mut packs = Packs::new();
    for text in texts {
        packs.add(text.as_bytes()).unwrap();
    }
    packs
}

fn counted(draft: &ProjectionDraft) -> Accounted {
    account(&draft.read(), &packs(&[&pack(), &pack_reversed()])).unwrap()
}

fn summary_text(summary: &Summary) -> String {
    String::from_utf8(summary.to_canonical().unwrap()).unwrap()
}

/// The codes of accounting, after one change of the first output.
fn codes(change: impl FnOnce(&mut OutputDraft)) -> Vec<&'static str> {
    let mut draft = projection();
    change(&mut draft.stages[0].outputs[0]);
    counted(&draft).found.list().iter().map(|finding| finding.code.as_str()).collect()
}

/// The code of the refusal of a text.
fn refused(text: &str) -> RefusalCode {
    Projection::read(text.as_bytes()).unwrap_err().code()
}

fn refused_with(change: impl FnOnce(&mut OutputDraft)) -> RefusalCode {
    let mut draft = projection();
    change(&mut draft.stages[0].outputs[0]);
    refused(&draft.json())
}

#[test]
fn the_evaluator_says_what_was_read_off_by_hand() {
    for (facts, expected) in CASES {
        let evaluation = evaluated(&pack(), &with_bad(facts));
        assert_eq!(
            format!("{} / {}", evaluation.disposition, evaluation.credit),
            expected,
            "{facts}"
        );
        let reversed = evaluated(&pack_reversed(), &with_bad(facts));
        assert_eq!(
            (reversed.disposition, reversed.credit),
            (evaluation.disposition, evaluation.credit)
        );
    }
}

#[test]
fn every_member_is_counted_once_per_output_by_kind() {
    let accounted = counted(&projection());
    assert_eq!(accounted.found.list(), []);
    let text = summary_text(&accounted.summary);
    // Two outputs by forcing exceptions, three by rules; the id `known` stands in both namespaces.
    let yes = concat!(
        r#""yes":{"contributors":{"forcing-exception":{"board":1,"known":2},"rule":{"amount-ok":2,"known":2}},"#,
        r#""fallback":0,"records":5}"#
    );
    let no = r#""no":{"contributors":{"forcing-exception":{},"rule":{"refuse":1}},"fallback":0,"records":1}"#;
    let review =
        r#""review":{"contributors":{"forcing-exception":{},"rule":{}},"fallback":1,"records":1}"#;
    for part in [yes, no, review, r#""records":{"not-applicable":0,"outcome":7,"unresolved":2}"#] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(accounted.summary.stages[0].check().is_ok());
}

#[test]
fn the_order_of_a_pack_changes_no_count() {
    let facts: Vec<String> = all_facts().iter().map(|facts| with_bad(facts)).collect();
    let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
    let reversed = ProjectionDraft::evaluated(&pack_reversed(), &facts).0;
    let (one, two) = (counted(&projection()).summary, counted(&reversed).summary);
    assert_ne!(one.stages[0].pack, two.stages[0].pack);
    assert_eq!(one.stages[0].outcomes, two.stages[0].outcomes);
}

#[test]
fn empty_stages_have_their_place() {
    let mut draft = projection();
    let stage =
        StageDraft { stage: "t".to_owned(), pack: Digest::of(pack().as_bytes()), outputs: vec![] };
    draft.stages.push(stage);
    let accounted = counted(&draft);
    assert!(accounted.found.is_empty());
    assert_eq!(accounted.summary.stages[1].records(), Some(0));
    assert_eq!(accounted.summary.stages[1].outcomes.len(), 3);
    // Left out of a stated summary it is a finding.
    let mut stated = accounted.summary.clone();
    stated.stages.pop();
    assert_eq!(compare_summary(&stated, &accounted.summary).list()[0].code.as_str(), "ATTR.COUNT");
}

#[test]
fn members_that_cannot_have_contributed_are_found() {
    let set = |raw: &'static str| {
        move |output: &mut OutputDraft| output.contributors = Some(raw.to_owned())
    };
    assert_eq!(codes(|_| ()), [""; 0]);
    assert_eq!(codes(set(r#"[{"kind":"rule","id":"nobody"}]"#)), ["ATTR.IDENTITY"]);
    // An exception of that id there is, but no rule; and the other way round.
    assert_eq!(codes(set(r#"[{"kind":"rule","id":"board"}]"#)), ["ATTR.IDENTITY"]);
    assert_eq!(codes(set(r#"[{"kind":"forcing-exception","id":"amount-ok"}]"#)), ["ATTR.IDENTITY"]);
    assert_eq!(codes(set(r#"[{"kind":"rule","id":"refuse"}]"#)), ["ATTR.ASSOCIATION"]);
    assert_eq!(codes(set(r#"[{"kind":"forcing-exception","id":"forget"}]"#)), ["ATTR.ASSOCIATION"]);
    assert_eq!(codes(set(r#"[{"kind":"forcing-exception","id":"ask"}]"#)), ["ATTR.ASSOCIATION"]);
    assert_eq!(codes(|output| output.contributors = None), ["ATTR.MISSING"]);
    let other = r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"other","reasons":[]}"#;
    assert_eq!(codes(|output| output.disposition = other.to_owned()), ["ATTR.OUTCOME"]);
    let none =
        r#"{"handoff":{"state":"none"},"kind":"not-applicable","reasons":["not-applicable"]}"#;
    assert_eq!(codes(|output| output.disposition = none.to_owned()), ["ATTR.NON_OUTCOME"]);
    let no = r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"no","reasons":[]}"#;
    assert_eq!(codes(|output| output.disposition = no.to_owned()), ["ATTR.ASSOCIATION"; 2]);
    // Of the fallback outcome an omission can't be told from the fallback; the RFC says so.
    let review =
        r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"review","reasons":[]}"#;
    let fallback = |output: &mut OutputDraft| {
        output.disposition = review.to_owned();
        output.contributors = None;
    };
    assert_eq!(codes(fallback), [""; 0]);
    // A valid id that was false in fact is beyond structure.
    assert_eq!(
        codes(set(r#"[{"kind":"rule","id":"amount-ok"},{"kind":"rule","id":"known"}]"#)),
        [""; 0]
    );
}

#[test]
fn malformed_collections_are_refused() {
    use RefusalCode::{InputMalformed, InputOverBound};
    let many = |count: usize| {
        let members = (0..count).map(|n| format!(r#"{{"kind":"rule","id":"r{n:05}"}}"#));
        format!("[{}]", members.collect::<Vec<_>>().join(","))
    };
    for (raw, code) in [
        ("null".to_owned(), InputMalformed),
        ("[]".to_owned(), InputMalformed),
        ("{}".to_owned(), InputMalformed),
        (r#"[{"kind":"rule","id":"b"},{"kind":"rule","id":"a"}]"#.to_owned(), InputMalformed),
        (r#"[{"kind":"rule","id":"a"},{"kind":"rule","id":"a"}]"#.to_owned(), InputMalformed),
        (
            r#"[{"kind":"forcing-exception","id":"a"},{"kind":"rule","id":"b"}]"#.to_owned(),
            InputMalformed,
        ),
        (r#"[{"kind":"exception","id":"a"}]"#.to_owned(), InputMalformed),
        (r#"[{"kind":"rule","id":"A"}]"#.to_owned(), InputMalformed),
        (r#"[{"kind":"rule"}]"#.to_owned(), InputMalformed),
        (r#"[{"kind":"rule","id":"a","count":1}]"#.to_owned(), InputMalformed),
        (r#"["a"]"#.to_owned(), InputMalformed),
        // 4,096 entries of this length are over the envelope's bytes, which is refused all the same.
        (many(4096), InputOverBound),
        (many(4097), InputOverBound),
    ] {
        let shown = raw.chars().take(60).collect::<String>();
        assert_eq!(refused_with(|output| output.contributors = Some(raw)), code, "{shown}");
    }
}

#[test]
fn the_envelopes_ceiling_is_exact() {
    // A member that isn't known counts its bytes before its form.
    let base = projection();
    let envelope = |draft: &ProjectionDraft| {
        draft.stages[0].outputs[0].envelope(ProjectionDraft::workflow(), &draft.execution)
    };
    let short = envelope(&base).len();
    let with = |length: usize| {
        let mut draft = base.clone();
        draft.stages[0].outputs[0].more = format!(r#","x":"{}""#, "x".repeat(length));
        (envelope(&draft).len(), refused(&draft.json()))
    };
    let overhead = r#","x":"""#.len();
    let exact = 65_536 - short - overhead;
    assert_eq!(with(exact), (65_536, RefusalCode::InputMalformed));
    assert_eq!(with(exact + 1), (65_537, RefusalCode::InputOverBound));
}

#[test]
fn versions_are_told_from_forms() {
    use RefusalCode::{InputMalformed, VersionUnread};
    for version in ["1", "3"] {
        assert_eq!(
            refused_with(|output| output.version = version.to_owned()),
            VersionUnread,
            "mixed"
        );
    }
    assert_eq!(refused_with(|output| output.version = "\"2\"".to_owned()), InputMalformed);
    assert_eq!(refused_with(|output| output.version = "2.0".to_owned()), InputMalformed);
    let with = |version: &str| {
        let draft = ProjectionDraft { version: version.to_owned(), ..projection() };
        refused(&draft.json())
    };
    assert_eq!([with("1"), with("2"), with("4")], [VersionUnread; 3]);
    assert_eq!([with("3.0"), with("\"3\""), with("null")], [InputMalformed; 3]);
    assert_eq!(
        with(&format!("1{}", "0".repeat(200))),
        InputMalformed,
        "spelling before conversion"
    );
    let text = projection().json();
    assert_eq!(refused(&text.replacen(r#""executionVersion":3,"#, "", 1)), InputMalformed);
    assert_eq!(refused(&text.replacen(r#""outputRecordVersion":2,"#, "", 1)), InputMalformed);
    assert_eq!(refused(&text.replacen("projection/1", "projection/2", 1)), VersionUnread);
    // A version that is unread counts before a form that is malformed elsewhere.
    let mut both = projection();
    both.stages[0].outputs[0].contributors = Some("null".to_owned());
    both.stages[0].outputs[1].version = "1".to_owned();
    assert_eq!(refused(&both.json()), VersionUnread);
    // A representative of version 1 is not taken for a set of one.
    let representative = |output: &mut OutputDraft| {
        output.version = "1".to_owned();
        output.contributors = None;
        output.more = r#","contributingRule":"known""#.to_owned();
    };
    assert_eq!(refused_with(representative), VersionUnread);
}

#[test]
fn pins_and_inventory() {
    let draft = projection();
    let text = draft.json();
    let pins = draft.pins(&draft.stages[0]);
    let swapped = text
        .replacen(&pins[0].to_string(), "sha256:first", 1)
        .replacen(&pins[1].to_string(), &pins[0].to_string(), 1)
        .replacen("sha256:first", &pins[1].to_string(), 1);
    let projection = Projection::read(swapped.as_bytes()).unwrap();
    let found = account(&projection, &packs(&[&pack()])).unwrap().found;
    assert_eq!(
        found.list().iter().map(|one| rfc_code(one.code)).collect::<Vec<_>>(),
        ["digest-mismatch"; 2]
    );
    // A pinned output that is not there, one that is not pinned, a pin twice.
    let dropped = text.replacen(&format!(r#""records":["{}","#, pins[0]), r#""records":["#, 1);
    assert_eq!(refused(&dropped), RefusalCode::InputMalformed);
    let more = Digest::of(b"more").to_string();
    let added = text.replacen(r#""records":["#, &format!(r#""records":["{more}","#), 1);
    assert_eq!(refused(&added), RefusalCode::InventoryMismatch);
    let twice = text.replacen(&pins[1].to_string(), &pins[0].to_string(), 1);
    assert_eq!(refused(&twice), RefusalCode::InputMalformed);
    // The pack of another spelling is another pack.
    let spaced = pack().replacen(':', ": ", 1);
    let error = account(&draft.read(), &packs(&[&spaced])).unwrap_err();
    assert_eq!((error.code.as_str(), rfc_code(error.code)), ("ATTR.ABSENT", "inventory-mismatch"));
    assert_eq!(codes(|output| output.stage = "t".to_owned()), ["ATTR.LINEAGE"]);
    assert_eq!(codes(|output| output.pack = Digest::of(b"other")), ["ATTR.LINEAGE"]);
}

#[test]
fn a_stated_summary_is_counted_again() {
    let counted = counted(&projection()).summary;
    assert!(compare_summary(&counted, &counted).is_empty());
    let text = summary_text(&counted);
    for (from, to, code) in [
        (r#""known":2},"rule""#, r#""known":1},"rule""#, "ATTR.COUNT"),
        (r#""board":1,"#, "", "ATTR.COUNT"),
        (r#"{"refuse":1}"#, r#"{"refuse":2}"#, "ATTR.INVARIANT"),
        (r#"{"refuse":1}"#, "{}", "ATTR.INVARIANT"),
        (r#"{"refuse":1}"#, r#"{"elsewhere":1}"#, "ATTR.COUNT"),
        (r#""unresolved":2"#, r#""unresolved":3"#, "ATTR.COUNT"),
        (r#""execution":"e1""#, r#""execution":"e2""#, "ATTR.COUNT"),
        (r#""stage":"s""#, r#""stage":"t""#, "ATTR.COUNT"),
        // A rule's count moved to the exceptions' map of the same id.
        (
            r#""known":2},"rule":{"amount-ok":2,"known":2}"#,
            r#""known":3},"rule":{"amount-ok":2,"known":1}"#,
            "ATTR.COUNT",
        ),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let stated = Summary::read(changed.as_bytes()).unwrap();
        let found = compare_summary(&stated, &counted);
        assert_eq!(found.list()[0].code.as_str(), code, "{from} -> {to}");
    }
}

#[test]
fn an_omission_with_a_fixed_summary_is_found_and_a_coordinated_one_is_not() {
    let honest = projection();
    let honest_summary = counted(&honest).summary;
    let mut omitted = honest.clone();
    omitted.stages[0].outputs[0].contributors =
        Some(r#"[{"kind":"rule","id":"known"}]"#.to_owned());
    // Pins are rebuilt, the summary is not.
    let rebuilt = counted(&omitted);
    assert!(rebuilt.found.is_empty(), "structure has nothing to say");
    assert!(!compare_summary(&honest_summary, &rebuilt.summary).is_empty());
    // Everything is rebuilt: it passes, as the RFC says it must, and only the digest is another one.
    assert!(compare_summary(&rebuilt.summary, &rebuilt.summary).is_empty());
    assert_ne!(summary_text(&honest_summary), summary_text(&rebuilt.summary));
}

#[test]
fn drift_is_typed_signed_and_recomputed() {
    let before = counted(&projection()).summary;
    let mut changed = projection();
    changed.execution = "e2".to_owned();
    changed.stages[0].outputs[0].contributors =
        Some(r#"[{"kind":"rule","id":"known"}]"#.to_owned());
    changed.stages[0].outputs.pop();
    let after = counted(&changed).summary;
    let drift = Drift::between(&before, &after).unwrap();
    let text = String::from_utf8(drift.to_canonical().unwrap()).unwrap();
    // A change of contributors alone shows in the memberships and in nothing else.
    let yes = r#""byRule":{"yes":{"contributors":{"forcing-exception":{},"rule":{"amount-ok":-1}},"fallback":0,"records":0}}"#;
    assert!(text.contains(yes) && text.contains(r#""unresolved":-1"#), "{text}");
    assert!(compare_drift(&drift, &drift).is_empty());
    for (from, to) in [
        (r#""amount-ok":-1"#, r#""amount-ok":1"#),
        (r#""amount-ok":-1"#, r#""known":-1"#),
        (
            r#""forcing-exception":{},"rule":{"amount-ok":-1}"#,
            r#""forcing-exception":{"amount-ok":-1},"rule":{}"#,
        ),
        (r#""unresolved":-1"#, r#""unresolved":0"#),
        (r#""execution":"e2""#, r#""execution":"e3""#),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let stated = Drift::read(changed.as_bytes()).unwrap();
        let found = compare_drift(&stated, &drift);
        assert_eq!(found.list()[0].code.as_str(), "ATTR.DRIFT", "{from} -> {to}");
    }
    let back = Drift::between(&after, &before).unwrap();
    assert!(String::from_utf8(back.to_canonical().unwrap()).unwrap().contains(r#""amount-ok":1"#));
}

#[test]
fn findings_are_bounded() {
    let mut draft = projection();
    let wrong = OutputDraft { contributors: None, ..draft.stages[0].outputs[0].clone() };
    draft.stages[0].outputs =
        (0..300).map(|index| OutputDraft { index, ..wrong.clone() }).collect();
    let found = counted(&draft).found;
    assert_eq!((found.list().len(), found.omitted()), (256, 44));
}
