//! The options of `anchor stamp`, and what they say about who is asked and whom to believe.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anchorlog_proto::timestamp::{HashAlgorithm, Imprint, ObjectIdentifier};
use anchorlog_verifier::timestamp::{
    Allow, Certificate, CertificateError, TrustEntry, read_certificates,
};
use clap::ValueEnum;

use super::progress;
use super::report::Form;
use crate::file_digest::imprint_file;
use crate::retry::RetryPolicy;
use crate::stamp::{Authority, StampOptions, TsaUrl};
use crate::state::read_file;

/// Get RFC 3161 time stamps over a digest from one or several authorities.
///
/// Authorities are asked at once, with a fresh nonce each time, and again where that helps. Every token is
/// verified in full, under the roots of the authority that was asked, before it is kept, exactly as it was
/// received. The digest is all that leaves this machine; with plain http, whoever is on the way sees it too, but
/// can't forge a token.
///
/// Exit code 0 if tokens of enough operators hold; 1 if not, and a token was received that doesn't hold; 2 if
/// not, and there was none to judge. Tokens that hold are kept in any case.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor stamp --tsa http://timestamp.example/tsr --roots root.pem report.pdf --out report.tsr
  anchor stamp --tsa http://timestamp.example/tsr --roots root.pem --digest sha256:2cf24dba… --out root_core.tst
  anchor stamp --tsa alpha=http://a.example/tsr --roots alpha=alpha.pem \\
      --tsa beta=https://b.example/tsa --roots beta=beta.pem \\
      --tsa gamma=http://g.example/ --roots gamma=gamma.pem \\
      --quorum 2 --fetch-crls report.pdf --out report-stamps/

OPERATOR= says who runs an authority, and which roots, certificates and policies are meant for it. Without
it, the host's name is the operator; roots without an operator are for everybody who has none of their own.
A quorum counts operators: name two addresses of one operator alike.

An --out that ends in .tst gets the token alone, every other name the whole response. Revocation lists
are kept beside it as OUT.1.crl, OUT.2.crl and so on.")]
#[command(group(clap::ArgGroup::new("what").required(true).args(["digest", "file"])))]
pub(super) struct Args {
    #[command(flatten)]
    authorities: AuthorityArgs,
    /// The digest to stamp, as it is: sha256, sha384 or sha512, a colon, lower-case hexadecimal.
    #[arg(long, value_name = "ALG:HEX", conflicts_with = "hash")]
    digest: Option<Imprint>,
    /// The file to stamp the digest of.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// How to hash the file.
    #[arg(long, value_enum, default_value_t = Hash::Sha256)]
    hash: Hash,
    /// File for the time stamp; for several authorities a directory, where each is named after its
    /// operator, OPERATOR.tsr.
    #[arg(long, value_name = "TOKEN")]
    pub(super) out: PathBuf,
    /// Replace files that are there.
    #[arg(long)]
    pub(super) force: bool,
    /// How many operators are enough. Without it, all of them are needed; with it, the others are waited for 5
    /// more seconds once there are enough.
    #[arg(long, value_name = "K")]
    quorum: Option<usize>,
    /// Fetch the revocation lists of the token's certificates, verify with them, and keep them beside the
    /// token. Without them there is no token.
    #[arg(long)]
    fetch_crls: bool,
    /// Tolerate what is refused otherwise: SHA-1, or an extended key usage that isn't marked critical.
    #[arg(long, value_name = "WHAT,…", value_enum, value_delimiter = ',')]
    allow: Vec<Allowed>,
    /// Seconds that one attempt may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// How often an authority is asked again.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=99))]
    retries: u32,
    /// Seconds that everything may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    deadline: u64,
}

/// Who is asked for time stamps, and whom to believe.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct AuthorityArgs {
    /// An authority to ask; can be given several times.
    #[arg(long, value_name = "[OPERATOR=]URL")]
    tsa: Vec<Paired<TsaUrl>>,
    /// Root certificates its tokens have to chain to, PEM or DER; can be given several times.
    #[arg(long, value_name = "[OPERATOR=]FILE", requires = "tsa")]
    roots: Vec<Paired<PathBuf>>,
    /// Issuing certificates an authority leaves out of its tokens, PEM or DER. They are not trusted.
    #[arg(long, value_name = "[OPERATOR=]FILE", requires = "tsa")]
    certs: Vec<Paired<PathBuf>>,
    /// Ask for tokens under this policy, and take no others.
    #[arg(long, value_name = "[OPERATOR=]OID", requires = "tsa")]
    policy_oid: Vec<Paired<ObjectIdentifier>>,
}

/// The most authorities that are asked.
const MAX_AUTHORITIES: usize = 16;

/// The longest file of certificates that is read.
const MAX_CERTIFICATE_FILE_BYTES: u64 = 4 << 20;

/// How long the rest is waited for once there are enough.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl From<Hash> for HashAlgorithm {
    fn from(hash: Hash) -> Self {
        match hash {
            Hash::Sha256 => Self::Sha256,
            Hash::Sha384 => Self::Sha384,
            Hash::Sha512 => Self::Sha512,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Allowed {
    Sha1,
    NoncriticalEku,
}

/// A value that may be meant for one operator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Paired<T> {
    operator: Option<String>,
    value: T,
}

impl<T: FromStr> FromStr for Paired<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        // Addresses have `=` in their queries and files anywhere: only what can be a name is one.
        Ok(match text.split_once('=') {
            Some((operator, value)) if is_operator(operator) => {
                Self { operator: Some(operator.to_owned()), value: value.parse()? }
            }
            _ => Self { operator: None, value: text.parse()? },
        })
    }
}

/// A name that is safe as the name of a file, too.
fn is_operator(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    starts && name.len() <= 64 && name.chars().all(allowed)
}

/// What is wrong with the command line or its files.
#[derive(Debug, thiserror::Error)]
pub(super) enum StampInputError {
    #[error("{}: {source}", path.display())]
    Certificates { path: PathBuf, source: CertificateError },
    #[error("{}: can't be read: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("no --roots for {operator}; --roots {operator}=FILE gives it some")]
    NoRoots { operator: String },
    #[error("nobody to ask: give --tsa URL and --roots FILE")]
    NoTsa,
    #[error("a quorum of {quorum} can't be reached by {operators} distinct operators")]
    Quorum { quorum: usize, operators: usize },
    #[error("a SHA-1 digest is stamped only with --allow sha1")]
    Sha1,
    #[error("more than {MAX_AUTHORITIES} authorities")]
    TooMany,
    #[error("--tsa {url} stands there twice")]
    Twice { url: TsaUrl },
    #[error("--policy-oid: more than one for {operator}")]
    TwoPolicies { operator: String },
    #[error(
        "no --tsa is run by {operator}; for a file that begins with `{operator}=`, write ./{operator}=…"
    )]
    UnknownOperator { operator: String },
}

impl StampInputError {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Certificates { .. } | Self::File { .. } => "CLIENT.INPUT",
            _ => super::USAGE,
        }
    }
}

impl Args {
    /// What is to be stamped.
    pub(super) fn imprint(&self, form: Form) -> Result<Imprint, StampInputError> {
        if let Some(imprint) = &self.digest {
            let is_sha1 = imprint.algorithm() == HashAlgorithm::Sha1;
            if is_sha1 && !self.allow.contains(&Allowed::Sha1) {
                return Err(StampInputError::Sha1);
            }
            return Ok(imprint.clone());
        }
        // clap wants one of the two.
        let path = self.file.clone().unwrap_or_default();
        let bar = progress::bytes(path.metadata().map_or(0, |metadata| metadata.len()), form);
        let imprint = imprint_file(&path, self.hash.into(), |bytes| bar.inc(bytes));
        bar.finish_and_clear();
        imprint.map_err(|source| StampInputError::File { path, source })
    }

    /// The file that is stamped, if it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Who is asked: somebody.
    pub(super) fn authorities(&self) -> Result<Vec<Authority>, StampInputError> {
        let authorities = self.authorities.read()?;
        if authorities.is_empty() { Err(StampInputError::NoTsa) } else { Ok(authorities) }
    }

    /// How to ask, and what is enough.
    pub(super) fn options(&self) -> Result<StampOptions, StampInputError> {
        let operators = self.authorities.operators().len();
        let quorum = self.quorum.unwrap_or(operators);
        if quorum == 0 || quorum > operators {
            return Err(StampInputError::Quorum { quorum, operators });
        }
        let allow = Allow {
            sha1: self.allow.contains(&Allowed::Sha1),
            noncritical_eku: self.allow.contains(&Allowed::NoncriticalEku),
            ..Allow::default()
        };
        let defaults = StampOptions::default();
        Ok(StampOptions {
            quorum,
            timeout: Duration::from_secs(self.timeout),
            deadline: Duration::from_secs(self.deadline),
            grace: self.quorum.map(|_| GRACE),
            retry: RetryPolicy { attempts: self.retries.saturating_add(1), ..defaults.retry },
            fetch_crls: self.fetch_crls,
            allow,
            ..defaults
        })
    }
}

impl AuthorityArgs {
    /// Who is asked, with everything that is needed to ask and to believe them.
    pub(super) fn read(&self) -> Result<Vec<Authority>, StampInputError> {
        if self.tsa.len() > MAX_AUTHORITIES {
            return Err(StampInputError::TooMany);
        }
        let mut urls = BTreeSet::new();
        if let Some(tsa) = self.tsa.iter().find(|tsa| !urls.insert(&tsa.value)) {
            return Err(StampInputError::Twice { url: tsa.value.clone() });
        }
        let operators: BTreeSet<_> = self.tsa.iter().map(operator_of).collect();
        let roots = read_certificate_files(&self.roots, &operators)?;
        let certificates = read_certificate_files(&self.certs, &operators)?;
        let policies = self.policies(&operators)?;
        let authority = |tsa: &Paired<TsaUrl>| {
            let operator = operator_of(tsa);
            let roots = of_operator(&roots, &operator);
            if roots.is_empty() {
                return Err(StampInputError::NoRoots { operator });
            }
            let authority = Authority::new(tsa.value.clone(), TrustEntry::new(&*operator, roots))
                .with_certificates(of_operator(&certificates, &operator));
            let policy = policies.get(&Some(operator)).or_else(|| policies.get(&None));
            Ok(match policy {
                Some(policy) => authority.with_policy(*policy),
                None => authority,
            })
        };
        self.tsa.iter().map(authority).collect()
    }

    /// The operators that are asked.
    pub(super) fn operators(&self) -> BTreeSet<String> {
        self.tsa.iter().map(operator_of).collect()
    }

    fn policies(
        &self,
        operators: &BTreeSet<String>,
    ) -> Result<BTreeMap<Option<String>, ObjectIdentifier>, StampInputError> {
        let mut policies = BTreeMap::new();
        for policy in &self.policy_oid {
            require_known(policy, operators)?;
            if policies.insert(policy.operator.clone(), policy.value).is_some() {
                let operator = policy.operator.clone().unwrap_or_else(|| "everybody".to_owned());
                return Err(StampInputError::TwoPolicies { operator });
            }
        }
        Ok(policies)
    }
}

/// The operator that was named, else the host.
fn operator_of(tsa: &Paired<TsaUrl>) -> String {
    tsa.operator.clone().unwrap_or_else(|| tsa.value.host().to_owned())
}

fn require_known<T>(
    paired: &Paired<T>,
    operators: &BTreeSet<String>,
) -> Result<(), StampInputError> {
    match &paired.operator {
        Some(operator) if !operators.contains(operator) => {
            Err(StampInputError::UnknownOperator { operator: operator.clone() })
        }
        _ => Ok(()),
    }
}

/// Authorities to believe and not to ask: the roots of each operator, and those that nobody is named for.
pub(super) fn read_trust(files: &[Paired<PathBuf>]) -> Result<Vec<TrustEntry>, StampInputError> {
    let operators = files.iter().filter_map(|file| file.operator.clone()).collect();
    let entry = |(operator, roots): (Option<String>, Vec<Certificate>)| {
        TrustEntry::new(operator.unwrap_or_else(|| "unnamed".to_owned()), roots)
    };
    Ok(read_certificate_files(files, &operators)?.into_iter().map(entry).collect())
}

type ByOperator = BTreeMap<Option<String>, Vec<Certificate>>;

fn read_certificate_files(
    files: &[Paired<PathBuf>],
    operators: &BTreeSet<String>,
) -> Result<ByOperator, StampInputError> {
    let mut all = ByOperator::new();
    for file in files {
        require_known(file, operators)?;
        let path = file.value.clone();
        let bytes = match read_file(&path, MAX_CERTIFICATE_FILE_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                let source = io::Error::from(io::ErrorKind::NotFound);
                return Err(StampInputError::File { path, source });
            }
            Err(error) => return Err(StampInputError::File { path, source: error.source }),
        };
        let read = read_certificates(&bytes)
            .map_err(|source| StampInputError::Certificates { path, source })?;
        all.entry(file.operator.clone()).or_default().extend(read);
    }
    Ok(all)
}

/// The operator's own, else those that are for everybody.
fn of_operator(all: &ByOperator, operator: &str) -> Vec<Certificate> {
    let own = all.get(&Some(operator.to_owned()));
    own.or_else(|| all.get(&None)).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_is_an_operator() {
        let url = |text: &str| text.parse::<Paired<TsaUrl>>().unwrap();
        let paired = url("alpha=http://a.example/?b=c");
        assert_eq!(paired.operator.as_deref(), Some("alpha"));
        assert_eq!(paired.value.as_str(), "http://a.example/?b=c");
        let bare = url("http://a.example/?b=c");
        assert_eq!((bare.operator.as_deref(), operator_of(&bare)), (None, "a.example".to_owned()));
        let path = |text: &str| text.parse::<Paired<PathBuf>>().unwrap();
        assert_eq!(path("./a=b.pem").operator, None);
        assert_eq!(path("a=b.pem").value, Path::new("b.pem"));
        for name in ["", ".hidden", "a/b", "a b", &"x".repeat(65)] {
            assert!(!is_operator(name), "{name}");
        }
    }
}
