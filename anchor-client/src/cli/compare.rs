//! `anchor compare`: checkpoints of a log from several places, shown to be one history, or the fork.

use std::path::PathBuf;

use anchorlog_proto::checkpoint::VerifiedCheckpoint;
use anchorlog_proto::json::canonical;
use anchorlog_verifier::report::Verdict as Outcome;
use serde_json::{Value, json};

use super::ask_args::{AskArgs, StateArgs};
use super::report::{Form, Report, count};
use super::tile_args::KeyArgs;
use crate::compare::{
    CompareOptions, Fork, Gathered, Line, Relation, Verdict, gather, line_up, relate, to_remember,
};
use crate::durable;
use crate::error::ClientError;
use crate::evidence::{Finding, keep_notes};
use crate::follow::TileLocation;
use crate::problem::printable;
use crate::state::StateDir;

/// Compare checkpoints of a log from several places: one history, or the fork.
///
/// A place is a file with a checkpoint in any form (a signed note, a tlog-proof, a receipt, receipts of a
/// store, an anchor, an audit, gad.known-checkpoints/1), an envelope (directory or tar), the directory of a
/// tile tree, or the address of a log, a mirror or a witness. Exit codes: 0 all of them are one history, 1 a
/// fork, 2 neither could be shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor compare --vkey log.example+c0e67a31+AcDR… mine.json theirs.json --log https://log.example
  anchor compare --policy logs.policy envelope.tar https://mirror.example/log --log /srv/mirror
  anchor compare --policy logs.policy https://witness.example https://log.example --json
  anchor compare --policy logs.policy receipts.jsonl --log https://log.example --write-known known.json")]
pub(super) struct Args {
    /// Where checkpoints are.
    #[arg(value_name = "FILE|DIR|URL", required = true)]
    places: Vec<TileLocation>,
    /// A log or a mirror, by address or directory, whose tiles show what is a prefix of what; its own
    /// checkpoint is compared too. Can be given several times.
    #[arg(long, value_name = "URL|DIR")]
    log: Vec<TileLocation>,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    state: StateArgs,
    /// Write what was seen as gad.known-checkpoints/1, for the verifier, unless there is a fork.
    #[arg(long, value_name = "FILE")]
    write_known: Option<PathBuf>,
}

pub(super) async fn run(args: Args, _form: Form) -> Report {
    let mut report = Report::new("compare");
    if let Err(error) = compare(&args, &mut report).await {
        report.error(&error);
    }
    report
}

async fn compare(args: &Args, report: &mut Report) -> Result<(), ClientError> {
    let state = args.state.open()?;
    let options = CompareOptions {
        keys: args.keys.of_all_logs()?,
        logs: args.log.clone(),
        follow: args.ask.options(),
    };
    let Gathered { sightings, problems } = gather(&args.places, &options).await;
    let mut lines = line_up(sightings);
    for line in &mut lines {
        relate(line, &options).await;
    }
    for problem in &problems {
        let detail = format!("{}: {}", problem.place, problem.detail);
        report.fail(Outcome::NotEvaluated, &problem.code, &printable(&detail));
    }
    let values: Vec<_> = lines.iter().map(|line| show(line, &state, report)).collect();
    report.member("logs", values);
    report.member("unusable", problems.len());
    let trees: usize = lines.iter().map(|line| line.sightings.len()).sum();
    if trees < 2 && problems.is_empty() && places_seen(&lines) < 2 {
        let detail = "there is only one checkpoint; it takes two to compare";
        report.fail(Outcome::NotEvaluated, super::USAGE, detail);
    }
    if let Some(path) = &args.write_known {
        if lines.iter().all(|line| line.forks().next().is_none()) {
            let known = to_remember(&lines);
            durable::write_replace(path, &canonical(&known.to_value()))?;
            let written = count(known.checkpoints.len(), "checkpoint");
            report.line(format!("{written} written to {}", path.display()));
            report.member("known_checkpoints", path.display().to_string());
        } else {
            report.line("nothing is written to remember: one of two histories would be believed");
        }
    }
    Ok(())
}

/// How many places had something.
fn places_seen(lines: &[Line]) -> usize {
    lines.iter().flat_map(|line| &line.sightings).map(|one| one.seen_in.len()).sum()
}

/// Reports on one log.
fn show(line: &Line, state: &StateDir, report: &mut Report) -> Value {
    report.line(format!("{}", line.origin));
    for sighting in &line.sightings {
        let kept = if sighting.note.is_some() { "" } else { " (remembered, not signed)" };
        let tree = sighting.tree;
        let seen_in = printable(&sighting.seen_in.join(", "));
        report.line(format!("  {}  {}{kept}  {seen_in}", tree.size, tree.root));
    }
    let relations: Vec<_> =
        line.relations.iter().map(|relation| relate_line(line, relation, state, report)).collect();
    if line.is_consistent() {
        report.line("  one history");
    }
    let sightings: Vec<_> = line
        .sightings
        .iter()
        .map(|sighting| {
            json!({
                "size": sighting.tree.size.get(),
                "root": sighting.tree.root.to_string(),
                "seen_in": sighting.seen_in,
                "note": sighting.note.as_deref().map(note),
            })
        })
        .collect();
    json!({
        "origin": line.origin.as_str(),
        "consistent": line.is_consistent(),
        "checkpoints": sightings,
        "relations": relations,
    })
}

fn relate_line(line: &Line, relation: &Relation, state: &StateDir, report: &mut Report) -> Value {
    let tree = |at: usize| line.sightings.get(at).map(|sighting| sighting.tree);
    let size = |at: usize| tree(at).map_or(0, |tree| tree.size.get());
    let (from, to) = (size(relation.older), size(relation.newer));
    let mut value = json!({
        "older": relation.older,
        "newer": relation.newer,
        "from": from,
        "to": to,
    });
    let mut member = |name: &str, content: Value| {
        if let Some(object) = value.as_object_mut() {
            object.insert(name.to_owned(), content);
        }
    };
    match &relation.verdict {
        Verdict::Consistent => member("result", "consistent".into()),
        Verdict::Undecided { reasons } => {
            member("result", "undecided".into());
            member("reasons", reasons.as_slice().into());
            let detail = format!(
                "{}: neither that the tree of size {from} is a prefix of that of size {to} nor that it \
                 isn't could be shown: {}",
                line.origin,
                reasons.join("; ")
            );
            report.fail(Outcome::NotEvaluated, "LOG.CONSISTENCY", &printable(&detail));
        }
        Verdict::Fork(fork) => {
            member("result", "fork".into());
            member("code", fork.code.as_str().into());
            member("detail", printable(&fork.detail).into());
            let proof: Option<Vec<_>> =
                fork.proof.as_ref().map(|hashes| hashes.iter().map(ToString::to_string).collect());
            member("proof", proof.into());
            let notes = fork.notes.as_ref();
            member("notes", notes.map(|(one, other)| [note(one), note(other)]).into());
            let evidence = keep(line, fork, state, report);
            member("evidence", evidence.into());
        }
    }
    value
}

/// Reports a fork, and keeps both notes.
fn keep(line: &Line, fork: &Fork, state: &StateDir, report: &mut Report) -> Option<String> {
    let detail = printable(&format!("{}: {}", line.origin, fork.detail));
    let Some((seen, shown)) = &fork.notes else {
        let unsigned =
            format!("{detail}; one of them is only remembered, so this proves it to you alone");
        report.fail(Outcome::DoesNotHold, fork.code.as_str(), &unsigned);
        return None;
    };
    let finding = Finding { code: fork.code, detail: &fork.detail, proof: fork.proof.as_deref() };
    match keep_notes(state, line.origin.as_str(), finding, seen, shown) {
        Ok(path) => {
            let place = path.display().to_string();
            let detail = format!("{detail}; both signed notes are kept in {place}");
            report.fail_with(Outcome::DoesNotHold, fork.code.as_str(), &detail, &place);
            Some(place)
        }
        Err(error) => {
            let detail = format!("{detail}; the signed notes could NOT be kept: {error}");
            report.fail(Outcome::DoesNotHold, fork.code.as_str(), &detail);
            None
        }
    }
}

fn note(note: &VerifiedCheckpoint) -> String {
    String::from_utf8_lossy(&note.signed().to_bytes()).into_owned()
}
