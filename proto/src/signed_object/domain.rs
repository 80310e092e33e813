//! Domain separation of the byte profile `gad-bytes/1`: what is hashed says what it is.

use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

/// A hashing domain. Its prefix is ASCII `gad/1/`, the label and one zero byte.
///
/// The zero byte ends the label and no label holds one, so no prefix starts another one. What
/// follows in every use is fixed-length items and then at most one canonical JSON text, so that no
/// length fields are needed.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Domain {
    /// `genesis`: the constant that starts every chain.
    Genesis,
    /// `plan`: the hash of a frozen plan.
    Plan,
    /// `chain`: the hash of one witness entry.
    Chain,
    /// `core-manifest`: `root_core`.
    CoreManifest,
    /// `envelope-manifest`: `root_envelope`.
    EnvelopeManifest,
    /// `test-spec`: the digest of a frozen test.
    TestSpec,
    /// `trust-policy`: the hash of a trust policy.
    TrustPolicy,
    /// `workspace-baseline`: the digest of a workspace's files.
    WorkspaceBaseline,
    /// `checkpoint-range`: the digest over a checkpoint's chain hashes.
    CheckpointRange,
    /// `key-id`: the identifier of a signer's key.
    KeyId,
    /// `replay-sample`: which entries a sampled replay exercises.
    ReplaySample,
}

impl Domain {
    /// Every domain.
    pub const ALL: [Self; 11] = [
        Self::Genesis,
        Self::Plan,
        Self::Chain,
        Self::CoreManifest,
        Self::EnvelopeManifest,
        Self::TestSpec,
        Self::TrustPolicy,
        Self::WorkspaceBaseline,
        Self::CheckpointRange,
        Self::KeyId,
        Self::ReplaySample,
    ];

    /// The bytes every hash of this domain starts with.
    #[must_use]
    pub const fn prefix(self) -> &'static [u8] {
        match self {
            Self::Genesis => b"gad/1/genesis\0",
            Self::Plan => b"gad/1/plan\0",
            Self::Chain => b"gad/1/chain\0",
            Self::CoreManifest => b"gad/1/core-manifest\0",
            Self::EnvelopeManifest => b"gad/1/envelope-manifest\0",
            Self::TestSpec => b"gad/1/test-spec\0",
            Self::TrustPolicy => b"gad/1/trust-policy\0",
            Self::WorkspaceBaseline => b"gad/1/workspace-baseline\0",
            Self::CheckpointRange => b"gad/1/checkpoint-range\0",
            Self::KeyId => b"gad/1/key-id\0",
            Self::ReplaySample => b"gad/1/replay-sample\0",
        }
    }

    /// SHA-256 over the prefix and the concatenation of `parts`.
    #[must_use]
    pub fn hash(self, parts: &[&[u8]]) -> Digest {
        let mut hasher = Sha256::new_with_prefix(self.prefix());
        for part in parts {
            hasher.update(part);
        }
        Digest::from_bytes(hasher.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genesis_is_the_published_constant() {
        assert_eq!(
            Domain::Genesis.hash(&[]).to_string(),
            "sha256:6f38575f24d5c1d825b82fc5546e4a30a7b360750c1455b5bbff68c54885dcbf"
        );
    }

    #[test]
    fn parts_are_concatenated_after_the_prefix() {
        assert_eq!(Domain::Chain.hash(&[b"a", b"bc"]), Digest::of(b"gad/1/chain\0abc"),);
    }

    #[test]
    fn no_prefix_starts_another() {
        for one in Domain::ALL {
            assert_eq!(one.prefix().last(), Some(&0));
            for other in Domain::ALL {
                assert_eq!(other.prefix().starts_with(one.prefix()), one == other);
            }
        }
    }
}
