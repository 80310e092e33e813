//! The hierarchy that the cases share: root, intermediate and a TSA of every kind of key.
//!
//! What it is: a sound PKI at a fixed time, and templates from which cases issue their own variants. What it
//! isn't: varied. Whatever a case needs beyond this, it issues for itself.

use std::sync::Arc;

use super::certificate::{
    BASIC_CONSTRAINTS, Extension, Identity, TIME_STAMPING, Template, authority_key_id, serial,
    subject_key_id, x509_time,
};
use super::keys::Key;
use super::raw::name;

/// genTime of a token that is not about time.
pub const GEN_TIME_TEXT: &str = "20250601120000Z";
/// The same in seconds since 1970.
pub const GEN_TIME: i64 = 1_748_779_200;
/// One year, in seconds.
pub const YEAR: i64 = 31_536_000;
/// The nonce that a request carries and a token repeats.
pub const NONCE: [u8; 16] = [
    0x5b, 0x1f, 0xc3, 0x90, 0x07, 0xe2, 0x48, 0xa6, 0x31, 0xd4, 0x7c, 0x15, 0x88, 0x6e, 0xf0, 0x29,
];
/// What is stamped, hashed by whichever algorithm.
pub const MESSAGE: &[u8] = b"anchorlog forge";
/// The operator of the one trust entry that most cases have.
pub const OPERATOR: &str = "forge";

/// The people of the play.
#[derive(Debug)]
pub struct World {
    /// The root that is trusted.
    pub root: Identity,
    /// A sound root that nobody trusts for time stamps.
    pub other_root: Identity,
    /// The CA between the root and the TSAs, with pathLen 0.
    pub intermediate: Identity,
    /// The TSA of most cases, P-256.
    pub tsa: Identity,
    /// A TSA with P-384.
    pub p384: Identity,
    /// A TSA with P-521.
    pub p521: Identity,
    /// A TSA with Ed25519.
    pub ed25519: Identity,
    /// A TSA with RSA of 2048 bits.
    pub rsa2048: Identity,
    /// A TSA with RSA of 3072 bits.
    pub rsa3072: Identity,
    /// A TSA with RSA of 4096 bits.
    pub rsa4096: Identity,
    /// A TSA with RSA of 1024 bits, which is too short.
    pub rsa1024: Identity,
    /// A TSA right under the other root.
    pub other_tsa: Identity,
}

impl World {
    /// The world, the same each time.
    #[must_use]
    pub fn new() -> Self {
        let root = Identity::root_of("Forge Root", Key::p384("root"));
        let other_root = Identity::root_of("Forge Other Root", Key::p256("other root"));
        let intermediate = root.ca("Forge Issuing CA", Key::p256("intermediate"), Some(0));
        let tsa = |label: &str, key| intermediate.tsa(label, key);
        Self {
            tsa: tsa("Forge TSA P-256", Key::p256("tsa")),
            p384: tsa("Forge TSA P-384", Key::p384("tsa")),
            p521: tsa("Forge TSA P-521", Key::p521("tsa")),
            ed25519: tsa("Forge TSA Ed25519", Key::ed25519("tsa")),
            rsa2048: tsa("Forge TSA RSA 2048", Key::rsa(RSA_2048)),
            rsa3072: tsa("Forge TSA RSA 3072", Key::rsa(RSA_3072)),
            rsa4096: tsa("Forge TSA RSA 4096", Key::rsa(RSA_4096)),
            rsa1024: tsa("Forge TSA RSA 1024", Key::rsa(RSA_1024)),
            other_tsa: other_root.tsa("Forge Other TSA", Key::p256("other tsa")),
            root,
            other_root,
            intermediate,
        }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl Identity {
    /// A root with this name and key.
    #[must_use]
    pub fn root_of(common: &str, key: Key) -> Self {
        let mut template = template(common, &key, &name(common));
        template.extensions =
            vec![Extension::ca(None), Extension::key_usage(&[5, 6]), subject_key_id(&key)];
        template.valid("20200101000000Z", "20400101000000Z");
        Self::root(template, Arc::new(key))
    }

    /// A CA under this one.
    #[must_use]
    pub fn ca(&self, common: &str, key: Key, path_length: Option<u64>) -> Self {
        let mut template = template(common, &key, &self.template.subject);
        template.extensions = vec![
            Extension::ca(path_length),
            Extension::key_usage(&[5, 6]),
            subject_key_id(&key),
            authority_key_id(&self.key),
        ];
        template.valid("20220101000000Z", "20350101000000Z");
        Self::issued(template, Arc::new(key), self)
    }

    /// A TSA under this CA.
    #[must_use]
    pub fn tsa(&self, common: &str, key: Key) -> Self {
        let mut template = template(common, &key, &self.template.subject);
        template.extensions = vec![
            Extension::new(BASIC_CONSTRAINTS, true, super::raw::sequence::<&[u8]>([])),
            Extension::key_usage(&[0]),
            Extension::purposes(true, &[TIME_STAMPING]),
            subject_key_id(&key),
            authority_key_id(&self.key),
        ];
        template.valid("20240101000000Z", "20300101000000Z");
        Self::issued(template, Arc::new(key), self)
    }

    /// The same subject and key with a changed certificate, issued by `issuer`.
    #[must_use]
    pub fn again(&self, issuer: &Self, change: impl FnOnce(&mut Template)) -> Self {
        let mut template = self.template.clone();
        change(&mut template);
        Self::issued(template, Arc::clone(&self.key), issuer)
    }
}

/// What every certificate begins with.
fn template(common: &str, key: &Key, issuer: &[u8]) -> Template {
    Template {
        version: Some(2),
        serial: serial(common, 16),
        issuer: issuer.to_vec(),
        subject: name(common),
        not_before: x509_time("20200101000000Z"),
        not_after: x509_time("20400101000000Z"),
        spki: key.spki(),
        extensions: Vec::new(),
        scheme: None,
        inner_algorithm: None,
        outer_algorithm: None,
        break_signature: false,
        forger: None,
    }
}

/// Each made once with `openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:N`: making such keys takes a
/// debug build longer than all the rest. They are test keys, public on purpose.
pub(super) const RSA_2048: &str = include_str!("../../vectors/forge/rsa-2048.pem");
pub(super) const RSA_3072: &str = include_str!("../../vectors/forge/rsa-3072.pem");
pub(super) const RSA_4096: &str = include_str!("../../vectors/forge/rsa-4096.pem");
pub(super) const RSA_1024: &str = include_str!("../../vectors/forge/rsa-1024.pem");
