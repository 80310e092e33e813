//! Roots of time-stamping authorities, and what else a token is judged with.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anchorlog_proto::json::parse_utc_seconds;
use anchorlog_proto::timestamp::GenTime;

use super::input::{Inputs, MAX_EVIDENCE_BYTES};
use crate::codes::input::CERTIFICATES;
use crate::finding::Finding;
use crate::timestamp::revocation::{MAX_CRL_BYTES, OcspResponse, RevocationMode, read_crls};
use crate::timestamp::{Allow, Certificate, Rules, Supplied, TrustEntry, read_certificates};

/// A file with roots, and whose they are: `OPERATOR=FILE`, or `FILE` alone.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    operator: Option<String>,
    path: PathBuf,
}

impl FromStr for Roots {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some(("", _) | (_, "")) => Err("expected OPERATOR=FILE, or FILE"),
            // A path that contains `=` after a separator is a path.
            Some((operator, path)) if !operator.contains(['/', '\\']) => {
                Ok(Self { operator: Some(operator.to_owned()), path: path.into() })
            }
            _ => Ok(Self { operator: None, path: text.into() }),
        }
    }
}

/// Reads the roots. Files with one operator make one trust entry; files without make one together.
pub(super) fn load_trust(roots: &[Roots], inputs: &mut Inputs) -> Result<Vec<TrustEntry>, Finding> {
    let mut entries: Vec<(&str, Vec<Certificate>)> = Vec::new();
    for Roots { operator, path } in roots {
        let operator = operator.as_deref().unwrap_or(UNNAMED);
        let certificates = load_certificates(ROOTS, path, inputs)?;
        match entries.iter_mut().find(|(name, _)| *name == operator) {
            Some((_, all)) => all.extend(certificates),
            None => entries.push((operator, certificates)),
        }
    }
    Ok(entries.into_iter().map(|(operator, roots)| TrustEntry::new(operator, roots)).collect())
}

/// What else a token is judged with.
#[derive(Debug, clap::Args)]
pub(super) struct EvidenceArgs {
    /// Certificates that the token leaves out, PEM or DER; they are not trusted.
    #[arg(long, value_name = "PEM", num_args = 1..)]
    certs: Vec<PathBuf>,
    /// Certificate revocation lists, PEM or DER.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    crl: Vec<PathBuf>,
    /// OCSP responses, DER.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    ocsp: Vec<PathBuf>,
    /// Time of evaluation, as 2026-11-30T12:00:00Z: a token may not lie ahead of it.
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<GenTime>,
    /// Accept what is refused by default: sha1, ber, noncritical-eku.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = ["sha1", "ber", "noncritical-eku"])]
    allow: Vec<String>,
}

impl EvidenceArgs {
    /// Reads the files.
    pub(super) fn load(&self, inputs: &mut Inputs) -> Result<Supplied, Finding> {
        let mut supplied = Supplied::default();
        for path in &self.certs {
            supplied.certificates.extend(load_certificates(CERTS, path, inputs)?);
        }
        for path in &self.crl {
            let limit = u64::try_from(MAX_CRL_BYTES).unwrap_or(u64::MAX);
            let bytes = inputs.read(CRL, path, limit)?;
            let crls = read_crls(&bytes);
            supplied.revocation.crls.extend(crls.map_err(|error| refused(CRL, path, &error))?);
        }
        for path in &self.ocsp {
            let bytes = inputs.read(OCSP, path, MAX_EVIDENCE_BYTES)?;
            let response = OcspResponse::parse(&bytes);
            supplied.revocation.ocsp.push(response.map_err(|error| refused(OCSP, path, &error))?);
        }
        Ok(supplied)
    }

    /// The rules that these arguments make: revocation data counts where there is any.
    pub(super) fn rules(&self) -> Rules {
        let allows = |what: &str| self.allow.iter().any(|allowed| allowed == what);
        let allow = Allow {
            sha1: allows("sha1"),
            ber: allows("ber"),
            noncritical_eku: allows("noncritical-eku"),
        };
        let mut rules = Rules { at: self.at, allow, ..Rules::default() };
        if !self.crl.is_empty() || !self.ocsp.is_empty() {
            rules.revocation.mode = RevocationMode::Supplied;
        }
        rules
    }
}

fn load_certificates(
    role: &'static str,
    path: &Path,
    inputs: &mut Inputs,
) -> Result<Vec<Certificate>, Finding> {
    let bytes = inputs.read(role, path, MAX_EVIDENCE_BYTES)?;
    read_certificates(&bytes).map_err(|error| refused(role, path, &error))
}

fn refused(role: &'static str, path: &Path, error: &impl core::fmt::Display) -> Finding {
    Finding::new(CERTIFICATES, format!("{}: {error}", path.display())).in_input(role)
}

fn time(text: &str) -> Result<GenTime, &'static str> {
    let seconds = parse_utc_seconds(text).ok_or("expected UTC as 2026-11-30T12:00:00Z")?;
    Ok(GenTime::from_unix(seconds))
}

/// The operator of roots that nobody gave a name.
const UNNAMED: &str = "unnamed";

const ROOTS: &str = "roots";
const CERTS: &str = "certificates";
const CRL: &str = "revocation list";
const OCSP: &str = "OCSP response";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn roots_have_an_operator_or_none() {
        let read = |text: &str| text.parse::<Roots>().map(|roots| (roots.operator, roots.path));
        assert_eq!(read("a=b.pem").unwrap(), (Some("a".to_owned()), "b.pem".into()));
        assert_eq!(read("a=b=c.pem").unwrap(), (Some("a".to_owned()), "b=c.pem".into()));
        assert_eq!(read("b.pem").unwrap(), (None, "b.pem".into()));
        assert_eq!(read("./a=b.pem").unwrap(), (None, "./a=b.pem".into()));
        assert!(read("=b.pem").is_err() && read("a=").is_err());
    }
}
