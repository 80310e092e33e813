//! Why a checkpoint is refused.

use super::{MAX_EXTENSION_LINES, MAX_ORIGIN_BYTES, Origin};
use crate::digest::Digest;
use crate::merkle::empty_root;
use crate::note::NoteError;

/// Why a checkpoint is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The note around the checkpoint is malformed, or its signatures don't verify.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The text does not end with a newline.
    #[error("the checkpoint does not end with a newline")]
    NoFinalNewline,
    /// Fewer lines than origin, size and root.
    #[error("a checkpoint has at least three lines")]
    Lines,
    /// The origin is empty, too long or holds a control character.
    #[error("the origin is empty, over {MAX_ORIGIN_BYTES} bytes, or has a control character")]
    Origin,
    /// The size is not a decimal number in its one spelling.
    #[error("the tree size is not a decimal number without sign, leading zero or white space")]
    SizeForm,
    /// The size is over 2^63-1.
    #[error("the tree size is over 2^63-1")]
    SizeRange,
    /// The root is not canonical base64.
    #[error("the root hash is not canonical standard base64 with padding")]
    RootBase64,
    /// The root is not 32 bytes.
    #[error("a root hash of {bytes} bytes instead of 32")]
    RootLength {
        /// Bytes of the decoded root.
        bytes: usize,
    },
    /// A tree of size 0 with another root than SHA-256 of nothing.
    #[error("a tree of size 0 has the root {}, not {}", empty_root().to_base64(), root.to_base64())]
    EmptyRoot {
        /// The root it declares.
        root: Digest,
    },
    /// A blank line among the extension lines.
    #[error("line {line} of the checkpoint is blank")]
    BlankLine {
        /// Number of the line, counted from 1.
        line: usize,
    },
    /// The text ends with a blank line.
    #[error("the checkpoint ends with a blank line")]
    TrailingBlankLine,
    /// An extension line is empty or holds a control character.
    #[error("an extension line is empty or has a control character")]
    ExtensionForm,
    /// More extension lines than [`MAX_EXTENSION_LINES`].
    #[error("more than {MAX_EXTENSION_LINES} extension lines")]
    TooManyExtensions,
    /// The checkpoint is of another log than the key, or than the caller says.
    #[error("the checkpoint is not by the log {expected}")]
    OriginMismatch {
        /// The origin that was expected.
        expected: Origin,
    },
    /// The key is not of the type that logs sign with.
    #[error("a log's key is an Ed25519 key of type 0x01")]
    KeyAlgorithm,
    /// The log's key has several valid lines that are not the same.
    #[error("two different signatures of the log's key: which one is meant is not determined")]
    SignaturesDiffer,
}

impl CheckpointError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Note(error) => error.code(),
            Self::NoFinalNewline => "CKPT.FINAL_NEWLINE",
            Self::Lines => "CKPT.LINES",
            Self::Origin => "CKPT.ORIGIN",
            Self::SizeForm => "CKPT.SIZE_FORM",
            Self::SizeRange => "CKPT.SIZE_RANGE",
            Self::RootBase64 => "CKPT.ROOT_BASE64",
            Self::RootLength { .. } => "CKPT.ROOT_LENGTH",
            Self::EmptyRoot { .. } => "CKPT.EMPTY_ROOT",
            Self::BlankLine { .. } => "CKPT.BLANK_LINE",
            Self::TrailingBlankLine => "CKPT.TRAILING_BLANK_LINE",
            Self::ExtensionForm => "CKPT.EXTENSION_FORM",
            Self::TooManyExtensions => "CKPT.EXTENSION_LINES",
            Self::OriginMismatch { .. } => "CKPT.ORIGIN_MISMATCH",
            Self::KeyAlgorithm => "CKPT.KEY_ALGORITHM",
            Self::SignaturesDiffer => "CKPT.SIGNATURES_DIFFER",
        }
    }
}
