//! Who may submit, how much, and in which form: 401, 403, 413, 415 and 429.

use std::thread;
use std::time::Duration;

use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_tests::world::World;
use anchorlog_tests::world::statements::{batch, digest, text};

use super::{changes_nothing, checkpoint, receipt};

#[test]
fn a_log_of_known_keys_takes_nothing_else() {
    let (known, unknown) = (key(1), key(2));
    let world =
        World::configured(&format!("[access]\nmode = \"keys\"\n{}", block("ci", &known, "")));
    changes_nothing(&world, || {
        let answer = world.post("/v1/entries", text(0));
        answer.problem(401, "access.signature-required");
        assert_eq!(answer.header("www-authenticate"), Some("anchorlog-signed-statement"));
        world.post("/v1/entries", signed(0, &unknown)).problem(403, "access.unknown-key");
        world.post("/v1/entries", forged(0, &known)).problem(403, "access.bad-signature");
        // Two good statements don't help a third.
        for (wrong, status, code) in [
            (text(3), 401, "access.signature-required"),
            (signed(3, &unknown), 403, "access.unknown-key"),
            (forged(3, &known), 403, "access.bad-signature"),
        ] {
            let statements = [signed(1, &known), signed(2, &known), wrong];
            let problem = world.post("/v1/entries:batch", batch(statements)).problem(status, code);
            assert_eq!(problem["position"], 2, "{problem:#}");
        }
    });
    let taken = receipt(&world.post("/v1/entries", signed(0, &known)), &world);
    assert_eq!((taken.index, taken.entry.signer()), (0, Some(known.id())));
    taken.entry.verify_signature(&known.public_key()).unwrap();

    let listed = world.get(&format!("/v1/submitters/{}", known.id())).json();
    assert_eq!(listed["entries"][0]["index"], 0);
    assert_eq!(listed["entries"][0]["key_id"], known.id().to_string());
    let listed = world.get(&format!("/v1/submitters/{}", unknown.id())).json();
    assert!(listed["entries"].as_array().unwrap().is_empty());
    world.get("/v1/submitters/nobody").problem(400, "request.bad-parameter");
    // Reading is open in any case.
    assert_eq!(world.get("/v1/entries/0").status, 200);
}

#[test]
fn an_open_log_still_checks_signatures() {
    let (known, unknown) = (key(1), key(2));
    let world = World::configured(&block("ci", &known, ""));
    changes_nothing(&world, || {
        world.post("/v1/entries", signed(0, &unknown)).problem(403, "access.unknown-key");
        world.post("/v1/entries", forged(0, &known)).problem(403, "access.bad-signature");
    });
    assert_eq!(receipt(&world.post("/v1/entries", text(0)), &world).index, 0);
    // The signed statement is another leaf than the plain one.
    assert_eq!(receipt(&world.post("/v1/entries", signed(0, &known)), &world).index, 1);
    // A signed statement must say who it is by and what it is, no more.
    let whole = signed(5, &known);
    for (wrong, status, code) in [
        (whole.replace("\"type\":\"statement\"", "\"type\":\"attestation\""), 422, "STM.TYPE"),
        (whole.replace("\"signature\":", "\"signatur\":"), 400, "J.MISSING_FIELD"),
        (whole.replace("gadk1:", "gadk2:"), 400, "J.DIGEST_FORM"),
        (whole.replace("==\"}", "\"}"), 400, "J.B64_FORM"),
    ] {
        assert_ne!(wrong, whole);
        changes_nothing(&world, || {
            world.post("/v1/entries", &wrong).problem(status, code);
        });
    }
}

#[test]
fn the_open_rate_is_kept_and_said() {
    let world = World::configured("[access]\nopen_rate = 1\nopen_burst = 3");
    for number in 0..3 {
        let _ = receipt(&world.post("/v1/entries", text(number)), &world);
    }
    let answer = world.post("/v1/entries", text(3));
    answer.problem(429, "access.rate-limited");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=3).contains(&wait), "{wait}");
    // More than could ever come at once is no matter of waiting.
    let answer = world.post("/v1/entries:batch", batch((10..14).map(text)));
    answer.problem(413, "request.batch-too-large");
    assert_eq!(answer.header("retry-after"), None);
    assert_eq!(checkpoint(&world).checkpoint().size.get(), 3);
    assert_eq!(world.get("/v1/entries/0").status, 200, "reading has no rate");
    thread::sleep(Duration::from_secs(wait) + Duration::from_millis(100));
    assert_eq!(receipt(&world.post("/v1/entries", text(3)), &world).index, 3);
}

#[test]
fn one_key_cannot_use_up_the_rate_of_another() {
    let (slow, fast) = (key(1), key(2));
    let world = World::configured(&format!(
        "{}{}",
        block("slow", &slow, "rate = 1\nburst = 2"),
        block("fast", &fast, "")
    ));
    for number in 0..2 {
        let _ = receipt(&world.post("/v1/entries", signed(number, &slow)), &world);
    }
    world.post("/v1/entries", signed(2, &slow)).problem(429, "access.rate-limited");
    for number in 0..20 {
        // Whoever can't sign with the key can't use up its rate either.
        world.post("/v1/entries", forged(number, &fast)).problem(403, "access.bad-signature");
        let _ = receipt(&world.post("/v1/entries", signed(number, &fast)), &world);
    }
    let _ = receipt(&world.post("/v1/entries", text(0)), &world);
}

#[test]
fn bodies_have_a_size_and_a_type() {
    let world = World::configured("[limits]\nbatch_body = \"64 KiB\"\nbatch = 10");
    let json = [("content-type", "application/json")];
    changes_nothing(&world, || {
        let padded = |length: usize| format!("{}{}", text(0), " ".repeat(length - text(0).len()));
        world.post("/v1/entries", padded(16 * 1024 + 1)).problem(413, "request.body-too-large");
        let large = "x".repeat(1 << 20);
        world.post("/v1/entries", &large).problem(413, "request.body-too-large");
        world.post("/v1/entries:batch", &large).problem(413, "request.body-too-large");
        let eleven = world.post("/v1/entries:batch", batch((0..11).map(text)));
        eleven.problem(413, "request.batch-too-large");
        for headers in [
            &[][..],
            &[("content-type", "text/plain")],
            &[("content-type", "application/json5")],
            &[("content-type", "application/x-www-form-urlencoded")],
            &[json[0], ("content-encoding", "gzip")],
        ] {
            for path in ["/v1/entries", "/v1/entries:batch"] {
                let answer = world.request("POST", path, headers, text(0).as_bytes());
                answer.problem(415, "request.unsupported-media-type");
            }
        }
    });
    // The last byte that fits is read.
    let full = format!("{}{}", text(0), " ".repeat(16 * 1024 - text(0).len()));
    assert_eq!(receipt(&world.post("/v1/entries", full), &world).index, 0);
    let headers = [("content-type", "Application/JSON; charset=utf-8")];
    let answer = world.request("POST", "/v1/entries", &headers, text(1).as_bytes());
    assert_eq!(receipt(&answer, &world).index, 1);
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

/// A key's block in the configuration.
fn block(name: &str, key: &SigningKey, more: &str) -> String {
    format!("[[access.keys]]\nname = {name:?}\nkey = {:?}\n{more}\n", key.public_key().to_base64())
}

fn signed(number: u64, key: &SigningKey) -> String {
    let statement = Statement::new(StatementKind::Digest, digest(number));
    let entry = LogEntry::signed(statement, key).unwrap();
    String::from_utf8(entry.leaf_bytes().to_vec()).unwrap()
}

/// A statement under somebody's name with the signature of another one of theirs.
fn forged(number: u64, key: &SigningKey) -> String {
    signed(number + 1_000_000, key)
        .replace(&digest(number + 1_000_000).to_string(), &digest(number).to_string())
}
