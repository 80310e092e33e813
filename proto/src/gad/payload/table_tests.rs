//! Every payload against its table: whole, and with one member absent, mistyped, wrong or too many.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use super::super::entry::{Entry, EntryReading, EntryType, Payload};
use super::super::form::Defects;
use super::super::limits::Limits;
use super::tables::{ARRAYS, RULE, TABLES, Table};
use super::{Decision, DispatchNodes, NodeOrNull};
use crate::digest::Digest;
use crate::json::{Object, ReadLimits, Value, canonical, parse};
use crate::signed_object::SigningKey;

pub(in crate::gad) fn json(text: &str) -> Value<'static> {
    let text = text
        .replace("@D", &Digest::of(b"something").to_string())
        .replace("@K", &SigningKey::from_seed(&[1; 32]).id().to_string());
    parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap().into_owned()
}

/// `value` with what stands at `path` replaced, or taken out.
fn edit(value: Value<'static>, path: &[&str], new: Option<Value<'static>>) -> Value<'static> {
    let [step, rest @ ..] = path else { return new.unwrap() };
    let new = |old| if rest.is_empty() { new } else { Some(edit(old, rest, new)) };
    match value {
        Value::Object(mut object) => {
            let old = object.remove(step).unwrap_or(Value::Null);
            if let Some(value) = new(old) {
                object.insert((*step).to_owned(), value);
            }
            Value::Object(object)
        }
        Value::Array(mut elements) => {
            let index: usize = step.parse().unwrap();
            let old = elements[index].clone();
            elements[index] = new(old).unwrap();
            Value::Array(elements)
        }
        other => panic!("no {step} in {other:?}"),
    }
}

fn edited(table: &Table, path: &str, new: Option<Value<'static>>) -> Value<'static> {
    edit(json(table.sample), &path.split('/').collect::<Vec<_>>(), new)
}

/// The line of an entry of this type; a signed type's payload is signed.
pub(in crate::gad) fn line(entry_type: EntryType, payload: &Value<'static>) -> Value<'static> {
    let key = SigningKey::from_seed(&[1; 32]);
    let p = match payload {
        Value::Object(members) if entry_type.is_signed() => Value::Object(
            super::super::chain::sign_body(
                entry_type.as_str(),
                members.clone(),
                &Digest::of(b"plan"),
                &key,
            )
            .into_owned(),
        ),
        other => other.clone(),
    };
    let body = Object::from([
        ("p", p),
        ("seq", 4_u32.into()),
        ("t", "2026-07-20T10:00:00Z".into()),
        ("type", entry_type.as_str().into()),
    ]);
    Value::Object(Object::from([
        ("body", Value::Object(body)),
        ("h", Digest::of(b"h").to_string().into()),
    ]))
}

/// Reads a line of a known type: the written form of its payload, and the defects.
fn read_within(
    line: &Value<'_>,
    limits: &Limits,
) -> (Option<Object<'static>>, Vec<(&'static str, String)>) {
    let mut defects = Defects::new();
    let EntryReading::Entry(entry) = Entry::read(line, limits, &mut defects) else {
        panic!("{defects:?}")
    };
    let payload = entry.payload.map(|payload| payload.to_object().into_owned());
    let defects = defects.list().iter();
    (payload, defects.map(|it| (it.code.as_str(), it.pointer.clone())).collect())
}

fn pointer(entry_type: EntryType, path: &str) -> String {
    format!("/body/p{}/{path}", if entry_type.is_signed() { "/body" } else { "" })
}

/// Reads the sample with one change, and compares with what the table says.
fn check(table: &Table, path: &str, change: Option<Value<'static>>, expected: &str) {
    let payload = edited(table, path, change);
    let context = format!("{} {path}: {}", table.entry_type, show(&payload));
    let (read, defects) = read_within(&line(table.entry_type, &payload), &Limits::DEFAULT);
    if expected == RULE {
        assert_eq!(defects, [], "{context}");
        let sample = json(table.sample);
        assert_ne!(read.as_ref(), sample.as_object(), "{context}");
        assert!(read.is_some(), "{context}");
        return;
    }
    assert_eq!(defects.len(), 1, "{context}: {defects:?}");
    assert_eq!(defects[0].0, expected, "{context}");
    // Of two members that don't fit each other, either may be named.
    let named = pointer(table.entry_type, path.trim_end_matches("_ref"));
    let stem = named.trim_end_matches("_digest");
    assert!(defects[0].1.starts_with(stem), "{context}: {defects:?}");
    assert_eq!(read, None, "{context}");
}

fn show(value: &Value<'_>) -> String {
    String::from_utf8(canonical(value)).unwrap()
}

fn at<'v>(value: &'v Value<'static>, path: &str) -> &'v Value<'static> {
    path.split('/').fold(value, |value, step| match value {
        Value::Array(elements) => &elements[step.parse::<usize>().unwrap()],
        value => value.as_object().unwrap().get(step).unwrap(),
    })
}

#[test]
fn every_type_has_a_table_and_every_member_a_row() {
    let types: Vec<_> = TABLES.iter().map(|table| table.entry_type).collect();
    assert_eq!(types, EntryType::ALL);
    for table in TABLES {
        let mut paths = Vec::new();
        if table.entry_type == EntryType::Freeze {
            paths.extend(["hash".to_owned(), "plan".to_owned()]);
        } else {
            member_paths(&json(table.sample), "", &mut paths);
        }
        let rows: Vec<_> = table.rows.iter().map(|row| row.0.to_owned()).collect();
        assert_eq!(rows, paths, "{}", table.entry_type);
    }
}

/// The paths of all members; of arrays the first element speaks for all.
fn member_paths(value: &Value<'_>, path: &str, out: &mut Vec<String>) {
    if let Some(first) = value.as_array().and_then(|elements| elements.first()) {
        member_paths(first, &format!("{path}/0"), out);
    }
    for (name, member) in value.as_object().into_iter().flat_map(Object::iter) {
        let path = format!("{path}/{name}");
        out.push(path.trim_start_matches('/').to_owned());
        member_paths(member, &path, out);
    }
}

#[test]
fn whole_payloads_are_read_and_written() {
    for table in TABLES {
        let sample = json(table.sample);
        let (read, defects) = read_within(&line(table.entry_type, &sample), &Limits::DEFAULT);
        assert_eq!(defects, [], "{}", table.entry_type);
        assert_eq!(read.as_ref(), sample.as_object(), "{}", table.entry_type);
    }
}

#[test]
fn members_that_may_be_null_may_be_null() {
    for (entry_type, paths) in [
        (EntryType::ExecutorExit, &["exit_code", "node"][..]),
        (EntryType::Verdict, &["exit_code"]),
        (EntryType::Probe, &["exit_code", "output_digest"]),
        (EntryType::PlanSuperseded, &["changed_fences/0/from", "changed_tests/0/from"]),
        (EntryType::Dispatch, &["input/0/prior_failure"]),
    ] {
        let table = TABLES.iter().find(|table| table.entry_type == entry_type).unwrap();
        for path in paths {
            let payload = edited(table, path, Some(Value::Null));
            let (read, defects) = read_within(&line(entry_type, &payload), &Limits::DEFAULT);
            assert_eq!((read.as_ref(), defects), (payload.as_object(), Vec::new()), "{path}");
        }
    }
}

#[test]
fn absent_mistyped_and_wrong_members() {
    for table in TABLES {
        for &(path, absent, mistyped, wrong) in table.rows {
            check(table, path, None, absent);
            let other_type = match at(&json(table.sample), path) {
                Value::Object(_) => Value::Integer(7),
                _ => Value::Object(Object::new()),
            };
            // An empty object where an object or null may stand lacks its members.
            if mistyped != "J.MISSING_FIELD" {
                check(table, path, Some(other_type), mistyped);
            }
            for (value, code) in wrong {
                check(table, path, Some(json(value)), code);
            }
        }
    }
}

#[test]
fn unknown_members_are_refused_at_every_level_and_ext_is_an_object() {
    for table in TABLES {
        let ext = edited(table, "ext", Some(json(r#"{"any":[{}]}"#)));
        let (read, defects) = read_within(&line(table.entry_type, &ext), &Limits::DEFAULT);
        assert_eq!(defects, [], "{}", table.entry_type);
        assert_eq!(read.as_ref(), json(table.sample).as_object());
        check(table, "ext", Some(Value::Null), "J.TYPE");
        check(table, "zz", Some(Value::Null), "J.UNKNOWN_FIELD");
        for (path, ..) in table.rows {
            let inner = at(&json(table.sample), path).as_object().is_some();
            if inner && table.entry_type != EntryType::Freeze {
                check(table, &format!("{path}/ext"), Some(json("{}")), "J.UNKNOWN_FIELD");
            }
        }
        for (path, ..) in table.rows.iter().filter(|row| row.0.contains("/0/")) {
            let (row, _) = path.rsplit_once("/0/").unwrap();
            check(table, &format!("{row}/0/zz"), Some(json("{}")), "J.UNKNOWN_FIELD");
        }
    }
}

#[test]
fn arrays_have_a_limit() {
    let limits = Limits { elements: 2, ..Limits::DEFAULT };
    for (entry_type, path, elements) in ARRAYS {
        let table = TABLES.iter().find(|table| table.entry_type == *entry_type).unwrap();
        let payload = edited(table, path, Some(json(elements)));
        let (read, defects) = read_within(&line(*entry_type, &payload), &limits);
        assert_eq!(defects, [("IN.LIMIT_COUNT", pointer(*entry_type, path))]);
        assert_eq!(read, None);
    }
}

#[test]
fn all_defects_are_noted() {
    let payload = json(r#"{"node":"","reason":1,"zz":0}"#);
    let (_, defects) = read_within(&line(EntryType::Trip, &payload), &Limits::DEFAULT);
    let codes: Vec<_> = defects.iter().map(|(code, at)| format!("{code} {at}")).collect();
    let expected = [
        "J.ENUM /body/p/node",
        "J.TYPE /body/p/reason",
        "J.MISSING_FIELD /body/p/history",
        "J.UNKNOWN_FIELD /body/p/zz",
    ];
    assert_eq!(codes, expected);
}

/// What `read` makes of the payload of a line without defects.
fn with_payload(entry_type: EntryType, payload: &Value<'static>, read: impl FnOnce(&Payload<'_>)) {
    let line = line(entry_type, payload);
    let mut defects = Defects::new();
    let reading = Entry::read(&line, &Limits::DEFAULT, &mut defects);
    assert!(defects.is_empty(), "{defects:?}");
    read(reading.entry().unwrap().payload.as_ref().unwrap());
}

#[test]
fn one_node_may_stand_in_place_of_nodes() {
    let table = &TABLES[1];
    let rows = json(r#"[{"desc":"","node":"n1","prior_failure":null}]"#);
    let scalar = edit(edited(table, "nodes", None), &["input"], Some(rows));
    let scalar = edit(scalar, &["node"], Some("n1".into()));
    with_payload(EntryType::Dispatch, &scalar, |payload| {
        let Payload::Dispatch(dispatch) = payload else { panic!() };
        assert_eq!(dispatch.nodes, DispatchNodes::Scalar("n1"));
        assert_eq!(Some(&payload.to_object()), scalar.as_object());
    });
    let malformed = edit(scalar, &["node"], Some(Value::Null));
    with_payload(EntryType::Dispatch, &malformed, |payload| {
        let Payload::Dispatch(dispatch) = payload else { panic!() };
        assert_eq!(dispatch.nodes, DispatchNodes::Malformed);
    });
    // Beside `nodes` it is a member that nobody knows.
    check(table, "node", Some("n1".into()), "J.UNKNOWN_FIELD");
}

#[test]
fn input_has_a_row_per_node_in_their_order() {
    let table = &TABLES[1];
    for nodes in [r#"["n0","n1"]"#, r#"["n1"]"#, r#"["n1","n0","n2"]"#] {
        let payload = edited(table, "nodes", Some(json(nodes)));
        let (read, defects) = read_within(&line(EntryType::Dispatch, &payload), &Limits::DEFAULT);
        assert_eq!(defects, [("J.ENUM", "/body/p/input".to_owned())], "{nodes}");
        assert_eq!(read, None);
    }
}

#[test]
fn what_rules_need_is_told_apart() {
    with_payload(EntryType::Freeze, &json(r#"{"plan":{"b":1,"a":2}}"#), |payload| {
        let Payload::Freeze { hash, embedded, plan } = payload else { panic!() };
        let plan_hash = Digest::of(b"gad/1/plan\0{\"a\":2,\"b\":1}");
        assert_eq!((hash, embedded), (&None, &Some(plan_hash)));
        let freeze = Payload::freeze(plan.unwrap());
        let expected = Payload::Freeze { hash: *embedded, embedded: *embedded, plan: *plan };
        assert_eq!(freeze, expected);
    });
    let exit = edited(&TABLES[2], "node", Some(Value::Null));
    with_payload(EntryType::ExecutorExit, &exit, |payload| {
        let Payload::ExecutorExit(exit) = payload else { panic!() };
        assert_eq!(exit.node, NodeOrNull::Null);
    });
    for class in ["class", "effective_class", "evidence_class"] {
        let payload = edited(&TABLES[8], class, Some("proxy".into()));
        with_payload(EntryType::Verdict, &payload, |payload| {
            let Payload::Verdict(verdict) = payload else { panic!() };
            assert!(verdict.declares_class);
        });
    }
    let contrary = edited(&TABLES[11], "decision", Some("refuse".into()));
    with_payload(EntryType::Approval, &contrary, |payload| {
        let Payload::Approval(answer) = payload else { panic!() };
        assert_eq!(answer.decision, Some(Decision::Refuse));
    });
}
