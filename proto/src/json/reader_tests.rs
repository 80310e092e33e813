//! The reader, refusal by refusal.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::fmt::Write as _;

use super::*;

/// Code, offset and pointer of the refusal under the default limits.
#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, code: &str, offset: usize, pointer: &str) {
    let bytes = bytes.as_ref();
    let error = parse(bytes, &ReadLimits::DEFAULT).unwrap_err();
    let found = (error.code(), error.offset, error.pointer.as_str());
    assert_eq!(found, (code, Some(offset), pointer), "{}", String::from_utf8_lossy(bytes));
}

#[track_caller]
fn integer(text: &str) -> i64 {
    parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap().as_integer().unwrap()
}

#[test]
fn grammar() {
    refused("", "J.SYNTAX", 0, "");
    refused(" ", "J.SYNTAX", 1, "");
    refused("{", "J.SYNTAX", 1, "");
    refused("[", "J.SYNTAX", 1, "/0");
    refused("[1", "J.SYNTAX", 2, "");
    refused("[1,]", "J.SYNTAX", 3, "/1");
    refused("[,1]", "J.SYNTAX", 1, "/0");
    refused("[1 2]", "J.SYNTAX", 3, "");
    refused("[1}", "J.SYNTAX", 2, "");
    refused(r#"{"a":1,}"#, "J.SYNTAX", 7, "");
    refused(r#"{"a" 1}"#, "J.SYNTAX", 5, "");
    refused(r#"{"a":}"#, "J.SYNTAX", 5, "/a");
    refused("{1:2}", "J.SYNTAX", 1, "");
    refused("{a:1}", "J.SYNTAX", 1, "");
    refused("1 2", "J.SYNTAX", 2, "");
    refused("{}x", "J.SYNTAX", 2, "");
    refused("{}\0", "J.SYNTAX", 2, "");
    refused("/**/1", "J.SYNTAX", 0, "");
    refused("[1]//", "J.SYNTAX", 3, "");
    refused("'a'", "J.SYNTAX", 0, "");
    refused("tru", "J.SYNTAX", 0, "");
    refused("True", "J.SYNTAX", 0, "");
    refused("nulll", "J.SYNTAX", 4, "");
    refused("\u{a0}1", "J.SYNTAX", 0, "");
    refused("1\u{c}", "J.SYNTAX", 1, "");
}

#[test]
fn strings() {
    refused(r#"["a"#, "J.SYNTAX", 1, "/0");
    refused("\"a\nb\"", "J.SYNTAX", 2, "");
    refused("\"a\0\"", "J.SYNTAX", 2, "");
    refused("\"a\x1f\"", "J.SYNTAX", 2, "");
    refused(r#""\x""#, "J.SYNTAX", 1, "");
    refused(r#""\U0041""#, "J.SYNTAX", 1, "");
    refused(r#""\u00g0""#, "J.SYNTAX", 1, "");
    refused(r#""\u+041""#, "J.SYNTAX", 1, "");
    refused(r#""\u004""#, "J.SYNTAX", 1, "");
    refused(r#""\u"#, "J.SYNTAX", 1, "");
    refused(r#""\"#, "J.SYNTAX", 1, "");
    refused("\"\\ué000\"", "J.SYNTAX", 1, "");
    let text = r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude02\u0000""#;
    let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
    assert_eq!(value.as_str(), Some("\"\\/\u{8}\u{c}\n\r\tAé€😂\0"));
}

#[test]
fn lone_surrogates() {
    refused(r#"["\ud83d"]"#, "J.LONE_SURROGATE", 2, "/0");
    refused(r#"["\ude02"]"#, "J.LONE_SURROGATE", 2, "/0");
    refused(r#"["x\ud83dx"]"#, "J.LONE_SURROGATE", 3, "/0");
    refused(r#"["\ud83d\u0041"]"#, "J.LONE_SURROGATE", 2, "/0");
    refused(r#"["\ud83d\ud83d\ude02"]"#, "J.LONE_SURROGATE", 2, "/0");
    refused(r#"["\ude02\ud83d"]"#, "J.LONE_SURROGATE", 2, "/0");
    refused(r#"["\ud83d\n"]"#, "J.LONE_SURROGATE", 2, "/0");
    refused(r#"{"\ud83d":1}"#, "J.LONE_SURROGATE", 2, "");
}

#[test]
fn numbers() {
    for (text, number) in [
        ("0", 0),
        ("-1", -1),
        ("9007199254740991", MAX_INTEGER),
        ("-9007199254740991", -MAX_INTEGER),
    ] {
        assert_eq!(integer(text), number);
    }
    for text in ["1.0", "1e3", "1E3", "1e+3", "1e-3", "0.0", "-0.0", "-0e0", "0e1", "1.5e300"] {
        refused(text, "J.NON_INTEGER", 0, "");
    }
    for text in ["NaN", "Infinity", "-Infinity", "-NaN"] {
        refused(text, "J.NON_INTEGER", 0, "");
    }
    refused(r#"{"a":[-0]}"#, "J.NEG_ZERO", 6, "/a/0");
    for text in ["9007199254740992", "-9007199254740992", "18446744073709551617"] {
        refused(text, "J.INT_RANGE", 0, "");
    }
    refused("9".repeat(100_000), "J.INT_RANGE", 0, "");
    for text in ["00", "01", "-01", "-00", "00.5"] {
        refused(text, "J.SYNTAX", 0, "");
    }
    for (text, offset) in
        [("-", 1), ("+1", 0), (".5", 0), ("1.", 2), ("1e", 2), ("1e+", 3), ("-a", 1)]
    {
        refused(text, "J.SYNTAX", offset, "");
    }
    refused("1.x", "J.SYNTAX", 2, "");
    refused("0x10", "J.SYNTAX", 1, "");
}

#[test]
fn encoding_comes_before_grammar() {
    refused(b"\xef\xbb\xbf{}", "J.BOM", 0, "");
    refused(b"{\"a\":[1,\"x\xff\"]}", "J.UTF8", 10, "/a/1");
    refused(b"]\xc0\xaf", "J.UTF8", 1, "");
    refused(b"\"\xed\xa0\x80\"", "J.UTF8", 1, "");
    refused(b"\xff\xfe1\0", "J.UTF8", 0, "");
    refused(b"1\xf5", "J.UTF8", 1, "");
    // Inside a string U+FEFF is a character like any other.
    assert_eq!(
        parse("\"\u{feff}\"".as_bytes(), &ReadLimits::DEFAULT).unwrap().as_str(),
        Some("\u{feff}")
    );
}

#[test]
fn repeated_names() {
    refused(r#"{"a":1,"a":2}"#, "J.DUP_KEY", 7, "/a");
    refused(r#"{"a":1,"\u0061":2}"#, "J.DUP_KEY", 7, "/a");
    refused(r#"{"b":1,"a":2,"b":3}"#, "J.DUP_KEY", 13, "/b");
    refused(r#"[{"x":{"c":[],"b":{"z":1,"a":"}"},"a":0, "b" :1}}]"#, "J.DUP_KEY", 41, "/0/x/b");
    refused(r#"{"":1,"":2}"#, "J.DUP_KEY", 6, "/");
    // Two names repeat: the one that repeats first is named.
    refused(r#"{"z":1,"a":2,"z":3,"a":4}"#, "J.DUP_KEY", 13, "/z");
    // Names that differ only by normalisation are different names.
    let any = ReadLimits::DEFAULT.with_names(MemberNames::Any);
    assert!(parse("{\"\u{e9}\":1,\"e\u{301}\":2}".as_bytes(), &any).is_ok());
    assert!(parse(br#"{"a":{"a":{"a":1}}}"#, &ReadLimits::DEFAULT).is_ok());
}

#[test]
fn repeated_names_of_large_objects_cost_no_quadratic_work() {
    // In falling order, so that every insertion into a sorted list would move all others; long
    // common prefixes, so that comparing is dear. Quadratic work would take minutes here.
    let prefix = "p".repeat(40);
    let mut text = String::from("{");
    for number in (0..200_000).rev() {
        write!(text, "\"{prefix}{number:06}\":0,").unwrap();
    }
    let last = format!("\"{prefix}199999\":0}}");
    let unique = format!("{text}\"\":0}}");
    let repeated = format!("{text}{last}");
    let limits = ReadLimits::DEFAULT.with_bytes(1 << 24);
    assert_eq!(parse(unique.as_bytes(), &limits).unwrap().as_object().unwrap().len(), 200_001);
    let error = parse(repeated.as_bytes(), &limits).unwrap_err();
    assert_eq!(error.code, JsonCode::DupKey);
    assert_eq!(error.offset, Some(text.len()));
}

#[test]
fn depth() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let at = |depth: usize, limit: usize| {
        let limits = ReadLimits::DEFAULT.with_depth(limit);
        parse(nested(depth).as_bytes(), &limits)
            .map(drop)
            .map_err(|error| (error.code, error.offset))
    };
    assert_eq!(parse(b"1", &ReadLimits::DEFAULT.with_depth(0)).unwrap(), Value::Integer(1));
    assert_eq!(at(1, 0), Err((JsonCode::Depth, Some(0))));
    assert_eq!(at(1, 1), Ok(()));
    assert_eq!(at(64, 64), Ok(()));
    assert_eq!(at(65, 64), Err((JsonCode::Depth, Some(64))));
    let objects = format!("{}{{}}{}", r#"{"a":"#.repeat(63), "}".repeat(63));
    assert!(parse(objects.as_bytes(), &ReadLimits::DEFAULT).is_ok());
    let objects = format!(r#"{{"a":{objects}}}"#);
    assert_eq!(parse(objects.as_bytes(), &ReadLimits::DEFAULT).unwrap_err().code, JsonCode::Depth);
}

#[test]
fn no_caller_can_ask_for_a_stack_overflow() {
    // On a quarter of the stack that threads get, at the deepest nesting of mixed containers.
    let half = ReadLimits::HARD_DEPTH / 2;
    let text = format!("{}1{}", r#"[{"ext":"#.repeat(half), "}]".repeat(half));
    let deeper = format!("[{text}]");
    let hostile = "[".repeat(100_000);
    let unlimited = ReadLimits::DEFAULT.with_depth(usize::MAX);
    let work = move || {
        let value = parse(text.as_bytes(), &unlimited).unwrap();
        assert_eq!(canonical(&value), text.as_bytes());
        assert_eq!(value.clone().into_owned(), value);
        assert_eq!(parse(deeper.as_bytes(), &unlimited).unwrap_err().code, JsonCode::Depth);
        assert_eq!(parse(hostile.as_bytes(), &unlimited).unwrap_err().code, JsonCode::Depth);
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn bytes_and_values() {
    let limits = ReadLimits::DEFAULT.with_bytes(3).with_values(3);
    assert!(parse(b"[1]", &limits).is_ok());
    let error = parse(b"[1] ", &limits).unwrap_err();
    assert_eq!((error.code(), error.offset), ("IN.LIMIT_BYTES", Some(3)));
    assert!(error.is_too_large());
    let limits = limits.with_bytes(99);
    assert!(parse(b"[1,2]", &limits).is_ok());
    let error = parse(br#"[1,{"a":2}]"#, &limits).unwrap_err();
    assert_eq!(
        (error.code(), error.offset, error.pointer.as_str()),
        ("IN.LIMIT_COUNT", Some(8), "/1/a")
    );
}

#[test]
fn names_are_ascii_outside_ext() {
    refused("{\"é\":1}", "J.NAME_FORM", 1, "/é");
    refused(r#"{"a":{"\u00e9":1}}"#, "J.NAME_FORM", 6, "/a/é");
    refused("{\"ext\":[{\"é\":1}]}", "J.NAME_FORM", 9, "/ext/0/é");
    refused("{\"ext\":{\"é\":1},\"é\":1}", "J.NAME_FORM", 16, "/é");
    for text in [
        "{\"ext\":{\"é\":1}}",
        "{\"ext\" : {\"a\":[{\"é\":{\"ü\":1}}]}}",
        "{\"\\u0065xt\":{\"é\":1}}",
        "[{\"a\":{\"ext\":{\"ext\":{},\"é\":1}}}]",
        "{\"a\":\"é\"}",
    ] {
        assert!(parse(text.as_bytes(), &ReadLimits::DEFAULT).is_ok(), "{text}");
    }
    let any = ReadLimits::DEFAULT.with_names(MemberNames::Any);
    assert!(parse("{\"é\":1}".as_bytes(), &any).is_ok());
}

#[test]
fn canonical_bytes_are_recognised_with_the_first_deviation() {
    for text in
        ["{}", "[]", "0", "-1", "\"é/\\u001f\\n\\\"\"", r#"{"":1,"a":[{"b":null}],"aa":true}"#]
    {
        let document = read(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        assert_eq!(document.noncanonical_at, None, "{text}");
        assert_eq!(parse_canonical(text.as_bytes(), &ReadLimits::DEFAULT).unwrap(), document.value);
    }
    for (text, offset) in [
        (" 0", 0),
        ("0\n", 1),
        ("[ ]", 1),
        ("[1, 2]", 3),
        (r#"{"a": 1}"#, 5),
        (r#"{"b":1,"a":2}"#, 7),
        (r#"{"b":{"d":1,"c":1},"a":2}"#, 12),
        (r#""a\/""#, 2),
        (r#""\u0041""#, 1),
        (r#""\u000a""#, 1),
        (r#""\u001F""#, 1),
        (r#""\u007f""#, 1),
        (r#""\ud83d\ude02""#, 1),
    ] {
        let error = parse_canonical(text.as_bytes(), &ReadLimits::DEFAULT).unwrap_err();
        assert_eq!((error.code, error.offset), (JsonCode::Noncanonical, Some(offset)), "{text}");
    }
    // Other defects keep their own code.
    let error = parse_canonical(b" [1.0]", &ReadLimits::DEFAULT).unwrap_err();
    assert_eq!(error.code, JsonCode::NonInteger);
}

#[test]
fn pointers_are_escaped_and_bounded() {
    refused(r#"{"a/b~c":[0,-0]}"#, "J.NEG_ZERO", 12, "/a~1b~0c/1");
    let name = "n".repeat(MAX_POINTER_BYTES);
    let error = parse(format!(r#"{{"a":{{"{name}":[-0]}}}}"#).as_bytes(), &ReadLimits::DEFAULT)
        .unwrap_err();
    assert_eq!((error.code, error.pointer.as_str()), (JsonCode::NegZero, "/a"));
}

#[test]
fn text_without_escapes_is_borrowed() {
    let value = parse(r#"["plain é","esc\n"]"#.as_bytes(), &ReadLimits::DEFAULT).unwrap();
    let borrowed: Vec<_> = value
        .as_array()
        .unwrap()
        .iter()
        .map(|element| matches!(element, Value::String(std::borrow::Cow::Borrowed(_))))
        .collect();
    assert_eq!(borrowed, [true, false]);
}
