//! `verifier witness`: exit codes, reports, and what an operator can't hide.

use anchorlog_proto::encoding::{base64_encode, hex_encode};
use anchorlog_proto::json::{Object, ReadLimits, Value, parse_canonical};

use crate::cli::Folder;
use crate::witness_world::{TRAIL, Witnessed, lines};

struct World {
    folder: Folder,
    witnessed: Witnessed,
}

impl World {
    fn new() -> Self {
        let (folder, witnessed) = (Folder::new(), Witnessed::new());
        folder.file("witness.pub", hex_encode(witnessed.key.as_bytes()) + "\n");
        folder.file("chain.jsonl", lines(&witnessed.chain));
        folder.file("head.jsonl", lines(&witnessed.chain[4..]));
        folder.file("trail.jsonl", witnessed.copy());
        Self { folder, witnessed }
    }

    fn run(&self, arguments: &[&str]) -> (String, i32) {
        let trail = TRAIL.to_string();
        let output = self.folder.run(&[&["witness", "--trail", &trail], arguments].concat());
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
    }

    fn report(&self, arguments: &[&str]) -> (Object<'static>, i32) {
        let (out, code) = self.run(&[arguments, &["--json"]].concat());
        let line = out.strip_suffix('\n').expect("one line");
        let value = parse_canonical(line.as_bytes(), &ReadLimits::DEFAULT).unwrap().into_owned();
        let object = value.as_object().unwrap().clone();
        let members: Vec<_> = object.iter().map(|(name, _)| name.to_owned()).collect();
        let expected = [
            "chain",
            "command",
            "countersigned",
            "does_not_establish",
            "establishes",
            "findings",
            "findings_omitted",
            "holder_checkpoints",
            "keys",
            "records",
            "refusal",
            "required_through",
            "schema",
            "trail",
            "verdict",
            "verifier",
            "witnessed",
        ];
        assert_eq!(members, expected);
        assert_eq!(object.get("schema"), Some(&"anchorlog.audit-trail-report/1".into()));
        (object, code)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path(name)).unwrap()
    }

    /// The chain, its head and the copy, and more.
    fn whole(&self, more: &[&str]) -> (Object<'static>, i32) {
        self.report(&[&WITH_HEAD[..], &["--records", "trail.jsonl"], more].concat())
    }
}

const WITH_HEAD: [&str; 6] =
    ["--key", "witness.pub", "--statements", "chain.jsonl", "--head", "head.jsonl"];

/// The reasons of the findings, which are the specification's words.
fn words(report: &Object<'_>) -> Vec<String> {
    let findings = report.get("findings").unwrap().as_array().unwrap().iter();
    let word = |finding: &Value<'_>| member(finding, "reason").as_str().unwrap().to_owned();
    findings.map(word).collect()
}

fn member<'a>(value: &'a Value<'a>, name: &str) -> &'a Value<'a> {
    value.as_object().unwrap().get(name).unwrap()
}

fn through(report: &Object<'_>, name: &str) -> (String, Option<i64>) {
    let coverage = report.get(name).unwrap();
    let state = member(coverage, "state").as_str().unwrap().to_owned();
    (state, member(coverage, "through").as_integer())
}

#[test]
fn a_sound_chain_and_a_sound_copy_hold() {
    let world = World::new();
    let (report, code) = world.whole(&["--require-through", "10"]);
    assert_eq!((code, report.get("verdict")), (0, Some(&"holds".into())));
    assert_eq!(words(&report), [""; 0]);
    assert_eq!(through(&report, "countersigned"), ("through".to_owned(), Some(10)));
    let reading = member(report.get("chain").unwrap(), "reading");
    assert_eq!(member(reading, "kind"), &"current".into());
    assert_eq!(member(reading, "retired"), &true.into());
    assert_eq!(member(reading, "conflicts"), &vec![Value::from(3)].into());
    assert_eq!(member(member(reading, "latest_checkpoint"), "index"), &3.into());
    assert_eq!(member(report.get("records").unwrap(), "legacy"), &2.into());

    let (text, code) = world.run(&[&WITH_HEAD[..], &["--records", "trail.jsonl"]].concat());
    assert_eq!(code, 0);
    for part in [
        "witness: holds",
        "current: index 0 to 4, head at 4",
        "record 10, index 3, 2026-09-21T14:13:23Z by the witness' clock",
        "at record 3",
        "the witness takes nothing more",
        "lines 1 to 10 checked, of 12",
        "countersigned  records 1 to 10",
        "\nestablished:",
        "Records after 10",
        "works with the operator",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    // Without a copy and without a head the same chain says less.
    let (report, code) = world.report(&WITH_HEAD[..4]);
    assert_eq!(code, 0);
    assert_eq!(through(&report, "countersigned"), ("not-checked".to_owned(), None));
    let reading = member(report.get("chain").unwrap(), "reading");
    assert_eq!(member(reading, "kind"), &"historical".into());
    assert_eq!(member(reading, "head_index"), &Value::Null);
}

#[test]
fn what_an_operator_rewrites_or_cuts_off_shows() {
    let world = World::new();
    let copy = world.witnessed.copy();
    world.folder.file("trail.jsonl", copy.replace("\"sequence\":6", "\"sequence\": 6"));
    let (report, code) = world.whole(&[]);
    assert_eq!((code, words(&report)), (1, vec!["previous-mismatch".to_owned()]));
    assert_eq!(through(&report, "countersigned"), ("through".to_owned(), Some(3)));
    assert_eq!(report.get("establishes").unwrap().as_array().unwrap().len(), 0);

    let cut: String = copy.split_inclusive('\n').take(8).collect();
    world.folder.file("trail.jsonl", cut);
    let (report, code) = world.whole(&[]);
    assert_eq!((code, words(&report)), (1, vec!["checkpoint-beyond-trail".to_owned()]));
    assert_eq!(through(&report, "countersigned"), ("through".to_owned(), Some(7)));

    // The early statement that a rewrite fails against can't be left out.
    world.folder.file("trail.jsonl", &copy);
    world.folder.file("chain.jsonl", lines(&world.witnessed.chain[1..]));
    let (report, code) = world.whole(&["--require-through", "3"]);
    let expected = ["witness-chain-broken", "countersigned-coverage-missing"];
    assert_eq!((code, words(&report)), (1, expected.map(str::to_owned).to_vec()));
    assert_eq!(through(&report, "countersigned"), ("failed".to_owned(), None));
    assert_eq!(through(&report, "witnessed"), ("none".to_owned(), None));
    let (text, _) = world.run(&WITH_HEAD);
    assert!(text.contains("broken WITNESS.CHAIN: the statements begin at index 1"), "{text}");
    assert!(text.contains("Fetch all statements"), "{text}");
}

#[test]
fn coverage_that_is_asked_for_has_to_be_there() {
    let world = World::new();
    let (report, code) = world.whole(&["--require-through", "11"]);
    assert_eq!((code, words(&report)), (1, vec!["countersigned-coverage-missing".to_owned()]));
    // A holder's checkpoint doesn't stand in for the witness'.
    world.folder.file("held.jsonl", world.witnessed.held(12));
    let (report, code) = world.whole(&["--require-through", "11", "--expect", "held.jsonl"]);
    assert_eq!(code, 1);
    assert_eq!(through(&report, "countersigned"), ("through".to_owned(), Some(10)));
    assert_eq!(through(&report, "witnessed"), ("through".to_owned(), Some(12)));
}

#[test]
fn a_holder_is_enough_without_a_witness() {
    let world = World::new();
    let (second, fifth) = (world.witnessed.held(5), world.witnessed.held(9));
    world.folder.file("held.jsonl", format!("{fifth}{second}"));
    let hold = ["--records", "trail.jsonl", "--expect", "held.jsonl"];
    let (report, code) = world.report(&[&hold[..], &["--require-through", "9"]].concat());
    assert_eq!((code, words(&report)), (0, vec![]));
    assert_eq!(report.get("chain"), Some(&Value::Null));
    assert_eq!(report.get("holder_checkpoints"), Some(&2.into()));
    assert_eq!(through(&report, "countersigned"), ("not-checked".to_owned(), None));
    assert_eq!(through(&report, "witnessed"), ("through".to_owned(), Some(9)));
    let (text, _) = world.run(&hold);
    assert!(text.contains("if its holder is independent"), "{text}");
    let (report, code) = world.report(&[&hold[..], &["--require-through", "10"]].concat());
    assert_eq!((code, words(&report)), (1, vec!["checkpoint-coverage-missing".to_owned()]));

    for broken in [String::new(), fifth.trim_end().to_owned(), fifth.replace(':', ": ")] {
        world.folder.file("held.jsonl", broken);
        let (report, code) = world.report(&hold);
        assert_eq!(code, 2);
        let refusal = report.get("refusal").unwrap();
        assert_eq!(member(refusal, "code"), &"TRAIL.HELD".into());
    }
    let other = world.witnessed.held(9).replace("3c3c", "3c3d");
    world.folder.file("held.jsonl", other);
    let (report, code) = world.report(&hold);
    assert_eq!((code, words(&report)), (1, vec!["checkpoint-trail-mismatch".to_owned()]));
}

#[test]
fn a_reading_goes_on_where_the_last_one_was_saved() {
    let world = World::new();
    let chain = &world.witnessed.chain;
    let exists = |name: &str| world.folder.path(name).is_file();
    let read = |statements: &[_], more: &[&str]| {
        world.folder.file("new.jsonl", lines(statements));
        let with = ["--key", "witness.pub", "--statements", "new.jsonl"];
        world.report(&[&with[..], &["--records", "trail.jsonl"], more].concat())
    };
    // Nothing is saved by what finds something, the gap in a coverage included.
    for (statements, more) in [
        (&chain[1..3], &["--save", "read.json"][..]),
        (&chain[..3], &["--save", "read.json", "--require-through", "8"]),
    ] {
        assert_eq!(read(statements, more).1, 1);
        assert!(!exists("read.json"));
    }
    assert_eq!(read(&chain[..3], &["--save", "read.json"]).1, 0);
    let saved = world.read("read.json");
    let (report, code) = read(
        &chain[3..],
        &["--resume", "read.json", "--save", "read.json", "--head", "head.jsonl"],
    );
    assert_eq!((code, words(&report)), (0, vec![]));
    let reading = member(report.get("chain").unwrap(), "reading");
    assert_eq!(member(reading, "continued_after"), &2.into());
    let caveat = report.get("does_not_establish").unwrap().as_array().unwrap()[0].as_str();
    assert!(caveat.unwrap().contains("up to index 2: they were not read now"));
    let later = world.read("read.json");
    assert_ne!(saved, later);
    // A step that fails leaves what was saved, and so does one that is refused.
    let (report, code) =
        read(&[], &["--resume", "read.json", "--save", "read.json", "--head", "first.jsonl"]);
    assert_eq!((code, member(report.get("refusal").unwrap(), "code")), (2, &"IN.OPEN".into()));
    world.folder.file("first.jsonl", lines(&chain[..1]));
    let (report, code) =
        read(&[], &["--resume", "read.json", "--save", "read.json", "--head", "first.jsonl"]);
    assert_eq!((code, words(&report)), (1, vec!["witness-head-behind".to_owned()]));
    let (report, code) = read(&chain[3..], &["--resume", "read.json", "--save", "read.json"]);
    let refusal = report.get("refusal").unwrap();
    assert_eq!((code, member(refusal, "reason")), (2, &"statement-before-continuation".into()));
    assert_eq!(world.read("read.json"), later);
    // The copy is held to the continuation's checkpoint again.
    let copy = world.witnessed.copy().replace("evaluation", "evaluatiom");
    world.folder.file("trail.jsonl", copy);
    let (report, code) = read(&[], &["--resume", "read.json"]);
    assert_eq!(code, 1);
    assert!(words(&report).contains(&"checkpoint-record-mismatch".to_owned()));
    world.folder.file("trail.jsonl", world.witnessed.copy());
    // It holds, and the caller is told that nothing was kept.
    let (report, code) = read(&chain[..2], &["--save", "none/read.json"]);
    assert_eq!((code, member(report.get("refusal").unwrap(), "code")), (2, &"WITNESS.SAVE".into()));
}

#[test]
fn keys_are_given_in_any_form_and_refused_by_their_rule() {
    let world = World::new();
    let key = world.witnessed.key.as_bytes();
    let mut der = vec![0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
    der.extend(key);
    let pem =
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", base64_encode(&der));
    world.folder.file("witness.pem", pem);
    world.folder.file("witness.raw", key);
    world.folder.file("not.a.key", "x");
    let read = |keys: &[&str]| {
        let keys = keys.iter().flat_map(|key| ["--key", key]);
        let all: Vec<_> = keys.chain(["--statements", "chain.jsonl"]).collect();
        world.report(&all)
    };
    let hex = hex_encode(key);
    for form in ["witness.pem", "witness.raw", "witness.pub", hex.as_str()] {
        let (report, code) = read(&[form]);
        assert_eq!(code, 0, "{form}");
        let id = world.witnessed.key.id().to_string();
        assert_eq!(report.get("keys"), Some(&vec![Value::from(id)].into()));
    }
    let zero = "00".repeat(32);
    for (keys, code, reason) in [
        (vec![hex.as_str(), zero.as_str()], "WITNESS.KEY", Some("key-small-order")),
        (vec![hex.as_str(); 17], "WITNESS.BOUND", Some("keys-over-bound")),
        (vec!["not.a.key"], "CLI.USAGE", None),
        (vec!["no.such.key"], "IN.OPEN", None),
    ] {
        let (report, exit) = read(&keys);
        let refusal = report.get("refusal").unwrap();
        assert_eq!((exit, member(refusal, "code")), (2, &code.into()));
        assert_eq!(member(refusal, "reason").as_str(), reason);
        assert_eq!(report.get("establishes").unwrap().as_array().unwrap().len(), 0);
    }
    let another = format!("58{}", "66".repeat(31));
    let (report, code) = read(&[&another]);
    assert_eq!((code, words(&report)[0].as_str()), (1, "witness-signature-invalid"));
}

#[test]
fn files_over_the_bound_are_not_read() {
    let world = World::new();
    let sparse = std::fs::File::create(world.folder.path("large.jsonl")).unwrap();
    sparse.set_len(67_108_864).unwrap();
    let read = ["--key", "witness.pub", "--statements", "large.jsonl", "chain.jsonl"];
    let (report, code) = world.report(&read);
    let refusal = report.get("refusal").unwrap();
    assert_eq!((code, member(refusal, "reason")), (2, &"bytes-over-bound".into()));
    world.folder.file("many.jsonl", "x\n".repeat(110_001));
    let (report, code) = world.report(&["--key", "witness.pub", "--statements", "many.jsonl"]);
    let refusal = report.get("refusal").unwrap();
    assert_eq!((code, member(refusal, "reason")), (2, &"statements-over-bound".into()));
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let world = World::new();
    for arguments in [
        &["--statements", "chain.jsonl"][..],
        &["--records", "trail.jsonl"],
        &["--key", "witness.pub", "--expect", "held.jsonl"],
        &["--key", "witness.pub", "--require-through", "3"],
        &["--key", "witness.pub", "--records", "trail.jsonl", "--require-through", "0"],
        &["--expect", "held.jsonl", "--records", "trail.jsonl", "--save", "read.json"],
    ] {
        let trail = TRAIL.to_string();
        let output = world.folder.run(&[&["witness", "--trail", &trail], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    let output = world.folder.run(&["witness", "--trail", "3C", "--key", "witness.pub"]);
    assert_eq!(output.status.code(), Some(2));
}
