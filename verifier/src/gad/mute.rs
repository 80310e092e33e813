//! For tests of tests: an evaluator that keeps silent about one code.
//!
//! What it is: with the feature `adequacy`, and never in a build without debug assertions, a thread can be
//! told to drop every finding of one code, so that a conformance suite can show that it would notice. What
//! it isn't: a setting; nothing but such a test has a use for it.

use core::cell::Cell;

use crate::codes::Code;

thread_local! {
    static MUTED: Cell<Option<Code>> = const { Cell::new(None) };
}

/// Whether this thread drops findings of this code.
pub(super) fn is_muted(code: Code) -> bool {
    MUTED.get() == Some(code)
}

/// Runs `work` with findings of this code dropped on this thread. Evaluate with one thread.
pub fn while_muted<T>(code: Code, work: impl FnOnce() -> T) -> T {
    MUTED.set(Some(code));
    let result = work();
    MUTED.set(None);
    result
}
