//! The journal: sequence, hashes and signatures of every record.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, leaf_hash};
use anchorlog_proto::note::VerifierKey;

use super::{Fault, Note, Report};
use crate::error::Error;
use crate::recovery::{JOURNAL, OBJECTS};
use crate::storage::flat::FlatObjects;
use crate::storage::record::entries_of;
use crate::storage::{BatchRecord, Defect, StorageError, wal};
use crate::tree::StoredTree;

/// What the journal says.
pub(super) struct Signed {
    /// Entries recorded.
    pub(super) size: TreeSize,
    /// The root that was signed for them.
    pub(super) root: Digest,
    /// Where the oldest record starts: what is stored beyond is written again at the next start.
    pub(super) base: TreeSize,
    /// Bytes of the entries since then, with their lengths.
    pub(super) bytes: u64,
    /// Every size and root that a record of the journal has a checkpoint for, oldest first.
    pub(super) checkpoints: Vec<(TreeSize, Digest)>,
}

/// Checks every record of the journal: sequence, hashes, signatures.
pub(super) fn check_journal(
    directory: &Path,
    keys: &[VerifierKey],
    stored: u64,
    report: &mut Report,
) -> Result<Option<Signed>, Error> {
    let mut signed: Vec<(TreeSize, Digest)> = Vec::new();
    let (mut oldest, mut bytes) = (TreeSize::ZERO, 0);
    let mut edge: Option<Frontier> = None;
    let folder = directory.join(OBJECTS);
    let mut faults: Vec<Fault> = Vec::new();
    let cell = std::cell::RefCell::new((&mut signed, &mut edge, &mut faults));
    let scanned = wal::scan(
        &directory.join(JOURNAL),
        |base| {
            oldest = base.size;
            let mut guard = cell.borrow_mut();
            let (signed, edge, faults) = &mut *guard;
            if !base.checkpoint.is_empty() {
                match verify(&base.checkpoint, keys) {
                    Ok(checkpoint) => signed.push(checkpoint),
                    Err(fault) => faults.push(fault),
                }
            }
            // The hashes themselves are compared with what is beneath them later.
            let size = base.size.get().min(stored);
            let objects = FlatObjects::open_unchanged(&folder, TreeSize::new(size)?);
            let tree = StoredTree::new(std::sync::Arc::new(objects));
            **edge = Frontier::from_reader(&tree, base.size).ok();
            Ok::<(), Error>(())
        },
        |batch| {
            bytes += u64::try_from(batch.entries.len()).unwrap_or(u64::MAX);
            let mut guard = cell.borrow_mut();
            let (signed, edge, faults) = &mut *guard;
            match check_batch(batch, edge.take(), keys) {
                Ok((checkpoint, after)) => {
                    signed.push(checkpoint);
                    **edge = after;
                }
                Err(fault) => faults.push(fault),
            }
            Ok(())
        },
    );
    for fault in faults {
        report.problem(JOURNAL, None, fault);
    }
    let scanned = match scanned {
        Ok(scanned) => scanned,
        Err(Error::Storage(StorageError::Corrupt { file, offset, defect })) => {
            report.problem(file, None, Fault::Damaged { offset, defect });
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if let Some((file, offset)) = scanned.stray {
        let defect = Defect::BytesAfterEnd;
        report.problem(file, None, Fault::Damaged { offset, defect });
    } else if scanned.torn_bytes > 0 {
        let bytes = u64::try_from(scanned.torn_bytes).unwrap_or(u64::MAX);
        report.notes.push(Note::TornRecord { bytes });
    }
    if scanned.size.get() < stored {
        let journal = scanned.size.get();
        report.problem(JOURNAL, None, Fault::JournalBehind { journal, stored });
        return Ok(None);
    }
    let Some((size, root)) = signed.last().copied().filter(|(size, _)| *size == scanned.size)
    else {
        if report.is_clean() {
            report.problem(JOURNAL, None, Fault::Root);
        }
        return Ok(None);
    };
    Ok(Some(Signed { size, root, base: oldest, bytes, checkpoints: signed }))
}

/// Checks one batch; without the edge before it, its signature only.
fn check_batch(
    batch: &BatchRecord<'_>,
    edge: Option<Frontier>,
    keys: &[VerifierKey],
) -> Result<((TreeSize, Digest), Option<Frontier>), Fault> {
    let (size, root) = verify(batch.checkpoint, keys)?;
    let Some(edge) = edge else { return Ok(((size, root), None)) };
    // Records are whole when they come here, so every entry is.
    let hashes = entries_of(batch.entries).flatten().map(leaf_hash);
    let extension = Extension::new(edge, hashes).map_err(|_| Fault::Root)?;
    if (extension.size(), extension.after().root()) != (size, root) {
        return Err(Fault::Root);
    }
    Ok(((size, root), Some(extension.after().clone())))
}

fn verify(note: &[u8], keys: &[VerifierKey]) -> Result<(TreeSize, Digest), Fault> {
    let signed = SignedCheckpoint::parse(note).map_err(Fault::Checkpoint)?;
    let verified = signed.verify_any(keys).map_err(Fault::Checkpoint)?;
    Ok((verified.checkpoint().size, verified.checkpoint().root))
}
