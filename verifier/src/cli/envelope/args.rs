//! What every command that evaluates takes, and how it is read.

use std::ffi::OsString;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anchorlog_proto::Digest;
use anchorlog_proto::audit::MAX_AUDIT_BYTES;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::json::parse_utc_seconds;
use anchorlog_proto::signed_object::PublicKey;

use super::unreadable;
use crate::cli::input::{Inputs, MAX_EVIDENCE_BYTES, MAX_POLICY_BYTES};
use crate::cli::{digests, usage};
use crate::codes::input::OPEN;
use crate::finding::Finding;
use crate::gad::Findings;
use crate::gad::container::{Bundle, Form};
use crate::gad::evaluate::{
    Request, SuccessorPlan, read_known_checkpoints, read_predecessor, read_predecessor_bundle,
    read_successor_plan,
};
use crate::gad::replay::{CommandRunner, Replay, RunnerLimits};
use crate::gad::report::Asked;
use crate::gad::rules::r1_envelope::Predecessor;
use crate::gad::trust::TrustMaterial;
use crate::gad::witness::WitnessContext;

/// The status a caller asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(in crate::cli) enum Status {
    /// `VALID_RECORD`.
    Valid,
    /// `CONTRACT_SATISFIED`.
    Satisfied,
    /// DEFENSIBLE, under the policy.
    Defensible,
    /// Level 4 of the ladder.
    Gad4,
}

impl From<Status> for Asked {
    fn from(status: Status) -> Self {
        match status {
            Status::Valid => Self::Valid,
            Status::Satisfied => Self::Satisfied,
            Status::Defensible => Self::Defensible,
            Status::Gad4 => Self::Gad4,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct EvaluateArgs {
    /// The bundle: a directory, an uncompressed tar, or the directory of a core.
    #[arg(value_name = "DIR|FILE.tar")]
    bundle: PathBuf,
    /// The trust policy, gad.policy/1 in canonical JSON.
    #[arg(long, value_name = "PI.json")]
    policy: Option<PathBuf>,
    /// The hash the policy has to have.
    #[arg(long, value_name = "sha256:…", value_parser = digests::parse)]
    policy_hash: Option<Digest>,
    /// Directory with what the policy names by digest: root certificates, log policy texts, CRLs.
    #[arg(long, value_name = "DIR")]
    trust: Option<PathBuf>,
    /// An attestation given beside the envelope.
    #[arg(long, value_name = "Q.json", num_args = 1..)]
    attestation: Vec<PathBuf>,
    /// An audit of a log, anchorlog.audit/1, reported beside the verdict, which never depends on it.
    #[arg(long, value_name = "AUDIT.json", num_args = 1.., requires = "auditor")]
    audit: Vec<PathBuf>,
    /// Public key of an auditor whose audits are looked at, in base64.
    #[arg(long, value_name = "KEY", num_args = 1.., value_parser = auditor, requires = "audit")]
    auditor: Vec<PublicKey>,
    /// Envelopes before this one: envelope.json alone, or the whole directory or tar, whose anchors are then
    /// compared with this one's.
    #[arg(long, value_name = "ENVELOPE.json|DIR|FILE.tar", num_args = 1..)]
    predecessor: Vec<PathBuf>,
    /// The plan that a succession names.
    #[arg(long, value_name = "PLAN.json")]
    successor_plan: Option<PathBuf>,
    /// The `root_core` the record has to have.
    #[arg(long, value_name = "sha256:…", value_parser = digests::parse)]
    expect_root_core: Option<Digest>,
    /// The `root_envelope` the envelope has to have.
    #[arg(long, value_name = "sha256:…", value_parser = digests::parse)]
    expect_root_envelope: Option<Digest>,
    /// Checkpoints of logs that you remember: gad.known-checkpoints/1.
    #[arg(long, value_name = "FILE")]
    known_checkpoints: Option<PathBuf>,
    /// Another limit, such as entries=2000000; the report shows them all.
    #[arg(long, value_name = "NAME=VALUE", num_args = 1.., value_parser = limit)]
    limit: Vec<(String, u64)>,
    /// A command that does tests again where the policy asks for it; run through no shell, with the
    /// request on standard input and its answer on standard output.
    #[arg(long, value_name = "CMD")]
    replay_runner: Option<OsString>,
    /// The time of evaluation, YYYY-MM-DDThh:mm:ssZ; without it, now.
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<i64>,
    /// Use at most so many threads; the result is the same.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// Everything an evaluation needs, read.
pub(in crate::cli) struct Loaded {
    pub(super) bundle: Result<Bundle, Findings>,
    /// The form of what was given, also where it couldn't be opened.
    pub(super) form: Form,
    policy: Option<Vec<u8>>,
    policy_hash: Option<Digest>,
    trust: TrustMaterial,
    attestations: Vec<Vec<u8>>,
    audits: Vec<Vec<u8>>,
    auditors: Vec<PublicKey>,
    predecessors: Vec<Predecessor>,
    successor: Option<SuccessorPlan>,
    expect_root_core: Option<Digest>,
    expect_root_envelope: Option<Digest>,
    known_checkpoints: KnownCheckpoints,
    limits: Limits,
    replay: Option<Arc<dyn Replay>>,
    asked: Asked,
    at: i64,
    evaluator: Implementation,
    threads: NonZeroUsize,
}

impl Loaded {
    pub(super) fn request(&self) -> Request<'_> {
        Request {
            policy: self.policy.as_deref(),
            policy_hash: self.policy_hash,
            trust: &self.trust,
            attestations: &self.attestations,
            audits: &self.audits,
            auditors: &self.auditors,
            predecessors: &self.predecessors,
            successor: self.successor.as_ref(),
            expect_root_core: self.expect_root_core,
            expect_root_envelope: self.expect_root_envelope,
            known_checkpoints: &self.known_checkpoints,
            limits: self.limits,
            replay: self.replay.clone(),
            asked: self.asked,
            evaluation_time: self.at,
            evaluator: self.evaluator.clone(),
            threads: self.threads,
        }
    }
}

impl EvaluateArgs {
    /// Reads every input but the members of the bundle.
    pub(super) fn load(&self, asked: Asked, inputs: &mut Inputs) -> Result<Loaded, Finding> {
        let mut limits = Limits::DEFAULT;
        for (name, value) in &self.limit {
            if !limits.set(name, *value) {
                let names: Vec<_> = limits.list().iter().map(|(name, _)| *name).collect();
                return Err(usage(&format!("there is no limit {name}; {}", names.join(", "))));
            }
        }
        let policy = self.policy.as_ref().map(|path| inputs.read("policy", path, MAX_POLICY_BYTES));
        let read_all = |inputs: &mut Inputs, role, paths: &[PathBuf], limit| {
            let read = |path: &PathBuf| inputs.read(role, path, limit);
            paths.iter().map(read).collect::<Result<Vec<_>, _>>()
        };
        let attestations = read_all(inputs, "attestation", &self.attestation, MAX_EVIDENCE_BYTES)?;
        let longest = u64::try_from(MAX_AUDIT_BYTES).unwrap_or(u64::MAX);
        let audits = read_all(inputs, "audit", &self.audit, longest)?;
        let predecessors = self
            .predecessor
            .iter()
            .map(|path| predecessor(path, &limits, inputs))
            .collect::<Result<_, _>>()?;
        let successor = self.successor_plan.as_ref().map(|path| {
            let bytes = inputs.read("successor plan", path, limits.member_bytes)?;
            read_successor_plan(&bytes, &limits).map_err(|found| unreadable(&found))
        });
        let known = self.known_checkpoints.as_ref().map(|path| {
            let bytes = inputs.read("known checkpoints", path, MAX_EVIDENCE_BYTES)?;
            read_known_checkpoints(&bytes, &limits).map_err(|found| unreadable(&found))
        });
        let none = KnownCheckpoints { checkpoints: Vec::new() };
        Ok(Loaded {
            bundle: Bundle::open(&self.bundle, &limits),
            form: Bundle::form_at(&self.bundle),
            policy: policy.transpose()?,
            policy_hash: self.policy_hash,
            trust: self.trust.as_deref().map_or_else(|| Ok(no_trust()), trust)?,
            attestations,
            audits,
            auditors: self.auditor.clone(),
            predecessors,
            successor: successor.transpose()?,
            expect_root_core: self.expect_root_core,
            expect_root_envelope: self.expect_root_envelope,
            known_checkpoints: known.transpose()?.unwrap_or(none),
            limits,
            replay: self.replay_runner.as_ref().map(runner),
            asked,
            at: self.at.map_or_else(now, Ok)?,
            evaluator: implementation()?,
            threads: self.threads.unwrap_or_else(WitnessContext::all_cores),
        })
    }
}

/// An earlier envelope: a directory or an archive as a whole, any other file as its manifest.
fn predecessor(path: &Path, limits: &Limits, inputs: &mut Inputs) -> Result<Predecessor, Finding> {
    let archive = path.extension().is_some_and(|extension| extension == "tar");
    let read = if path.is_dir() || archive {
        Bundle::open(path, limits).and_then(|bundle| read_predecessor_bundle(&bundle, limits))
    } else {
        read_predecessor(&inputs.read("predecessor", path, MAX_EVIDENCE_BYTES)?, limits)
    };
    read.map_err(|found| unreadable(&found))
}

fn runner(program: &OsString) -> Arc<dyn Replay> {
    Arc::new(CommandRunner::new(program, [], RunnerLimits::DEFAULT))
}

pub(super) fn no_trust() -> TrustMaterial {
    TrustMaterial::from_files(Vec::new())
}

/// Reads a trust directory: the regular files right in it.
pub(super) fn trust(directory: &Path) -> Result<TrustMaterial, Finding> {
    let failed = |error: std::io::Error| {
        Finding::new(OPEN, format!("{} can't be read: {error}", directory.display()))
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path().is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    if paths.len() > MAX_TRUST_FILES {
        let most = format!("{} holds more than {MAX_TRUST_FILES} files", directory.display());
        return Err(usage(&most));
    }
    let mut inputs = Inputs::default();
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, inputs.read("trust directory", &path, MAX_TRUST_FILE_BYTES)?));
    }
    Ok(TrustMaterial::from_files(files))
}

/// The most files that are read from a trust directory.
const MAX_TRUST_FILES: usize = 4096;

/// The largest file that is read from a trust directory, in bytes.
const MAX_TRUST_FILE_BYTES: u64 = 16 << 20;

fn now() -> Result<i64, Finding> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since
        .ok()
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .ok_or_else(|| usage("the clock stands before 1970; give --at"))
}

/// This program: its name, version, and the SHA-256 of the file that is running.
fn implementation() -> Result<Implementation, Finding> {
    let failed = |error: std::io::Error| {
        Finding::new(OPEN, format!("the running program can't be read to be hashed: {error}"))
    };
    let path = std::env::current_exe().map_err(failed)?;
    let bytes = fs::read(path).map_err(failed)?;
    Ok(Implementation {
        name: env!("CARGO_PKG_NAME").into(),
        version: env!("CARGO_PKG_VERSION").into(),
        hash: Digest::of(&bytes),
    })
}

fn limit(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value = value.parse().map_err(|error| format!("{value}: {error}"))?;
    Ok((name.to_owned(), value))
}

fn auditor(text: &str) -> Result<PublicKey, String> {
    PublicKey::from_base64(text).map_err(|error| error.to_string())
}

fn time(text: &str) -> Result<i64, &'static str> {
    parse_utc_seconds(text).ok_or("expected YYYY-MM-DDThh:mm:ssZ")
}
