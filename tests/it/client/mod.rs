//! The `anchor` program against the real server: nothing lost, nothing twice, no lie unnoticed.

mod lies;
mod outbox;
mod reports;
mod submit;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_tests::world::statements::text;
use anchorlog_tests::world::{Anchor, World, corpus};
use serde_json::Value;

/// The statements with these numbers, one JSON document a line.
fn lines(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    numbers.into_iter().flat_map(|number| format!("{}\n", text(number)).into_bytes()).collect()
}

/// The number of entries of the log.
fn size(world: &World) -> u64 {
    world.get("/v1/log").json()["size"].as_u64().unwrap()
}

/// Every receipt that lies in a user's state directory, by leaf hash; each statement must have one index.
fn kept_receipts(anchor: &Anchor) -> HashMap<Digest, u64> {
    let mut indexes = HashMap::new();
    let receipts = anchor.state().join("receipts");
    if !receipts.is_dir() {
        return indexes;
    }
    for path in corpus::files(&receipts, ".jsonl") {
        for line in fs::read_to_string(path).unwrap().lines() {
            let receipt = Receipt::parse(line.as_bytes()).unwrap();
            let known = indexes.insert(receipt.leaf_hash, receipt.index);
            assert!(known.is_none_or(|known| known == receipt.index), "two indexes");
        }
    }
    indexes
}

/// Writes an Ed25519 key as PKCS#8 PEM (RFC 8410) that its owner alone can read.
pub(crate) fn write_key(path: &Path, key: &SigningKey) {
    use std::os::unix::fs::PermissionsExt as _;
    let mut der = vec![
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    der.extend_from_slice(&*key.to_seed());
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        base64_encode(&der)
    );
    fs::write(path, pem).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// The code of the first failure of a report.
fn code(report: &Value) -> &str {
    report["errors"][0]["code"].as_str().unwrap_or_else(|| panic!("no failure in {report:#}"))
}
