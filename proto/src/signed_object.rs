//! Signed objects: `{"body": …, "signature": …}`, where the signed message is exactly canon(body).
//!
//! What it is: the one signed form of GAD records and of signed statements, and the Ed25519 keys it
//! is made with. There is no outer framing; domain separation lives in the body, which always says
//! its `type` and its signer's `key_id` (GAD bodies also their `plan_hash`, which their own formats
//! require). What it isn't: a decision whom to trust. A key found in the data is no key; callers
//! bring the [`PublicKey`] from a registry or a policy.

#[cfg(test)]
mod corpus_tests;
mod domain;
mod key;

pub use domain::Domain;
pub use key::{InvalidSignature, KeyError, PublicKey, Signature, SignerId, SigningKey};

use crate::json::{Fields, JsonCode, JsonError, Object, Value};

/// Why a signed object is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignedObjectError {
    /// The JSON isn't that of a signed object.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Bytes or text aren't an acceptable key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The object names another signer than the key it is checked with.
    #[error("signed by {actual}, checked with the key {expected}")]
    OtherKey {
        /// The identifier of the key at hand.
        expected: SignerId,
        /// The identifier the body names.
        actual: SignerId,
    },
    /// The signature doesn't verify.
    #[error(transparent)]
    Signature(#[from] InvalidSignature),
}

impl SignedObjectError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::Key(error) => error.code(),
            Self::OtherKey { .. } => "SIG.KEY_ID",
            Self::Signature(_) => "SIG.INVALID",
        }
    }
}

/// A signed object as it was read; nothing about its signature is known until
/// [`SignedObject::verify`] says so.
#[derive(Clone, Debug)]
pub struct SignedObject<'v> {
    body: &'v Object<'v>,
    type_name: &'v str,
    signer: SignerId,
    signature: Signature,
    /// Pointer to the body.
    pointer: String,
}

impl<'v> SignedObject<'v> {
    /// Signs `body` after setting its `type` and `key_id`, and returns the signed object.
    #[must_use]
    pub fn sign<'a>(type_name: &'a str, mut body: Object<'a>, key: &SigningKey) -> Object<'a> {
        body.insert("type", type_name);
        body.insert("key_id", key.id().to_string());
        let signature = key.sign(&body.to_canonical());
        Object::from([
            ("body", Value::Object(body)),
            ("signature", Value::from(signature.to_base64())),
        ])
    }

    /// Reads the closed object `{body, signature}` that stands at `pointer`, and of its body `type`
    /// and `key_id`.
    pub fn read(value: &'v Value<'v>, pointer: impl Into<String>) -> Result<Self, JsonError> {
        let mut fields = Fields::new(value, pointer)?;
        let body = fields.required("body")?;
        let signature = fields.string("signature")?;
        let signature = Signature::from_base64(signature)
            .map_err(|_| fields.error(JsonCode::B64Form, "signature"))?;
        let pointer = fields.pointer_to("body");
        fields.finish()?;
        let Some(body) = body.as_object() else {
            return Err(JsonError::at(JsonCode::Type, pointer));
        };
        let mut fields = Fields::of(body, pointer);
        let type_name = fields.string("type")?;
        let signer = fields.string("key_id")?;
        let signer = signer.parse().map_err(|_| fields.error(JsonCode::DigestForm, "key_id"))?;
        Ok(Self { body, type_name, signer, signature, pointer: fields.pointer().to_owned() })
    }

    /// The whole body.
    #[must_use]
    pub const fn body(&self) -> &'v Object<'v> {
        self.body
    }

    /// The body for reading its other members: `type` and `key_id` are already known.
    pub fn fields(&self) -> Fields<'v> {
        let mut fields = Fields::of(self.body, self.pointer.clone());
        fields.optional("type");
        fields.optional("key_id");
        fields
    }

    /// What the body says it is.
    #[must_use]
    pub const fn type_name(&self) -> &'v str {
        self.type_name
    }

    /// The key the body says it is signed with.
    #[must_use]
    pub const fn signer(&self) -> SignerId {
        self.signer
    }

    /// The signature, unverified.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Verifies the signature over canon(body) under `key`, whose identifier the body must name.
    pub fn verify(&self, key: &PublicKey) -> Result<(), SignedObjectError> {
        verify(self.signer, &self.body.to_canonical(), &self.signature, key)
    }
}

/// Verifies a signature over the canonical bytes of a body that names `signer`.
pub(crate) fn verify(
    signer: SignerId,
    canonical_body: &[u8],
    signature: &Signature,
    key: &PublicKey,
) -> Result<(), SignedObjectError> {
    let expected = key.id();
    if signer != expected {
        return Err(SignedObjectError::OtherKey { expected, actual: signer });
    }
    Ok(key.verify(canonical_body, signature)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test may panic")]

    use super::*;
    use crate::json::{ReadLimits, canonical, parse};

    fn key() -> SigningKey {
        SigningKey::from_seed(&[9; 32])
    }

    fn signed() -> String {
        let body = Object::from([("seq", 4_u32), ("n", 1)]);
        let object = SignedObject::sign("verdict", body, &key());
        String::from_utf8(object.to_canonical()).unwrap()
    }

    fn with_parsed<T>(
        text: &str,
        check: impl FnOnce(Result<SignedObject<'_>, JsonError>) -> T,
    ) -> T {
        let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        check(SignedObject::read(&value, "/p"))
    }

    #[test]
    fn what_is_signed_reads_back_and_verifies() {
        with_parsed(&signed(), |object| {
            let object = object.unwrap();
            assert_eq!(object.type_name(), "verdict");
            assert_eq!(object.signer(), key().id());
            let mut fields = object.fields();
            assert_eq!(fields.unsigned("seq").unwrap(), 4);
            assert_eq!(fields.error(JsonCode::Enum, "seq").pointer, "/p/body/seq");
            assert_eq!(fields.finish().unwrap_err().pointer, "/p/body/n");
            object.verify(&key().public_key()).unwrap();
        });
    }

    #[test]
    fn the_message_is_exactly_the_canonical_body() {
        with_parsed(&signed(), |object| {
            let object = object.unwrap();
            let message = canonical(&Value::Object(object.body().clone()));
            key().public_key().verify(&message, object.signature()).unwrap();
            assert!(message.starts_with(br#"{"key_id":"gadk1:"#));
        });
        // Another spelling of the same body has the same canonical form.
        let spaced = signed().replace(r#""seq":4"#, r#" "\u0073eq" : 4"#);
        with_parsed(&spaced, |object| object.unwrap().verify(&key().public_key()).unwrap());
    }

    #[test]
    fn every_change_is_noticed() {
        let refusal = |text: &str, key: &SigningKey| {
            with_parsed(text, |object| object.unwrap().verify(&key.public_key()).unwrap_err())
        };
        assert_eq!(
            refusal(&signed().replace("\"seq\":4", "\"seq\":5"), &key()).code(),
            "SIG.INVALID"
        );
        let other = SigningKey::from_seed(&[8; 32]);
        let error = refusal(&signed(), &other);
        assert_eq!(error.code(), "SIG.KEY_ID");
        assert_eq!(error, SignedObjectError::OtherKey { expected: other.id(), actual: key().id() });
    }

    #[test]
    fn the_form_is_closed() {
        let refusal = |text: &str| {
            with_parsed(text, |object| {
                let error = object.unwrap_err();
                (error.code(), error.pointer)
            })
        };
        let expect = |code, pointer: &str| (code, pointer.to_owned());
        let good = signed();
        assert_eq!(refusal("[]"), expect("J.TYPE", "/p"));
        assert_eq!(refusal("{}"), expect("J.MISSING_FIELD", "/p/body"));
        assert_eq!(refusal(r#"{"body":{}}"#), expect("J.MISSING_FIELD", "/p/signature"));
        assert_eq!(
            refusal(&good.replacen('{', r#"{"ext":{},"#, 1)),
            expect("J.UNKNOWN_FIELD", "/p/ext")
        );
        assert_eq!(
            refusal(&good.replace(r#""signature":""#, r#""signature":"A"#)),
            expect("J.B64_FORM", "/p/signature")
        );
        assert_eq!(
            refusal(&good.replace("gadk1:", "gadk2:")),
            expect("J.DIGEST_FORM", "/p/body/key_id")
        );
        assert_eq!(refusal(&good.replace("\"verdict\"", "1")), expect("J.TYPE", "/p/body/type"));
        let without_type = good.replace(r#","type":"verdict""#, "");
        assert_eq!(refusal(&without_type), expect("J.MISSING_FIELD", "/p/body/type"));
    }
}
