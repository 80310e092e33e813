//! Exchanges with witnesses: one checkpoint is offered, one answer comes back, and it is verified.
//!
//! What it is: the log's side of `add-checkpoint` of [c2sp.org/tlog-witness] over HTTP ([`WitnessClient`]),
//! with limits on everything that comes back, and with what real witnesses say beside the letter of the
//! specification told apart ([`Answer`], [`WitnessError`]). A cosignature is handed out only after it was
//! verified under the key of the witness that was asked.
//!
//! What it is not: it remembers nothing and repeats nothing. Which checkpoint goes when to whom, from which
//! size the proof starts, and what an alarm is, is for the log that asks.
//!
//! [c2sp.org/tlog-witness]: https://c2sp.org/tlog-witness

mod address;
mod error;
mod exchange;

use std::time::{Duration, Instant, SystemTime};

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::{NoteSignature, SignedNote, VerifierKey};
use anchorlog_proto::tlog_witness::{AddCheckpoint, parse_cosignatures};

pub use address::{WitnessUrl, WitnessUrlError};
pub use error::WitnessError;

use crate::stamp::ExchangeError;
use crate::stamp::exchange::Http;
use exchange::Reply;

/// A witness: where it is, and whose lines are its own.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Witness {
    url: WitnessUrl,
    key: VerifierKey,
}

impl Witness {
    /// A witness whose cosignatures verify under `key`, of type 0x04.
    #[must_use]
    pub const fn new(url: WitnessUrl, key: VerifierKey) -> Self {
        Self { url, key }
    }

    /// Where it is.
    #[must_use]
    pub const fn url(&self) -> &WitnessUrl {
        &self.url
    }

    /// Its key.
    #[must_use]
    pub const fn key(&self) -> &VerifierKey {
        &self.key
    }
}

/// What a witness answers to a checkpoint that it is offered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It has cosigned.
    Cosigned(Cosigned),
    /// 409: the proof starts at another size than the one that it knows.
    Stale {
        /// The size that it knows; some say nothing, above all where they know this size with another root.
        known: Option<TreeSize>,
    },
    /// 422: the proof doesn't lead from what it knows to what it is offered, or it knows this size with
    /// another root.
    Inconsistent,
}

/// A verified cosignature.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cosigned {
    /// The signature line.
    pub line: NoteSignature,
    /// The time that the witness states, in seconds since 1970.
    pub unix_seconds: u64,
    /// This machine's clock when the answer was complete.
    pub received: SystemTime,
    /// Between sending the request and having the answer.
    pub round_trip: Duration,
}

/// What a witness knows of a log: see [`WitnessClient::known_size`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Known {
    /// Exactly the checkpoint it was asked about, and it has cosigned it again.
    Same(Cosigned),
    /// The checkpoint of another size; 0 when it has seen none. Larger than all that the log has signed, as
    /// far as the log itself knows: the log was rolled back, or runs twice.
    Size(TreeSize),
    /// A checkpoint of the same size with another root: a split view.
    OtherRoot,
}

/// Asks witnesses; keeps connections open between calls.
#[derive(Debug)]
pub struct WitnessClient {
    http: Http,
    timeout: Duration,
}

impl WitnessClient {
    /// Prepares to ask. `timeout` is how long one exchange may take, from connecting to the last byte.
    /// Fails if this machine can't set up an HTTP client.
    pub fn new(timeout: Duration) -> Result<Self, ExchangeError> {
        Ok(Self { http: Http::new(timeout.min(CONNECT_TIMEOUT))?, timeout })
    }

    /// Offers a checkpoint to a witness, once. Needs a tokio runtime with time and I/O.
    ///
    /// The checkpoint should carry the log's own signature line and no other one: some witnesses take no
    /// more than 16 KiB.
    pub async fn add_checkpoint(
        &self,
        witness: &Witness,
        request: &AddCheckpoint,
    ) -> Result<Answer, WitnessError> {
        let begun = Instant::now();
        let reply = tokio::time::timeout(
            self.timeout,
            exchange::post(&self.http, witness.url.add_checkpoint(), request.to_bytes()),
        );
        let reply = reply.await.unwrap_or(Err(WitnessError::Exchange(ExchangeError::Timeout {
            after: self.timeout,
        })))?;
        match reply {
            Reply::Cosignatures(body) => {
                let lines = parse_cosignatures(&body).map_err(WitnessError::Malformed)?;
                let (line, unix_seconds) = verify(&request.checkpoint, lines, &witness.key)?;
                Ok(Answer::Cosigned(Cosigned {
                    line,
                    unix_seconds,
                    received: SystemTime::now(),
                    round_trip: begun.elapsed(),
                }))
            }
            Reply::Stale(known) => Ok(Answer::Stale { known }),
            Reply::Inconsistent => Ok(Answer::Inconsistent),
        }
    }

    /// Asks a witness what it knows of a log, by a checkpoint that the log has signed and published before.
    ///
    /// The checkpoint is offered as what the witness knows already, without a proof. So nothing can become
    /// known by asking: a witness that knows another size says which ([`Known::Size`]), and one that knows
    /// this very checkpoint cosigns it again. An unknown log is [`WitnessError::UnknownLog`].
    pub async fn known_size(
        &self,
        witness: &Witness,
        checkpoint: &SignedCheckpoint,
    ) -> Result<Known, WitnessError> {
        let size = checkpoint.checkpoint().size;
        let request =
            AddCheckpoint { old: size, proof: Vec::new(), checkpoint: checkpoint.clone() };
        Ok(match self.add_checkpoint(witness, &request).await? {
            Answer::Cosigned(cosigned) => Known::Same(cosigned),
            Answer::Stale { known: Some(known) } if known != size => Known::Size(known),
            Answer::Stale { .. } | Answer::Inconsistent => Known::OtherRoot,
        })
    }
}

/// Finds the witness' line and verifies it as part of the note, as whoever gets the note will. Lines by
/// others are ignored; one that pretends to be by this key makes the answer worthless.
fn verify(
    checkpoint: &SignedCheckpoint,
    lines: Vec<NoteSignature>,
    key: &VerifierKey,
) -> Result<(NoteSignature, u64), WitnessError> {
    let ours = |line: &NoteSignature| line.name() == key.name() && line.key_id() == key.key_id();
    let lines: Vec<_> = lines.into_iter().filter(ours).collect();
    if lines.is_empty() {
        return Err(WitnessError::NoCosignature);
    }
    let note = SignedNote::new(checkpoint.note().text().to_owned(), lines)
        .map_err(WitnessError::Cosignature)?;
    let verified = note.verify(std::slice::from_ref(key)).map_err(WitnessError::Cosignature)?;
    let mut cosignatures = verified
        .signatures()
        .iter()
        .filter_map(|signature| Some((signature.signature().clone(), signature.unix_seconds()?)));
    cosignatures.next().ok_or(WitnessError::NoCosignature)
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
