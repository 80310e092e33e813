//! What `check` and `read` have in common.

use core::time::Duration;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::id::Id;

use crate::cli::digests;
use crate::workflow::plug::{CommandVerifier, DEFAULT_LIMITS};
use crate::workflow::{Directory, Expectations, Plugs};

/// A bundle, what is expected of it, and who is plugged in.
#[derive(Debug, clap::Args)]
pub(super) struct BundleArgs {
    /// The bundle: a directory in the layout of RFC 0020 section 11.
    dir: PathBuf,
    /// The workflow digest you hold.
    #[arg(long, value_name = "DIGEST", value_parser = digests::parse)]
    workflow_digest: Option<Digest>,
    /// The execution digest you hold.
    #[arg(long, value_name = "DIGEST", value_parser = digests::parse)]
    execution_digest: Option<Digest>,
    /// The runtime's digest you trust, for all stages or for one.
    #[arg(long, value_name = "[STAGE=]DIGEST", value_parser = runtime)]
    runtime: Vec<Runtime>,
    /// A command that verifies preparations; run through no shell, one JSON request on its standard input, one
    /// JSON answer on its standard output. You trust it as you trust this program.
    #[arg(long, value_name = "CMD")]
    preparation_verifier: Option<OsString>,
    /// A command that expands published dialects; the same way.
    #[arg(long, value_name = "CMD")]
    expansion_verifier: Option<OsString>,
    /// A command that computes influence; the same way.
    #[arg(long, value_name = "CMD")]
    influence_verifier: Option<OsString>,
    /// How long one answer of such a command may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    verifier_timeout: u16,
}

#[derive(Clone, Debug)]
struct Runtime {
    stage: Option<Id>,
    digest: Digest,
}

impl BundleArgs {
    pub(super) fn files(&self) -> Directory {
        Directory::new(&self.dir)
    }

    pub(super) fn expectations(&self) -> Expectations {
        let mut expect = Expectations {
            workflow: self.workflow_digest,
            execution: self.execution_digest,
            ..Expectations::default()
        };
        for runtime in &self.runtime {
            match &runtime.stage {
                None => expect.runtime = Some(runtime.digest),
                Some(stage) => {
                    expect.runtimes.insert(stage.clone(), runtime.digest);
                }
            }
        }
        expect
    }

    pub(super) fn plugs(&self) -> Plugs {
        let limits = DEFAULT_LIMITS.with_time(Duration::from_secs(self.verifier_timeout.into()));
        let command = |program: &OsString| Arc::new(CommandVerifier::new(program, [], limits));
        let mut plugs = Plugs::default();
        if let Some(program) = &self.preparation_verifier {
            plugs.preparation = Some(command(program));
        }
        if let Some(program) = &self.expansion_verifier {
            plugs.expansion = Some(command(program));
        }
        if let Some(program) = &self.influence_verifier {
            plugs.influence = Some(command(program));
        }
        plugs
    }
}

fn runtime(text: &str) -> Result<Runtime, String> {
    match text.split_once('=') {
        None => Ok(Runtime { stage: None, digest: digests::parse(text)? }),
        Some((stage, digest)) => {
            let stage = stage.parse::<Id>().map_err(|error| error.to_string())?;
            Ok(Runtime { stage: Some(stage), digest: digests::parse(digest)? })
        }
    }
}
