//! The files of a log: bytes by path, from a directory or over HTTP, bounded and with retries. Nothing is
//! verified here.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::tile::{MAX_ENTRY_BYTES, TILE_WIDTH};

use super::location::TileLocation;
use crate::retry::RetryPolicy;
use crate::transport::{Request, Transport, TransportError};

/// The longest bundle: 256 entries of 65,535 bytes with their lengths.
pub const MAX_BUNDLE_BYTES: usize = 256 * (MAX_ENTRY_BYTES + 2);

/// The longest checkpoint that is read, with all its signature lines.
pub const MAX_CHECKPOINT_BYTES: usize = 256 * 1024;

/// The bytes of a full tile.
pub(super) const MAX_TILE_BYTES: usize = 32 * 256;
const _: () = assert!(TILE_WIDTH == 256);

/// The bytes of a file, once they are there; `None` if there is no such file.
pub type FileFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<Vec<u8>>, FetchError>> + Send + 'a>>;

/// Where the files of a log come from.
pub trait TileFiles: fmt::Debug + Send + Sync {
    /// The bytes at `path` below the log's prefix, at most `limit`; `None` if there is no such file.
    fn get<'a>(&'a self, path: &'a str, limit: usize) -> FileFuture<'a>;

    /// How many files it pays to ask for at the same time.
    fn parallel(&self) -> usize {
        1
    }
}

/// Why a file can't be had although it may be there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Over HTTP.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// From a directory.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
}

impl FetchError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Transport(error) => error.code(),
            Self::File { .. } => "CLIENT.FILE",
        }
    }
}

/// Opens a location.
pub(crate) fn open(
    location: &TileLocation,
    timeout: Duration,
    retry: RetryPolicy,
    parallel: usize,
) -> Result<Arc<dyn TileFiles>, FetchError> {
    Ok(match location {
        TileLocation::Directory(directory) => {
            Arc::new(DirectoryFiles { directory: directory.clone() })
        }
        TileLocation::Url(url) => {
            let transport = Transport::new(url.clone(), timeout, retry)?;
            Arc::new(HttpFiles { transport, parallel })
        }
    })
}

#[derive(Debug)]
struct DirectoryFiles {
    directory: PathBuf,
}

impl DirectoryFiles {
    fn read(&self, path: &str, limit: usize) -> Result<Option<Vec<u8>>, FetchError> {
        let path = self.directory.join(path);
        match read_bounded(&path, limit) {
            Ok(bytes) => Ok(Some(bytes)),
            // A prefix of the path that is a file is as much as nothing there.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(source) => Err(FetchError::File { path, source }),
        }
    }
}

fn read_bounded(path: &std::path::Path, limit: usize) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    // One byte more than the file has, so that one call reads it and sees its end.
    let mut bytes = Vec::with_capacity(length.min(limit).saturating_add(1));
    file.take(bound).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "longer than any right one"));
    }
    Ok(bytes)
}

impl TileFiles for DirectoryFiles {
    /// Reads at once: a file of a few thousand bytes is there before another thread would be awake.
    fn get<'a>(&'a self, path: &'a str, limit: usize) -> FileFuture<'a> {
        Box::pin(std::future::ready(self.read(path, limit)))
    }
}

#[derive(Debug)]
struct HttpFiles {
    transport: Transport,
    parallel: usize,
}

impl TileFiles for HttpFiles {
    fn get<'a>(&'a self, path: &'a str, limit: usize) -> FileFuture<'a> {
        Box::pin(async move {
            let request = Request::get(format!("/{path}"), "*/*", limit);
            match self.transport.send(&request).await {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.is_not_found() => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn parallel(&self) -> usize {
        self.parallel
    }
}
