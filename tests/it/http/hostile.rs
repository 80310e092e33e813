//! Requests that no honest client sends. Each is answered with a clear refusal or with a closed connection,
//! and afterwards the server is there and its log is the same.

use std::io::{Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_tests::world::World;
use anchorlog_tests::world::http::{connect, raw, raw_and_no_more, read_answer};
use anchorlog_tests::world::statements::{batch, text};

use super::{changes_nothing, filled, receipt};

#[test]
fn what_is_not_http_is_turned_away() {
    let world = filled(2);
    let long_path = format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(20_000));
    let long_header =
        format!("GET /checkpoint HTTP/1.1\r\nhost: x\r\na: {}\r\n\r\n", "b".repeat(20_000));
    let many = "h: x\r\n".repeat(200);
    let many = format!("GET /checkpoint HTTP/1.1\r\nhost: x\r\n{many}\r\n");
    changes_nothing(&world, || {
        for bytes in [
            &b"\0\0\0\0"[..],
            b"hello\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET /checkpoint\r\n\r\n",
            b"GET /checkpoint HTTP/9.9\r\n\r\n",
            b"GET /checkpoint HTTP/1.1\r\nno colon\r\n\r\n",
            b"GET /checkpoint HTTP/1.1\r\nhost: x\r\na\0b: c\r\n\r\n",
            b"GET /check point HTTP/1.1\r\nhost: x\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", // a TLS hello
            long_path.as_bytes(),
            long_header.as_bytes(),
            many.as_bytes(),
        ] {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
            match raw(world.address(), bytes) {
                Some(answer) => {
                    assert!((400..=599).contains(&answer.status), "{start:?}: {}", answer.status);
                    assert_ne!(answer.status, 500, "{start:?}");
                }
                // A close with bytes unread may overtake the answer; and who speaks HTTP/2 couldn't read ours.
                None => assert!(
                    bytes.len() > 16_384 || bytes.starts_with(b"PRI "),
                    "{start:?} is not answered"
                ),
            }
        }
        // Nothing, and half of something.
        assert!(raw_and_no_more(world.address(), b"").is_none());
        let half = raw_and_no_more(world.address(), b"GET /checkpoint HTTP/1.1\r\nho");
        assert!(half.is_none_or(|answer| answer.status >= 400));
    });
}

#[test]
fn lengths_that_are_not_true_are_noticed() {
    let world = filled(2);
    let good = text(7);
    let head = "POST /v1/entries HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n";
    let send = |rest: &str| raw(world.address(), format!("{head}{rest}").as_bytes());
    let cut_off = |rest: &str| raw_and_no_more(world.address(), format!("{head}{rest}").as_bytes());
    let length = good.len();
    changes_nothing(&world, || {
        // Too short: the statement is cut.
        let answer = send(&format!("content-length: {}\r\n\r\n{good}", length - 1)).unwrap();
        answer.problem(400, "J.SYNTAX");
        // Too long: the rest never comes.
        if let Some(answer) = cut_off(&format!("content-length: {}\r\n\r\n{good}", length + 1)) {
            answer.problem(400, "request.unreadable-body");
        }
        // None at all: there is no body then.
        send(&format!("\r\n{good}")).unwrap().problem(400, "J.SYNTAX");
        // Declared beyond every limit: refused before it is sent.
        let answer = send("content-length: 9999999999\r\n\r\n").unwrap();
        answer.problem(413, "request.body-too-large");
        for wrong in [
            format!("content-length: -1\r\n\r\n{good}"),
            format!("content-length: +{length}\r\n\r\n{good}"),
            format!("content-length: 0x10\r\n\r\n{good}"),
            format!("content-length: 99999999999999999999999\r\n\r\n{good}"),
            format!("content-length: {length}\r\ncontent-length: 2\r\n\r\n{good}"),
            format!("transfer-encoding: gzip\r\n\r\n{good}"),
            "transfer-encoding: chunked\r\n\r\nzz\r\n".to_owned(),
            "transfer-encoding: chunked\r\n\r\n-5\r\n".to_owned(),
            "transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n".to_owned(),
            format!("transfer-encoding: chunked\r\n\r\n{length:x}\r\n{good}"),
        ] {
            if let Some(answer) = cut_off(&wrong) {
                assert!((400..=413).contains(&answer.status), "{wrong}: {}", answer.status);
            }
        }
    });
}

/// Two lengths are the classic way to smuggle a second request past a proxy.
#[test]
fn a_length_beside_chunks_smuggles_nothing() {
    let world = filled(2);
    let good = text(7);
    let smuggled = format!(
        "POST /v1/entries HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{good}",
        good.len()
    );
    let request = format!(
        "POST /v1/entries HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         transfer-encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}",
        5 + smuggled.len()
    );
    changes_nothing(&world, || {
        if let Some(answer) = raw_and_no_more(world.address(), request.as_bytes()) {
            assert_eq!(answer.status, 400);
        }
    });
}

#[test]
fn chunks_are_read_up_to_the_limit() {
    let world = filled(2);
    let head = "POST /v1/entries HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
                content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    changes_nothing(&world, || {
        let chunk = format!("1000\r\n{}\r\n", " ".repeat(0x1000));
        let oversize = format!("{head}{}0\r\n\r\n", chunk.repeat(5));
        let answer = raw(world.address(), oversize.as_bytes()).unwrap();
        answer.problem(413, "request.body-too-large");
    });
    let good = text(7);
    let (one, two) = good.split_at(20);
    let chunks = format!("{head}{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n", one.len(), two.len());
    let answer = raw(world.address(), chunks.as_bytes()).unwrap();
    assert_eq!(receipt(&answer, &world).index, 2);
}

#[test]
fn json_that_means_two_things_is_refused() {
    let world = filled(2);
    let good = text(7);
    let with = |from: &str, to: &str| good.replacen(from, to, 1).into_bytes();
    let mut not_utf8 = good.clone().into_bytes();
    let place = good.find("digest").unwrap();
    not_utf8[place] = 0xff;
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let member = "\"kind\":\"digest\"";
    changes_nothing(&world, || {
        for (body, code) in [
            (deep.into_bytes(), "J.DEPTH"),
            ("{\"a\":".repeat(2500).into_bytes(), "J.DEPTH"),
            (with("{", &format!("{{{member},")), "J.DUP_KEY"),
            (with("{", "{\"k\\u0069nd\":\"digest\","), "J.DUP_KEY"),
            (not_utf8, "J.UTF8"),
            (format!("\u{feff}{good}").into_bytes(), "J.BOM"),
            (with(member, "\"kind\":\"\\ud800\""), "J.LONE_SURROGATE"),
            (with(member, "\"kind\":-0"), "J.NEG_ZERO"),
            (with(member, "\"kind\":1e3"), "J.NON_INTEGER"),
            (with(member, "\"kind\":NaN"), "J.NON_INTEGER"),
            (with(member, "'kind':'digest'"), "J.SYNTAX"),
            (with("}", ",}"), "J.SYNTAX"),
            (with("{", "{/* */"), "J.SYNTAX"),
            (with("digest", "dig\nest"), "J.SYNTAX"),
            (format!("{good}\0").into_bytes(), "J.SYNTAX"),
        ] {
            world.post("/v1/entries", body).problem(400, code);
        }
        let million = "[".repeat(1_000_000);
        world.post("/v1/entries:batch", &million).problem(400, "J.DEPTH");
        let wide = format!("{{\"statements\":[{}0]}}", "0,".repeat(2_000_000));
        let answer = world.post("/v1/entries:batch", wide);
        assert!(matches!(answer.status, 400 | 413), "{}", answer.status);
    });
}

#[test]
fn a_slow_body_is_not_waited_for() {
    let world = World::configured("[http]\nbody_timeout = \"300ms\"");
    let good = text(0);
    changes_nothing(&world, || {
        let mut stream = connect(world.address());
        let head = format!(
            "POST /v1/entries HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n",
            good.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&good.as_bytes()[..10]).unwrap();
        let started = Instant::now();
        let answer = read_answer(&mut stream).unwrap();
        answer.problem(408, "request.body-timeout");
        assert!(started.elapsed() < Duration::from_secs(20));
    });
}

#[test]
fn a_head_that_trickles_is_not_waited_for() {
    let world = World::configured("[http]\nheader_timeout = \"1s\"");
    changes_nothing(&world, || {
        let mut stream = connect(world.address());
        let started = Instant::now();
        let mut closed = false;
        for byte in b"GET /checkpoint HTTP/1.1\r\nhost: x\r\nx-slow: 0123456789".iter().cycle() {
            if stream.write_all(&[*byte]).is_err() {
                closed = true;
                break;
            }
            thread::sleep(Duration::from_millis(50));
            assert!(started.elapsed() < Duration::from_secs(30), "it is waited for");
        }
        assert!(closed);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&rest));
    });
}

#[test]
fn idle_connections_are_in_nobodys_way() {
    let world = filled(1);
    let idle: Vec<_> = (0..300).map(|_| connect(world.address())).collect();
    let mut half: Vec<_> = (0..50).map(|_| connect(world.address())).collect();
    for stream in &mut half {
        stream.write_all(b"POST /v1/entries HTTP/1.1\r\nhost: x\r\ncontent-le").unwrap();
    }
    let started = Instant::now();
    assert_eq!(receipt(&world.post("/v1/entries", text(1)), &world).index, 1);
    assert!(started.elapsed() < Duration::from_secs(10));
    drop((idle, half));
    assert_eq!(receipt(&world.post("/v1/entries", text(2)), &world).index, 2);
}

/// Whoever leaves before the answer may or may not have been heard; the log is whole either way.
#[test]
fn clients_that_leave_early_leave_no_half_entries() {
    let mut world = filled(3);
    for number in 100..160 {
        let body = batch((0..5).map(|part| text(number * 10 + part)));
        let request = format!(
            "POST /v1/entries:batch HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let cut = request.len() - usize::try_from(number % 7).unwrap() * 30;
        let mut stream = connect(world.address());
        stream.write_all(&request.as_bytes()[..cut]).unwrap();
        drop(stream);
    }
    assert_eq!(world.get("/readyz").status, 200);
    // All that were heard in whole batches of five, beside the first three.
    world.terminate();
    let report = world.log_server(&["fsck"]).report(0);
    let size = report["size"].as_u64().unwrap();
    assert_eq!((size - 3) % 5, 0, "{size}");
    world.restart();
    for index in 3..size {
        let row = world.get(&format!("/v1/entries/{index}")).json();
        let first = 3 + (index - 3) / 5 * 5;
        let place = index - first;
        // The five of a batch follow one another.
        let expected = (100..160)
            .map(|number| anchorlog_tests::world::statements::digest(number * 10 + place))
            .any(|digest| row["statement"]["digest"] == digest.to_string());
        assert!(expected, "{row:#}");
    }
}
