//! What a log does with what it is given.

/// Whether a log takes anything.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// It goes on.
    Open,
    /// It was opened to be read; it goes on elsewhere or later.
    ReadOnly,
    /// It has ended.
    Frozen,
}
