//! The countersigned checkpoints: is each one a checkpoint of this log, and each token over it?
//!
//! Whether a token is to be believed is for a verifier with roots to say; here it is only held to the bytes
//! that it has to stamp.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{self, TreeSize};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tile::TileNodes;
use anchorlog_proto::timestamp::{HashAlgorithm, Token, ber};

use super::directory::report_storage;
use super::{Fault, Note, Report};
use crate::checkpoints::{FOLDER, StoredToken, examine};
use crate::error::Error;
use crate::storage::Objects as _;
use crate::storage::flat::FlatObjects;

/// Checks every countersigned checkpoint of the log of `directory`, which promises `size` entries and has
/// those of `objects` stored.
pub(super) fn check_checkpoints(
    directory: &Path,
    key: &VerifierKey,
    objects: &FlatObjects,
    size: TreeSize,
    report: &mut Report,
) -> Result<(), Error> {
    // Tokens over one checkpoint stand together, and its root is computed once.
    let mut known: Option<(Vec<u8>, Option<Fault>)> = None;
    let examined = examine(directory, |file, found| {
        let token = match found {
            Ok(token) => token,
            Err(error) => return report_storage(file, &error, report),
        };
        report.countersigned += 1;
        let fault = match &known {
            Some((note, fault)) if *note == token.note => fault.clone(),
            _ => check_note(&token, key, objects, size).err(),
        };
        if let Some(fault) = fault.clone().or_else(|| check_token(&token).err()) {
            report.problem(file, Some(token.size), fault);
        }
        known = Some((token.note, fault));
    })?;
    for name in examined.foreign {
        report.problem(format!("{FOLDER}/{name}"), None, Fault::ForeignFile);
    }
    if examined.end.torn > 0 {
        report.notes.push(Note::TornToken { bytes: examined.end.torn });
    }
    Ok(())
}

/// Checks that the checkpoint is signed by the log and is of its tree.
fn check_note(
    token: &StoredToken,
    key: &VerifierKey,
    objects: &FlatObjects,
    size: TreeSize,
) -> Result<(), Fault> {
    let signed = SignedCheckpoint::parse(&token.note).map_err(Fault::Checkpoint)?;
    let verified = signed.verify(key).map_err(Fault::Checkpoint)?;
    let checkpoint = verified.checkpoint();
    if checkpoint.size.get() != token.size {
        return Err(Fault::Token { reason: "stored under another size" });
    }
    if verified.log_note_bytes().ok().as_ref() != Some(&token.note) {
        return Err(Fault::Token { reason: "its note has more than the log's own signature" });
    }
    if checkpoint.size > size {
        return Err(Fault::JournalBehind { journal: size.get(), stored: token.size });
    }
    // What only the journal has is hashed when the journal is checked.
    let stored = merkle::root(&TileNodes(objects), checkpoint.size);
    if checkpoint.size <= objects.size() && stored.ok() != Some(checkpoint.root) {
        return Err(Fault::Root);
    }
    Ok(())
}

/// Checks that the token stamps the checkpoint it is stored with, and says what is stored about it.
fn check_token(token: &StoredToken) -> Result<(), Fault> {
    let fault = |reason| Fault::Token { reason };
    // An authority may have been allowed to write BER.
    let der = ber::token_to_der(&token.token);
    let bytes = match Token::parse(&token.token) {
        Ok(_) => &token.token,
        Err(_) => der.as_ref().ok_or(fault("not an RFC 3161 token"))?,
    };
    let parsed = Token::parse(bytes).map_err(|_| fault("not an RFC 3161 token"))?;
    let algorithm = HashAlgorithm::from_oid(&parsed.info.imprint_algorithm.oid);
    let digest = Digest::of(&token.note);
    if algorithm != Some(HashAlgorithm::Sha256) || parsed.info.imprint != digest.as_bytes() {
        return Err(fault("a token over something else"));
    }
    if parsed.info.gen_time != token.gen_time {
        return Err(fault("stored with another time"));
    }
    Ok(())
}
