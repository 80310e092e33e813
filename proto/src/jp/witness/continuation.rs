//! Where the reading of a long chain goes on.

use super::checkpoint::SPELLED;
use super::error::{Malformed, StatementError};
use super::statement::{Statement, VerifiedStatement};
use crate::jp::json::{Value, read};

/// The last statement that a reading read, and the latest checkpoint statement at or before it.
///
/// Whoever reads one back knows nothing about it but its form: it is as good as the reading that saved it, and
/// nothing in it tells who did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Continuation {
    last: Statement,
    latest: Statement,
}

impl Continuation {
    /// What a reading saves that ended at `last`, with the checkpoint statement `latest` at or before it.
    #[must_use]
    pub const fn of(last: &VerifiedStatement, latest: &VerifiedStatement) -> Self {
        Self { last: *last.statement(), latest: *latest.statement() }
    }

    /// Reads the closed object of `continuationVersion` "1", `last` and `latestCheckpoint`, by its JSON value.
    pub fn read(bytes: &[u8]) -> Result<Self, StatementError> {
        let read = || {
            let value = read(bytes, &SPELLED).map_err(|fault| fault.detail)?;
            let version = value.get("continuationVersion").and_then(Value::as_str);
            let closed = value.as_object().is_some_and(|object| object.len() == 3);
            if !closed || version != Some("1") {
                return Err("no continuation of version 1".to_owned());
            }
            let statement = |name: &str| {
                let value = value.get(name).ok_or_else(|| format!("{name} is missing"))?;
                Statement::read_value(value).map_err(|what| format!("{name}: {what}"))
            };
            Ok(Self { last: statement("last")?, latest: statement("latestCheckpoint")? })
        };
        read().map_err(|what| StatementError::Form(Malformed::new(what)))
    }

    /// The last statement that was read, of any kind.
    #[must_use]
    pub const fn last(&self) -> &Statement {
        &self.last
    }

    /// The latest checkpoint statement at or before it.
    #[must_use]
    pub const fn latest(&self) -> &Statement {
        &self.latest
    }

    /// The canonical form, without a newline.
    #[must_use]
    pub fn to_line(&self) -> String {
        let (last, latest) = (self.last.to_line(), self.latest.to_line());
        format!(r#"{{"continuationVersion":"1","last":{last},"latestCheckpoint":{latest}}}"#)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test may panic")]

    use super::*;
    use crate::Digest;
    use crate::jp::witness::{
        AuditCheckpoint, StatementKind, TrailId, Unsigned, WitnessSigner, WitnessedAt,
    };

    #[test]
    fn a_continuation_reads_back_and_is_closed() {
        let checkpoint = AuditCheckpoint::new(TrailId::from_bytes([1; 16]), 5, Digest::of(b"5"));
        let unsigned = Unsigned {
            kind: StatementKind::Checkpoint,
            checkpoint: checkpoint.unwrap(),
            index: 0,
            previous: None,
            witnessed_at: WitnessedAt::from_unix_seconds(1_800_000_000).unwrap(),
        };
        let signer = WitnessSigner::from_seed(&[5; 32]);
        let first = unsigned.sign(&signer);
        let kind = StatementKind::Conflict;
        let last = Unsigned { kind, index: 1, previous: Some(*first.signature()), ..unsigned };
        let continuation = Continuation::of(&last.sign(&signer), &first);
        let line = continuation.to_line();
        assert_eq!(Continuation::read(line.as_bytes()), Ok(continuation));
        let spaced = format!(" {}\n", line.replace(",\"", ", \""));
        assert_eq!(Continuation::read(spaced.as_bytes()), Ok(continuation));
        for (from, to) in [
            ("\"1\"", "\"2\""),
            ("\"last\"", "\"first\""),
            ("{\"con", "{\"a\":1,\"con"),
            ("\"conflict\"", "\"other\""),
            ("\"latestCheckpoint\":{", "\"latestCheckpoint\":{\"a\":1,"),
        ] {
            let changed = line.replacen(from, to, 1);
            assert!(Continuation::read(changed.as_bytes()).is_err(), "{to}");
        }
    }
}
