//! `anchor submit`: files, digests and lines in, receipts out.

use std::fs;

use anchorlog_proto::Digest;
use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_tests::world::statements::{digest, entry, text};
use anchorlog_tests::world::{Anchor, World, verifier};
use serde_json::Value;

use super::{code, kept_receipts, lines, size, write_key};

#[test]
fn many_files_get_their_receipts_in_order_and_only_once() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    // More than fit into one request.
    let names: Vec<String> = (0..1100).map(|number| format!("file-{number:04}")).collect();
    for name in &names {
        fs::write(anchor.home().join(name), format!("content of {name}")).unwrap();
    }
    let mut arguments = vec!["submit", "--kind", "digest", "--trail", "files", "--sequence", "5"];
    arguments.extend(["--out", "receipts"]);
    arguments.extend(names.iter().map(String::as_str));
    let report = anchor.report(0, &arguments);
    let rows = report["receipts"].as_array().unwrap();
    assert_eq!((rows.len(), &report["left_in_outbox"]), (names.len(), &0.into()));
    for ((row, name), index) in rows.iter().zip(&names).zip(0_u64..) {
        assert_eq!((&row["index"], &row["file"]), (&index.into(), &name.as_str().into()));
        assert_eq!((&row["sequence"], &row["duplicate"]), (&(5 + index).into(), &false.into()));
    }
    let policy = world.policy();
    for number in [0, 999, 1000, 1099] {
        let path = anchor.home().join(format!("receipts/{number}.json"));
        let receipt = Receipt::parse(&fs::read(&path).unwrap()).unwrap();
        let content = Digest::of(format!("content of {}", names[number]).as_bytes());
        assert_eq!(receipt.entry.statement().digest, content);
        let (path, policy) = (path.to_str().unwrap(), policy.to_str().unwrap());
        let judged = verifier([
            "receipt",
            path,
            "--policy",
            policy,
            "--digest",
            &content.to_string(),
            "--json",
        ]);
        assert_eq!(judged.report(0)["verdict"], "holds");
    }
    assert_eq!(fs::read_dir(anchor.home().join("receipts")).unwrap().count(), names.len());

    let again = anchor.report(0, &arguments);
    for (row, index) in again["receipts"].as_array().unwrap().iter().zip(0_u64..) {
        assert_eq!((&row["index"], &row["duplicate"]), (&index.into(), &true.into()));
    }
    assert_eq!(size(&world), 1100);
}

#[test]
fn statements_come_from_standard_input_line_by_line() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    let report = anchor.run_with_input(&["submit", "-"], &lines(0..1234)).report(0);
    let rows = report["receipts"].as_array().unwrap();
    assert_eq!(rows.len(), 1234);
    for (row, number) in rows.iter().zip(0_u64..) {
        assert_eq!(
            (&row["index"], &row["digest"]),
            (&number.into(), &digest(number).to_string().into())
        );
    }
    let kept = kept_receipts(&anchor);
    assert_eq!(kept.len(), 1234);
    assert_eq!(kept[&entry(1233).leaf_hash()], 1233);
    // What one program writes, the next one reads.
    let answer = anchor.report(0, &["receipt", "7"]);
    let statement = answer["receipts"][0]["receipt"]["statement"].to_string();
    let again = anchor.run_with_input(&["submit", "-"], statement.as_bytes()).report(0);
    assert_eq!((&again["receipts"][0]["index"], size(&world)), (&7.into(), 1234));
}

#[test]
fn one_bad_line_and_nothing_is_sent() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    for (wrong, expected) in [
        ("{\"schema\":1}".to_owned(), "J.TYPE"),
        (text(1).replace("sha256", "sha512"), "J.DIGEST_FORM"),
        (text(1).replace("\"kind\":\"digest\"", "\"kind\":\"x\""), "STM.KIND"),
        ("nonsense".to_owned(), "J.SYNTAX"),
        ("x".repeat(40_000), "CLIENT.INPUT"),
    ] {
        let input = [&lines(0..3)[..], wrong.as_bytes(), b"\n", &lines(4..6)].concat();
        let report = anchor.run_with_input(&["submit", "-"], &input).report(2);
        assert_eq!(code(&report), expected, "{report:#}");
        let detail = report["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains("line 4"), "{detail}");
    }
    assert_eq!(code(&anchor.run_with_input(&["submit", "-"], b"\n \n").report(2)), "CLIENT.INPUT");
    assert_eq!(size(&world), 0);
    assert!(!anchor.state().exists(), "nothing was written either");
}

#[test]
fn signed_statements_are_signed_with_the_given_key() {
    let key = SigningKey::from_seed(&[7; 32]);
    let world = World::configured(&format!(
        "[access]\nmode = \"keys\"\n[[access.keys]]\nname = \"ci\"\nkey = {:?}",
        key.public_key().to_base64()
    ));
    let anchor = Anchor::of(&world);
    write_key(&anchor.home().join("key.pem"), &key);
    let digest = digest(1).to_string();
    let unsigned = ["submit", "--kind", "core_root", "--digest", &digest];

    let refused = anchor.report(1, &unsigned);
    assert_eq!(code(&refused), "access.signature-required");
    assert_eq!((&refused["left_in_outbox"], size(&world)), (&0.into(), 0));

    let out = ["--key", "key.pem", "--out", "receipt.json"];
    let report = anchor.report(0, &[&unsigned[..], &out].concat());
    assert_eq!(report["receipts"][0]["key_id"], key.id().to_string());
    let policy = world.policy();
    let judge = |submitter: &SigningKey| {
        let path = anchor.home().join("receipt.json");
        let (path, policy) = (path.to_str().unwrap(), policy.to_str().unwrap());
        let submitter = submitter.public_key().to_base64();
        verifier(["receipt", path, "--policy", policy, "--submitter", &submitter, "--json"])
    };
    let _ = judge(&key).report(0);
    let _ = judge(&SigningKey::from_seed(&[8; 32])).report(1);

    let listed = anchor.report(0, &["submitter", &key.id().to_string()]);
    assert_eq!(listed["entries"][0]["digest"], digest);
    let none = anchor.report(0, &["submitter", &SigningKey::from_seed(&[8; 32]).id().to_string()]);
    assert_eq!(none["entries"], Value::Array(Vec::new()));

    write_key(&anchor.home().join("other.pem"), &SigningKey::from_seed(&[8; 32]));
    let other = anchor.report(1, &[&unsigned[..], &["--key", "other.pem"]].concat());
    assert_eq!(code(&other), "access.unknown-key");
    assert_eq!(size(&world), 1);
}

#[test]
fn the_statement_that_spoils_a_batch_is_named() {
    let key = SigningKey::from_seed(&[7; 32]);
    let world = World::start();
    let anchor = Anchor::of(&world);
    // Signed by a key the log doesn't know, in the middle of good ones.
    let stranger = {
        use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
        let statement = Statement::new(StatementKind::Digest, digest(2));
        LogEntry::signed(statement, &key).unwrap().leaf_bytes().to_vec()
    };
    let input = [&lines(0..2)[..], &stranger, b"\n", &lines(3..5)].concat();
    let report = anchor.run_with_input(&["submit", "-"], &input).report(1);
    assert_eq!(code(&report), "access.unknown-key");
    assert_eq!(report["errors"][0]["position"], 2);
    assert_eq!((&report["left_in_outbox"], size(&world)), (&0.into(), 0));
}

#[test]
fn waiting_longer_than_the_log_can_grow_is_told() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    let digest = digest(1).to_string();
    let wait = ["--wait", "witnessed", "--wait-timeout", "1"];
    let submit = ["submit", "--kind", "digest", "--digest", &digest];
    let report = anchor.report(1, &[&submit[..], &wait].concat());
    assert_eq!((code(&report), &report["receipts"][0]["index"]), ("CLIENT.NOT_YET", &0.into()));
    assert_eq!(report["receipts"][0]["state"], "published");
    assert_eq!(kept_receipts(&anchor).len(), 1, "the receipt is kept as it is");
    let report = anchor.report(1, &[&["receipt", "0"][..], &wait].concat());
    assert_eq!(code(&report), "CLIENT.NOT_YET");
}
