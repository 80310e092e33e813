//! Every code of the witness, and that neither threads nor batches make a difference.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::codes::gad::Affect;
use crate::gad::testing::{self, ENGINE, Record, STRANGER, codes, plan};
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::signed_object::Domain;

fn one_node() -> PlanIndex {
    plan(&[("n1", "normal", &["src/"])])
}

/// A claim: an entry that nobody signs and that refers to nothing.
const CLAIM: &str = r#"{"node":"n1","session_id":"s1","text":"done"}"#;
const HALTED: &str = r#"{"unresolved":["n1"]}"#;

/// claim, checkpoint, claim, halted, checkpoint.
fn good(plan: &PlanIndex) -> Record {
    let mut record = Record::new(plan);
    record.push("claim", CLAIM);
    record.checkpoint();
    record.push("claim", CLAIM);
    record.push("plan_halted", HALTED);
    record.checkpoint();
    record
}

struct Found {
    codes: Vec<String>,
    findings: Findings,
    /// Position and authenticity of each entry observed.
    observed: Vec<(u64, bool)>,
    summary: Result<WitnessSummary, WitnessError>,
}

struct Setup<'s> {
    plan: Option<&'s PlanIndex>,
    stated: Option<Stated>,
    artifacts: &'s Artifacts,
    limits: Limits,
    threads: usize,
    batch_bytes: usize,
}

impl Setup<'_> {
    fn read(&self, source: impl Read + Send) -> Found {
        let cx = WitnessContext {
            plan: self.plan,
            stated: self.stated,
            artifacts: self.artifacts,
            limits: &self.limits,
            threads: NonZeroUsize::new(self.threads).unwrap(),
            batch_bytes: self.batch_bytes,
        };
        let (mut findings, mut observed) = (Findings::new(), Vec::new());
        let mut observe = |event: &Event<'_>, _: &mut Findings| {
            observed.push((event.index, event.authentic));
        };
        let summary = read_witness(source, &cx, &mut observe, &mut findings);
        Found { codes: codes(&findings), findings, observed, summary }
    }
}

fn setup<'s>(plan: &'s PlanIndex, artifacts: &'s Artifacts) -> Setup<'s> {
    Setup {
        plan: Some(plan),
        stated: None,
        artifacts,
        limits: Limits::DEFAULT,
        threads: 2,
        batch_bytes: 1,
    }
}

/// What is found in these bytes.
fn found(bytes: &[u8]) -> Found {
    setup(&one_node(), &Artifacts::default()).read(bytes)
}

fn found_in(record: &Record) -> Vec<String> {
    found(&record.bytes()).codes
}

#[test]
fn a_good_record_has_no_finding() {
    let plan = one_node();
    let record = good(&plan);
    let artifacts = Artifacts::default();
    let found = Setup { stated: Some(record.stated(Seal::Final)), ..setup(&plan, &artifacts) }
        .read(&record.bytes()[..]);
    assert_eq!(found.codes, [""; 0]);
    assert_eq!(found.observed, (0..5).map(|index| (index, true)).collect::<Vec<_>>());
    let summary = found.summary.unwrap();
    assert_eq!((summary.size, summary.digest), {
        let bytes = record.bytes();
        (u64::try_from(bytes.len()).unwrap(), Digest::of(&bytes))
    });
    assert_eq!(summary.heads, record.heads);
    assert_eq!(summary.latest.len(), 5);
    assert_eq!(summary.terminal, Some((EntryType::PlanHalted, 3)));
    assert_eq!(summary.end_time, Some(1_784_541_600));
    assert_eq!(summary.entries, 5);
    assert_eq!(summary.coverage().ranges(), [(0, 3)]);
    assert!(summary.coverage().contains(3) && !summary.coverage().contains(4));
}

#[test]
fn numbers_start_at_0_and_go_up_by_1() {
    let plan = one_node();
    let of = |numbers: &[u64]| {
        let mut record = Record::new(&plan);
        for seq in numbers {
            record.push_numbered(*seq, "claim", CLAIM);
        }
        let codes = found_in(&record);
        codes.into_iter().filter(|code| code.contains("SEQ")).collect::<Vec<_>>()
    };
    assert_eq!(of(&[0, 1, 2]), [""; 0]);
    assert_eq!(of(&[1, 2]), ["1 R1.CHAIN.SEQ_START"]);
    assert_eq!(of(&[0, 0]), ["0 R1.CHAIN.SEQ_GAP"]);
    assert_eq!(of(&[0, 2, 1]), ["2 R1.CHAIN.SEQ_GAP", "1 R1.CHAIN.SEQ_GAP"]);
}

#[test]
fn a_chain_hash_is_judged_after_the_stated_one_before_it() {
    let plan = one_node();
    for wrong in 0..3 {
        let mut record = Record::new(&plan);
        for seq in 0..3 {
            let body =
                format!(r#"{{"p":{CLAIM},"seq":{seq},"t":"2026-07-20T10:00:00Z","type":"claim"}}"#);
            let domain = if seq == wrong { Domain::Plan } else { Domain::Chain };
            let h = domain.hash(&[record.head().as_bytes(), body.as_bytes()]);
            record.push_line(body.as_bytes(), h);
        }
        record.checkpoint();
        // The same within one batch and over several.
        for batch_bytes in [1, 1 << 20] {
            let artifacts = Artifacts::default();
            let found = Setup { batch_bytes, ..setup(&plan, &artifacts) }.read(&record.bytes()[..]);
            assert_eq!(found.codes, [format!("{wrong} R1.CHAIN.HASH")]);
        }
    }
}

#[test]
fn head_and_count_are_those_of_the_manifest() {
    let plan = one_node();
    let record = good(&plan);
    let artifacts = Artifacts::default();
    let stated = Stated { count: 6, head: Digest::of(b""), seal: Seal::Final };
    let found =
        Setup { stated: Some(stated), ..setup(&plan, &artifacts) }.read(&record.bytes()[..]);
    assert_eq!(found.codes, ["R1.CHAIN.COUNT", "4 R1.CHAIN.HEAD"]);
    let found = Setup { stated: Some(stated), ..setup(&plan, &artifacts) }.read(&b""[..]);
    assert_eq!(found.codes, ["R1.CHAIN.EMPTY", "R1.CHAIN.COUNT"]);
}

#[test]
fn lines_are_stored_canonically() {
    let plan = one_node();
    let bytes = good(&plan).bytes();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let of = |text: &str| found(text.as_bytes()).codes;
    assert_eq!(of(text.trim_end()), ["4 R1.CHAIN.NONCANONICAL"]);
    assert_eq!(
        of(&text.replace('\n', "\r\n")),
        (0..5).map(|seq| format!("{seq} R1.CHAIN.NONCANONICAL")).collect::<Vec<_>>()
    );
    // h is over the canonical body all the same.
    assert_eq!(of(&text.replacen("{\"body\"", "{ \"body\"", 1)), ["0 R1.CHAIN.NONCANONICAL"]);
    assert_eq!(of(&text.replacen("done", "d\\u006fne", 1)), ["0 R1.CHAIN.NONCANONICAL"]);
    // A blank line is no entry, and takes no position.
    assert_eq!(of(&text.replacen("}\n", "}\n\n", 1)), ["1 R1.CHAIN.NONCANONICAL"]);
    assert_eq!(of(&format!("{text}\n")), ["5 R1.CHAIN.NONCANONICAL"]);
}

#[test]
fn an_unknown_type_is_a_link_of_the_chain_and_nothing_more() {
    let plan = one_node();
    let mut record = Record::new(&plan);
    record.push("claim", CLAIM);
    record.push("key_revoked", r#"{"any":[{"thing":1}]}"#);
    record.checkpoint();
    let found = found(&record.bytes());
    assert_eq!(found.codes, ["1 R1.ISSUER.UNKNOWN_TYPE"]);
    assert_eq!(found.observed, [(0, true), (2, true)]);
}

#[test]
fn a_line_that_is_no_entry_ends_what_depends_on_order() {
    let plan = one_node();
    let mut record = good(&plan);
    record.lines[1] = b"{\"body\":{},\"h\":\"1\"}\n".to_vec();
    record.lines[3].truncate(20);
    record.lines[3].push(b'\n');
    let found = found(&record.bytes());
    assert_eq!(
        found.codes,
        [
            "1 J.MISSING_FIELD",
            "1 J.MISSING_FIELD",
            "1 J.MISSING_FIELD",
            "1 J.MISSING_FIELD",
            "1 J.DIGEST_FORM",
            "3 J.SYNTAX"
        ]
    );
    assert_eq!(found.observed, [(0, true)]);
    let summary = found.summary.unwrap();
    assert_eq!((summary.unreadable, summary.entries), (Some(1), 5));
    assert_eq!(summary.heads.len(), 1);
}

#[test]
fn issuers() {
    let plan = one_node();
    let of = |payload: &dyn Fn(&Record) -> String| {
        let mut record = Record::new(&plan);
        record.push("claim", CLAIM);
        let payload = payload(&record);
        record.push("nonconformance_notice", &payload);
        record.checkpoint();
        let found = found(&record.bytes());
        assert!(!found.observed[1].1, "{payload}");
        found.codes
    };
    let members = r#"{"defects":["x"]}"#;
    let notice = |record: &Record| record.signed("nonconformance_notice", members, ENGINE);
    assert_eq!(of(&|_| members.to_owned()), ["1 R1.ISSUER.UNSIGNED"]);
    assert_eq!(
        of(&|record| notice(record).replacen('{', "{\"third\":1,", 1)),
        ["1 R1.ISSUER.UNSIGNED"]
    );
    assert_eq!(of(&|record| record.signed("verdict", members, ENGINE)), ["1 R1.ISSUER.BODY_TYPE"]);
    let other = format!(r#"{{"defects":["x"],"plan_hash":"{}"}}"#, Digest::of(b"other"));
    assert_eq!(
        of(&|record| record.signed("nonconformance_notice", &other, ENGINE)),
        ["1 R1.ISSUER.RUN_BINDING"]
    );
    assert_eq!(
        of(&|record| record.signed("nonconformance_notice", members, STRANGER)),
        ["1 R1.ISSUER.KEY_UNREGISTERED"]
    );
    assert_eq!(
        of(&|record| record.signed("nonconformance_notice", members, testing::APPROVER)),
        ["1 R1.ISSUER.WRONG_ROLE"]
    );
    assert_eq!(of(&|record| notice(record).replacen("\"x\"", "\"y\"", 1)), ["1 R1.ISSUER.SIG"]);
    assert_eq!(of(&|record| notice(record).replacen("==\"", "=\"", 1)), ["1 J.B64_FORM"]);
    // All that apply.
    assert_eq!(
        of(&|record| {
            record.signed("verdict", &other, testing::APPROVER).replacen("\"x\"", "\"y\"", 1)
        }),
        [
            "1 R1.ISSUER.BODY_TYPE",
            "1 R1.ISSUER.RUN_BINDING",
            "1 R1.ISSUER.WRONG_ROLE",
            "1 R1.ISSUER.SIG"
        ]
    );
}

#[test]
fn without_a_plan_nobody_is_authenticated_and_the_chain_is_judged() {
    let plan = one_node();
    let unsigned = r#"{"defects":["x"]}"#;
    let artifacts = Artifacts::default();
    let mut record = good(&plan);
    record.push("nonconformance_notice", unsigned);
    record.push_numbered(9, "claim", CLAIM);
    record.checkpoint();
    let found = Setup { plan: None, ..setup(&plan, &artifacts) }.read(&record.bytes()[..]);
    assert_eq!(found.codes, ["5 R1.ISSUER.UNSIGNED", "9 R1.CHAIN.SEQ_GAP", "7 R1.CHAIN.SEQ_GAP"]);
    let signed: Vec<_> = found.observed.iter().filter(|(_, authentic)| !authentic).collect();
    assert_eq!(signed.len(), 4);
}

#[test]
fn references_name_an_artifact_and_state_its_digest() {
    let plan = one_node();
    let digest = Digest::of(b"artifact");
    let artifacts = Artifacts::new([("artifacts/a", digest), ("artifacts/b", Digest::of(b"b"))]);
    let of = |path: &str, stated: Digest| {
        let mut record = Record::new(&plan);
        record.push("dispatch", &testing::dispatch("s1", &["n1"], path, &stated));
        record.push(
            "executor_exit",
            &format!(
                r#"{{"available_output_digest":"{stated}","available_output_ref":"{path}","exit_code":0,"node":"n1","session_id":"s1","status":"completed"}}"#
            ),
        );
        record.push(
            "execution_result",
            &format!(
                r#"{{"delta_digest":"{stated}","delta_ref":"{path}","node":"n1","output_status":"captured","quiescence":{{"outcome":"quiesced"}},"session_id":"s1","touched_surface":[]}}"#
            ),
        );
        record.checkpoint();
        setup(&plan, &artifacts).read(&record.bytes()[..]).codes
    };
    assert_eq!(of("artifacts/a", digest), [""; 0]);
    assert_eq!(artifacts.unbound(), ["artifacts/b"]);
    assert_eq!(
        of("artifacts/c", digest),
        (0..3).map(|seq| format!("{seq} R1.ARTIFACT.REF_ABSENT")).collect::<Vec<_>>()
    );
    assert_eq!(
        of("artifacts/b", digest),
        (0..3).map(|seq| format!("{seq} R1.ARTIFACT.REF_DIGEST")).collect::<Vec<_>>()
    );
}

#[test]
fn limits_end_the_evaluation_where_they_are_crossed() {
    let plan = one_node();
    let bytes = good(&plan).bytes();
    let longest = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap();
    let artifacts = Artifacts::default();
    let of = |name: &str, value: usize| {
        let mut limits = Limits::DEFAULT;
        assert!(limits.set(name, u64::try_from(value).unwrap()));
        let found = Setup { limits, ..setup(&plan, &artifacts) }.read(&bytes[..]);
        let ends = found.codes.iter().any(|code| code.contains("IN."));
        assert_eq!(matches!(found.summary, Err(WitnessError::Limit)), ends);
        assert_eq!(found.findings.affects(Affect::R9), ends);
        (found.codes, found.observed.len())
    };
    let expect = |codes: &[&str], observed: usize| {
        (codes.iter().map(ToString::to_string).collect::<Vec<_>>(), observed)
    };
    assert_eq!(of("entries", 5), expect(&[], 5));
    assert_eq!(of("entries", 4), expect(&["IN.LIMIT_COUNT"], 4));
    assert_eq!(of("line_bytes", longest), expect(&[], 5));
    assert_eq!(of("line_bytes", longest - 1), expect(&["1 IN.LIMIT_LINE"], 1));
    assert_eq!(of("elements", 0), expect(&["3 IN.LIMIT_COUNT"], 3));
    assert_eq!(of("depth", 3).0[0], "1 J.DEPTH");
}

#[test]
fn a_source_that_fails_is_no_finding() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let plan = one_node();
    let artifacts = Artifacts::default();
    let bytes = good(&plan).bytes();
    for threads in [1, 4] {
        let source = bytes[..bytes.len() - 3].chain(Broken);
        let found = Setup { threads, ..setup(&plan, &artifacts) }.read(source);
        assert!(matches!(found.summary, Err(WitnessError::Io(_))));
        assert_eq!((found.codes.len(), found.observed.len()), (0, 4));
    }
}

#[test]
#[should_panic(expected = "scoped thread panicked")]
fn a_rule_that_panics_stops_everybody() {
    let plan = one_node();
    let bytes = good(&plan).bytes().repeat(50);
    let artifacts = Artifacts::default();
    let Setup { limits, .. } = setup(&plan, &artifacts);
    let cx = WitnessContext {
        plan: Some(&plan),
        stated: None,
        artifacts: &artifacts,
        limits: &limits,
        threads: NonZeroUsize::new(4).unwrap(),
        batch_bytes: 1,
    };
    let main = std::thread::current().id();
    let mut observer = |event: &Event<'_>, _: &mut Findings| {
        assert!(event.index < 20 || std::thread::current().id() == main, "a rule");
    };
    let mut findings = Findings::new();
    // Sooner or later another thread than this one has the turn; if never, the panic is missing.
    for _ in 0..100 {
        let _summary = read_witness(&bytes[..], &cx, &mut observer, &mut findings);
    }
}

#[test]
fn the_next_batch_is_read_while_one_goes_by() {
    /// A source that says how much was taken from it.
    struct Taken<'t>(&'t [u8], &'t AtomicUsize);
    impl Read for Taken<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(buffer)?;
            self.1.fetch_add(read, Ordering::SeqCst);
            Ok(read)
        }
    }
    let (plan, taken) = (one_node(), AtomicUsize::new(0));
    let (bytes, artifacts) = (good(&plan).bytes(), Artifacts::default());
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let Setup { limits, .. } = setup(&plan, &artifacts);
    let cx = WitnessContext {
        plan: Some(&plan),
        stated: None,
        artifacts: &artifacts,
        limits: &limits,
        threads: NonZeroUsize::new(2).unwrap(),
        batch_bytes: line,
    };
    let begin = std::time::Instant::now();
    let mut observer = |event: &Event<'_>, _: &mut Findings| {
        while event.index == 0 && taken.load(Ordering::SeqCst) <= line {
            assert!(begin.elapsed().as_secs() < 60, "readers wait for one another");
            std::thread::yield_now();
        }
    };
    let mut findings = Findings::new();
    read_witness(Taken(&bytes, &taken), &cx, &mut observer, &mut findings).unwrap();
    assert!(findings.is_empty());
}

#[test]
fn neither_threads_nor_batches_make_a_difference() {
    let plan = one_node();
    let artifacts = Artifacts::default();
    let mut record = Record::new(&plan);
    for round in 0..40 {
        record.push("claim", CLAIM);
        record.push_numbered(round, "claim", r#"{"node":"n1"}"#);
        record.push("unheard_of", "{}");
        record.push("nonconformance_notice", r#"{"defects":[]}"#);
        record.sign("checkpoint", &record.checkpoint_members(0, 2), STRANGER);
        record.checkpoint();
        let body = format!(
            r#"{{"p":{CLAIM},"seq":{},"t":"2026-07-20T10:00:00Z","type":"claim"}}"#,
            record.len()
        );
        record.push_line(body.as_bytes(), Digest::of(b"wrong"));
        record.lines.push(b"\n".to_vec());
        record.heads.push(record.head());
    }
    let whole = record.bytes();
    let unreadable = [&whole[..], b"{}\n", &whole[..]].concat();
    for bytes in [&whole, &unreadable] {
        let one = Setup { threads: 1, batch_bytes: usize::MAX >> 1, ..setup(&plan, &artifacts) }
            .read(&bytes[..]);
        assert!(one.codes.len() > 200);
        for threads in [1, 2, 3, 8] {
            for batch_bytes in [1, 100, 1000, 4096, 1 << 20] {
                let other =
                    Setup { threads, batch_bytes, ..setup(&plan, &artifacts) }.read(&bytes[..]);
                assert_eq!(other.findings.list(), one.findings.list());
                assert_eq!(other.observed, one.observed);
                assert_eq!(other.summary.unwrap(), *one.summary.as_ref().unwrap());
            }
        }
    }
}
