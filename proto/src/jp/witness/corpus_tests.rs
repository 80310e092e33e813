//! The gateway's public vectors, as far as they are about single statements; chains are the verifier's.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

use super::{AuditCheckpoint, Statement, WitnessKey};
use crate::encoding::hex_decode_array;
use crate::json::corpus_tests::corpus_file;

#[test]
fn statements_verify_by_the_equation_of_the_specification() {
    for (name, verifies) in [
        ("valid-one-statement", true),
        ("valid-retired", true),
        ("valid-conflict-keeps-coverage", true),
        ("signature-identity-r-accepted", true),
        ("key-mixed-order-accepted", true),
        ("signature-cofactored-only-small-order-r", false),
    ] {
        let Some(bytes) = corpus_file(&format!("judgment-pack/witness/{name}.json")) else {
            return;
        };
        let vector: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let key = hex_decode_array(vector["keys"][0].as_str().unwrap()).unwrap();
        let key = WitnessKey::from_bytes(&key).unwrap();
        let lines = vector["witness"][0].as_str().unwrap().trim_end().split('\n');
        let mut all = true;
        for line in lines {
            let statement = Statement::read(line.as_bytes()).unwrap();
            assert_eq!(statement.to_line(), line, "{name}");
            all &= statement.verify(&key).is_ok();
        }
        assert_eq!(all, verifies, "{name}");
    }
}

#[test]
fn checkpoint_lines_of_real_runners_read() {
    for name in ["no-mapping-run", "v1-file-mapping-run"] {
        let path = format!("judgment-pack/runner/{name}.checkpoints.jsonl");
        let Some(bytes) = corpus_file(&path) else { return };
        let lines = super::read_lines(&bytes, 1000).unwrap();
        let written: String =
            lines.iter().map(|line: &AuditCheckpoint| line.to_line() + "\n").collect();
        assert_eq!(written.as_bytes(), bytes);
    }
}
