//! One line of `witness.jsonl` as bytes: strictly read, and whether it is stored canonically.
//!
//! What it is: the reading of a line without a second copy of it. A canonical line already holds the
//! canonical bytes of its body and of its signed body, at places that its values determine, so hashes and
//! signatures are over slices of the line. What it isn't: the entry; [`LineDocument::entry`] reads that.

use std::borrow::Cow;

use crate::json::{JsonError, Object, ReadLimits, Value, canonical, read};

use super::entry::{Entry, EntryReading};
use super::form::Defects;
use super::limits::Limits;

/// A line as a JSON document.
#[derive(Clone, Debug)]
pub struct LineDocument<'b> {
    bytes: &'b [u8],
    value: Value<'b>,
    canonical: bool,
}

/// Reads one line, given without its LF.
///
/// The line with its LF may have `limits.line_bytes` bytes, and nest to `limits.depth`.
pub fn read_line<'b>(bytes: &'b [u8], limits: &Limits) -> Result<LineDocument<'b>, JsonError> {
    let most = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let limits = ReadLimits::DEFAULT
        .with_bytes(most(limits.line_bytes.saturating_sub(1)))
        .with_depth(most(limits.depth));
    let document = read(bytes, &limits)?;
    let canonical = document.noncanonical_at.is_none();
    Ok(LineDocument { bytes, value: document.value, canonical })
}

impl<'b> LineDocument<'b> {
    /// What the line says.
    #[must_use]
    pub const fn value(&self) -> &Value<'b> {
        &self.value
    }

    /// Whether the line's bytes are the canonical form of what it says (else R1.CHAIN.NONCANONICAL).
    #[must_use]
    pub const fn is_canonical(&self) -> bool {
        self.canonical
    }

    /// canon(body), which the chain hash is over: a slice of the line when that is canonical. `None` when
    /// the line is no object with a body.
    #[must_use]
    pub fn body_bytes(&self) -> Option<Cow<'_, [u8]>> {
        let line = self.value.as_object()?;
        let body = line.get("body")?;
        let stored = || self.stored_body(line);
        Some(stored().map_or_else(|| Cow::Owned(canonical(body)), Cow::Borrowed))
    }

    /// The entry. All defects are noted, with pointers into the line.
    #[must_use]
    pub fn entry(&self, limits: &Limits, defects: &mut Defects) -> EntryReading<'_> {
        Entry::read_stored(&self.value, self.stored_message(), limits, defects)
    }

    /// The body as stored in a canonical line of exactly {body, h}.
    fn stored_body(&self, line: &Object<'_>) -> Option<&'b [u8]> {
        let Value::String(Cow::Borrowed(h)) = line.get("h")? else { return None };
        let exact = self.canonical && line.len() == 2;
        let stored = exact.then_some(self.bytes)?.strip_prefix(b"{\"body\":")?;
        strip_string_member(stored.strip_suffix(b"}")?, "h", h)
    }

    /// The signed body as stored in a canonical line of exactly {body: {p: {body, signature}, seq, t, type},
    /// h}.
    pub(super) fn stored_message(&self) -> Option<&'b [u8]> {
        let line = self.value.as_object()?;
        let body = line.get("body")?.as_object().filter(|body| body.len() == 4)?;
        let p = body.get("p")?.as_object().filter(|p| p.len() == 2)?;
        p.get("body")?;
        let Value::String(Cow::Borrowed(signature)) = p.get("signature")? else { return None };
        let Value::String(Cow::Borrowed(type_name)) = body.get("type")? else { return None };
        let Value::String(Cow::Borrowed(time)) = body.get("t")? else { return None };
        let seq = body.get("seq")?.as_integer()?.to_string();
        let stored = self.stored_body(line)?.strip_prefix(b"{\"p\":{\"body\":")?;
        let stored = strip_string_member(stored.strip_suffix(b"}")?, "type", type_name)?;
        let stored = strip_string_member(stored, "t", time)?;
        let stored = stored.strip_suffix(seq.as_bytes())?.strip_suffix(b"},\"seq\":")?;
        strip_string_member(stored, "signature", signature)
    }
}

/// `stored` without its last member, which is this one: `,"name":"text"`, the text free of escapes.
fn strip_string_member<'b>(stored: &'b [u8], name: &str, text: &str) -> Option<&'b [u8]> {
    let stored = stored.strip_suffix(b"\"")?.strip_suffix(text.as_bytes())?;
    let stored = stored.strip_suffix(b"\":\"")?.strip_suffix(name.as_bytes())?;
    stored.strip_suffix(b",\"")
}
