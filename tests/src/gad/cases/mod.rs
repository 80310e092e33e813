//! The cases: a base and one change each, by the rule they are about.

mod alone;
mod anchors;
mod attestations;
mod container;
mod json;
mod json_entries;
mod logs;
mod outcomes;
mod plans;
mod policies;
mod r1_chain;
mod r1_checkpoints;
mod r1_envelope;
mod r1_issuers;
mod r1_manifest;
mod r2;
mod r3_dispatch;
mod r3_ends;
mod r3_gates;
mod r3_sessions;
mod r3_verdicts;
mod r4;
mod r5;
mod r6;
mod r7;
mod r8;
mod r9;
mod replay;
mod tokens;

use super::Case;

/// All of them.
#[must_use]
pub fn all() -> Vec<Case> {
    [
        container::cases(),
        json::cases(),
        json_entries::cases(),
        r1_manifest::cases(),
        r1_envelope::cases(),
        r1_chain::cases(),
        r1_issuers::cases(),
        r1_checkpoints::cases(),
        plans::cases(),
        r2::cases(),
        r3_dispatch::cases(),
        r3_sessions::cases(),
        r3_verdicts::cases(),
        r3_gates::cases(),
        r3_ends::cases(),
        r4::cases(),
        replay::cases(),
        r5::cases(),
        r6::cases(),
        r7::cases(),
        r8::cases(),
        r9::cases(),
        outcomes::cases(),
        anchors::cases(),
        tokens::cases(),
        logs::cases(),
        attestations::cases(),
        policies::cases(),
        alone::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
