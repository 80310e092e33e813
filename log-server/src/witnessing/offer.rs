//! One witness and one checkpoint: the few requests it takes to have it cosigned, or to know why not.
//!
//! The log says from which size on it proves consistency, and the witness, if it knows another, says which;
//! then the proof starts there. At first the log takes the witness to know nothing, which is how one finds
//! out. Every proof is verified here before it is sent: a witness that refuses it knows another tree.

use std::sync::Arc;
use std::time::Duration;

use anchorlog_client::retry::RetryPolicy;
use anchorlog_client::witness::{Answer, Cosigned};
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{TreeSize, consistency};
use anchorlog_proto::tlog_witness::AddCheckpoint;

use super::alarm::AlarmCause;
use super::witness::{CONFLICT, INTERNAL, REFUSED, Witness, WitnessFailure};
use crate::error::Error;
use crate::log::Log;

/// What is offered to whom.
pub(super) struct Offer {
    pub(super) log: Log,
    pub(super) witness: Arc<dyn Witness>,
    /// The checkpoint, with the log's own signature alone.
    pub(super) checkpoint: Arc<SignedCheckpoint>,
    /// The size that the witness is taken to know, at most that of the checkpoint.
    pub(super) believed: TreeSize,
    /// How many requests may be sent, at least one.
    pub(super) requests: u32,
    /// How long one may take.
    pub(super) timeout: Duration,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The size that the witness is known, or taken, to know now.
    pub(super) believed: TreeSize,
    /// Requests that were sent.
    pub(super) requests: u32,
    /// The cosignature, or why there is none.
    pub(super) result: Result<Cosigned, Trouble>,
}

/// Why there is no cosignature.
#[derive(Debug)]
pub(super) enum Trouble {
    /// What the witness says is against the log.
    Alarm(AlarmCause),
    /// It knows a later checkpoint of the log already: somebody else has brought it there.
    Ahead,
    /// It failed.
    Failed(WitnessFailure),
}

impl Offer {
    pub(super) async fn run(mut self) -> Outcome {
        let mut sent = 0;
        let result = loop {
            if sent >= self.requests.min(MAX_REQUESTS) {
                let text = "it didn't come to a cosignature within the requests that are allowed";
                break Err(Trouble::Failed(WitnessFailure::lasting(CONFLICT, text)));
            }
            let request = match self.request().await {
                Ok(request) => request,
                Err(error) => {
                    tracing::error!(%error, "the log can't prove its own consistency");
                    let text = "the log can't prove its own consistency; its own log says more";
                    break Err(Trouble::Failed(WitnessFailure::lasting(INTERNAL, text)));
                }
            };
            sent += 1;
            let asking = Arc::clone(&self.witness).add_checkpoint(request);
            let answer = tokio::time::timeout(self.timeout, asking).await;
            match answer.unwrap_or_else(|_| Err(WitnessFailure::late(self.timeout))) {
                Ok(Answer::Cosigned(cosigned)) => {
                    self.believed = self.size();
                    break Ok(cosigned);
                }
                Ok(Answer::Stale { known }) => {
                    if let Err(trouble) = self.learn(known) {
                        break Err(trouble);
                    }
                }
                Ok(Answer::Inconsistent) => break Err(self.refused()),
                Err(failure) => {
                    let delay = RETRY.delay(sent, failure.retry_after);
                    match delay.filter(|_| failure.temporary && sent < self.requests) {
                        Some(delay) => tokio::time::sleep(delay).await,
                        None => break Err(Trouble::Failed(failure)),
                    }
                }
            }
        };
        Outcome { believed: self.believed, requests: sent, result }
    }

    fn size(&self) -> TreeSize {
        self.checkpoint.checkpoint().size
    }

    /// Puts together what is sent; the proof is made and verified where it holds up nobody.
    async fn request(&self) -> Result<AddCheckpoint, Error> {
        let (log, checkpoint, old) =
            (self.log.clone(), Arc::clone(&self.checkpoint), self.believed);
        let work = move || {
            let proof = prove(&log, old, &checkpoint)?;
            Ok(AddCheckpoint { old, proof, checkpoint: (*checkpoint).clone() })
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(Error::Panicked))
    }

    /// Takes in what a 409 says.
    fn learn(&mut self, known: Option<TreeSize>) -> Result<(), Trouble> {
        let (size, published) = (self.size(), self.log.snapshot().size());
        let failed = |text| Err(Trouble::Failed(WitnessFailure::lasting(CONFLICT, text)));
        match known {
            Some(known) if known > published => Err(Trouble::Alarm(AlarmCause::LargerSize {
                known: known.get(),
                published: published.get(),
            })),
            Some(known) if known > size => {
                self.believed = known;
                Err(Trouble::Ahead)
            }
            // It was told the size that it knows, which is that of the checkpoint: then it is the root that
            // it doesn't like. Some say so without a size.
            Some(known) if known == self.believed && known == size => Err(self.other_root()),
            None if self.believed == size => Err(self.other_root()),
            Some(known) if known == self.believed => {
                failed("HTTP 409 with the very size that it was told")
            }
            Some(known) => {
                if known < self.believed {
                    tracing::warn!(
                        witness = self.witness.key().name().as_str(),
                        known = known.get(),
                        believed = self.believed.get(),
                        "the witness knows less than it was thought to"
                    );
                }
                self.believed = known;
                Ok(())
            }
            None if self.believed > TreeSize::ZERO => {
                self.believed = TreeSize::ZERO;
                Ok(())
            }
            None => failed("HTTP 409 without a size"),
        }
    }

    /// What a 422 means.
    fn refused(&self) -> Trouble {
        if self.believed == self.size() {
            self.other_root()
        } else if self.believed == TreeSize::ZERO {
            // There was nothing to refuse; if it knew anything, it had to say what.
            let text = "HTTP 422 to a first checkpoint, which needs no proof";
            Trouble::Failed(WitnessFailure::lasting(REFUSED, text))
        } else {
            let (from, to) = (self.believed.get(), self.size().get());
            Trouble::Alarm(AlarmCause::Inconsistent { from, to })
        }
    }

    fn other_root(&self) -> Trouble {
        Trouble::Alarm(AlarmCause::OtherRoot { size: self.size().get() })
    }
}

/// The consistency proof from `old` to the checkpoint, verified.
fn prove(log: &Log, old: TreeSize, checkpoint: &SignedCheckpoint) -> Result<Vec<Digest>, Error> {
    let checkpoint = checkpoint.checkpoint();
    if old == TreeSize::ZERO {
        return Ok(Vec::new());
    }
    let (size, root) = (checkpoint.size, &checkpoint.root);
    let proof = log.consistency_proof(old, size)?;
    consistency::verify(old, size, &log.root(old)?, root, &proof)?;
    Ok(proof)
}

/// Requests for one checkpoint, at most: two to learn what the witness knows, and what is left for retries.
pub(super) const MAX_REQUESTS: u32 = 4;

/// How a witness is asked again that is only for a moment away.
const RETRY: RetryPolicy = RetryPolicy {
    attempts: 3,
    first_delay: Duration::from_millis(100),
    max_delay: Duration::from_secs(1),
};
