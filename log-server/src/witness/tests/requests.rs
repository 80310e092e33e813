//! What is answered to whom.

use anchorlog_proto::note::SignedNote;
use anchorlog_proto::tlog_witness::MAX_REQUEST_BYTES;

use super::*;

#[tokio::test]
async fn a_log_grows_and_is_cosigned() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let world = World::open(&directory, vec![story.spec()]);
    world.get(&story.path()).await.refused(404, "log.not-found");
    for (step, (old, at)) in [(0, 0), (0, 3), (3, 3), (3, 8), (8, 20)].into_iter().enumerate() {
        world.set_clock(TIME + u64::try_from(step).unwrap());
        let answer = world.add(story.body(old, at)).await;
        let time = answer.cosigned(&story.checkpoint(at));
        assert_eq!(time, TIME + u64::try_from(step).unwrap());

        // Served: the checkpoint, the log's line and ours, and nothing else.
        let served = world.get(&story.path()).await;
        assert_eq!(served.status, 200);
        assert_eq!(served.header("content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(served.header("access-control-allow-origin"), Some("*"));
        let note = SignedNote::parse(&served.body).unwrap();
        assert_eq!(note.text(), story.checkpoint(at).to_text());
        assert_eq!(note.signatures().len(), 2);
        let keys = [story.log.verifier_key().clone(), own_key()];
        let verified = note.verify(&keys).unwrap();
        assert!(keys.iter().all(|key| verified.is_signed_by(key)));
        assert!(answer.text().contains(&note.signatures()[1].to_string()));
    }
    let size = format!("anchorlog_witness_size{{origin=\"{LOG}\"}} 20");
    let metrics = world.get("/metrics").await;
    assert!(metrics.text().contains(&size), "{}", metrics.text());
    assert!(metrics.text().contains("anchorlog_witness_cosigned_total{origin=\"log.example\"} 5"));
    let head = world.send(Method::HEAD, &story.path(), Vec::new()).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[tokio::test]
async fn refusals_come_with_their_statuses_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let (story, fork) = (Story::true_one(), Story::new(LOG, 20, 2, 1));
    let stranger = Story::new("else.example", 20, 20, 0);
    let world = World::open(&directory, vec![story.spec()]);
    world.add(story.body(0, 5)).await.cosigned(&story.checkpoint(5));

    world.add(Vec::new()).await.refused(400, "TLOGWITNESS.TRUNCATED");
    world.add(b"old 01\n\n".to_vec()).await.refused(400, "TLOGWITNESS.OLD_FORM");
    let mut request = story.request(5, 8);
    request.old = TreeSize::new(9).unwrap();
    world.add(request.to_bytes()).await.refused(400, "TLOGWITNESS.OLD_OVER_SIZE");
    request = story.request(5, 8);
    request.proof = vec![Digest::of(b""); 64];
    world.add(request.to_bytes()).await.refused(400, "TLOGWITNESS.HASHES");
    world.add(stranger.body(0, 5)).await.refused(404, "TLOGWITNESS.UNKNOWN_ORIGIN");

    // Signed by another key of that name.
    let other = NoteSigner::from_seed(KeyName::new(LOG).unwrap(), [2; 32]);
    let mut request = story.request(5, 8);
    request.checkpoint = SignedCheckpoint::sign(&story.checkpoint(8), &other).unwrap();
    world.add(request.to_bytes()).await.refused(403, "TLOGWITNESS.NOT_SIGNED");
    // A bad line of the known key.
    let bad = story.log.sign("something else\n");
    request.checkpoint = request.checkpoint.with_signature(bad).unwrap();
    world.add(request.to_bytes()).await.refused(403, "TLOGWITNESS.NOT_SIGNED");

    // An empty tree that isn't: known, signed, and refused before its size is looked at.
    let text = format!("{LOG}\n0\n{}\n", Digest::of(b"x").to_base64());
    let note = SignedNote::new(text.clone(), vec![story.log.sign(&text)]).unwrap();
    let body = format!("old 0\n\n{}", note.to_text());
    world.add(body.into_bytes()).await.refused(422, "TLOGWITNESS.EMPTY_TREE_ROOT");
    let unsigned = SignedNote::new(text.clone(), vec![other.sign(&text)]).unwrap();
    let body = format!("old 0\n\n{}", unsigned.to_text());
    world.add(body.into_bytes()).await.refused(403, "TLOGWITNESS.NOT_SIGNED");

    world.add(story.body(0, 8)).await.conflict(5);
    world.add(story.body(3, 8)).await.conflict(5);
    world.add(story.body(8, 8)).await.conflict(5);
    // A fork says a wrong size: it learns the size and no more.
    world.add(fork.body(0, 8)).await.conflict(5);
    world.add(fork.body(5, 8)).await.refused(422, "TLOGWITNESS.INCONSISTENT");
    world.add(fork.body(5, 5)).await.refused(422, "TLOGWITNESS.INCONSISTENT");
    let metrics = world.get("/metrics").await;
    for line in [
        "anchorlog_witness_split_views_total{origin=\"log.example\"} 1",
        "anchorlog_witness_refused_total{code=\"TLOGWITNESS.INCONSISTENT\"} 2",
        "anchorlog_witness_refused_total{code=\"TLOGWITNESS.STALE\"} 4",
    ] {
        assert!(metrics.text().contains(line), "{line} is not in:\n{}", metrics.text());
    }
    // And it is where it was.
    world.add(story.body(5, 8)).await.cosigned(&story.checkpoint(8));
}

#[tokio::test]
async fn the_edge_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let world = World::open(&directory, vec![story.spec()]);
    let large = vec![b'a'; MAX_REQUEST_BYTES + 1];
    world.add(large).await.refused(413, "request.body-too-large");
    world.get(http::ADD_CHECKPOINT).await.refused(405, "request.method-not-allowed");
    world.get("/").await.refused(404, "request.unknown-path");
    world.get("/nonsense/checkpoint").await.refused(404, "log.not-found");
    let ready = world.get("/readyz").await;
    assert_eq!((ready.status, ready.text()), (200, "{\"status\":\"ready\"}"));
    assert_eq!(world.get("/healthz").await.status, 200);
    world.stop.send_replace(true);
    world.get("/readyz").await.refused(503, "server.stopping");
}

#[tokio::test]
async fn a_clock_that_goes_back_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let (story, other) = (Story::true_one(), Story::new("other.example", 20, 20, 0));
    let world = World::open(&directory, vec![story.spec(), other.spec()]);
    world.add(story.body(0, 5)).await.cosigned(&story.checkpoint(5));
    // The same second is no step back.
    world.add(story.body(5, 6)).await.cosigned(&story.checkpoint(6));
    world.set_clock(TIME - 30);
    let answer = world.add(story.body(6, 8)).await;
    answer.refused(503, "WITNESS.CLOCK_BEHIND");
    assert_eq!(answer.header("retry-after"), Some("30"));
    // One clock for all logs.
    world.add(other.body(0, 1)).await.refused(503, "WITNESS.CLOCK_BEHIND");
    world.get("/readyz").await.refused(503, "WITNESS.CLOCK_BEHIND");
    assert_eq!(world.get("/healthz").await.status, 200);
    // Nothing was kept, and what needs no time is answered as ever.
    world.add(story.body(0, 8)).await.conflict(6);
    // Still so after a restart: the time is in what was kept.
    drop(world);
    let world = World::open(&directory, vec![story.spec(), other.spec()]);
    world.set_clock(TIME - 1);
    world.add(story.body(6, 8)).await.refused(503, "WITNESS.CLOCK_BEHIND");
    world.set_clock(0);
    world.add(story.body(6, 8)).await.refused(503, "WITNESS.CLOCK_BEHIND");
    world.set_clock(TIME);
    assert_eq!(world.add(story.body(6, 8)).await.cosigned(&story.checkpoint(8)), TIME);
}

#[tokio::test]
async fn keys_are_changed_while_the_log_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let next = NoteSigner::from_seed(KeyName::new(LOG).unwrap(), [9; 32]);
    let by_next = |old, at| {
        let mut request = story.request(old, at);
        request.checkpoint = SignedCheckpoint::sign(&story.checkpoint(at), &next).unwrap();
        request.to_bytes()
    };
    let mut spec = story.spec();
    let world = World::open(&directory, vec![spec.clone()]);
    world.add(story.body(0, 3)).await.cosigned(&story.checkpoint(3));
    world.add(by_next(3, 5)).await.refused(403, "TLOGWITNESS.NOT_SIGNED");
    drop(world);
    spec.keys.push(next.verifier_key().clone());
    let world = World::open(&directory, vec![spec.clone()]);
    world.add(by_next(3, 5)).await.cosigned(&story.checkpoint(5));
    world.add(story.body(5, 6)).await.cosigned(&story.checkpoint(6));
    drop(world);
    // The old key is gone; what it signed is still what was cosigned.
    spec.keys.remove(0);
    let world = World::open(&directory, vec![spec]);
    world.add(story.body(6, 8)).await.refused(403, "TLOGWITNESS.NOT_SIGNED");
    world.add(by_next(0, 8)).await.conflict(6);
    world.add(by_next(6, 8)).await.cosigned(&story.checkpoint(8));
}

#[test]
fn logs_are_named_by_key_and_origin() {
    let key = Story::true_one().log.verifier_key().to_string();
    let spec: LogSpec = key.parse().unwrap();
    assert_eq!(spec, Story::true_one().spec());
    for origin in ["other.example", "a=b", "with space"] {
        let spec: LogSpec = format!("{key}={origin}").parse().unwrap();
        assert_eq!((spec.origin.as_str(), spec.keys[0].to_string()), (origin, key.clone()));
    }
    // A name with a `=` in it.
    let odd = NoteSigner::from_seed(KeyName::new("a=b").unwrap(), [3; 32]);
    let odd = odd.verifier_key().to_string();
    assert_eq!(odd.parse::<LogSpec>().unwrap().origin.as_str(), "a=b");
    assert_eq!(format!("{odd}=c").parse::<LogSpec>().unwrap().origin.as_str(), "c");
    for (text, code) in [("nonsense", 0), (&format!("{key}="), 1), (&format!("x{key}=a"), 0)] {
        let error = text.parse::<LogSpec>().unwrap_err();
        let origin = matches!(error, WitnessError::Origin { .. });
        assert_eq!(origin, code == 1, "{error}");
    }
    let twice = vec![Story::true_one().spec(), key.parse().unwrap()];
    assert_eq!(merge(twice), [Story::true_one().spec()]);
}

#[test]
fn logs_that_can_not_be_witnessed_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let spec = Story::true_one().spec();
    let origin = spec.origin.clone();
    let with = |keys| vec![LogSpec { origin: origin.clone(), keys }];
    let refused = |logs| World::try_open(&directory, logs).map(|_| ()).unwrap_err();
    assert!(matches!(refused(with(vec![])), WitnessError::Keys { keys: 0, .. }));
    let many: Vec<_> = (0..17)
        .map(|seed| {
            let name = KeyName::new(LOG).unwrap();
            NoteSigner::from_seed(name, [seed; 32]).verifier_key().clone()
        })
        .collect();
    assert!(matches!(refused(with(many)), WitnessError::Keys { keys: 17, .. }));
    assert!(matches!(refused(with(vec![own_key()])), WitnessError::KeyType { .. }));
    let own = VerifierKey::new(
        KeyName::new(LOG).unwrap(),
        anchorlog_proto::note::SignatureAlgorithm::Ed25519,
        *own_key().public_key().ed25519().unwrap(),
    );
    assert!(matches!(refused(with(vec![own])), WitnessError::OwnKey { .. }));
    assert!(matches!(refused(vec![spec.clone(), spec]), WitnessError::Twice { .. }));
    // Two keys whose names and IDs collide.
    let [a, b] = [21_877_u64, 72_346].map(|number| {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        NoteSigner::from_seed(KeyName::new("n").unwrap(), seed).verifier_key().clone()
    });
    assert!(matches!(refused(with(vec![a, b])), WitnessError::Ambiguous { .. }));
}
