//! How much a document may ask of the reader.

/// Which member names a document may have.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MemberNames {
    /// ASCII, except anywhere inside an object that is the value of a member called `ext`.
    #[default]
    AsciiOutsideExt,
    /// Any Unicode.
    Any,
}

/// Limits and options of one reading. Crossing a limit refuses the document; nothing is cut off.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ReadLimits {
    /// Longest document, in bytes.
    pub bytes: usize,
    /// Deepest nesting: a scalar document has depth 0, `[]` 1, `{"a":[]}` 2.
    ///
    /// Never more than [`ReadLimits::HARD_DEPTH`], whatever stands here.
    pub depth: usize,
    /// Most values in the document, containers included; bounds the memory a small document can
    /// claim.
    pub values: usize,
    /// Which member names are allowed.
    pub names: MemberNames,
}

impl ReadLimits {
    /// The deepest nesting any caller can ask for: what a thread's stack holds with room to spare.
    pub const HARD_DEPTH: usize = 256;

    /// 1 MiB, depth 64, a million values, ASCII names outside `ext`.
    pub const DEFAULT: Self =
        Self { bytes: 1 << 20, depth: 64, values: 1_000_000, names: MemberNames::AsciiOutsideExt };

    /// The same limits for documents of at most `bytes` bytes.
    #[must_use]
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// The same limits with nesting up to `depth`.
    #[must_use]
    pub const fn with_depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// The same limits with at most `values` values.
    #[must_use]
    pub const fn with_values(self, values: usize) -> Self {
        Self { values, ..self }
    }

    /// The same limits with another rule for member names.
    #[must_use]
    pub const fn with_names(self, names: MemberNames) -> Self {
        Self { names, ..self }
    }
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
