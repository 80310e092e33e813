//! The lines of a witness' own storage beside its statements: marks and registrations.
//!
//! No reader of a chain sees them. Like a statement each is one canonical line, in RFC 8785's form, and is
//! read in that spelling alone: what is spelled otherwise was not written by a witness.

use super::checkpoint::TrailId;
use super::key::Signature;
use super::statement::{MAX_INDEX, Statement};
use crate::json::{Fields, Object, ReadLimits, Value, parse_canonical};

/// Most bytes of an issuer or a subject.
pub const MAX_PRINCIPAL_BYTES: usize = 256;

/// Most bytes of a line of the storage, its newline not counted.
pub const MAX_STORED_LINE_BYTES: usize = 4096;

/// That a statement may have been published: its trail, index and signature.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the closed form of a mark")]
pub struct Mark {
    /// The trail.
    pub trail: TrailId,
    /// The statement's index.
    pub index: u64,
    /// The statement's signature.
    pub signature: Signature,
}

impl Mark {
    /// The mark of a statement.
    #[must_use]
    pub fn of(statement: &Statement) -> Self {
        let body = statement.body();
        let (trail, index) = (body.checkpoint.trail, body.index);
        Self { trail, index, signature: *statement.signature() }
    }

    /// Reads a line without its newline. None if it is not the canonical line of a mark.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        let value = read(line)?;
        let mut fields = Fields::new(&value, "").ok()?;
        let index = fields.unsigned("index").ok().filter(|index| *index <= MAX_INDEX)?;
        let signature = fields.string("signature").ok()?.parse().ok()?;
        let trail = fields.string("trail").ok()?.parse().ok()?;
        fields.finish().ok()?;
        Some(Self { trail, index, signature })
    }

    /// The line, without its newline.
    #[must_use]
    pub fn to_line(&self) -> String {
        let Self { trail, index, signature } = self;
        format!(r#"{{"index":{index},"signature":"{signature}","trail":"{trail}"}}"#)
    }
}

/// Whose a trail is: the one issuer and subject whose submissions are taken for it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Registration {
    /// The trail.
    pub trail: TrailId,
    /// Who vouches for the subject.
    pub issuer: String,
    /// The submitter.
    pub subject: String,
}

impl Registration {
    /// A registration; none if a name is empty, longer than [`MAX_PRINCIPAL_BYTES`] or has control characters.
    #[must_use]
    pub fn new(trail: TrailId, issuer: &str, subject: &str) -> Option<Self> {
        let fits = |name: &str| {
            let length = (1..=MAX_PRINCIPAL_BYTES).contains(&name.len());
            length && !name.chars().any(char::is_control)
        };
        let (owned_issuer, owned_subject) = (issuer.to_owned(), subject.to_owned());
        (fits(issuer) && fits(subject)).then_some(Self {
            trail,
            issuer: owned_issuer,
            subject: owned_subject,
        })
    }

    /// Reads a line without its newline. None if it is not the canonical line of a registration.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        let value = read(line)?;
        let mut fields = Fields::new(&value, "").ok()?;
        let issuer = fields.string("issuer").ok()?;
        let subject = fields.string("subject").ok()?;
        let trail = fields.string("trail").ok()?.parse().ok()?;
        fields.finish().ok()?;
        Self::new(trail, issuer, subject)
    }

    /// The line, without its newline.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        let member = |text: &str| Value::from(text.to_owned());
        let object = Object::from([
            ("issuer", member(&self.issuer)),
            ("subject", member(&self.subject)),
            ("trail", Value::from(self.trail.to_string())),
        ]);
        object.to_canonical()
    }
}

fn read(line: &[u8]) -> Option<Value<'_>> {
    let limits = ReadLimits::DEFAULT.with_bytes(MAX_STORED_LINE_BYTES);
    parse_canonical(line, &limits).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test may panic")]

    use super::*;
    use crate::jp::witness::WitnessSigner;

    fn trail() -> TrailId {
        TrailId::from_bytes([0x3c; 16])
    }

    #[test]
    fn marks_read_back_and_have_one_spelling() {
        let signature = WitnessSigner::from_seed(&[1; 32]).sign(b"m");
        for index in [0, 7, MAX_INDEX] {
            let mark = Mark { trail: trail(), index, signature };
            let line = mark.to_line();
            assert_eq!(Mark::read(line.as_bytes()), Some(mark));
            for (from, to) in [
                ("\"index\":", "\"index\": "),
                ("\"index\":", "\"index\":0"),
                ("\"index\":", "\"index\":-"),
                ("3c3c", "3C3C"),
                ("{\"index", "{\"a\":1,\"index"),
                ("}", "}\n"),
                ("}", ""),
            ] {
                assert_eq!(Mark::read(line.replacen(from, to, 1).as_bytes()), None, "{to}");
            }
        }
        let over = format!(
            r#"{{"index":{},"signature":"{signature}","trail":"{}"}}"#,
            1_u64 << 53,
            trail()
        );
        assert_eq!(Mark::read(over.as_bytes()), None);
    }

    #[test]
    fn registrations_read_back_and_are_bounded() {
        let long = "s".repeat(MAX_PRINCIPAL_BYTES);
        for (issuer, subject) in
            [("https://issuer.example", "deliverer"), ("i", "\"\\ä😀"), (&long, &long)]
        {
            let registration = Registration::new(trail(), issuer, subject).unwrap();
            let line = registration.to_line();
            assert!(line.len() <= MAX_STORED_LINE_BYTES);
            assert_eq!(Registration::read(&line), Some(registration));
        }
        for name in ["", "a\nb", "\u{7f}", &"x".repeat(MAX_PRINCIPAL_BYTES + 1)] {
            assert_eq!(Registration::new(trail(), name, "s"), None, "{name}");
            assert_eq!(Registration::new(trail(), "i", name), None, "{name}");
        }
        let plain = Registration::new(trail(), "i", "s").unwrap().to_line();
        let text = String::from_utf8(plain).unwrap();
        assert_eq!(
            text,
            format!(r#"{{"issuer":"i","subject":"s","trail":"{}"}}"#, trail()),
            "the form is fixed"
        );
        for (from, to) in [(":", ": "), ("\"i\"", "\"\\u0069\""), ("\"i\"", "\"\""), ("}", "} ")] {
            assert_eq!(Registration::read(text.replacen(from, to, 1).as_bytes()), None, "{to}");
        }
    }
}
