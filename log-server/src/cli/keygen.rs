//! `keygen`: making keys, and carrying them to and from other makes of logs.

use std::path::PathBuf;

use anchorlog_proto::note::KeyName;

use super::Common;
use super::error::CliError;
use super::report::{Answer, Report};
use crate::keys::{LogKey, read_note_key, write_secret};

/// Make a log's key, or convert one.
///
/// The key file is PKCS#8 PEM, readable by its owner only; an existing file is never overwritten. The name of
/// the key is the log's origin.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  log-server keygen --origin log.example/2026 --out key.pem
  log-server keygen --import-note-key old.skey --out key.pem
  log-server keygen --origin log.example/2026 --key key.pem --export-note-key --out log.skey")]
pub(super) struct KeygenArgs {
    /// The file to write.
    #[arg(long, value_name = "FILE", required_unless_present = "export_note_key")]
    out: Option<PathBuf>,
    /// Don't make a key but take it from this file, in the form of Go's note package (PRIVATE+KEY+…).
    #[arg(long, value_name = "FILE", conflicts_with = "export_note_key")]
    import_note_key: Option<PathBuf>,
    /// Don't make a key but write an existing one in the form of Go's note package, to --out or to
    /// standard output.
    #[arg(long)]
    export_note_key: bool,
    /// The key file to export; by default the one of the configuration.
    #[arg(long, value_name = "FILE", requires = "export_note_key")]
    key: Option<PathBuf>,
}

pub(super) fn run(common: &Common, args: &KeygenArgs) -> Result<Answer, CliError> {
    if args.export_note_key {
        return export(common, args);
    }
    let (name, key) = match &args.import_note_key {
        None => (name(&common.config(None)?.log.origin)?, LogKey::generate()?),
        Some(file) => {
            let (actual, key) = read_note_key(file)?;
            if let Some(expected) = common.origin.as_ref().filter(|name| *name != actual.as_str()) {
                let (file, expected) = (file.clone(), expected.clone());
                return Err(CliError::OtherName { file, actual, expected });
            }
            (actual, key)
        }
    };
    // clap has made sure that it is there.
    let out = args.out.clone().unwrap_or_default();
    key.write_new(&out)?;
    let vkey = key.verifier_key(&name).to_string();
    let text = format!("wrote {}\nverifier key (vkey): {vkey}", out.display());
    let report = Report::done("keygen", text)
        .with("file", out.display().to_string())
        .with("origin", name.as_str().to_owned())
        .with("vkey", vkey);
    Ok(Answer::Report(report))
}

fn export(common: &Common, args: &KeygenArgs) -> Result<Answer, CliError> {
    let config = common.config(None)?;
    let name = name(&config.log.origin)?;
    let key = LogKey::load(args.key.as_ref().unwrap_or(&config.log.key_path()))?;
    let mut text = key.to_note_key(&name);
    text.push('\n');
    let Some(out) = &args.out else { return Ok(Answer::Document(text.as_bytes().to_vec())) };
    write_secret(out, &text)?;
    let report = Report::done("keygen", format!("wrote {}", out.display()))
        .with("file", out.display().to_string())
        .with("origin", name.as_str().to_owned())
        .with("vkey", key.verifier_key(&name).to_string());
    Ok(Answer::Report(report))
}

/// The origin as the name of a key.
pub(super) fn name(origin: &str) -> Result<KeyName, CliError> {
    KeyName::new(origin).map_err(|source| CliError::Origin { origin: origin.to_owned(), source })
}
