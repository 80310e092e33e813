//! The witness: read once, line by line, on all cores, and given to the rules in order.
//!
//! What it is: R1 over `witness.jsonl`. Every line is parsed strictly, held against its canonical form,
//! linked to the one before, and its signature verified, all of which needs no other line and is done in
//! parallel; then one line after the other is counted, covered and observed. Whoever holds the next batch
//! in order is the one who does that, so that lines are never copied from one thread to another, and the
//! result doesn't depend on how many there are.
//!
//! What it isn't: the rules on what an entry may follow, or on what its evidence is worth; those observe the
//! entries that are found here. Of an entry that has gone by, its chain hash and its time are kept.

pub mod bindings;
#[cfg(test)]
mod checkpoint_tests;
pub mod checkpoints;
#[cfg(test)]
mod corpus_tests;
mod issuer;
mod line;
mod owner;
mod sequence;
mod single;
mod source;
#[cfg(test)]
mod tests;
mod turns;

use std::io::{self, Read};
use std::num::NonZeroUsize;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::core_manifest::{CoreManifest, Seal};
use anchorlog_proto::gad::entry::EntryType;

pub use bindings::Artifacts;
pub use checkpoints::Coverage;
pub(crate) use issuer::verifies_under;
pub use single::judge_entry;

use super::{Event, Findings, FirstDispatch, PlanIndex};

/// What the witness is held against.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the evaluation and by tests")]
pub struct WitnessContext<'c> {
    /// The plan, where it can be read. Without it there is no registry, and nobody's signature can be
    /// verified.
    pub plan: Option<&'c PlanIndex>,
    /// What the manifest says of the witness, where there is one.
    pub stated: Option<Stated>,
    /// The artifacts of the core.
    pub artifacts: &'c Artifacts,
    /// The limits.
    pub limits: &'c Limits,
    /// How many threads read. The result is the same for every number.
    pub threads: NonZeroUsize,
    /// How many bytes are read at a time. The result is the same for every number.
    pub batch_bytes: usize,
}

impl WitnessContext<'_> {
    /// A batch that keeps a thread busy for about a millisecond and stays in its cache.
    pub const BATCH_BYTES: usize = 256 << 10;

    /// As many threads as the machine has cores, of the number worth having.
    #[must_use]
    pub fn all_cores() -> NonZeroUsize {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        NonZeroUsize::new(cores.get().min(MAX_THREADS)).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Beyond this many threads the part that goes in order is what takes the time.
const MAX_THREADS: usize = 32;

/// What the manifest says of the witness.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "what M_core says of it")]
pub struct Stated {
    /// Number of entries.
    pub count: u64,
    /// Last h.
    pub head: Digest,
    /// Whether the record ends with the run.
    pub seal: Seal,
}

impl From<&CoreManifest> for Stated {
    fn from(manifest: &CoreManifest) -> Self {
        Self { count: manifest.witness_count, head: manifest.witness_head, seal: manifest.seal }
    }
}

/// Who is told of each entry, in order: as long as every line before it could be read, and its own type is
/// known.
pub type Observer<'o> = dyn FnMut(&Event<'_>, &mut Findings) + Send + 'o;

/// A witness that was read to its end.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct WitnessSummary {
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// Number of lines that aren't blank.
    pub entries: u64,
    /// Position of the first line that can't be read as an entry. Sequence, chain and checkpoints from there
    /// on were not looked at, nothing from there on was observed, and R3 to R8 can't be evaluated.
    pub unreadable: Option<u64>,
    /// h of each entry as stated, by position, up to the first that can't be read.
    pub heads: Vec<Digest>,
    /// The latest t of the entries up to each position, in seconds since 1970; as far as `heads`.
    pub latest: Vec<i64>,
    /// The first terminal entry and its position.
    pub terminal: Option<(EntryType, u64)>,
    /// t of the terminal entry; of the last one where there is none.
    pub end_time: Option<i64>,
    /// The first dispatch.
    pub first_dispatch: Option<FirstDispatch>,
    coverage: Coverage,
}

impl WitnessSummary {
    /// Which entries lie in the range of a valid checkpoint.
    #[must_use]
    pub const fn coverage(&self) -> &Coverage {
        &self.coverage
    }
}

/// Why a witness was not read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessError {
    /// It asks for more than the limits allow; a finding says of what. The evaluation ends with it.
    #[error("the witness is over a limit")]
    Limit,
    /// Its bytes can't be read.
    #[error("the witness can't be read")]
    Io(#[from] io::Error),
}

/// Reads the whole witness from `source`, and gives its entries to `observer` in order.
///
/// Findings are those of R1 over the witness and of the form of its lines, in the order of the lines, each
/// line's before what the observer finds of it.
pub fn read_witness<R: Read + Send>(
    source: R,
    cx: &WitnessContext<'_>,
    observer: &mut Observer<'_>,
    findings: &mut Findings,
) -> Result<WitnessSummary, WitnessError> {
    turns::read(source, cx, observer, findings)
}
