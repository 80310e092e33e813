//! What is worth another try.

/// Whether asking again can help.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "callers have to decide about each")]
pub enum Again {
    /// The same answer would come again.
    Never,
    /// The answer was wrong. One of several machines behind one name can be; two wrong answers are
    /// no accident.
    Once,
    /// The authority is overloaded, unreachable or without a clock: as often as the policy says.
    Later,
}
