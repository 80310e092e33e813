//! Statements to submit, numbered.

use anchorlog_proto::Digest;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use serde_json::{Value, json};

/// The digest that statement `number` commits to.
#[must_use]
pub fn digest(number: u64) -> Digest {
    Digest::of(&number.to_be_bytes())
}

/// Statement `number` as an entry: kind `digest`, no trail.
#[must_use]
pub fn entry(number: u64) -> LogEntry {
    LogEntry::unsigned(Statement::new(StatementKind::Digest, digest(number)))
        .expect("a plain statement is an entry")
}

/// Statement `number` as JSON.
#[must_use]
pub fn text(number: u64) -> String {
    String::from_utf8(entry(number).leaf_bytes().to_vec()).expect("leaves are UTF-8")
}

/// A statement of kind `digest` at a place of a trail, as JSON.
#[must_use]
pub fn placed(number: u64, trail: &str, sequence: u64) -> String {
    let mut statement = value(number);
    statement["trail"] = trail.into();
    statement["sequence"] = sequence.into();
    statement.to_string()
}

/// Statement `number` as a JSON value, to be changed.
#[must_use]
pub fn value(number: u64) -> Value {
    json!({"schema": "anchorlog.statement/1", "kind": "digest", "digest": digest(number).to_string()})
}

/// The body of a batch submission.
#[must_use]
pub fn batch<S: AsRef<str>>(statements: impl IntoIterator<Item = S>) -> String {
    let mut body = String::from(r#"{"statements":["#);
    for (position, statement) in statements.into_iter().enumerate() {
        if position > 0 {
            body.push(',');
        }
        body.push_str(statement.as_ref());
    }
    body.push_str("]}");
    body
}
