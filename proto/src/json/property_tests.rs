//! Reader and writer against each other, against `serde_json`, and against hostile shapes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

use proptest::prelude::*;

use super::*;

const ANY_NAMES: ReadLimits = ReadLimits::DEFAULT.with_names(MemberNames::Any);

fn any_value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-MAX_INTEGER..=MAX_INTEGER).prop_map(Value::Integer),
        ".{0,12}".prop_map(Value::from),
        "[\\x00-\\x30\"\\\\]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Text that is JSON often enough: the alphabet is that of the grammar.
fn json_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just(":"),
        Just(" "),
        Just("\n"),
        Just("\""),
        Just("\"a\""),
        Just("\"b\""),
        Just("\"ext\""),
        Just("\\u0061"),
        Just("\\ud83d"),
        Just("\\ude02"),
        Just("\\n"),
        Just("0"),
        Just("-0"),
        Just("1"),
        Just("-7"),
        Just("1.0"),
        Just("1e3"),
        Just("9007199254740991"),
        Just("9007199254740992"),
        Just("true"),
        Just("null"),
        Just("é"),
        Just("\u{1f602}"),
        Just("\u{feff}"),
        Just("\0"),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Another spelling of the same value: white space everywhere, every character escaped.
fn respell(value: &Value<'_>, out: &mut String) {
    use std::fmt::Write as _;
    let string = |text: &str, out: &mut String| {
        out.push('"');
        for unit in text.encode_utf16() {
            write!(out, "\\u{unit:04X}").unwrap();
        }
        out.push('"');
    };
    out.push_str(" \t");
    match value {
        Value::String(text) => string(text, out),
        Value::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "\r," } else { "" });
                respell(element, out);
            }
            out.push_str("\n]");
        }
        Value::Object(object) => {
            out.push('{');
            let members: Vec<_> = object.iter().collect();
            for (at, (name, member)) in members.iter().rev().enumerate() {
                out.push_str(if at > 0 { "\n," } else { "" });
                string(name, out);
                out.push_str(" :");
                respell(member, out);
            }
            out.push_str(" }");
        }
        plain => out.push_str(&String::from_utf8(canonical(plain)).unwrap()),
    }
    out.push('\n');
}

/// The same value as `serde_json` sees it.
fn to_serde(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Integer(number) => (*number).into(),
        Value::String(text) => text.as_ref().into(),
        Value::Array(elements) => elements.iter().map(to_serde).collect(),
        Value::Object(object) => serde_json::Value::Object(
            object.iter().map(|(name, member)| (name.to_owned(), to_serde(member))).collect(),
        ),
    }
}

/// Whatever the bytes, the reader's promises hold.
fn check_promises(bytes: &[u8]) {
    match read(bytes, &ANY_NAMES) {
        Ok(Document { value, noncanonical_at }) => {
            let rewritten = canonical(&value);
            let common = bytes.iter().zip(&rewritten).take_while(|(one, two)| one == two).count();
            match noncanonical_at {
                None => assert_eq!(rewritten, bytes),
                Some(offset) => {
                    assert_ne!(rewritten, bytes);
                    assert!(offset < bytes.len());
                    // At the latest the departure shows in the last digit of the escape there.
                    assert!(common <= offset + 5, "{common} common bytes, departure at {offset}");
                }
            }
            assert_eq!(parse_canonical(&rewritten, &ANY_NAMES), Ok(value.clone()));
            assert_eq!(parse_canonical(bytes, &ANY_NAMES).is_ok(), noncanonical_at.is_none());
            let theirs: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            assert_eq!(theirs, to_serde(&value));
        }
        Err(error) => {
            assert!(error.offset.is_some_and(|offset| offset <= bytes.len()));
            assert!(error.pointer.len() <= MAX_POINTER_BYTES);
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(value in any_value()) {
        let bytes = canonical(&value);
        prop_assert_eq!(parse_canonical(&bytes, &ANY_NAMES).unwrap(), value);
    }

    #[test]
    fn every_spelling_has_one_canonical_form(value in any_value()) {
        let mut text = String::new();
        respell(&value, &mut text);
        let document = read(text.as_bytes(), &ANY_NAMES).unwrap();
        prop_assert_eq!(document.noncanonical_at, Some(0));
        prop_assert_eq!(canonical(&document.value), canonical(&value));
        check_promises(text.as_bytes());
    }

    #[test]
    fn random_bytes_keep_the_promises(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        check_promises(&bytes);
    }

    #[test]
    fn random_json_like_text_keeps_the_promises(text in json_like()) {
        check_promises(text.as_bytes());
    }

    #[test]
    fn damaged_documents_keep_the_promises(
        value in any_value(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut bytes = canonical(&value);
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes.splice(at..=at, [byte]); }
        check_promises(&bytes);
    }

    #[test]
    fn names_outside_ext_are_ascii_whatever_the_rest(value in any_value()) {
        let bytes = canonical(&value);
        let has_other = has_foreign_name(&value);
        match parse(&bytes, &ReadLimits::DEFAULT) {
            Ok(read) => { prop_assert!(!has_other); prop_assert_eq!(&read, &value) }
            Err(error) => { prop_assert!(has_other); prop_assert_eq!(error.code, JsonCode::NameForm) }
        }
        let wrapped = Value::from(Object::from([("ext", Object::from([("x", value)]))]));
        let bytes = canonical(&wrapped);
        prop_assert_eq!(parse(&bytes, &ReadLimits::DEFAULT).unwrap(), wrapped);
    }
}

fn has_foreign_name(value: &Value<'_>) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(has_foreign_name),
        Value::Object(object) => object.iter().any(|(name, member)| {
            !name.is_ascii()
                || (!(name == "ext" && member.as_object().is_some()) && has_foreign_name(member))
        }),
        _ => false,
    }
}
