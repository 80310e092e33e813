//! `verifier proof inclusion`.

use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{TreeSize, leaf_hash};
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tlog_proof::TlogProof;

use super::{CHECKPOINT, ENTRY, Outcome, PROOF, checkpoint, same_size, tree_size};
use crate::checkpoint::{CheckpointExam, examine_checkpoint};
use crate::cli::digests;
use crate::cli::input::{Inputs, MAX_EVIDENCE_BYTES};
use crate::cli::trust::TrustArgs;
use crate::cli::usage;
use crate::finding::Finding;
use crate::proof::{InclusionFile, Tree, check_inclusion};
use crate::report::Facts;
use crate::trust::Trust;

/// Check that an entry is in a tree.
///
/// The proof comes from the command line (--index, --size, --hash), from the log's JSON answer
/// (--file), or from a C2SP tlog-proof (--tlog-proof). The root is given (--root) or taken from a
/// signed checkpoint, which then must hold under --policy or --vkey.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("source").required(true).args(["index", "file", "tlog_proof"]),
    group = clap::ArgGroup::new("leaf").required(true).args(["leaf_hash", "entry", "raw_entry"]),
    after_help = "\
Examples:
  verifier proof inclusion --index 2 --size 3 --leaf-hash sha256:… --root sha256:… \\
      --hash sha256:…
  verifier proof inclusion --file proof.json --checkpoint checkpoint --entry statement.json \\
      --vkey log.example+…
  verifier proof inclusion --tlog-proof entry.tlog-proof --entry statement.json --policy logs.policy"
)]
pub(in crate::cli) struct Args {
    /// Index of the entry.
    #[arg(long, value_name = "N")]
    index: Option<u64>,
    /// Size of the tree; taken from the checkpoint when left out.
    #[arg(
        long,
        value_name = "S",
        value_parser = tree_size,
        conflicts_with_all = ["file", "tlog_proof"]
    )]
    size: Option<TreeSize>,
    /// Hash of the proof, the leaf's sibling first; repeat for each.
    #[arg(long, value_parser = digests::parse, conflicts_with_all = ["file", "tlog_proof"])]
    hash: Vec<Digest>,
    /// The log's answer: {"index","size","hashes"}.
    #[arg(long, value_name = "PROOF.json")]
    file: Option<PathBuf>,
    /// C2SP tlog-proof: proof and signed checkpoint in one file.
    #[arg(long, value_name = "FILE", requires = "trust", conflicts_with_all = ["root", "checkpoint"])]
    tlog_proof: Option<PathBuf>,
    /// RFC 6962 hash of the entry.
    #[arg(long, value_parser = digests::parse)]
    leaf_hash: Option<Digest>,
    /// The statement, signed or not, as JSON; its canonical form is the leaf.
    #[arg(long, value_name = "FILE")]
    entry: Option<PathBuf>,
    /// The exact bytes of the leaf, of any log.
    #[arg(long, value_name = "FILE")]
    raw_entry: Option<PathBuf>,
    /// Root of the tree, which you trust already.
    #[arg(long, value_parser = digests::parse, conflicts_with_all = ["checkpoint", "trust"])]
    root: Option<Digest>,
    /// Signed checkpoint of the tree.
    #[arg(long, value_name = "FILE", requires = "trust")]
    checkpoint: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArgs,
}

pub(super) fn evaluate(args: &Args, inputs: &mut Inputs) -> Outcome {
    let trust = args.trust.load(inputs)?;
    let mut facts = Facts { policy: trust.as_ref().map(Trust::facts), ..Facts::default() };
    let leaf = leaf(args, inputs, &mut facts)?;
    let Claim { index, stated_size, hashes, exam } = claim(args, trust.as_ref(), inputs)?;
    let (tree, mut findings) = match (exam, args.root, stated_size) {
        (Some(exam), ..) => {
            facts.log = Some(exam.checkpoint.origin.clone());
            facts.witnesses = exam.witnesses;
            let tree = Tree { size: exam.checkpoint.size, root: exam.checkpoint.root };
            let mut findings = exam.findings;
            let stated = stated_size.unwrap_or(tree.size);
            findings.extend(same_size(PROOF, "size", tree.size, stated));
            (tree, findings)
        }
        (None, Some(root), Some(size)) => (Tree { size, root }, Vec::new()),
        (None, Some(_), None) => return Err(usage("--index needs --size or --checkpoint")),
        (None, None, _) => return Err(usage("give --root or --checkpoint")),
    };
    facts.index = Some(index);
    facts.leaf_hash = Some(leaf);
    facts.tree = Some(tree);
    findings.extend(check_inclusion(index, &tree, &leaf, &hashes).err().map(|f| f.in_input(PROOF)));
    Ok((facts, findings))
}

/// What the proof says, and the checkpoint that goes with it.
struct Claim {
    index: u64,
    stated_size: Option<TreeSize>,
    hashes: Vec<Digest>,
    exam: Option<CheckpointExam>,
}

fn claim(args: &Args, trust: Option<&Trust>, inputs: &mut Inputs) -> Result<Claim, Finding> {
    if let (Some(path), Some(trust)) = (&args.tlog_proof, trust) {
        let bytes = inputs.read(PROOF, path, MAX_EVIDENCE_BYTES)?;
        let proof = TlogProof::parse(&bytes)
            .map_err(|error| Finding::of_format(error.code(), &error).in_input(PROOF))?;
        let mut exam = examine_checkpoint(proof.checkpoint(), &trust.policy);
        exam.findings = exam.findings.into_iter().map(|f| f.in_input(PROOF)).collect();
        let (index, hashes) = (proof.index(), proof.hashes().to_vec());
        return Ok(Claim { index, stated_size: None, hashes, exam: Some(exam) });
    }
    let exam = match (&args.checkpoint, trust) {
        (Some(path), Some(trust)) => Some(checkpoint(CHECKPOINT, path, trust, inputs)?),
        _ => None,
    };
    if let Some(path) = &args.file {
        let bytes = inputs.read(PROOF, path, MAX_EVIDENCE_BYTES)?;
        let InclusionFile { index, size, hashes } = InclusionFile::parse(&bytes)
            .map_err(|error| Finding::of_json(&error).in_input(PROOF))?;
        return Ok(Claim { index, stated_size: Some(size), hashes, exam });
    }
    let index = args.index.ok_or_else(|| usage("give --index, --file or --tlog-proof"))?;
    Ok(Claim { index, stated_size: args.size, hashes: args.hash.clone(), exam })
}

fn leaf(args: &Args, inputs: &mut Inputs, facts: &mut Facts) -> Result<Digest, Finding> {
    if let Some(path) = &args.raw_entry {
        return Ok(leaf_hash(&inputs.read(ENTRY, path, MAX_EVIDENCE_BYTES)?));
    }
    if let Some(path) = &args.entry {
        let bytes = inputs.read(ENTRY, path, MAX_EVIDENCE_BYTES)?;
        let entry = LogEntry::read(&bytes)
            .map_err(|error| Finding::of_format(error.code(), &error).in_input(ENTRY))?;
        let hash = entry.leaf_hash();
        facts.statement = Some(entry);
        return Ok(hash);
    }
    args.leaf_hash.ok_or_else(|| usage("give --leaf-hash, --entry or --raw-entry"))
}
