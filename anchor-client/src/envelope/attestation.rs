//! Attestations, checked to be about the record before they go into an envelope.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::attestation::Attestation;
use anchorlog_proto::gad::envelope::ItemRow;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{self, JsonError, ReadLimits};

use super::{ATTESTATIONS, item_path};

/// An attestation of an envelope's record, signed by the key it names.
///
/// Whether that key counts is for a policy to say; a negative attestation is one like any other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CheckedAttestation {
    attestation: Attestation,
    bytes: Vec<u8>,
}

impl CheckedAttestation {
    /// Checks that `bytes` are an attestation over this root_core and this plan. They are taken as they
    /// are, which has to be canonical form.
    pub fn check(
        bytes: &[u8],
        root_core: Digest,
        plan_hash: Digest,
        limits: &Limits,
    ) -> Result<Self, AttestationRefusal> {
        let document = json::read(bytes, &ReadLimits::DEFAULT.with_bytes(MAX_ATTESTATION_BYTES))
            .map_err(AttestationRefusal::Json)?;
        if document.noncanonical_at.is_some() {
            return Err(AttestationRefusal::Noncanonical);
        }
        let mut defects = Defects::new();
        let Some(attestation) = Attestation::read(&document.value, limits, &mut defects) else {
            let first = defects.list().first();
            return Err(AttestationRefusal::Form {
                pointer: first.map(|defect| defect.pointer.clone()).unwrap_or_default(),
            });
        };
        let compare = |expected: Digest, actual: Digest, what| {
            if expected == actual {
                Ok(())
            } else {
                Err(AttestationRefusal::Record { what, expected, actual })
            }
        };
        compare(root_core, attestation.body.root_core, "root_core")?;
        compare(plan_hash, attestation.body.plan_hash, "plan_hash")?;
        let signed = &attestation.signed;
        let verified = signed.signature.as_ref().is_some_and(|signature| {
            attestation.credential.key.verify(&signed.message, signature).is_ok()
        });
        if !verified {
            return Err(AttestationRefusal::Signature);
        }
        Ok(Self { attestation, bytes: bytes.to_vec() })
    }

    /// What it says.
    #[must_use]
    pub const fn attestation(&self) -> &Attestation {
        &self.attestation
    }

    /// SHA-256 of its file.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.bytes)
    }

    /// The bytes of its file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its path in an envelope.
    #[must_use]
    pub fn path(&self) -> Box<str> {
        item_path(ATTESTATIONS, "q", &self.bytes, "json")
    }

    /// Its row in the manifest.
    #[must_use]
    pub fn row(&self) -> ItemRow {
        ItemRow { path: self.path(), digest: self.digest() }
    }
}

/// The longest attestation that is read, in bytes: that of the strict reader.
pub const MAX_ATTESTATION_BYTES: usize = 1 << 20;

/// Why a file isn't an attestation of a record.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AttestationRefusal {
    /// Its form isn't whole.
    #[error("is no attestation: its form is wrong at {pointer:?}")]
    Form {
        /// Where, as a JSON pointer.
        pointer: String,
    },
    /// Not JSON.
    #[error(transparent)]
    Json(JsonError),
    /// Not in canonical form.
    #[error("is not in canonical form, in which attestations are kept")]
    Noncanonical,
    /// About another record.
    #[error("attests {what} {actual}; this record's is {expected}")]
    Record {
        /// Which value.
        what: &'static str,
        /// The record's.
        expected: Digest,
        /// The attestation's.
        actual: Digest,
    },
    /// Not signed by the key it names.
    #[error("is not signed by the key of its evaluator_credential")]
    Signature,
}

impl AttestationRefusal {
    /// The stable code of this refusal: that of the verifier where it would refuse the same.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Form { .. } => "ATT.FORM",
            Self::Json(error) => error.code(),
            Self::Noncanonical => "J.NONCANONICAL",
            Self::Record { .. } => "ATT.ROOT_CORE",
            Self::Signature => "ATT.SIG",
        }
    }

    /// Whether the file was read, and says something else than it should.
    pub(super) const fn is_about_the_record(&self) -> bool {
        matches!(self, Self::Record { .. } | Self::Signature)
    }
}
