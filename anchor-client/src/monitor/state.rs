//! What a monitor remembers: one file, replaced whole, and a small one for what changes with every event.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anchorlog_proto::note::VerifierKey;
use serde::{Deserialize, Serialize};

use super::alarm::Alarms;
use super::event::{Draft, Event};
use super::health::Life;
use crate::durable::{self, DurableError};
use crate::follow::{Position, PositionFault};
use crate::state::read_file;

/// Position, alarms, and the events that not everybody has been told of.
///
/// Events are durable together with the position they were found at, and leave only when every output has
/// taken them: so none is lost, and none is told twice unless a process dies between telling and keeping.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) position: Option<Position>,
    pub(super) alarms: Alarms,
    pub(super) life: Life,
    /// The entry whose receipt is asked for, because it is to grow.
    pub(super) asked: Option<u64>,
    /// Number of the next event.
    pub(super) next: u64,
    pub(super) waiting: Vec<Event>,
    /// For each output, the number of the first event that it hasn't taken. Kept in a small file of its own,
    /// because it changes with every event.
    pub(super) taken: BTreeMap<String, u64>,
}

impl State {
    /// Reads the state in a directory; the default one if there is none. Its checkpoint must be signed by
    /// one of `keys`.
    pub(super) fn load(directory: &Path, keys: &[VerifierKey]) -> Result<Self, StateError> {
        let path = directory.join(STATE);
        let Some(bytes) = read_file(&path, MAX_STATE_BYTES)? else { return Ok(Self::default()) };
        let damaged = |fault| StateError::Damaged { path: path.clone(), fault };
        let stored: Stored =
            serde_json::from_slice(&bytes).map_err(|_| damaged(PositionFault::Form))?;
        if stored.schema != SCHEMA {
            return Err(damaged(PositionFault::Form));
        }
        let started = stored.life.started;
        let position = stored.position.map(|text| Position::parse(text.as_bytes(), keys));
        Ok(Self {
            position: position.transpose().map_err(damaged)?,
            alarms: stored.alarms,
            life: stored.life,
            asked: stored.asked,
            next: stored.next,
            waiting: stored.waiting,
            taken: load_taken(directory, started)?,
        })
    }

    /// Durable on return; what was taken is kept by [`State::save_taken`].
    pub(super) fn save(&self, directory: &Path) -> Result<(), DurableError> {
        let position = self.position.as_ref().map(Position::to_bytes);
        let stored = StoredRef {
            schema: SCHEMA,
            position: position.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            alarms: &self.alarms,
            life: &self.life,
            asked: self.asked,
            next: self.next,
            waiting: &self.waiting,
        };
        // Strings, numbers and lists of them are always written.
        let bytes = serde_json::to_vec(&stored).unwrap_or_default();
        durable::write_replace(&directory.join(STATE), &bytes)
    }

    /// Keeps what each output has taken. Durable on return.
    pub(super) fn save_taken(&self, directory: &Path) -> Result<(), DurableError> {
        let stored = Taken { started: self.life.started, taken: self.taken.clone() };
        let bytes = serde_json::to_vec(&stored).unwrap_or_default();
        durable::write_replace(&directory.join(TAKEN), &bytes)
    }

    /// Numbers events and puts them at the end.
    pub(super) fn tell(&mut self, drafts: impl IntoIterator<Item = Draft>, origin: &str) {
        for draft in drafts {
            self.waiting.push(draft.numbered(self.next, origin));
            self.next += 1;
        }
    }

    /// The events that the output `name` hasn't taken.
    pub(super) fn waiting_for(&self, name: &str) -> &[Event] {
        let first = self.taken.get(name).copied().unwrap_or(0);
        let at = self.waiting.partition_point(|event| event.number < first);
        self.waiting.get(at..).unwrap_or_default()
    }

    /// The output `name` has taken everything before `number`.
    pub(super) fn took(&mut self, name: &str, number: u64) {
        self.taken.insert(name.to_owned(), number);
    }

    /// Forgets what all of these outputs have taken, and outputs that are gone; whether that was anything.
    pub(super) fn settle(&mut self, outputs: &[String]) -> bool {
        self.taken.retain(|name, _| outputs.contains(name));
        let first = |name: &String| self.taken.get(name).copied().unwrap_or(0);
        let done = outputs.iter().map(first).min().unwrap_or(self.next);
        let before = self.waiting.len();
        self.waiting.retain(|event| event.number >= done);
        self.waiting.len() != before
    }
}

/// Why the state can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// What is kept isn't what a monitor under these keys wrote.
    #[error(
        "{}: the monitor's state can't be used ({fault}); without it a log could show another history \
         unnoticed, so look into it before you move the file away",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: PositionFault,
    },
    /// The operating system says no.
    #[error(transparent)]
    File(#[from] DurableError),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    schema: String,
    position: Option<String>,
    alarms: Alarms,
    life: Life,
    asked: Option<u64>,
    next: u64,
    waiting: Vec<Event>,
}

#[derive(Serialize)]
struct StoredRef<'s> {
    schema: &'static str,
    position: Option<String>,
    alarms: &'s Alarms,
    life: &'s Life,
    asked: Option<u64>,
    next: u64,
    waiting: &'s [Event],
}

/// What each output has taken of the events of the state that began at this time: of another one, the
/// numbers would mean other events.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Taken {
    started: i64,
    taken: BTreeMap<String, u64>,
}

fn load_taken(directory: &Path, started: i64) -> Result<BTreeMap<String, u64>, StateError> {
    let path = directory.join(TAKEN);
    let Some(bytes) = read_file(&path, MAX_TAKEN_BYTES)? else { return Ok(BTreeMap::new()) };
    let damaged = |_| StateError::Damaged { path, fault: PositionFault::Form };
    let taken: Taken = serde_json::from_slice(&bytes).map_err(damaged)?;
    Ok(if taken.started == started { taken.taken } else { BTreeMap::new() })
}

const STATE: &str = "state.json";
const TAKEN: &str = "taken.json";

const SCHEMA: &str = "anchorlog.monitor-state/1";

/// More than the most events that can wait, each as long as an event can be.
const MAX_STATE_BYTES: u64 = 1 << 30;

/// A few outputs with their names.
const MAX_TAKEN_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::follow::testing::MemoryLog;

    fn draft(id: &str) -> Draft {
        Draft { id: id.to_owned(), members: json!({"type": "entry"}) }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let root = tempfile::tempdir().unwrap();
        let log = MemoryLog::of("entry", 5);
        let keys = [log.signer.verifier_key().clone()];
        let mut state = State::load(root.path(), &keys).unwrap();
        state.position = Position::new(log.verified(), 3);
        state.life.started = 7;
        state.tell(["a", "b"].map(draft), "log.example");
        state.took("lines", 1);
        state.save(root.path()).unwrap();
        state.save_taken(root.path()).unwrap();
        let again = State::load(root.path(), &keys).unwrap();
        assert_eq!(again.position, state.position);
        assert_eq!((&again.waiting, again.next, &again.taken), (&state.waiting, 2, &state.taken));
        let line: serde_json::Value = serde_json::from_str(&again.waiting[1].line).unwrap();
        assert_eq!((&line["id"], &line["number"]), (&json!("b"), &json!(1)));
        assert_eq!(line["log"], "log.example");

        let stranger = [MemoryLog::new(2).signer.verifier_key().clone()];
        assert!(matches!(State::load(root.path(), &stranger), Err(StateError::Damaged { .. })));
        durable::write_replace(&root.path().join(STATE), b"{}").unwrap();
        assert!(matches!(State::load(root.path(), &keys), Err(StateError::Damaged { .. })));
    }

    #[test]
    fn what_was_taken_of_another_state_counts_for_nothing() {
        let root = tempfile::tempdir().unwrap();
        let mut state = State::default();
        state.life.started = 7;
        state.took("lines", 500);
        state.save_taken(root.path()).unwrap();
        state.save(root.path()).unwrap();
        assert_eq!(State::load(root.path(), &[]).unwrap().taken["lines"], 500);
        state.life.started = 8;
        state.save(root.path()).unwrap();
        assert!(State::load(root.path(), &[]).unwrap().taken.is_empty());
    }

    #[test]
    fn an_event_waits_for_the_slowest() {
        let mut state = State::default();
        state.tell(["a", "b", "c"].map(draft), "log.example");
        let outputs = ["fast", "slow"].map(str::to_owned);
        state.took("gone", 0);
        state.took("fast", 3);
        state.took("slow", 1);
        state.settle(&outputs);
        assert_eq!(state.waiting.len(), 2);
        assert_eq!(state.waiting_for("slow").len(), 2);
        assert!(state.waiting_for("fast").is_empty());
        // A new one is told of what still waits, not of what is gone.
        assert_eq!(state.waiting_for("new").len(), 2);
        state.took("slow", 3);
        state.settle(&outputs);
        assert!(state.waiting.is_empty() && !state.taken.contains_key("gone"));
    }
}
