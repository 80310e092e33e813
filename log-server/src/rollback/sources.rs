//! Whom the guard asks, and what their answers are worth.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anchorlog_client::address::{AddressError, LogUrl};
use anchorlog_client::log_client::{CallError, LogClient};
use anchorlog_client::retry::RetryPolicy;
use anchorlog_client::witness::{self, Witness, WitnessClient, WitnessUrl};
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{CheckpointError, Origin, SignedCheckpoint};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::{MAX_NOTE_BYTES, VerifierKey};
use anchorlog_proto::tlog_policy::TlogPolicy;
use tokio::task::JoinSet;

use super::{GuardError, Known};
use crate::log_keys::LogKeys;

/// Where a tile tree of the log is, or what serves one.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "there is no third way to a file")]
pub enum Place {
    /// A directory, as `log-server export` writes it.
    Directory(PathBuf),
    /// A URL beneath which `checkpoint` is.
    Url(LogUrl),
}

/// Why a text is no place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// It is empty.
    #[error("neither a directory nor a URL")]
    Empty,
    /// It looks like a URL and is none.
    #[error(transparent)]
    Url(#[from] AddressError),
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        if text.is_empty() {
            return Err(PlaceError::Empty);
        }
        if text.contains("://") {
            return Ok(Self::Url(text.parse()?));
        }
        Ok(Self::Directory(PathBuf::from(text)))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.display().fmt(f),
            Self::Url(url) => f.write_str(url.as_str()),
        }
    }
}

/// One who may know the log.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// A mirror or an export.
    Mirror(Place),
    /// A witness (c2sp.org/tlog-witness).
    Witness {
        /// Its name.
        name: String,
        /// Where it shows what it has cosigned of this log.
        shows: LogUrl,
        /// Where it is offered checkpoints, for one that shows nothing.
        takes: Box<Witness>,
    },
}

impl Source {
    /// The witness `name` with this key, whose interfaces are below `prefix`, as a source about the log of `origin`.
    /// None for what is no URL.
    fn witness(name: &str, key: &VerifierKey, prefix: &[u8], origin: &Origin) -> Option<Self> {
        let log = Digest::of(origin.as_str().as_bytes()).to_hex();
        let below: LogUrl = str::from_utf8(prefix).ok()?.parse().ok()?;
        let shows = format!("{}/{log}", below.as_str()).parse().ok()?;
        let takes = WitnessUrl::from_policy(prefix).ok()?;
        let takes = Box::new(Witness::new(takes, key.clone()));
        Some(Self::Witness { name: name.to_owned(), shows, takes })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mirror(place) => write!(f, "the mirror {place}"),
            Self::Witness { name, shows, .. } => {
                write!(f, "the witness {name} ({})", shows.as_str())
            }
        }
    }
}

/// Everybody who is asked, and what has to come of it.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the configuration fills it in")]
pub struct Sources {
    /// Who is asked over the network or on disk.
    pub asked: Vec<Source>,
    /// A tlog-policy file, whose witnesses are asked too.
    pub witnesses: Option<PathBuf>,
    /// A file with a checkpoint that the log must not be behind.
    pub checkpoint_file: Option<PathBuf>,
    /// Entries that the log must have.
    pub min_size: u64,
    /// How many of those asked have to show what counts.
    pub require: usize,
    /// How long each may take.
    pub timeout: Duration,
}

/// What one of them said.
enum Answer {
    /// This.
    Shown(Box<SignedCheckpoint>),
    /// Nothing of the log's making, but what it says that it knows, when it is offered our newest checkpoint.
    Says(witness::Known),
    /// That it has none.
    Nothing,
    /// Nothing that could be used.
    Failed(String),
}

impl Sources {
    /// Asks everybody about the log of `keys`, whose newest checkpoint is `newest`, and returns the checkpoints
    /// that count. A configured witness that says that it knows more is taken at its word. Everything else is
    /// a warning, unless too few are left. Must not be called from async code.
    pub fn ask(
        &self,
        keys: &LogKeys,
        newest: Option<&SignedCheckpoint>,
    ) -> Result<Vec<Known>, GuardError> {
        let size = newest.map_or(TreeSize::ZERO, |newest| newest.checkpoint().size);
        if size.get() < self.min_size {
            let (least, size) = (self.min_size, size.get());
            return Err(GuardError::BelowMinimum { least, size });
        }
        let mut known = Vec::new();
        if let Some(path) = &self.checkpoint_file {
            known.push(pinned(path, keys)?);
        }
        let mut reasons = Vec::new();
        let mut answered = 0;
        let mut all = self.asked.clone();
        if let (Some(path), Some(origin)) = (&self.witnesses, keys.origin()) {
            all.extend(witnesses(path, &origin)?);
        }
        let asked = all.len();
        let offered = newest.map(|newest| with_one_line(newest, keys));
        for (source, answer) in self.answers(all, offered.as_ref())? {
            let reason = match answer {
                Answer::Shown(shown) => match shown.verify_any(&keys.known()) {
                    Ok(checkpoint) => {
                        answered += 1;
                        known.push(Known { source: source.to_string(), checkpoint });
                        continue;
                    }
                    Err(error) => unverified(&shown, &error),
                },
                Answer::Says(witness::Known::Size(known)) if known > size => {
                    let (source_name, known) = (source.to_string(), Some(known.get()));
                    return Err(GuardError::Witness { source_name, known, size: size.get() });
                }
                Answer::Says(witness::Known::OtherRoot) => {
                    let source_name = source.to_string();
                    return Err(GuardError::Witness { source_name, known: None, size: size.get() });
                }
                Answer::Says(_) => {
                    answered += 1;
                    continue;
                }
                Answer::Nothing if size == TreeSize::ZERO => {
                    answered += 1;
                    continue;
                }
                Answer::Nothing => "has no checkpoint of this log".to_owned(),
                Answer::Failed(reason) => reason,
            };
            tracing::warn!("rollback guard: {source}: {reason}");
            reasons.push(format!("{source}: {reason}"));
        }
        if answered < self.require {
            let required = self.require;
            return Err(GuardError::TooFew { answered, asked, required, reasons });
        }
        Ok(known)
    }

    /// Asks all at once.
    fn answers(
        &self,
        all: Vec<Source>,
        offered: Option<&SignedCheckpoint>,
    ) -> Result<Vec<(Source, Answer)>, GuardError> {
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(GuardError::Runtime)?.block_on(async {
            let mut asking = JoinSet::new();
            let timeout = self.timeout;
            for (position, source) in all.into_iter().enumerate() {
                match &source {
                    Source::Mirror(Place::Directory(path)) => {
                        let path = path.clone();
                        asking.spawn_blocking(move || (position, source, read(&path)));
                    }
                    Source::Mirror(Place::Url(url)) => {
                        let client = LogClient::new(url.clone(), timeout, RetryPolicy::NEVER)
                            .map_err(Box::new)?;
                        asking.spawn(async move {
                            let answer = tokio::time::timeout(timeout, client.checkpoint()).await;
                            (position, source, fetched(answer.ok()))
                        });
                    }
                    Source::Witness { shows, takes, .. } => {
                        let client = LogClient::new(shows.clone(), timeout, RetryPolicy::NEVER)
                            .map_err(Box::new)?;
                        let (takes, offered) = (takes.clone(), offered.cloned());
                        asking.spawn(async move {
                            let answer = tokio::time::timeout(timeout, client.checkpoint()).await;
                            let answer = match (fetched(answer.ok()), offered) {
                                (shown @ Answer::Shown(_), _) | (shown, None) => shown,
                                (_, Some(offered)) => said(&takes, &offered, timeout).await,
                            };
                            (position, source, answer)
                        });
                    }
                }
            }
            let mut answers = asking.join_all().await;
            answers.sort_by_key(|(position, ..)| *position);
            Ok(answers.into_iter().map(|(_, source, answer)| (source, answer)).collect())
        })
    }
}

fn fetched(answer: Option<Result<SignedCheckpoint, CallError>>) -> Answer {
    match answer {
        None => Answer::Failed("didn't answer in time".to_owned()),
        Some(Ok(checkpoint)) => Answer::Shown(Box::new(checkpoint)),
        Some(Err(error)) if error.is_not_found() => Answer::Nothing,
        Some(Err(error)) => Answer::Failed(error.to_string()),
    }
}

/// What a witness says it knows that shows nothing; not all have a monitoring interface. It is offered our newest
/// checkpoint as what it knows already, so nothing becomes known by asking.
async fn said(takes: &Witness, offered: &SignedCheckpoint, timeout: Duration) -> Answer {
    let client = match WitnessClient::new(timeout) {
        Ok(client) => client,
        Err(error) => return Answer::Failed(error.to_string()),
    };
    match client.known_size(takes, offered).await {
        Ok(known) => Answer::Says(known),
        Err(error) => Answer::Failed(error.to_string()),
    }
}

/// A checkpoint with the line of the primary key alone, if it has that: witnesses want no more.
fn with_one_line(newest: &SignedCheckpoint, keys: &LogKeys) -> SignedCheckpoint {
    let alone = keys.primary().and_then(|key| newest.log_note_bytes(key).ok());
    alone.and_then(|bytes| SignedCheckpoint::parse(&bytes).ok()).unwrap_or_else(|| newest.clone())
}

fn read(directory: &Path) -> Answer {
    match read_checkpoint(&directory.join("checkpoint")) {
        Ok(Ok(checkpoint)) => Answer::Shown(Box::new(checkpoint)),
        Ok(Err(error)) => Answer::Failed(format!("its checkpoint: {error}")),
        // A directory that isn't there is one that isn't mounted.
        Err(error) if error.kind() == io::ErrorKind::NotFound && directory.is_dir() => {
            Answer::Nothing
        }
        Err(error) => Answer::Failed(error.to_string()),
    }
}

/// Reads a signed checkpoint from a file.
fn read_checkpoint(path: &Path) -> io::Result<Result<SignedCheckpoint, CheckpointError>> {
    let most = u64::try_from(MAX_NOTE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(SignedCheckpoint::parse(&bytes))
}

/// The witnesses of a policy that say where they are, as sources about the log of `origin`.
fn witnesses(path: &Path, origin: &Origin) -> Result<Vec<Source>, GuardError> {
    let file = || path.to_path_buf();
    let mut text = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(MAX_POLICY).read_to_end(&mut text));
    opened.map_err(|source| GuardError::Policy { path: file(), source })?;
    let policy = TlogPolicy::parse(&text)
        .map_err(|source| GuardError::PolicyForm { path: file(), source: Box::new(source) })?;
    let mut found = Vec::new();
    for witness in policy.witnesses() {
        let name = witness.name().to_string();
        let key = witness.key();
        let source = witness.url().and_then(|url| Source::witness(&name, key, url, origin));
        if let Some(source) = source {
            found.push(source);
        } else {
            tracing::warn!("rollback guard: the witness {name} has no URL to ask");
        }
    }
    Ok(found)
}

/// Bytes of the longest policy file.
const MAX_POLICY: u64 = 256 << 10;

/// The checkpoint that was pinned. Whoever configured it wants it to count.
fn pinned(path: &Path, keys: &LogKeys) -> Result<Known, GuardError> {
    let file = || path.to_path_buf();
    let shown = read_checkpoint(path).map_err(|source| GuardError::Pin { path: file(), source })?;
    let checkpoint = shown
        .and_then(|shown| shown.verify_any(&keys.known()))
        .map_err(|source| GuardError::PinForm { path: file(), source })?;
    Ok(Known { source: format!("the pinned {}", path.display()), checkpoint })
}

/// What a checkpoint says that doesn't count.
fn unverified(shown: &SignedCheckpoint, error: &CheckpointError) -> String {
    let checkpoint = shown.checkpoint();
    format!(
        "shows a checkpoint of {} entries for \"{}\" that is not signed by a key of this log ({error})",
        checkpoint.size, checkpoint.origin
    )
}
