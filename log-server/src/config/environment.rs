//! Environment variables over the file: `ANCHORLOG_<SECTION>_<KEY>` for every scalar key.
//!
//! The list of variables is not written down anywhere: it is the list of keys of the default
//! configuration, so it can't fall behind. A variable that begins like one of our sections but names no
//! key is an error (a typing mistake in a limit must not pass unseen); other `ANCHORLOG_` variables are
//! left alone, as orchestrators inject some of their own.

use serde::Deserialize;
use serde::de::Error as _;
use toml::{Table, Value};

use super::{Config, ConfigError};

/// What every variable of the configuration begins with.
pub const VARIABLE_PREFIX: &str = "ANCHORLOG_";

/// Applies the variables to `config`, in the order of their names.
pub(super) fn apply<I>(config: Config, environment: I) -> Result<Config, ConfigError>
where
    I: IntoIterator<Item = (String, String)>,
{
    let mut ours: Vec<_> =
        environment.into_iter().filter(|(name, _)| name.starts_with(VARIABLE_PREFIX)).collect();
    if ours.is_empty() {
        return Ok(config);
    }
    ours.sort();
    let keys = scalar_keys();
    let mut config = config;
    for (name, value) in ours {
        match keys.iter().find(|key| key.variable == name) {
            Some(key) => {
                config = key.set(&config, &value).map_err(|source| refused(name, source))?;
            }
            None if begins_like_a_section(&name) => {
                return Err(ConfigError::UnknownVariable { name });
            }
            None => {}
        }
    }
    Ok(config)
}

struct Key {
    section: String,
    name: String,
    variable: String,
    default: Value,
}

impl Key {
    fn set(&self, config: &Config, text: &str) -> Result<Config, toml::de::Error> {
        let value = match self.default {
            Value::Boolean(_) => Value::Boolean(text.parse().map_err(toml::de::Error::custom)?),
            Value::Integer(_) => Value::Integer(text.parse().map_err(toml::de::Error::custom)?),
            _ => Value::String(text.to_owned()),
        };
        let mut table = as_table(config);
        if let Some(Value::Table(section)) = table.get_mut(&self.section) {
            section.insert(self.name.clone(), value);
        }
        Config::deserialize(table)
    }
}

fn scalar_keys() -> Vec<Key> {
    let mut keys = Vec::new();
    for (section, content) in as_table(&Config::default()) {
        let Value::Table(content) = content else { continue };
        for (name, default) in content {
            if matches!(default, Value::Array(_) | Value::Table(_)) {
                continue;
            }
            let variable = format!("{VARIABLE_PREFIX}{section}_{name}").to_ascii_uppercase();
            keys.push(Key { section: section.clone(), name, variable, default });
        }
    }
    keys
}

fn begins_like_a_section(name: &str) -> bool {
    as_table(&Config::default()).keys().any(|section| {
        name.strip_prefix(VARIABLE_PREFIX)
            .and_then(|rest| rest.strip_prefix(section.to_ascii_uppercase().as_str()))
            .is_some_and(|rest| rest.starts_with('_'))
    })
}

fn as_table(config: &Config) -> Table {
    // A struct of structs always becomes a table.
    Table::try_from(config).unwrap_or_default()
}

fn refused(name: String, source: toml::de::Error) -> ConfigError {
    ConfigError::Variable { name, source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;
    use crate::config::{AccessMode, Bytes, Span};

    fn with(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        apply(Config::from_toml("log.origin = \"from.file\"").unwrap(), variables)
    }

    #[test]
    fn variables_override_the_file() {
        let config = with(&[
            ("ANCHORLOG_LOG_ORIGIN", "from.environment"),
            ("ANCHORLOG_LOG_LISTEN", "0.0.0.0:80"),
            ("ANCHORLOG_LIMITS_QUEUE", "5000"),
            ("ANCHORLOG_LIMITS_STATEMENT_BODY", "32 KiB"),
            ("ANCHORLOG_HTTP_BODY_TIMEOUT", "3s"),
            ("ANCHORLOG_ACCESS_MODE", "keys"),
            ("ANCHORLOG_TELEMETRY_METRICS", "false"),
            ("PATH", "/bin"),
        ])
        .unwrap();
        assert_eq!(config.log.origin, "from.environment");
        assert_eq!(config.log.listen, "0.0.0.0:80".parse().unwrap());
        assert_eq!(config.limits.queue, 5000);
        assert_eq!(config.limits.statement_body, Bytes::kib(32));
        assert_eq!(config.http.body_timeout, Span::from_secs(3));
        assert_eq!(config.access.mode, AccessMode::Keys);
        assert!(!config.telemetry.metrics);
        assert_eq!(with(&[]).unwrap().log.origin, "from.file");
    }

    #[test]
    fn mistyped_names_are_refused_and_foreign_ones_ignored() {
        let error = with(&[("ANCHORLOG_LIMITS_QEUE", "1")]).unwrap_err();
        assert!(
            matches!(&error, ConfigError::UnknownVariable { name } if name == "ANCHORLOG_LIMITS_QEUE")
        );
        with(&[("ANCHORLOG_SERVICE_HOST", "10.0.0.1"), ("ANCHORLOG_CORPUS", "/c")]).unwrap();
        with(&[("ANCHORLOG_LOGO", "x")]).unwrap();
    }

    #[test]
    fn a_value_that_does_not_fit_names_its_variable() {
        for (name, value) in [
            ("ANCHORLOG_LIMITS_QUEUE", "many"),
            ("ANCHORLOG_LIMITS_QUEUE", "-1"),
            ("ANCHORLOG_HTTP_BODY_TIMEOUT", "10"),
            ("ANCHORLOG_LOG_LISTEN", "nowhere"),
            ("ANCHORLOG_TELEMETRY_METRICS", "yes"),
            ("ANCHORLOG_INDEX_ENGINE", "abacus"),
        ] {
            let error = with(&[(name, value)]).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
