#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use super::*;
use crate::json::{MemberNames, ReadLimits, parse};

const RULE: FormCode = FormCode::Rule("RULE");

/// What `read` makes of a document, and the defects as "code pointer".
fn reading<T>(
    text: &str,
    read: impl FnOnce(Cell<'_, '_>) -> Option<T>,
) -> (Option<T>, Vec<String>) {
    let value = parse(text.as_bytes(), &ReadLimits::DEFAULT.with_names(MemberNames::Any)).unwrap();
    let mut defects = Defects::new();
    let read = read(Cell::new(&value, &At::root(""), &mut defects));
    let shown = |defect: &Defect| format!("{} {}", defect.code.as_str(), defect.pointer);
    (read, defects.list().iter().map(shown).collect())
}

fn defects<T>(text: &str, read: impl FnOnce(Cell<'_, '_>) -> Option<T>) -> Vec<String> {
    reading(text, read).1
}

#[test]
fn all_defects_of_an_object_are_noted() {
    let read = |cell: Cell<'_, '_>| {
        cell.object(|reader| {
            reader.allow_ext();
            let (seq, digest) = (reader.seq("seq"), reader.digest("digest"));
            let time = reader.time("time");
            let absent = reader.id("absent");
            Some((seq?, digest?, time?, absent?.len()))
        })
    };
    let text = r#"{"ext":1,"seq":-1,"digest":"sha256:","time":0,"b~/":1,"a":2}"#;
    assert_eq!(
        defects(text, read),
        [
            "J.TYPE /ext",
            "J.ENUM /seq",
            "J.DIGEST_FORM /digest",
            "J.TYPE /time",
            "J.MISSING_FIELD /absent",
            "J.UNKNOWN_FIELD /a",
            "J.UNKNOWN_FIELD /b~0~1",
        ]
    );
    assert_eq!(defects("[]", read), ["J.TYPE "]);
}

#[test]
fn a_code_of_the_table_stands_for_everything_inside() {
    let read = |cell: Cell<'_, '_>| {
        cell.object(|reader| {
            reader.required(("m", RULE), |cell| {
                cell.object(|inner| {
                    inner.allow_ext();
                    let rows = inner.required("rows", |cell| {
                        cell.list(2, |cell| cell.object(|row| row.text("t", 1..=2).map(drop)))
                    });
                    inner.optional("o", |cell| cell.boolean());
                    rows
                })
            })
        })
    };
    assert_eq!(defects("{}", read), ["RULE /m"]);
    assert_eq!(defects(r#"{"m":1}"#, read), ["RULE /m"]);
    assert_eq!(
        defects(r#"{"m":{"ext":1,"o":1,"rows":[{"t":"abc"},{"u":1}],"x":1}}"#, read),
        [
            "RULE /m/ext",
            "RULE /m/rows/0/t",
            "RULE /m/rows/1/t",
            "RULE /m/rows/1/u",
            "RULE /m/o",
            "RULE /m/x"
        ]
    );
    // A limit is a limit whatever it is a limit of.
    assert_eq!(defects(r#"{"m":{"rows":[1,2,3]}}"#, read), ["IN.LIMIT_COUNT /m/rows"]);
}

#[test]
fn a_code_for_absence_alone_leaves_the_rest_to_the_form() {
    let read = |cell: Cell<'_, '_>| {
        cell.object(|reader| reader.declared("m", RULE, |cell| cell.boolean()))
    };
    assert_eq!(defects("{}", read), ["RULE /m"]);
    assert_eq!(defects(r#"{"m":1}"#, read), ["J.TYPE /m"]);
    let uncoded = |cell: Cell<'_, '_>| {
        cell.object(|reader| reader.required(("m", RULE), |cell| cell.uncoded().boolean()))
    };
    assert_eq!(defects("{}", uncoded), ["RULE /m"]);
    assert_eq!(defects(r#"{"m":1}"#, uncoded), ["J.TYPE /m"]);
}

#[test]
fn sets_ascend_and_lists_are_read_to_their_end() {
    let set = |cell: Cell<'_, '_>| cell.seqs();
    assert_eq!(reading("[]", set).0, Some(vec![]));
    assert_eq!(reading("[0,3,9007199254740991]", set).0.unwrap().len(), 3);
    for wrong in ["[1,1]", "[2,1]"] {
        assert_eq!(defects(wrong, set), ["J.ENUM "]);
    }
    assert_eq!(defects(r#"[1,"a",-1,null]"#, set), ["J.TYPE /1", "J.ENUM /2", "J.TYPE /3"]);
    let few = |cell: Cell<'_, '_>| cell.list(1, |cell| cell.seq());
    assert_eq!(defects("[1,2]", few), ["IN.LIMIT_COUNT "]);
    // What was set wrong is judged again by the cell it was read with.
    let judged = |mut cell: Cell<'_, '_>| {
        let list = cell.reborrow().list(9, |cell| cell.seq())?;
        if list.is_empty() { cell.refuse(RULE) } else { Some(list) }
    };
    assert_eq!(defects("[]", judged), ["RULE "]);
}

#[test]
fn values_have_their_forms() {
    fn check<T>(text: &str, read: impl FnOnce(Cell<'_, '_>) -> Option<T>) -> String {
        let (value, defects) = reading(text, read);
        assert_eq!(value.is_some(), defects.is_empty(), "{text}");
        defects.join(",").trim_end().to_owned()
    }
    assert_eq!(check(r#""""#, |c| c.text(0..=1).map(drop)), "");
    assert_eq!(check(r#""é""#, |c| c.text(0..=1).map(drop)), "J.ENUM", "bytes, not characters");
    assert_eq!(check(r#""a/b""#, |c| c.path().map(drop)), "");
    assert_eq!(check(r#""../b""#, |c| c.path().map(drop)), "J.ENUM");
    assert_eq!(check(r#""2026-02-28T00:00:00Z""#, |c| c.time()), "");
    assert_eq!(check(r#""2026-02-30T00:00:00Z""#, |c| c.time()), "J.TIME_FORM");
    assert_eq!(check(r#""AAAA""#, |c| c.base64::<3>()), "");
    assert_eq!(check(r#""AAA=""#, |c| c.base64::<3>()), "J.B64_FORM");
    assert_eq!(check(r#""AAAA""#, |c| c.base64::<4>()), "J.B64_FORM");
    assert_eq!(check(r#""AAB=""#, |c| c.base64::<2>()), "J.B64_FORM", "unused bits");
    assert_eq!(check("null", |c| c.nullable(|c| c.id()).map(drop)), "");
    assert_eq!(check("7", |c| c.nullable(|c| c.id()).map(drop)), "J.TYPE");
    assert_eq!(check("256", |c| c.integer(0..=255)), "J.ENUM");
    assert_eq!(check("9007199254740991", |c| c.seq()), "");
    let key = format!("\"gadk1:{}\"", "0".repeat(64));
    assert_eq!(check(&key, |c| c.key_id()), "");
    assert_eq!(check(&key.to_uppercase(), |c| c.key_id()), "J.DIGEST_FORM");
    assert_eq!(check(r#""x""#, |c| c.string_as(RULE, |_| None::<()>)), "RULE");
    assert_eq!(check("1", |c| c.string_as(RULE, |_| None::<()>)), "J.TYPE");
}

#[test]
fn members_far_back_in_a_crowd_are_never_known() {
    let crowd: Vec<_> = (0..64).map(|number| format!("\"a{number:02}\":0")).collect();
    let text = format!("{{{},\"z\":true}}", crowd.join(","));
    let read = |cell: Cell<'_, '_>| cell.object(|reader| reader.boolean("z"));
    let found = defects(&text, read);
    // All 64 before it, and the one that was asked for.
    assert_eq!(found.len(), 65);
    assert_eq!(found.last().unwrap(), "J.UNKNOWN_FIELD /z");
}

#[test]
fn hostile_documents_cannot_blow_up_a_report() {
    let list = format!("[{}0]", "0,".repeat(MAX_DEFECTS + 10));
    let value = parse(list.as_bytes(), &ReadLimits::DEFAULT).unwrap();
    let mut defects = Defects::new();
    let at = At::root("");
    assert_eq!(Cell::new(&value, &at, &mut defects).list(usize::MAX, |c| c.boolean()), None);
    assert_eq!((defects.list().len(), defects.omitted()), (MAX_DEFECTS, 11));
    assert!(defects.refuses_form() && !defects.is_empty());

    let name = "~".repeat(100_000);
    let found = self::defects(&format!("{{\"{name}\":1}}"), |cell| cell.object(|_| Some(())));
    assert_eq!(found[0].len(), "J.UNKNOWN_FIELD /".len() + 2 * 128);
}

#[test]
fn only_the_strict_form_refuses_the_form() {
    let mut defects = Defects::new();
    defects.push(RULE, &At::root("/a").element(3).member("b"));
    assert!(!defects.refuses_form());
    assert_eq!(defects.list()[0].pointer, "/a/3/b");
    defects.push(JsonCode::Type, &At::root(""));
    assert!(defects.refuses_form());
}

#[test]
fn a_schema_is_told_before_anything_is_read() {
    let check = |text: &str| {
        defects(text, |mut cell| {
            let (value, at) = (cell.value(), At::root(""));
            let mut defects = Defects::new();
            let known = is_of_schema(value, "s/1", RULE, &at, &mut defects);
            assert_eq!(known, defects.is_empty());
            defects.list().iter().for_each(|defect| cell.pass_on(defect));
            Some(())
        })
    };
    assert_eq!(check(r#"{"schema":"s/1","x":1}"#), [""; 0]);
    assert_eq!(check(r#"{"schema":"s/2","x":1}"#), ["RULE /schema"]);
    assert_eq!(check(r#"{"schema":1}"#), ["J.TYPE /schema"]);
    assert_eq!(check("{}"), ["J.MISSING_FIELD /schema"]);
    assert_eq!(check("[]"), ["J.TYPE "]);
}
