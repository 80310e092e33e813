//! The records of an audit trail, as far as they are chained.

use super::checkpoint::{MAX_SEQUENCE, TrailId, unsigned};
use crate::Digest;
use crate::jp::json::{Bounds, Value, read};

/// Most bytes of a record's line that is read, its newline not counted: 8 MiB. A limit of this reader.
pub const MAX_RECORD_BYTES: usize = Bounds::FOREIGN.bytes;

/// What a line of a trail is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a record is chained or it isn't")]
pub enum TrailLine {
    /// A record that names its trail, its place in it and what stands before it.
    Chained(TrailRecord),
    /// Anything else: a record from before the trail was chained, or damage.
    Unchained {
        /// Whether it is an object that says it is a discontinuity. Such a line never counts as damage.
        discontinuity: bool,
    },
}

/// The three members by which a record is chained. The others are the record's own and are passed over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TrailRecord {
    /// The trail.
    pub trail: TrailId,
    /// The record's line number, from 1 to [`MAX_SEQUENCE`].
    pub sequence: u64,
    /// The SHA-256 of the line before if that is chained, or else of all bytes before this line.
    pub previous: Digest,
    /// Whether it is about a line that was damaged.
    pub discontinuity: Option<Option<Discontinuity>>,
}

/// What a record of kind `discontinuity` says: the line before it is the rest of an incomplete write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Discontinuity {
    /// The number of the damaged line.
    pub line: u64,
    /// Its bytes, the newline not counted.
    pub bytes: u64,
    /// Their SHA-256.
    pub digest: Digest,
}

impl TrailLine {
    /// Reads a line without its newline. A line that two readers could read in two ways isn't chained.
    #[must_use]
    pub fn read(line: &[u8]) -> Self {
        let Ok(value) = read(line, &Bounds::FOREIGN) else {
            return Self::Unchained { discontinuity: false };
        };
        let discontinuity =
            value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind == "discontinuity");
        match TrailRecord::read(&value, discontinuity) {
            Some(record) => Self::Chained(record),
            None => Self::Unchained { discontinuity },
        }
    }
}

impl TrailRecord {
    fn read(value: &Value<'_>, discontinuity: bool) -> Option<Self> {
        let trail = value.get("trail")?.as_str()?.parse().ok()?;
        let sequence = positive(value.get("sequence")?)?;
        let previous = value.get("previous")?.as_str()?.parse().ok()?;
        let discontinuity =
            discontinuity.then(|| value.get("discontinuity").and_then(Discontinuity::read));
        Some(Self { trail, sequence, previous, discontinuity })
    }
}

impl Discontinuity {
    fn read(value: &Value<'_>) -> Option<Self> {
        let closed = value.as_object()?.len() == 4;
        let reason = value.get("reason")?.as_str()? == "incomplete-last-line";
        let line = positive(value.get("line")?)?;
        let bytes = integer(value.get("bytes")?)?;
        let digest = value.get("digest")?.as_str()?.parse().ok()?;
        (closed && reason).then_some(Self { line, bytes, digest })
    }
}

fn positive(value: &Value<'_>) -> Option<u64> {
    integer(value).filter(|number| *number > 0)
}

fn integer(value: &Value<'_>) -> Option<u64> {
    let Value::Number(literal) = value else { return None };
    unsigned(literal).filter(|number| *number <= MAX_SEQUENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"trail":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","sequence":3,"previous":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","kind":"run"}"#;

    #[test]
    fn a_chained_record_names_its_place() {
        let expected = TrailRecord {
            trail: TrailId::from_bytes([10; 16]),
            sequence: 3,
            previous: Digest::of(b""),
            discontinuity: None,
        };
        for text in [RECORD.to_owned(), RECORD.replace(':', " : ").replace("sha256 : ", "sha256:")]
        {
            assert_eq!(TrailLine::read(text.as_bytes()), TrailLine::Chained(expected));
        }
    }

    #[test]
    fn other_lines_are_not_chained() {
        let plain = TrailLine::Unchained { discontinuity: false };
        for (from, to) in [
            ("0a0a", "0A0A"),
            (":3,", ":0,"),
            (":3,", ":-3,"),
            (":3,", ":3.0,"),
            (":3,", ":\"3\","),
            (":3,", ":9007199254740991,"),
            ("sha256:", ""),
            ("\"kind\"", "\"trail\""),
            ("}", ""),
        ] {
            let text = RECORD.replacen(from, to, 1);
            assert_eq!(TrailLine::read(text.as_bytes()), plain, "{text}");
        }
        assert_eq!(TrailLine::read(b""), plain);
        let kind = RECORD.replace("\"run\"", "\"discontinuity\"").replace(":3,", ":0,");
        assert_eq!(TrailLine::read(kind.as_bytes()), TrailLine::Unchained { discontinuity: true });
    }

    #[test]
    fn a_discontinuity_names_the_damage() {
        let digest = Digest::of(b"{\"tr");
        let good = format!(
            r#""discontinuity","discontinuity":{{"reason":"incomplete-last-line","line":2,"bytes":4,"digest":"{digest}"}}"#
        );
        let read = |text: &str| match TrailLine::read(RECORD.replace("\"run\"", text).as_bytes()) {
            TrailLine::Chained(record) => record.discontinuity,
            TrailLine::Unchained { .. } => None,
        };
        assert_eq!(read(&good), Some(Some(Discontinuity { line: 2, bytes: 4, digest })));
        assert_eq!(read("\"discontinuity\""), Some(None));
        for (from, to) in [
            ("incomplete-last-line", "other"),
            ("\"line\":2", "\"line\":0"),
            ("\"bytes\":4", "\"bytes\":-1"),
            ("\"bytes\":4", "\"bytes\":4,\"more\":1"),
            ("sha256:", "sha512:"),
        ] {
            assert_eq!(read(&good.replacen(from, to, 1)), Some(None), "{to}");
        }
    }
}
