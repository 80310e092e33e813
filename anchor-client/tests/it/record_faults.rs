//! Torn lines, kills, clocks, locks, and histories that somebody changed: resumed or reported, never repaired.

use std::fs;
use std::sync::atomic::Ordering;

use anchorlog_client::record::{Recorder, Standing, Target};
use anchorlog_proto::gad::names::RunOutcome;
use anchorlog_proto::gad::payload::ExitStatus;

use crate::record::{N, Run, START, World, operator, plan};

const A: N = N::new("a", &["a/"]);

fn number(count: usize) -> u64 {
    count.try_into().unwrap()
}

/// A whole run, one step after the other; some of them are the same in every state they are tried in.
fn step(run: &mut Run) -> bool {
    let node = run.recorder.plan().find("a").unwrap();
    let standing = run.recorder.standing();
    if standing.terminal.is_some() {
        return false;
    }
    if standing.open_session.is_some() {
        if standing.exited {
            run.result(&["a/x"]).unwrap();
        } else {
            run.exit(ExitStatus::Completed, Some(0)).unwrap();
        }
        return true;
    }
    match run.recorder.machine().status(node).as_str() {
        "PENDING" | "GRANTED" => drop(run.dispatch(&["a"]).unwrap()),
        "CAPTURED" => drop(run.verdict("a", "t1", 0).unwrap()),
        "VERIFIED" => drop(run.recorder.complete().unwrap()),
        other => panic!("{other}"),
    }
    true
}

#[test]
fn a_line_torn_at_any_byte_is_cut_off_and_the_run_goes_on() {
    let world = World::new();
    let mut run = world.freeze("whole", &plan(&[A], &[], 0));
    while step(&mut run) {}
    run.recorder.checkpoint().unwrap();
    let whole = run.witness();
    drop(run);
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in (first..whole.len()).step_by(211).chain([whole.len() - 1]) {
        let name = format!("cut-{end}");
        fs::create_dir(world.at(&name)).unwrap();
        fs::create_dir(world.at(&name).join("artifacts")).unwrap();
        for file in ["plan.json", "operator.json", "artifacts/instruction.txt"] {
            fs::copy(world.at("whole").join(file), world.at(&name).join(file)).unwrap();
        }
        fs::write(world.at(&name).join("witness.jsonl"), &whole[..end]).unwrap();
        let lines = String::from_utf8_lossy(&whole[..end]).matches('\n').count();
        let kept = whole[..end].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;

        let standing = Standing::read(&world.at(&name)).unwrap();
        assert_eq!((standing.torn, standing.entries), (number(end - kept), number(lines)));
        let mut run = world.open(&name);
        assert_eq!(run.recorder.cut(), number(end - kept));
        assert_eq!(run.witness(), &whole[..kept]);
        assert!(run.recorder.defects().is_empty());
        while step(&mut run) {}
        world.export(&mut run, &format!("{name}-core"), RunOutcome::Completed);
    }
}

#[test]
fn bytes_that_are_no_entry_at_the_end_are_cut_off_even_with_their_line_feed() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    step(&mut run);
    let whole = run.witness();
    drop(run);
    for torn in [&b"\0\0\0\0\n"[..], b"{\"body\":\n", b"\0\0\0"] {
        fs::write(world.at("record/witness.jsonl"), [&whole, torn].concat()).unwrap();
        let run = world.open("record");
        assert_eq!(run.recorder.cut(), number(torn.len()));
        assert_eq!(run.witness(), whole);
    }
}

#[test]
fn a_freeze_that_never_got_to_its_entry_can_be_done_again() {
    let world = World::new();
    drop(world.freeze("record", &plan(&[A], &[], 0)));
    let whole = fs::read(world.at("record/witness.jsonl")).unwrap();
    for end in [0, 1, whole.len() - 1] {
        fs::write(world.at("record/witness.jsonl"), &whole[..end]).unwrap();
        let error = Recorder::open(&world.at("record")).err().unwrap();
        assert_eq!(error.code(), "RECORD.NONE", "{error}");
        drop(world.freeze("record", &plan(&[A], &[], 0)));
    }
    let again = Recorder::freeze(
        &world.at("record"),
        &plan(&[A], &[], 0),
        &operator(),
        None,
        world.clock(),
    );
    assert_eq!(again.err().unwrap().code(), "RECORD.EXISTS");
    fs::create_dir(world.at("full")).unwrap();
    fs::write(world.at("full/notes.txt"), "mine").unwrap();
    let other =
        Recorder::freeze(&world.at("full"), &plan(&[A], &[], 0), &operator(), None, world.clock());
    assert_eq!(other.err().unwrap().code(), "RECORD.EXISTS");
}

#[test]
fn there_is_one_recorder_at_a_time() {
    let world = World::new();
    let run = world.freeze("record", &plan(&[A], &[], 0));
    assert_eq!(Recorder::open(&world.at("record")).err().unwrap().code(), "RECORD.LOCKED");
    // Reading needs no lock.
    assert_eq!(Standing::read(&world.at("record")).unwrap().entries, 1);
    drop(run);
    drop(world.open("record"));
}

#[test]
fn a_clock_that_goes_back_is_bridged_as_far_as_the_plan_allows() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 10));
    world.now.store(START - 5, Ordering::Relaxed);
    run.dispatch(&["a"]).unwrap();
    let witness = String::from_utf8(run.witness()).unwrap();
    let times: Vec<_> =
        witness.lines().map(|line| line.split("\"t\":").nth(1).unwrap()[..22].to_owned()).collect();
    assert_eq!(times[0], times[1], "never before the entry before");
    world.now.store(START - 60, Ordering::Relaxed);
    let error = run.refused("RECORD.CLOCK", |run| run.exit(ExitStatus::Completed, Some(0)));
    assert!(error.to_string().contains("10 s"), "{error}");
    world.now.store(START + 60, Ordering::Relaxed);
    run.exit(ExitStatus::Completed, Some(0)).unwrap();
}

#[test]
fn a_changed_history_is_reported_disclosed_and_exported_as_not_valid() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    while step(&mut run) {}
    let whole = String::from_utf8(run.witness()).unwrap();
    drop(run);
    // Somebody makes a touched path another one: the chain breaks.
    fs::write(world.at("record/witness.jsonl"), whole.replace("a/x", "a/y")).unwrap();
    let mut run = world.open("record");
    assert_eq!(run.recorder.defects()[0].code.to_string(), "R1.CHAIN.HASH");
    run.refused("RECORD.HISTORY", |run| run.dispatch(&["a"]));
    let target = Target::of(world.at("core"));
    let exported = run.recorder.export(&target).unwrap();
    assert!(!exported.is_valid() && exported.notice.is_some());
    assert_eq!(exported.report.statuses.outcome(), RunOutcome::Invalid);
    let witness = String::from_utf8(run.witness()).unwrap();
    assert!(witness.starts_with(&whole.replace("a/x", "a/y")), "history stays");
    assert!(witness.contains(r#""defects":["R1.CHAIN.HASH at 3"]"#), "{witness}");
    assert!(world.at("core/manifest.json").exists());
    // Disclosed once.
    let again = run.recorder.export(&Target::of(world.at("again.tar"))).unwrap();
    assert!(again.notice.is_none() && again.root_core == exported.root_core);
}

#[test]
fn a_defective_history_without_an_end_leaves_as_a_snapshot() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    step(&mut run);
    step(&mut run);
    let whole = String::from_utf8(run.witness()).unwrap();
    drop(run);
    let changed = whole.replace("\"exit_code\":0", "\"exit_code\":3");
    fs::write(world.at("record/witness.jsonl"), changed).unwrap();
    let mut run = world.open("record");
    let exported = run.recorder.export(&Target::of(world.at("core"))).unwrap();
    assert!(!exported.is_valid() && exported.notice.is_some());
}

#[test]
fn a_line_in_the_middle_that_cannot_be_read_ends_everything_but_the_export() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    while step(&mut run) {}
    run.recorder.checkpoint().unwrap();
    let whole = String::from_utf8(run.witness()).unwrap();
    drop(run);
    let mut lines: Vec<_> = whole.lines().collect();
    lines[2] = "{";
    fs::write(world.at("record/witness.jsonl"), lines.join("\n") + "\n").unwrap();
    let mut run = world.open("record");
    run.refused("RECORD.UNREADABLE", |run| run.recorder.notice(&["x".into()]));
    let exported = run.recorder.export(&Target::of(world.at("core"))).unwrap();
    assert!(!exported.is_valid() && exported.notice.is_none());
}

#[test]
fn artifacts_never_change_and_their_names_are_paths() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    let first = run.recorder.artifact("s1/output.txt", b"one").unwrap();
    assert_eq!(first.path, "artifacts/s1/output.txt");
    assert_eq!(run.recorder.artifact("s1/output.txt", b"one").unwrap(), first);
    for (name, code) in [
        ("s1/output.txt", "RECORD.ARTIFACT"),
        ("S1/Output.txt", "RECORD.ARTIFACT"),
        ("../plan.json", "RECORD.ARTIFACT"),
        ("", "RECORD.ARTIFACT"),
        ("/etc/x", "RECORD.ARTIFACT"),
        ("a b", "RECORD.ARTIFACT"),
        (".x.tmp-1-1", "RECORD.ARTIFACT"),
    ] {
        run.refused(code, |run| run.recorder.artifact(name, b"two"));
    }
    assert_eq!(fs::read(world.at("record/artifacts/s1/output.txt")).unwrap(), b"one");
    drop(run);
    // Changed behind the recorder's back: an entry that names it is refused.
    let mut run = world.open("record");
    let mut other = run.recorder.find_artifact("s1/output.txt").unwrap();
    other.digest = anchorlog_proto::Digest::of(b"two");
    run.dispatch(&["a"]).unwrap();
    run.refused("RECORD.ARTIFACT", |run| {
        run.recorder.executor_exit(&anchorlog_client::record::ExecutorEnd {
            status: ExitStatus::Completed,
            exit_code: Some(0),
            output: Some(&other),
        })
    });
}

#[test]
fn an_artifact_that_was_changed_makes_the_export_not_valid() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    while step(&mut run) {}
    drop(run);
    fs::write(world.at("record/artifacts/instruction.txt"), "something else").unwrap();
    let mut run = world.open("record");
    assert_eq!(run.recorder.defects()[0].code.to_string(), "R1.ARTIFACT.REF_DIGEST");
    let exported = run.recorder.export(&Target::of(world.at("core"))).unwrap();
    assert!(!exported.is_valid() && exported.notice.is_some());
}
