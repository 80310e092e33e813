//! The C2SP tlog-tiles part: paths, bytes, media types, caching, and reading from other web pages.

use std::process::{Command, Stdio};

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{Extension, Frontier, Node, NodeReader as _};
use anchorlog_proto::tile::{Width, parse_bundle, parse_tile};
use anchorlog_tests::world::http::Answer;
use anchorlog_tests::world::statements::{batch, entry, text};

use super::{changes_nothing, checkpoint, filled};

const IMMUTABLE: &str = "public, max-age=604800, immutable";

#[test]
fn the_checkpoint_is_a_note_and_not_to_be_cached() {
    let world = filled(3);
    let answer = world.get("/checkpoint");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let text = answer.text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(world.origin()));
    assert_eq!(lines.next(), Some("3"));
    let root = Digest::from_base64(lines.next().unwrap()).unwrap();
    assert_eq!(root, checkpoint(&world).checkpoint().root);
    assert_eq!(lines.next(), Some(""), "no extension lines");
    assert_eq!(lines.count(), 1, "the log's own signature and no other");
}

#[test]
fn tiles_hold_the_hashes_of_the_tree() {
    let world = filled(600);
    let leaves = (0..600).map(|number| entry(number).leaf_hash());
    let tree = Extension::new(Frontier::new(), leaves).unwrap();
    for (path, level, first, width) in [
        ("tile/0/000", 0, 0, 256),
        ("tile/0/001", 0, 256, 256),
        ("tile/0/002.p/88", 0, 512, 88),
        ("tile/1/000.p/2", 8, 0, 2),
        // Every width that was ever the edge is still there.
        ("tile/0/000.p/1", 0, 0, 1),
        ("tile/0/001.p/255", 0, 256, 255),
        ("tile/0/002.p/1", 0, 512, 1),
        ("tile/1/000.p/1", 8, 0, 1),
    ] {
        let answer = slice(world.get(&format!("/{path}")));
        let hashes = parse_tile(&answer.body, Width::new(width).unwrap()).unwrap();
        for (hash, index) in hashes.iter().zip(first..) {
            assert_eq!(*hash, tree.node(Node { level, index }).unwrap(), "{path}, {index}");
        }
    }
    for (path, first, width) in [
        ("tile/entries/000", 0, 256),
        ("tile/entries/001", 256, 256),
        ("tile/entries/002.p/88", 512, 88),
        ("tile/entries/002.p/7", 512, 7),
    ] {
        let answer = slice(world.get(&format!("/{path}")));
        let entries = parse_bundle(&answer.body, Width::new(width).unwrap()).unwrap();
        for (leaf, number) in entries.iter().zip(first..) {
            assert_eq!(*leaf, entry(number).leaf_bytes(), "{path}, {number}");
        }
    }
}

#[test]
fn tiles_that_are_not_there_are_not_remembered_as_missing() {
    let world = filled(300);
    let paths = [
        "tile/0/001",
        "tile/0/001.p/45",
        "tile/entries/001.p/45",
        "tile/1/000.p/2",
        "tile/2/000.p/1",
    ];
    for path in paths {
        // `problem` checks that it isn't cached.
        world.get(&format!("/{path}")).problem(404, "log.not-found");
    }
    assert_eq!(world.post("/v1/entries:batch", batch((300..512).map(text))).status, 200);
    for path in &paths[..4] {
        let _ = slice(world.get(&format!("/{path}")));
    }
    world.get("/tile/2/000.p/1").problem(404, "log.not-found");
}

#[test]
fn only_canonical_paths_are_tiles() {
    let world = filled(300);
    for path in [
        "tile/0/0",
        "tile/0/0000",
        "tile/0/x000/000",
        "tile/00/000",
        "tile/64/000",
        "tile/-1/000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/000.p/",
        "tile/0/000.p",
        "tile/0/000/",
        "tile/0/%30%30%30",
        "tile/entries/00",
        "tile/entries/000.p/257",
        "tile/entries/../../key.pem",
        "tile/0/..%2f..%2fkey.pem",
        "tile/data/000",
    ] {
        let answer = world.get(&format!("/{path}"));
        answer.problem(400, "request.bad-parameter");
    }
    world.get("/tile/0/000?width=3").problem(400, "request.unknown-parameter");
}

#[test]
fn bundles_are_compressed_for_those_who_ask() {
    let world = filled(256);
    let path = "/tile/entries/000";
    let plain = slice(world.get(path));
    assert_eq!(plain.header("content-encoding"), None);
    let packed = slice(world.request("GET", path, &[("accept-encoding", "gzip")], b""));
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.header("vary").is_some_and(|vary| vary.contains("accept-encoding")));
    assert!(packed.body.len() < plain.body.len());
    assert_eq!(gunzip(&packed.body), plain.body);
    // Hashes don't get smaller.
    let tile = slice(world.request("GET", "/tile/0/000", &[("accept-encoding", "gzip")], b""));
    assert_eq!((tile.header("content-encoding"), tile.body.len()), (None, 256 * 32));
}

#[test]
fn every_page_may_read_and_none_may_write() {
    let world = filled(2);
    let origin = [("origin", "https://page.example")];
    for path in [
        "/checkpoint",
        "/tile/0/000.p/2",
        "/tile/entries/000.p/2",
        "/v1/entries/0",
        "/v1/receipts/0",
        "/v1/trails/t",
        "/v1/proof/consistency?from=0&to=1",
        "/v1/log",
        "/openapi.json",
        // A page must be able to read why it was refused.
        "/v1/entries/99",
        "/v1/entries/x",
    ] {
        let answer = world.request("GET", path, &origin, b"");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    for path in ["/checkpoint", "/tile/0/000.p/2", "/v1/entries/0", "/v1/lookup"] {
        let headers = [origin[0], ("access-control-request-method", "GET")];
        let answer = world.request("OPTIONS", path, &headers, b"");
        assert_eq!(answer.status, 204, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        let methods = answer.header("access-control-allow-methods").unwrap();
        assert!(methods.contains("GET") && !methods.contains("POST"), "{methods}");
    }
    for path in ["/v1/entries", "/v1/entries:batch"] {
        let headers = [origin[0], ("access-control-request-method", "POST")];
        let answer = world.request("OPTIONS", path, &headers, b"");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
        let headers = [origin[0], ("content-type", "application/json")];
        let answer = world.request("POST", path, &headers, b"{");
        assert_eq!(answer.status, 400);
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}

#[test]
fn heads_are_the_heads_of_the_answers() {
    let world = filled(2);
    changes_nothing(&world, || {
        for path in ["/checkpoint", "/tile/0/000.p/2", "/v1/entries/0", "/v1/entries/7", "/nothing"]
        {
            let whole = world.get(path);
            let head = world.request("HEAD", path, &[], b"");
            assert_eq!((head.status, head.body.len()), (whole.status, 0), "{path}");
            for name in
                ["content-type", "cache-control", "content-length", "access-control-allow-origin"]
            {
                assert_eq!(head.header(name), whole.header(name), "{name} of {path}");
            }
        }
    });
}

#[test]
fn requests_are_named() {
    let world = filled(1);
    let own = world.request("GET", "/v1/log", &[("x-request-id", "trace-17.a_b")], b"");
    assert_eq!(own.header("x-request-id"), Some("trace-17.a_b"));
    let strange = world.request("GET", "/v1/log", &[("x-request-id", "a b\"c")], b"");
    let (first, second) = (strange.header("x-request-id").unwrap(), world.get("/v1/log"));
    assert!(first.len() > 10 && !first.contains(' '), "{first}");
    assert_ne!(Some(first), second.header("x-request-id"));
}

/// An answer with what all tiles and bundles have in common.
#[track_caller]
fn slice(answer: Answer) -> Answer {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
    assert_eq!(answer.header("cache-control"), Some(IMMUTABLE));
    answer
}

/// Unpacks with the system's own gzip: none of our crates has a say in it.
fn gunzip(packed: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut child = Command::new("gzip")
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gzip is installed");
    child.stdin.take().unwrap().write_all(packed).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}
