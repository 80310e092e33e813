//! `[[tokens]]`: who calls with a bearer token.

use serde::{Deserialize, Serialize};

use super::{ConfigError, MAX_RATE, bounded};
use crate::bearer::{MAX_NAME_BYTES, MAX_TOKENS};

/// `[[tokens]]`: one bearer token.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TokenConfig {
    /// Whom it stands for.
    pub subject: String,
    /// Who answers for that name; empty means the log's origin.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub issuer: String,
    /// `sha256:` and the SHA-256 of the token, as `log-server token` prints it.
    pub sha256: String,
    /// Statements per second; 0 means no limit.
    #[serde(default)]
    pub rate: u32,
    /// Statements at once; 0 means the default burst.
    #[serde(default)]
    pub burst: u32,
}

impl TokenConfig {
    /// Writes the block as it stands in a configuration file, checked.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        validate(std::slice::from_ref(self))?;
        let block = std::collections::BTreeMap::from([("tokens", [self])]);
        // Strings and numbers: TOML can always say that.
        Ok(toml::to_string(&block).unwrap_or_default())
    }
}

/// Checks every value against its bounds.
pub(super) fn validate(tokens: &[TokenConfig]) -> Result<(), ConfigError> {
    bounded("tokens (length)", &tokens.len(), &0, &MAX_TOKENS)?;
    for token in tokens {
        bounded("tokens.subject (bytes)", &token.subject.len(), &1, &MAX_NAME_BYTES)?;
        bounded("tokens.issuer (bytes)", &token.issuer.len(), &0, &MAX_NAME_BYTES)?;
        bounded("tokens.rate", &token.rate, &0, &MAX_RATE)?;
        bounded("tokens.burst", &token.burst, &0, &MAX_RATE)?;
        if [&token.subject, &token.issuer].iter().any(|name| name.chars().any(char::is_control)) {
            return Err(ConfigError::TokenName { subject: token.subject.clone() });
        }
    }
    Ok(())
}
