//! How much a document may ask of the reader.

/// Which numbers a document may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC knows these two domains")]
pub enum Numbers {
    /// Integers within ±(2^53-1), `-0` included: the domain of workflow objects, cases and payloads.
    Integers,
    /// Any JSON number: formats with their own domain.
    Any,
}

/// The bounds of one kind of artifact (RFC 0020 section 2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a table of figures; every reader has its own row")]
pub struct Bounds {
    /// Most bytes.
    pub bytes: usize,
    /// Most container levels: a scalar has 0, `{}` has 1, `{"a":[]}` has 2. Empty containers count.
    pub levels: usize,
    /// Most members of one object.
    pub members: usize,
    /// Most elements of one array.
    pub elements: usize,
    /// Most UTF-8 bytes of one decoded string or member name.
    pub string: usize,
    /// Most characters of one number literal.
    pub number: usize,
    /// Which numbers are allowed.
    pub numbers: Numbers,
}

impl Bounds {
    /// A workflow object of at most so many bytes: 64 levels, integers.
    #[must_use]
    pub const fn object(bytes: usize) -> Self {
        Self {
            bytes,
            levels: 64,
            members: 4096,
            elements: 4096,
            string: 65_536,
            number: 128,
            numbers: Numbers::Integers,
        }
    }

    /// The workflow document.
    pub const WORKFLOW: Self = Self::object(262_144);
    /// A selection.
    pub const SELECTION: Self = Self::object(65_536);
    /// An output record.
    pub const OUTPUT: Self = Self::object(65_536);
    /// A closed output set.
    pub const SET: Self = Self::object(8_388_608);
    /// The execution record.
    pub const EXECUTION: Self = Self::object(8_388_608);
    /// A case or an output payload: 32 levels.
    pub const CASE: Self = Self { levels: 32, ..Self::object(1_048_576) };
    /// A retained evaluation-error envelope; its numbers are its own.
    pub const EVALUATION_ERROR: Self = Self { numbers: Numbers::Any, ..Self::FOREIGN };
    /// A document of another format, whose own bounds are not known here: these are the reader's, so that
    /// memory stays bounded. 8 MiB, 128 levels, no other count than what fits into the bytes.
    pub const FOREIGN: Self = Self {
        bytes: 8_388_608,
        levels: 128,
        members: usize::MAX,
        elements: usize::MAX,
        string: usize::MAX,
        number: usize::MAX,
        numbers: Numbers::Any,
    };
    /// A run export, which holds a release, a preparation and its acquisitions: 64 MiB, for the same reason.
    pub const EXPORT: Self = Self { bytes: 67_108_864, ..Self::FOREIGN };

    /// The same bounds with another number of bytes.
    #[must_use]
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }
}
