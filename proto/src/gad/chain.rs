//! The witness chain: what links its entries, and the lowest layer that writes them.
//!
//! What it is: h_i = H(dom(chain), h_(i-1), canon(body_i)) over the constant g, the digest a checkpoint
//! signs, and [`Chain`], which turns payloads into lines. What it isn't: a judge of what may be written
//! when; it writes defective records just as well, and stores nothing.

use crate::digest::Digest;
use crate::json::{Object, Value, canonical, format_utc_seconds};
use crate::signed_object::{Domain, SignedObject, SigningKey};

use super::entry::Payload;
use super::payload::Checkpoint;

/// g, the constant before the first entry of every chain.
#[must_use]
pub fn genesis() -> Digest {
    Domain::Genesis.hash(&[])
}

/// The chain hash of the entry with this body, after an entry with the chain hash `previous`.
#[must_use]
pub fn chain_hash(previous: &Digest, canonical_body: &[u8]) -> Digest {
    Domain::Chain.hash(&[previous.as_bytes(), canonical_body])
}

/// H(dom(checkpoint-range), h_a … h_b), being fed; nothing is kept but the state of the hash.
#[derive(Clone, Debug)]
pub struct RangeHasher(sha2::Sha256);

impl RangeHasher {
    /// Over no chain hash yet.
    #[must_use]
    pub fn new() -> Self {
        Self(sha2::Digest::new_with_prefix(Domain::CheckpointRange.prefix()))
    }

    /// The next chain hash of the range.
    pub fn push(&mut self, h: &Digest) {
        sha2::Digest::update(&mut self.0, h.as_bytes());
    }

    /// The digest over the range so far.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest::from_bytes(sha2::Digest::finalize(self.0).into())
    }
}

impl Default for RangeHasher {
    fn default() -> Self {
        Self::new()
    }
}

/// The digest over the chain hashes of a range, in their order.
#[must_use]
pub fn checkpoint_digest(heads: impl IntoIterator<Item = Digest>) -> Digest {
    let mut hasher = RangeHasher::new();
    heads.into_iter().for_each(|h| hasher.push(&h));
    hasher.finish()
}

impl Checkpoint {
    /// The checkpoint over the entries from `first` on, whose chain hashes are `heads`; `None` over none.
    #[must_use]
    pub fn over(first: u64, heads: &[Digest]) -> Option<Self> {
        let length = u64::try_from(heads.len()).ok()?;
        let last = first.checked_add(length.checked_sub(1)?)?;
        let digest = checkpoint_digest(heads.iter().copied());
        Some(Self { range: Some((first, last)), digest, head: *heads.last()? })
    }
}

/// Who signs a payload.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_enums, reason = "signed or not")]
pub enum Signer<'k> {
    /// Nobody: the payload is written bare, whatever its type asks for.
    None,
    /// This key: the payload is written as {body, signature}, whatever its type asks for.
    Key(&'k SigningKey),
}

/// One written line.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "what a line is")]
pub struct Line {
    /// canon(entry) and its LF.
    pub bytes: Vec<u8>,
    /// The entry's chain hash.
    pub h: Digest,
    /// The entry's number.
    pub seq: u64,
}

/// The end of a chain that is being written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chain {
    next_seq: u64,
    head: Digest,
}

impl Chain {
    /// A chain without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::resume(0, genesis())
    }

    /// A chain whose last entry has the chain hash `head`, and whose next one has the number `next_seq`.
    #[must_use]
    pub const fn resume(next_seq: u64, head: Digest) -> Self {
        Self { next_seq, head }
    }

    /// The number of the next entry.
    #[must_use]
    pub const fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The chain hash of the last entry, or g.
    #[must_use]
    pub const fn head(&self) -> Digest {
        self.head
    }

    /// Writes the next entry, of time `time` in seconds since 1970. A signed body gets its `type`,
    /// `key_id` and `plan_hash` here.
    pub fn append(
        &mut self,
        time: i64,
        payload: &Payload<'_>,
        signer: Signer<'_>,
        plan_hash: &Digest,
    ) -> Line {
        let type_name = payload.entry_type().as_str();
        let members = payload.to_object();
        let p = match signer {
            Signer::None => members,
            Signer::Key(key) => sign_body(type_name, members, plan_hash, key),
        };
        self.append_raw(&format_utc_seconds(time), type_name, Value::Object(p))
    }

    /// Writes the next entry with whatever time, type and payload.
    pub fn append_raw(&mut self, time: &str, type_name: &str, p: Value<'_>) -> Line {
        let seq = Value::Integer(i64::try_from(self.next_seq).unwrap_or(i64::MAX));
        let body =
            Object::from([("p", p), ("seq", seq), ("t", time.into()), ("type", type_name.into())]);
        self.append_body(&Value::Object(body))
    }

    /// Writes whatever body as the next entry, with the right chain hash.
    pub fn append_body(&mut self, body: &Value<'_>) -> Line {
        let body = canonical(body);
        let h = chain_hash(&self.head, &body);
        let seq = self.next_seq;
        self.head = h;
        self.next_seq = seq.saturating_add(1);
        Line { bytes: line(&body, &h), h, seq }
    }
}

impl Default for Chain {
    fn default() -> Self {
        Self::new()
    }
}

/// The signed object of a body with these members and `type`, `key_id` and `plan_hash`.
#[must_use]
pub fn sign_body<'a>(
    type_name: &'a str,
    mut members: Object<'a>,
    plan_hash: &Digest,
    key: &SigningKey,
) -> Object<'a> {
    members.insert("plan_hash", plan_hash.to_string());
    SignedObject::sign(type_name, members, key)
}

/// The canonical line of an entry, with its LF.
fn line(canonical_body: &[u8], h: &Digest) -> Vec<u8> {
    let h = h.to_string();
    [b"{\"body\":", canonical_body, b",\"h\":\"", h.as_bytes(), b"\"}\n"].concat()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::entry::{Entry, EntryReading};
    use super::super::form::Defects;
    use super::super::limits::Limits;
    use super::*;
    use crate::json::{ReadLimits, parse_canonical};

    #[test]
    fn genesis_is_the_published_constant() {
        let published = "sha256:6f38575f24d5c1d825b82fc5546e4a30a7b360750c1455b5bbff68c54885dcbf";
        assert_eq!(genesis().to_string(), published);
    }

    #[test]
    fn what_is_appended_reads_back_and_links() {
        let key = SigningKey::from_seed(&[7; 32]);
        let plan_hash = Digest::of(b"plan");
        let mut chain = Chain::new();
        let first = chain.append(0, &Payload::PlanCompleted, Signer::None, &plan_hash);
        let over = Checkpoint::over(first.seq, &[first.h]).unwrap();
        assert_eq!(over.range, Some((0, 0)));
        assert_eq!(over.digest, Domain::CheckpointRange.hash(&[first.h.as_bytes()]));
        let second = chain.append(60, &Payload::Checkpoint(over), Signer::Key(&key), &plan_hash);
        assert_eq!((second.seq, chain.next_seq(), chain.head()), (1, 2, second.h));

        let bytes = second.bytes.strip_suffix(b"\n").unwrap();
        let value = parse_canonical(bytes, &ReadLimits::DEFAULT).unwrap();
        let body = value.as_object().unwrap().get("body").unwrap();
        assert_eq!(chain_hash(&first.h, &canonical(body)), second.h);
        let mut defects = Defects::new();
        let EntryReading::Entry(entry) = Entry::read(&value, &Limits::DEFAULT, &mut defects) else {
            unreachable!("{defects:?}")
        };
        assert_eq!((entry.seq, entry.time, entry.h), (1, 60, second.h));
        assert_eq!(entry.payload, Some(Payload::Checkpoint(over)));
        let signed = entry.signed.unwrap();
        assert_eq!((signed.plan_hash, signed.key_id), (Some(plan_hash), Some(key.id())));
        assert!(signed.type_agrees && defects.is_empty());
        key.public_key().verify(&signed.message, &signed.signature.unwrap()).unwrap();
    }

    #[test]
    fn defective_entries_can_be_written() {
        let mut chain = Chain::resume(5, genesis());
        let line = chain.append_raw("noon", "made_up", Value::Null);
        let text = String::from_utf8(line.bytes).unwrap();
        let start = r#"{"body":{"p":null,"seq":5,"t":"noon","type":"made_up"},"h":"sha256:"#;
        assert!(text.starts_with(start) && text.ends_with("\"}\n"), "{text}");
        assert_eq!(Checkpoint::over(0, &[]), None);
        assert_eq!(Checkpoint::over(u64::MAX, &[line.h, line.h]), None);
    }
}
