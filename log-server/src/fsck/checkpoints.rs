//! The countersigned checkpoints: is each one a checkpoint of this log, and each token and line over it?
//!
//! Whether a token is to be believed is for a verifier with roots to say; here it is only held to the bytes
//! that it has to stamp. A line of a witness is verified under the key that is stored with it; whether that
//! witness counts is for a policy to say.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::cosignature;
use anchorlog_proto::merkle::{self, TreeSize};
use anchorlog_proto::note::{NoteSignature, SignedNote, VerifierKey};
use anchorlog_proto::tile::TileNodes;
use anchorlog_proto::timestamp::{HashAlgorithm, Token, ber};

use super::directory::report_storage;
use super::{Fault, Note, Report};
use crate::checkpoints::{Cosignatures, FOLDER, StoredToken, examine, examine_cosignatures};
use crate::error::Error;
use crate::storage::Objects as _;
use crate::storage::flat::FlatObjects;

/// Checks every countersigned checkpoint of the log of `directory`, which promises `size` entries and has
/// those of `objects` stored.
pub(super) fn check_checkpoints(
    directory: &Path,
    keys: &[VerifierKey],
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
            _ => check_note(token.size, &token.note, keys, objects, size).err(),
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
    let examined = examine_cosignatures(directory, |file, found| {
        let (cosigned, witnesses) = match found {
            Ok(found) => found,
            Err(error) => return report_storage(file, &error, report),
        };
        report.cosignatures += u64::try_from(cosigned.lines.len()).unwrap_or(u64::MAX);
        let fault = check_note(cosigned.size, &cosigned.note, keys, objects, size)
            .and_then(|()| check_lines(&cosigned, witnesses));
        if let Err(fault) = fault {
            report.problem(file, Some(cosigned.size), fault);
        }
    })?;
    if examined.end.torn > 0 {
        report.notes.push(Note::TornCosignature { bytes: examined.end.torn });
    }
    Ok(())
}

/// Checks that every line is a cosignature of the checkpoint, by a key that stands before it.
fn check_lines(cosigned: &Cosignatures, witnesses: &[VerifierKey]) -> Result<(), Fault> {
    let signed = SignedCheckpoint::parse(&cosigned.note).map_err(Fault::Checkpoint)?;
    for line in &cosigned.lines {
        let is_by = |key: &&VerifierKey| key.name() == line.name() && key.key_id() == line.key_id();
        let key = witnesses
            .iter()
            .find(is_by)
            .ok_or(Fault::Cosignature { reason: "by a key that isn't stored with it" })?;
        cosignature::verify(key, signed.note().text(), line)
            .map_err(|_| Fault::Cosignature { reason: "it does not verify" })?;
    }
    Ok(())
}

/// Checks that the checkpoint is signed by the log and is of its tree.
fn check_note(
    stored: u64,
    note: &[u8],
    keys: &[VerifierKey],
    objects: &FlatObjects,
    size: TreeSize,
) -> Result<(), Fault> {
    let signed = SignedCheckpoint::parse(note).map_err(Fault::Checkpoint)?;
    let verified = signed.verify_any(keys).map_err(Fault::Checkpoint)?;
    let checkpoint = verified.checkpoint();
    if checkpoint.size.get() != stored {
        return Err(Fault::Token { reason: "stored under another size" });
    }
    let own = |line: &NoteSignature| {
        keys.iter().any(|key| key.name() == line.name() && key.key_id() == line.key_id())
    };
    if !signed.note().signatures().iter().all(own) {
        return Err(Fault::Token { reason: "its note has more than the log's own signatures" });
    }
    if checkpoint.size > size {
        return Err(Fault::JournalBehind { journal: size.get(), stored });
    }
    // What only the journal has is hashed when the journal is checked.
    let stored = merkle::root(&TileNodes(objects), checkpoint.size);
    if checkpoint.size <= objects.size() && stored.ok() != Some(checkpoint.root) {
        return Err(Fault::Root);
    }
    Ok(())
}

/// Whether an imprint is that of a note with one of its lines alone.
fn stamps(imprint: &[u8], note: &[u8]) -> bool {
    let Ok(note) = SignedNote::parse(note) else { return false };
    let alone = |line: &NoteSignature| {
        SignedNote::new(note.text().to_owned(), vec![line.clone()])
            .is_ok_and(|alone| Digest::of(&alone.to_bytes()).as_bytes() == imprint)
    };
    note.signatures().iter().any(alone)
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
    if algorithm != Some(HashAlgorithm::Sha256) || !stamps(parsed.info.imprint, &token.note) {
        return Err(fault("a token over something else"));
    }
    if parsed.info.gen_time != token.gen_time {
        return Err(fault("stored with another time"));
    }
    Ok(())
}
