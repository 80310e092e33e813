//! Each closed form: a good one, and the good one with one thing changed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

use super::*;
use crate::Digest;
use crate::jp::canon::literal;
use crate::jp::fault::{self, Faults};
use crate::jp::json::{Bounds, read};

const D: &str = "sha256:00000000000000000000000000000000000000000000000000000000000000d1";
const E: &str = "sha256:00000000000000000000000000000000000000000000000000000000000000e2";

fn rule<T>(
    text: &str,
    reader: impl Fn(&crate::jp::json::Value<'_>, &mut Faults) -> Option<T>,
) -> Option<fault::Rule> {
    let mut faults = Faults::new();
    let value = read(text.as_bytes(), &Bounds::EXECUTION).unwrap_or_else(|e| panic!("{e}: {text}"));
    let read = reader(&value, &mut faults);
    assert!(read.is_some() || !faults.is_empty(), "{text}");
    faults.first().map(|fault| fault.rule)
}

/// Reads the good text, and the good text with each change, which breaks a rule or, with `None`, doesn't.
fn changes<T>(
    good: &str,
    reader: impl Fn(&crate::jp::json::Value<'_>, &mut Faults) -> Option<T> + Copy,
    changes: &[(&str, &str, Option<fault::Rule>)],
) {
    assert_eq!(rule(good, reader), None, "{good}");
    for (from, to, expected) in changes {
        assert!(good.contains(from), "{from}");
        assert_eq!(rule(&good.replacen(from, to, 1), reader), *expected, "{from} -> {to}");
    }
}

fn workflow() -> String {
    let stage = |id: &str, input: &str, bindings: &str, selection: &str| {
        format!(
            r#"{{"id":"{id}","dialect":{{"version":3,"digest":"{D}"}},"pack":{{"id":"urn:x:{id}","digest":"{D}"}},{input},"caseBindings":[{bindings}],"outputs":{{"pointer":"/{id}","cardinality":"many"}},"relation":{{"label":"r-{id}","direction":"output-to-parent"}}{selection}}}"#
        )
    };
    let root = stage(
        "a",
        r#""input":{"root":true},"execution":"once""#,
        "",
        r#","selection":{"mode":"reviewer"}"#,
    );
    let child = stage(
        "b",
        r#""input":{"fromStage":"a","selected":true},"execution":"each-selected-record""#,
        r#"{"from":"/id","to":"/x/id","type":"string","required":true},{"from":"","to":"/y","type":"object","required":false}"#,
        "",
    );
    format!(
        r#"{{"workflowVersion":1,"stages":[{root},{child}],"result":"b","limits":{{"maxStages":2,"maxRecords":9,"maxInstances":9,"maxAttempts":3,"maxBytes":7}}}}"#
    )
}

#[test]
fn workflows() {
    use fault::Rule::{Count, Form, Order, Pointer, Version};
    let long = format!("urn:{}", "x".repeat(2045));
    let deep = "/a".repeat(33);
    changes(
        &workflow(),
        Workflow::read,
        &[
            ("\"workflowVersion\":1", "\"workflowVersion\":2", Some(Version)),
            ("\"workflowVersion\":1", "\"workflowVersion\":\"1\"", Some(Form)),
            ("\"workflowVersion\":1,", "", Some(Form)),
            ("\"result\":\"b\"", "\"result\":\"b\",\"x\":1", Some(Form)),
            ("\"result\":\"b\"", "\"result\":\"a\"", Some(Order)),
            ("\"result\":\"b\"", "\"result\":\"c\"", Some(Order)),
            ("\"result\":\"b\"", "\"result\":\"B\"", Some(Form)),
            ("\"maxStages\":2", "\"maxStages\":1", Some(Count)),
            ("\"maxStages\":2", "\"maxStages\":0", Some(Form)),
            ("\"maxStages\":2,", "", Some(Form)),
            ("\"maxBytes\":7", "\"maxBytes\":0", Some(Form)),
            ("\"maxBytes\":7", "\"maxFiles\":7", None),
            ("\"id\":\"b\"", "\"id\":\"a\"", Some(Order)),
            ("\"id\":\"a\"", "\"id\":\"A\"", Some(Form)),
            ("\"fromStage\":\"a\"", "\"fromStage\":\"b\"", Some(Order)),
            ("\"selected\":true", "\"selected\":false", Some(Form)),
            ("\"root\":true", "\"root\":false", Some(Form)),
            ("\"root\":true", "\"root\":true,\"selected\":true", Some(Form)),
            ("\"once\"", "\"each-selected-record\"", Some(Form)),
            ("\"once\"", "\"twice\"", Some(Form)),
            (r#","selection":{"mode":"reviewer"}"#, "", Some(Order)),
            (
                r#"{"mode":"reviewer"}"#,
                r#"{"mode":"reviewer","rule":{"kind":"unresolved"}}"#,
                Some(Form),
            ),
            (
                r#"{"mode":"reviewer"}"#,
                r#"{"mode":"disposition","rule":{"kind":"unresolved"}}"#,
                Some(Order),
            ),
            (
                r#"{"mode":"reviewer"}"#,
                r#"{"mode":"disposition","rule":{"kind":"odd"}}"#,
                Some(Form),
            ),
            ("\"version\":3", "\"version\":4", Some(Version)),
            ("\"version\":3", "\"version\":\"3\"", Some(Form)),
            ("\"version\":3,", "", Some(Form)),
            ("\"version\":3", r#""formatVersion":"3.0.0","id":"d","version":"1.2""#, None),
            ("\"version\":3", r#""formatVersion":"4.0.0","id":"d","version":"1.2""#, Some(Version)),
            ("\"version\":3", r#""formatVersion":3,"id":"d","version":"1.2""#, Some(Form)),
            ("\"version\":3", r#""formatVersion":"3.0.0","id":"d","version":3"#, Some(Form)),
            ("\"version\":3", r#""formatVersion":"3.0.0","version":"1.2""#, Some(Form)),
            ("urn:x:a", "nothing", Some(Form)),
            ("urn:x:a", &long, Some(Count)),
            ("\"type\":\"string\"", "\"type\":\"text\"", Some(Form)),
            ("\"from\":\"/id\"", "\"from\":\"id\"", Some(Pointer)),
            ("\"from\":\"/id\"", "\"from\":\"/~2\"", Some(Pointer)),
            ("\"from\":\"/id\"", &format!("\"from\":\"{deep}\""), Some(Count)),
            ("\"to\":\"/x/id\"", "\"to\":\"\"", Some(Pointer)),
            ("\"to\":\"/x/id\"", "\"to\":\"/y\"", Some(Pointer)),
            ("\"to\":\"/x/id\"", "\"to\":\"/y/z\"", Some(Pointer)),
            ("\"to\":\"/x/id\"", "\"to\":\"/yz\"", None),
            ("\"pointer\":\"/a\"", "\"pointer\":\"\"", Some(Pointer)),
            ("\"many\"", "\"some\"", Some(Form)),
            ("output-to-parent", "sideways", Some(Form)),
            ("r-a", "R", Some(Form)),
        ],
    );
    // 64 bindings are allowed and 65 are over the bound.
    let bindings = |count: usize| {
        let one =
            |at: usize| format!(r#"{{"from":"","to":"/t{at}","type":"null","required":false}}"#);
        (0..count).map(one).collect::<Vec<_>>().join(",")
    };
    let whole = r#"{"from":"/id","to":"/x/id","type":"string","required":true},{"from":"","to":"/y","type":"object","required":false}"#;
    changes(
        &workflow(),
        Workflow::read,
        &[
            (whole, &bindings(64), None),
            (whole, &bindings(65), Some(Count)),
            (whole, "", Some(Form)),
        ],
    );
    // A later stage's unread version counts before an earlier stage's form.
    let text = workflow().replacen("\"id\":\"a\"", "\"id\":\"A\"", 1);
    let last = text.rfind("\"version\":3").unwrap();
    let text = format!("{}\"version\":9{}", &text[..last], &text[last + 11..]);
    assert_eq!(rule(&text, Workflow::read), Some(Version));
}

#[test]
fn selections() {
    use fault::Rule::{Count, Form, Version};
    let good = format!(
        r#"{{"selectionVersion":1,"workflowDigest":"{D}","execution":"e","upstreamStage":"a","outputSetDigest":"{D}","selected":["{D}","{E}"],"mode":"reviewer","revision":16,"review":{{"actor":"x","assertion":"y","at":"2026-10-15T00:00:00Z"}}}}"#
    );
    let (actor, longer) = ("x".repeat(256), "x".repeat(257));
    let (assertion, wordy) = ("y".repeat(1024), "y".repeat(1025));
    let rule = r#""mode":"disposition","rule":{"kind":"outcome","outcomeId":"go"}"#;
    let review = r#","review":{"actor":"x","assertion":"y","at":"2026-10-15T00:00:00Z"}"#;
    let by_rule = good.replace(r#""mode":"reviewer""#, rule).replace(review, "");
    changes(
        &by_rule,
        Selection::read,
        &[
            ("\"go\"", "\"\"", Some(Form)),
            ("\"go\"", &format!("\"{longer}\""), Some(Count)),
            (r#"{"kind":"outcome","outcomeId":"go"}"#, r#"{"kind":"not-applicable"}"#, None),
            (
                r#"{"kind":"outcome","outcomeId":"go"}"#,
                r#"{"kind":"unresolved","outcomeId":"go"}"#,
                Some(Form),
            ),
        ],
    );
    changes(
        &good,
        Selection::read,
        &[
            ("\"selectionVersion\":1", "\"selectionVersion\":0", Some(Version)),
            ("\"revision\":16", "\"revision\":17", Some(Count)),
            ("\"revision\":16", "\"revision\":0", Some(Form)),
            ("\"revision\":16", "\"revision\":1,\"refusal\":\"limit-exceeded\"", None),
            ("\"revision\":16", "\"revision\":1,\"refusal\":\"late\"", Some(Form)),
            ("\"mode\":\"reviewer\"", rule, Some(Form)),
            ("\"actor\":\"x\"", &format!("\"actor\":\"{actor}\""), None),
            ("\"actor\":\"x\"", &format!("\"actor\":\"{longer}\""), Some(Count)),
            ("\"assertion\":\"y\"", &format!("\"assertion\":\"{assertion}\""), None),
            ("\"assertion\":\"y\"", &format!("\"assertion\":\"{wordy}\""), Some(Count)),
            ("\"assertion\":\"y\"", "\"assertion\":\"\"", Some(Form)),
            ("2026-10-15", "2026-02-30", Some(Form)),
            (E, D, Some(Form)),
            (E, &E.to_uppercase(), Some(Form)),
        ],
    );
}

#[test]
fn output_records_and_sets() {
    use fault::Rule::{Form, Order, Version};
    let good = format!(
        r#"{{"outputRecordVersion":1,"payloadDigest":"{D}","lineage":{{"workflowDigest":"{D}","execution":"e","stage":"a","instance":"i","publishedDialectDigest":"{D}","bindingDocumentDigest":null,"boundDialectDigest":"{D}","packDigest":"{D}","releaseDigest":"{D}","preparationDigest":"{D}","auditDigest":"{D}","outputPointer":"/o","index":4095,"rootCaseDigest":"{D}","caseDigest":"{D}","parentRecord":null,"selectionDigest":null,"relation":{{"label":"l","direction":"parent-to-output"}},"influence":{{"classes":["asserted","generated"],"generatedInfluence":true}}}}}}"#
    );
    changes(
        &good,
        OutputRecord::read,
        &[
            ("\"outputRecordVersion\":1", "\"outputRecordVersion\":2", Some(Version)),
            ("\"index\":4095", "\"index\":4096", Some(Form)),
            ("\"index\":4095", "\"index\":-0", None),
            ("\"bindingDocumentDigest\":null", &format!("\"bindingDocumentDigest\":\"{E}\""), None),
            ("\"parentRecord\":null", &format!("\"parentRecord\":\"{E}\""), Some(Form)),
            ("[\"asserted\",\"generated\"]", "[]", None),
            ("[\"asserted\",\"generated\"]", "[\"generated\",\"asserted\"]", Some(Form)),
            ("[\"asserted\",\"generated\"]", "[\"record\",\"record\"]", Some(Form)),
            ("\"generatedInfluence\":true", "\"generatedInfluence\":1", Some(Form)),
            ("\"auditDigest\"", "\"auditDigests\"", Some(Form)),
        ],
    );
    let set = format!(
        r#"{{"execution":"e","records":["{D}","{E}"],"stage":"a","workflowDigest":"{D}"}}"#
    );
    changes(&set, ClosedSet::read, &[(E, D, Some(Form)), ("\"stage\":\"a\",", "", Some(Form))]);
    let read_set =
        ClosedSet::read(&read(set.as_bytes(), &Bounds::SET).unwrap(), &mut Faults::new());
    assert_eq!(read_set.unwrap().canon(), set.as_bytes());
    assert_ne!(Order, Form);
}

fn execution() -> String {
    let attempt = |number: u32, state: &str, retry: &str| {
        format!(
            r#"{{"number":{number},"state":{state},"preparationDigest":"{D}","auditDigest":"{D}","runDigest":null,"evaluationErrorDigest":null,"retry":{retry}}}"#
        )
    };
    let first = attempt(1, r#""interrupted","failure":null"#, "null");
    let second = attempt(
        2,
        r#""completed-zero","failure":null"#,
        r#"{"actor":"x","at":"2026-10-15T00:00:00Z"}"#,
    );
    let instance = format!(
        r#"{{"id":"i1","stage":"a","parentRecord":null,"selectionDigest":null,"inputDigest":"{D}","caseDigest":"{D}","state":"completed-zero","failure":null,"attempts":[{first},{second}]}}"#
    );
    let frozen = |stage: &str| {
        format!(
            r#"{{"stage":"{stage}","publishedDialectDigest":"{D}","bindingDocumentDigest":null,"boundDialectDigest":"{D}","packDigest":"{D}","releaseDigest":"{D}","runtimeDigest":"{D}"}}"#
        )
    };
    format!(
        r#"{{"executionVersion":1,"workflowDigest":"{D}","execution":"e","rootCaseDigest":"{D}","frozen":[{},{}],"instances":[{instance}],"outputSets":[{{"stage":"a","status":"closed","records":[]}},{{"stage":"b","status":"blocked","records":[]}}],"selections":[null,null]}}"#,
        frozen("a"),
        frozen("b")
    )
}

#[test]
fn execution_records() {
    use fault::Rule::{Count, Form, Order, Version};
    let text = workflow();
    let value = read(text.as_bytes(), &Bounds::WORKFLOW).unwrap();
    let workflow = Workflow::read(&value, &mut Faults::new()).unwrap();
    let reader = |value: &crate::jp::json::Value<'_>, faults: &mut Faults| {
        Execution::read(value, faults).filter(|execution| execution.in_order(&workflow, faults))
    };
    let actor = "x".repeat(257);
    let many = format!(
        "\"records\":[{}]",
        (0..10).map(|n| format!("\"{}\"", Digest::of(&[n]))).collect::<Vec<_>>().join(",")
    );
    changes(
        &execution(),
        reader,
        &[
            ("\"executionVersion\":1", "\"executionVersion\":7", Some(Version)),
            ("\"stage\":\"a\",\"published", "\"stage\":\"b\",\"published", Some(Order)),
            ("\"stage\":\"a\",\"status", "\"stage\":\"b\",\"status", Some(Order)),
            ("\"stage\":\"a\",\"parent", "\"stage\":\"c\",\"parent", Some(Order)),
            ("[null,null]", "[null]", Some(Order)),
            ("[null,null]", "[null,0]", Some(Form)),
            ("\"status\":\"closed\"", "\"status\":\"open\"", Some(Form)),
            ("\"records\":[]", &many, Some(Count)),
            ("\"records\":[]", &format!("\"records\":[\"{D}\",\"{D}\"]"), Some(Order)),
            ("\"parentRecord\":null", &format!("\"parentRecord\":\"{D}\""), Some(Order)),
            ("\"number\":2", "\"number\":3", Some(Order)),
            ("\"number\":1", "\"number\":0", Some(Order)),
            (
                "\"interrupted\",\"failure\":null",
                "\"interrupted\",\"failure\":\"output-invalid\"",
                Some(Order),
            ),
            ("\"interrupted\",\"failure\":null", "\"failed\",\"failure\":null", Some(Order)),
            ("\"interrupted\",\"failure\":null", "\"failed\",\"failure\":\"odd\"", Some(Form)),
            ("\"interrupted\",\"failure\":null", "\"failed\",\"failure\":\"output-invalid\"", None),
            (
                "\"retry\":null",
                "\"retry\":{\"actor\":\"x\",\"at\":\"2026-10-15T00:00:00Z\"}",
                Some(Order),
            ),
            (
                "\"retry\":{\"actor\":\"x\",\"at\":\"2026-10-15T00:00:00Z\"}",
                "\"retry\":null",
                Some(Order),
            ),
            ("\"actor\":\"x\"", &format!("\"actor\":\"{actor}\""), Some(Count)),
            ("\"evaluationErrorDigest\":null,", "", Some(Form)),
            ("\"id\":\"i1\"", "\"id\":\"I1\"", Some(Form)),
        ],
    );
    let completed = execution().replacen(
        &format!("\"preparationDigest\":\"{D}\",\"auditDigest\":\"{D}\",\"runDigest\":null,\"evaluationErrorDigest\":null,\"retry\":{{"),
        &format!("\"preparationDigest\":\"{D}\",\"auditDigest\":null,\"runDigest\":null,\"evaluationErrorDigest\":null,\"retry\":{{"),
        1,
    );
    assert_eq!(rule(&completed, reader), Some(Order));
    let limited = |name: &str, most: &str| {
        let text = text.replace(name, most);
        let value = read(text.as_bytes(), &Bounds::WORKFLOW).unwrap();
        let workflow = Workflow::read(&value, &mut Faults::new()).unwrap();
        rule(&execution(), |value, faults| {
            Execution::read(value, faults).filter(|one| one.in_order(&workflow, faults))
        })
    };
    assert_eq!(limited("\"maxAttempts\":3", "\"maxAttempts\":2"), None);
    assert_eq!(limited("\"maxAttempts\":3", "\"maxAttempts\":1"), Some(Count));
}

#[test]
fn projections() {
    let text = workflow().replace(
        r#"{"from":"","to":"/y","type":"object","required":false}"#,
        r#"{"from":"/n","to":"/y/0","type":"integer","required":false},{"from":"/z","to":"/y/z","type":"null","required":false}"#,
    );
    let value = read(text.as_bytes(), &Bounds::WORKFLOW).unwrap();
    let workflow = Workflow::read(&value, &mut Faults::new()).unwrap();
    let bindings = &workflow.stages.last().unwrap().case_bindings;
    let case = |payload: &str| {
        let payload = read(payload.as_bytes(), &Bounds::CASE).unwrap();
        project(bindings, &payload).map(|case| String::from_utf8(literal(&case)).unwrap())
    };
    let failed = |binding, absent| Err(ProjectionFailed { binding, absent });
    // Literals survive, numeric tokens make members, absent optional values are left out.
    assert_eq!(case(r#"{"id":"<é","n":-0}"#), Ok(r#"{"x":{"id":"\u003cé"},"y":{"0":-0}}"#.into()));
    assert_eq!(
        case(r#"{"id":"a","z":null,"other":1}"#),
        Ok(r#"{"x":{"id":"a"},"y":{"z":null}}"#.into())
    );
    assert_eq!(case(r#"{"n":1}"#), failed(0, true));
    assert_eq!(case(r#"{"id":null}"#), failed(0, false));
    assert_eq!(case(r#"{"id":"a","n":"1"}"#), failed(1, false));
    assert_eq!(case(r#"{"id":"a","n":null}"#), failed(1, false));
    assert_eq!(case(r#"{"id":"a","z":0}"#), failed(2, false));
}
