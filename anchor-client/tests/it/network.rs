//! Slow, broken, wordy and evasive servers.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_client::address::LogUrl;
use anchorlog_client::log_client::{LogClient, Wait};
use anchorlog_client::retry::RetryPolicy;
use anchorlog_verifier::report::Verdict;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::fake_log::{FakeLog, problem, retry_later};
use crate::{block_on, client, client_with, code, entry};

const QUICK: RetryPolicy = RetryPolicy {
    attempts: 4,
    first_delay: Duration::from_millis(5),
    max_delay: Duration::from_secs(5),
};

#[test]
fn overload_is_waited_out_as_long_as_the_log_asks() {
    let log = FakeLog::start();
    let mut refusals = 2;
    log.hook(move |_, line| {
        (line.starts_with("POST") && refusals > 0).then(|| {
            refusals -= 1;
            retry_later(1)
        })
    });
    let state = tempfile::tempdir().unwrap();
    let client = client_with(&log, state.path(), QUICK, Duration::from_secs(5));
    let start = Instant::now();
    let accepted = block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).unwrap();
    assert_eq!(accepted[0].receipt.index, 0);
    assert!(start.elapsed() >= Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(log.world().requests.iter().filter(|line| line.starts_with("POST")).count(), 3);
}

#[test]
fn overload_without_end_is_given_up_and_a_refusal_at_once() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = client_with(&log, state.path(), QUICK, Duration::from_secs(5));
    for (answer, attempts, verdict) in [
        (503, 4, Verdict::NotEvaluated),
        (429, 4, Verdict::NotEvaluated),
        (507, 1, Verdict::NotEvaluated),
        (500, 1, Verdict::NotEvaluated),
        (403, 1, Verdict::DoesNotHold),
        (422, 1, Verdict::DoesNotHold),
    ] {
        log.world().requests.clear();
        log.hook(move |_, line| {
            line.starts_with("POST").then(|| problem(answer, "SOME.CODE", "because"))
        });
        let error = block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).unwrap_err();
        assert_eq!(code(&error), "SOME.CODE");
        assert_eq!(error.verdict(), verdict, "{answer}");
        assert!(error.to_string().contains("because"), "{error}");
        assert_eq!(log.world().requests.len(), attempts, "{answer}");
    }
    // A log that asks for more patience than there is isn't asked again.
    log.world().requests.clear();
    log.hook(|_, _| Some(retry_later(3600)));
    assert!(block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).is_err());
    assert_eq!(log.world().requests.len(), 1);
}

#[test]
fn redirects_to_other_hosts_are_not_followed() {
    let (log, other) = (FakeLog::start(), FakeLog::start());
    let state = tempfile::tempdir().unwrap();
    let client = client(&log, state.path());
    let to = |url: String| {
        move |_: &mut _, _: &str| {
            Some(
                Response::builder()
                    .status(307)
                    .header(header::LOCATION, &url)
                    .body(Body::empty())
                    .unwrap(),
            )
        }
    };
    for target in [format!("{}/checkpoint", other.url()), "https://127.0.0.1/x".to_owned()] {
        log.hook(to(target));
        let error = block_on(client.checkpoint()).unwrap_err();
        assert_eq!(code(&error), "CLIENT.REDIRECT", "{error}");
        let error = block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).unwrap_err();
        assert_eq!(code(&error), "CLIENT.REDIRECT", "{error}");
    }
    assert!(other.world().requests.is_empty(), "the other host was asked");

    // On the same host a read follows, but not in circles, and a statement doesn't follow at all.
    log.hook(|_, line| {
        (!line.contains("moved")).then(|| {
            Response::builder()
                .status(302)
                .header(header::LOCATION, "/checkpoint?moved")
                .body(Body::empty())
                .unwrap()
        })
    });
    assert_eq!(block_on(client.checkpoint()).unwrap().checkpoint().size.get(), 0);
    let error = block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).unwrap_err();
    assert_eq!(code(&error), "CLIENT.REDIRECT");
    log.hook(to("/checkpoint".to_owned()));
    log.world().requests.clear();
    assert_eq!(code(&block_on(client.checkpoint()).unwrap_err()), "CLIENT.REDIRECT");
    assert_eq!(log.world().requests.len(), 4);
}

#[test]
fn oversized_answers_are_cut_off() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = client(&log, state.path());
    log.hook(|_, _| Some(vec![b'x'; 300 * 1024].into_response()));
    assert_eq!(code(&block_on(client.checkpoint()).unwrap_err()), "CLIENT.TOO_LARGE");
    // In error bodies too, and without an announced length.
    log.hook(|_, _| {
        Some((axum::http::StatusCode::BAD_REQUEST, vec![b'x'; 1 << 20]).into_response())
    });
    assert_eq!(code(&block_on(client.checkpoint()).unwrap_err()), "CLIENT.TOO_LARGE");
    let endless = endless_server();
    let client = LogClient::new(endless, Duration::from_secs(10), RetryPolicy::NEVER).unwrap();
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_eq!(error.code(), "CLIENT.TOO_LARGE", "{error}");
}

#[test]
fn slow_answers_end_at_the_deadline() {
    let log = FakeLog::start();
    log.world().delay = Duration::from_secs(30);
    let state = tempfile::tempdir().unwrap();
    let client = client_with(&log, state.path(), RetryPolicy::NEVER, Duration::from_millis(200));
    let start = Instant::now();
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_eq!(code(&error), "CLIENT.TIMEOUT", "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn garbage_is_named_as_what_it_should_have_been() {
    let log = FakeLog::start();
    let state = tempfile::tempdir().unwrap();
    let client = client(&log, state.path());
    log.hook(|_, _| Some("<html>hello</html>".into_response()));
    let error = block_on(client.submit(&[entry(1)], Wait::PUBLISHED)).unwrap_err();
    assert!(error.to_string().contains("not a receipt"), "{error}");
    assert!(code(&error).starts_with("J."), "{}", code(&error));
    let error = block_on(client.submit(&[entry(1), entry(2)], Wait::PUBLISHED)).unwrap_err();
    assert_eq!(code(&error), "CLIENT.ANSWER", "{error}");
    let error = block_on(client.checkpoint()).unwrap_err();
    assert!(error.to_string().contains("not a checkpoint"), "{error}");
    assert_eq!(error.verdict(), Verdict::NotEvaluated);

    log.hook(|_, _| Some((axum::http::StatusCode::NOT_FOUND, "\x1b[2Jno").into_response()));
    let error = block_on(client.checkpoint()).unwrap_err();
    assert_eq!(code(&error), "CLIENT.ANSWER");
    assert!(!error.is_refusal(), "without a problem document nobody refused anything");
    log.hook(|_, _| {
        let encoded = ([(header::CONTENT_ENCODING, "gzip")], "x").into_response();
        Some(encoded)
    });
    assert_eq!(code(&block_on(client.checkpoint()).unwrap_err()), "CLIENT.ANSWER");
}

/// A server that answers with chunks for ever.
fn endless_server() -> LogUrl {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // An answer before its question would be another error.
            let _ = stream.read(&mut [0; 1024]).unwrap();
            let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            let chunk = [&b"1000\r\n"[..], &[b'x'; 0x1000], b"\r\n"].concat();
            let mut going = stream.write_all(head).is_ok();
            while going {
                going = stream.write_all(&chunk).is_ok();
            }
        }
    });
    url
}
