//! The next version of an envelope: the same with more anchors, or its successor.

use std::io;
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::envelope::{EnvelopeManifest, Metadata, root_envelope};
use anchorlog_proto::json::canonical;
use anchorlog_verifier::gad::container::Form;
use anchorlog_verifier::gad::rules::r1_envelope::ENVELOPE;

use super::anchor::CheckedAnchor;
use super::attestation::CheckedAttestation;
use super::error::EnvelopeError;
use super::open::Envelope;
use super::staging;
use crate::durable::{DurableError, Operation, StagedDirectory};
use crate::state::read_file;

/// What the next version of an envelope is to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the versions of envelopes know these two")]
pub enum Step {
    /// The same envelope with more anchors: it has its predecessor, and its words about itself.
    Extension,
    /// Another envelope, whose predecessor it is.
    Successor,
}

impl Step {
    /// The word of reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Extension => "extension",
            Self::Successor => "successor",
        }
    }
}

/// What to add.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_enums, reason = "the two kinds of items")]
#[allow(clippy::large_enum_variant, reason = "a few in the life of an envelope")]
pub enum Addition {
    /// An anchor.
    Anchor(CheckedAnchor),
    /// An attestation; always gives a successor.
    Attestation(CheckedAttestation),
}

/// Where the result goes, and how it is to be called.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Place<'a> {
    /// A new directory; `None`: the envelope's own, which only an [`Step::Extension`] can take.
    pub out: Option<&'a Path>,
    /// Whether to make a successor where an extension would do.
    pub successor: bool,
    /// Who makes a successor, and when, in seconds since 1970. An extension keeps what was said.
    pub metadata: Metadata,
}

/// An envelope that was made of another.
#[derive(Debug)]
#[non_exhaustive]
pub struct Extended {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is to the other one.
    pub step: Step,
    /// Its root_envelope.
    pub root_envelope: Digest,
    /// Its manifest.
    pub manifest: EnvelopeManifest,
    /// The paths of what was added; what the envelope had already isn't among them.
    pub added: Vec<Box<str>>,
}

impl Envelope {
    /// What adding these gives.
    #[must_use]
    pub fn step(&self, additions: &[Addition], successor: bool) -> Step {
        let attests = additions.iter().any(|one| matches!(one, Addition::Attestation(_)));
        if attests || successor || !self.manifest().attestations.is_empty() {
            Step::Successor
        } else {
            Step::Extension
        }
    }

    /// Makes the next version, with these added.
    ///
    /// An item that is there already, byte for byte, is passed over; when nothing is left to add, that is
    /// [`EnvelopeError::Known`], and nothing is made.
    pub fn extend(
        &self,
        additions: &[Addition],
        place: &Place<'_>,
        limits: &Limits,
    ) -> Result<Extended, EnvelopeError> {
        let step = self.step(additions, place.successor);
        self.check_place(step, place)?;
        let mut manifest = match step {
            Step::Extension => self.manifest().clone(),
            Step::Successor => {
                let mut next = self.manifest().successor(self.root_envelope());
                next.metadata = Some(place.metadata.clone());
                next
            }
        };
        let mut new: Vec<(Box<str>, &[u8])> = Vec::new();
        for addition in additions {
            let (path, bytes, fresh) = match addition {
                Addition::Anchor(one) => (one.path(), one.bytes(), manifest.add_anchor(one.row())),
                Addition::Attestation(one) => {
                    (one.path(), one.bytes(), manifest.add_attestation(one.row()))
                }
            };
            if fresh {
                new.push((path, bytes));
            }
        }
        if new.is_empty() {
            let first = additions.first().map(|one| match one {
                Addition::Anchor(one) => one.path(),
                Addition::Attestation(one) => one.path(),
            });
            return Err(EnvelopeError::Known { path: first.unwrap_or_else(|| ENVELOPE.into()) });
        }
        let target = place.out.unwrap_or(self.path());
        let mut staged = StagedDirectory::beside(target)?;
        match staging::copy(self.bundle(), self.path(), |path| path != ENVELOPE, &mut staged) {
            // What was opened is gone: something else is in its place.
            Err(_) if place.out.is_none() && !self.is_still_there(limits) => {
                return self.again(additions, place, limits);
            }
            copied => copied?,
        }
        for (path, mut bytes) in new.iter().cloned() {
            staged.write(&path, &mut bytes)?;
        }
        staged.write(ENVELOPE, &mut canonical(&manifest.to_value()).as_slice())?;
        let root = reopen(&staged, limits)?.root_envelope();
        match place.out {
            Some(_) => staged.publish()?,
            None => {
                if !staged.exchange_if(|| self.is_still_there(limits))? {
                    return self.again(additions, place, limits);
                }
            }
        }
        let added = new.into_iter().map(|(path, _)| path).collect();
        Ok(Extended { path: target.to_path_buf(), step, root_envelope: root, manifest, added })
    }

    /// Whether what lies in this envelope's place is this envelope: its manifest names all the rest.
    fn is_still_there(&self, limits: &Limits) -> bool {
        let manifest = read_file(&self.path().join(ENVELOPE), limits.member_bytes);
        let manifest = manifest.ok().flatten();
        manifest.is_some_and(|bytes| root_envelope(&bytes) == self.root_envelope())
    }

    /// Extends what somebody else has put in this envelope's place meanwhile, so that theirs stays in it.
    fn again(
        &self,
        additions: &[Addition],
        place: &Place<'_>,
        limits: &Limits,
    ) -> Result<Extended, EnvelopeError> {
        let now = Self::open(self.path(), limits)?;
        if now.targets() != self.targets() {
            return Err(EnvelopeError::Changed { path: self.path().to_path_buf() });
        }
        now.extend(additions, place, limits)
    }

    /// Whether the result may go where it is to go; to be asked before anybody is asked for an anchor.
    pub fn check_place(&self, step: Step, place: &Place<'_>) -> Result<(), EnvelopeError> {
        let path = || self.path().to_path_buf();
        match (place.out, step) {
            (None, Step::Successor) => return Err(EnvelopeError::Attested { path: path() }),
            (None, Step::Extension) if self.bundle().form() == Form::Tar => {
                return Err(EnvelopeError::Archive { path: path() });
            }
            (Some(out), _) if out.symlink_metadata().is_ok() => {
                let source = io::Error::new(io::ErrorKind::AlreadyExists, "something is there");
                return Err(DurableError::new(out, Operation::CreateDirectory, source).into());
            }
            _ => {}
        }
        if step == Step::Extension && self.has_ext() {
            return Err(EnvelopeError::Extension { path: path() });
        }
        Ok(())
    }
}

/// Opens what is about to be published: what can't be opened isn't.
pub(super) fn reopen(staged: &StagedDirectory, limits: &Limits) -> Result<Envelope, EnvelopeError> {
    Envelope::open(staged.path(), limits)
}
