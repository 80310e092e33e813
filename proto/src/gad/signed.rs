//! Signed objects inside GAD records, `{body, signature}`, read to the end.
//!
//! What it is: the wrapper of the individually signed entry types and of human-issued claims: who signs,
//! what is signed, and whether the body says so itself. What it isn't: a verified signature; nothing is
//! known about it until a registered key says so. [`crate::signed_object`] is the same form for formats
//! that stop at the first defect.

use crate::digest::Digest;
use crate::encoding::base64_decode_array;
use crate::json::{JsonCode, Object, Value};
use crate::signed_object::{Signature, SignerId};

use super::form::{At, Cell, Defects, Reader};

/// Who signed a body, and what is signed. Nothing is known about the signature.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Signed {
    /// The body's own `type` is the expected one (else R1.ISSUER.BODY_TYPE).
    pub type_agrees: bool,
    /// The body's `plan_hash`.
    pub plan_hash: Option<Digest>,
    /// The signer the body names.
    pub key_id: Option<SignerId>,
    /// The signature; `None` when it is not base64 of 64 bytes.
    pub signature: Option<Signature>,
    /// canon(body): the message.
    pub message: Vec<u8>,
}

impl Signed {
    /// Reads the signed object that stands at `at`, and of its body the members that every signed body
    /// has; the body is given back for the others.
    ///
    /// `None`, and no defect, when `value` isn't an object of exactly `body`, an object, and `signature`:
    /// whether that is R1.ISSUER.UNSIGNED or something else is for the caller. A signature that isn't
    /// base64 of 64 bytes is [`JsonCode::B64Form`]; a `type` that differs from `expected_type` is no defect
    /// but told by [`Signed::type_agrees`].
    #[must_use]
    pub fn read<'v>(
        value: &'v Value<'v>,
        expected_type: &str,
        at: &At<'_>,
        defects: &mut Defects,
    ) -> Option<(Self, &'v Object<'v>)> {
        Self::read_stored(value, None, expected_type, at, defects)
    }

    /// The same for a body that is known to have the canonical bytes `message`.
    pub(super) fn read_stored<'v>(
        value: &'v Value<'v>,
        message: Option<&[u8]>,
        expected_type: &str,
        at: &At<'_>,
        defects: &mut Defects,
    ) -> Option<(Self, &'v Object<'v>)> {
        let (body, signature) = parts(value)?;
        let mut signed = Self::read_members(body, expected_type, &at.member("body"), defects);
        signed.signature = signature
            .as_str()
            // Refused by its length first, so that nothing long is ever decoded.
            .filter(|text| text.len() == Signature::BASE64_LENGTH)
            .and_then(|text| base64_decode_array(text).ok())
            .map(Signature::from_bytes);
        if signed.signature.is_none() {
            defects.push(JsonCode::B64Form, &at.member("signature"));
        }
        signed.message = message.map_or_else(|| body.to_canonical(), <[u8]>::to_vec);
        Some((signed, body))
    }

    /// The members that every signed body has.
    fn read_members(
        body: &Object<'_>,
        expected_type: &str,
        at: &At<'_>,
        defects: &mut Defects,
    ) -> Self {
        let mut member = |name: &'static str| {
            let value = body.get(name);
            if value.is_none() {
                defects.push(JsonCode::MissingField, &at.member(name));
            }
            value
        };
        let (type_name, plan_hash, key_id) =
            (member("type"), member("plan_hash"), member("key_id"));
        let type_name =
            type_name.and_then(|value| Cell::new(value, &at.member("type"), defects).string());
        let plan_hash =
            plan_hash.and_then(|value| Cell::new(value, &at.member("plan_hash"), defects).digest());
        let key_id =
            key_id.and_then(|value| Cell::new(value, &at.member("key_id"), defects).key_id());
        Self {
            type_agrees: type_name == Some(expected_type),
            plan_hash,
            key_id,
            signature: None,
            message: Vec::new(),
        }
    }

    /// Makes the members known that [`Signed::read`] has read, when the body is then read as a closed
    /// object.
    pub fn skip_members(body: &mut Reader<'_, '_>) {
        for name in ["key_id", "plan_hash", "type"] {
            body.raw(name);
        }
    }
}

/// Body and signature, where `value` is an object of exactly these and the body an object.
fn parts<'v>(value: &'v Value<'v>) -> Option<(&'v Object<'v>, &'v Value<'v>)> {
    let object = value.as_object().filter(|object| object.len() == 2)?;
    Some((object.get("body")?.as_object()?, object.get("signature")?))
}
