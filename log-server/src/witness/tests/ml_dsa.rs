//! A witness with a second key, of type 0x06.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anchorlog_proto::note::{NoteSignature, SignatureAlgorithm, SignedNote, VerifiedSignature};

use super::*;

#[tokio::test]
async fn both_keys_cosign_and_the_second_one_is_kept_in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ml-dsa.skey");
    let both = || cosigner().with_ml_dsa_file(&path).unwrap();
    let keys = both().keys();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(both().keys(), keys);
    assert_eq!(keys[1].algorithm(), SignatureAlgorithm::MlDsa44);
    let renamed = Cosigner::load_or_create(
        &directory.path().join("other.pem"),
        &KeyName::new("else.example").unwrap(),
    );
    let error = renamed.unwrap().0.with_ml_dsa_file(&path).unwrap_err();
    assert!(matches!(error, WitnessError::OtherName { .. }), "{error}");
    fs::write(&path, "nonsense").unwrap();
    assert!(matches!(cosigner().with_ml_dsa_file(&path), Err(WitnessError::Key(_))));
    fs::remove_file(&path).unwrap();

    let (clock, mut witness) = open(&directory, vec![Story::true_one().spec()]).unwrap();
    witness.cosigner = both();
    let (keys, story) = (witness.cosigner.keys(), Story::true_one());
    let world = World::of(clock, witness);
    let answer = world.add(story.body(0, 3)).await;
    assert_eq!(answer.status, 200);
    let lines: Vec<NoteSignature> = parse_cosignatures(&answer.body).unwrap();
    assert_eq!(lines.len(), 2);
    let note = SignedNote::new(story.checkpoint(3).to_text(), lines).unwrap();
    let verified = note.verify(&keys).unwrap();
    let times: Vec<_> = verified.signatures().iter().map(VerifiedSignature::unix_seconds).collect();
    assert_eq!(times, [Some(TIME), Some(TIME)]);
    let served = SignedNote::parse(&world.get(&story.path()).await.body).unwrap();
    assert_eq!(served.signatures().len(), 3);
    assert!(keys.iter().all(|key| served.verify(&keys).unwrap().is_signed_by(key)));
    drop(world);

    // What both have cosigned is state for a witness with the first alone, and the other way round.
    let world = World::open(&directory, vec![story.spec()]);
    world.add(story.body(3, 5)).await.cosigned(&story.checkpoint(5));
    drop(world);
    let (clock, mut witness) = open(&directory, vec![story.spec()]).unwrap();
    witness.cosigner = both();
    let world = World::of(clock, witness);
    // Extension lines are covered by the first alone.
    let text = format!("{}more\n", story.checkpoint(8).to_text());
    let mut request = story.request(5, 8);
    let note = SignedNote::new(text.clone(), vec![story.log.sign(&text)]).unwrap();
    request.checkpoint = SignedCheckpoint::from_note(note).unwrap();
    let lines = parse_cosignatures(&world.add(request.to_bytes()).await.body).unwrap();
    assert_eq!(lines.len(), 1);
    anchorlog_proto::cosignature::verify(&own_key(), &text, &lines[0]).unwrap();
}

/// A line of the second key alone tells as well that state was lost.
#[tokio::test]
async fn the_second_key_s_line_finds_out_a_lost_state() {
    let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, story) = (directory.path().join("ml-dsa.skey"), Story::true_one());
    let world = |directory: &TempDir| {
        let (clock, mut witness) = open(directory, vec![story.spec()]).unwrap();
        witness.cosigner = cosigner().with_ml_dsa_file(&path).unwrap();
        World::of(clock, witness)
    };
    let answer = world(&elsewhere).add(story.body(0, 9)).await;
    let second = parse_cosignatures(&answer.body).unwrap().remove(1);
    let mut request = story.request(0, 9);
    request.checkpoint = request.checkpoint.with_signature(second).unwrap();
    world(&directory).add(request.to_bytes()).await.refused(500, "WITNESS.HALTED");
}
