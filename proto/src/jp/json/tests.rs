//! The reader against its bounds, against the canonical vectors and against `serde_json`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

use proptest::prelude::*;

use super::*;
use crate::jp::canon::{canon, literal};
use crate::jp::fault::{Faults, Phase, RefusalCode, Rule};

fn rule(text: &str, bounds: &Bounds) -> Option<Rule> {
    read(text.as_bytes(), bounds).err().map(|fault| fault.rule)
}

/// Small enough to be met and crossed by hand.
const SMALL: Bounds = Bounds {
    bytes: 64,
    levels: 3,
    members: 2,
    elements: 2,
    string: 4,
    number: 5,
    numbers: Numbers::Integers,
};

#[test]
fn every_bound_at_it_and_over_it() {
    for (at, over, expected) in [
        (" ".repeat(63) + "1", " ".repeat(64) + "1", Rule::Bytes),
        ("[[[]]]".into(), "[[[[]]]]".into(), Rule::Nesting),
        (r#"{"a":1,"b":2}"#.into(), r#"{"a":1,"b":2,"c":3}"#.into(), Rule::Count),
        ("[1,2]".into(), "[1,2,3]".into(), Rule::Count),
        (r#""abcd""#.into(), r#""abcde""#.into(), Rule::Count),
        (r#"{"\u00e9\u00e9":1}"#.into(), r#"{"\u00e9\u00e9a":1}"#.into(), Rule::Count),
        ("12345".into(), "123456".into(), Rule::Count),
    ] {
        assert_eq!(rule(&at, &SMALL), None, "{at}");
        assert_eq!(rule(&over, &SMALL), Some(expected), "{over}");
    }
}

#[test]
fn the_bounds_of_the_rfc() {
    for (bounds, bytes, levels) in [
        (Bounds::WORKFLOW, 262_144, 64),
        (Bounds::SELECTION, 65_536, 64),
        (Bounds::OUTPUT, 65_536, 64),
        (Bounds::CASE, 1_048_576, 32),
        (Bounds::SET, 8_388_608, 64),
        (Bounds::EXECUTION, 8_388_608, 64),
    ] {
        assert_eq!((bounds.bytes, bounds.levels), (bytes, levels));
        assert_eq!((bounds.members, bounds.elements), (4096, 4096));
        assert_eq!((bounds.string, bounds.number), (65_536, 128));
        let nested = |count| "[".repeat(count) + &"]".repeat(count);
        assert_eq!(rule(&nested(levels), &bounds), None);
        assert_eq!(rule(&nested(levels + 1), &bounds), Some(Rule::Nesting));
        let padded = |count: usize| " ".repeat(count - 1) + "1";
        assert_eq!(rule(&padded(bytes), &bounds), None);
        assert_eq!(rule(&padded(bytes + 1), &bounds), Some(Rule::Bytes));
    }
    let list = |count: usize| format!("[{}]", vec!["0"; count].join(","));
    assert_eq!(rule(&list(4096), &Bounds::SET), None);
    assert_eq!(rule(&list(4097), &Bounds::SET), Some(Rule::Count));
    let members = |count: usize| {
        let members: Vec<String> = (0..count).map(|number| format!("\"{number}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert_eq!(rule(&members(4096), &Bounds::SET), None);
    assert_eq!(rule(&members(4097), &Bounds::SET), Some(Rule::Count));
    let string = |count: usize| format!("\"{}\"", "x".repeat(count));
    assert_eq!(rule(&string(65_536), &Bounds::CASE), None);
    assert_eq!(rule(&string(65_537), &Bounds::CASE), Some(Rule::Count));
    let any = Bounds { numbers: Numbers::Any, ..Bounds::CASE };
    let number = |count: usize| format!("0.{}", "1".repeat(count - 2));
    assert_eq!(rule(&number(128), &any), None);
    assert_eq!(rule(&number(129), &any), Some(Rule::Count));
}

#[test]
fn what_is_no_strict_json() {
    for text in [
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "[1 2]",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "tru",
        "nul",
        "NaN",
        "'a'",
        "\"\t\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\\ud800\"",
        "\"a",
        "{\"a\" 1}",
        "{a:1}",
        "1 2",
        "\u{feff}1",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"b\":{\"a\":1,\"c\":2,\"a\":3}}",
        "[]]",
        "/**/1",
    ] {
        assert_eq!(rule(text, &Bounds::FOREIGN), Some(Rule::Json), "{text}");
    }
    assert_eq!(read(b"\"\xff\"", &Bounds::FOREIGN).unwrap_err().rule, Rule::Json);
}

#[test]
fn the_domain_of_integers() {
    for inside in ["0", "-0", "9007199254740991", "-9007199254740991"] {
        assert_eq!(rule(inside, &Bounds::CASE), None, "{inside}");
    }
    let long = "1".repeat(200);
    for outside in ["9007199254740992", "-9007199254740992", "1.0", "1e0", "1E+2", &long] {
        assert_eq!(rule(outside, &Bounds::CASE), Some(Rule::Domain), "{outside}");
        assert_eq!(rule(outside, &Bounds::FOREIGN), None, "{outside}");
    }
}

#[test]
fn an_earlier_phase_counts_wherever_it_stands() {
    // The string is over its bound long before the number leaves the domain.
    let text = r#"["abcde",1.5]"#;
    let mut faults = Faults::new();
    assert!(read_into(text.as_bytes(), &SMALL, &mut faults).is_some());
    assert_eq!(faults.first().map(|fault| fault.rule), Some(Rule::Domain));
    // And so does a missing bracket.
    assert_eq!(rule(r#"["abcde",1"#, &SMALL), Some(Rule::Json));
    assert_eq!(Rule::Count.phase(), Phase::Counts);
    assert_eq!(Rule::Nesting.phase().code(), RefusalCode::InputOverBound);
}

#[test]
fn raw_members_are_bytes_of_the_document() {
    let text =
        br#" { "a" : {"x":"}","run":{"audit" : { "k" : "<\u0026>" , "n":-0 } , "z":1}} , "b":2 }"#;
    let raw = raw_member(text, &["a", "run", "audit"]).unwrap();
    assert_eq!(raw, br#"{ "k" : "<\u0026>" , "n":-0 }"#);
    assert_eq!(raw_member(text, &["b"]), Some(&b"2"[..]));
    assert_eq!(raw_member(text, &["a", "absent"]), None);
    assert_eq!(raw_member(text, &["b", "c"]), None);
}

fn json_like() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\"a\"",
        "\"b\":",
        "\"\\u0061\":",
        "\"<\\ud83d\\ude02\\n\"",
        "\"\\ud83d\"",
        "0",
        "-0",
        "1",
        "1.50",
        "1e3",
        "-9007199254740992",
        "true",
        "null",
        "é",
        "\u{0}",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12).prop_map(|all| all.concat())
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(serde_json::Value::from),
        "[\\x00-\\x30<>&é\u{2028}\u{1f602}\"\\\\]{0,12}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn canon_is_what_serde_json_writes_of_sorted_members(value in any_json()) {
        let text = serde_json::to_string(&value).unwrap();
        let read_back = read(text.as_bytes(), &Bounds::CASE).unwrap();
        // serde_json keeps members in byte order and has the same escapes.
        prop_assert_eq!(String::from_utf8(canon(&read_back).unwrap()).unwrap(), text.clone());
        let literal = literal(&read_back);
        prop_assert_eq!(read(&literal, &Bounds::CASE).unwrap(), read_back);
        prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&literal).unwrap(), value);
    }

    #[test]
    fn whatever_is_read_is_json_and_has_fixed_points(text in json_like()) {
        if let Ok(value) = read(text.as_bytes(), &Bounds::FOREIGN) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
            let written = literal(&value);
            prop_assert_eq!(&read(&written, &Bounds::FOREIGN).unwrap(), &value);
            if let Ok(canonical) = canon(&value) {
                let again = read(&canonical, &Bounds::FOREIGN).unwrap();
                prop_assert_eq!(canon(&again).unwrap(), canonical);
            }
        }
    }
}
