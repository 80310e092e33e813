//! A log as this client knows it: its address, its keys, and what it signed before.
//!
//! Everything a [`Log`] hands out was verified: receipts by the verifier, listed entries by their proofs,
//! and every checkpoint that is met on the way against the one seen last. What cannot be verified by asking
//! the log itself: that a listing is complete. A log can leave an entry out of a listing; it can't put a false one in.

mod lines;
mod memory;
mod receipts;

use std::path::PathBuf;
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{LogEntry, StatementKind, Trail};
use anchorlog_verifier::codes;
use anchorlog_verifier::finding::Finding;
use anchorlog_verifier::proof::{Tree, check_inclusion};
use tokio::sync::OnceCell;

pub use receipts::Accepted;

use crate::address::LogUrl;
use crate::api::{Conflict, ListedEntry};
use crate::error::ClientError;
use crate::log_client::{CallError, LogClient, MAX_PAGE};
use crate::retry::RetryPolicy;
use crate::seen::SeenStore;
use crate::state::StateDir;
use crate::tiles::TileTree;
use crate::trust::{LogTrust, Pins, TrustSource};
use memory::Freshness;

/// How to get to know a log.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Where it is.
    pub address: LogUrl,
    /// Whose signature counts.
    pub keys: KeySource,
    /// Where to remember what it signed.
    pub state: StateDir,
    /// How long one try of one request may take.
    pub timeout: Duration,
    /// How often to try.
    pub retry: RetryPolicy,
}

/// Where the log's key comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeySource {
    /// From the log itself on first use, pinned from then on.
    FirstUse,
    /// From a C2SP tlog-policy file.
    Policy(PathBuf),
    /// This one.
    Vkey(VerifierKey),
}

/// A log with its memory.
#[derive(Debug)]
pub struct Log {
    client: LogClient,
    keys: KeySource,
    trust: OnceCell<LogTrust>,
    state: StateDir,
    seen: SeenStore,
}

/// An entry that a listing named and that is in the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenEntry {
    /// Its index.
    pub index: u64,
    /// What was logged.
    pub entry: LogEntry,
}

/// Entries of a trail or of a submitter.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The entries, by ascending index.
    pub entries: Vec<ProvenEntry>,
    /// Where the next ones start; `None` if there are none.
    pub next: Option<u64>,
    /// Conflicts as the log reports them.
    pub conflicts: Vec<Conflict>,
    /// Whether the log says that it left some out, for their number.
    pub truncated: bool,
    /// The size of the tree in which all this was proved.
    pub size: u64,
}

impl Log {
    /// Prepares everything that needs no network.
    pub fn new(options: LogOptions) -> Result<Self, ClientError> {
        let trust = match &options.keys {
            KeySource::FirstUse => match Pins::new(options.state.clone()).get(&options.address)? {
                Some((key, path)) => Some(LogTrust::from_vkey(&key, TrustSource::Pinned(path))?),
                None => None,
            },
            KeySource::Policy(path) => Some(LogTrust::from_policy_file(path)?),
            KeySource::Vkey(key) => Some(LogTrust::from_vkey(key, TrustSource::Given)?),
        };
        Ok(Self {
            client: LogClient::new(options.address, options.timeout, options.retry)?,
            keys: options.keys,
            trust: OnceCell::new_with(trust),
            seen: SeenStore::new(options.state.clone()),
            state: options.state,
        })
    }

    /// The unverified interface.
    #[must_use]
    pub fn client(&self) -> &LogClient {
        &self.client
    }

    /// The log's address.
    #[must_use]
    pub fn address(&self) -> &LogUrl {
        self.client.address()
    }

    /// Whom this client trusts for the log, as far as it knows without asking.
    #[must_use]
    pub fn known_trust(&self) -> Option<&LogTrust> {
        self.trust.get()
    }

    /// Whom this client trusts for the log. On first use the log is asked for its key, which is pinned if
    /// the log's checkpoint is signed by it.
    pub async fn trust(&self) -> Result<&LogTrust, ClientError> {
        self.trust
            .get_or_try_init(|| async {
                debug_assert_eq!(
                    self.keys,
                    KeySource::FirstUse,
                    "all others are known from the start"
                );
                let info = self.client.info().await?;
                let checkpoint = self.client.checkpoint().await?;
                self.signed_by(&checkpoint, std::slice::from_ref(&info.vkey))?;
                let pins = Pins::new(self.state.clone());
                let (key, path) = pins.set(self.address(), &info.vkey)?;
                Ok(LogTrust::from_vkey(&key, TrustSource::FirstUse(path))?)
            })
            .await
    }

    /// The log's current checkpoint, verified and consistent with what was seen before.
    pub async fn checkpoint(&self) -> Result<VerifiedCheckpoint, ClientError> {
        // Read before asking: an answer may be older than what another client sees meanwhile, but never
        // older than what was seen before the question.
        let before = self.last_seen().await?;
        let signed = self.client.checkpoint().await?;
        let checkpoint = self.verified(&signed).await?;
        self.reconcile(&checkpoint, Freshness::Current { before: &before }).await?;
        Ok(checkpoint)
    }

    /// Every entry with a digest that the log names, each proved to be there.
    pub async fn lookup(
        &self,
        digest: &Digest,
        kind: Option<StatementKind>,
    ) -> Result<Listing, ClientError> {
        let answer = self.client.lookup(digest, kind).await?;
        let fits = |entry: &LogEntry| {
            let statement = entry.statement();
            statement.digest == *digest && kind.is_none_or(|kind| statement.kind == kind)
        };
        let listing = self.prove(answer.entries, fits).await?;
        Ok(Listing { truncated: answer.truncated, ..listing })
    }

    /// Entries of a trail from index `from` on, at most `limit`, each proved to be there.
    pub async fn trail(
        &self,
        trail: &Trail,
        from: u64,
        limit: u64,
    ) -> Result<Listing, ClientError> {
        let mut pages = Pages::new(from, limit);
        while let Some((from, limit)) = pages.next_request() {
            let page = self.client.trail(trail, from, limit).await?;
            pages.take(page.entries, page.next, page.conflicts);
        }
        let listing = self
            .prove(pages.entries, |entry| entry.statement().trail.as_ref() == Some(trail))
            .await?;
        Ok(Listing { next: pages.next, conflicts: pages.conflicts, ..listing })
    }

    /// Entries signed by a key from index `from` on, at most `limit`, each proved to be there. That the
    /// signatures verify is the log's to check: the key itself isn't known here, only its identifier.
    pub async fn submitter(
        &self,
        signer: &SignerId,
        from: u64,
        limit: u64,
    ) -> Result<Listing, ClientError> {
        let mut pages = Pages::new(from, limit);
        while let Some((from, limit)) = pages.next_request() {
            let page = self.client.submitter(signer, from, limit).await?;
            pages.take(page.entries, page.next, page.conflicts);
        }
        let listing = self.prove(pages.entries, |entry| entry.signer() == Some(*signer)).await?;
        Ok(Listing { next: pages.next, conflicts: pages.conflicts, ..listing })
    }

    /// Fetches every listed entry, proves it against the current checkpoint, and holds it against what the
    /// listing says about it and against the question (`fits`).
    async fn prove(
        &self,
        listed: Vec<ListedEntry>,
        fits: impl Fn(&LogEntry) -> bool,
    ) -> Result<Listing, ClientError> {
        let checkpoint = self.checkpoint().await?;
        let tree = Tree { size: checkpoint.checkpoint().size, root: checkpoint.checkpoint().root };
        let mut tiles = TileTree::new(&self.client, tree.size);
        let mut entries = Vec::with_capacity(listed.len());
        for listed in listed {
            let index = listed.index;
            let Some(leaf) = tiles.entry(index).await? else {
                let detail = format!("index {index} is listed and not in the tree");
                return Err(self.not_holding(
                    "the listing",
                    Finding::new(codes::log::INDEX, detail).compared(tree.size, index),
                ));
            };
            let entry = LogEntry::from_leaf(leaf).map_err(|source| CallError::Entry {
                url: format!("{} (entry {index})", self.address()),
                source,
            })?;
            let hashes = tiles.inclusion(index).await?.unwrap_or_default();
            check_inclusion(index, &tree, &entry.leaf_hash(), &hashes)
                .map_err(|finding| self.not_holding("the listing", finding))?;
            if !agrees(&listed, &entry) || !fits(&entry) {
                let detail = format!("entry {index} is not what the listing says it is");
                let finding = Finding::new(codes::log::LEAF, detail);
                return Err(self.not_holding("the listing", finding));
            }
            entries.push(ProvenEntry { index, entry });
        }
        Ok(Listing {
            entries,
            next: None,
            conflicts: Vec::new(),
            truncated: false,
            size: tree.size.get(),
        })
    }

    /// Verifies the log's signature.
    async fn verified(&self, signed: &SignedCheckpoint) -> Result<VerifiedCheckpoint, ClientError> {
        self.signed_by(signed, self.trust().await?.keys())
    }

    fn signed_by(
        &self,
        signed: &SignedCheckpoint,
        keys: &[VerifierKey],
    ) -> Result<VerifiedCheckpoint, ClientError> {
        let mut refusal = None;
        for key in keys {
            match signed.verify(key) {
                Ok(verified) => return Ok(verified),
                // The key whose name is the origin has the most to say about why it didn't sign.
                Err(error) if key.name().as_str() == signed.checkpoint().origin.as_str() => {
                    refusal = Some(error);
                }
                Err(error) => {
                    refusal.get_or_insert(error);
                }
            }
        }
        match refusal {
            Some(source) => Err(ClientError::NotSigned { log: self.address().clone(), source }),
            // A trust without keys is refused where it is made.
            None => Err(ClientError::NoKeys { log: self.address().clone() }),
        }
    }

    fn not_holding(&self, what: &'static str, finding: Finding) -> ClientError {
        ClientError::NotHolding { log: self.address().clone(), what, finding: Box::new(finding) }
    }
}

/// Whether an entry is what a listing says about it.
fn agrees(listed: &ListedEntry, entry: &LogEntry) -> bool {
    let statement = entry.statement();
    listed.kind == statement.kind
        && listed.digest.is_none_or(|digest| digest == statement.digest)
        && listed.trail.as_ref().is_none_or(|trail| Some(trail) == statement.trail.as_ref())
        && listed.sequence.is_none_or(|sequence| Some(sequence) == statement.sequence)
        && listed.key_id.is_none_or(|signer| Some(signer) == entry.signer())
}

/// The pages of a listing, put together.
struct Pages {
    entries: Vec<ListedEntry>,
    conflicts: Vec<Conflict>,
    next: Option<u64>,
    limit: u64,
}

impl Pages {
    fn new(from: u64, limit: u64) -> Self {
        Self { entries: Vec::new(), conflicts: Vec::new(), next: Some(from), limit }
    }

    /// Where the next page starts and how long it may be; `None` when there is enough.
    fn next_request(&self) -> Option<(u64, u16)> {
        let missing = self.limit.saturating_sub(u64::try_from(self.entries.len()).ok()?);
        let page = u16::try_from(missing).unwrap_or(MAX_PAGE).min(MAX_PAGE);
        self.next.filter(|_| page > 0).map(|next| (next, page))
    }

    fn take(&mut self, entries: Vec<ListedEntry>, next: Option<u64>, conflicts: Vec<Conflict>) {
        // A page that doesn't lead on ends the listing, or a log could keep us asking for ever.
        self.next = next.filter(|next| self.next.is_some_and(|last| *next > last));
        self.entries.extend(entries);
        for conflict in conflicts {
            if !self.conflicts.contains(&conflict) {
                self.conflicts.push(conflict);
            }
        }
    }
}
