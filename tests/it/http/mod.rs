//! The fixed HTTP interface from outside: statuses, members and headers of every call, and what no caller
//! should send.

mod access;
mod hostile;
mod read;
mod submit;
mod tiles;

use anchorlog_proto::checkpoint::{SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::receipt::Receipt;
use anchorlog_tests::world::World;
use anchorlog_tests::world::http::Answer;
use anchorlog_tests::world::statements::{batch, text};
use serde_json::Value;

/// A log with the statements from 0 up to `entries`.
fn filled(entries: u64) -> World {
    let world = World::start();
    if entries > 0 {
        let answer = world.post("/v1/entries:batch", batch((0..entries).map(text))).json();
        assert_eq!(answer["receipts"].as_array().unwrap().len(), usize::try_from(entries).unwrap());
    }
    world
}

/// The log's checkpoint, its signature verified.
fn checkpoint(world: &World) -> VerifiedCheckpoint {
    verified(&world.get("/checkpoint").body, world)
}

fn verified(note: &[u8], world: &World) -> VerifiedCheckpoint {
    let signed = SignedCheckpoint::parse(note).unwrap();
    signed.verify(&world.vkey().parse().unwrap()).unwrap()
}

/// A receipt whose signature and proof hold.
#[track_caller]
fn receipt(answer: &Answer, world: &World) -> Receipt {
    let _ = answer.json();
    let receipt = Receipt::parse(&answer.body).unwrap();
    let signed = receipt.proof.checkpoint();
    signed.verify(&world.vkey().parse().unwrap()).unwrap();
    receipt.proof.verify_inclusion(&receipt.entry.leaf_hash()).unwrap();
    assert_eq!(receipt.leaf_hash, receipt.entry.leaf_hash());
    assert_eq!(receipt.log.as_str(), world.origin());
    assert_eq!(receipt.index, receipt.proof.index());
    receipt
}

/// The names of an object's members, sorted.
fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Does something that must be refused and checks that it changed nothing: the checkpoint is the same to the
/// byte, and the server takes statements and answers look-ups.
fn changes_nothing(world: &World, deed: impl FnOnce()) {
    let before = world.get("/checkpoint").body;
    deed();
    assert_eq!(world.get("/checkpoint").body, before, "a refused request changes nothing");
    assert_eq!(world.get("/readyz").status, 200, "{}", world.read_server_log());
}
