//! `anchor audit`: everything a log holds about one subject.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anchorlog_proto::Digest;
use anchorlog_proto::audit::{AuditBody, AuditedEntry, Subject};
use anchorlog_proto::gad::Limits;
use anchorlog_proto::signed_object::{SignerId, SigningKey};
use anchorlog_proto::statement::Trail;
use anchorlog_proto::tlog_policy::QuorumOutcome;
use anchorlog_verifier::checkpoint::examine_checkpoint;
use anchorlog_verifier::codes::Code;
use anchorlog_verifier::codes::gad::audit::{INCOMPLETE, NO_CORE_ROOT, NOT_COVERED, SUBJECT};
use anchorlog_verifier::gad::finding::GadFinding;
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::ask_args::StateArgs;
use super::report::{Form, Report};
use super::tile_args::{KeyArgs, Keys, LocationArgs};
use crate::audit::{AuditRequest, Audited, ReadFrom, audit, beside};
use crate::durable;
use crate::error::ClientError;
use crate::evidence::{Finding, keep_notes};
use crate::follow::{FollowError, Position};
use crate::keys::read_signing_key;
use crate::problem::printable;

/// Read a whole log and list everything it holds about a plan, a trail or a submitter.
///
/// Every entry is verified up to a checkpoint that the log signed, so that none can be left out. What the
/// entries show is told: commitments without a root, heads with later ones, conflicting sequences; with
/// --envelope also what an envelope left out. With --key the result is signed, for `verifier envelope
/// --audit`. Exit codes: 0 nothing contradicts anything, 1 something does, 2 the log could not be read.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("subject").required(true),
    after_help = "\
Examples:
  anchor audit --log https://log.example --policy logs.policy --plan sha256:9f86d081…
  anchor audit --log /srv/mirror --vkey log.example+c0e67a31+AcDR… --trail sha256:9f86d081… \\
      --envelope envelope.tar --key auditor.pem --out audit.json
  anchor audit --log https://log.example --policy logs.policy --submitter gadk1:2cf24dba… \\
      --from position.json --save position.json --json"
)]
pub(super) struct Args {
    #[command(flatten)]
    follow: LocationArgs,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    state: StateArgs,
    /// Everything about the plan with this hash.
    #[arg(long, value_name = "HASH", group = "subject")]
    plan: Option<Digest>,
    /// Everything in this trail.
    #[arg(long, value_name = "TRAIL", group = "subject")]
    trail: Option<Trail>,
    /// Everything that names this key as its signer.
    #[arg(long, value_name = "KEY_ID", group = "subject")]
    submitter: Option<SignerId>,
    /// Read from the entry with this index on, or from a position that --save wrote. Without it, from the
    /// beginning.
    #[arg(long, value_name = "INDEX|FILE")]
    from: Option<String>,
    /// Write where the reading ended, for the next one.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare what the log holds with what this envelope carries.
    #[arg(long, value_name = "DIR|FILE.tar")]
    envelope: Option<PathBuf>,
    /// Write the signed audit, anchorlog.audit/1.
    #[arg(long, value_name = "AUDIT.json", requires = "key")]
    out: Option<PathBuf>,
    /// The auditor's private key: Ed25519 in PKCS#8 PEM.
    #[arg(long, value_name = "KEYFILE")]
    key: Option<PathBuf>,
}

pub(super) async fn run(args: Args, _form: Form) -> Report {
    let mut report = Report::new("audit");
    report.member("log", args.follow.log.to_string());
    if let Err(error) = run_audit(&args, &mut report).await {
        report.error(&error);
    }
    report
}

async fn run_audit(args: &Args, report: &mut Report) -> Result<(), ClientError> {
    let Keys { keys, policy } = args.keys.read()?;
    // Read first: whoever waits for a log to be read wants no surprise at the end.
    let key = args.key.as_deref().map(read_signing_key).transpose()?;
    let Some(subject) = subject(args) else {
        report.fail(Verdict::NotEvaluated, super::USAGE, "give --plan, --trail or --submitter");
        return Ok(());
    };
    let from = match &args.from {
        None => ReadFrom::Beginning,
        Some(text) => match text.parse() {
            Ok(index) => ReadFrom::Index(index),
            Err(_) => match Position::load(Path::new(text), &keys) {
                Ok(Some(position)) => ReadFrom::Position(Box::new(position)),
                Ok(None) => {
                    let detail = format!("--from {text}: there is no such file");
                    report.fail(Verdict::NotEvaluated, super::USAGE, &detail);
                    return Ok(());
                }
                Err(error) => {
                    report.fail(Verdict::NotEvaluated, "CLIENT.STATE", &error.to_string());
                    return Ok(());
                }
            },
        },
    };
    let request = AuditRequest {
        location: args.follow.log.clone(),
        keys,
        subject,
        from,
        follow: args.follow.options(),
    };
    let audited = match audit(request, now, |_| {}).await {
        Ok(audited) => audited,
        Err(error) => {
            unread(args, &error, report);
            return Ok(());
        }
    };
    let quorum = examine_checkpoint(audited.checkpoint.signed(), &policy).quorum;
    show(&audited, quorum, report);
    if let Some(path) = &args.envelope {
        compare(&audited.body, key.as_ref(), path, report);
    }
    if let Some(key) = &key {
        match audited.body.sign(key) {
            Ok(bytes) => {
                report.member("auditor", key.id().to_string());
                report.line(format!("auditor {} {}", key.id(), key.public_key().to_base64()));
                if let Some(out) = &args.out {
                    durable::write_replace(out, &bytes)?;
                    report.line(format!("written to {}", out.display()));
                    report.member("out", out.display().to_string());
                }
            }
            Err(error) => report.fail(Verdict::NotEvaluated, error.code(), &error.to_string()),
        }
    }
    if let Some(path) = &args.save {
        audited.position.save(path)?;
    }
    Ok(())
}

fn subject(args: &Args) -> Option<Subject> {
    let plan = args.plan.map(Subject::Plan);
    let trail = args.trail.clone().map(Subject::Trail);
    plan.or(trail).or(args.submitter.map(Subject::Submitter))
}

/// The log could not be read, or contradicts itself.
fn unread(args: &Args, error: &FollowError, report: &mut Report) {
    let verdict = match error {
        // Nothing was shown that could contradict anything.
        FollowError::Missing { .. } => Verdict::NotEvaluated,
        error => error.verdict(),
    };
    let code = error.code();
    let detail = printable(&format!("{}: {error}", args.follow.log));
    let kept = error.notes().and_then(|notes| {
        let code = Code::lookup(code)?;
        let state = args.state.open().ok()?;
        let finding = Finding { code, detail: &detail, proof: notes.proof.as_deref() };
        keep_notes(&state, &args.follow.log.to_string(), finding, &notes.seen, &notes.shown).ok()
    });
    match kept {
        Some(path) => {
            let place = path.display().to_string();
            let detail = format!("{detail}; both signed notes are kept in {place}");
            report.fail_with(verdict, code, &detail, &place);
        }
        None => report.fail(verdict, code, &detail),
    }
}

fn show(audited: &Audited, quorum: Option<QuorumOutcome>, report: &mut Report) {
    let body = &audited.body;
    report.line(format!("{}: {}", body.origin(), body.subject));
    report.line(format!(
        "read from {} to below {}, root {}",
        body.from.size,
        body.size(),
        body.root()
    ));
    for entry in &body.entries {
        report.line(format!("  {}", line_of(entry)));
    }
    if body.entries_omitted > 0 {
        report.line(format!("  … and {} more", body.entries_omitted));
    }
    for finding in &body.findings {
        let indexes: Vec<_> = finding.indexes.iter().map(ToString::to_string).collect();
        let title = Code::lookup(finding.code.as_str()).map_or("", Code::title);
        let detail = format!("{title}: entries {}", indexes.join(", "));
        if finding.code.is_conflict() {
            report.fail(Verdict::DoesNotHold, finding.code.as_str(), &detail);
        } else {
            report.line(format!("{}: {detail}", finding.code.as_str()));
        }
    }
    for index in &audited.unreadable {
        report.line(format!("entry {index} names the subject and is no statement"));
    }
    report.member("origin", body.origin().as_str());
    report.member("subject", json!({"kind": body.subject.kind(), "value": body.subject.value()}));
    report.member("from", body.from.size.get());
    report.member("size", body.size().get());
    report.member("root", body.root().to_string());
    report.member("entries", body.entries.iter().map(value_of).collect::<Vec<_>>());
    report.member("entries_omitted", body.entries_omitted);
    let findings = body
        .findings
        .iter()
        .map(|finding| json!({"code": finding.code.as_str(), "indexes": finding.indexes}));
    report.member("findings", findings.collect::<Vec<_>>());
    report.member("findings_omitted", body.findings_omitted);
    report.member("unreadable", audited.unreadable.as_slice());
    // The log could have shown this tree to us alone.
    let witnessed = match quorum {
        Some(QuorumOutcome::Met { .. }) => Value::Bool(true),
        Some(QuorumOutcome::NotMet) => {
            report.line("the policy's witnesses have not cosigned this checkpoint (yet)");
            Value::Bool(false)
        }
        _ => Value::Null,
    };
    report.member("witnessed", witnessed);
}

/// What an envelope left out, as the verifier tells it.
fn compare(body: &AuditBody, key: Option<&SigningKey>, envelope: &Path, report: &mut Report) {
    // Only the verifier hears what this key signs.
    let own = key.is_none().then(|| SigningKey::from_seed(Digest::of(b"anchor audit").as_bytes()));
    let Some(key) = key.or(own.as_ref()) else { return };
    match beside(body, key, envelope, &Limits::DEFAULT) {
        Ok(findings) => {
            if findings.is_empty() {
                report.line("the envelope leaves nothing out");
            }
            for finding in &findings {
                let detail = printable(&format!("{}{}", finding.code.title(), told(finding)));
                match weight(finding.code) {
                    Some(verdict) => report.fail(verdict, finding.code.as_str(), &detail),
                    None => report.line(format!("{}: {detail}", finding.code)),
                }
            }
            report.member("envelope", findings.iter().map(finding_of).collect::<Vec<_>>());
        }
        Err(error) => {
            let detail = format!("{}: {error}", envelope.display());
            report.fail(Verdict::NotEvaluated, error.code(), &detail);
        }
    }
}

/// What a finding about an envelope says of the question whether it leaves nothing out: that it does, that
/// this audit can't tell, or neither.
fn weight(code: Code) -> Option<Verdict> {
    if [SUBJECT, INCOMPLETE, NOT_COVERED].contains(&code) {
        Some(Verdict::NotEvaluated)
    } else if code == NO_CORE_ROOT {
        None
    } else {
        Some(Verdict::DoesNotHold)
    }
}

fn told(finding: &GadFinding) -> String {
    let expected = finding.expected.as_deref().map(|text| format!(", the record has {text}"));
    let actual = finding.actual.as_deref().map(|text| format!(": {text}"));
    format!("{}{}", actual.unwrap_or_default(), expected.unwrap_or_default())
}

fn finding_of(finding: &GadFinding) -> Value {
    json!({
        "code": finding.code.as_str(),
        "expected": finding.expected,
        "actual": finding.actual,
    })
}

fn line_of(entry: &AuditedEntry) -> String {
    let statement = &entry.statement;
    let trail = statement.trail.as_ref().map(|trail| format!("  {trail}")).unwrap_or_default();
    let sequence = statement.sequence.map(|number| format!(" #{number}")).unwrap_or_default();
    let signer = entry.signer.map(|signer| format!("  by {signer}")).unwrap_or_default();
    format!("{}  {} {}{trail}{sequence}{signer}", entry.index, statement.kind, statement.digest)
}

fn value_of(entry: &AuditedEntry) -> Value {
    let statement = &entry.statement;
    json!({
        "index": entry.index,
        "leaf_hash": entry.leaf_hash.to_string(),
        "kind": statement.kind.as_str(),
        "digest": statement.digest.to_string(),
        "trail": statement.trail.as_ref().map(ToString::to_string),
        "sequence": statement.sequence,
        "key_id": entry.signer.map(|signer| signer.to_string()),
    })
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
