//! The log as a directory of tiles, for whoever follows one without a server.

use std::fs;
use std::path::Path;

use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tile::{EntriesId, LevelShape, TileId, hashes_in_level};

use super::LyingLog;

impl LyingLog {
    /// Writes what is shown at the moment as a C2SP tile tree: the tiles and bundles of the signed size, then
    /// the checkpoint. What an earlier call wrote and this one doesn't is left where it is, as on a disk.
    pub fn write_to(&self, directory: &Path) {
        let (view, checkpoint) = (self.view(), self.checkpoint());
        let write = |path: &str, bytes: &[u8]| {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().expect("files lie in directories"))
                .expect("a directory");
            fs::write(path, bytes).expect("a file of the log");
        };
        let size = TreeSize::new(view.signed).expect("a tree of a test");
        for level in (0..8).take_while(|level| hashes_in_level(*level, size) > 0) {
            for (index, width) in LevelShape::of(level, size).tiles() {
                let id = TileId { level, index, width };
                write(&id.path(), &view.tree.tile(id).expect("a tile of the tree"));
                if level == 0 {
                    let id = EntriesId { index, width };
                    write(&id.path(), &view.tree.bundle(id).expect("a bundle of the tree"));
                }
            }
        }
        write("checkpoint", &checkpoint.to_bytes());
    }
}
