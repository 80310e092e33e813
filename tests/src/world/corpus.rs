//! The conformance corpus: files that are not part of this repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of the corpus that `ANCHORLOG_CORPUS` points to. Without the variable it says so and returns
/// `None`, unless `ANCHORLOG_REQUIRE_CORPUS=1` forbids to go on without it.
#[must_use]
#[allow(clippy::print_stdout, reason = "a test that does nothing must say so")]
pub fn folder(name: &str) -> Option<PathBuf> {
    let required = env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    let Some(corpus) = env::var_os("ANCHORLOG_CORPUS") else {
        assert!(!required, "ANCHORLOG_CORPUS is not set and ANCHORLOG_REQUIRE_CORPUS is");
        println!("skipped: ANCHORLOG_CORPUS is not set");
        return None;
    };
    let folder = Path::new(&corpus).join(name);
    assert!(folder.is_dir(), "{} is not there", folder.display());
    Some(folder)
}

/// Every file below `folder` whose name ends in `suffix`, sorted.
#[must_use]
pub fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("the corpus can be read") {
            let path = entry.expect("the corpus can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(suffix) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
