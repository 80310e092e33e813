//! Checks a C2SP tlog-tiles log, wherever its files come from.

use std::fs;
use std::io;
use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{Frontier, TreeSize, leaf_hash};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tile::{
    self, EntriesId, LevelShape, TILE_HEIGHT, TileId, Width, hashes_in_level,
};

use super::{Fault, Report};

/// Where the files of a log come from.
pub trait TileSource {
    /// The bytes at a path below the log's prefix.
    fn read(&mut self, path: &str) -> Result<Vec<u8>, SourceError>;
}

/// Why a file could not be had.
#[derive(Debug, thiserror::Error)]
#[error("can't be read: {kind}")]
pub struct SourceError {
    /// The kind of failure, in the operating system's terms.
    pub kind: io::ErrorKind,
}

/// A log exported into a directory.
#[derive(Clone, Debug)]
pub struct DirectorySource {
    directory: PathBuf,
}

impl DirectorySource {
    /// The files below `directory`.
    #[must_use]
    pub const fn new(directory: PathBuf) -> Self {
        Self { directory }
    }
}

impl TileSource for DirectorySource {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, SourceError> {
        fs::read(self.directory.join(path)).map_err(|error| SourceError { kind: error.kind() })
    }
}

/// Reads every entry and every tile of a log and compares them with its checkpoint.
///
/// `keys` are those that the log signs with, or has signed with; its checkpoint is by one of them at least.
/// With `statements`, every entry must be a canonical statement too; logs of others hold other entries.
pub fn check_tiles(
    source: &mut dyn TileSource,
    keys: &[VerifierKey],
    statements: bool,
    mut progress: impl FnMut(u64, u64),
) -> Report {
    let mut report = Report::default();
    let Some(signed) = read_checkpoint(source, keys, &mut report) else { return report };
    let checkpoint = signed.checkpoint();
    let size = checkpoint.size;
    report.size = size.get();
    report.root = Some(checkpoint.root);

    let mut edge = Frontier::new();
    // What each level above the leaves should hold of the tile that is being filled.
    let mut levels: [Vec<Digest>; 8] = Default::default();
    for (index, width) in LevelShape::of(0, size).tiles() {
        let id = EntriesId { index, width };
        let Some(entries) = read_entries(source, id, &mut report) else { return report };
        for (position, entry) in (id.first_entry()..).zip(&entries) {
            if statements && let Err(error) = LogEntry::from_leaf(entry) {
                report.problem(id.path(), Some(position), Fault::Entry(error));
            }
            report.entries += 1;
            let completed = edge.push_with(leaf_hash(entry), |node, hash| {
                let level = levels.get_mut(usize::from(node.level / TILE_HEIGHT));
                if node.level % TILE_HEIGHT == 0
                    && let Some(level) = level
                {
                    level.push(*hash);
                }
            });
            if completed.is_err() {
                return report;
            }
        }
        compare_tiles(source, &mut levels, edge.size(), edge.size() == size, &mut report);
        progress(report.entries, size.get());
    }
    if edge.root() != checkpoint.root {
        report.problem("checkpoint", None, Fault::Root);
    }
    report
}

fn read_checkpoint(
    source: &mut dyn TileSource,
    keys: &[VerifierKey],
    report: &mut Report,
) -> Option<SignedCheckpoint> {
    let bytes = read(source, "checkpoint", report)?;
    let signed = SignedCheckpoint::parse(&bytes);
    match signed.and_then(|signed| signed.verify_any(keys).map(|_| signed)) {
        Ok(signed) => Some(signed),
        Err(error) => {
            report.problem("checkpoint", None, Fault::Checkpoint(error));
            None
        }
    }
}

fn read_entries(
    source: &mut dyn TileSource,
    id: EntriesId,
    report: &mut Report,
) -> Option<Vec<Vec<u8>>> {
    let path = id.path();
    let bytes = read(source, &path, report)?;
    match tile::parse_bundle(&bytes, id.width) {
        Ok(entries) => Some(entries.into_iter().map(<[u8]>::to_vec).collect()),
        Err(error) => {
            report.problem(path, None, Fault::Tile(error));
            None
        }
    }
}

/// Compares the tiles that are complete, or all that are begun at the end of the log.
fn compare_tiles(
    source: &mut dyn TileSource,
    levels: &mut [Vec<Digest>; 8],
    size: TreeSize,
    end: bool,
    report: &mut Report,
) {
    for (level, hashes) in (0_u8..).zip(levels) {
        let Ok(count) = u16::try_from(hashes.len()) else { continue };
        let Some(width) = Width::new(count).filter(|width| width.is_full() || end) else {
            continue;
        };
        let index = (hashes_in_level(level, size).saturating_sub(1)) / 256;
        let id = TileId { level, index, width };
        let path = id.path();
        if let Some(bytes) = read(source, &path, report) {
            match tile::parse_tile(&bytes, width) {
                Ok(stored) => compare_hashes(id, &stored, hashes, report),
                Err(error) => report.problem(path, None, Fault::Tile(error)),
            }
        }
        hashes.clear();
    }
}

fn compare_hashes(id: TileId, stored: &[Digest], computed: &[Digest], report: &mut Report) {
    for (position, (stored, computed)) in (id.first_hash()..).zip(stored.iter().zip(computed)) {
        if stored != computed {
            report.problem(id.path(), Some(position), Fault::Hash);
        }
    }
}

fn read(source: &mut dyn TileSource, path: &str, report: &mut Report) -> Option<Vec<u8>> {
    match source.read(path) {
        Ok(bytes) => Some(bytes),
        Err(SourceError { kind }) => {
            report.problem(path, None, Fault::Unreadable { kind });
            None
        }
    }
}
