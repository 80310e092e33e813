//! `anchor record plan`: before anything is frozen.

use std::path::PathBuf;

use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::signed_object::PublicKey;
use serde_json::{Value, json};

use super::{Report, attempt, fail};
use crate::cli::report::Answer;
use crate::keys::read_signing_key;
use crate::record::{Document, RecordError};

/// Check plans, hash them, make one.
#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Command {
    /// Check that a plan is well formed, and name its hash.
    Check(FileArgs),
    /// Print h(P), the hash to commit to before the first dispatch.
    Hash(FileArgs),
    New(NewArgs),
    Operator(OperatorArgs),
}

/// A plan.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct FileArgs {
    /// The plan (gad.plan/1).
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
}

/// Print a plan to start from: one node per --node, all after one another, with the keys of the key files.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  anchor record plan new --node parser --node docs --engine-key engine.pem --approver-key alice.pem > plan.json"
)]
pub(in crate::cli) struct NewArgs {
    /// A node's id; give it once for each.
    #[arg(long = "node", required = true, value_name = "ID")]
    nodes: Vec<String>,
    /// The engine's private key, of which the plan gets the public one.
    #[arg(long, value_name = "FILE", env = "ANCHORLOG_ENGINE_KEY")]
    engine_key: PathBuf,
    /// An approver's; give it once for each. With one, nodes are gated.
    #[arg(long = "approver-key", value_name = "FILE")]
    approver_keys: Vec<PathBuf>,
    /// The succession authority's.
    #[arg(long, value_name = "FILE")]
    authority_key: Option<PathBuf>,
    /// The command that every node's one test runs.
    #[arg(long, value_name = "COMMAND", default_value = "make test")]
    test: String,
    /// How keys are kept, as far as you disclose it.
    #[arg(long, value_name = "TEXT", default_value = "in a file readable by its owner alone")]
    custody: String,
}

/// Print an operator record, with the public key of a key file as the operator's credential.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct OperatorArgs {
    /// Who answers for the run.
    #[arg(long)]
    identity: String,
    /// The implementation that runs it.
    #[arg(long)]
    implementation: String,
    /// The organizational unit.
    #[arg(long)]
    unit: String,
    /// The engagement or lane.
    #[arg(long)]
    engagement: String,
    /// The operator's private key.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

pub(super) fn run(command: Command) -> Answer {
    match command {
        Command::Check(args) => attempt("record plan check", |report| {
            let plan = Document::plan(&args.plan)?;
            let hash = plan_hash(&plan.canonical);
            report.member("plan_hash", hash.to_string());
            report.member("canonical", plan.was_canonical);
            report.member("nodes", plan.content.nodes.len());
            report.line(format!(
                "{}: well formed, {} nodes, {} edges, h(P) {hash}",
                args.plan.display(),
                plan.content.nodes.len(),
                plan.content.edges.len()
            ));
            Ok(())
        })
        .into(),
        Command::Hash(args) => attempt("record plan hash", |report| {
            let hash = plan_hash(&Document::plan(&args.plan)?.canonical);
            report.member("plan_hash", hash.to_string());
            report.line(hash.to_string());
            Ok(())
        })
        .into(),
        Command::New(args) => document("record plan new", new(&args)),
        Command::Operator(args) => document("record plan operator", operator(&args)),
    }
}

fn document(command: &'static str, value: Result<Value, RecordError>) -> Answer {
    match value {
        Ok(value) => Answer::Document(format!("{value:#}\n").into_bytes()),
        Err(error) => {
            let mut report = Report::new(command);
            fail(&mut report, &error);
            report.into()
        }
    }
}

fn new(args: &NewArgs) -> Result<Value, RecordError> {
    let mut principals = vec![principal(&public_key(&args.engine_key)?, "engine", &args.custody)];
    for path in &args.approver_keys {
        principals.push(principal(&public_key(path)?, "approver", &args.custody));
    }
    if let Some(path) = &args.authority_key {
        principals.push(principal(&public_key(path)?, "succession_authority", &args.custody));
    }
    let risk = if args.approver_keys.is_empty() { "normal" } else { "gated" };
    let nodes: Vec<Value> = args
        .nodes
        .iter()
        .map(|id| {
            json!({
                "node": id,
                "desc": format!("what is to be done for {id}"),
                "fence": {"kind": "paths", "allow": [format!("{id}/")]},
                "T": [{"test_id": "t1", "spec": {
                    "kind": "command",
                    "run": args.test,
                    "capture": "engine_capture",
                    "observation_layers": ["authenticated_engine_observation"],
                    "signal_kind": "direct_observable",
                    "replay": false,
                    "expect": {"exit_code": 0},
                }}],
                "c_min": "engine_observed",
                "risk": risk,
                "B": 1,
            })
        })
        .collect();
    let edges: Vec<Value> = args
        .nodes
        .iter()
        .zip(args.nodes.iter().skip(1))
        .map(|(from, to)| json!([from, to]))
        .collect();
    let plan = json!({
        "schema": "gad.plan/1",
        "N": nodes,
        "D": edges,
        "authorized_principals": principals,
        "meta": {"clock_policy": {"max_backstep_s": 0, "max_future_skew_s": 300}},
    });
    // What is printed has to be a plan.
    Document::read(plan.to_string().as_bytes(), "<new plan>".as_ref(), Plan::read)?;
    Ok(plan)
}

fn principal(key: &PublicKey, role: &str, custody: &str) -> Value {
    json!({
        "key_id": key.id().to_string(),
        "algorithm": "ed25519",
        "public_key": base64_encode(key.as_bytes()),
        "custody_statement": custody,
        "roles": [role],
    })
}

fn operator(args: &OperatorArgs) -> Result<Value, RecordError> {
    let key = public_key(&args.key)?;
    let operator = json!({
        "schema": "gad.operator/1",
        "legal_or_organizational_identity": args.identity,
        "implementation_identity": args.implementation,
        "organizational_unit": args.unit,
        "engagement_or_lane_id": args.engagement,
        "operator_credential": {
            "alg": "ed25519",
            "key_id": key.id().to_string(),
            "public_key": base64_encode(key.as_bytes()),
        },
    });
    let read = |value: &anchorlog_proto::json::Value<'_>,
                _: &anchorlog_proto::gad::Limits,
                defects: &mut anchorlog_proto::gad::Defects| {
        anchorlog_proto::gad::operator::Operator::read(value, defects)
    };
    Document::read(operator.to_string().as_bytes(), "<new operator record>".as_ref(), read)?;
    Ok(operator)
}

fn public_key(path: &std::path::Path) -> Result<PublicKey, RecordError> {
    Ok(read_signing_key(path)?.public_key())
}
