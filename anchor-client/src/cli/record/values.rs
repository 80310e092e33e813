//! Values of the command line: words of the format, digests of files.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::names::PassFail;
use anchorlog_proto::gad::payload::{
    Decision, ExitStatus, OutputStatus, Quiescence, RemediationAction, Restoration,
};

use crate::file_digest::digest_file;
use crate::record::{Artifact, RecordError, Recorder};

/// A digest, or the file to hash.
#[derive(Clone, Debug)]
pub(super) enum DigestOf {
    /// As stated.
    Digest(Digest),
    /// Of this file's bytes.
    File(PathBuf),
}

impl FromStr for DigestOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("sha256:") {
            return text.parse().map(Self::Digest).map_err(|_| "is no sha256 digest".to_owned());
        }
        Ok(Self::File(text.into()))
    }
}

impl DigestOf {
    /// The digest.
    pub(super) fn digest(&self) -> Result<Digest, RecordError> {
        match self {
            Self::Digest(digest) => Ok(*digest),
            Self::File(path) => digest_file(path, |_| ())
                .map_err(|source| RecordError::Read { path: path.clone(), source }),
        }
    }

    /// The digest; the bytes of a file are kept as an artifact.
    pub(super) fn keep(&self, recorder: &mut Recorder, name: &str) -> Result<Digest, RecordError> {
        match self {
            Self::Digest(digest) => Ok(*digest),
            Self::File(path) => Ok(keep_file(recorder, name, path)?.digest),
        }
    }
}

/// Keeps a file as the artifact of this name.
pub(super) fn keep_file(
    recorder: &mut Recorder,
    name: &str,
    path: &Path,
) -> Result<Artifact, RecordError> {
    let failed = |source| RecordError::Read { path: path.to_owned(), source };
    let mut file = std::fs::File::open(path).map_err(failed)?;
    recorder.artifact_from(name, &mut file)
}

macro_rules! words {
    ($($function:ident: $type:ty;)*) => {
        $(pub(super) fn $function(word: &str) -> Result<$type, String> {
            <$type>::from_name(word).ok_or_else(|| {
                let words: Vec<_> = <$type>::ALL.iter().map(|one| one.as_str()).collect();
                format!("one of {}", words.join(", "))
            })
        })*
    };
}

words! {
    pass_fail: PassFail;
    decision: Decision;
    exit_status: ExitStatus;
    output_status: OutputStatus;
    quiescence: Quiescence;
    remediation_action: RemediationAction;
    restoration: Restoration;
}
