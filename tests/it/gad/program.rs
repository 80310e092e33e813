//! The suite through the program, by the protocol that other implementations use.

use anchorlog_tests::gad::suite::{Stored, by_command, by_library, load};
use anchorlog_tests::world::Program;

use super::suite;

/// Every vector with an unusual input, and one in twelve of the others.
fn sample(vectors: &[Stored]) -> impl Iterator<Item = &Stored> {
    let usual = ["bundle", "evaluation_time", "predecessor", "require", "trust"];
    vectors.iter().enumerate().filter_map(move |(position, vector)| {
        let inputs = vector.document["inputs"].as_object()?;
        let unusual = inputs.keys().any(|name| !usual.contains(&name.as_str()));
        (unusual || position % 12 == 0).then_some(vector)
    })
}

#[test]
fn the_program_agrees_with_the_suite_and_the_library() {
    let command = [Program::Verifier.path().display().to_string(), "envelope".to_owned()];
    let runners = suite().join("runners");
    let vectors = load(&suite());
    let mut count = 0;
    for vector in sample(&vectors) {
        let said = by_command(vector, &command, Some(&runners))
            .unwrap_or_else(|error| panic!("{}: {error}", vector.name()));
        assert!(vector.complaints(&said).is_empty(), "{}: {said:?}", vector.name());
        assert_eq!(said, by_library(vector), "{}", vector.name());
        count += 1;
    }
    assert!(count >= 100, "{count} are too few");
}
