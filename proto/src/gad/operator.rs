//! The operator record (`gad.operator/1`): who ran it, a required member of the core.

use crate::json::Value;
use crate::signed_object::{PublicKey, SignerId};

use super::code::{FormCode, IND_OPERATOR_MISSING, R1_ISSUER_WEAK_KEY};
use super::emit::{object, text};
use super::form::{At, Cell, Defects};
use super::plan::ALGORITHM;

/// The schema name.
pub const OPERATOR_SCHEMA: &str = "gad.operator/1";

/// Whoever answers for the run.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Operator {
    /// Its legal or organizational identity.
    pub identity: Box<str>,
    /// Its credential.
    pub credential: Credential,
    /// The implementation it ran.
    pub implementation: Box<str>,
    /// Its unit.
    pub unit: Box<str>,
    /// The engagement or lane.
    pub engagement: Box<str>,
}

/// The longest text of an operator record, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 1024;

impl Operator {
    /// Reads an operator record to the end. An absent member, of the credential too, is
    /// IND.OPERATOR_MISSING; `None` when anything else than an extra member is wrong.
    #[must_use]
    pub fn read(value: &Value<'_>, defects: &mut Defects) -> Option<Self> {
        Cell::new(value, &At::root(""), defects).object(|reader| {
            reader.allow_ext();
            let schema = reader
                .declared("schema", IND_OPERATOR_MISSING, |cell| cell.literal(OPERATOR_SCHEMA));
            let mut text = |name| {
                reader.declared(name, IND_OPERATOR_MISSING, |cell| cell.text(1..=MAX_TEXT_BYTES))
            };
            let identity = text("legal_or_organizational_identity");
            let implementation = text("implementation_identity");
            let unit = text("organizational_unit");
            let engagement = text("engagement_or_lane_id");
            let credential = reader.declared("operator_credential", IND_OPERATOR_MISSING, |cell| {
                Credential::read_declared(cell, Some(IND_OPERATOR_MISSING))
            });
            schema?;
            Some(Self {
                identity: identity?.into(),
                credential: credential?,
                implementation: implementation?.into(),
                unit: unit?.into(),
                engagement: engagement?.into(),
            })
        })
    }

    /// The record as JSON; extensions aren't kept.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        object([
            ("engagement_or_lane_id", text(&self.engagement)),
            ("implementation_identity", text(&self.implementation)),
            ("legal_or_organizational_identity", text(&self.identity)),
            ("operator_credential", self.credential.to_value()),
            ("organizational_unit", text(&self.unit)),
            ("schema", text(OPERATOR_SCHEMA)),
        ])
    }
}

/// A key with its id: `{alg, key_id, public_key}`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Credential {
    /// The key.
    pub key: PublicKey,
    /// The id as stated. Recomputed where it matters, never trusted.
    pub key_id: SignerId,
}

impl Credential {
    /// The credential of a key.
    #[must_use]
    pub fn of(key: PublicKey) -> Self {
        Self { key, key_id: key.id() }
    }

    /// Reads a credential. What is wrong is noted under the code of its member; without one, a key that
    /// proves nothing (of small order, or no canonical point) is R1.ISSUER.WEAK_KEY.
    #[must_use]
    pub fn read(cell: Cell<'_, '_>) -> Option<Self> {
        Self::read_declared(cell, None)
    }

    /// The same, with a code for members that are absent.
    fn read_declared(cell: Cell<'_, '_>, absent: Option<FormCode>) -> Option<Self> {
        cell.object(|reader| {
            let alg = reader.declared("alg", absent, |cell| cell.literal(ALGORITHM));
            let key_id = reader.declared("key_id", absent, |cell| cell.key_id());
            let key = reader.declared("public_key", absent, public_key);
            alg?;
            Some(Self { key: key?, key_id: key_id? })
        })
    }

    /// The credential as JSON.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        object([
            ("alg", text(ALGORITHM)),
            ("key_id", text(self.key_id)),
            ("public_key", text(self.key.to_base64())),
        ])
    }
}

fn public_key(mut cell: Cell<'_, '_>) -> Option<PublicKey> {
    let bytes = cell.reborrow().base64::<32>()?;
    match PublicKey::from_bytes(&bytes) {
        Ok(key) => Some(key),
        Err(_) => cell.refuse(R1_ISSUER_WEAK_KEY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{ReadLimits, canonical, parse};
    use crate::signed_object::SigningKey;

    fn good() -> String {
        let credential = Credential::of(SigningKey::from_seed(&[1; 32]).public_key());
        let operator = Operator {
            identity: "Example Ltd".into(),
            credential,
            implementation: "engine 1".into(),
            unit: "unit".into(),
            engagement: "lane".into(),
        };
        String::from_utf8(canonical(&operator.to_value())).unwrap()
    }

    fn read(text: &str) -> (Option<Operator>, Vec<String>) {
        let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        let mut defects = Defects::new();
        let operator = Operator::read(&value, &mut defects);
        let list = defects.list().iter();
        (operator, list.map(|d| format!("{} {}", d.code.as_str(), d.pointer)).collect())
    }

    #[test]
    fn a_good_record_reads_and_writes_back() {
        let (operator, defects) = read(&good());
        assert_eq!(defects, [""; 0]);
        assert_eq!(canonical(&operator.unwrap().to_value()), good().into_bytes());
    }

    #[test]
    fn absent_members_have_the_rule_s_code() {
        for (name, place) in [
            ("schema", ""),
            ("legal_or_organizational_identity", ""),
            ("implementation_identity", ""),
            ("organizational_unit", ""),
            ("engagement_or_lane_id", ""),
            ("operator_credential", ""),
            ("alg", "/operator_credential"),
            ("key_id", "/operator_credential"),
            ("public_key", "/operator_credential"),
        ] {
            let (operator, defects) = read(&good().replace(&format!("\"{name}\":"), "\"zz\":"));
            assert_eq!(operator, None);
            assert_eq!(
                defects,
                [
                    format!("IND.OPERATOR_MISSING {place}/{name}"),
                    format!("J.UNKNOWN_FIELD {place}/zz")
                ]
            );
        }
    }

    #[test]
    fn wrong_members_have_the_codes_of_the_form() {
        for (from, to, expected) in [
            ("\"unit\"", "\"\"", "J.ENUM /organizational_unit"),
            ("\"unit\"", "1", "J.TYPE /organizational_unit"),
            ("gad.operator/1", "gad.operator/2", "J.ENUM /schema"),
            ("ed25519", "rsa", "J.ENUM /operator_credential/alg"),
            ("gadk1:", "gadk1", "J.DIGEST_FORM /operator_credential/key_id"),
            ("{\"alg\"", "{\"ext\":{},\"alg\"", "J.UNKNOWN_FIELD /operator_credential/ext"),
            ("{\"eng", "{\"ext\":[],\"eng", "J.TYPE /ext"),
        ] {
            let text = good();
            assert!(text.contains(from), "{from}");
            assert_eq!(read(&text.replacen(from, to, 1)).1, [expected]);
        }
        let key = SigningKey::from_seed(&[1; 32]).public_key().to_base64();
        let of = |key_text: &str| read(&good().replace(&key, key_text)).1;
        assert_eq!(of("AAAA"), ["J.B64_FORM /operator_credential/public_key"]);
        let zero = crate::encoding::base64_encode(&[0; 32]);
        assert_eq!(of(&zero), ["R1.ISSUER.WEAK_KEY /operator_credential/public_key"]);
    }

    #[test]
    fn the_stated_id_is_kept_and_never_believed() {
        let own = SigningKey::from_seed(&[1; 32]).id();
        let other = SigningKey::from_seed(&[2; 32]).id();
        let (operator, defects) = read(&good().replace(&own.to_string(), &other.to_string()));
        assert_eq!(defects, [""; 0]);
        let credential = operator.unwrap().credential;
        assert_eq!((credential.key_id, credential.key.id()), (other, own));
    }
}
