//! Log entries: a plain or signed statement together with its leaf.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Statement, StatementError};
use crate::digest::Digest;
use crate::json::{self, Fields, Object, ReadLimits, Value};
use crate::merkle;
use crate::signed_object::{
    self, PublicKey, Signature, SignedObject, SignedObjectError, SignerId, SigningKey,
};

/// The longest leaf, in bytes: the canonical form of a plain or signed statement.
pub const MAX_LEAF_BYTES: usize = 4096;

/// The longest document [`LogEntry::read`] looks at. Canonical form removes white space and
/// escapes, so a document may be longer than its leaf, but not without bound.
pub const MAX_INPUT_BYTES: usize = 32 * 1024;

/// A statement, its signature if it has one, its leaf bytes and their RFC 6962 leaf hash.
///
/// The leaf is always the canonical form of the statement, so equal statements with equal
/// signatures are equal entries, however they were spelled. Clones share the leaf bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogEntry {
    statement: Statement,
    /// Whose signature, as the body names it, and the unverified signature.
    signature: Option<(SignerId, Signature)>,
    leaf: Arc<[u8]>,
    leaf_hash: Digest,
}

impl LogEntry {
    /// Reads a plain or signed statement from any strict JSON spelling.
    ///
    /// Order of refusals: size of the document, JSON, size of the leaf, shape, contents.
    pub fn read(bytes: &[u8]) -> Result<Self, StatementError> {
        check_size(bytes.len(), MAX_INPUT_BYTES)?;
        let document = json::read(bytes, &LIMITS)?;
        let leaf = match document.noncanonical_at {
            None => Cow::Borrowed(bytes),
            Some(_) => Cow::Owned(json::canonical(&document.value)),
        };
        Self::from_parts(&document.value, "", &leaf)
    }

    /// Reads leaf bytes back: they must be canonical.
    pub fn from_leaf(leaf: &[u8]) -> Result<Self, StatementError> {
        check_size(leaf.len(), MAX_LEAF_BYTES)?;
        let value = json::parse_canonical(leaf, &LIMITS)?;
        Self::from_parts(&value, "", leaf)
    }

    /// Reads a plain or signed statement that is part of a larger document and stands at `pointer`
    /// there.
    pub fn from_value(value: &Value<'_>, pointer: &str) -> Result<Self, StatementError> {
        Self::from_parts(value, pointer, &json::canonical(value))
    }

    /// The entry of a plain statement.
    pub fn unsigned(statement: Statement) -> Result<Self, StatementError> {
        let leaf = statement.to_object()?.to_canonical();
        Self::new(statement, None, &leaf)
    }

    /// Signs a statement and makes its entry.
    #[expect(clippy::needless_pass_by_value, reason = "as in `unsigned`, its plain counterpart")]
    pub fn signed(statement: Statement, key: &SigningKey) -> Result<Self, StatementError> {
        let leaf = SignedObject::sign(TYPE, statement.to_object()?, key).to_canonical();
        // Read back rather than taken apart: what was written is what every reader will see.
        Self::from_leaf(&leaf)
    }

    /// What the entry says.
    #[must_use]
    pub const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Who the entry says signed it; `None` for a plain statement. Proven only by
    /// [`LogEntry::verify_signature`].
    #[must_use]
    pub fn signer(&self) -> Option<SignerId> {
        self.signature.map(|(signer, _)| signer)
    }

    /// The canonical bytes that are a leaf of the tree, at most [`MAX_LEAF_BYTES`].
    #[must_use]
    pub fn leaf_bytes(&self) -> &[u8] {
        &self.leaf
    }

    /// The RFC 6962 hash of the leaf.
    #[must_use]
    pub const fn leaf_hash(&self) -> Digest {
        self.leaf_hash
    }

    /// The entry as a JSON object, for embedding in a larger document.
    #[must_use]
    pub fn to_object(&self) -> Object<'static> {
        match json::parse(&self.leaf, &LIMITS) {
            Ok(Value::Object(object)) => object.into_owned(),
            // A leaf is the canonical form of an object; there is no other way to make an entry.
            _ => Object::new(),
        }
    }

    /// Verifies the signature under `key`: strict Ed25519 over canon(body), which must name `key`.
    pub fn verify_signature(&self, key: &PublicKey) -> Result<(), StatementError> {
        let Some((signer, signature)) = &self.signature else {
            return Err(StatementError::Unsigned);
        };
        let body = signed_body(&self.leaf).ok_or(StatementError::Signature)?;
        signed_object::verify(*signer, body, signature, key).map_err(|error| match error {
            SignedObjectError::OtherKey { expected, actual } => {
                StatementError::SignatureKey { expected, actual }
            }
            _ => StatementError::Signature,
        })
    }

    /// Reads a statement whose canonical form is `leaf`.
    fn from_parts(value: &Value<'_>, pointer: &str, leaf: &[u8]) -> Result<Self, StatementError> {
        check_size(leaf.len(), MAX_LEAF_BYTES)?;
        let fields = Fields::new(value, pointer)?;
        // One member of a signed object is enough to be meant as one: the refusal then names the
        // other.
        if !fields.has("body") && !fields.has("signature") {
            return Self::new(Statement::read(fields)?, None, leaf);
        }
        let object = SignedObject::read(value, pointer)?;
        let statement = Statement::read(object.fields())?;
        if object.type_name() != TYPE {
            return Err(StatementError::Type);
        }
        Self::new(statement, Some((object.signer(), *object.signature())), leaf)
    }

    fn new(
        statement: Statement,
        signature: Option<(SignerId, Signature)>,
        leaf: &[u8],
    ) -> Result<Self, StatementError> {
        check_size(leaf.len(), MAX_LEAF_BYTES)?;
        Ok(Self { statement, signature, leaf: leaf.into(), leaf_hash: merkle::leaf_hash(leaf) })
    }
}

fn check_size(bytes: usize, limit: usize) -> Result<(), StatementError> {
    if bytes > limit { Err(StatementError::TooLarge { bytes, limit }) } else { Ok(()) }
}

/// canon(body) within the canonical bytes of a signed object.
///
/// Canonical form leaves no freedom: it is what stands between `{"body":` and
/// `,"signature":"<88 characters>"}`.
fn signed_body(leaf: &[u8]) -> Option<&[u8]> {
    let rest = leaf.strip_prefix(br#"{"body":"#)?;
    let tail = br#","signature":"""#.len() + Signature::BASE64_LENGTH + 1;
    rest.get(..rest.len().checked_sub(tail)?)
}

/// The `type` of a signed statement's body.
const TYPE: &str = "statement";

const LIMITS: ReadLimits = ReadLimits::DEFAULT.with_bytes(MAX_INPUT_BYTES);
