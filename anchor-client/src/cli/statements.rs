//! From the command line and standard input to statements. Everything is read and checked before anything is
//! written or sent, so that bad input changes nothing.

use std::fs;
use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{
    LogEntry, MAX_INPUT_BYTES, Statement, StatementError, StatementKind, Trail,
};

use super::progress;
use super::report::Form;
use crate::file_digest::digest_file;
use crate::keys::{KeyFileError, read_signing_key};

/// Where statements come from.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct StatementArgs {
    #[arg(long, value_name = "KIND", help = kinds())]
    kind: Option<StatementKind>,
    /// A digest to log; can be given several times.
    #[arg(long, value_name = "sha256:…")]
    digest: Vec<Digest>,
    /// Files to log the SHA-256 of. A single `-` reads statements from standard input instead, one JSON
    /// document a line, plain or signed.
    #[arg(value_name = "FILE", required_unless_present = "digest")]
    files: Vec<PathBuf>,
    /// What the statements belong to.
    #[arg(long, value_name = "TRAIL")]
    trail: Option<Trail>,
    /// Position within the trail; of the first statement, if there are several.
    #[arg(long, value_name = "N", requires = "trail")]
    sequence: Option<u64>,
    /// Sign the statements with this Ed25519 key (PKCS#8 PEM, readable by its owner alone).
    #[arg(long, value_name = "KEYFILE")]
    key: Option<PathBuf>,
}

/// The most statements of one run.
pub(super) const MAX_STATEMENTS: usize = 100_000;

/// A statement and where it came from.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) entry: LogEntry,
    /// The file that was hashed, if one was.
    pub(super) file: Option<PathBuf>,
}

/// What is wrong with the input.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    #[error("{}: can't be read: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Key(#[from] KeyFileError),
    #[error("pass --kind KIND to say what the digests are digests of")]
    KindMissing,
    #[error("standard input, line {line}: {source}")]
    Line { line: usize, source: StatementError },
    #[error("standard input, line {line}: longer than {MAX_INPUT_BYTES} bytes")]
    LongLine { line: usize },
    #[error("standard input holds no statement; one JSON document a line is expected")]
    NoLines,
    #[error(
        "`-` reads whole statements: it can't stand beside files, --digest, --kind, --trail or --sequence"
    )]
    NotAlone,
    #[error("{place}: {source}")]
    Statement { place: String, source: StatementError },
    #[error("standard input, line {line}: can't be read: {source}")]
    Stdin { line: usize, source: io::Error },
    #[error("more than {MAX_STATEMENTS} statements; split them over several runs")]
    TooMany,
}

impl InputError {
    pub(super) fn code(&self) -> &str {
        match self {
            Self::Key(error) => error.code(),
            Self::KindMissing | Self::NotAlone => super::USAGE,
            Self::Line { source, .. } | Self::Statement { source, .. } => source.code(),
            _ => "CLIENT.INPUT",
        }
    }
}

impl StatementArgs {
    /// Reads every statement: digests first, then files, in the order given.
    pub(super) fn read(&self, stdin: impl BufRead, form: Form) -> Result<Vec<Given>, InputError> {
        let key = self.key.as_deref().map(read_signing_key).transpose()?;
        let dash = Path::new("-");
        if !self.files.iter().any(|file| file == dash) {
            return self.read_digests(key.as_ref(), form);
        }
        let alone = self.files.len() == 1
            && self.digest.is_empty()
            && self.kind.is_none()
            && self.trail.is_none();
        if !alone {
            return Err(InputError::NotAlone);
        }
        let entries = read_lines(stdin, key.as_ref())?;
        Ok(entries.into_iter().map(|entry| Given { entry, file: None }).collect())
    }

    fn read_digests(&self, key: Option<&SigningKey>, form: Form) -> Result<Vec<Given>, InputError> {
        let kind = self.kind.ok_or(InputError::KindMissing)?;
        if self.digest.len() + self.files.len() > MAX_STATEMENTS {
            return Err(InputError::TooMany);
        }
        let hashed = hash_files(&self.files, form)?;
        let all = self.digest.iter().map(|digest| (*digest, None)).chain(
            self.files.iter().zip(hashed).map(|(path, digest)| (digest, Some(path.clone()))),
        );
        let mut given = Vec::new();
        for (position, (digest, file)) in (0_u64..).zip(all) {
            let statement = Statement {
                sequence: self.sequence.map(|first| first.saturating_add(position)),
                trail: self.trail.clone(),
                ..Statement::new(kind, digest)
            };
            let entry = enter(statement, key).map_err(|source| InputError::Statement {
                place: file.as_ref().map_or(digest.to_string(), |path| path.display().to_string()),
                source,
            })?;
            given.push(Given { entry, file });
        }
        Ok(given)
    }
}

/// The help of `--kind`.
fn kinds() -> String {
    let kinds: Vec<_> = StatementKind::ALL.iter().map(|kind| kind.as_str()).collect();
    format!("What the digest is a digest of: {}", kinds.join(", "))
}

/// The statement as an entry, signed if there is a key.
fn enter(statement: Statement, key: Option<&SigningKey>) -> Result<LogEntry, StatementError> {
    match key {
        Some(key) => LogEntry::signed(statement, key),
        None => LogEntry::unsigned(statement),
    }
}

fn hash_files(files: &[PathBuf], form: Form) -> Result<Vec<Digest>, InputError> {
    // Files that aren't there say so when they are hashed; here only the bar's length is wanted.
    let total = files.iter().filter_map(|path| fs::metadata(path).ok()).map(|m| m.len()).sum();
    let bar = progress::bytes(total, form);
    let hash = |path: &PathBuf| {
        digest_file(path, |bytes| bar.inc(bytes))
            .map_err(|source| InputError::File { path: path.clone(), source })
    };
    let digests = files.iter().map(hash).collect();
    bar.finish_and_clear();
    digests
}

/// Reads one statement a line; empty lines are passed over. Plain ones are signed if there is a key, signed
/// ones stay as they are.
fn read_lines(
    mut input: impl BufRead,
    key: Option<&SigningKey>,
) -> Result<Vec<LogEntry>, InputError> {
    let mut entries = Vec::new();
    let mut bytes = Vec::new();
    // One byte more than allowed, and the newline.
    let limit = u64::try_from(MAX_INPUT_BYTES).unwrap_or(u64::MAX).saturating_add(2);
    for line in 1.. {
        bytes.clear();
        let read = input.by_ref().take(limit).read_until(b'\n', &mut bytes);
        if read.map_err(|source| InputError::Stdin { line, source })? == 0 {
            break;
        }
        let text = bytes.trim_ascii();
        if text.len() > MAX_INPUT_BYTES {
            return Err(InputError::LongLine { line });
        }
        if text.is_empty() {
            continue;
        }
        if entries.len() == MAX_STATEMENTS {
            return Err(InputError::TooMany);
        }
        let entry = LogEntry::read(text).and_then(|entry| match key {
            Some(key) if entry.signer().is_none() => {
                LogEntry::signed(entry.statement().clone(), key)
            }
            _ => Ok(entry),
        });
        entries.push(entry.map_err(|source| InputError::Line { line, source })?);
    }
    if entries.is_empty() { Err(InputError::NoLines) } else { Ok(entries) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::durable;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        statements: StatementArgs,
    }

    fn read(arguments: &[&str], stdin: &[u8]) -> Result<Vec<Given>, InputError> {
        let line = Line::parse_from([&["test"], arguments].concat());
        line.statements.read(stdin, Form::Json)
    }

    fn digest(bytes: &[u8]) -> String {
        Digest::of(bytes).to_string()
    }

    #[test]
    fn digests_and_files_become_statements_in_order() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        durable::write_replace(&path, b"content").unwrap();
        let file = path.to_str().unwrap();
        let given = read(
            &[
                "--kind",
                "chain_head",
                "--trail",
                "run-1",
                "--sequence",
                "5",
                "--digest",
                &digest(b"a"),
                file,
            ],
            b"",
        )
        .unwrap();
        let found: Vec<_> = given
            .iter()
            .map(|given| {
                let statement = given.entry.statement();
                (statement.digest, statement.sequence, given.file.clone())
            })
            .collect();
        assert_eq!(
            found,
            [(Digest::of(b"a"), Some(5), None), (Digest::of(b"content"), Some(6), Some(path))]
        );
        assert!(given.iter().all(|given| given.entry.statement().kind == StatementKind::ChainHead));
    }

    #[test]
    fn lines_become_statements_and_bad_ones_are_named() {
        let line = |n: u8| {
            let digest = digest(&[n]);
            format!(r#"{{"schema":"anchorlog.statement/1", "kind":"digest","digest":"{digest}"}}"#)
        };
        let input = format!("{}\n\n  {}  \r\n{}", line(1), line(2), line(3));
        assert_eq!(read(&["-"], input.as_bytes()).unwrap().len(), 3);

        let bad = format!("{}\n\n{{\"schema\":1}}\n", line(1));
        let error = read(&["-"], bad.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("standard input, line 3: "), "{error}");
        assert!(error.code().starts_with("J."), "{}", error.code());

        let long = format!("{}\n{}\n", line(1), "x".repeat(MAX_INPUT_BYTES + 1));
        let error = read(&["-"], long.as_bytes()).unwrap_err();
        assert!(matches!(error, InputError::LongLine { line: 2 }), "{error}");
        assert!(matches!(read(&["-"], b" \n\n"), Err(InputError::NoLines)));
    }

    #[test]
    fn keys_sign_what_is_not_signed_yet() {
        let root = tempfile::tempdir().unwrap();
        let key = root.path().join("key.pem");
        let pem = "-----BEGIN PRIVATE KEY-----\n\
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
            -----END PRIVATE KEY-----\n";
        durable::write_new(&key, pem.as_bytes(), 0o600).unwrap();
        let signing_key = read_signing_key(&key).unwrap();
        let key = key.to_str().unwrap();
        let given =
            read(&["--kind", "digest", "--digest", &digest(b"a"), "--key", key], b"").unwrap();
        let [Given { entry, .. }] = given.as_slice() else { panic!("one statement") };
        assert_eq!(entry.signer(), Some(signing_key.id()));
        entry.verify_signature(&signing_key.public_key()).unwrap();

        // Read back from standard input, with the same key or another, it stays what it is.
        let again = read(&["-", "--key", key], entry.leaf_bytes()).unwrap();
        assert_eq!(&again[0].entry, entry);
    }

    #[test]
    fn contradictory_arguments_are_refused() {
        let digest = digest(b"a");
        assert!(matches!(read(&["--digest", &digest], b""), Err(InputError::KindMissing)));
        for arguments in [
            &["-", "--kind", "digest"][..],
            &["-", "file"],
            &["-", "--trail", "t"],
            &["-", "--digest", &digest],
        ] {
            assert!(matches!(read(arguments, b""), Err(InputError::NotAlone)), "{arguments:?}");
        }
        let missing = read(&["--kind", "digest", "/no/such/file"], b"").unwrap_err();
        assert!(missing.to_string().starts_with("/no/such/file: "), "{missing}");
    }
}
