//! The audit of a log.

use super::envelope::trail;
use super::parts::{
    Closed, Part, array, constant, described, digest, key_id, one_of, seq, string, text_of, time,
    titled, with, words, wrapper,
};
use crate::audit::{
    AuditCode, MAX_ENTRIES, MAX_FINDINGS, MAX_INDEXES, SCHEMA as AUDIT_SCHEMA, TYPE,
};
use crate::gad::emit::{list, object, text};
use crate::note::MAX_NOTE_BYTES;
use crate::statement::StatementKind;

pub(super) fn audit() -> Part {
    let most = |limit: usize| u64::try_from(limit).unwrap_or(u64::MAX);
    let kinds: Vec<_> = StatementKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let codes: Vec<_> = AuditCode::ALL.iter().map(|code| code.as_str()).collect();
    let start = Closed::new().with("size", seq()).with("root", digest());
    let subject =
        |kind, value| Closed::new().with("kind", constant(kind)).with("value", value).part();
    let entry = Closed::new()
        .with("index", seq())
        .with("leaf_hash", digest())
        .with("kind", words(&kinds))
        .with("digest", digest())
        .may("trail", trail())
        .may("sequence", seq())
        .may("key_id", key_id());
    let needs = object([("sequence", list(&["trail"], text))]);
    let entry = with(entry.part(), "dependentRequired", needs);
    let finding = Closed::new()
        .with("code", words(&codes))
        .with("indexes", described(array(seq(), 1..=most(MAX_INDEXES)), "Ascending."));
    let body = Closed::new()
        .with("type", constant(TYPE))
        .with("key_id", key_id())
        .with("schema", constant(AUDIT_SCHEMA))
        .with("origin", with(string(), "minLength", 1_u32.into()))
        .with("log_key", with(string(), "minLength", 1_u32.into()))
        .with("checkpoint", text_of(1..=MAX_NOTE_BYTES))
        .with("from", start.part())
        .with(
            "subject",
            one_of([
                subject("plan", digest()),
                subject("submitter", key_id()),
                subject("trail", trail()),
            ]),
        )
        .with("entries", described(array(entry, 0..=most(MAX_ENTRIES)), "Ascending by index."))
        .with("entries_omitted", seq())
        .with("findings", array(finding.part(), 0..=most(MAX_FINDINGS)))
        .with("findings_omitted", seq())
        .with("time", time());
    titled(wrapper(body.part()), AUDIT_SCHEMA)
}
