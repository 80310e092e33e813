//! A witness that keeps the rules, and does otherwise where the test says so.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use anchorlog_client::witness::{Answer, Cosigned};
use anchorlog_proto::checkpoint::Checkpoint;
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::merkle::{TreeSize, consistency};
use anchorlog_proto::note::{KeyName, VerifierKey};
use anchorlog_proto::tlog_policy::TlogPolicy;
use anchorlog_proto::tlog_witness::AddCheckpoint;

use super::options::NamedWitness;
use super::witness::{Asking, Witness, WitnessFailure};
use crate::clock::unix_ms;

/// One answer of a script.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// What the rules say: a cosignature, a 409 with a size, or a 422.
    Honest,
    /// The same, from a clock that is off by so many seconds.
    ClockOff(i64),
    /// 409 with a size, or without one.
    Stale(Option<u64>),
    /// 422.
    Inconsistent,
    /// A failure of this code that passes.
    Fails(&'static str, Option<Duration>),
    /// A failure of this code that doesn't.
    Refuses(&'static str),
    /// A good answer, after some time.
    Slow(Duration),
    /// Nothing, ever.
    Hang,
    /// A defect.
    Panic,
}

/// Gives the answers of its script one after the other, and then the last of them for ever.
pub(crate) struct Scripted {
    key: CosignerKey,
    known: Mutex<Option<Checkpoint>>,
    script: Mutex<VecDeque<Reply>>,
    seen: Mutex<Vec<AddCheckpoint>>,
    asked: AtomicU64,
}

impl Scripted {
    pub(crate) fn new(name: &str, script: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        #[allow(clippy::unwrap_used, reason = "a test's names are names")]
        let name = KeyName::new(name).unwrap();
        let seed = *anchorlog_proto::Digest::of(name.as_str().as_bytes()).as_bytes();
        Arc::new(Self {
            key: CosignerKey::from_seed(name, seed),
            known: Mutex::default(),
            script: Mutex::new(script.into_iter().collect()),
            seen: Mutex::default(),
            asked: AtomicU64::new(0),
        })
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// What it was asked.
    pub(crate) fn seen(&self) -> Vec<AddCheckpoint> {
        lock(&self.seen).clone()
    }

    /// The size that it knows.
    pub(crate) fn size(&self) -> u64 {
        lock(&self.known).as_ref().map_or(0, |known| known.size.get())
    }

    /// Makes it know something.
    pub(crate) fn know(&self, checkpoint: Checkpoint) {
        *lock(&self.known) = Some(checkpoint);
    }

    /// What it does from now on.
    pub(crate) fn script(&self, script: impl IntoIterator<Item = Reply>) {
        *lock(&self.script) = script.into_iter().collect();
    }

    fn next(&self) -> Reply {
        let mut script = lock(&self.script);
        let next = script.pop_front().unwrap_or(Reply::Honest);
        if script.is_empty() {
            script.push_back(next.clone());
        }
        next
    }

    fn honest(&self, request: &AddCheckpoint, clock_off: i64) -> Answer {
        let offered = request.checkpoint.checkpoint();
        let mut known = lock(&self.known);
        let size = known.as_ref().map_or(TreeSize::ZERO, |known| known.size);
        if request.old != size {
            return Answer::Stale { known: Some(size) };
        }
        if let Some(known) = known.as_ref() {
            let (from, to) = (&known.root, &offered.root);
            let proved = consistency::verify(size, offered.size, from, to, &request.proof);
            if proved.is_err() {
                return Answer::Inconsistent;
            }
        }
        *known = Some(offered.clone());
        drop(known);
        let received = SystemTime::now();
        let now = unix_ms(received).div_euclid(1000).saturating_add(clock_off);
        let unix_seconds = u64::try_from(now).unwrap_or_default();
        #[allow(clippy::unwrap_used, reason = "what was offered is a checkpoint")]
        let line = self.key.cosign(request.checkpoint.note().text(), unix_seconds).unwrap();
        let round_trip = Duration::from_millis(10);
        Answer::Cosigned(Cosigned { line, unix_seconds, received, round_trip })
    }
}

impl Witness for Scripted {
    fn key(&self) -> &VerifierKey {
        self.key.verifier_key()
    }

    fn add_checkpoint(self: Arc<Self>, request: AddCheckpoint) -> Asking {
        self.asked.fetch_add(1, Ordering::SeqCst);
        lock(&self.seen).push(request.clone());
        let reply = self.next();
        Box::pin(async move {
            match reply {
                Reply::Honest => Ok(self.honest(&request, 0)),
                Reply::ClockOff(seconds) => Ok(self.honest(&request, seconds)),
                Reply::Stale(known) => {
                    Ok(Answer::Stale { known: known.and_then(|size| TreeSize::new(size).ok()) })
                }
                Reply::Inconsistent => Ok(Answer::Inconsistent),
                Reply::Fails(code, retry_after) => Err(WitnessFailure {
                    code: code.into(),
                    text: "as scripted".to_owned(),
                    temporary: true,
                    retry_after,
                }),
                Reply::Refuses(code) => Err(WitnessFailure::lasting(code, "as scripted")),
                Reply::Slow(time) => {
                    tokio::time::sleep(time).await;
                    Ok(self.honest(&request, 0))
                }
                Reply::Hang => std::future::pending().await,
                Reply::Panic => {
                    #[allow(clippy::panic, reason = "the script asks for one")]
                    {
                        panic!("as scripted")
                    }
                }
            }
        })
    }
}

/// The policy that asks for `quorum` of these witnesses, and the witnesses as the task knows them.
#[allow(clippy::unwrap_used, reason = "a test's policy is one")]
pub(crate) fn policy(
    log: &VerifierKey,
    quorum: usize,
    witnesses: &[&Arc<Scripted>],
) -> (Arc<TlogPolicy>, Vec<NamedWitness>) {
    let mut text = format!("log {log}\n");
    let mut members = String::new();
    let mut named = Vec::new();
    for (position, witness) in witnesses.iter().enumerate() {
        let (key, name) = (witness.key(), witness.key().name().as_str());
        writeln!(text, "witness {name} {key}").unwrap();
        write!(members, " {name}").unwrap();
        let witness: Arc<dyn Witness> = Arc::<Scripted>::clone(witness);
        named.push(NamedWitness { name: name.to_owned(), position, witness });
    }
    writeln!(text, "group all-of-them {quorum}{members}\nquorum all-of-them").unwrap();
    (Arc::new(TlogPolicy::parse(text.as_bytes()).unwrap()), named)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
