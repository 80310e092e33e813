//! Every refusal in its order, and the one property that a witness is for.

use proptest::prelude::*;

use super::*;
use crate::checkpoint::Origin;
use crate::cosignature::CosignerKey;
use crate::digest::Digest;
use crate::merkle::{Extension, Frontier, leaf_hash, root};
use crate::note::{KeyName, NoteSignature, NoteSigner};
use crate::tlog_witness::TlogWitnessError;

fn signer(name: &str, seed: u8) -> NoteSigner {
    NoteSigner::from_seed(KeyName::new(name).unwrap(), [seed; 32])
}

fn size(size: u64) -> TreeSize {
    TreeSize::new(size).unwrap()
}

/// A log that tells the truth up to entry `fork` and then one of many stories.
struct Story {
    log: NoteSigner,
    tree: Extension,
}

impl Story {
    fn new(entries: u64, fork: u64, story: u8) -> Self {
        let leaf = |index: u64| {
            let told = if index < fork { 0 } else { story };
            leaf_hash(&[&index.to_be_bytes()[..], &[told]].concat())
        };
        let tree = Extension::new(Frontier::new(), (0..entries).map(leaf)).unwrap();
        Self { log: signer("log.example", 1), tree }
    }

    fn checkpoint(&self, at: u64) -> Checkpoint {
        let root = root(&self.tree, size(at)).unwrap();
        Checkpoint::new(Origin::new("log.example").unwrap(), size(at), root)
    }

    fn request(&self, old: u64, at: u64) -> AddCheckpoint {
        let proof = consistency::prove(&self.tree, size(old), size(at)).unwrap().unwrap();
        let checkpoint = SignedCheckpoint::sign(&self.checkpoint(at), &self.log).unwrap();
        AddCheckpoint { old: size(old), proof, checkpoint }
    }

    fn keys(&self) -> Vec<VerifierKey> {
        vec![self.log.verifier_key().clone()]
    }
}

#[test]
fn what_is_consistent_is_accepted() {
    let story = Story::new(9, 9, 0);
    let keys = story.keys();
    let mut latest: Option<Checkpoint> = None;
    for (old, at) in [(0, 0), (0, 0), (0, 1), (1, 4), (4, 4), (4, 7), (7, 9)] {
        let accepted = decide(latest.as_ref(), &story.request(old, at), &keys).unwrap();
        assert_eq!(accepted.checkpoint(), &story.checkpoint(at));
        assert_eq!(accepted.previous(), latest.as_ref().map(|latest| latest.size));
        assert_eq!(accepted.is_refresh(), latest.is_some() && old == at);
        accepted.signed().verify(&keys[0]).unwrap();
        latest = Some(accepted.checkpoint().clone());
    }
    // The first may be any.
    assert_eq!(decide(None, &story.request(0, 7), &keys).unwrap().previous(), None);
}

#[test]
fn refusals_come_in_their_order() {
    let (story, fork) = (Story::new(9, 9, 0), Story::new(9, 2, 1));
    let keys = story.keys();
    let latest = story.checkpoint(4);
    let stranger = vec![signer("log.example", 2).verifier_key().clone()];
    let refused = |request: &AddCheckpoint, keys: &[VerifierKey]| {
        let refused = decide(Some(&latest), request, keys).unwrap_err();
        (refused, refused.status())
    };

    // Everything at once; then each fault mended in turn.
    let mut request = fork.request(0, 3);
    request.old = size(5);
    assert_eq!(refused(&request, &[]), (Refused::BadRequest, 400));
    request.old = size(2);
    request.proof = vec![Digest::of(b""); MAX_PROOF_LINES + 1];
    assert_eq!(refused(&request, &[]), (Refused::BadRequest, 400));
    request.proof.pop();
    assert_eq!(refused(&request, &[]), (Refused::UnknownOrigin, 404));
    assert_eq!(refused(&request, &stranger), (Refused::NotSigned, 403));
    let stale = Refused::Stale { recorded: size(4) };
    assert_eq!(refused(&request, &keys), (stale, 409));
    assert_eq!(refused(&fork.request(0, 9), &keys), (stale, 409));
    assert_eq!(refused(&story.request(7, 9), &keys), (stale, 409));
    assert_eq!(refused(&fork.request(4, 9), &keys), (Refused::Inconsistent, 422));
    assert_eq!(refused(&fork.request(4, 4), &keys), (Refused::Inconsistent, 422));
    let mut request = story.request(4, 9);
    request.proof.pop();
    assert_eq!(refused(&request, &keys), (Refused::Inconsistent, 422));
    let mut request = story.request(4, 4);
    request.proof.push(Digest::of(b""));
    assert_eq!(refused(&request, &keys), (Refused::Inconsistent, 422));
    let mut request = story.request(0, 9);
    request.proof.push(Digest::of(b""));
    assert_eq!(decide(None, &request, &keys), Err(Refused::Inconsistent));
    assert_eq!(
        decide(None, &story.request(4, 9), &keys),
        Err(Refused::Stale { recorded: TreeSize::ZERO })
    );

    // A checkpoint of another log is never compared with this one's.
    let mut other = latest.clone();
    other.origin = Origin::new("else.example").unwrap();
    let request = story.request(4, 9);
    assert_eq!(decide(Some(&other), &request, &keys), Err(Refused::UnknownOrigin));
}

#[test]
fn codes_are_stable() {
    for (refused, code) in [
        (Refused::UnknownOrigin, "TLOGWITNESS.UNKNOWN_ORIGIN"),
        (Refused::BadRequest, "TLOGWITNESS.BAD_REQUEST"),
        (Refused::NotSigned, "TLOGWITNESS.NOT_SIGNED"),
        (Refused::Stale { recorded: size(1) }, "TLOGWITNESS.STALE"),
        (Refused::EmptyTreeRoot, "TLOGWITNESS.EMPTY_TREE_ROOT"),
        (Refused::Inconsistent, "TLOGWITNESS.INCONSISTENT"),
    ] {
        assert_eq!(refused.code(), code);
    }
}

#[test]
fn only_lines_of_the_logs_keys_count_and_stay() {
    let story = Story::new(9, 9, 0);
    let mut request = story.request(0, 5);
    let text = request.checkpoint.note().text().to_owned();
    let witness = CosignerKey::from_seed(KeyName::new("w.example").unwrap(), [3; 32]);
    let cosignature = witness.cosign(&text, 5).unwrap();
    let next = signer("log.example", 4);
    let log_line = request.checkpoint.note().signatures()[0].clone();
    for line in [cosignature.clone(), next.sign(&text)] {
        request.checkpoint = request.checkpoint.with_signature(line).unwrap();
    }

    // Two keys of one log: both lines stay, the witness' goes.
    let mut keys = story.keys();
    keys.push(next.verifier_key().clone());
    let accepted = decide(None, &request, &keys).unwrap();
    assert_eq!(accepted.signed().note().signatures(), [log_line.clone(), next.sign(&text)]);
    // One is enough, whichever.
    for key in &keys {
        let accepted = decide(None, &request, std::slice::from_ref(key)).unwrap();
        assert_eq!(accepted.signed().note().signatures().len(), 1);
    }
    // A key may be called otherwise than the origin, if the caller says it is that log's.
    let alias = signer("alias.example", 5);
    request.checkpoint = request.checkpoint.with_signature(alias.sign(&text)).unwrap();
    assert!(decide(None, &request, std::slice::from_ref(alias.verifier_key())).is_ok());

    // A line that comes twice is kept once.
    let repeated = vec![log_line.clone(), log_line.clone()];
    let note = SignedNote::new(text.clone(), repeated).unwrap();
    let twice =
        AddCheckpoint { checkpoint: SignedCheckpoint::from_note(note).unwrap(), ..request.clone() };
    let accepted = decide(None, &twice, &keys).unwrap();
    assert_eq!(accepted.signed().note().signatures(), [log_line]);

    // A failing line of a known key refuses, whatever the others say.
    let bad = next.sign("log.example\n");
    request.checkpoint = request.checkpoint.with_signature(bad).unwrap();
    assert_eq!(decide(None, &request, &keys), Err(Refused::NotSigned));
    // A witness' key is no log's.
    let cosigner = std::slice::from_ref(witness.verifier_key());
    assert_eq!(decide(None, &request, cosigner), Err(Refused::UnknownOrigin));
}

#[test]
fn an_empty_tree_with_another_root_is_refused_in_order() {
    let log = signer("log.example", 1);
    let text = format!("log.example\n0\n{}\n", Digest::of(b"x").to_base64());
    let body = |line: NoteSignature| {
        let note = SignedNote::new(text.clone(), vec![line]).unwrap();
        format!("old 0\n\n{}", note.to_text())
    };
    let read = |line| {
        let Err(TlogWitnessError::EmptyTreeRoot(request)) =
            AddCheckpoint::parse(body(line).as_bytes())
        else {
            panic!("not told apart");
        };
        request
    };
    let keys = [log.verifier_key().clone()];
    let signed = read(log.sign(&text));
    assert_eq!(refuse_empty_tree_root(&signed, &[]), Refused::UnknownOrigin);
    assert_eq!(refuse_empty_tree_root(&signed, &keys), Refused::EmptyTreeRoot);
    assert_eq!(Refused::EmptyTreeRoot.status(), 422);
    let unsigned = read(signer("log.example", 2).sign(&text));
    assert_eq!(refuse_empty_tree_root(&unsigned, &keys), Refused::NotSigned);
}

proptest! {
    /// Whatever a log that tells several stories asks for, in whatever order: what is accepted is one
    /// chain, in which each tree is a prefix of the next and sizes never fall.
    #[test]
    fn what_is_accepted_is_one_chain(
        fork in 0..12_u64,
        asked in prop::collection::vec((0..3_u8, 0..=12_u64, 0..=12_u64), 1..60),
    ) {
        let stories: Vec<Story> = (0..3).map(|story| Story::new(12, fork, story)).collect();
        let mut latest: Option<Checkpoint> = None;
        let mut chain: Vec<Checkpoint> = Vec::new();
        for (story, a, b) in asked {
            let (old, at) = (a.min(b), a.max(b));
            let story = &stories[usize::from(story)];
            // Half of them start from where the witness is, or nothing would ever be accepted.
            let recorded = latest.as_ref().map_or(0, |latest| latest.size.get());
            let request = if a < b && recorded <= at {
                story.request(recorded, at)
            } else {
                story.request(old, at)
            };
            if let Ok(accepted) = decide(latest.as_ref(), &request, &story.keys()) {
                chain.push(accepted.checkpoint().clone());
                latest = Some(accepted.checkpoint().clone());
            }
        }
        for pair in chain.windows(2) {
            prop_assert!(pair[0].size <= pair[1].size);
        }
        // Some story tells all of them: prefixes of one tree are consistent.
        let told = |story: &Story| {
            chain.iter().all(|checkpoint| *checkpoint == story.checkpoint(checkpoint.size.get()))
        };
        prop_assert!(stories.iter().any(told));
    }
}
