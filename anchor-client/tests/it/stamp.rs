//! Time stamps from authorities that behave, alone and together, with revocation lists and without.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anchorlog_client::retry::RetryPolicy;
use anchorlog_client::stamp::{
    Authority, CrlFailureReason, StampError, StampOptions, StampReport, Stamper, TokenStore,
    Transport,
};
use anchorlog_proto::timestamp::element::Element;
use anchorlog_proto::timestamp::{
    HashAlgorithm, Imprint, TimestampRequest, TimestampResponse, Token,
};
use anchorlog_verifier::timestamp::{
    Allow, Certificate, Expected, Rules, Supplied, TrustEntry, verify_token,
};

use crate::block_on;
use crate::tsa::signer::{Deviation, POLICY};
use crate::tsa::{REPLY, Step, Tsa, deviating, fixed, good, hang, send};

/// Short waits, so that tests are.
pub fn options() -> StampOptions {
    StampOptions {
        timeout: Duration::from_secs(5),
        deadline: Duration::from_secs(20),
        retry: RetryPolicy {
            attempts: 3,
            first_delay: Duration::from_millis(5),
            max_delay: Duration::from_secs(3),
        },
        ..StampOptions::default()
    }
}

pub fn imprint() -> Imprint {
    Imprint::of_data(HashAlgorithm::Sha256, b"hello")
}

/// A client's view of a server: under the root that the server's tokens do chain to.
pub fn authority(tsa: &Tsa, operator: &str) -> Authority {
    Authority::new(tsa.url().parse().unwrap(), trust(tsa, operator))
}

fn trust(tsa: &Tsa, operator: &str) -> TrustEntry {
    TrustEntry::new(operator, vec![Certificate::parse(&tsa.authority.root).unwrap()])
}

pub fn stamp(authorities: &[Authority], options: StampOptions) -> StampReport {
    let stamper = Stamper::new(options).unwrap();
    block_on(stamper.stamp(&imprint(), authorities))
}

pub fn error(report: &StampReport) -> &StampError {
    report.outcomes[0].result.as_ref().unwrap_err()
}

#[test]
fn a_token_is_asked_for_verified_and_kept_as_received() {
    let tsa = Tsa::start("alpha");
    let report = stamp(&[authority(&tsa, "alpha")], options());
    let outcome = &report.outcomes[0];
    let stamp = outcome.result.as_ref().unwrap();
    assert!(report.is_quorum());
    assert_eq!((outcome.attempts, stamp.transport), (1, Transport::Http));
    assert_eq!(stamp.token.operator(), "alpha");
    assert_eq!(stamp.token.policy().to_string(), POLICY);

    let asked = &tsa.asked()[0];
    assert!(asked.line.starts_with("POST /tsr "), "{}", asked.line);
    assert!(asked.headers.contains("content-type: application/timestamp-query\r\n"));
    assert!(asked.headers.contains("accept: application/timestamp-reply"), "{}", asked.headers);
    let request = asked.request();
    assert_eq!(request.imprint, imprint());
    assert!(request.cert_req && request.policy.is_none());

    // What is kept verifies by itself, for anybody.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hello.tsr");
    let kept = TokenStore::choose(&path, 1, false).keep(&report);
    assert_eq!(kept[0].as_ref().unwrap().as_ref().unwrap().path, path);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes, stamp.response);
    let token = TimestampResponse::parse(&bytes).unwrap().granted().unwrap();
    let rules = Rules::at(stamp.token.gen_time());
    let trust = [trust(&tsa, "somebody")];
    let expected = Expected::over(imprint());
    assert!(verify_token(token, &expected, &trust, &Supplied::default(), &rules).is_ok());
}

#[test]
fn ber_around_what_is_signed_is_taken_where_it_is_allowed() {
    let tsa = Tsa::start("alpha");
    let ber: Step = Arc::new(|authority, asked, stream| {
        let response = authority.response(&asked.request(), &Deviation::default());
        let contents = Element::parse(&response).unwrap().value();
        let indefinite = [&[0x30, 0x80], contents, &[0, 0]].concat();
        send(stream, "200 OK", &format!("Content-Type: {REPLY}"), &indefinite);
    });
    tsa.script([ber]);
    assert!(!stamp(&[authority(&tsa, "alpha")], options()).is_quorum());
    let allow = Allow { ber: true, ..Allow::default() };
    let report = stamp(&[authority(&tsa, "alpha")], StampOptions { allow, ..options() });
    assert!(report.is_quorum(), "{}", error(&report));
}

#[test]
fn every_attempt_has_a_fresh_nonce() {
    let tsa = Tsa::start("alpha");
    let busy = || fixed("503 Busy", "X-A: b", "busy");
    tsa.script([busy(), busy(), good()]);
    let report = stamp(&[authority(&tsa, "alpha")], options());
    assert_eq!(report.outcomes[0].attempts, 3);
    assert_eq!(report.outcomes[0].earlier.len(), 2);
    assert!(report.is_quorum());
    let mut nonces: Vec<String> =
        tsa.asked().iter().map(|asked| asked.request().nonce.unwrap().to_string()).collect();
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 3);
    // 128 random bits: shorter than 12 octets once in 2^32.
    assert!(nonces.iter().all(|nonce| (24..=32).contains(&nonce.len())), "{nonces:?}");
}

#[test]
fn a_quorum_counts_operators_and_not_tokens() {
    let (alpha, beta, gamma) = (Tsa::start("alpha"), Tsa::start("beta"), Tsa::start("gamma"));
    let two = || StampOptions { quorum: 2, ..options() };
    gamma.script([deviating(Deviation { broken_signature: true, ..Deviation::default() })]);
    let all = [authority(&alpha, "alpha"), authority(&beta, "beta"), authority(&gamma, "gamma")];
    let report = stamp(&all, two());
    assert!(report.is_quorum());
    assert_eq!(report.operators().into_iter().collect::<Vec<_>>(), ["alpha", "beta"]);
    assert_eq!(report.stamps().count(), 2);
    let failure = report.outcomes[2].result.as_ref().unwrap_err();
    assert_eq!((failure.code(), failure.reason()), ("TSA.SIG", Some("signature.invalid")));

    let same = [authority(&alpha, "alpha"), authority(&beta, "alpha"), authority(&gamma, "gamma")];
    let report = stamp(&same, two());
    assert_eq!(report.stamps().count(), 2);
    assert!(!report.is_quorum(), "one operator counted twice");

    let one_of_two = [authority(&gamma, "gamma"), authority(&beta, "beta")];
    assert!(stamp(&one_of_two, options()).is_quorum(), "a bad token spoilt a good one");
}

#[test]
fn one_authority_s_roots_are_nobody_else_s() {
    let (alpha, beta) = (Tsa::start("alpha"), Tsa::start("beta"));
    let crossed = [
        Authority::new(alpha.url().parse().unwrap(), trust(&beta, "beta")),
        Authority::new(beta.url().parse().unwrap(), trust(&alpha, "alpha")),
    ];
    let report = stamp(&crossed, options());
    for outcome in &report.outcomes {
        assert_eq!(outcome.result.as_ref().unwrap_err().code(), "TSA.CHAIN");
    }
}

#[test]
fn the_policy_that_is_asked_for_is_the_only_one_taken() {
    let tsa = Tsa::start("alpha");
    let policy = "1.2.3.4".parse().unwrap();
    let asking = || [authority(&tsa, "alpha").with_policy(policy)];
    let report = stamp(&asking(), options());
    assert_eq!(report.outcomes[0].result.as_ref().unwrap().token.policy(), policy);
    tsa.script([deviating(Deviation { policy: Some("1.2.3.5"), ..Deviation::default() })]);
    let report = stamp(&asking(), options());
    assert_eq!(error(&report).reason(), Some("policy.not-asked"));
}

#[test]
fn once_there_are_enough_the_rest_is_waited_for_a_little() {
    let (quick, slow) = (Tsa::start("quick"), Tsa::start("slow"));
    slow.script([hang()]);
    let both = [authority(&slow, "slow"), authority(&quick, "quick")];
    let grace = Some(Duration::from_millis(100));
    let begun = Instant::now();
    let minute = Duration::from_mins(1);
    let patient = StampOptions { grace, timeout: minute, deadline: minute, ..options() };
    let report = stamp(&both, patient);
    assert!(begun.elapsed() < minute / 2, "{:?}", begun.elapsed());
    assert!(report.is_quorum());
    assert!(matches!(error(&report), StampError::Abandoned));
    assert_eq!(report.outcomes[0].attempts, 1);
}

#[test]
fn revocation_lists_are_fetched_judged_and_kept_beside_the_token() {
    let tsa = Tsa::start("alpha");
    let fetching = || StampOptions { fetch_crls: true, ..options() };
    let report = stamp(&[authority(&tsa, "alpha")], fetching());
    let stamp_ = report.outcomes[0].result.as_ref().unwrap();
    assert_eq!(stamp_.crls.len(), 1);
    assert!(stamp_.crls[0].url.ends_with("/crl"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hello.tst");
    let kept = TokenStore::choose(&path, 1, false).keep(&report);
    let kept = kept[0].as_ref().unwrap().as_ref().unwrap();
    assert_eq!(kept.crls, [directory.path().join("hello.tst.1.crl")]);
    assert_eq!(std::fs::read(&kept.crls[0]).unwrap(), stamp_.crls[0].crl.der());
    let token = std::fs::read(&path).unwrap();
    assert_eq!(token, stamp_.token.bytes());
    assert!(Token::parse(&token).is_ok());
}

/// Right tokens, and for lists what the step does.
fn lists(list: impl Fn(&crate::tsa::signer::Authority) -> Vec<u8> + Send + Sync + 'static) -> Step {
    Arc::new(move |authority, asked, stream| {
        if asked.line.starts_with("GET ") {
            send(stream, "200 OK", "Content-Type: application/octet-stream", &list(authority));
        } else {
            good()(authority, asked, stream);
        }
    })
}

#[test]
fn a_token_without_the_lists_that_were_asked_for_is_none() {
    let tsa = Tsa::start("alpha");
    let fetching = || StampOptions { fetch_crls: true, retry: RetryPolicy::NEVER, ..options() };
    let failing = |step: Step| {
        tsa.script([step]);
        stamp(&[authority(&tsa, "alpha")], fetching())
    };
    let reason = |report: &StampReport| match error(report) {
        StampError::Crl { failures } => failures[0].to_string(),
        other => panic!("{other}"),
    };

    let report = failing(lists(|authority| authority.crl(true)));
    assert_eq!(
        (error(&report).code(), error(&report).reason()),
        ("TSA.REVOKED", Some("revoked.signer"))
    );
    let report = failing(lists(|_| b"<html>".to_vec()));
    assert!(reason(&report).contains("no revocation list"), "{}", reason(&report));
    // Signed by another authority of the same name, so to speak.
    let report = failing(lists(|_| crate::tsa::signer::Authority::new("other", None).crl(false)));
    assert!(reason(&report).contains("isn't about every certificate"), "{}", reason(&report));
    let report = failing(lists(|authority| authority.crl_of(-7200, -3600)));
    assert!(reason(&report).contains("isn't current; the next was due at 20"));
    let report = failing(lists(|_| vec![0x30; (16 << 20) + 1]));
    assert!(reason(&report).contains("longer than 16777216 bytes"), "{}", reason(&report));
    let report = failing(Arc::new(|authority, asked, stream| {
        if asked.line.starts_with("GET ") {
            send(stream, "404 Not Found", "X-A: b", b"gone");
        } else {
            good()(authority, asked, stream);
        }
    }));
    assert!(reason(&report).ends_with("/crl: HTTP 404; the answer begins: gone"));
    assert_eq!(error(&report).code(), "CLIENT.CRL");

    let bare = Tsa::without_crl("alpha");
    let report = stamp(&[authority(&bare, "alpha")], fetching());
    assert!(matches!(error(&report), StampError::Crl { failures } if failures.is_empty()));
    assert!(error(&report).to_string().contains("name no place for revocation lists"));

    let https = Tsa::with_crl_url("alpha", "https://localhost/crl");
    let report = stamp(&[authority(&https, "alpha")], fetching());
    let StampError::Crl { failures } = error(&report) else { panic!("{}", error(&report)) };
    assert!(matches!(failures[0].reason, CrlFailureReason::Scheme));
}

#[test]
fn files_that_are_there_stay_there() {
    let tsa = Tsa::start("alpha");
    let (alpha, again) = (authority(&tsa, "alpha"), authority(&tsa, "alpha"));
    let report = stamp(&[alpha.clone(), again.clone()], options());
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let store = TokenStore::choose(&out, 2, false);
    let both = [alpha, again];
    store.check_free(&both).unwrap();
    let names: Vec<_> = store
        .keep(&report)
        .into_iter()
        .map(|kept| kept.unwrap().unwrap().path.file_name().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["alpha.tsr", "alpha-2.tsr"]);
    assert!(store.check_free(&both).is_err());
    assert!(store.keep(&report).into_iter().all(|kept| kept.unwrap().is_err()));
    let replacing = TokenStore::choose(&out, 2, true);
    replacing.check_free(&both).unwrap();
    assert!(replacing.keep(&report).into_iter().all(|kept| kept.unwrap().is_ok()));
    // A list that a token would get is something, too.
    let file = directory.path().join("one.tsr");
    std::fs::write(directory.path().join("one.tsr.1.crl"), b"").unwrap();
    assert!(TokenStore::choose(&file, 1, false).check_free(&both[..1]).is_err());
    // One authority and a directory: a file in it.
    let one = TokenStore::choose(directory.path(), 1, false);
    one.check_free(&both[..1]).unwrap();
    assert!(TokenStore::choose(&out.join("alpha.tsr"), 2, false).check_free(&both).is_err());
}

#[test]
fn requests_are_what_others_would_send() {
    let tsa = Tsa::start("alpha");
    let report = stamp(&[authority(&tsa, "alpha")], options());
    assert!(report.is_quorum());
    let body = &tsa.asked()[0].body;
    assert_eq!(&TimestampRequest::parse(body).unwrap().to_der(), body);
}
