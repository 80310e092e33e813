//! What must hold for any bytes that are to be GAD objects, and for any bundle of them.

mod attack;
mod evaluation;

use std::io::Read as _;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::anchor_file::TlogAnchor;
use anchorlog_proto::gad::attestation::Attestation;
use anchorlog_proto::gad::chain::{Chain, Signer};
use anchorlog_proto::gad::claims::Claims;
use anchorlog_proto::gad::core_manifest::CoreManifest;
use anchorlog_proto::gad::entry::EntryReading;
use anchorlog_proto::gad::envelope::EnvelopeManifest;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::line::read_line;
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::plan::Plan;
use anchorlog_proto::gad::policy::Policy;
use anchorlog_proto::gad::tar::{TarReader, TarWriter};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{ReadLimits, Value, canonical, parse};
use anchorlog_proto::signed_object::SigningKey;

pub use attack::evaluate;
pub use evaluation::bundle;

/// Reads bytes as one object; where there is nothing to refuse, what is written of it reads and writes the
/// same again. (It need not be what was read: extensions aren't kept.)
fn read_and_write<T>(
    bytes: &[u8],
    read: impl Fn(&Value<'_>, &mut Defects) -> Option<T>,
    write: impl Fn(&T) -> Value<'static>,
) {
    let Ok(value) = parse(bytes, &ReadLimits::DEFAULT) else { return };
    let mut defects = Defects::new();
    let Some(object) = read(&value, &mut defects) else {
        assert!(!defects.is_empty(), "refused for nothing");
        return;
    };
    let written = canonical(&write(&object));
    if !defects.is_empty() {
        return;
    }
    let again = parse(&written, &ReadLimits::DEFAULT).expect("what is written is JSON");
    let object = read(&again, &mut defects).expect("what is written is read");
    assert!(defects.is_empty(), "{defects:?} in {}", String::from_utf8_lossy(&written));
    assert_eq!(canonical(&write(&object)), written);
}

/// Plans.
pub fn plan(bytes: &[u8]) {
    read_and_write(
        bytes,
        |value, defects| Plan::read(value, &Limits::DEFAULT, defects),
        Plan::to_value,
    );
}

/// Claims.
pub fn claims(bytes: &[u8]) {
    // A claim that R9 refuses has no defect, and isn't written.
    let whole = |claims: &Claims| {
        claims.registry_known
            && claims
                .claims
                .iter()
                .all(|one| one.as_ref().is_some_and(|one| one.noncoverage.is_some()))
    };
    read_and_write(
        bytes,
        |value, defects| {
            let claims = Claims::read(value, &Limits::DEFAULT, defects);
            if claims.as_ref().is_some_and(|claims| !whole(claims)) {
                defects.push(
                    anchorlog_proto::json::JsonCode::Type,
                    &anchorlog_proto::gad::At::root(""),
                );
            }
            claims
        },
        Claims::to_value,
    );
}

/// Manifests of cores.
pub fn core_manifest(bytes: &[u8]) {
    read_and_write(
        bytes,
        |value, defects| CoreManifest::read(value, &Limits::DEFAULT, defects),
        CoreManifest::to_value,
    );
}

/// Manifests of envelopes.
pub fn envelope(bytes: &[u8]) {
    read_and_write(
        bytes,
        |value, defects| {
            let manifest = EnvelopeManifest::read(value, &Limits::DEFAULT, defects);
            // A type that isn't implemented is no defect, and isn't kept.
            let unknown = |manifest: &EnvelopeManifest| {
                manifest.anchors.iter().any(|row| row.anchor_type.is_none())
                    || manifest.predecessor.is_err()
            };
            if manifest.as_ref().is_some_and(unknown) {
                defects.push(
                    anchorlog_proto::json::JsonCode::Type,
                    &anchorlog_proto::gad::At::root(""),
                );
            }
            manifest
        },
        EnvelopeManifest::to_value,
    );
}

/// Attestations: what is read is written back byte for byte.
pub fn attestation(bytes: &[u8]) {
    let Ok(value) = parse(bytes, &ReadLimits::DEFAULT) else { return };
    let mut defects = Defects::new();
    let attestation = Attestation::read(&value, &Limits::DEFAULT, &mut defects);
    assert_eq!(attestation.is_some(), defects.is_empty());
    if let Some(attestation) = attestation {
        assert_eq!(canonical(&attestation.to_value()), canonical(&value));
    }
}

/// Trust policies: what is read is written back byte for byte.
pub fn policy(bytes: &[u8]) {
    let Ok(value) = parse(bytes, &ReadLimits::DEFAULT) else { return };
    let mut defects = Defects::new();
    let policy = Policy::read(&value, &mut defects);
    assert_eq!(policy.is_some(), defects.is_empty());
    if let Some(policy) = policy {
        assert_eq!(canonical(&policy.to_value()), canonical(&value));
    }
}

/// Anchor files: what is read is written back byte for byte.
pub fn anchor_file(bytes: &[u8]) {
    let Ok(anchor) = TlogAnchor::parse(bytes) else { return };
    let written = anchor.to_bytes().expect("what was read can be written");
    assert_eq!(TlogAnchor::parse(&written).as_ref(), Ok(&anchor));
    assert_eq!(written, bytes);
}

/// Operator records and remembered checkpoints: the small documents.
pub fn beside(bytes: &[u8]) {
    read_and_write(bytes, Operator::read, Operator::to_value);
    read_and_write(bytes, KnownCheckpoints::read, KnownCheckpoints::to_value);
}

/// Lines of a witness: slices of a canonical line are the canonical bytes, and a payload without a defect is
/// written as the same payload.
pub fn entry(bytes: &[u8]) {
    let limits = Limits::DEFAULT;
    let Ok(line) = read_line(bytes, &limits) else { return };
    assert_eq!(line.is_canonical(), canonical(line.value()) == bytes);
    let body = line.value().as_object().and_then(|line| line.get("body"));
    assert_eq!(line.body_bytes().map(std::borrow::Cow::into_owned), body.map(canonical));
    let mut defects = Defects::new();
    let reading = line.entry(&limits, &mut defects);
    let EntryReading::Entry(entry) = &reading else {
        assert!(!defects.is_empty() || matches!(reading, EntryReading::UnknownType(_)));
        return;
    };
    if let Some(signed) = &entry.signed {
        let p = body.and_then(Value::as_object).and_then(|body| body.get("p"));
        let message = p.and_then(Value::as_object).and_then(|p| p.get("body")).map(canonical);
        assert_eq!(Some(&signed.message), message.as_ref());
    }
    let Some(payload) = &entry.payload else { return };
    if !defects.is_empty() {
        return;
    }
    let key = SigningKey::from_seed(&[7; 32]);
    let signer = if entry.entry_type.is_signed() { Signer::Key(&key) } else { Signer::None };
    let written = Chain::new().append(entry.time, payload, signer, &Digest::of(b"plan"));
    let bytes = written.bytes.strip_suffix(b"\n").expect("a line ends");
    let line = read_line(bytes, &limits).expect("what is written is read");
    let reading = line.entry(&limits, &mut defects);
    let again = reading.entry().expect("what is written is an entry");
    assert!(defects.is_empty(), "{defects:?} in {}", String::from_utf8_lossy(bytes));
    let again = again.payload.as_ref().expect("with a payload");
    assert_eq!(again.to_object().to_canonical(), payload.to_object().to_canonical());
}

/// Archives: one that is whole and sound is that of its members, and is read back from its writer.
pub fn tar(bytes: &[u8]) {
    let limits = Limits { members: 64, member_bytes: 4096, bundle_bytes: 16384, ..Limits::DEFAULT };
    let mut reader = TarReader::new(bytes, &limits);
    let mut members = Vec::new();
    let mut refused = 0;
    let mut failed = false;
    while let Some(member) = reader.next_member(&mut |_| refused += 1) {
        let mut content = Vec::new();
        failed |= reader.read_to_end(&mut content).is_err();
        assert!(content.len() <= 4096);
        assert!(failed || u64::try_from(content.len()) == Ok(member.size));
        members.push((member.path.to_string(), content));
    }
    assert!(members.len() <= 64);
    assert!(refused > 0 || (reader.is_whole() && !failed));
    if refused > 0 {
        return;
    }
    members.sort();
    let write = || {
        let mut writer = TarWriter::new(Vec::new());
        for (path, content) in &members {
            let size = u64::try_from(content.len()).expect("small");
            writer.append(path, size, content.as_slice())?;
        }
        writer.finish()
    };
    // A path that a reader takes in a prefix of its own can be one that no header says.
    let Ok(written) = write() else { return };
    assert!(written.len() <= bytes.len());
    let mut reader = TarReader::new(&*written, &limits);
    let mut again = Vec::new();
    while let Some(member) = reader.next_member(&mut |error| panic!("{error}")) {
        let mut content = Vec::new();
        reader.read_to_end(&mut content).expect("it is all there");
        again.push((member.path.to_string(), content));
    }
    assert!(reader.is_whole());
    assert_eq!(again, members);
}
