//! `anchor stamp`: exit codes, reports, files.

use std::path::{Path, PathBuf};

use anchorlog_proto::timestamp::{HashAlgorithm, Imprint, TimestampResponse, Token};
use serde_json::Value;

use crate::command::{anchor, report};
use crate::tsa::signer::Deviation;
use crate::tsa::{Tsa, deviating, fixed, refusal};

struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("hello.txt"), b"hello").unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A file with the root of this server.
    fn root(&self, tsa: &Tsa, name: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, tsa.authority.root_pem()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn run(&self, arguments: &[&str]) -> std::process::Output {
        anchor(self.directory.path())
            .current_dir(self.directory.path())
            .arg("stamp")
            .args(arguments)
            .args(["--retries", "0", "--timeout", "5"])
            .output()
            .unwrap()
    }

    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        report(&self.run(&[arguments, &["--json"]].concat()))
    }
}

#[test]
fn a_file_gets_its_time_stamp() {
    let (world, tsa) = (World::new(), Tsa::start("alpha"));
    let roots = world.root(&tsa, "root.pem");
    let arguments =
        ["--tsa", &tsa.url(), "--roots", &roots, "hello.txt", "--out", "hello.tsr", "--fetch-crls"];
    let (code, report) = world.json(&arguments);
    assert_eq!(code, 0, "{report:#}");
    let imprint = Imprint::of_data(HashAlgorithm::Sha256, b"hello");
    assert_eq!(report["imprint"], imprint.to_string());
    assert_eq!(report["quorum"]["operators"][0], "127.0.0.1");
    let outcome = &report["outcomes"][0];
    assert_eq!((&outcome["holds"], &outcome["transport"]), (&true.into(), &"http".into()));
    assert_eq!((&outcome["path"], &outcome["form"]), (&"hello.tsr".into(), &"response".into()));
    assert_eq!(outcome["crl_files"][0], "hello.tsr.1.crl");
    assert_eq!(outcome["revocation"], "checked-at-acquisition");
    assert_eq!((&outcome["serial"], &outcome["accuracy_us"]), (&"0a0b".into(), &1_000_000.into()));
    assert_eq!(outcome["chain"].as_array().unwrap().len(), 2);
    let bytes = std::fs::read(world.path("hello.tsr")).unwrap();
    assert!(TimestampResponse::parse(&bytes).unwrap().granted().is_ok());
    assert!(world.path("hello.tsr.1.crl").exists());

    // Nothing is asked when the answer has no place.
    let asked = tsa.asked().len();
    let (code, report) = world.json(&arguments);
    assert_eq!((code, &report["errors"][0]["code"]), (2, &"CLIENT.EXISTS".into()));
    assert_eq!(tsa.asked().len(), asked);
    assert_eq!(std::fs::read(world.path("hello.tsr")).unwrap(), bytes);
    let (code, _) = world.json(&[&arguments[..], &["--force"]].concat());
    assert_eq!(code, 0);
    assert_ne!(std::fs::read(world.path("hello.tsr")).unwrap(), bytes);
}

#[test]
fn a_name_in_tst_gets_the_token_alone_and_text_says_what_was_open() {
    let (world, tsa) = (World::new(), Tsa::start("alpha"));
    let roots = world.root(&tsa, "root.pem");
    let digest = Imprint::of_data(HashAlgorithm::Sha512, b"x").to_string();
    let output =
        world.run(&["--tsa", &tsa.url(), "--roots", &roots, "--digest", &digest, "--out", "x.tst"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with(&format!("{digest}: tokens of 1 operator hold, 1 needed\n")),
        "{text}"
    );
    assert!(text.contains("over plain http") && text.contains("  token: x.tst\n"), "{text}");
    let token = std::fs::read(world.path("x.tst")).unwrap();
    assert_eq!(Token::parse(&token).unwrap().info.imprint.len(), 64);
}

#[test]
fn several_authorities_fill_a_directory_and_need_a_quorum() {
    let world = World::new();
    let (alpha, beta, gamma) = (Tsa::start("alpha"), Tsa::start("beta"), Tsa::start("gamma"));
    gamma.script([fixed("500 Oops", "X-A: b", "down")]);
    let mut arguments = Vec::new();
    for (tsa, name) in [(&alpha, "alpha"), (&beta, "beta"), (&gamma, "gamma")] {
        let roots = world.root(tsa, &format!("{name}.pem"));
        arguments.push(format!("--tsa={name}={}", tsa.url()));
        arguments.push(format!("--roots={name}={roots}"));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let with = |more: &[&'static str]| world.json(&[&arguments[..], &["hello.txt"], more].concat());

    let (code, report) = with(&["--out", "two", "--quorum", "2"]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["errors"], Value::Array(Vec::new()));
    assert_eq!(report["outcomes"][2]["code"], "CLIENT.ANSWER");
    assert_eq!(report["outcomes"][0]["path"], "two/alpha.tsr");
    let names = |directory: &Path| {
        let mut names: Vec<_> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&world.path("two")), ["alpha.tsr", "beta.tsr"]);

    // All are needed when nobody says otherwise; who couldn't be asked can't be judged.
    let (code, report) = with(&["--out", "all"]);
    assert_eq!((code, &report["errors"][0]["code"]), (2, &"CLIENT.QUORUM".into()));
    assert_eq!(names(&world.path("all")), ["alpha.tsr", "beta.tsr"], "what holds is kept");

    gamma.script([refusal(2, Some(0))]);
    let (code, report) = with(&["--out", "refused"]);
    assert_eq!((code, &report["errors"][1]["code"]), (2, &"TSA.STATUS".into()));

    gamma.script([deviating(Deviation { broken_signature: true, ..Deviation::default() })]);
    let (code, report) = with(&["--out", "bad"]);
    assert_eq!((code, &report["errors"][1]["code"]), (1, &"TSA.SIG".into()));
    assert_eq!(report["outcomes"][2]["reason"], "signature.invalid");
    assert_eq!(names(&world.path("bad")), ["alpha.tsr", "beta.tsr"]);

    let (code, report) = with(&["--out", "many", "--quorum", "4"]);
    assert_eq!((code, &report["errors"][0]["code"]), (2, &"CLIENT.USAGE".into()));
}

#[test]
fn mistakes_are_told_before_anybody_is_asked() {
    let (world, tsa) = (World::new(), Tsa::start("alpha"));
    let roots = world.root(&tsa, "root.pem");
    std::fs::write(world.path("broken.pem"), b"-----BEGIN CERTIFICATE-----\nxx\n").unwrap();
    let url = tsa.url();
    let named = format!("a={url}");
    let only_b = format!("b={roots}");
    let sha1 = format!("sha1:{}", "00".repeat(20));
    let base = ["--out", "x.tsr", "--tsa"];
    for (arguments, code, text) in [
        (vec![&*url, "--roots", "missing.pem", "hello.txt"], "CLIENT.INPUT", "missing.pem"),
        (vec![&url, "--roots", "broken.pem", "hello.txt"], "CLIENT.INPUT", "broken.pem"),
        (vec![&url, "--roots", &roots, "missing.txt"], "CLIENT.INPUT", "missing.txt"),
        (vec![&named, "--roots", &only_b, "hello.txt"], "CLIENT.USAGE", "no --tsa is run by b"),
        (
            vec![&named, "--roots", "a=root.pem", "--tsa", "b=http://b.example/", "hello.txt"],
            "CLIENT.USAGE",
            "no --roots for b",
        ),
        (vec![&url, "--tsa", &named, "--roots", &roots, "hello.txt"], "CLIENT.USAGE", "twice"),
        (vec![&url, "--roots", &roots, "--digest", &sha1], "CLIENT.USAGE", "--allow sha1"),
        (vec![&url, "--roots", &roots, "--digest", "sha256:00"], "CLIENT.USAGE", "--digest"),
        (vec![&url, "--roots", &roots], "CLIENT.USAGE", "FILE"),
        (vec![&url, "hello.txt"], "CLIENT.USAGE", "--roots"),
        (vec!["ftp://a.example", "--roots", &roots, "hello.txt"], "CLIENT.USAGE", "http://"),
        (
            vec![
                &url,
                "--roots",
                &roots,
                "--policy-oid",
                "1.2",
                "--policy-oid",
                "1.3",
                "hello.txt",
            ],
            "CLIENT.USAGE",
            "more than one for everybody",
        ),
        (vec![&url, "--roots", &roots, "--allow", "ber", "hello.txt"], "CLIENT.USAGE", "--allow"),
    ] {
        let (exit, report) = world.json(&[&base[..], &arguments].concat());
        let detail = report["errors"][0]["detail"].as_str().unwrap();
        assert_eq!((exit, &report["errors"][0]["code"]), (2, &code.into()), "{detail}");
        assert!(detail.contains(text), "{detail}");
    }
    assert!(tsa.asked().is_empty());
    assert!(!world.path("x.tsr").exists());
}

#[test]
fn the_policy_and_the_hash_are_those_asked_for() {
    let (world, tsa) = (World::new(), Tsa::start("alpha"));
    let roots = world.root(&tsa, "root.pem");
    let (code, report) = world.json(&[
        "--tsa",
        &format!("alpha={}", tsa.url()),
        "--roots",
        &roots,
        "--policy-oid",
        "alpha=1.2.3.4",
        "--hash",
        "sha384",
        "hello.txt",
        "--out",
        "hello.tsr",
    ]);
    assert_eq!(code, 0, "{report:#}");
    let imprint = Imprint::of_data(HashAlgorithm::Sha384, b"hello").to_string();
    assert_eq!((&report["imprint"], &report["file"]), (&imprint.into(), &"hello.txt".into()));
    assert_eq!(report["outcomes"][0]["policy"], "1.2.3.4");
    assert_eq!(report["outcomes"][0]["policy_asked"], "1.2.3.4");
}
