//! The program is killed at arbitrary moments; what is there afterwards is an envelope.

use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use anchorlog_client::envelope::{Addition, Envelope, Place};
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::envelope::Metadata;
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};

use crate::envelope::World;
use crate::fake_log::FakeLog;

/// Two that extend one envelope in its place: what one has added stays when the other one comes.
#[test]
fn nothing_is_lost_between_two_who_extend() {
    let (world, log) = (World::new(), FakeLog::start());
    world.new_envelope("e0", &[]);
    let root = world.envelope("e0").root_core();
    let receipt = |number: u8| {
        let mut log = log.world();
        let statement = Statement::new(StatementKind::CoreRoot, root);
        let index = log.place(&LogEntry::unsigned(statement).unwrap());
        let other = anchorlog_proto::Digest::of(&[number]);
        let other = Statement::new(StatementKind::Digest, other);
        log.append([LogEntry::unsigned(other).unwrap()]);
        log.receipt(u64::try_from(index).unwrap()).to_json().unwrap()
    };
    let both = [(world.envelope("e0"), receipt(1)), (world.envelope("e0"), receipt(2))];
    for (envelope, bytes) in both {
        let name = Path::new("receipt.json");
        let anchor = envelope.check_anchor(AnchorKind::CoreRoot, name, &bytes).unwrap();
        let metadata = Metadata { producer: "tests".into(), created: 0 };
        let place = Place { out: None, successor: false, metadata };
        envelope.extend(&[Addition::Anchor(anchor)], &place, &Limits::DEFAULT).unwrap();
    }
    assert_eq!(world.envelope("e0").manifest().anchors.len(), 2);
}

#[test]
fn an_envelope_is_there_whole_or_not_at_all() {
    let (world, log) = (World::new(), FakeLog::start());
    let begun = Instant::now();
    world.new_envelope("e0", &[]);
    let undisturbed = begun.elapsed();
    let root = world.envelope("e0").root_core();
    let (mut interrupted, mut extended, mut made) = (0, 0, 0);
    for round in 0..ROUNDS {
        // Another receipt each time, so that there is something to add.
        let name = format!("{round}.json");
        let receipt = {
            let mut log = log.world();
            let statement = Statement::new(StatementKind::CoreRoot, root);
            let index = log.place(&LogEntry::unsigned(statement).unwrap());
            let other = Statement::new(
                StatementKind::Digest,
                anchorlog_proto::Digest::of(&round.to_be_bytes()),
            );
            log.append([LogEntry::unsigned(other).unwrap()]);
            log.receipt(u64::try_from(index).unwrap())
        };
        std::fs::write(world.path(&name), receipt.to_json().unwrap()).unwrap();
        let fresh = format!("new{round}");
        let commands = [
            vec!["envelope", "add-anchor", "e0", "--kind", "core_root", &name],
            vec!["envelope", "new", "core", "--out", &fresh, "--layers", "constructor_inspection"],
        ];
        for arguments in commands {
            let mut child = world
                .command(&arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // From at once to longer than it takes.
            thread::sleep(undisturbed * 2 * round / ROUNDS);
            // It may have ended by itself.
            let _ = child.kill();
            interrupted += usize::from(!child.wait().unwrap().success());
        }
        let anchors = world.envelope("e0").manifest().anchors.len();
        assert!(anchors >= extended, "{anchors}");
        extended = anchors;
        if world.path(&fresh).exists() {
            made += 1;
            Envelope::open(&world.path(&fresh), &Limits::DEFAULT).unwrap();
        }
    }
    assert!(interrupted > 0, "no kill came before the end");
    // Nobody's leftovers are in the way.
    world.new_envelope("last", &[]);
    assert!(extended + made > 0, "everything was killed");
}

const ROUNDS: u32 = 24;
