//! What can be wrong with a configuration.

use std::io;
use std::path::PathBuf;

use anchorlog_proto::note::KeyError;

use super::{IndexEngine, MAX_FILE};
use crate::rollback::PlaceError;

/// Why there is no usable configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A value is outside its bounds.
    #[error("{key} is {value}, but must be from {least} to {most}")]
    Bounds {
        /// The key, dotted.
        key: &'static str,
        /// The value as given.
        value: String,
        /// The smallest value allowed.
        least: String,
        /// The largest value allowed.
        most: String,
    },
    /// The index engine is not part of this build.
    #[error("index.engine is \"{}\", but this build does not contain that engine (build with `--features {}`)", engine.as_str(), engine.as_str())]
    EngineNotBuilt {
        /// The engine asked for.
        engine: IndexEngine,
    },
    /// The log filter can't be parsed.
    #[error("telemetry.log_filter can't be read: {source}")]
    LogFilter {
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
    /// A mirror that is neither a directory nor a URL.
    #[error("rollback_guard.mirrors: {mirror:?}: {source}")]
    Mirror {
        /// The text given.
        mirror: String,
        /// What is wrong with it.
        source: PlaceError,
    },
    /// `mode = "keys"` without a key would refuse everybody.
    #[error(
        "access.mode is \"keys\", but there is no [[access.keys]] and no [[tokens]] block: nobody could submit"
    )]
    NoKeys,
    /// A checkpoint witness without a place for its marks.
    #[error(
        "[checkpoint_witness] is configured, but checkpoint_witness.marks names no file for the marks, on another \
         device than the statements"
    )]
    NoMarks,
    /// A key of type 0x06 in a build that doesn't know the type.
    #[error(
        "witness.ml_dsa_key_file is set, but this build does not contain ML-DSA (build with `--features ml-dsa`)"
    )]
    NoMlDsa,
    /// A quorum that can never be.
    #[error(
        "anchoring.quorum is {quorum}, but there are only {operators} operators of authorities"
    )]
    Quorum {
        /// Operators wanted.
        quorum: usize,
        /// Operators there are.
        operators: usize,
    },
    /// The file can't be read.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A former key that is none.
    #[error("log.retired_keys: {key:?}: {source}")]
    RetiredKey {
        /// The text given.
        key: String,
        /// What is wrong with it.
        source: KeyError,
    },
    /// The file isn't TOML, has an unknown key, or a value of the wrong type.
    #[error("{}{source}", file.as_ref().map(|f| format!("{}: ", f.display())).unwrap_or_default())]
    Syntax {
        /// The file, unless the text came from elsewhere.
        file: Option<PathBuf>,
        /// What is wrong, with line and column.
        source: Box<toml::de::Error>,
    },
    /// The file is larger than any configuration.
    #[error("{}: larger than {MAX_FILE} bytes, which no configuration is", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
    },
    /// A name that doesn't fit into a line of a log.
    #[error("[[tokens]] {subject:?}: subject and issuer must be without control characters")]
    TokenName {
        /// The subject.
        subject: String,
    },
    /// An authority that could never stamp anything.
    #[error("[[anchoring.tsa]] {operator:?}: {reason}")]
    Tsa {
        /// The operator.
        operator: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A variable of one of our sections names no key.
    #[error(
        "the environment variable {name} names no key of the configuration (`log-server config --example` lists them)"
    )]
    UnknownVariable {
        /// The variable.
        name: String,
    },
    /// A variable's value doesn't fit its key.
    #[error("the environment variable {name} can't be used: {source}")]
    Variable {
        /// The variable.
        name: String,
        /// What is wrong with its value.
        source: Box<toml::de::Error>,
    },
}
