//! Copies of a directory, in memory where that can be, and flipped bytes in them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where many small files are written again and again.
pub(super) struct Scratch(TempDir);

impl Scratch {
    pub(super) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let directory = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir());
        Self(directory.unwrap())
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// The contents of a directory.
pub(super) struct Image {
    /// The files: their bytes without the zeros at the end, and their lengths.
    files: BTreeMap<String, (Vec<u8>, u64)>,
    /// All folders, the outer ones first; some are empty.
    folders: Vec<PathBuf>,
}

/// A part of a file, of one kind.
pub(super) struct Part {
    pub(super) kind: String,
    pub(super) file: String,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// One byte to flip.
#[derive(Clone, Debug)]
pub(super) struct Flip {
    pub(super) kind: String,
    /// Relative to the data directory.
    pub(super) file: String,
    pub(super) offset: u64,
    /// The bits that change.
    pub(super) bits: u8,
}

impl Image {
    pub(super) fn of(directory: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![PathBuf::new()];
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            for entry in fs::read_dir(directory.join(&folder)).unwrap() {
                let entry = entry.unwrap();
                let path = entry.path();
                if path.is_dir() {
                    folders.push(folder.join(entry.file_name()));
                    continue;
                }
                let mut bytes = fs::read(&path).unwrap();
                let length = u64::try_from(bytes.len()).unwrap();
                let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                bytes.truncate(used);
                let name = path.strip_prefix(directory).unwrap().display().to_string();
                files.insert(name, (bytes, length));
            }
        }
        Self { files, folders }
    }

    /// The parts of all files by what they are for.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for (file, (bytes, length)) in &self.files {
            let used = u64::try_from(bytes.len()).unwrap();
            let mut part = |kind: &str, start, end| {
                parts.push(Part { kind: kind.to_owned(), file: file.clone(), start, end });
            };
            match file.split('/').collect::<Vec<_>>().as_slice() {
                ["wal", name] if has_suffix(name, "wal") => {
                    part("wal: records", 0, used);
                    part("wal: zeros behind them", used, *length);
                }
                ["log", folder, _] => part(&format!("log/{folder}"), 0, *length),
                ["index", name] if has_suffix(name, "jnl") => {
                    part("index: journal", 0, used);
                    part("index: zeros of the journal", used, *length);
                }
                ["index", "keyspaces", _, "tables", _] => {
                    // Rows first; filters and what finds them at the end.
                    let rows = length / 20 * 19;
                    part("index: tables", 0, rows);
                    part("index: ends of tables", rows, *length);
                }
                ["index", "keyspaces", _, "current"] => part("index: current", 0, *length),
                ["index", "keyspaces", _, _] => part("index: versions", 0, *length),
                ["index", name] => part(&format!("index: {name}"), 0, *length),
                _ => part(file, 0, *length),
            }
        }
        parts
    }

    /// Copies all files, those of the index only `with_index`, into a folder of `scratch`.
    pub(super) fn copy<'a>(&'a self, scratch: &Scratch, name: &str, with_index: bool) -> Copy<'a> {
        let copy = Copy { image: self, directory: scratch.path().join(name), with_index };
        fs::create_dir(&copy.directory).unwrap();
        copy.restore_all();
        copy
    }
}

/// A copy to flip bytes in.
pub(super) struct Copy<'a> {
    image: &'a Image,
    directory: PathBuf,
    with_index: bool,
}

impl Copy<'_> {
    pub(super) fn path(&self) -> &Path {
        &self.directory
    }

    pub(super) fn flip(&self, flip: &Flip) {
        let original = self.original(flip);
        self.write(flip, original ^ flip.bits);
    }

    /// Takes a flip back, and whatever a check of the copy may have done to the index.
    pub(super) fn restore(&self, flip: &Flip) {
        if self.with_index {
            self.restore_all();
        } else {
            self.write(flip, self.original(flip));
        }
    }

    /// Makes the copy anew.
    pub(super) fn restore_all(&self) {
        fs::remove_dir_all(&self.directory).unwrap();
        let wanted = |path: &Path| self.with_index || !path.starts_with("index");
        for folder in self.image.folders.iter().filter(|folder| wanted(folder)) {
            fs::create_dir(self.directory.join(folder)).unwrap();
        }
        for (name, (bytes, length)) in &self.image.files {
            if !wanted(Path::new(name)) {
                continue;
            }
            let path = self.directory.join(name);
            fs::write(&path, bytes).unwrap();
            File::options().write(true).open(&path).unwrap().set_len(*length).unwrap();
            if name == "key.pem" {
                let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
                fs::set_permissions(&path, private).unwrap();
            }
        }
    }

    fn original(&self, flip: &Flip) -> u8 {
        let (bytes, _) = &self.image.files[&flip.file];
        // What lies behind are zeros.
        bytes.get(usize::try_from(flip.offset).unwrap()).copied().unwrap_or_default()
    }

    fn write(&self, flip: &Flip, byte: u8) {
        let file = File::options().write(true).open(self.directory.join(&flip.file)).unwrap();
        file.write_all_at(&[byte], flip.offset).unwrap();
    }
}

fn has_suffix(name: &str, suffix: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == suffix)
}
