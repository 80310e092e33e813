//! A line on the terminal that says how far a long command has come.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::report::Form;

/// Shows progress on standard error, if somebody is looking and no JSON is asked for.
#[derive(Debug)]
pub(super) struct Progress {
    verb: &'static str,
    shown: bool,
    last: Mutex<Option<Instant>>,
}

impl Progress {
    pub(super) fn new(verb: &'static str, form: Form) -> Self {
        let shown = form == Form::Text && io::stderr().is_terminal();
        Self { verb, shown, last: Mutex::new(None) }
    }

    /// Says that `done` of `total` entries are done; at most ten times a second.
    pub(super) fn report(&self, done: u64, total: u64) {
        if !self.shown {
            return;
        }
        // Whoever doesn't get the lock has nothing newer to say.
        let Ok(mut last) = self.last.try_lock() else { return };
        if last.is_some_and(|last| last.elapsed() < INTERVAL) && done < total {
            return;
        }
        *last = Some(Instant::now());
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(100);
        let _ = write!(io::stderr(), "\r{} {done} of {total} entries ({percent} %)", self.verb);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let began = self.last.get_mut().is_ok_and(|last| last.is_some());
        if self.shown && began {
            let _ = writeln!(io::stderr());
        }
    }
}

const INTERVAL: Duration = Duration::from_millis(100);
