//! The keys of the suite, by label. Their seeds are digests of public texts: they protect nothing.

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SigningKey;

/// The 32 bytes from which the key with this label is made.
#[must_use]
pub fn seed(label: &str) -> [u8; 32] {
    *Digest::of(format!("anchorlog conformance key {label}").as_bytes()).as_bytes()
}

/// The key with this label.
#[must_use]
pub fn key(label: &str) -> SigningKey {
    SigningKey::from_seed(&seed(label))
}
