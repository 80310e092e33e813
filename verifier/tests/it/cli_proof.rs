//! `verifier proof`.

use anchorlog_proto::Digest;

use crate::cli::Folder;
use crate::world::{Draft, ORIGIN};

/// A folder with the proof of entry 2 in every form.
fn inclusion() -> (Folder, Draft) {
    let folder = Folder::new();
    let draft = folder.world.draft(2);
    folder.file("statement.json", folder.world.entries[2].leaf_bytes());
    folder.file("proof.json", inclusion_json(2, 7, &draft.hashes));
    folder.file("entry.tlog-proof", draft.proof());
    folder.file("checkpoint", draft.note());
    (folder, draft)
}

fn hashes(hashes: &[Digest]) -> String {
    let texts: Vec<_> = hashes.iter().map(|hash| format!("\"{hash}\"")).collect();
    texts.join(",")
}

fn inclusion_json(index: u64, size: u64, proof: &[Digest]) -> String {
    format!("{{\"index\":{index},\"size\":{size},\"hashes\":[{}]}}", hashes(proof))
}

fn consistency_json(from: u64, to: u64, proof: &[Digest]) -> String {
    format!("{{\"from\":{from},\"to\":{to},\"hashes\":[{}]}}", hashes(proof))
}

fn codes(found: (i32, Vec<String>)) -> (i32, String) {
    (found.0, found.1.join(" "))
}

#[test]
fn inclusion_from_the_command_line() {
    let (folder, draft) = inclusion();
    let root = draft.checkpoint.root;
    let (hex, base64) = (root.to_string(), root.to_base64());
    let mut arguments = vec!["--index", "2", "--size", "7", "--leaf-hash", &draft.leaf_hash];
    let hash_texts: Vec<_> = draft.hashes.iter().map(Digest::to_base64).collect();
    for hash in &hash_texts {
        arguments.extend(["--hash", hash]);
    }
    let run = |extra: &[&str]| {
        codes(folder.codes(&[&["proof", "inclusion"], &arguments[..], extra].concat()))
    };
    assert_eq!(run(&["--root", &hex]), (0, String::new()));
    assert_eq!(run(&["--root", &base64]), (0, String::new()));
    assert_eq!(run(&["--root", &draft.leaf_hash]), (1, "LOG.INCLUSION".to_owned()));
    assert_eq!(run(&["--root", &hex, "--hash", &hex]), (1, "LOG.PROOF_LENGTH".to_owned()));
    // The program says it too when nobody asked for JSON.
    let output = folder.run(&[&["proof", "inclusion"], &arguments[..], &["--root", &hex]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("proof inclusion: holds\n"), "{text}");
}

#[test]
fn inclusion_in_trees_no_json_can_count() {
    let folder = Folder::new();
    let leaf = Digest::of(b"leaf").to_string();
    let arguments = |index, size| {
        [
            "proof",
            "inclusion",
            "--index",
            index,
            "--size",
            size,
            "--leaf-hash",
            &leaf,
            "--root",
            &leaf,
        ]
        .map(str::to_owned)
    };
    let run = |arguments: [String; 10]| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let (report, code) = folder.report(&arguments);
        let size = report.0.get("size").unwrap().clone();
        (code, size.as_str().map(str::to_owned))
    };
    let largest = "9223372036854775807".to_owned();
    assert_eq!(run(arguments("9223372036854775806", &largest)), (1, Some(largest.clone())));
    let over = arguments("1", "9223372036854775808");
    let over: Vec<_> = over.iter().map(String::as_str).collect();
    assert_eq!(folder.run(&over).status.code(), Some(2));
}

#[test]
fn inclusion_from_files() {
    let (folder, draft) = inclusion();
    let root = draft.checkpoint.root.to_string();
    let vkey = folder.world.vkey();
    folder.file("raw", folder.world.entries[2].leaf_bytes());
    folder.file(
        "pretty",
        String::from_utf8(folder.world.entries[2].leaf_bytes().to_vec())
            .unwrap()
            .replace(',', ",\n ")
            + "\n",
    );
    folder.file("wrong-size.json", inclusion_json(2, 6, &draft.hashes));
    folder.file("open.json", inclusion_json(2, 7, &draft.hashes).replace('}', ",\"x\":1}"));
    folder.file("beyond.json", inclusion_json(7, 7, &draft.hashes));
    let proof =
        |arguments: &[&str]| codes(folder.codes(&[&["proof", "inclusion"], arguments].concat()));
    for (arguments, expected) in [
        (&["--file", "proof.json", "--entry", "statement.json", "--root", &root][..], (0, "")),
        (&["--file", "proof.json", "--entry", "pretty", "--root", &root], (0, "")),
        (&["--file", "proof.json", "--raw-entry", "raw", "--root", &root], (0, "")),
        (&["--file", "proof.json", "--raw-entry", "pretty", "--root", &root], (1, "LOG.INCLUSION")),
        (
            &[
                "--file",
                "proof.json",
                "--entry",
                "raw",
                "--checkpoint",
                "checkpoint",
                "--policy",
                "policy",
            ],
            (0, ""),
        ),
        (
            &[
                "--file",
                "proof.json",
                "--entry",
                "raw",
                "--checkpoint",
                "checkpoint",
                "--vkey",
                &vkey,
            ],
            (0, "POLICY.UNWITNESSED"),
        ),
        (&["--tlog-proof", "entry.tlog-proof", "--entry", "raw", "--policy", "policy"], (0, "")),
        (
            &["--tlog-proof", "entry.tlog-proof", "--leaf-hash", &root, "--policy", "policy"],
            (1, "LOG.INCLUSION"),
        ),
        (
            &[
                "--file",
                "wrong-size.json",
                "--entry",
                "raw",
                "--checkpoint",
                "checkpoint",
                "--policy",
                "policy",
            ],
            (1, "LOG.PROOF_SIZE"),
        ),
        (&["--file", "beyond.json", "--entry", "raw", "--root", &root], (1, "LOG.INDEX")),
        (&["--file", "open.json", "--entry", "raw", "--root", &root], (2, "J.UNKNOWN_FIELD")),
        (&["--file", "policy", "--entry", "raw", "--root", &root], (2, "J.SYNTAX")),
        (&["--file", "proof.json", "--entry", "policy", "--root", &root], (2, "J.SYNTAX")),
        (
            &["--tlog-proof", "policy", "--entry", "raw", "--policy", "policy"],
            (2, "TLOGPROOF.HEADER"),
        ),
        (
            &[
                "--file",
                "proof.json",
                "--entry",
                "raw",
                "--checkpoint",
                "policy",
                "--policy",
                "policy",
            ],
            (2, "NOTE.SYNTAX"),
        ),
        (&["--file", "proof.json", "--entry", "raw"], (2, "CLI.USAGE")),
        (&["--file", "proof.json", "--root", &root], (2, "CLI.USAGE")),
        (&["--index", "2", "--entry", "raw", "--root", &root], (2, "CLI.USAGE")),
        (&["--tlog-proof", "entry.tlog-proof", "--entry", "raw"], (2, "CLI.USAGE")),
        (
            &["--file", "proof.json", "--entry", "raw", "--root", &root, "--vkey", &vkey],
            (2, "CLI.USAGE"),
        ),
        (
            &["--file", "proof.json", "--entry", "raw", "--checkpoint", "checkpoint"],
            (2, "CLI.USAGE"),
        ),
        (
            &["--file", "proof.json", "--hash", &root, "--entry", "raw", "--root", &root],
            (2, "CLI.USAGE"),
        ),
    ] {
        assert_eq!(proof(arguments), (expected.0, expected.1.to_owned()), "{arguments:?}");
    }
}

#[test]
fn consistency_from_the_command_line_and_files() {
    let folder = Folder::new();
    let world = &folder.world;
    let [from, to] = [3, 7].map(|size| world.checkpoint(size).root.to_string());
    let proof = world.consistency(3, 7);
    folder.file("proof.json", consistency_json(3, 7, &proof));
    folder.file("short.json", consistency_json(3, 7, &proof[1..]));
    folder.file("other.json", consistency_json(3, 7, &vec![Digest::of(b""); proof.len()]));
    let run =
        |arguments: &[&str]| codes(folder.codes(&[&["proof", "consistency"], arguments].concat()));
    let texts: Vec<_> = proof.iter().map(Digest::to_string).collect();
    let mut line = vec!["--from", "3", "--to", "7", "--from-root", &from, "--to-root", &to];
    for hash in &texts {
        line.extend(["--hash", hash]);
    }
    assert_eq!(run(&line), (0, String::new()));
    for (arguments, expected) in [
        (&["--file", "proof.json", "--from-root", &from, "--to-root", &to][..], (0, "")),
        (
            &["--file", "short.json", "--from-root", &from, "--to-root", &to],
            (1, "LOG.PROOF_LENGTH"),
        ),
        (&["--file", "other.json", "--from-root", &from, "--to-root", &to], (1, "LOG.CONSISTENCY")),
        (&["--file", "proof.json", "--from-root", &to, "--to-root", &from], (1, "LOG.CONSISTENCY")),
        (
            &["--from", "7", "--to", "3", "--from-root", &to, "--to-root", &from],
            (1, "LOG.ROLLBACK"),
        ),
        (&["--from", "7", "--to", "7", "--from-root", &to, "--to-root", &to], (0, "")),
        (
            &["--from", "7", "--to", "7", "--from-root", &from, "--to-root", &to],
            (1, "LOG.SPLIT_VIEW"),
        ),
        (&["--from", "3", "--to", "7"], (2, "CLI.USAGE")),
        (&["--from-root", &from, "--to-root", &to], (2, "CLI.USAGE")),
        (&["--from", "3", "--from-root", &from, "--to-root", &to], (2, "CLI.USAGE")),
        (&["--file", "missing", "--from-root", &from, "--to-root", &to], (2, "IN.OPEN")),
    ] {
        assert_eq!(run(arguments), (expected.0, expected.1.to_owned()), "{arguments:?}");
    }
}

#[test]
fn consistency_of_checkpoints() {
    let folder = Folder::new();
    let world = &folder.world;
    for size in [0, 3, 7] {
        folder.file(&size.to_string(), world.note(size));
    }
    let mut fork = world.draft(2);
    fork.checkpoint.root = Digest::of(b"another history");
    fork.sign(world, &[0, 1]);
    folder.file("fork", fork.note());
    let mut forged = fork.clone();
    forged.signatures = world.draft(2).signatures;
    folder.file("forged", forged.note());
    let mut other = world.draft(2);
    other.checkpoint.origin = "log.example/other".parse().unwrap();
    other.sign(world, &[0, 1]);
    folder.file("other", other.note());
    folder.file("0-7.json", consistency_json(0, 7, &[]));
    folder.file("3-7.json", consistency_json(3, 7, &world.consistency(3, 7)));
    folder.file("3-6.json", consistency_json(3, 6, &world.consistency(3, 6)));
    let vkey = world.vkey();
    let run = |old: &str, new: &str, extra: &[&str]| {
        let checkpoints =
            ["proof", "consistency", "--old-checkpoint", old, "--new-checkpoint", new];
        codes(folder.codes(&[&checkpoints, extra].concat()))
    };
    let by = ["--policy", "policy"];
    for (old, new, extra, expected) in [
        ("3", "7", &["--file", "3-7.json"][..], (0, "")),
        ("0", "7", &["--file", "0-7.json"], (0, "")),
        ("0", "7", &[], (0, "")),
        ("7", "7", &[], (0, "")),
        ("3", "7", &[], (1, "LOG.PROOF_LENGTH")),
        ("3", "7", &["--file", "3-6.json"], (1, "LOG.CONSISTENCY LOG.PROOF_SIZE")),
        ("7", "3", &[], (1, "LOG.ROLLBACK")),
        ("7", "fork", &[], (1, "LOG.SPLIT_VIEW")),
        ("3", "fork", &["--file", "3-7.json"], (1, "LOG.CONSISTENCY")),
        // What the log did not sign is no evidence against it.
        ("7", "forged", &[], (1, "LOG.SIG")),
        ("7", "other", &[], (1, "LOG.ORIGIN LOG.UNKNOWN")),
        ("7", "missing", &[], (2, "IN.OPEN")),
        ("7", "policy", &[], (2, "NOTE.SYNTAX")),
    ] {
        let found = run(old, new, &[extra, &by].concat());
        assert_eq!(found, (expected.0, expected.1.to_owned()), "{old} {new} {extra:?}");
    }
    assert_eq!(
        run("7", "7", &["--vkey", &vkey]),
        (0, "POLICY.UNWITNESSED POLICY.UNWITNESSED".to_owned())
    );
    assert_eq!(run("7", "7", &[]), (2, "CLI.USAGE".to_owned()));
    let (report, _) = folder.report(&[
        "proof",
        "consistency",
        "--old-checkpoint",
        "7",
        "--new-checkpoint",
        "fork",
        "--policy",
        "policy",
    ]);
    assert_eq!(report.text("log"), ORIGIN);
    assert_eq!(report.text("root"), fork.checkpoint.root.to_string());
}
