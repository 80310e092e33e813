//! Authorities that answer with everything but a time stamp. Nothing of it may be taken, cost much, or be
//! told without its reason.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_client::retry::RetryPolicy;
use anchorlog_client::stamp::{
    Again, Authority, ExchangeError, RedirectRefusal, StampError, StampOptions, StampReport,
};
use anchorlog_proto::timestamp::{FailInfo, HashAlgorithm, Imprint, Status, TimestampResponse};
use anchorlog_verifier::report::Verdict;

use crate::stamp::{authority, error, options, stamp};
use crate::tsa::signer::Deviation;
use crate::tsa::{
    REPLY, Step, Tsa, deviating, fixed, good, good_as, hang, refusal, reply, send, with_response,
};

/// What comes of these steps.
fn after(steps: impl IntoIterator<Item = Step>, options: StampOptions) -> (StampReport, usize) {
    let tsa = Tsa::start("alpha");
    tsa.script(steps);
    let report = stamp(&[authority(&tsa, "alpha")], options);
    let asked = tsa.asked().len();
    assert_eq!(usize::try_from(report.outcomes[0].attempts).unwrap(), asked);
    (report, asked)
}

fn exchange(report: &StampReport) -> &ExchangeError {
    match error(report) {
        StampError::Exchange(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn every_success_and_both_media_types_are_taken_in_any_spelling() {
    for (status, content_type) in [
        ("200 OK", "application/timestamp-reply"),
        ("201 Created", "application/timestamp-reply"),
        ("202 Accepted", "application/timestamp-response"),
        ("200 OK", "APPLICATION/Timestamp-Reply; charset=UTF-8; a=\"b;c\""),
        ("200 OK", "application/timestamp-reply ; x"),
    ] {
        let headers = format!("content-TYPE: {content_type}");
        let (report, asked) = after([good_as(status, headers)], options());
        assert!(report.is_quorum(), "{content_type}: {}", error(&report));
        assert_eq!(asked, 1);
    }
}

#[test]
fn pages_and_other_media_types_are_told_with_their_beginning() {
    let page = "<html>\u{1b}[31m\r\n<title>Log in\u{202e}</title>";
    let (report, asked) = after([fixed("200 OK", "Content-Type: text/html", page)], options());
    let ExchangeError::MediaType { found, excerpt } = exchange(&report) else { panic!() };
    assert_eq!(
        (found.as_str(), excerpt.as_str()),
        ("text/html", "<html> [31m <title>Log in </title>")
    );
    // A gateway may have slipped in: asked once more, and not a third time.
    assert_eq!((asked, error(&report).again()), (2, Again::Once));
    assert_eq!(error(&report).code(), "CLIENT.MEDIA_TYPE");

    for headers in ["Content-Type: application/octet-stream", "X-No: type"] {
        let (report, _) = after([good_as("200 OK", headers)], options());
        assert!(matches!(exchange(&report), ExchangeError::MediaType { .. }), "{headers}");
    }
    let (report, asked) =
        after([fixed("200 OK", "Content-Type: text/html", page), good()], options());
    assert!(report.is_quorum() && asked == 2);
}

#[test]
fn a_huge_content_type_costs_nothing() {
    let long = |length: usize| format!("Content-Type: {REPLY}{}", ";".repeat(length));
    // As long as the HTTP library reads it.
    let (report, _) = after([good_as("200 OK", long(200_000))], options());
    assert!(report.is_quorum(), "{}", error(&report));
    let begun = Instant::now();
    let quick = StampOptions { retry: RetryPolicy::NEVER, ..options() };
    let (report, _) = after([good_as("200 OK", long(1 << 20))], quick);
    assert!(matches!(exchange(&report), ExchangeError::Connection { .. }));
    assert!(begun.elapsed() < Duration::from_secs(30));
    let wrong = format!("Content-Type: {}", "a".repeat(200_000));
    let (report, _) = after([good_as("200 OK", wrong)], options());
    assert!(error(&report).to_string().len() < 1000);
}

#[test]
fn long_answers_are_cut_off_however_they_are_announced() {
    let limit = 1 << 20;
    let oversized = vec![0x30; limit + 1];
    let chunked: Step = Arc::new(move |_, _, stream| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {REPLY}\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        let mut sent = stream.write_all(head.as_bytes());
        while sent.is_ok() {
            sent = stream.write_all(format!("10000\r\n{}\r\n", "0".repeat(0x1_0000)).as_bytes());
        }
    });
    let until_close: Step = Arc::new(|_, _, stream| {
        let mut sent = stream
            .write_all(format!("HTTP/1.0 200 OK\r\nContent-Type: {REPLY}\r\n\r\n").as_bytes());
        while sent.is_ok() {
            sent = stream.write_all(&[0x30; 0x1000]);
        }
    });
    for step in [reply(oversized), chunked, until_close] {
        let (report, asked) = after([step], options());
        assert!(matches!(exchange(&report), ExchangeError::TooLarge { limit: 1_048_576 }));
        assert_eq!(asked, 1);
    }
}

#[test]
fn broken_connections_are_tried_again() {
    let truncated = with_response(|response, stream| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {REPLY}\r\nContent-Length: {}\r\n\r\n",
            response.len()
        );
        stream.write_all(&[head.as_bytes(), &response[..response.len() - 7]].concat()).unwrap();
    });
    let silent: Step = Arc::new(|_, _, _| {});
    let garbage: Step = Arc::new(|_, _, stream| stream.write_all(b"SSH-2.0-x\r\n").unwrap());
    for step in [truncated, silent, garbage] {
        let (report, asked) = after([step.clone(), step.clone(), good()], options());
        assert!(report.is_quorum() && asked == 3);
        let (report, asked) = after([step], options());
        assert!(matches!(exchange(&report), ExchangeError::Connection { .. }));
        assert_eq!((asked, error(&report).verdict()), (3, Verdict::NotEvaluated));
    }
}

#[test]
fn resets_and_closed_ports_are_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let tsa = Tsa::start("alpha");
    let unreachable = Authority::new(url.parse().unwrap(), authority(&tsa, "a").trust().clone());
    let server = thread::spawn(move || {
        for _ in 0..3 {
            // Closed with bytes unread: the kernel sends a reset.
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0]).unwrap();
        }
    });
    let report = stamp(std::slice::from_ref(&unreachable), options());
    server.join().unwrap();
    assert_eq!((report.outcomes[0].attempts, error(&report).code()), (3, "CLIENT.UNREACHABLE"));
    let report = stamp(std::slice::from_ref(&unreachable), options());
    assert_eq!((report.outcomes[0].attempts, error(&report).code()), (3, "CLIENT.UNREACHABLE"));
}

#[test]
fn plain_http_under_an_https_address_is_no_connection() {
    let tsa = Tsa::start("alpha");
    let url = tsa.url().replace("http:", "https:");
    let trust = authority(&tsa, "alpha").trust().clone();
    let report = stamp(&[Authority::new(url.parse().unwrap(), trust)], options());
    // Where there are no certificates to trust, there is no TLS.
    assert!(matches!(error(&report).code(), "CLIENT.UNREACHABLE" | "CLIENT.SETUP"));
    assert!(tsa.asked().is_empty());
}

#[test]
fn whoever_is_slow_or_silent_is_given_up_in_time() {
    let drip: Step = Arc::new(|_, _, stream| {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {REPLY}\r\nContent-Length: 9999\r\n\r\n");
        let mut sent = stream.write_all(head.as_bytes());
        while sent.is_ok() {
            thread::sleep(Duration::from_millis(20));
            sent = stream.write_all(b"0");
        }
    });
    let short = || StampOptions { timeout: Duration::from_millis(300), ..options() };
    for step in [drip.clone(), hang()] {
        let begun = Instant::now();
        let (report, asked) = after([step], short());
        assert!(matches!(exchange(&report), ExchangeError::Timeout { .. }));
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        assert_eq!((asked, error(&report).code()), (3, "CLIENT.TIMEOUT"));
    }
    // The time for everything ends an attempt that would have more of its own.
    let (deadline, minute) = (Duration::from_millis(400), Duration::from_mins(1));
    let begun = Instant::now();
    let busy = fixed("503 Busy", "X-A: b", "busy");
    let (report, _) =
        after([busy, hang()], StampOptions { timeout: minute, deadline, ..options() });
    assert!(begun.elapsed() < minute / 2, "{:?}", begun.elapsed());
    let StampError::Deadline { last: Some(last), .. } = error(&report) else { panic!() };
    assert!(last.to_string().starts_with("HTTP 503"), "{last}");
    // A slow error page doesn't hide the error.
    let slow_error: Step = Arc::new(|_, _, stream| {
        stream.write_all(b"HTTP/1.1 403 No\r\nContent-Length: 99\r\n\r\nno").unwrap();
        thread::sleep(Duration::from_secs(10));
    });
    let (report, _) = after([slow_error], options());
    let ExchangeError::Status { status: 403, excerpt, .. } = exchange(&report) else { panic!() };
    assert_eq!(excerpt, "no");
}

#[test]
fn overload_and_failures_are_waited_out_and_refusals_not() {
    for status in ["500 Oops", "503 Busy", "429 Slowly", "408 Late"] {
        let (report, asked) = after([fixed(status, "X-A: b", "no"), good()], options());
        assert!(report.is_quorum() && asked == 2, "{status}");
    }
    for status in ["400 Bad", "403 No", "404 Where", "415 What"] {
        let (report, asked) = after([fixed(status, "X-A: b", "no"), good()], options());
        assert!(matches!(exchange(&report), ExchangeError::Status { .. }));
        assert_eq!((asked, error(&report).code()), (1, "CLIENT.ANSWER"), "{status}");
    }
    let begun = Instant::now();
    let (report, _) = after([fixed("429 Slowly", "Retry-After: 1", ""), good()], options());
    assert!(report.is_quorum());
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    // Whoever asks for more patience than there is isn't asked again.
    let (_, asked) = after([fixed("429 Slowly", "Retry-After: 3600", "")], options());
    assert_eq!(asked, 1);
}

#[test]
fn redirects_stay_on_the_host_and_keep_the_question() {
    let tsa = Tsa::start("alpha");
    let elsewhere = Tsa::start("alpha");
    let to =
        |status: &'static str, location: String| fixed(status, format!("Location: {location}"), "");
    for status in ["301 A", "302 B", "307 C", "308 D"] {
        tsa.script([to(status, "/other?x=y".to_owned()), good()]);
        let report = stamp(&[authority(&tsa, "alpha")], options());
        assert!(report.is_quorum(), "{status}: {}", error(&report));
        let asked = tsa.asked();
        assert!(asked[1].line.starts_with("POST /other?x=y "), "{}", asked[1].line);
        assert_eq!(asked[0].body, asked[1].body);
    }
    let port = tsa.url().replace("http://127.0.0.1:", "").replace("/tsr", "");
    for (status, location, expected) in [
        ("307 C", elsewhere.url(), RedirectRefusal::OtherHost),
        ("302 B", format!("http://localhost:{port}/"), RedirectRefusal::OtherHost),
        ("307 C", format!("http://me:secret@127.0.0.1:{port}/"), RedirectRefusal::OtherHost),
        ("307 C", "ftp://127.0.0.1/".to_owned(), RedirectRefusal::OtherHost),
        ("303 E", "/other".to_owned(), RedirectRefusal::Method),
        ("307 C", "/tsr".to_owned(), RedirectRefusal::TooMany),
    ] {
        tsa.script([to(status, location.clone())]);
        let report = stamp(&[authority(&tsa, "alpha")], options());
        let ExchangeError::Redirect { refusal, .. } = exchange(&report) else { panic!() };
        assert_eq!(*refusal, expected, "{location}");
        assert_eq!(report.outcomes[0].attempts, 1);
    }
    assert!(elsewhere.asked().is_empty());
    assert_eq!(tsa.asked().len(), 4, "a loop goes on");
}

#[test]
fn answers_to_another_question_are_not_taken() {
    let other = Imprint::of_data(HashAlgorithm::Sha256, b"bye");
    let longer = Imprint::of_data(HashAlgorithm::Sha384, b"hello");
    let nonce = "0123456789abcdef".parse().ok();
    for (deviation, reason) in [
        (Deviation { nonce, ..Deviation::default() }, "nonce.mismatch"),
        (Deviation { imprint: Some(other), ..Deviation::default() }, "imprint.mismatch"),
        (Deviation { imprint: Some(longer), ..Deviation::default() }, "imprint.mismatch"),
        (Deviation { broken_signature: true, ..Deviation::default() }, "signature.invalid"),
    ] {
        let (report, asked) = after([deviating(deviation)], options());
        assert_eq!(error(&report).reason(), Some(reason));
        assert_eq!((asked, error(&report).verdict()), (2, Verdict::DoesNotHold));
    }
    // The answer to an earlier request, played again.
    let tsa = Tsa::start("alpha");
    let earlier = stamp(&[authority(&tsa, "alpha")], options());
    let (_, old) = earlier.stamps().next().unwrap();
    tsa.script([reply(old.response.clone())]);
    let report = stamp(&[authority(&tsa, "alpha")], options());
    assert_eq!(error(&report).reason(), Some("nonce.mismatch"));
}

#[test]
fn what_is_no_response_is_named() {
    let (report, asked) = after([reply(b"\x30\x80garbage".to_vec())], options());
    assert_eq!((asked, error(&report).code()), (2, "TSA.PARSE"));
    let (report, _) = after([reply(Vec::new())], options());
    assert_eq!(error(&report).code(), "TSA.PARSE");
    let trailing = with_response(|response, stream| {
        let body = [response, b"\n"].concat();
        send(stream, "200 OK", &format!("Content-Type: {REPLY}"), &body);
    });
    let (report, _) = after([trailing], options());
    assert_eq!(error(&report).reason(), Some("parse.trailing"));
    let bare = with_response(|response, stream| {
        let token = TimestampResponse::parse(response).unwrap().granted().unwrap();
        send(stream, "200 OK", &format!("Content-Type: {REPLY}"), token);
    });
    let (report, asked) = after([bare], options());
    assert!(matches!(error(&report), StampError::BareToken { bytes: 500.. }));
    assert!(error(&report).to_string().contains("bare token"));
    assert_eq!((asked, error(&report).code()), (1, "CLIENT.BARE_TOKEN"));
    let compressed = good_as("200 OK", format!("Content-Type: {REPLY}\r\nContent-Encoding: gzip"));
    let (report, _) = after([compressed], options());
    assert!(matches!(exchange(&report), ExchangeError::Encoding { .. }));
}

#[test]
fn refusals_are_told_in_the_authority_s_words() {
    let (report, asked) = after([refusal(2, Some(0)), good()], options());
    let StampError::Rejected { status, failure, texts } = error(&report) else { panic!() };
    assert_eq!((*status, *failure), (Status::Rejection, FailInfo::BAD_ALG));
    assert_eq!(texts, &["go  away [31m"]);
    assert_eq!((asked, error(&report).reason()), (1, Some("status.rejected")));
    assert_eq!(
        (error(&report).code(), error(&report).verdict()),
        ("TSA.STATUS", Verdict::NotEvaluated)
    );
    for passing in [refusal(2, Some(14)), refusal(2, Some(25)), refusal(3, None)] {
        let (report, asked) = after([passing, good()], options());
        assert!(report.is_quorum() && asked == 2);
    }
}
