//! `token`: making bearer tokens.

use anchorlog_proto::Digest;

use super::error::CliError;
use super::report::{Answer, Report};
use crate::bearer;
use crate::config::TokenConfig;

/// Make a bearer token, for callers that send what carries no signature.
///
/// The token is shown once and kept nowhere: give it to the caller. The server's configuration gets its
/// SHA-256, and takes the token from its next start on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  log-server token --subject desk.example
  log-server token --subject desk --issuer accounts.example --json")]
pub(super) struct TokenArgs {
    /// Whom the token stands for.
    #[arg(long, value_name = "NAME")]
    subject: String,
    /// Who answers for that name; by default the log's origin.
    #[arg(long, value_name = "ISSUER")]
    issuer: Option<String>,
}

pub(super) fn run(args: &TokenArgs) -> Result<Answer, CliError> {
    let token = bearer::generate().map_err(|_| CliError::Random)?;
    let sha256 = Digest::of(token.as_bytes()).to_string();
    let (subject, issuer) = (args.subject.clone(), args.issuer.clone().unwrap_or_default());
    let configured =
        TokenConfig { subject, issuer, sha256: sha256.clone(), ..TokenConfig::default() };
    let lines = configured.to_toml()?;
    let text = format!(
        "token, shown this once: {}\n\nfor the configuration of the log:\n\n{lines}",
        *token
    );
    let mut report = Report::done("token", text.trim_end().to_owned())
        .with("config", lines)
        .with("sha256", sha256)
        .with("subject", args.subject.clone())
        .with("token", token.to_string());
    if let Some(issuer) = &args.issuer {
        report = report.with("issuer", issuer.clone());
    }
    Ok(Answer::Report(report))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;
    use crate::config::Config;

    #[test]
    fn the_lines_are_a_configuration() {
        for issuer in [None, Some("accounts \"A\".example".to_owned())] {
            let subject = "desk \"1\"".to_owned();
            let configured = TokenConfig {
                subject: subject.clone(),
                issuer: issuer.clone().unwrap_or_default(),
                sha256: Digest::of(b"token").to_string(),
                ..TokenConfig::default()
            };
            let config = Config::from_toml(&configured.to_toml().unwrap()).unwrap();
            config.validate().unwrap();
            assert_eq!(config.tokens, [configured]);
            run(&TokenArgs { subject, issuer }).unwrap();
        }
    }

    #[test]
    fn a_name_that_no_configuration_takes_is_refused() {
        for subject in ["", "a\nb", &"a".repeat(257)] {
            let args = TokenArgs { subject: subject.to_owned(), issuer: None };
            assert!(matches!(run(&args), Err(CliError::Config(_))), "{subject:?}");
        }
    }
}
