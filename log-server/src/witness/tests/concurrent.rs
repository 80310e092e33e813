//! Many at once: one log's requests come one after another, several logs don't wait for each other.

use std::sync::atomic::AtomicUsize;
use std::sync::{Condvar, Mutex};

use anchorlog_client::durable::DurableError;

use super::*;

/// A disk that is slow, and knows how many write at once.
#[derive(Default)]
struct Slow {
    inside: AtomicUsize,
    most: AtomicUsize,
}

struct SlowStore(Arc<Slow>);

impl Store for SlowStore {
    fn keep(&self, _: &Kept, _: bool) -> Result<(), DurableError> {
        let inside = self.0.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(inside, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(2));
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }

    fn keep_halt(&self, _: &Origin, _: &[u8]) -> Result<(), DurableError> {
        Ok(())
    }
}

/// Two forks of one log, offered by many at once: what is cosigned lies on one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_forks_at_once_are_never_both_cosigned() {
    for round in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        let stories = [0, 1].map(|story| Arc::new(Story::new(LOG, 40, 1, story)));
        let (clock, mut witness) = open(&directory, vec![stories[0].spec()]).unwrap();
        let slow = Arc::new(Slow::default());
        witness.store = Box::new(SlowStore(Arc::clone(&slow)));
        let world = Arc::new(World::of(clock, witness));
        let mut tasks = Vec::new();
        for task in 0..6_usize {
            let story = Arc::clone(&stories[task % 2]);
            let world = Arc::clone(&world);
            tasks.push(tokio::spawn(async move {
                let mut cosigned = Vec::new();
                let mut old = 0;
                for _ in 0..40 {
                    let at = (old + 1).min(40);
                    let answer = world.add(story.body(old, at)).await;
                    match answer.status {
                        200 => {
                            answer.cosigned(&story.checkpoint(at));
                            cosigned.push(story.checkpoint(at));
                            old = at;
                        }
                        409 => old = answer.text().trim_end().parse().unwrap(),
                        422 | 429 => {}
                        status => panic!("{status}: {}", answer.text()),
                    }
                }
                cosigned
            }));
        }
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.unwrap());
        }
        let told = |story: &Arc<Story>| all.iter().all(|c| *c == story.checkpoint(c.size.get()));
        assert!(all.len() > 10 && stories.iter().any(told), "round {round}");
        assert_eq!(slow.most.load(Ordering::SeqCst), 1, "two requests of one log wrote at once");
    }
}

/// A disk on which everybody waits until two write at once.
#[derive(Default)]
struct Meeting(Mutex<usize>, Condvar);

struct MeetingStore(Arc<Meeting>);

impl Store for MeetingStore {
    fn keep(&self, _: &Kept, _: bool) -> Result<(), DurableError> {
        let mut here = self.0.0.lock().unwrap();
        *here += 1;
        self.0.1.notify_all();
        let patience = Duration::from_secs(20);
        let (here, _) = self.0.1.wait_timeout_while(here, patience, |here| *here < 2).unwrap();
        assert_eq!(*here, 2, "the other log waits for this one");
        drop(here);
        Ok(())
    }

    fn keep_halt(&self, _: &Origin, _: &[u8]) -> Result<(), DurableError> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_do_not_wait_for_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let stories = ["a.example", "b.example"].map(|name| Story::new(name, 5, 5, 0));
    let (clock, mut witness) = open(&directory, stories.iter().map(Story::spec).collect()).unwrap();
    witness.store = Box::new(MeetingStore(Arc::default()));
    let world = World::of(clock, witness);
    let [a, b] = &stories;
    let (first, second) = tokio::join!(world.add(a.body(0, 3)), world.add(b.body(0, 4)));
    first.cosigned(&a.checkpoint(3));
    second.cosigned(&b.checkpoint(4));
}

/// Somebody who goes away while the disk is at work changes nothing: the work is finished, and the next
/// request finds its result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_leaves_no_half_done_work() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let (clock, mut witness) = open(&directory, vec![story.spec()]).unwrap();
    witness.store = Box::new(SlowStore(Arc::default()));
    let world = World::of(clock, witness);
    world.add(story.body(0, 1)).await.cosigned(&story.checkpoint(1));
    for at in 2..12 {
        let add = world.add(story.body(at - 1, at));
        let gone = tokio::time::timeout(Duration::from_millis(1), add).await;
        drop(gone);
        // Whichever it was, the witness is at one of the two and says which.
        loop {
            let answer = world.add(story.body(at - 1, at)).await;
            match answer.status {
                200 => break,
                409 => {
                    answer.conflict(at);
                    break;
                }
                status => assert_eq!(status, 429),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_requests_of_one_log_are_sent_away() {
    let directory = tempfile::tempdir().unwrap();
    let (story, other) = (Story::true_one(), Story::new("other.example", 20, 20, 0));
    let (clock, witness) = open(&directory, vec![story.spec(), other.spec()]).unwrap();
    let world = Arc::new(World::of(clock, witness));
    let log = Arc::clone(world.witness.known(&story.spec().origin).unwrap());
    // Somebody has the turn and doesn't give it away.
    let turn = log.turn().await;
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let (world, body) = (Arc::clone(&world), story.body(0, 1));
            tokio::spawn(async move { world.add(body).await })
        })
        .collect();
    while waiting.iter().filter(|task| task.is_finished()).count() < 12 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    world.add(other.body(0, 1)).await.cosigned(&other.checkpoint(1));
    drop(turn);
    let (mut cosigned, mut late, mut busy) = (0, 0, 0);
    for task in waiting {
        let answer = task.await.unwrap();
        match answer.status {
            200 => cosigned += 1,
            409 => late += 1,
            _ => {
                answer.refused(429, "WITNESS.BUSY");
                assert_eq!(answer.header("retry-after"), Some("1"));
                busy += 1;
            }
        }
    }
    assert_eq!((cosigned, late, busy), (1, 7, 12));
}

/// What is found out while a request waits for its turn holds for that request, too.
#[tokio::test]
async fn a_request_that_waits_is_not_cosigned_for_a_log_that_was_halted_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let story = Story::true_one();
    let world = World::open(&directory, vec![story.spec()]);
    world.add(story.body(0, 1)).await.cosigned(&story.checkpoint(1));
    let (request, log) = world.witness.look(&story.body(1, 4)).unwrap();
    let turn = log.turn().await;
    // Another place has the same key, and knows more: a past that this one has lost.
    let elsewhere = tempfile::tempdir().unwrap();
    let other = World::open(&elsewhere, vec![story.spec()]);
    other.add(story.body(0, 9)).await.cosigned(&story.checkpoint(9));
    let lost = SignedCheckpoint::parse(&other.get(&story.path()).await.body).unwrap();
    let proof = AddCheckpoint { old: TreeSize::ZERO, proof: vec![], checkpoint: lost };
    world.add(proof.to_bytes()).await.refused(500, "WITNESS.HALTED");
    let refused = world.witness.take(&log, turn, &request);
    assert_eq!(refused, Err(Refusal::Halted { origin: log.origin().clone() }));
    assert_eq!(log.size(), Some(1));
}
