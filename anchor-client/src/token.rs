//! Bearer tokens: what a server gave its caller, in a file for its owner's eyes only.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

/// A bearer token (RFC 6750). It is wiped when dropped and never shown.
#[derive(Clone)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// Reads a token: one word on the file's only line. A file that others can read or write is refused.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let failed = |source| TokenError::Read { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(failed)?;
        // Of the open file, not of the name: the name could be switched in between.
        let metadata = file.metadata().map_err(failed)?;
        let mode = metadata.mode() & 0o7777;
        if metadata.is_file() && mode & 0o077 != 0 {
            return Err(TokenError::Exposed { path: path.to_path_buf(), mode });
        }
        let mut text = Zeroizing::new(String::with_capacity(MAX_BYTES));
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
        let form = || TokenError::Form { path: path.to_path_buf() };
        match file.take(limit).read_to_string(&mut text) {
            Ok(length) if length >= MAX_BYTES => return Err(form()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(form()),
            Err(error) => return Err(failed(error)),
        }
        let token = text.trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(form());
        }
        Ok(Self(Zeroizing::new(token.to_owned())))
    }

    /// The token itself, for the header.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Why a token file was refused. Its content is never quoted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// Others can read or write it.
    #[error(
        "{}: others can read or change this token (mode {mode:03o}); run `chmod 600` on it, and ask for \
         another one if it may have been seen",
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Not one word.
    #[error("{}: is not a token: one word on one line", path.display())]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// The operating system says no.
    #[error("{}: can't be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// A token takes 64 bytes where a log makes it; a server looks at 1 KiB with what stands before it.
const MAX_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_one_word_that_its_owner_alone_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let read = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Token::read(&path)
        };
        let token = read("secret\n", 0o600).unwrap();
        assert_eq!(token.secret(), "secret");
        assert!(!format!("{token:?}").contains("secret"));
        assert!(matches!(read("secret\n", 0o640), Err(TokenError::Exposed { .. })));
        for wrong in ["", "\n", "two words", "two\nlines", "é", &"a".repeat(1024)] {
            assert!(matches!(read(wrong, 0o600), Err(TokenError::Form { .. })), "{wrong}");
        }
        let missing = Token::read(&folder.path().join("none"));
        assert!(matches!(missing, Err(TokenError::Read { .. })));
    }
}
