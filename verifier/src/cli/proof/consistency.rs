//! `verifier proof consistency`.

use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::TreeSize;

use super::{NEW_CHECKPOINT, OLD_CHECKPOINT, Outcome, PROOF, checkpoint, same_size, tree_size};
use crate::cli::digests;
use crate::cli::input::{Inputs, MAX_EVIDENCE_BYTES};
use crate::cli::trust::TrustArgs;
use crate::cli::usage;
use crate::codes::log::{ORIGIN, SIG, UNKNOWN};
use crate::finding::Finding;
use crate::proof::{ConsistencyFile, Tree, check_consistency};
use crate::report::Facts;
use crate::trust::Trust;

/// Check that a tree is a prefix of another one.
///
/// The trees are given by size and root, or by two signed checkpoints, which then must hold under
/// --policy or --vkey. The proof comes from the command line (--hash) or from the log's JSON answer
/// (--file); between equal sizes there is nothing in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier proof consistency --from 2 --to 3 --from-root sha256:… --to-root sha256:… \\
      --hash sha256:…
  verifier proof consistency --file proof.json --from-root sha256:… --to-root sha256:…
  verifier proof consistency --old-checkpoint old --new-checkpoint new --file proof.json \\
      --vkey log.example+…")]
pub(in crate::cli) struct Args {
    /// Size of the older tree.
    #[arg(long, value_name = "A", value_parser = tree_size, requires = "to")]
    from: Option<TreeSize>,
    /// Size of the newer tree.
    #[arg(long, value_name = "B", value_parser = tree_size, requires = "from")]
    to: Option<TreeSize>,
    /// Root of the older tree.
    #[arg(long, value_parser = digests::parse, requires = "to_root")]
    from_root: Option<Digest>,
    /// Root of the newer tree.
    #[arg(long, value_parser = digests::parse, requires = "from_root")]
    to_root: Option<Digest>,
    /// Hash of the proof, in the proof's order; repeat for each.
    #[arg(long, value_parser = digests::parse)]
    hash: Vec<Digest>,
    /// The log's answer: {"from","to","hashes"}.
    #[arg(long, value_name = "PROOF.json", conflicts_with_all = ["from", "to", "hash"])]
    file: Option<PathBuf>,
    /// Signed checkpoint of the older tree.
    #[arg(
        long,
        value_name = "FILE",
        requires_all = ["new_checkpoint", "trust"],
        conflicts_with_all = ["from", "from_root"]
    )]
    old_checkpoint: Option<PathBuf>,
    /// Signed checkpoint of the newer tree.
    #[arg(
        long,
        value_name = "FILE",
        requires_all = ["old_checkpoint", "trust"],
        conflicts_with_all = ["to", "to_root"]
    )]
    new_checkpoint: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArgs,
}

pub(super) fn evaluate(args: &Args, inputs: &mut Inputs) -> Outcome {
    let trust = args.trust.load(inputs)?;
    let mut facts = Facts { policy: trust.as_ref().map(Trust::facts), ..Facts::default() };
    let file = match &args.file {
        None => None,
        Some(path) => {
            let bytes = inputs.read(PROOF, path, MAX_EVIDENCE_BYTES)?;
            let file = ConsistencyFile::parse(&bytes)
                .map_err(|error| Finding::of_json(&error).in_input(PROOF))?;
            Some(file)
        }
    };
    let mut findings = Vec::new();
    let (older, newer) = match (&args.old_checkpoint, &args.new_checkpoint, &trust) {
        (Some(old), Some(new), Some(trust)) => {
            let old = checkpoint(OLD_CHECKPOINT, old, trust, inputs)?;
            let new = checkpoint(NEW_CHECKPOINT, new, trust, inputs)?;
            let trees = [&old.checkpoint, &new.checkpoint]
                .map(|checkpoint| Tree { size: checkpoint.size, root: checkpoint.root });
            findings.extend(old.findings);
            findings.extend(new.findings);
            if old.checkpoint.origin != new.checkpoint.origin {
                let detail = "the two checkpoints are of different logs";
                let finding = Finding::new(ORIGIN, detail).in_input(NEW_CHECKPOINT);
                findings.push(finding.compared(&old.checkpoint.origin, &new.checkpoint.origin));
            }
            facts.log = Some(new.checkpoint.origin);
            facts.witnesses = new.witnesses;
            trees.into()
        }
        _ => given_trees(args, file.as_ref())?,
    };
    if let Some(file) = &file {
        findings.extend(same_size(PROOF, "from", older.size, file.from));
        findings.extend(same_size(PROOF, "to", newer.size, file.to));
    }
    facts.older = Some(older);
    facts.tree = Some(newer);
    // Trees are compared only where one log signed both: else a forger could make it look
    // inconsistent.
    let comparable = !findings.iter().any(|finding| [ORIGIN, SIG, UNKNOWN].contains(&finding.code));
    if comparable {
        let hashes = file.as_ref().map_or(&args.hash, |file| &file.hashes);
        findings.extend(check_consistency(&older, &newer, hashes).err());
    }
    Ok((facts, findings))
}

/// The trees from sizes and roots on the command line, or sizes in the proof.
fn given_trees(args: &Args, file: Option<&ConsistencyFile>) -> Result<(Tree, Tree), Finding> {
    let (Some(from_root), Some(to_root)) = (args.from_root, args.to_root) else {
        return Err(usage(
            "give --from-root and --to-root, or --old-checkpoint and --new-checkpoint with \
             --policy or --vkey",
        ));
    };
    let from = file.map(|file| file.from).or(args.from);
    let to = file.map(|file| file.to).or(args.to);
    let (Some(from), Some(to)) = (from, to) else {
        return Err(usage("give --from and --to, or --file"));
    };
    Ok((Tree { size: from, root: from_root }, Tree { size: to, root: to_root }))
}
