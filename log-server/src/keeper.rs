//! The thread that makes stored entries durable and lets go of the journal behind them.
//!
//! It never stands between a request and its receipt: the journal has the entries already. It runs often,
//! so that what it has to sync is little and a restart has little to replay.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::Error;
use crate::metrics::Metrics;
use crate::storage::{Journal, Objects, StorageError};

/// How often stored entries are made durable.
const SYNC_EVERY: Duration = Duration::from_millis(500);

/// A signal to stop.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Stops whoever waits.
    pub(crate) fn stop(&self) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for `timeout` or the signal. True: stop.
    fn wait(&self, timeout: Duration) -> bool {
        let guard = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(guard, timeout, |stopped| !*stopped);
        let (guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *guard
    }
}

/// Everything the keeping thread works with.
pub(crate) struct Keeper {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) objects: Arc<dyn Objects>,
    pub(crate) metrics: Metrics,
    pub(crate) stop: Arc<Stop>,
}

impl Keeper {
    /// Keeps until it is stopped, and once more then. A sync that fails is fatal.
    pub(crate) fn run(self) -> Result<(), Error> {
        loop {
            let stop = self.stop.wait(SYNC_EVERY);
            let durable = self.objects.sync()?;
            self.metrics.set_materialized(durable.get());
            match self.journal.maintain(durable) {
                Ok(()) => {}
                // Room for the next segment is looked for again when it is needed.
                Err(error) if error.is_out_of_space() => self.report_full_disk(&error),
                Err(error) => return Err(error.into()),
            }
            if stop {
                return Ok(());
            }
        }
    }

    fn report_full_disk(&self, error: &StorageError) {
        tracing::warn!(%error, size = self.journal.size().get(), "no room to prepare the journal");
    }
}
