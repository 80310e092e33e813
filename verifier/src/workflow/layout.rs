//! The layout of section 11: which file is which artifact.

use anchorlog_proto::jp::id::Id;
use anchorlog_proto::jp::json::Bounds;

/// The most files of a bundle (RFC 0020 section 2).
pub const MAX_FILES: usize = 65_536;

/// What a file is, by its path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Strict JSON of these bounds.
    Json(Bounds),
    /// Bytes that aren't read beyond their digest, at most so many.
    Bytes(usize),
    /// A file beside the artifacts: side files, README, trust.
    Beside,
    /// Nothing of the layout.
    Unknown,
}

/// What a path is.
pub(super) fn kind(path: &str) -> Kind {
    let parts: Vec<&str> = path.split('/').collect();
    let id = |text: &str| text.parse::<Id>().is_ok();
    match *parts.as_slice() {
        ["workflow.json"] => Kind::Json(Bounds::WORKFLOW),
        ["execution.json"] => Kind::Json(Bounds::EXECUTION),
        ["root-case.json"] => Kind::Json(Bounds::CASE),
        [
            "workflow.sha256"
            | "execution.sha256"
            | "README.md"
            | "trust.json"
            | "expected-report.json",
        ] => Kind::Beside,
        [
            "stages",
            stage,
            "pack.json" | "dialect.json" | "binding.json" | "bound-dialect.json" | "profiles.json"
            | "release.json",
        ] if id(stage) => Kind::Json(Bounds::FOREIGN),
        ["instances", instance, "case.json"] if id(instance) => Kind::Json(Bounds::CASE),
        ["instances", instance, "attempts", number, name]
            if id(instance) && decimal(number).is_some_and(|number| number > 0) =>
        {
            match name {
                "preparation.json" | "audit.json" => Kind::Json(Bounds::FOREIGN),
                "run.json" => Kind::Json(Bounds::EXPORT),
                "evaluation-error.json" => Kind::Json(Bounds::EVALUATION_ERROR),
                "sources.json" | "audit-signatures.json" => Kind::Bytes(Bounds::EXPORT.bytes),
                "preparation.sha256" | "verified-at.txt" => Kind::Beside,
                _ => Kind::Unknown,
            }
        }
        ["outputs", stage, instance, index, name]
            if id(stage) && id(instance) && decimal(index).is_some_and(|index| index < 4096) =>
        {
            match name {
                "payload.json" => Kind::Json(Bounds::CASE),
                "record.json" => Kind::Json(Bounds::OUTPUT),
                _ => Kind::Unknown,
            }
        }
        ["selections", stage, name] if id(stage) => match revision(name) {
            Some(_) => Kind::Json(Bounds::SELECTION),
            None => Kind::Unknown,
        },
        ["sets", name] if name.strip_suffix(".json").is_some_and(id) => Kind::Json(Bounds::SET),
        _ => Kind::Unknown,
    }
}

/// The revision in a selection's file name.
pub(super) fn revision(name: &str) -> Option<u64> {
    name.strip_suffix(".json").and_then(decimal).filter(|revision| *revision > 0)
}

/// A number in its only spelling.
pub(super) fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

pub(super) fn stage(stage: &Id, name: &str) -> String {
    format!("stages/{stage}/{name}")
}

pub(super) fn case(instance: &Id) -> String {
    format!("instances/{instance}/case.json")
}

/// A file of an attempt; attempts are numbered from 1, positions from 0.
pub(super) fn attempt(instance: &Id, position: usize, name: &str) -> String {
    format!("instances/{instance}/attempts/{}/{name}", position + 1)
}

pub(super) fn output(stage: &Id, instance: &Id, index: u16, name: &str) -> String {
    format!("outputs/{stage}/{instance}/{index}/{name}")
}

pub(super) fn set(stage: &Id) -> String {
    format!("sets/{stage}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert_eq!(kind("workflow.json"), Kind::Json(Bounds::WORKFLOW));
        assert_eq!(kind("outputs/a/b/4095/payload.json"), Kind::Json(Bounds::CASE));
        assert_eq!(kind("instances/a/attempts/1/run.json"), Kind::Json(Bounds::EXPORT));
        for unknown in [
            "outputs/a/b/4096/payload.json",
            "outputs/a/b/01/payload.json",
            "outputs/A/b/1/payload.json",
            "instances/a/attempts/0/run.json",
            "instances/a/attempts/+1/run.json",
            "selections/a/0.json",
            "selections/a/x.json",
            "receipt.json",
            "",
        ] {
            assert_eq!(kind(unknown), Kind::Unknown, "{unknown}");
        }
    }
}
