//! Saving where a reading ended. The only file that this program writes.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::codes::witness::SAVE;
use crate::finding::Finding;
use crate::jp::witness::RESUME;

/// Puts a text in the place of a file: all of it or none of it, also when the power fails.
///
/// The client's room for durable writes is above this crate, which has nothing else to write.
#[allow(clippy::disallowed_methods, reason = "one small file, written beside and renamed")]
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = beside(path);
    let written = File::create_new(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| fs::rename(&beside, path)) {
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _left_over = fs::remove_file(&beside);
        }
        return Err(error);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// The finding that it did not work.
pub(super) fn finding(path: &Path, error: &io::Error) -> Finding {
    let mut what = format!("{} can't be written: {error}", path.display());
    if error.kind() == io::ErrorKind::AlreadyExists {
        let beside = beside(path);
        what = format!(
            "{} is in the way; another run is writing, or was interrupted: remove it then",
            beside.display()
        );
    }
    Finding::new(SAVE, what).in_input(RESUME)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("read.json");
        replace(&path, "one").unwrap();
        replace(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        // Somebody else is writing: what is there stays.
        fs::write(directory.path().join("read.json.new"), "x").unwrap();
        assert_eq!(replace(&path, "three").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let missing = directory.path().join("none/read.json");
        let error = replace(&missing, "x").unwrap_err();
        assert!(finding(&missing, &error).detail.contains("read.json"));
        assert!(replace(Path::new("/"), "x").is_err());
    }
}
