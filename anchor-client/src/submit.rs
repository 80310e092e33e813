//! From statements to receipts that are kept, without ever losing one in between.
//!
//! For every submission of up to 1,000 statements, in this order:
//!
//! 1. its leaf bytes are durable in the [outbox](crate::outbox);
//! 2. it is sent, again where that helps;
//! 3. its receipts are verified, and the log's checkpoint is held against what was seen before;
//! 4. the receipts are durable where they belong;
//! 5. it is removed from the outbox.
//!
//! Whoever is killed between any two steps finds the submission in the outbox and goes on at step 2, which
//! gives the same indexes: the log's contract is that the same leaf bytes always have the same index.

use std::iter;
use std::path::PathBuf;

use anchorlog_proto::statement::LogEntry;

use crate::error::ClientError;
use crate::log::{Accepted, Log};
use crate::log_client::{MAX_BATCH, Wait};
use crate::outbox::{Outbox, Pending};
use crate::receipt_store::ReceiptStore;

/// A statement with its verified receipt, and the file that holds it.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The receipt.
    pub accepted: Accepted,
    /// Where it is kept.
    pub path: PathBuf,
}

/// Statements that are durable in the outbox.
#[derive(Debug)]
pub struct Queued {
    /// Submissions, each with the number of its statements.
    pending: Vec<(Pending, usize)>,
}

impl Queued {
    /// How many statements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pending.iter().map(|(_, statements)| statements).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

/// What became of queued statements.
#[derive(Debug, Default)]
pub struct Sent {
    /// Those with receipts, in the order given.
    pub kept: Vec<Kept>,
    /// How many statements are still in the outbox.
    pub left: usize,
    /// What stopped it, if something did.
    pub error: Option<ClientError>,
}

/// What became of earlier submissions.
#[derive(Debug, Default)]
pub struct Drained {
    /// Those with receipts.
    pub kept: Vec<Kept>,
    /// Submissions that the log refused, where they lie now, and why.
    pub refused: Vec<(PathBuf, ClientError)>,
    /// How many statements are still in the outbox.
    pub left: usize,
    /// What stopped it, if something did.
    pub error: Option<ClientError>,
}

/// Writes statements into the outbox (step 1), all of them before the first is sent.
pub fn queue(outbox: &Outbox, entries: &[LogEntry]) -> Result<Queued, ClientError> {
    let put = |chunk: &[LogEntry]| Ok::<_, ClientError>((outbox.put(chunk)?, chunk.len()));
    Ok(Queued { pending: entries.chunks(MAX_BATCH).map(put).collect::<Result<_, _>>()? })
}

/// Sends what was queued (steps 2 to 5). It stops at the first failure; what has no receipt then stays in the
/// outbox, except for a submission that the log refused: that one the caller learns about now.
pub async fn send(
    log: &Log,
    outbox: &Outbox,
    queued: Queued,
    store: &ReceiptStore,
    wait: Wait,
) -> Sent {
    let mut sent = Sent { left: queued.len(), ..Sent::default() };
    for (pending, statements) in queued.pending {
        match deliver(log, outbox, &pending, store, wait).await {
            Ok(kept) => {
                sent.left -= statements;
                sent.kept.extend(kept);
            }
            Err(error) if error.is_refusal() => {
                // The caller has the statements and the reason; a copy would only be in the way.
                let settled = outbox.settle(&pending);
                sent.left -= statements;
                sent.error = Some(settled.map_or_else(Into::into, |()| error));
                return sent;
            }
            Err(error) => {
                sent.error = Some(error);
                return sent;
            }
        }
    }
    sent
}

/// Sends what earlier runs left in the outbox ([`Outbox::pending`]). A submission that the log refuses is put aside and the others
/// go on; anything else stops it.
pub async fn drain(
    log: &Log,
    outbox: &Outbox,
    earlier: Vec<Pending>,
    store: &ReceiptStore,
) -> Result<Drained, ClientError> {
    let mut drained = Drained::default();
    let mut rest = earlier.into_iter();
    while let Some(pending) = rest.next() {
        match deliver(log, outbox, &pending, store, Wait::PUBLISHED).await {
            Ok(kept) => drained.kept.extend(kept),
            Err(error) if error.is_refusal() => {
                drained.refused.push((outbox.set_aside(&pending)?, error));
            }
            Err(error) => {
                drained.error = Some(error);
                for pending in iter::once(pending).chain(rest) {
                    drained.left += outbox.read(&pending)?.map_or(0, |entries| entries.len());
                }
                return Ok(drained);
            }
        }
    }
    Ok(drained)
}

/// Steps 2 to 5 for one submission. One that another client has settled meanwhile has no receipts here.
async fn deliver(
    log: &Log,
    outbox: &Outbox,
    pending: &Pending,
    store: &ReceiptStore,
    wait: Wait,
) -> Result<Vec<Kept>, ClientError> {
    let Some(entries) = outbox.read(pending)? else { return Ok(Vec::new()) };
    let accepted = log.submit(&entries, wait).await?;
    let paths = store.keep(&accepted)?;
    outbox.settle(pending)?;
    let kept = accepted.into_iter().zip(paths).map(|(accepted, path)| Kept { accepted, path });
    Ok(kept.collect())
}
