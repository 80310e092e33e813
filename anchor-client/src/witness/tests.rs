//! A witness that answers what it is told to, and what the client makes of it.
#![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

use std::sync::{Arc, Mutex};

use anchorlog_proto::checkpoint::{Checkpoint, Origin};
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::digest::Digest;
use anchorlog_proto::note::{KeyName, NoteSigner};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;

use super::*;

const NOW: u64 = 1_800_000_000;

fn cosigner(name: &str, seed: u8) -> CosignerKey {
    CosignerKey::from_seed(KeyName::new(name).unwrap(), [seed; 32])
}

fn own() -> CosignerKey {
    cosigner("witness.example", 1)
}

fn checkpoint(size: u64) -> SignedCheckpoint {
    let signer = NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [9; 32]);
    let size = TreeSize::new(size).unwrap();
    let origin = Origin::new("log.example").unwrap();
    SignedCheckpoint::sign(&Checkpoint::new(origin, size, Digest::of(b"root")), &signer).unwrap()
}

fn line(key: &CosignerKey, checkpoint: &SignedCheckpoint) -> NoteSignature {
    key.cosign(checkpoint.note().text(), NOW).unwrap()
}

/// What was posted.
type Seen = Arc<Mutex<Vec<AddCheckpoint>>>;

async fn witness(status: u16, headers: &[(&str, &str)], body: Vec<u8>) -> (Witness, Seen) {
    let mut answered = HeaderMap::new();
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().unwrap();
        answered.insert(name, value.parse().unwrap());
    }
    let seen = Seen::default();
    let posted = Arc::clone(&seen);
    let handler = move |bytes: Bytes| {
        posted.lock().unwrap().push(AddCheckpoint::parse(&bytes).unwrap());
        let answer = (StatusCode::from_u16(status).unwrap(), answered.clone(), body.clone());
        std::future::ready(answer.into_response())
    };
    let app = Router::new().route("/prefix/add-checkpoint", axum::routing::post(handler));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/prefix/", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    (Witness::new(url, own().verifier_key().clone()), seen)
}

async fn asked(
    status: u16,
    headers: &[(&str, &str)],
    body: impl Into<Vec<u8>>,
) -> Result<Answer, WitnessError> {
    let (witness, seen) = witness(status, headers, body.into()).await;
    let request = AddCheckpoint {
        old: TreeSize::new(5).unwrap(),
        proof: vec![Digest::of(b"hash")],
        checkpoint: checkpoint(7),
    };
    let client = WitnessClient::new(Duration::from_secs(10)).unwrap();
    let answer = client.add_checkpoint(&witness, &request).await;
    assert_eq!(*seen.lock().unwrap(), [request]);
    answer
}

async fn code(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> &'static str {
    asked(status, headers, body).await.unwrap_err().code()
}

#[tokio::test]
async fn its_own_line_is_found_among_others_and_verified() {
    let checkpoint = checkpoint(7);
    let mine = line(&own(), &checkpoint);
    let others =
        [line(&cosigner("witness.example", 2), &checkpoint), line(&cosigner("x", 1), &checkpoint)];
    let body = format!("{}\n{mine}\n{}\n", others[0], others[1]);
    let Answer::Cosigned(cosigned) = asked(200, &[], body).await.unwrap() else {
        panic!("it has cosigned")
    };
    assert_eq!((cosigned.line, cosigned.unix_seconds), (mine, NOW));
}

#[tokio::test]
async fn lines_that_are_not_its_word_are_worth_nothing() {
    let (good, other) = (line(&own(), &checkpoint(7)), line(&own(), &checkpoint(8)));
    let wrong_key = line(&cosigner("witness.example", 2), &checkpoint(7));
    assert_eq!(code(200, &[], format!("{wrong_key}\n")).await, "WITNESS.NO_COSIGNATURE");
    assert_eq!(code(200, &[], format!("{other}\n")).await, "WITNESS.COSIGNATURE");
    // Forged under its own name, beside a good one: who answers that is not to be believed.
    for body in [format!("{good}\n{other}\n"), format!("{other}\n{good}\n")] {
        assert_eq!(code(200, &[], body).await, "WITNESS.COSIGNATURE");
    }
    // The time little-endian, as one implementation once wrote it.
    let mut bytes = good.bytes().to_vec();
    bytes[..8].reverse();
    let reversed = NoteSignature::new(good.name().clone(), good.key_id(), bytes).unwrap();
    assert_eq!(code(200, &[], format!("{reversed}\n")).await, "WITNESS.COSIGNATURE");
    for body in ["", "\n", "ok\n", "{}", "<html>"] {
        assert_eq!(code(200, &[], body).await, "WITNESS.ANSWER", "{body:?}");
    }
    assert_eq!(code(200, &[], vec![b'a'; 1 << 20]).await, "CLIENT.TOO_LARGE");
    let encoded = code(200, &[("content-encoding", "gzip")], format!("{good}\n")).await;
    assert_eq!(encoded, "CLIENT.ANSWER");
}

#[tokio::test]
async fn conflicts_tell_a_size_or_nothing() {
    let stale =
        |known: Option<u64>| Answer::Stale { known: known.map(|n| TreeSize::new(n).unwrap()) };
    let typed = [("content-type", "text/x.tlog.size")];
    for (body, known) in [
        ("3\n", Some(3)),
        ("9", Some(9)),
        ("0\r\n", Some(0)),
        ("", None),
        ("-1\n", None),
        ("9223372036854775808\n", None),
        ("conflict", None),
        (&*"1".repeat(4096), None),
    ] {
        assert_eq!(asked(409, &typed, body).await.unwrap(), stale(known), "{body:?}");
        assert_eq!(asked(409, &[], body).await.unwrap(), stale(known), "{body:?}");
    }
    assert_eq!(asked(422, &[], "bad proof").await.unwrap(), Answer::Inconsistent);
}

#[tokio::test]
async fn refusals_have_their_codes_and_say_whether_to_ask_again() {
    for (status, code, temporary) in [
        (400, "WITNESS.REFUSED", false),
        (403, "WITNESS.UNKNOWN_LOG", false),
        (404, "WITNESS.UNKNOWN_LOG", false),
        (413, "WITNESS.REFUSED", false),
        (421, "CLIENT.ANSWER", true),
        (429, "WITNESS.TOO_MANY", true),
        (500, "CLIENT.ANSWER", true),
        (502, "CLIENT.ANSWER", true),
        (503, "CLIENT.ANSWER", true),
        (204, "CLIENT.ANSWER", false),
    ] {
        let error = asked(status, &[("retry-after", "7")], "why").await.unwrap_err();
        assert_eq!((error.code(), error.is_temporary()), (code, temporary), "{status}");
        let waits = !matches!(status, 403 | 404);
        assert_eq!(error.retry_after(), waits.then_some(Duration::from_secs(7)), "{status}");
    }
    // Also to the same place.
    for status in [301, 302, 303, 307, 308] {
        let headers = [("location", "/prefix/add-checkpoint")];
        assert_eq!(code(status, &headers, "").await, "CLIENT.REDIRECT", "{status}");
    }
}

#[tokio::test]
async fn whoever_is_not_there_or_slow_is_given_up() {
    let client = WitnessClient::new(Duration::from_millis(200)).unwrap();
    let request = AddCheckpoint { old: TreeSize::ZERO, proof: vec![], checkpoint: checkpoint(1) };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let witness = Witness::new(url, own().verifier_key().clone());
    let error = client.add_checkpoint(&witness, &request).await.unwrap_err();
    assert_eq!((error.code(), error.is_temporary()), ("CLIENT.TIMEOUT", true));
    drop(listener);
    let error = client.add_checkpoint(&witness, &request).await.unwrap_err();
    assert_eq!((error.code(), error.is_temporary()), ("CLIENT.UNREACHABLE", true));
}

#[tokio::test]
async fn what_a_witness_knows_is_asked_without_telling_it_anything() {
    let client = WitnessClient::new(Duration::from_secs(10)).unwrap();
    let checkpoint = checkpoint(7);
    let good = format!("{}\n", line(&own(), &checkpoint));
    for (status, body, expected) in [
        (409, "9\n", Known::Size(TreeSize::new(9).unwrap())),
        (409, "0\n", Known::Size(TreeSize::ZERO)),
        (409, "7\n", Known::OtherRoot),
        (409, "", Known::OtherRoot),
        (422, "", Known::OtherRoot),
    ] {
        let (witness, seen) = witness(status, &[], body.into()).await;
        assert_eq!(client.known_size(&witness, &checkpoint).await.unwrap(), expected);
        let seen = seen.lock().unwrap();
        assert_eq!((seen[0].old.get(), seen[0].proof.len()), (7, 0));
    }
    let (same, _) = witness(200, &[], good.into_bytes()).await;
    assert!(matches!(client.known_size(&same, &checkpoint).await, Ok(Known::Same(_))));
    let (strange, _) = witness(404, &[], Vec::new()).await;
    let error = client.known_size(&strange, &checkpoint).await.unwrap_err();
    assert_eq!(error.code(), "WITNESS.UNKNOWN_LOG");
}
