//! Asking every place, and verifying what it shows.

use std::sync::Arc;

use anchorlog_proto::checkpoint::{Origin, SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::note::VerifierKey;
use anchorlog_verifier::codes;
use anchorlog_verifier::proof::Tree;

use super::sources::{Found, read};
use super::{CompareOptions, Sighting};
use crate::follow::TileLocation;

/// Everything that the places show.
#[derive(Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "the result, for whoever shows it")]
pub struct Gathered {
    /// The trees, each with the log it is of.
    pub sightings: Vec<(Origin, Sighting)>,
    /// What can't be compared, and why.
    pub problems: Vec<Problem>,
}

/// Something that can't be compared.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the result, for whoever shows it")]
pub struct Problem {
    /// Where it is.
    pub place: String,
    /// The stable code.
    pub code: String,
    /// In words.
    pub detail: String,
}

/// Asks every place, and after them the logs that have tiles. Only what one of the keys signed is a
/// sighting, and what is remembered of a log that one of the keys is of.
pub async fn gather(places: &[TileLocation], options: &CompareOptions) -> Gathered {
    let mut gathered = Gathered::default();
    let mut origins: Vec<Origin> = Vec::new();
    for key in &options.keys {
        // A log's key has its origin for a name.
        if let Ok(origin) = key.name().as_str().parse()
            && !origins.contains(&origin)
        {
            origins.push(origin);
        }
    }
    let logs = options.logs.iter().filter(|log| !places.contains(log));
    for place in places.iter().chain(logs) {
        match read(place, &origins, &options.follow).await {
            Ok(found) => {
                for (name, found) in found {
                    gathered.add(name, found, &origins, &options.keys);
                }
            }
            Err(error) => gathered.problems.push(Problem {
                place: place.to_string(),
                code: error.code().to_owned(),
                detail: error.to_string(),
            }),
        }
    }
    gathered
}

impl Gathered {
    fn add(&mut self, place: String, found: Found, origins: &[Origin], keys: &[VerifierKey]) {
        match found {
            Found::Signed(signed) => match verified(&signed, keys) {
                Ok(note) => {
                    let checkpoint = note.checkpoint();
                    let tree = Tree { size: checkpoint.size, root: checkpoint.root };
                    let origin = checkpoint.origin.clone();
                    let note = Some(Arc::new(note));
                    let sighting = Sighting { tree, note, seen_in: vec![place] };
                    self.sightings.push((origin, sighting));
                }
                Err((code, detail)) => self.problems.push(Problem { place, code, detail }),
            },
            Found::Remembered(known) => {
                // The memory of other logs is no matter of this comparison.
                if origins.contains(&known.origin) {
                    let tree = Tree { size: known.size, root: known.root };
                    let sighting = Sighting { tree, note: None, seen_in: vec![place] };
                    self.sightings.push((known.origin, sighting));
                }
            }
        }
    }
}

/// Verifies a checkpoint under one of the keys.
fn verified(
    signed: &SignedCheckpoint,
    keys: &[VerifierKey],
) -> Result<VerifiedCheckpoint, (String, String)> {
    if let Some(verified) = keys.iter().find_map(|key| signed.verify(key).ok()) {
        return Ok(verified);
    }
    let origin = &signed.checkpoint().origin;
    let known = keys.iter().any(|key| key.name().as_str() == origin.as_str());
    let (code, why) = if known {
        (codes::log::SIG, "none of the log's keys signed it")
    } else {
        (codes::log::UNKNOWN, "no key is given for this log")
    };
    Err((code.as_str().to_owned(), format!("the checkpoint of {origin}: {why}")))
}
