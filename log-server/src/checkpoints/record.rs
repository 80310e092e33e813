//! The records of `checkpoints/`, byte by byte. The frame around a body is that of the write-ahead log
//! ([`crate::storage::record`]); the kinds are others.
//!
//! ```text
//! segment start (3)             token (4)                               logged (5)
//! 0   4  format version, 1      0   8  size of the checkpoint           0   32  SHA-256 of the token
//!                               8   8  when it was received, Unix s     32   8  index of its statement
//!                               16  8  when its certificates run out
//!                               24  1  length of the operator's name
//!                               25  1  length of genTime
//!                               26  2  length of the note
//!                               28  …  operator, genTime, note, token
//!
//! witness (6)                   cosigned (7)
//! 0   …  its key, a vkey        0   8  size of the checkpoint
//!                               8   8  when the last line was received, Unix s
//!                               16  2  length of the note
//!                               18  …  the note, and signature lines that were verified: together
//!                                      again a note
//! ```
//!
//! Tokens and cosignatures are in segments of their own. The key of a witness stands in a segment before
//! its first line, so that every segment can be verified by itself.

use anchorlog_proto::Digest;
use anchorlog_proto::note::{NoteSignature, SignedNote, VerifierKey};
use anchorlog_proto::receipt::MAX_TIMESTAMP_BYTES;
use anchorlog_proto::timestamp::GenTime;
use anchorlog_proto::tlog_witness::write_cosignatures;

use crate::storage::record::{HEADER_BYTES, checksum, write_record};

/// The longest name of an operator, in bytes.
pub const MAX_OPERATOR_BYTES: usize = 64;

/// The longest body: a token and everything that may stand before it.
pub(super) const MAX_BODY_BYTES: usize =
    MAX_TIMESTAMP_BYTES + MAX_NOTE_BYTES + MAX_OPERATOR_BYTES + 256 + TOKEN_FIELDS;

/// The longest checkpoint, with the log's own signatures: eight of the longest name.
pub(crate) const MAX_NOTE_BYTES: usize = 4 << 10;

/// Bytes of a token record before the operator.
const TOKEN_FIELDS: usize = 28;

/// Version of the record format.
const FORMAT_VERSION: u32 = 1;

const KIND_START: u8 = 3;
const KIND_TOKEN: u8 = 4;
const KIND_LOGGED: u8 = 5;
const KIND_WITNESS: u8 = 6;
const KIND_COSIGNED: u8 = 7;

/// The most signature lines that one record holds.
pub(super) const MAX_LINES: usize = 64;

/// Bytes of a cosigned record before the note.
const COSIGNED_FIELDS: usize = 18;

/// One authority's word about one checkpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredToken {
    /// Number of entries that the checkpoint covers.
    pub size: u64,
    /// The checkpoint with the log's own signatures, the one first whose line the token stamps alone.
    pub note: Vec<u8>,
    /// Whose token it is, as the configuration called the authority then.
    pub operator: String,
    /// When it was received, in Unix seconds by this machine's clock.
    pub received: i64,
    /// When the first certificate of the path that verified it runs out, in Unix seconds.
    pub expires: i64,
    /// When the authority says it made it.
    pub gen_time: GenTime,
    /// The token, DER, as received.
    pub token: Vec<u8>,
}

/// What witnesses have said about one checkpoint, in one record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cosignatures {
    /// Number of entries that the checkpoint covers.
    pub size: u64,
    /// The checkpoint: the signed note with the log's own signature alone.
    pub note: Vec<u8>,
    /// When the last of the lines was received, in Unix seconds by this machine's clock.
    pub received: i64,
    /// Verified lines, one at least.
    pub lines: Vec<NoteSignature>,
}

/// A record, read back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Record {
    /// The first record of every segment.
    Start,
    /// A token.
    Token(StoredToken),
    /// That the statement about the token of this digest is in the log, at this index.
    Logged(Digest, u64),
    /// The key of a witness whose lines follow.
    Witness(VerifierKey),
    /// Lines of witnesses.
    Cosigned(Cosignatures),
}

impl Record {
    /// Appends the record to `out`. `None`, and nothing appended, when a part is longer than may be.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Start => {
                write_record(KIND_START, out, |out| out.extend(FORMAT_VERSION.to_le_bytes()));
            }
            Self::Token(token) => write_token(token, out)?,
            Self::Logged(digest, index) => write_record(KIND_LOGGED, out, |out| {
                out.extend(digest.as_bytes());
                out.extend(index.to_le_bytes());
            }),
            Self::Witness(key) => {
                write_record(KIND_WITNESS, out, |out| out.extend(key.to_string().as_bytes()));
            }
            Self::Cosigned(cosigned) => write_cosigned(cosigned, out)?,
        }
        Some(())
    }
}

/// What a record's header says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    length: usize,
    checksum: u32,
    kind: u8,
}

impl Header {
    /// Reads a header. `None` when no record of ours begins like that.
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let [l0, l1, l2, l3, c0, c1, c2, c3, kind] = *bytes;
        let length = usize::try_from(u32::from_le_bytes([l0, l1, l2, l3])).ok()?;
        let known = (KIND_START..=KIND_COSIGNED).contains(&kind);
        let bounded = (1..=MAX_BODY_BYTES).contains(&length);
        (known && bounded).then_some(Self {
            length,
            checksum: u32::from_le_bytes([c0, c1, c2, c3]),
            kind,
        })
    }

    /// Bytes of the body.
    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// Reads the body. `None` when it is not what was written.
    pub(super) fn body(&self, body: &[u8]) -> Option<Record> {
        if body.len() != self.length || checksum(self.kind, body) != self.checksum {
            return None;
        }
        match self.kind {
            KIND_START => (body == FORMAT_VERSION.to_le_bytes()).then_some(Record::Start),
            KIND_TOKEN => read_token(body).map(Record::Token),
            KIND_WITNESS => str::from_utf8(body).ok()?.parse().ok().map(Record::Witness),
            KIND_COSIGNED => read_cosigned(body).map(Record::Cosigned),
            _ => {
                let (digest, index) = body.split_first_chunk::<32>()?;
                let index = u64::from_le_bytes(index.try_into().ok()?);
                Some(Record::Logged(Digest::from_bytes(*digest), index))
            }
        }
    }
}

fn write_token(token: &StoredToken, out: &mut Vec<u8>) -> Option<()> {
    let gen_time = token.gen_time.to_generalized_time()?;
    let operator = u8::try_from(token.operator.len()).ok()?;
    let time = u8::try_from(gen_time.len()).ok()?;
    let note = u16::try_from(token.note.len()).ok()?;
    if token.operator.len() > MAX_OPERATOR_BYTES
        || token.note.len() > MAX_NOTE_BYTES
        || !(1..=MAX_TIMESTAMP_BYTES).contains(&token.token.len())
    {
        return None;
    }
    write_record(KIND_TOKEN, out, |out| {
        out.extend(token.size.to_le_bytes());
        out.extend(token.received.to_le_bytes());
        out.extend(token.expires.to_le_bytes());
        out.extend([operator, time]);
        out.extend(note.to_le_bytes());
        out.extend(token.operator.as_bytes());
        out.extend(gen_time.as_bytes());
        out.extend(&token.note);
        out.extend(&token.token);
    });
    Some(())
}

fn read_token(body: &[u8]) -> Option<StoredToken> {
    let (size, rest) = body.split_first_chunk::<8>()?;
    let (received, rest) = rest.split_first_chunk::<8>()?;
    let (expires, rest) = rest.split_first_chunk::<8>()?;
    let ([operator, time, n0, n1], rest) = rest.split_first_chunk::<4>()?;
    let (operator, rest) = rest.split_at_checked(usize::from(*operator))?;
    let (time, rest) = rest.split_at_checked(usize::from(*time))?;
    let (note, token) = rest.split_at_checked(usize::from(u16::from_le_bytes([*n0, *n1])))?;
    Some(StoredToken {
        size: u64::from_le_bytes(*size),
        note: note.to_vec(),
        operator: str::from_utf8(operator).ok()?.to_owned(),
        received: i64::from_le_bytes(*received),
        expires: i64::from_le_bytes(*expires),
        gen_time: GenTime::parse(time)?,
        token: token.to_vec(),
    })
}

fn write_cosigned(cosigned: &Cosignatures, out: &mut Vec<u8>) -> Option<()> {
    let note = u16::try_from(cosigned.note.len()).ok()?;
    let lines = write_cosignatures(&cosigned.lines);
    if cosigned.note.len() > MAX_NOTE_BYTES
        || !(1..=MAX_LINES).contains(&cosigned.lines.len())
        || COSIGNED_FIELDS + cosigned.note.len() + lines.len() > MAX_BODY_BYTES
    {
        return None;
    }
    write_record(KIND_COSIGNED, out, |out| {
        out.extend(cosigned.size.to_le_bytes());
        out.extend(cosigned.received.to_le_bytes());
        out.extend(note.to_le_bytes());
        out.extend(&cosigned.note);
        out.extend(lines.as_bytes());
    });
    Some(())
}

fn read_cosigned(body: &[u8]) -> Option<Cosignatures> {
    let (size, rest) = body.split_first_chunk::<8>()?;
    let (received, rest) = rest.split_first_chunk::<8>()?;
    let (length, whole) = rest.split_first_chunk::<2>()?;
    let (note, _) = whole.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let own = SignedNote::parse(note).ok()?.signatures().len();
    let lines = SignedNote::parse(whole).ok()?.signatures().get(own..)?.to_vec();
    (!lines.is_empty()).then_some(Cosignatures {
        size: u64::from_le_bytes(*size),
        note: note.to_vec(),
        received: i64::from_le_bytes(*received),
        lines,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;

    fn token() -> StoredToken {
        StoredToken {
            size: 7,
            note: b"a note".to_vec(),
            operator: "operator".to_owned(),
            received: -1,
            expires: i64::MAX,
            gen_time: GenTime::parse(b"20250601120000.25Z").unwrap(),
            token: b"a token".to_vec(),
        }
    }

    fn cosigned() -> Cosignatures {
        let line = |name: &str| format!("\u{2014} {name} AAECAwQ=");
        let note = format!("a note\n\n{}\n", line("log"));
        let lines = ["a", "b"].map(|name| line(name).parse().unwrap()).to_vec();
        Cosignatures { size: 9, note: note.into_bytes(), received: -1, lines }
    }

    fn read(bytes: &[u8]) -> Option<Record> {
        let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        Header::read(header)?.body(body)
    }

    #[test]
    fn records_round_trip() {
        let logged = Record::Logged(Digest::of(b"token"), u64::MAX);
        let key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let witness = Record::Witness(key.parse().unwrap());
        let cosigned = Record::Cosigned(cosigned());
        for record in [Record::Start, Record::Token(token()), logged, witness, cosigned] {
            let mut bytes = Vec::new();
            record.write(&mut bytes).unwrap();
            assert_eq!(read(&bytes), Some(record));
        }
    }

    #[test]
    fn every_bit_flip_and_every_cut_is_seen() {
        for record in [Record::Token(token()), Record::Cosigned(cosigned())] {
            let mut bytes = Vec::new();
            record.write(&mut bytes).unwrap();
            for position in 0..bytes.len() {
                assert_eq!(read(&bytes[..position]), None);
                for bit in 0..8 {
                    let mut flipped = bytes.clone();
                    flipped[position] ^= 1 << bit;
                    assert_eq!(read(&flipped), None, "byte {position}, bit {bit}");
                }
            }
        }
    }

    #[test]
    fn a_record_holds_lines_and_not_too_many() {
        let mut out = Vec::new();
        let line = cosigned().lines[0].clone();
        for count in [0, MAX_LINES + 1] {
            let many = Cosignatures { lines: vec![line.clone(); count], ..cosigned() };
            assert_eq!(Record::Cosigned(many).write(&mut out), None);
        }
        let note = vec![b'n'; MAX_NOTE_BYTES + 1];
        assert_eq!(Record::Cosigned(Cosignatures { note, ..cosigned() }).write(&mut out), None);
        assert!(out.is_empty());
    }

    #[test]
    fn what_is_too_long_is_not_written() {
        let mut out = Vec::new();
        for (operator, note, bytes) in [
            (MAX_OPERATOR_BYTES + 1, 1, 1),
            (1, MAX_NOTE_BYTES + 1, 1),
            (1, 1, MAX_TIMESTAMP_BYTES + 1),
            (1, 1, 0),
        ] {
            let operator = "o".repeat(operator);
            let long =
                StoredToken { operator, note: vec![0; note], token: vec![0; bytes], ..token() };
            assert_eq!(Record::Token(long).write(&mut out), None);
        }
        assert!(out.is_empty());
        let longest = StoredToken {
            operator: "o".repeat(MAX_OPERATOR_BYTES),
            note: vec![0; MAX_NOTE_BYTES],
            token: vec![0; MAX_TIMESTAMP_BYTES],
            ..token()
        };
        Record::Token(longest.clone()).write(&mut out).unwrap();
        assert_eq!(read(&out), Some(Record::Token(longest)));
    }
}
