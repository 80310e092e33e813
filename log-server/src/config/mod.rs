//! The server's configuration: one struct per section, every value bounded before anything starts.
//!
//! Three layers, later ones win: a TOML file, environment variables, command line flags. Unknown keys are
//! refused with their place. [`EXAMPLE`] shows every key with its default; a test holds it to the code.
//! Nothing here opens the log or its key: the configuration only says where they are.

mod anchoring;
mod checkpoint_witness;
mod environment;
mod error;
mod rollback_guard;
mod sections;
mod tokens;
mod units;
mod witness;
mod witnessing;

use std::fmt::Display;
use std::fs;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

pub use self::anchoring::{AnchoringConfig, DEV_OPERATOR, Tolerated, TsaConfig, WindowConfig};
pub use self::checkpoint_witness::{CheckpointWitnessConfig, PrincipalConfig, TrailRegistration};
pub use self::environment::VARIABLE_PREFIX;
pub use self::error::ConfigError;
pub use self::rollback_guard::RollbackGuardConfig;
pub use self::sections::{
    AccessConfig, AccessMode, HttpConfig, IndexConfig, IndexEngine, LimitsConfig, LogConfig,
    LogFormat, SubmitterConfig, TelemetryConfig,
};
pub use self::tokens::TokenConfig;
pub use self::units::{Bytes, Span, UnitError};
pub use self::witness::{DEFAULT_WITNESS, WitnessConfig, WitnessedLogConfig};
pub use self::witnessing::WitnessingConfig;
use crate::log_keys::{MAX_ADDITIONAL_KEYS, MAX_RETIRED_KEYS};

/// A complete, commented configuration file that sets every key to its default.
pub const EXAMPLE: &str = include_str!("example.toml");

/// Everything that can be configured.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which log, where it is kept and where it is served.
    pub log: LogConfig,
    /// The HTTP server's resources.
    pub http: HttpConfig,
    /// Sizes of what is taken in.
    pub limits: LimitsConfig,
    /// Who may submit, and how much.
    pub access: AccessConfig,
    /// Who stamps the log's checkpoints, and when.
    pub anchoring: AnchoringConfig,
    /// Who cosigns the log's checkpoints, and when.
    pub witnessing: WitnessingConfig,
    /// This log as a witness of audit trails' checkpoints.
    pub checkpoint_witness: CheckpointWitnessConfig,
    /// Who is asked before the log signs.
    pub rollback_guard: RollbackGuardConfig,
    /// The derived index.
    pub index: IndexConfig,
    /// The server's own log and metrics.
    pub telemetry: TelemetryConfig,
    /// Who calls with a bearer token.
    pub tokens: Vec<TokenConfig>,
    /// This program as a witness for other logs.
    pub witness: WitnessConfig,
}

impl Config {
    /// Reads the file, if any, and lets the variables of `environment` override it.
    ///
    /// The result is not yet checked: flags may still change it. Call [`Config::validate`] afterwards.
    pub fn load<I>(file: Option<&Path>, environment: I) -> Result<Self, ConfigError>
    where
        I: IntoIterator<Item = (String, String)>,
    {
        let text = file.map(read).transpose()?.unwrap_or_default();
        Self::from_layers(&text, file, environment)
    }

    /// Reads a configuration from TOML text alone, unchecked.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        Self::from_layers(text, None, [])
    }

    /// Checks every value against its bounds. The first violation is reported by its key.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let http = &self.http;
        bounded("http.workers", &http.workers, &0, &1024)?;
        bounded("http.max_connections", &http.max_connections, &1, &65_536)?;
        bounded("http.max_requests", &http.max_requests, &1, &65_536)?;
        bounded("http.max_waiting", &http.max_waiting, &0, &65_536)?;
        let (second, minutes) = (Span::from_secs(1), Span::from_secs(600));
        bounded("http.header_timeout", &http.header_timeout, &second, &minutes)?;
        bounded("http.body_timeout", &http.body_timeout, &Span::from_millis(100), &minutes)?;
        bounded("http.write_timeout", &http.write_timeout, &second, &minutes)?;
        bounded("http.shutdown_grace", &http.shutdown_grace, &Span::from_secs(0), &minutes)?;

        let log = &self.log;
        let (additional, retired) = (MAX_ADDITIONAL_KEYS, MAX_RETIRED_KEYS);
        bounded("log.additional_keys (length)", &log.additional_keys.len(), &0, &additional)?;
        bounded("log.retired_keys (length)", &log.retired_keys.len(), &0, &retired)?;
        log.retired()?;

        let limits = &self.limits;
        bounded("limits.queue", &limits.queue, &MAX_BATCH, &1_000_000)?;
        bounded("limits.batch", &limits.batch, &1, &MAX_BATCH)?;
        let smallest = Bytes::kib(4);
        bounded("limits.statement_body", &limits.statement_body, &smallest, &Bytes::kib(32))?;
        bounded("limits.batch_body", &limits.batch_body, &smallest, &Bytes::mib(64))?;
        let least = Bytes::mib(1);
        bounded("limits.min_free_disk", &limits.min_free_disk, &least, &Bytes::gib(1024))?;

        bounded("access.open_rate", &self.access.open_rate, &0, &MAX_RATE)?;
        bounded("access.open_burst", &self.access.open_burst, &0, &MAX_RATE)?;
        bounded("access.keys (length)", &self.access.keys.len(), &0, &10_000)?;
        for key in &self.access.keys {
            bounded("access.keys.rate", &key.rate, &0, &MAX_RATE)?;
            bounded("access.keys.burst", &key.burst, &0, &MAX_RATE)?;
            bounded("access.keys.name (bytes)", &key.name.len(), &1, &128)?;
        }
        tokens::validate(&self.tokens)?;
        let nobody = self.access.keys.is_empty() && self.tokens.is_empty();
        if self.access.mode == AccessMode::Keys && nobody {
            return Err(ConfigError::NoKeys);
        }

        self.anchoring.validate()?;
        self.checkpoint_witness.validate()?;
        self.witness.validate()?;
        self.witnessing.validate()?;
        self.rollback_guard.validate()?;
        bounded("index.memory", &self.index.memory, &Bytes::mib(16), &Bytes::gib(64))?;
        let filter = &self.index.filter_memory;
        bounded("index.filter_memory", filter, &Bytes::mib(0), &Bytes::gib(64))?;
        if self.index.engine == IndexEngine::Sled && !cfg!(feature = "sled") {
            return Err(ConfigError::EngineNotBuilt { engine: self.index.engine });
        }
        EnvFilter::try_new(&self.telemetry.log_filter)
            .map_err(|source| ConfigError::LogFilter { source })?;
        Ok(())
    }

    /// Writes the configuration as TOML, every key included.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // Every section is a struct of scalars and one list of such structs: TOML can always say that.
        toml::to_string_pretty(self).unwrap_or_default()
    }

    fn from_layers<I>(text: &str, file: Option<&Path>, environment: I) -> Result<Self, ConfigError>
    where
        I: IntoIterator<Item = (String, String)>,
    {
        // The file is read on its own first: only then an error can point at its line.
        let config: Self = toml::from_str(text).map_err(|source| ConfigError::Syntax {
            file: file.map(Path::to_path_buf),
            source: Box::new(source),
        })?;
        environment::apply(config, environment)
    }
}

/// The most statements one batch request may carry; fixed by the interface.
pub const MAX_BATCH: usize = 1000;

/// The private key's file name inside the data directory, unless configured otherwise.
pub const DEFAULT_KEY_FILE: &str = "key.pem";

/// The origin of a log that nobody named: good for trying it out on one machine, and for nothing else.
pub const DEFAULT_ORIGIN: &str = "localhost/anchorlog";

/// What is logged unless configured otherwise: the index engines speak of their housekeeping at `info`.
pub const DEFAULT_LOG_FILTER: &str = "info,fjall=warn,lsm_tree=warn";

/// Statements per second beyond which a rate limit means nothing.
const MAX_RATE: u32 = 10_000_000;

/// Bytes of the largest configuration file read.
const MAX_FILE: u64 = 1 << 20;

fn read(file: &Path) -> Result<String, ConfigError> {
    let failed = |source| ConfigError::Read { file: file.to_path_buf(), source };
    let mut text = String::new();
    let opened = fs::File::open(file).map_err(failed)?;
    opened.take(MAX_FILE + 1).read_to_string(&mut text).map_err(failed)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_FILE) {
        return Err(ConfigError::TooLarge { file: file.to_path_buf() });
    }
    Ok(text)
}

fn bounded<T>(key: &'static str, value: &T, least: &T, most: &T) -> Result<(), ConfigError>
where
    T: Display + PartialOrd,
{
    if value < least || value > most {
        return Err(ConfigError::Bounds {
            key,
            value: value.to_string(),
            least: least.to_string(),
            most: most.to_string(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::indexing_slicing,
        clippy::unwrap_used,
        reason = "tests make files and may fail loudly"
    )]

    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_example_says_exactly_the_defaults() {
        let config = Config::from_toml(EXAMPLE).unwrap();
        assert_eq!(config, Config::default());
        config.validate().unwrap();
    }

    #[test]
    fn the_example_names_every_key() {
        let written: toml::Table = toml::from_str(EXAMPLE).unwrap();
        let defaults: toml::Table = toml::from_str(&Config::default().to_toml()).unwrap();
        for (section, keys) in defaults.iter().filter(|(_, keys)| keys.is_table()) {
            for key in keys
                .as_table()
                .unwrap()
                .keys()
                .filter(|key| !["keys", "logs", "submitters", "tsa"].contains(&key.as_str()))
            {
                assert!(
                    written[section].get(key).is_some(),
                    "{section}.{key} is not in the example"
                );
            }
        }
    }

    #[test]
    fn the_commented_key_block_of_the_example_works() {
        let text: String = EXAMPLE
            .lines()
            .map(|line| {
                let bare = line.strip_prefix("# ").unwrap_or(line);
                let is_block = [
                    "[[access.keys]]",
                    "name = ",
                    "key = ",
                    "rate = ",
                    "burst = ",
                    "[[anchoring.tsa]]",
                    "operator = ",
                    "url = ",
                    "roots = ",
                    "policy = ",
                    "require_accuracy = ",
                    "allow = ",
                    "window = ",
                    "[[tokens]]",
                    "subject = ",
                    "issuer = ",
                    "sha256 = ",
                    "[[checkpoint_witness.submitters]]",
                    "[[witness.logs]]",
                    "origin = \"\"",
                    "keys = ",
                ]
                .iter()
                .any(|start| bare.starts_with(start));
                if is_block { format!("{bare}\n") } else { format!("{line}\n") }
            })
            .collect();
        let config = Config::from_toml(&text).unwrap();
        assert_eq!(config.access.keys.len(), 1);
        assert_eq!(config.access.keys[0].burst, 1000);
        assert_eq!(config.anchoring.tsa.len(), 1);
        assert_eq!(config.tokens.len(), 1);
        assert_eq!(config.witness.logs.len(), 1);
        assert_eq!(config.checkpoint_witness.submitters.as_ref().map(Vec::len), Some(1));
        // Its other values can't be the defaults then.
        assert!(matches!(config.validate(), Err(ConfigError::NoMarks)));
        let marks = "marks = \"\"";
        let config = Config::from_toml(&text.replacen(marks, "marks = \"m\"", 1)).unwrap();
        config.validate().unwrap();
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut config = Config::default();
        config.access.keys.push(SubmitterConfig {
            name: "ci".to_owned(),
            key: "AAAA".to_owned(),
            rate: 5,
            burst: 0,
        });
        config.tokens.push(TokenConfig {
            subject: "desk".to_owned(),
            sha256: "AAAA".to_owned(),
            ..TokenConfig::default()
        });
        config.http.body_timeout = Span::from_millis(1500);
        assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
    }

    #[test]
    fn unknown_keys_are_refused_with_their_place() {
        let error = Config::from_toml("[log]\norigin = \"a\"\norigni = \"b\"\n").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("line 3") && text.contains("origni"), "{text}");
        let error = Config::from_toml("[lgo]\n").unwrap_err();
        assert!(error.to_string().contains("lgo"), "{error}");
        let error = Config::from_toml("[limits]\nstatement_body = 16384\n").unwrap_err();
        assert!(
            error.to_string().contains("line 2") && error.to_string().contains("unit"),
            "{error}"
        );
    }

    #[test]
    fn every_bound_is_checked() {
        for text in [
            "http.workers = 1025",
            "http.max_connections = 0",
            "http.max_connections = 65537",
            "http.max_requests = 0",
            "http.max_waiting = 65537",
            "http.header_timeout = \"999ms\"",
            "http.body_timeout = \"11m\"",
            "http.write_timeout = \"0s\"",
            "http.shutdown_grace = \"1h\"",
            "limits.queue = 999",
            "limits.queue = 1000001",
            "limits.batch = 0",
            "limits.batch = 1001",
            "limits.statement_body = \"4095 B\"",
            "limits.statement_body = \"33 KiB\"",
            "limits.batch_body = \"65 MiB\"",
            "limits.min_free_disk = \"0 B\"",
            "limits.min_free_disk = \"1025 GiB\"",
            "access.open_rate = 10000001",
            "access.open_burst = 10000001",
            "access.keys = [{name = \"\", key = \"k\"}]",
            "access.keys = [{name = \"n\", key = \"k\", rate = 10000001}]",
            "tokens = [{subject = \"\", sha256 = \"\"}]",
            "tokens = [{subject = \"s\", sha256 = \"\", burst = 10000001}]",
            "anchoring.interval = \"999ms\"",
            "anchoring.interval = \"25h\"",
            "anchoring.after_entries = 1000000001",
            "anchoring.quorum = 0",
            "anchoring.quorum = 11",
            "anchoring.timeout = \"99ms\"",
            "anchoring.timeout = \"11m\"",
            "anchoring.clock_skew = \"0s\"",
            "anchoring.renew_before = \"9000h\"",
            "anchoring.required_age = \"9000h\"",
            "anchoring.tsa = [{operator = \"\", url = \"u\", roots = \"r\"}]",
            "anchoring.tsa = [{operator = \"o\", url = \"u\", roots = \"r\", require_accuracy = \"25h\"}]",
            "witness.logs = [{keys = []}]",
            "witnessing.interval = \"999ms\"",
            "witnessing.interval = \"25h\"",
            "witnessing.refresh = \"9000h\"",
            "witnessing.daily_allowance = 0",
            "witnessing.daily_allowance = 10000001",
            "witnessing.timeout = \"99ms\"",
            "witnessing.timeout = \"11m\"",
            "witnessing.clock_skew = \"0s\"",
            "witnessing.required_age = \"9000h\"",
            "log.additional_keys = [\"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\"]",
            "checkpoint_witness = {marks = \"m\", submissions_per_minute = 0}",
            "checkpoint_witness = {marks = \"m\", submissions_per_minute = 6001}",
            "checkpoint_witness = {marks = \"m\", trails_per_submitter = 0}",
            "checkpoint_witness = {marks = \"m\", trails_per_submitter = 100001}",
            "checkpoint_witness = {marks = \"m\", submitters = [{subject = \"\"}]}",
            "rollback_guard.timeout = \"99ms\"",
            "rollback_guard.timeout = \"11m\"",
            "rollback_guard.require = 65",
            "index.memory = \"15 MiB\"",
            "index.memory = \"65 GiB\"",
            "index.filter_memory = \"65 GiB\"",
        ] {
            let error = Config::from_toml(text).unwrap().validate().unwrap_err();
            assert!(matches!(error, ConfigError::Bounds { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn authorities_that_could_not_work_are_refused() {
        let block = "anchoring.tsa = [{operator = \"o\", url = \"u\", roots = \"r\"}]\n";
        let twice = "anchoring.tsa = [{operator = \"o\", url = \"u\", roots = \"r\"}, \
                     {operator = \"o\", url = \"v\", roots = \"r\"}]\nanchoring.quorum = 2";
        Config::from_toml(block).unwrap().validate().unwrap();
        for text in [twice, "anchoring = {quorum = 2, dev_tsa = true}"] {
            let error = Config::from_toml(text).unwrap().validate().unwrap_err();
            assert!(matches!(error, ConfigError::Quorum { quorum: 2, operators: 1 }), "{error}");
        }
        // Without any authority there is nothing that a quorum could be of.
        Config::from_toml("anchoring.quorum = 2").unwrap().validate().unwrap();
        for (from, to) in [
            ("operator = \"o\"", "operator = \"o\\n\""),
            ("operator = \"o\"", "operator = \"development\""),
            ("url = \"u\"", "url = \"\""),
            ("roots = \"r\"", "roots = \"\""),
        ] {
            let config = Config::from_toml(&block.replace(from, to)).unwrap();
            let error = config.validate().unwrap_err();
            assert!(matches!(error, ConfigError::Tsa { .. }), "{to}: {error}");
        }
        let many = "{operator = \"o\", url = \"u\", roots = \"r\"},".repeat(11);
        let many = Config::from_toml(&format!("anchoring.tsa = [{many}]")).unwrap();
        assert!(matches!(many.validate(), Err(ConfigError::Bounds { .. })));
    }

    #[test]
    fn keys_and_mirrors_that_are_none_are_refused() {
        let refused = |text: &str| Config::from_toml(text).unwrap().validate().unwrap_err();
        let error = refused("log.retired_keys = [\"no vkey\"]");
        assert!(matches!(error, ConfigError::RetiredKey { .. }), "{error}");
        for mirror in ["", "ftp://log.example", "http://"] {
            let error = refused(&format!("rollback_guard.mirrors = [\"{mirror}\"]"));
            assert!(matches!(error, ConfigError::Mirror { .. }), "{mirror}: {error}");
        }
        let many = "\"d\",".repeat(33);
        let error = refused(&format!("rollback_guard.mirrors = [{many}]"));
        assert!(matches!(error, ConfigError::Bounds { .. }), "{error}");
        let text = "rollback_guard.mirrors = [\"/srv/mirror\", \"https://mirror.example/log\"]";
        let config = Config::from_toml(text).unwrap();
        config.validate().unwrap();
        assert_eq!(config.rollback_guard.sources().unwrap().asked.len(), 2);
    }

    #[test]
    fn a_policy_that_shuts_everybody_out_is_refused() {
        let config = Config::from_toml("access.mode = \"keys\"").unwrap();
        assert!(matches!(config.validate(), Err(ConfigError::NoKeys)));
        let token = "access.mode = \"keys\"\ntokens = [{subject = \"s\", sha256 = \"h\"}]";
        Config::from_toml(token).unwrap().validate().unwrap();
        let config =
            Config::from_toml("checkpoint_witness.registration = \"first-submission\"").unwrap();
        assert!(matches!(config.validate(), Err(ConfigError::NoMarks)));
        let config = Config::from_toml("telemetry.log_filter = \"no=such=filter\"").unwrap();
        assert!(matches!(config.validate(), Err(ConfigError::LogFilter { .. })));
    }

    #[cfg(not(feature = "sled"))]
    #[test]
    fn an_engine_that_is_not_built_is_refused() {
        let config = Config::from_toml("index.engine = \"sled\"").unwrap();
        assert!(matches!(config.validate(), Err(ConfigError::EngineNotBuilt { .. })));
    }

    #[test]
    fn a_file_is_read_and_a_huge_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("log.toml");
        fs::write(&file, "log.origin = \"example.com/log\"").unwrap();
        let config = Config::load(Some(&file), []).unwrap();
        assert_eq!(config.log.origin, "example.com/log");
        fs::write(&file, " ".repeat(usize::try_from(MAX_FILE).unwrap() + 1)).unwrap();
        assert!(matches!(Config::load(Some(&file), []), Err(ConfigError::TooLarge { .. })));
        let missing = Config::load(Some(&directory.path().join("none.toml")), []).unwrap_err();
        assert!(missing.to_string().contains("none.toml"), "{missing}");
    }

    #[test]
    fn the_key_lies_in_the_data_directory_unless_told_otherwise() {
        let mut log = LogConfig::default();
        assert_eq!(log.key_path(), Path::new("data/key.pem"));
        log.key_file = PathBuf::from("/etc/anchorlog/key.pem");
        assert_eq!(log.key_path(), Path::new("/etc/anchorlog/key.pem"));
    }
}
