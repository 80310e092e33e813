//! Evidence envelopes: a core with what others said about it, in versions that keep what came before.
//!
//! What it is: [`create`] packages an exported core as E_0; [`Envelope::open`] reads an envelope that holds
//! together, [`Envelope::extend`] makes the next version with more [`CheckedAnchor`]s and
//! [`CheckedAttestation`]s; [`sources`] fetches anchors from logs and time-stamping authorities,
//! [`commitment`] those over a plan before its first dispatch; [`archive`] packs and unpacks.
//!
//! What it isn't: a judge. Whether an anchor counts is for a policy and `verifier envelope` to say; here it
//! is only made sure that what goes in is over the right value, and that nothing that was there is lost.
//!
//! Versions, after "Envelopes are versioned snapshots" (GAD 1.3, section 2): E_0 packages the core and its
//! anchors; an evaluation of E_k gives Q_(k+1); E_(k+1) is E_k and Q_(k+1), and names E_k's root_envelope as
//! its predecessor. So
//!
//! - an envelope without attestations is still being put together: an anchor extends it, in place or in a
//!   copy, and its predecessor stays what it was ([`Step::Extension`]);
//! - an envelope that carries an attestation is never changed: an anchor gives its successor
//!   ([`Step::Successor`]);
//! - an attestation always gives a successor;
//! - every item of the predecessor is kept, with its path and its bytes, and so are its core and its seal.
//!
//! A directory appears whole or not at all, and an envelope in place is exchanged for the extended one in
//! one step; what is about to be published is opened again first, so that nothing is published that
//! wouldn't be read. What is made depends on what is given alone: equal inputs give equal bytes.
#![allow(
    clippy::doc_markdown,
    reason = "the specification's symbols are written as it writes them"
)]

mod anchor;
pub mod archive;
mod attestation;
pub mod commitment;
mod create;
mod error;
mod extend;
mod judge;
pub mod needs;
mod open;
pub mod sources;
mod staging;

pub use anchor::{AnchorError, AnchorForm, CheckedAnchor, Targets};
pub use attestation::{AttestationRefusal, CheckedAttestation, MAX_ATTESTATION_BYTES};
pub use create::{Created, Head, NewEnvelope, create};
pub use error::{EnvelopeError, describe};
pub use extend::{Addition, Extended, Place, Step};
pub use open::Envelope;

/// The folder of anchors.
pub const ANCHORS: &str = "anchors";

/// The folder of attestations.
pub const ATTESTATIONS: &str = "attestations";

/// The name of an item's file: what it is, and the first bytes of its SHA-256. So equal files have equal
/// names, wherever they came from, and no two names differ in case alone.
fn item_path(folder: &str, what: &str, bytes: &[u8], extension: &str) -> Box<str> {
    let digest = anchorlog_proto::Digest::of(bytes).to_hex();
    let short = digest.get(..16).unwrap_or(&digest);
    format!("{folder}/{what}-{short}.{extension}").into()
}
