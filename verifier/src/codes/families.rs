//! The families of codes, in the order of `docs/codes.md`.

use super::{
    Code, anchor_file, attribution, checkpoint, gad, input, json, log, note, policy, receipt,
    statement, tile, timestamp, tlog_proof, tlog_witness, trail, witness,
};

/// Codes that stand together.
pub(super) struct Family {
    /// The heading of the document: how they begin, ascending, and what they are about.
    pub(super) title: &'static str,
    /// The tables that declare them.
    pub(super) tables: &'static [&'static [Code]],
}

impl Family {
    /// Its codes, ascending.
    pub(super) fn codes(&self) -> Vec<Code> {
        let mut codes = self.tables.concat();
        codes.sort();
        codes
    }
}

const fn family(title: &'static str, tables: &'static [&'static [Code]]) -> Family {
    Family { title, tables }
}

pub(super) const FAMILIES: &[Family] = &[
    family("LOG: what a transparency log signed and contains", &[log::ALL, gad::log::ALL]),
    family("RCT: receipts", &[receipt::ALL]),
    family("TSA: time stamps", &[timestamp::ALL]),
    family("POLICY: witness policies of logs", &[policy::ALL]),
    family("KEY, SIG, STM: statements and their signatures", &[statement::ALL]),
    family("COSIG, NOTE: signed notes and cosignatures", &[note::ALL]),
    family("TLOGPROOF: proofs as files", &[tlog_proof::ALL]),
    family("TLOGWITNESS: logs and witnesses", &[tlog_witness::ALL]),
    family("PROOF, TILE: Merkle proofs and tiles", &[tile::ALL]),
    family("CKPT: checkpoints", &[checkpoint::ALL]),
    family("J: JSON and its canonical form", &[json::ALL]),
    family("CLI, IN, VER: why nothing was evaluated", &[input::ALL, gad::container::ALL]),
    family("R1: integrity, issuers, coverage, sealing", &[gad::r1::ALL]),
    family("PLAN: whether the plan is well formed", &[gad::plan::ALL]),
    family("R2: recorded precedence", &[gad::r2::ALL]),
    family("R3: trace conformance", &[gad::r3::ALL]),
    family("R4: verification validity", &[gad::r4::ALL]),
    family("R5: probe binding", &[gad::r5::ALL]),
    family("R6: scope closure", &[gad::r6::ALL]),
    family("R7: gate completeness", &[gad::r7::ALL]),
    family("R8: bounded persistence", &[gad::r8::ALL]),
    family("R9: typed claims", &[gad::r9::ALL]),
    family("LVL, OUT, SAT: level, outcome, satisfaction", &[gad::outcome::ALL]),
    family("ANC: anchors of an envelope", &[gad::anchor::ALL]),
    family("ANCHOR: anchor files by themselves", &[anchor_file::ALL]),
    family("ATT: evaluation attestations", &[gad::attestation::ALL]),
    family("AUD: audits of a log", &[gad::audit::ALL]),
    family("ATTR: contributors of workflow outputs", &[attribution::ALL]),
    family("WITNESS: chains of checkpoint witnesses", &[witness::ALL]),
    family("TRAIL: records of audit trails", &[trail::ALL]),
    family("IND: independence", &[gad::independence::ALL]),
    family("POL: the trust policy", &[gad::trust_policy::ALL]),
    family("HYG, NOTE: what a reader should know", &[gad::notes::ALL]),
];
