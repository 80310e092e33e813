//! The checkpoint line of an audit trail (section 8.1).

use core::fmt;
use core::str::FromStr;

use super::error::{LineError, LinesError, SubmissionError};
use crate::Digest;
use crate::encoding::{EncodingError, hex_decode_array, hex_encode};
use crate::jp::json::{Bounds, Numbers, Value, read};
use crate::statement::{Statement, StatementKind, Trail};

/// Most bytes of a checkpoint line, its newline not counted.
pub const MAX_LINE_BYTES: usize = 4096;

/// Most bytes of a submission to a witness: 1 MiB.
pub const MAX_SUBMISSION_BYTES: usize = 1_048_576;

/// The greatest sequence, 2^53-2.
pub const MAX_SEQUENCE: u64 = 9_007_199_254_740_990;

/// The identity of an audit trail: 128 random bits, spelled as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TrailId([u8; 16]);

impl TrailId {
    /// Takes 16 bytes as they are.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for TrailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_encode(&self.0))
    }
}

impl fmt::Debug for TrailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrailId({self})")
    }
}

impl FromStr for TrailId {
    type Err = EncodingError;

    fn from_str(text: &str) -> Result<Self, EncodingError> {
        if text.len() != 32 {
            return Err(EncodingError::Hex);
        }
        hex_decode_array(text).map(Self)
    }
}

/// What a checkpoint line says: the record of this sequence, with all before it, had this digest.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct AuditCheckpoint {
    /// The trail.
    pub trail: TrailId,
    /// The record's line number in the trail, from 1 to [`MAX_SEQUENCE`].
    pub sequence: u64,
    /// The SHA-256 of the record's exact line, without its newline.
    pub record_digest: Digest,
}

impl AuditCheckpoint {
    /// The checkpoint of a record; none if the sequence is out of its range.
    #[must_use]
    pub fn new(trail: TrailId, sequence: u64, record_digest: Digest) -> Option<Self> {
        let fits = (1..=MAX_SEQUENCE).contains(&sequence);
        fits.then_some(Self { trail, sequence, record_digest })
    }

    /// Reads a line without its newline, which must be spelled exactly as it is printed: a line is submitted
    /// and hashed, and never encoded again.
    pub fn read_line(line: &[u8]) -> Result<Self, LineError> {
        if line.len() > MAX_LINE_BYTES {
            return Err(LineError::TooLong);
        }
        let value = read(line, &BOUNDS).map_err(|_| LineError::Form)?;
        let checkpoint = Self::read(&value)?;
        if checkpoint.to_line().as_bytes() != line {
            return Err(LineError::Spelling);
        }
        Ok(checkpoint)
    }

    /// Reads the closed object, in any spelling of its values.
    pub(super) fn read(value: &Value<'_>) -> Result<Self, LineError> {
        let text = |name| value.get(name).and_then(Value::as_str).ok_or(LineError::Form);
        let closed = value.as_object().is_some_and(|object| object.len() == 4);
        if !closed || text("checkpointVersion")? != "1" {
            return Err(LineError::Form);
        }
        let trail = text("trail")?.parse().map_err(|_| LineError::Form)?;
        let record_digest = text("recordDigest")?.parse().map_err(|_| LineError::Form)?;
        let Some(Value::Number(literal)) = value.get("sequence") else {
            return Err(LineError::Form);
        };
        let sequence = unsigned(literal).ok_or(LineError::Sequence)?;
        Self::new(trail, sequence, record_digest).ok_or(LineError::Sequence)
    }

    /// The line as it is printed, without its newline. It is the RFC 8785 form as well.
    #[must_use]
    pub fn to_line(&self) -> String {
        let Self { trail, sequence, record_digest } = self;
        format!(
            r#"{{"checkpointVersion":"1","recordDigest":"{record_digest}","sequence":{sequence},"trail":"{trail}"}}"#
        )
    }

    /// What a log that holds the line logs: its digest, at its place in its trail.
    #[must_use]
    pub fn statement(&self) -> Statement {
        Statement {
            kind: StatementKind::Checkpoint,
            digest: self.line_digest(),
            trail: Some(Trail::from(self.trail)),
            sequence: Some(self.sequence),
        }
    }

    /// The SHA-256 of the line without its newline: what a log entry commits to and a time stamp imprints.
    #[must_use]
    pub fn line_digest(&self) -> Digest {
        Digest::of(self.to_line().as_bytes())
    }
}

/// Reads at most so many checkpoint lines, of any trails, each ended by a newline.
pub fn read_lines(bytes: &[u8], most: usize) -> Result<Vec<AuditCheckpoint>, LinesError> {
    let mut checkpoints = Vec::new();
    for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let number = at.saturating_add(1);
        if number > most {
            return Err(LinesError::TooMany { most });
        }
        let text = line.strip_suffix(b"\n").ok_or(LinesError::Unterminated { line: number })?;
        let checkpoint = AuditCheckpoint::read_line(text);
        checkpoints.push(checkpoint.map_err(|error| LinesError::Line { line: number, error })?);
    }
    if checkpoints.is_empty() { Err(LinesError::Empty) } else { Ok(checkpoints) }
}

/// What is submitted to a witness at once: checkpoints of one trail, their sequences strictly increasing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Submission {
    earlier: Vec<AuditCheckpoint>,
    last: AuditCheckpoint,
}

impl Submission {
    /// Reads the body of a submission.
    pub fn read(body: &[u8]) -> Result<Self, SubmissionError> {
        let mut earlier = read_lines(body, usize::MAX)?;
        for (at, pair) in earlier.windows(2).enumerate() {
            let [before, next] = pair else { continue };
            let line = at.saturating_add(2);
            if next.trail != before.trail {
                return Err(SubmissionError::OtherTrail { line });
            }
            if next.sequence <= before.sequence {
                return Err(SubmissionError::NotIncreasing { line });
            }
        }
        let last = earlier.pop().ok_or(LinesError::Empty)?;
        Ok(Self { earlier, last })
    }

    /// The trail of all its lines.
    #[must_use]
    pub const fn trail(&self) -> TrailId {
        self.last.trail
    }

    /// The last line: the only one that is signed.
    #[must_use]
    pub const fn last(&self) -> &AuditCheckpoint {
        &self.last
    }

    /// Every line, in order.
    pub fn lines(&self) -> impl Iterator<Item = &AuditCheckpoint> {
        self.earlier.iter().chain([&self.last])
    }
}

/// The integer that digits alone spell: no sign, fraction, exponent or leading zero.
pub(super) fn unsigned(literal: &str) -> Option<u64> {
    let plain = literal == "0" || !literal.starts_with('0');
    let digits = !literal.is_empty() && literal.bytes().all(|byte| byte.is_ascii_digit());
    if plain && digits { literal.parse().ok() } else { None }
}

/// The bounds of lines. Their closed form leaves room for nothing near them.
const BOUNDS: Bounds = Bounds {
    bytes: MAX_LINE_BYTES,
    levels: 4,
    members: 16,
    elements: 0,
    string: MAX_LINE_BYTES,
    number: 128,
    numbers: Numbers::Any,
};

/// The bounds of what is read by its value: white space is free up to the bytes of a whole reading.
pub(super) const SPELLED: Bounds = BOUNDS.with_bytes(67_108_864);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test may panic")]

    use super::*;

    fn line(sequence: u64) -> String {
        let digest = Digest::of(&sequence.to_be_bytes());
        AuditCheckpoint::new(TrailId([7; 16]), sequence, digest).unwrap().to_line()
    }

    #[test]
    fn a_line_reads_back() {
        for sequence in [1, 9, 10, MAX_SEQUENCE] {
            let text = line(sequence);
            let read = AuditCheckpoint::read_line(text.as_bytes()).unwrap();
            assert_eq!((read.sequence, read.to_line()), (sequence, text.clone()));
            assert_eq!(read.line_digest(), Digest::of(text.as_bytes()));
        }
        assert_eq!(line(1).len(), 170);
        assert_eq!(line(MAX_SEQUENCE).len(), 185);
    }

    #[test]
    fn only_the_printed_spelling_is_taken() {
        let good = line(30);
        let read = |text: &str| AuditCheckpoint::read_line(text.as_bytes());
        for (from, to, error) in [
            ("\"sequence\":30", "\"sequence\": 30", LineError::Spelling),
            ("\"1\"", "\"\\u0031\"", LineError::Spelling),
            ("\"sequence\":30", "\"sequence\":0", LineError::Sequence),
            ("\"sequence\":30", "\"sequence\":-0", LineError::Sequence),
            ("\"sequence\":30", "\"sequence\":30.0", LineError::Sequence),
            ("\"sequence\":30", "\"sequence\":3e1", LineError::Sequence),
            ("\"sequence\":30", "\"sequence\":9007199254740991", LineError::Sequence),
            ("\"sequence\":30", "\"sequence\":\"30\"", LineError::Form),
            ("\"sequence\":30", "\"sequence\":030", LineError::Form),
            ("\"1\"", "\"2\"", LineError::Form),
            ("\"1\"", "1", LineError::Form),
            ("sha256:", "sha512:", LineError::Form),
            ("0707", "07AF", LineError::Form),
            ("{", "{\"a\":1,", LineError::Form),
            ("}", "}}", LineError::Form),
            ("}", "}\r", LineError::Spelling),
        ] {
            assert!(good.contains(from), "{from}");
            assert_eq!(read(&good.replacen(from, to, 1)), Err(error), "{to}");
        }
        assert_eq!(read(&" ".repeat(MAX_LINE_BYTES + 1)), Err(LineError::TooLong));
        assert_eq!(read(&" ".repeat(MAX_LINE_BYTES)), Err(LineError::Form));
    }

    #[test]
    fn a_line_is_a_statement_about_its_place() {
        let text = line(30);
        let statement = AuditCheckpoint::read_line(text.as_bytes()).unwrap().statement();
        assert_eq!(statement.digest, Digest::of(text.as_bytes()));
        assert_eq!(statement.trail, "07".repeat(16).parse().ok());
        assert_eq!(statement.sequence, Some(30));
    }

    #[test]
    fn lines_end_in_newlines_and_are_counted() {
        let two = format!("{}\n{}\n", line(5), line(2));
        assert_eq!(read_lines(two.as_bytes(), 2).unwrap().len(), 2);
        assert_eq!(read_lines(two.as_bytes(), 1), Err(LinesError::TooMany { most: 1 }));
        assert_eq!(read_lines(b"", 2), Err(LinesError::Empty));
        let cut = two.trim_end();
        assert_eq!(read_lines(cut.as_bytes(), 2), Err(LinesError::Unterminated { line: 2 }));
        let gap = format!("{}\n\n", line(5));
        let error = LineError::Form;
        assert_eq!(read_lines(gap.as_bytes(), 2), Err(LinesError::Line { line: 2, error }));
    }

    #[test]
    fn a_submission_is_of_one_trail_and_increases() {
        let read = |lines: &[String]| Submission::read((lines.join("\n") + "\n").as_bytes());
        let submission = read(&[line(2), line(5), line(9)]).unwrap();
        assert_eq!(submission.last().sequence, 9);
        assert_eq!(submission.trail(), TrailId([7; 16]));
        assert_eq!(submission.lines().map(|line| line.sequence).collect::<Vec<_>>(), [2, 5, 9]);
        let error = Err(SubmissionError::NotIncreasing { line: 3 });
        assert_eq!(read(&[line(2), line(5), line(5)]), error);
        let other = line(9).replace("07", "08");
        assert_eq!(read(&[line(2), other]), Err(SubmissionError::OtherTrail { line: 2 }));
    }
}
