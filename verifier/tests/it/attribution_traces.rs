//! Membership read off the traces of run exports: against an oracle, against the evaluator, against real exports,
//! and from the command line.

use std::collections::BTreeSet;
use std::fs;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{AuditRecord, TracedResult};
use anchorlog_proto::jp::export::RunExport;
use anchorlog_proto::jp::fault::{Faults, RefusalCode};
use anchorlog_proto::jp::json::{Bounds, read};
use anchorlog_proto::json::{Object, Value};
use anchorlog_verifier::jp::attribution::Packs;
use anchorlog_verifier::jp::attribution::replay::Audits;
use anchorlog_verifier::jp::attribution::traces::{compare_traces, read_export};
use anchorlog_verifier::jp::core::Truth;

use crate::attribution_cli::{FACTS, World as Commands, codes, text};
use crate::core_properties::{Dice, One, World};
use crate::corpus::corpus_folder;
use crate::jp_world::{ProjectionDraft, audit_line, evaluated, pack, run_export};

/// The trace as the contract words it, from the oracle's truths alone.
fn trace_of(world: &World, disposition: &str) -> String {
    let on = |one: &One| if one.escalates { "escalate" } else { "ignore" };
    let mut entries = Vec::new();
    for one in &world.exceptions {
        let more = match (one.truth, one.what.split_once(':')) {
            (Truth::True, Some(("force-outcome", outcome))) => {
                format!(r#","effect":"force-outcome","outcome":"{outcome}""#)
            }
            (Truth::True, Some((effect, _))) => format!(r#","effect":"{effect}""#),
            (Truth::True, None) => r#","effect":"escalate""#.to_owned(),
            (Truth::Unknown, _) => format!(r#","onUnknown":"{}""#, on(one)),
            (Truth::False, _) => String::new(),
        };
        let (id, truth) = (&one.id, one.truth);
        entries.push(format!(r#"{{"stage":"exception","id":"{id}","condition":"{truth}"{more}}}"#));
    }
    let effects = world.exceptions.iter().filter(|one| one.truth == Truth::True);
    let effects: BTreeSet<&str> = effects.map(|one| one.what.as_str()).collect();
    let forced: Vec<_> = effects.iter().filter(|what| what.starts_with("force")).collect();
    let escalates = |one: &One| one.truth == Truth::Unknown && one.escalates;
    let blocked =
        world.exceptions.iter().any(escalates) || effects.contains("escalate") || forced.len() > 1;
    for one in world.rules.iter().filter(|_| !blocked) {
        let id = &one.id;
        let rest = if !forced.is_empty() {
            r#""condition":"not-evaluated","skipped":true"#.to_owned()
        } else if effects.contains(format!("suppress-rule:{id}").as_str()) {
            r#""condition":"not-evaluated","suppressed":true"#.to_owned()
        } else {
            let more = match one.truth {
                Truth::True => format!(r#","outcome":"{}""#, one.what),
                Truth::Unknown => format!(r#","onUnknown":"{}""#, on(one)),
                Truth::False => String::new(),
            };
            format!(r#""condition":"{}"{more}"#, one.truth)
        };
        entries.push(format!(r#"{{"stage":"rule","id":"{id}",{rest}}}"#));
    }
    format!(
        r#"{{"outputVersion":"2","evaluatorSpecVersion":"0.2.0-draft","disposition":{disposition},"trace":[{}]}}"#,
        entries.join(",")
    )
}

fn traced(text: &str) -> Result<TracedResult, RefusalCode> {
    let mut faults = Faults::new();
    let value = read(text.as_bytes(), &Bounds::EXPORT).unwrap();
    let result = TracedResult::read(&value, "/run/result", &mut faults);
    faults.settle(result).map_err(|fault| {
        assert!(fault.detail.starts_with("/run/result"), "{}", fault.detail);
        fault.code()
    })
}

#[test]
fn what_a_trace_credits_is_what_the_evaluator_credits() {
    let mut dice = Dice(27);
    let mut ends = BTreeSet::new();
    for round in 0..600 {
        let world = World::random(&mut dice);
        let pack = world.json();
        let evaluation = evaluated(&pack, "{}");
        let disposition = String::from_utf8(evaluation.disposition.to_canonical()).unwrap();
        let result = traced(&trace_of(&world, &disposition)).unwrap();
        let credit = result.trace.credit(&result.disposition);
        assert_eq!(credit.as_ref(), Ok(&evaluation.credit), "round {round}: {pack}");
        let said = format!("{} / {}", result.disposition, credit.unwrap());
        assert_eq!(said, world.expected(), "round {round}: {pack}");
        ends.insert(evaluation.credit.to_string().split(' ').next().unwrap().to_owned());
        // The whole way, with the replay beside it: every condition is the same again.
        let digest = Digest::of(pack.as_bytes());
        let line = audit_line(digest, "{}", &evaluation.disposition, round);
        let export = run_export(&line, &disposition, trace_array(&trace_of(&world, &disposition)));
        let (draft, trail) = ProjectionDraft::evaluated(&pack, &["{}"]);
        let mut draft = draft;
        draft.stages[0].outputs[0].audit = Digest::of(line.as_bytes());
        let compared = compare(&draft, &pack, &[&export], &[&line]);
        assert_eq!(compared, (1, 0, vec![]), "round {round}: {pack} {trail}");
    }
    assert_eq!(ends, ["fallback", "forcing-exception", "no", "rule"].map(str::to_owned).into());
}

/// The array of a result.
fn trace_array(result: &str) -> &str {
    let (_, rest) = result.split_once(r#""trace":"#).unwrap();
    rest.strip_suffix('}').unwrap()
}

/// How many outputs agree and differ, and the findings' codes and places.
fn compare(
    draft: &ProjectionDraft,
    pack: &str,
    exports: &[&str],
    lines: &[&str],
) -> (u64, u64, Vec<String>) {
    let projection = draft.read();
    let mut packs = Packs::new();
    packs.add(pack.as_bytes()).unwrap();
    let outputs = projection.stages.iter().flat_map(|stage| &stage.outputs);
    let wanted: BTreeSet<Digest> = outputs.map(|output| output.lineage.audit_digest).collect();
    let exports: Vec<_> = exports
        .iter()
        .map(|export| read_export(export.as_bytes(), None, &wanted).unwrap().unwrap())
        .collect();
    let audits: Audits<'_> = lines
        .iter()
        .map(|line| AuditRecord::read(line.as_bytes()).unwrap())
        .map(|record| (record.digest, record))
        .collect();
    let compared = compare_traces(&projection, &packs, &exports, None, Some(&audits));
    let place = |finding: &anchorlog_verifier::finding::Finding| {
        let pointer = finding.place.pointer.as_deref().unwrap_or_default();
        format!("{} {} {pointer}", finding.code, finding.place.input.unwrap_or_default())
    };
    let found = compared.found.list().iter().map(place).collect();
    (compared.counts.agree, compared.counts.differ, found)
}

#[test]
fn the_traces_of_real_exports_credit_whom_a_replay_credits() {
    let Some(folder) = corpus_folder("judgment-pack") else { return };
    let credits = [
        ("no-mapping-run", "no outcome"),
        ("mapping-v2-before-exact-bytes", "rule proceed-complete-and-appropriate"),
    ];
    for (name, credit) in credits {
        let bytes = fs::read(folder.join("runner").join(format!("{name}.run.json"))).unwrap();
        let mut faults = Faults::new();
        let export = RunExport::read(&bytes, &mut faults).unwrap();
        let result = export.result.as_ref().unwrap();
        let result = TracedResult::read(result, "/run/result", &mut faults).unwrap();
        assert_eq!(result.trace.credit(&result.disposition).unwrap().to_string(), credit);
        // The release holds the pack's text; the audit record in the export names its digest.
        let pack = export.release.get("pack").unwrap().as_str().unwrap();
        let line = String::from_utf8(export.audit.clone().unwrap()).unwrap();
        let record = AuditRecord::read(line.as_bytes()).unwrap();
        assert_eq!(record.pack, Digest::of(pack.as_bytes()), "{name}");
        assert_eq!(record.disposition, result.disposition);
        let facts = r#"{"bad":false}"#;
        let (mut draft, _) = ProjectionDraft::evaluated(&crate::jp_world::pack(), &[facts]);
        let credit = result.trace.credit(&result.disposition).unwrap();
        let output = crate::jp_world::draft(record.pack, &result.disposition, &credit, 0);
        draft.stages[0].pack = record.pack;
        draft.stages[0].outputs[0] =
            crate::jp_world::OutputDraft { audit: record.digest, ..output };
        let export = String::from_utf8(bytes.clone()).unwrap();
        assert_eq!(compare(&draft, pack, &[&export], &[&line]), (1, 0, vec![]), "{name}");
        // A verdict that was changed: the trace then disagrees with the replay, and the replay counts.
        // The release holds traces of its own, which nobody looks at: so all of them are changed.
        let changed = export.replace(
            r#""id":"embargoed-information-to-unauthorized","condition":"false""#,
            r#""id":"embargoed-information-to-unauthorized","condition":"unknown","onUnknown":"escalate""#,
        );
        assert_ne!(changed, export);
        let (agree, differ, found) = compare(&draft, pack, &[&changed], &[&line]);
        assert_eq!((agree, differ), (0, 1), "{name}: {found:?}");
        let at = "ATTR.TRACE export /run/result/trace/1";
        assert!(found.contains(&at.to_owned()), "{name}: {found:?}");
    }
}

#[test]
fn entries_have_the_shapes_of_the_contract() {
    let disposition =
        r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"yes","reasons":[]}"#;
    let result = |entries: &str| {
        traced(&format!(
            r#"{{"outputVersion":"2","evaluatorSpecVersion":"0.2.0-draft","disposition":{disposition},"trace":[{entries}]}}"#
        ))
    };
    let applies = r#"{"stage":"applicability","id":"","condition":"true"}"#;
    let entry = |stage: &str, rest: &str| format!(r#"{{"stage":"{stage}","id":"a",{rest}}}"#);
    let refused = Err(RefusalCode::InputMalformed);
    for good in [
        applies.to_owned(),
        entry("exception", r#""condition":"true","effect":"escalate""#),
        entry("exception", r#""condition":"unknown","onUnknown":"ignore","unknownCauses":[{}]"#),
        entry("rule", r#""condition":"false","typeMismatches":[]"#),
        entry("rule", r#""condition":"not-evaluated","suppressed":true"#),
    ] {
        assert!(result(&good).is_ok(), "{good}");
    }
    for wrong in [
        "1".to_owned(),
        r#"{"condition":"true"}"#.to_owned(),
        r#"{"stage":"outcome-value","condition":"true"}"#.to_owned(),
        r#"{"stage":"applicability","condition":"not-evaluated"}"#.to_owned(),
        r#"{"stage":"applicability","condition":"true","outcome":"yes"}"#.to_owned(),
        format!("{applies},{applies}"),
        format!("{},{applies}", entry("rule", r#""condition":"false""#)),
        r#"{"stage":"rule","condition":"false"}"#.to_owned(),
        r#"{"stage":"rule","id":"A","condition":"false"}"#.to_owned(),
        entry("exception", r#""condition":"not-evaluated","skipped":true"#),
        entry("exception", r#""condition":"true""#),
        entry("exception", r#""condition":"true","effect":"other""#),
        entry("exception", r#""condition":"true","effect":"force-outcome""#),
        entry("exception", r#""condition":"true","effect":"escalate","outcome":"yes""#),
        entry("exception", r#""condition":"false","effect":"escalate""#),
        entry("exception", r#""condition":"unknown""#),
        entry("rule", r#""condition":"true""#),
        entry("rule", r#""condition":"true","outcome":"yes","skipped":true"#),
        entry("rule", r#""condition":"false","outcome":"yes""#),
        entry("rule", r#""condition":"false","effect":"escalate""#),
        entry("rule", r#""condition":"unknown","onUnknown":"other""#),
        entry("rule", r#""condition":"not-evaluated""#),
        entry("rule", r#""condition":"not-evaluated","skipped":false,"suppressed":true"#),
        entry("rule", r#""condition":"not-evaluated","skipped":true,"suppressed":true"#),
        format!("{0},{0}", entry("rule", r#""condition":"false""#)),
        format!(
            "{},{}",
            entry("rule", r#""condition":"not-evaluated","skipped":true"#),
            entry("rule", r#""condition":"false""#).replace(r#""a""#, r#""b""#)
        ),
        format!(
            "{},{}",
            entry("rule", r#""condition":"false""#),
            entry("exception", r#""condition":"false""#)
        ),
    ] {
        assert_eq!(result(&wrong).map(|_| ()), refused, "{wrong}");
    }
    // One id may be a rule's and an exception's.
    let both =
        [entry("exception", r#""condition":"false""#), entry("rule", r#""condition":"false""#)];
    assert!(result(&both.join(",")).is_ok());
    for (version, code) in [
        (r#""outputVersion":"3""#, RefusalCode::VersionUnread),
        (r#""outputVersion":2"#, RefusalCode::InputMalformed),
    ] {
        let text = format!(
            r#"{{{version},"evaluatorSpecVersion":"0.2.0-draft","disposition":{disposition},"trace":[]}}"#
        );
        assert_eq!(traced(&text).map(|_| ()), Err(code), "{version}");
    }
}

/// The traces of [`FACTS`] under the pack of the accounting tests, written by hand.
fn traces() -> [String; 3] {
    let exceptions = |vip: &str, board: &str| {
        let forcing = |id: &str, truth: &str| match truth {
            "true" => format!(
                r#"{{"stage":"exception","id":"{id}","condition":"true","effect":"force-outcome","outcome":"yes"}}"#
            ),
            _ => format!(
                r#"{{"stage":"exception","id":"{id}","condition":"unknown","onUnknown":"ignore"}}"#
            ),
        };
        let rest = ["forget", "ask"].map(|id| forcing(id, "unknown"));
        format!("{},{},{}", forcing("known", vip), forcing("board", board), rest.join(","))
    };
    let rules = |entries: [(&str, &str); 3]| {
        let entry = |(id, rest): (&str, &str)| format!(r#"{{"stage":"rule","id":"{id}",{rest}}}"#);
        entries.map(entry).join(",")
    };
    let yes = r#""condition":"true","outcome":"yes""#;
    let no = r#""condition":"false""#;
    let unknown = r#""condition":"unknown","onUnknown":"ignore""#;
    let skipped = r#""condition":"not-evaluated","skipped":true"#;
    [
        (exceptions("", ""), rules([("amount-ok", yes), ("known", yes), ("refuse", no)])),
        (
            exceptions("true", "true"),
            rules([("amount-ok", skipped), ("known", skipped), ("refuse", skipped)]),
        ),
        (exceptions("", ""), rules([("amount-ok", unknown), ("known", unknown), ("refuse", no)])),
    ]
    .map(|(exceptions, rules)| format!("[{exceptions},{rules}]"))
}

/// The command's world with the run exports of its outputs, written as `run0.json` and so on.
fn commands() -> (Commands, Vec<(Digest, Digest)>) {
    let world = Commands::new();
    let digest = Digest::of(pack().as_bytes());
    let mut pins = Vec::new();
    for (at, (facts, trace)) in FACTS.iter().zip(traces()).enumerate() {
        let disposition = evaluated(&pack(), facts).disposition;
        let line = audit_line(digest, facts, &disposition, at);
        let disposition = String::from_utf8(disposition.to_canonical()).unwrap();
        let export = run_export(&line, &disposition, &trace);
        pins.push((Digest::of(line.as_bytes()), Digest::of(export.as_bytes())));
        world.folder.file(&format!("run{at}.json"), export);
    }
    (world, pins)
}

const ALL: [&str; 6] = ["--export", "run0.json", "--export", "run1.json", "--export", "run2.json"];
const REPLAY: [&str; 3] = ["--replay", "--audit", "trail.jsonl"];

fn counts(report: &Object<'static>) -> [i64; 4] {
    let traced = report.get("outputs_traced").and_then(Value::as_object).unwrap();
    assert_eq!(text(traced, "standing"), "informative-unsigned");
    ["agree", "differ", "without", "pinned"]
        .map(|name| traced.get(name).unwrap().as_integer().unwrap())
}

#[test]
fn membership_is_trace_derived_and_a_replay_wins() {
    let (world, pins) = commands();
    let (report, code) = world.attribution(&ALL);
    assert_eq!((codes(&report), code), (vec![], 0));
    assert_eq!((text(&report, "membership"), counts(&report)), ("trace-derived", [3, 0, 0, 0]));
    assert_eq!(text(&report, "authentication"), "not-established");
    let (report, code) = world.attribution(&[&ALL[..], &REPLAY[..]].concat());
    assert_eq!((codes(&report), code, text(&report, "membership")), (vec![], 0, "replayed"));
    assert_eq!(counts(&report), [3, 0, 0, 0]);
    // The execution record pins the exports, where it has their attempts.
    world.folder.file("execution.json", world.honest.execution_with_runs(&pins));
    let with_record = [&ALL[..], &["--execution", "execution.json"]].concat();
    let (report, code) = world.attribution(&with_record);
    assert_eq!((codes(&report), code, counts(&report)), (vec![], 0, [3, 0, 0, 3]));
    let people = [&["workflow", "attribution", "p.json", "--pack", "pack.json"], &ALL[..]].concat();
    let people = String::from_utf8(world.folder.run(&people).stdout).unwrap();
    assert!(people.contains("trace-derived"), "{people}");
    assert!(people.contains("informative and unsigned"), "{people}");
    // Not every output has one: then membership as a whole isn't told.
    let (report, code) = world.attribution(&ALL[..4]);
    assert_eq!((codes(&report), code), (vec![], 0));
    assert_eq!((text(&report, "membership"), counts(&report)), ("not-established", [2, 0, 1, 0]));
}

#[test]
fn a_trace_shows_an_omission_and_is_shown_wrong_itself() {
    let (world, pins) = commands();
    world.omit();
    let (report, code) = world.attribution(&ALL);
    assert_eq!((codes(&report), code), (vec!["ATTR.TRACE".to_owned()], 1));
    assert_eq!((text(&report, "code"), counts(&report)), ("trace-mismatch", [2, 1, 0, 0]));
    assert_eq!(text(&report, "membership"), "trace-derived");
    // A trace that was made to agree with the omission disagrees with the replay.
    let honest = fs::read_to_string(world.folder.path("run0.json")).unwrap();
    let hides = honest.replacen(
        r#""id":"amount-ok","condition":"true","outcome":"yes""#,
        r#""id":"amount-ok","condition":"false""#,
        1,
    );
    assert_ne!(hides, honest);
    world.folder.file("run0.json", &hides);
    assert_eq!(world.attribution(&ALL).1, 0, "unsigned: nothing shows it by itself");
    let (report, code) = world.attribution(&[&ALL[..], &REPLAY[..]].concat());
    assert_eq!((text(&report, "membership"), code), ("replayed", 1));
    let found = codes(&report);
    assert!(found.contains(&"ATTR.REPLAY".to_owned()), "{found:?}");
    assert!(found.contains(&"ATTR.TRACE".to_owned()), "{found:?}");
    // And it is not the export that the execution record pins.
    world.folder.file("p.json", world.honest.json());
    world.folder.file("execution.json", world.honest.execution_with_runs(&pins));
    let with_record = [&ALL[..], &["--execution", "execution.json"]].concat();
    let (report, code) = world.attribution(&with_record);
    assert_eq!((codes(&report), code), (vec!["ATTR.PIN".to_owned()], 1));
    assert_eq!(counts(&report), [2, 0, 1, 2]);
    assert_eq!(text(&report, "membership"), "not-established");
    // A record that has instances, and this attempt not among them.
    world.folder.file("run0.json", honest);
    world.folder.file("execution.json", world.honest.execution_with_runs(&pins[1..]));
    let (report, code) = world.attribution(&with_record);
    assert_eq!(
        (codes(&report), code, counts(&report)),
        (vec!["ATTR.PIN".to_owned()], 1, [3, 0, 0, 2])
    );
}

#[test]
fn exports_that_are_nobodys_are_listed_and_malformed_ones_refused() {
    let (world, _) = commands();
    let run = |at: usize| fs::read_to_string(world.folder.path(&format!("run{at}.json"))).unwrap();
    let (first, second) = (run(0), run(1));
    // Of another evaluation: listed, its trace not looked at.
    let disposition = evaluated(&pack(), FACTS[0]).disposition;
    let line = audit_line(Digest::of(b"another pack"), FACTS[0], &disposition, 7);
    world.folder.file("other.json", run_export(&line, "{}", "7"));
    let (report, code) = world.attribution(&[&ALL[..], &["--export", "other.json"]].concat());
    assert_eq!((codes(&report), code), (vec!["ATTR.UNPINNED_EXPORT".to_owned()], 0));
    assert_eq!(counts(&report), [3, 0, 0, 0]);
    let (report, code) = world.attribution(&["--export", "other.json"]);
    assert_eq!((text(&report, "membership"), code), ("not-established", 0));
    // Malformed where an output pins it: refused with the place.
    let refused = |text: String| {
        world.folder.file("run0.json", text);
        let (report, code) = world.attribution(&ALL);
        let finding = report.get("findings").and_then(Value::as_array).unwrap()[0].clone();
        let detail =
            super::attribution_cli::text(finding.as_object().unwrap(), "detail").to_owned();
        (super::attribution_cli::text(&report, "code").to_owned(), code, detail)
    };
    let (code, exit, detail) =
        refused(first.replacen(r#""condition":"true""#, r#""condition":"yes""#, 1));
    assert_eq!((code.as_str(), exit), ("input-malformed", 2));
    assert!(detail.contains("/run/result/trace/4/condition"), "{detail}");
    let (code, exit, detail) = refused(first.replacen(r#""result""#, r#""results""#, 1));
    assert_eq!((code.as_str(), exit), ("input-malformed", 2));
    assert!(detail.contains("/run/result"), "{detail}");
    let (code, exit, _) =
        refused(first.replacen(r#""outputVersion":"2""#, r#""outputVersion":"9""#, 1));
    assert_eq!((code.as_str(), exit), ("version-unread", 2));
    let (code, exit, _) = refused("{".to_owned());
    assert_eq!((code.as_str(), exit), ("input-malformed", 2));
    // Against its own disposition, and against the pack.
    let found = |text: String| {
        world.folder.file("run0.json", &first);
        world.folder.file("run1.json", text);
        let (report, code) = world.attribution(&ALL);
        assert_eq!(code, 1);
        codes(&report)
    };
    let trace = "ATTR.TRACE".to_owned();
    let other = second.replace(r#""outcome":"yes""#, r#""outcome":"no""#);
    assert_eq!(found(other), [trace.clone(), trace.clone()], "the pack and the disposition");
    let swapped =
        second.replace(r#""id":"known","condition":"true""#, r#""id":"x","condition":"true""#);
    assert_eq!(found(swapped), std::slice::from_ref(&trace));
    let other = second.replacen(r#""outcomeId":"yes""#, r#""outcomeId":"no""#, 1);
    assert_eq!(found(other), [trace.clone(), trace]);
}
