//! Every vector through the library, some through the program.

use std::path::Path;

use anchorlog_tests::gad::suite::{Stored, by_library, load};
use anchorlog_tests::gad::{vectors, write};
use anchorlog_tests::world::corpus;

use super::suite;

fn disagreements(vectors: &[Stored]) -> Vec<String> {
    vectors
        .iter()
        .filter_map(|vector| {
            let complaints = vector.complaints(&by_library(vector));
            let found = format!("{}: {}", vector.name(), complaints.join("; "));
            (!complaints.is_empty()).then_some(found)
        })
        .collect()
}

fn agree(directory: &Path) {
    let vectors = load(directory);
    assert!(!vectors.is_empty(), "no vectors in {}", directory.display());
    let wrong = disagreements(&vectors);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}

#[test]
fn the_library_agrees_with_the_suite() {
    agree(&suite());
}

#[test]
fn the_library_agrees_with_the_corpus() {
    let Some(folder) = corpus::folder("gad") else { return };
    agree(&folder);
}

#[test]
fn the_suite_is_what_the_generator_writes() {
    let files = write::files(&vectors());
    let drift = write::drift(&suite(), &files).expect("the suite is there");
    assert!(drift.is_empty(), "run scripts/gad-vectors:\n{}", drift.join("\n"));
}

/// Two runs in one process, since a table that is filled lazily could hide what a fresh one shows.
#[test]
fn bytes_are_the_same_each_time() {
    let (one, other) = (write::files(&vectors()), write::files(&vectors()));
    assert!(one == other);
}
