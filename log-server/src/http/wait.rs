//! `?wait=…&timeout=…`: holding an answer back until its receipt has grown.
//!
//! A log publishes at once; the states above come from third parties and take as long as they take. Waiting
//! is a courtesy: it ends with the state, with the time asked for, with the server's stop, or at once when
//! too many wait already, and then the receipt is answered with the state it has reached. Nobody polls:
//! who waits is woken when a checkpoint has been witnessed, or anchored, that covers the entry.

use std::time::Duration;

use anchorlog_proto::receipt::ReceiptState;

use super::App;
use super::problem::{Code, Problem};
use super::query::Query;

/// What a client is willing to wait for, and how long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Wait {
    /// The state to wait for.
    pub state: ReceiptState,
    /// The longest wait.
    pub timeout: Duration,
}

impl Wait {
    /// The names of the two parameters.
    pub const PARAMETERS: [&'static str; 2] = ["wait", "timeout"];

    /// Reads both parameters; `published` and ten seconds unless given.
    pub fn read(query: &Query<'_>) -> Result<Self, Problem> {
        let state = match query.get("wait") {
            None => ReceiptState::Published,
            Some(text) => text.parse().map_err(|_| {
                let detail = "`wait` must be `published`, `witnessed` or `anchored`.";
                Problem::new(Code::BadParameter, detail)
            })?,
        };
        let seconds = query.number("timeout")?.unwrap_or(DEFAULT_SECONDS);
        if seconds > MAX_SECONDS {
            let detail =
                format!("`timeout` must be a whole number of seconds from 0 to {MAX_SECONDS}.");
            return Err(Problem::new(Code::BadParameter, detail));
        }
        Ok(Self { state, timeout: Duration::from_secs(seconds) })
    }

    /// Waits until the receipt of the entry at `index`, which doesn't have it yet, may have grown to the
    /// state asked for.
    pub(super) async fn from(self, app: &App, index: u64) {
        if self.state == ReceiptState::Published || self.timeout.is_zero() {
            return;
        }
        let Ok(_place) = app.waiting.try_acquire() else { return };
        let mut stop = app.stop.clone();
        let by_witnesses =
            self.state == ReceiptState::Witnessed && app.log.cosignatures().has_policy();
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => {}
            () = tokio::time::sleep(self.timeout) => {}
            () = app.log.witnessed(index), if by_witnesses => {}
            () = app.log.anchored(index), if !by_witnesses => {}
        }
    }
}

/// Seconds waited when a client doesn't say.
const DEFAULT_SECONDS: u64 = 10;

/// The longest a client may ask to wait.
const MAX_SECONDS: u64 = 60;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;

    fn read(raw: &str) -> Result<Wait, Problem> {
        Wait::read(&Query::read(Some(raw), &Wait::PARAMETERS).unwrap())
    }

    #[test]
    fn both_parameters_are_read_strictly() {
        let wait = read("").unwrap();
        assert_eq!(wait, Wait { state: ReceiptState::Published, timeout: Duration::from_secs(10) });
        let wait = read("wait=anchored&timeout=60").unwrap();
        assert_eq!(wait, Wait { state: ReceiptState::Anchored, timeout: Duration::from_mins(1) });
        assert_eq!(read("timeout=0").unwrap().timeout, Duration::ZERO);
        for wrong in [
            "wait=",
            "wait=Published",
            "wait=yes",
            "timeout=61",
            "timeout=-1",
            "timeout=1.5",
            "timeout=",
        ] {
            assert_eq!(read(wrong).unwrap_err().code(), Code::BadParameter, "{wrong}");
        }
    }
}
