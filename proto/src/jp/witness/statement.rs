//! The statement of a checkpoint witness (sections 8.2 and 8.3).

use core::fmt;

use super::checkpoint::{AuditCheckpoint, MAX_SEQUENCE, SPELLED, unsigned};
use super::error::{Malformed, StatementError};
use super::key::{KeyId, Signature, WitnessKey, WitnessSigner};
use crate::jp::json::{Value, read};
use crate::json::format_utc_seconds;

/// The greatest index, 2^53-2.
pub const MAX_INDEX: u64 = MAX_SEQUENCE;

/// What is stated about the checkpoint.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "another kind is another witnessVersion")]
pub enum StatementKind {
    /// It was witnessed.
    Checkpoint,
    /// It was offered and refused: the witness holds another record digest at its sequence.
    Conflict,
    /// It is the trail's latest witnessed one, and nothing more is accepted for the trail.
    Retirement,
}

impl StatementKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Checkpoint, Self::Conflict, Self::Retirement];

    /// As it is spelled.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Checkpoint => "checkpoint",
            Self::Conflict => "conflict",
            Self::Retirement => "retirement",
        }
    }

    fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The witness' clock when it signed: `YYYY-MM-DDThh:mm:ssZ`, a digit for each letter, and nothing more is
/// asked of it. The order of two is that of their texts.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct WitnessedAt([u8; 20]);

impl WitnessedAt {
    /// The text of an instant, in seconds since 1970-01-01T00:00:00Z; none if it has no year of four digits.
    #[must_use]
    pub fn from_unix_seconds(seconds: u64) -> Option<Self> {
        Self::read(&format_utc_seconds(i64::try_from(seconds).ok()?))
    }

    fn read(text: &str) -> Option<Self> {
        let bytes: [u8; 20] = text.as_bytes().try_into().ok()?;
        let fits = bytes.iter().zip(SHAPE).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            _ => byte == shape,
        });
        fits.then_some(Self(bytes))
    }
}

impl fmt::Display for WitnessedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{}", char::from(*byte)))
    }
}

impl fmt::Debug for WitnessedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WitnessedAt({self})")
    }
}

/// What a witness is about to sign.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "the closed form of witnessVersion 1, less the signer's part"
)]
pub struct Unsigned {
    /// What is stated.
    pub kind: StatementKind,
    /// About which checkpoint.
    pub checkpoint: AuditCheckpoint,
    /// The place in the witness' chain for the trail, from 0 to [`MAX_INDEX`].
    pub index: u64,
    /// The signature of the statement before; none at index 0.
    pub previous: Option<Signature>,
    /// When.
    pub witnessed_at: WitnessedAt,
}

impl Unsigned {
    /// Signs it.
    #[must_use]
    pub fn sign(self, signer: &WitnessSigner) -> VerifiedStatement {
        let key_id = signer.key().id();
        let signature = signer.sign(self.signed_bytes(key_id).as_bytes());
        VerifiedStatement(Statement { body: self, key_id, signature })
    }

    fn signed_bytes(&self, key_id: KeyId) -> String {
        PREFIX.to_owned() + &self.write(key_id, None)
    }

    /// The canonical form, with the signature or without. Every value is ASCII, so this is RFC 8785's as well.
    fn write(&self, key_id: KeyId, signature: Option<&Signature>) -> String {
        let Self { kind, checkpoint, index, previous, witnessed_at } = self;
        let checkpoint = checkpoint.to_line();
        let kind = kind.as_str();
        let previous = previous.map_or("null".to_owned(), |signature| format!("\"{signature}\""));
        let signature = signature.map_or(String::new(), |own| format!(r#""signature":"{own}","#));
        format!(
            r#"{{"checkpoint":{checkpoint},"index":{index},"keyId":"{key_id}","kind":"{kind}","prevSignature":{previous},{signature}"witnessVersion":"1","witnessedAt":"{witnessed_at}"}}"#
        )
    }
}

/// A statement as it was read; nothing about its signature is known until [`Statement::verify`] says so.
///
/// Two are equal when their canonical bytes are.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Statement {
    body: Unsigned,
    key_id: KeyId,
    signature: Signature,
}

impl Statement {
    /// Reads one statement by its JSON value: white space, the order of members and escapes are free.
    pub fn read(bytes: &[u8]) -> Result<Self, StatementError> {
        let value = read(bytes, &SPELLED).map_err(|fault| fault.detail);
        let statement = value.and_then(|value| Self::read_value(&value));
        statement.map_err(|what| StatementError::Form(Malformed::new(what)))
    }

    /// Reads the closed object.
    pub(super) fn read_value(value: &Value<'_>) -> Result<Self, String> {
        if value.as_object().is_none_or(|object| object.len() != 8) {
            return Err("not an object of eight members".to_owned());
        }
        let member = |name| value.get(name).ok_or_else(|| format!("{name} is missing"));
        let text = |name| member(name)?.as_str().ok_or_else(|| format!("{name} is no string"));
        let wrong = |name: &str| format!("{name} has another form");
        if text("witnessVersion")? != "1" {
            return Err(wrong("witnessVersion"));
        }
        let kind = StatementKind::read(text("kind")?).ok_or_else(|| wrong("kind"))?;
        let checkpoint = AuditCheckpoint::read(member("checkpoint")?)
            .map_err(|error| format!("checkpoint: {error}"))?;
        let Value::Number(index) = member("index")? else { return Err(wrong("index")) };
        let index = unsigned(index).filter(|index| *index <= MAX_INDEX);
        let previous = match member("prevSignature")? {
            Value::Null => None,
            Value::String(text) => Some(text.parse().map_err(|_| wrong("prevSignature"))?),
            _ => return Err(wrong("prevSignature")),
        };
        let witnessed_at = WitnessedAt::read(text("witnessedAt")?);
        let body = Unsigned {
            kind,
            checkpoint,
            index: index.ok_or_else(|| wrong("index"))?,
            previous,
            witnessed_at: witnessed_at.ok_or_else(|| wrong("witnessedAt"))?,
        };
        let key_id = text("keyId")?.parse().map_err(|_| wrong("keyId"))?;
        let signature = text("signature")?.parse().map_err(|_| wrong("signature"))?;
        Ok(Self { body, key_id, signature })
    }

    /// What is stated.
    #[must_use]
    pub const fn body(&self) -> &Unsigned {
        &self.body
    }

    /// The key that it says it is signed with.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// The signature, unverified.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The canonical form, which is how it is served, without the newline.
    #[must_use]
    pub fn to_line(&self) -> String {
        self.body.write(self.key_id, Some(&self.signature))
    }

    /// Verifies the signature under this key, which the statement must name.
    pub fn verify(self, key: &WitnessKey) -> Result<VerifiedStatement, StatementError> {
        let expected = key.id();
        if self.key_id != expected {
            return Err(StatementError::OtherKey { expected, actual: self.key_id });
        }
        if !key.verify(self.body.signed_bytes(self.key_id).as_bytes(), &self.signature) {
            return Err(StatementError::Signature);
        }
        Ok(VerifiedStatement(self))
    }
}

/// A statement whose signature verified, or that was signed here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VerifiedStatement(Statement);

impl VerifiedStatement {
    /// The statement.
    #[must_use]
    pub const fn statement(&self) -> &Statement {
        &self.0
    }
}

impl core::ops::Deref for VerifiedStatement {
    type Target = Statement;

    fn deref(&self) -> &Statement {
        &self.0
    }
}

/// What every signature begins with, so that none of it can be taken for another record of a gateway.
const PREFIX: &str = "judgment-pack-gateway/witness/1:";

/// A digit stands for any digit.
const SHAPE: &[u8; 20] = b"0000-00-00T00:00:00Z";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test may panic")]

    use super::*;
    use crate::Digest;
    use crate::jp::witness::TrailId;

    fn signed(index: u64, previous: Option<Signature>) -> VerifiedStatement {
        let trail = TrailId::from_bytes([0xab; 16]);
        let checkpoint = AuditCheckpoint::new(trail, 120, Digest::of(b"record")).unwrap();
        let witnessed_at = WitnessedAt::from_unix_seconds(1_759_579_200).unwrap();
        let kind = StatementKind::Checkpoint;
        Unsigned { kind, checkpoint, index, previous, witnessed_at }.sign(&signer())
    }

    fn signer() -> WitnessSigner {
        WitnessSigner::from_seed(&[5; 32])
    }

    #[test]
    fn what_is_signed_reads_back_and_verifies() {
        let first = signed(0, None);
        let second = signed(7, Some(*first.signature()));
        assert_eq!(second.to_line().len(), 608, "the length that the specification states");
        for statement in [first, second] {
            let read = Statement::read(statement.to_line().as_bytes()).unwrap();
            assert_eq!(read, *statement.statement());
            assert_eq!(read.verify(&signer().key()), Ok(statement));
            let other = WitnessSigner::from_seed(&[6; 32]).key();
            assert!(matches!(read.verify(&other), Err(StatementError::OtherKey { .. })));
        }
        let altered = second.to_line().replace("\"index\":7", "\"index\":8");
        let altered = Statement::read(altered.as_bytes()).unwrap();
        assert_eq!(altered.verify(&signer().key()), Err(StatementError::Signature));
    }

    #[test]
    fn another_spelling_is_the_same_statement() {
        let line = signed(0, None).to_line();
        let spaced =
            line.replace(':', " : ").replace(" : 00 : 00", ":00:00").replace("T12 : ", "T12:");
        let spaced = spaced.replace("sha256 : ", "sha256:").replace("\"kind\"", "\"k\\u0069nd\"");
        assert_ne!(spaced, line);
        assert_eq!(Statement::read(spaced.as_bytes()).unwrap().to_line(), line);
    }

    #[test]
    fn the_form_is_closed() {
        let line = signed(7, Some(*signed(0, None).signature())).to_line();
        for (from, to) in [
            ("\"witnessVersion\":\"1\"", "\"witnessVersion\":\"2\""),
            ("\"witnessVersion\":\"1\"", "\"witnessVersion\":1"),
            ("\"index\":7", "\"index\":-0"),
            ("\"index\":7", "\"index\":7.0"),
            ("\"index\":7", "\"index\":9007199254740991"),
            ("\"index\":7", "\"index\":\"7\""),
            ("\"kind\":\"checkpoint\"", "\"kind\":\"Checkpoint\""),
            ("\"prevSignature\":\"", "\"prevSignature\":\"0"),
            ("\"signature\":\"", "\"signature\":\"A"),
            ("\"keyId\":\"", "\"keyId\":\"0"),
            ("T12", " 12"),
            ("\"witnessedAt\":\"2", "\"witnessedAt\":\"x"),
            ("{\"checkpoint\":{", "{\"a\":1,\"checkpoint\":{"),
            ("{\"checkpoint\":{", "{\"index\":7,\"checkpoint\":{"),
            ("\"sequence\":120", "\"sequence\":120,\"more\":1"),
            ("\"sequence\":120", "\"sequence\":1.2e2"),
            ("\"index\":7,", ""),
        ] {
            assert!(line.contains(from), "{from}");
            let changed = line.replacen(from, to, 1);
            let read = Statement::read(changed.as_bytes());
            assert!(matches!(read, Err(StatementError::Form(_))), "{to}");
        }
        // No real instant, but the form is all that is asked for.
        let odd = line.replace("2025-10-04", "9999-99-99");
        assert!(Statement::read(odd.as_bytes()).is_ok());
    }
}
