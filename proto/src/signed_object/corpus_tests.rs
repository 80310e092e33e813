//! Key identifiers, domains and signatures on the published corpus, which another program wrote.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::collections::HashMap;

use super::*;
use crate::digest::Digest;
use crate::encoding::hex_decode_array;
use crate::json::corpus_tests::{base_records, corpus_directory, corpus_file};
use crate::json::{ReadLimits, canonical, parse};

const LIMITS: ReadLimits = ReadLimits::DEFAULT;

/// The corpus' keys by the identifier the corpus gives them.
fn corpus_keys() -> Option<HashMap<String, (PublicKey, SigningKey)>> {
    let bytes = corpus_file("gad/_shared/keys/keys.json")?;
    let value = parse(&bytes, &LIMITS).unwrap();
    let rows = value.as_object().unwrap().get("ed25519").unwrap().as_object().unwrap();
    let read = |(name, row)| {
        let mut fields = Fields::new(row, name).unwrap();
        let public = hex_decode_array(fields.string("public_hex").unwrap()).unwrap();
        let seed = hex_decode_array(fields.string("seed_hex").unwrap()).unwrap();
        let key = (PublicKey::from_bytes(&public).unwrap(), SigningKey::from_seed(&seed));
        (fields.string("key_id").unwrap().to_owned(), key)
    };
    Some(rows.iter().map(read).collect())
}

#[test]
fn identifiers_are_derived_from_the_keys() {
    let Some(keys) = corpus_keys() else { return };
    assert!(keys.len() >= 10, "only {} keys", keys.len());
    for (id, (public, signing)) in &keys {
        assert_eq!(public.id().to_string(), *id);
        assert_eq!(signing.public_key(), *public);
        assert_eq!(id.parse(), Ok(public.id()));
    }
}

#[test]
fn chains_and_signatures_of_base_records_verify() {
    let (Some(corpus), Some(keys)) = (corpus_directory(), corpus_keys()) else { return };
    let (mut entries, mut signatures) = (0, 0);
    for record in base_records(&corpus) {
        let plan = std::fs::read(record.join("core/plan.json")).unwrap();
        let plan_hash = Domain::Plan.hash(&[&plan]);
        let witness = std::fs::read(record.join("core/witness.jsonl")).unwrap();
        let mut head = Domain::Genesis.hash(&[]);
        for line in witness.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n') {
            let value = parse(line, &LIMITS).unwrap();
            let mut entry = Fields::new(&value, "").unwrap();
            let body = entry.required("body").unwrap();
            head = Domain::Chain.hash(&[head.as_bytes(), &canonical(body)]);
            assert_eq!(entry.digest("h").unwrap(), head, "{}", record.display());
            entries += 1;

            let payload = body.as_object().unwrap().get("p").unwrap();
            if payload.as_object().unwrap().contains("signature") {
                check_signed(payload, plan_hash, &keys);
                signatures += 1;
            }
        }
    }
    assert!(entries >= 100 && signatures >= 40, "{entries} entries, {signatures} signatures");
}

/// Verifies a signed payload, and makes the same signature again.
fn check_signed(
    payload: &Value<'_>,
    plan_hash: Digest,
    keys: &HashMap<String, (PublicKey, SigningKey)>,
) {
    let object = SignedObject::read(payload, "").unwrap();
    let (public, signing) = keys.get(&object.signer().to_string()).unwrap();
    object.verify(public).unwrap();
    assert_eq!(object.fields().digest("plan_hash").unwrap(), plan_hash);
    let again = SignedObject::sign(object.type_name(), object.body().clone(), signing);
    assert_eq!(again.to_canonical(), canonical(payload));
}
