//! Why a command could not be carried out.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use anchorlog_client::address::AddressError;
use anchorlog_client::durable::DurableError;
use anchorlog_client::log_client::CallError;
use anchorlog_proto::jp::witness::KeyRefusal;
use anchorlog_proto::note::{KeyError as NoteKeyError, KeyName};

use crate::access::AccessConfigError;
use crate::anchoring::SetupError;
use crate::bearer::TokenConfigError;
use crate::checkpoint_witness::CheckpointWitnessError;
use crate::config::ConfigError;
use crate::dev_tsa::DevTsaError;
use crate::error::Error;
use crate::keys::KeyFileError;
use crate::log_keys::LogKeysError;
use crate::pool::SubmitError;
use crate::witness::WitnessError;

/// Any failure of a command, with the exit code it leads to.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// The keys of the access policy.
    #[error(transparent)]
    Access(#[from] AccessConfigError),
    /// The address of a log.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The running server can't be asked.
    #[error(
        "the log is in use, and its server can't be asked ({source}); is it one that has authorities?"
    )]
    Admin {
        /// The operating system's reason.
        source: io::Error,
    },
    /// The time-stamping authorities.
    #[error(transparent)]
    Anchoring(Box<SetupError>),
    /// The address to listen on.
    #[error("can't listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A log elsewhere.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The witness of audit trails' checkpoints.
    #[error(transparent)]
    CheckpointWitness(Box<CheckpointWitnessError>),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Nobody is there to be asked.
    #[error("the configuration names no time-stamping authority; [[anchoring.tsa]] does")]
    NoAuthorities,
    /// This log is no witness of audit trails.
    #[error(
        "[checkpoint_witness] names no marks, so this log is no witness of audit trails' checkpoints"
    )]
    NoCheckpointWitness,
    /// There is no log in the directory.
    #[error("{}: there is no log in this directory; `log-server init` makes one", directory.display())]
    NoLog {
        /// The directory.
        directory: PathBuf,
    },
    /// Requests that were accepted were not answered before the grace time was over.
    #[error("some connections were cut off because they weren't done in time")]
    CutOff,
    /// The development time-stamping authority.
    #[error(transparent)]
    DevTsa(#[from] DevTsaError),
    /// A file could not be written.
    #[error(transparent)]
    Durable(#[from] DurableError),
    /// The key file.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// The log.
    #[error(transparent)]
    Log(Box<Error>),
    /// The keys don't go together.
    #[error("log.key_file, log.additional_keys and log.retired_keys: {0}")]
    Keys(#[from] LogKeysError),
    /// The log stopped by itself.
    #[error("the log failed; what it wrote to its own log says why")]
    LogFailed,
    /// A log without its key.
    #[error("{}: the private key of the log in {} is missing; restore it, or the log can't go on under its name", key.display(), data.display())]
    MissingKey {
        /// Where the key should be.
        key: PathBuf,
        /// The data directory.
        data: PathBuf,
    },
    /// The log was not ended.
    #[error("the log is not frozen: {source}")]
    NotFrozen {
        /// Why.
        source: SubmitError,
    },
    /// The note key belongs to another name.
    #[error("the key in {} is named {actual}, not {expected}; leave --origin away to keep its name", file.display())]
    OtherName {
        /// The file with the note key.
        file: PathBuf,
        /// The name in it.
        actual: KeyName,
        /// The name asked for.
        expected: String,
    },
    /// The origin can't be the name of a key.
    #[error("log.origin can't be {origin:?}: {source}")]
    Origin {
        /// The origin.
        origin: String,
        /// What is wrong with it.
        source: NoteKeyError,
    },
    /// A panic.
    #[error("a panic; its message is on standard error")]
    Panicked,
    /// The system gives no random bytes.
    #[error("the system's random source doesn't answer, so no token can be made")]
    Random,
    /// The runtime could not be started.
    #[error("the runtime can't be started: {0}")]
    Runtime(io::Error),
    /// Flags of `serve` in front of another command.
    #[error("--listen and --read-only are for `serve`, not for `{command}`")]
    ServeFlags {
        /// The command.
        command: &'static str,
    },
    /// The tokens.
    #[error(transparent)]
    Tokens(#[from] TokenConfigError),
    /// There is no such subcommand.
    #[error("there is no subcommand {name:?}")]
    UnknownSubcommand {
        /// The name given.
        name: String,
    },
    /// The command line.
    #[error("{text}")]
    Usage {
        /// What clap says.
        text: String,
    },
    /// A verifier key on the command line.
    #[error("--vkey: {0}")]
    Vkey(NoteKeyError),
    /// A log elsewhere can't be checked without its key.
    #[error(
        "--vkey is needed to check a log by its URL: the key its operator publishes, not the one the log itself names"
    )]
    VkeyNeeded,
    /// The witness can't start.
    #[error(transparent)]
    Witness(Box<WitnessError>),
    /// A key that nobody may trust.
    #[error("--key: {refusal}")]
    WitnessKey {
        /// Why.
        refusal: KeyRefusal,
    },
    /// The witness of audit trails refuses.
    #[error("not done: {reason}")]
    WitnessRefused {
        /// Why.
        reason: String,
    },
    /// The witness stopped by itself.
    #[error("the witness failed; what it wrote to its own log says why")]
    WitnessFailed,
    /// The witnesses.
    #[error(transparent)]
    Witnessing(Box<crate::witnessing::SetupError>),
    /// A document could not be rendered.
    #[error("can't be written: {0}")]
    Write(io::Error),
}

impl CliError {
    /// 2 for what somebody has to change outside, 3 for what is ours.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::CutOff
            | Self::LogFailed
            | Self::NotFrozen { .. }
            | Self::Panicked
            | Self::Random
            | Self::Runtime(_)
            | Self::WitnessFailed
            | Self::Write(_) => 3,
            Self::Log(error) => match **error {
                Error::Lock(_)
                | Error::ForeignLog { .. }
                | Error::JournalMissing
                | Error::NoSigner
                | Error::Frozen(_)
                | Error::FrozenDiffers { .. }
                | Error::BehindCheckpoint { .. }
                | Error::Guard(_) => 2,
                _ => 3,
            },
            _ => 2,
        }
    }

    /// A stable code.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Access(_) => "CLI.ACCESS",
            Self::Address(_) => "CLI.ADDRESS",
            Self::Admin { .. } => "CLI.ADMIN",
            Self::Anchoring(_) => "CLI.ANCHORING",
            Self::Bind { .. } => "CLI.BIND",
            Self::Call(_) => "CLI.CALL",
            Self::CheckpointWitness(error) => match **error {
                CheckpointWitnessError::Lock(_) => "CLI.LOCKED",
                CheckpointWitnessError::Key(_) => "CLI.KEY",
                _ => "CLI.CHECKPOINT_WITNESS",
            },
            Self::Config(_) => "CLI.CONFIG",
            Self::CutOff => "CLI.CUT_OFF",
            Self::DevTsa(DevTsaError::Lock(_)) => "CLI.LOCKED",
            Self::DevTsa(_) => "CLI.DEV_TSA",
            Self::Durable(_) => "CLI.DISK",
            Self::Key(_) => "CLI.KEY",
            Self::Log(error) => match **error {
                Error::Lock(_) => "CLI.LOCKED",
                Error::ForeignLog { .. } => "CLI.FOREIGN_LOG",
                Error::Frozen(_) | Error::FrozenDiffers { .. } => "CLI.FROZEN",
                Error::BehindCheckpoint { .. } => "LOG.ROLLBACK",
                Error::Guard(ref error) => error.code(),
                _ => "CLI.LOG",
            },
            Self::Keys(_) => "CLI.KEYS",
            Self::LogFailed => "CLI.LOG_FAILED",
            Self::MissingKey { .. } => "CLI.MISSING_KEY",
            Self::NoAuthorities => "CLI.NO_AUTHORITIES",
            Self::NoCheckpointWitness => "CLI.NO_CHECKPOINT_WITNESS",
            Self::NoLog { .. } => "CLI.NO_LOG",
            Self::NotFrozen { .. } => "CLI.NOT_FROZEN",
            Self::Origin { .. } => "CLI.ORIGIN",
            Self::OtherName { .. } => "CLI.OTHER_NAME",
            Self::Panicked => "CLI.PANIC",
            Self::Random => "CLI.RANDOM",
            Self::Runtime(_) => "CLI.RUNTIME",
            Self::Tokens(_) => "CLI.TOKENS",
            Self::ServeFlags { .. } | Self::UnknownSubcommand { .. } | Self::Usage { .. } => {
                "CLI.USAGE"
            }
            Self::Vkey(_) | Self::VkeyNeeded => "CLI.VKEY",
            Self::Witness(error) => match **error {
                WitnessError::Lock(_) => "CLI.LOCKED",
                _ => "CLI.WITNESS",
            },
            Self::WitnessFailed => "CLI.WITNESS_FAILED",
            Self::WitnessKey { .. } => "CLI.WITNESS_KEY",
            Self::WitnessRefused { .. } => "CLI.WITNESS_REFUSED",
            Self::Witnessing(_) => "CLI.WITNESSING",
            Self::Write(_) => "CLI.WRITE",
        }
    }
}

impl From<SetupError> for CliError {
    fn from(error: SetupError) -> Self {
        Self::Anchoring(Box::new(error))
    }
}

impl From<CheckpointWitnessError> for CliError {
    fn from(error: CheckpointWitnessError) -> Self {
        Self::CheckpointWitness(Box::new(error))
    }
}

impl From<WitnessError> for CliError {
    fn from(error: WitnessError) -> Self {
        Self::Witness(Box::new(error))
    }
}

impl From<crate::witnessing::SetupError> for CliError {
    fn from(error: crate::witnessing::SetupError) -> Self {
        Self::Witnessing(Box::new(error))
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self::Log(Box::new(error))
    }
}
