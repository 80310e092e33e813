//! The public vectors of chains.

use std::path::PathBuf;

use anchorlog_proto::encoding::hex_decode_array;
use anchorlog_proto::json::{Object, ReadLimits, Value, canonical, parse};

use super::{Outcome, Supplied, TrustedKeys, read_chain};

#[test]
fn every_vector_reads_as_it_says() {
    let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    let Some(corpus) = std::env::var_os("ANCHORLOG_CORPUS").map(PathBuf::from) else {
        assert!(!required, "ANCHORLOG_CORPUS is not set");
        eprintln!("skipped: ANCHORLOG_CORPUS is not set");
        return;
    };
    let mut read = 0;
    for entry in std::fs::read_dir(corpus.join("judgment-pack/witness")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let vector = parse(&bytes, &ReadLimits::DEFAULT).unwrap();
        let expected = member(&vector, "expected").unwrap();
        assert_eq!(canonical(&answer(&vector)), canonical(expected), "{}", path.display());
        read += 1;
    }
    assert!(read >= 8, "{read} vectors");
}

/// What the reader says of a vector, in the vectors' own form.
fn answer(vector: &Value<'_>) -> Value<'static> {
    let text = |value: &Value<'_>| value.as_str().unwrap().to_owned();
    let texts = |name| -> Vec<String> {
        member(vector, name).unwrap().as_array().unwrap().iter().map(text).collect()
    };
    let keys: Vec<[u8; 32]> =
        texts("keys").iter().map(|key| hex_decode_array(key).unwrap()).collect();
    let files = texts("witness");
    let files: Vec<_> = files.iter().map(String::as_bytes).collect();
    let head = member(vector, "head").map(text);
    let supplied = Supplied {
        trail: text(member(vector, "trail").unwrap()).parse().unwrap(),
        statements: &files,
        head: head.as_deref().map(str::as_bytes),
        resume: None,
    };
    let read = TrustedKeys::new(&keys).and_then(|keys| read_chain(&keys, &supplied));
    match read {
        Ok(outcome) => answered(&outcome).into(),
        Err(refusal) => Object::from([("refused", refusal.as_str())]).into(),
    }
}

fn answered(outcome: &Outcome) -> Object<'static> {
    let number = |number: u64| Value::try_from(number).unwrap();
    let words = outcome.faults.iter().map(|fault| Value::from(fault.as_str()));
    let mut object = Object::from([
        ("ok", Value::from(outcome.reading.is_some())),
        ("findings", words.collect::<Vec<_>>().into()),
    ]);
    let Some(reading) = &outcome.reading else { return object };
    let latest = reading.latest_checkpoint().body();
    let latest = Object::from([
        ("index", number(latest.index)),
        ("sequence", number(latest.checkpoint.sequence)),
        ("witnessedAt", latest.witnessed_at.to_string().into()),
    ]);
    let conflicts: Vec<_> = reading.conflicts().iter().map(|one| number(*one)).collect();
    object.insert("reading", reading.kind().as_str());
    object.insert("headIndex", reading.head_index().map_or(Value::Null, number));
    object.insert("highestIndex", number(reading.highest_index()));
    object.insert("latestCheckpoint", latest);
    object.insert("conflicts", conflicts);
    object.insert("retired", reading.is_retired());
    object
}

fn member<'a>(value: &'a Value<'a>, name: &str) -> Option<&'a Value<'a>> {
    match value {
        Value::Object(object) => object.get(name),
        _ => None,
    }
}
