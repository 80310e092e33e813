//! `--policy` or `--vkey`: whom the caller trusts.

use std::path::PathBuf;

use super::input::{Inputs, MAX_POLICY_BYTES};
use crate::finding::Finding;
use crate::trust::{POLICY, Trust, VKEY};

/// A policy or a key; at most one of them. Commands that need one say `requires = "trust"`.
#[derive(Debug, clap::Args)]
#[group(id = "trust", multiple = false)]
pub(super) struct TrustArgs {
    /// C2SP tlog-policy: the logs and witnesses you trust, and the quorum you ask for.
    #[arg(long, value_name = "TLOG_POLICY")]
    policy: Option<PathBuf>,
    /// Verifier key of the one log you trust; asks for no witness.
    #[arg(long)]
    vkey: Option<String>,
}

impl TrustArgs {
    /// Reads the policy, if one was given.
    pub(super) fn load(&self, inputs: &mut Inputs) -> Result<Option<Trust>, Finding> {
        if let Some(path) = &self.policy {
            let text = inputs.read(POLICY, path, MAX_POLICY_BYTES)?;
            return Trust::from_policy(&text).map(Some).map_err(|finding| finding.in_input(POLICY));
        }
        let trust = self.vkey.as_deref().map(Trust::from_vkey).transpose();
        trust.map_err(|finding| finding.in_input(VKEY))
    }
}
