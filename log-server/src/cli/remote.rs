//! Somebody's log over HTTP, as a source of tiles for fsck.

use std::io::ErrorKind;
use std::time::Duration;

use anchorlog_client::address::LogUrl;
use anchorlog_client::log_client::{CallError, LogClient};
use anchorlog_client::retry::RetryPolicy;
use anchorlog_proto::tile::{TilePath, push_entry};
use tokio::runtime::{Builder, Runtime};

use super::error::CliError;
use crate::fsck::{SourceError, TileSource};

/// A log at a URL. Remembers the last failure, which says more than its kind.
pub(super) struct Remote {
    client: LogClient,
    runtime: Runtime,
    failure: Option<CallError>,
}

impl Remote {
    pub(super) fn new(url: LogUrl) -> Result<Self, CliError> {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)?;
        let client = LogClient::new(url, TIMEOUT, RetryPolicy::default())?;
        Ok(Self { client, runtime, failure: None })
    }

    /// The last failure that was not a missing file.
    pub(super) fn into_failure(self) -> Option<CallError> {
        self.failure
    }

    fn fetch(&self, path: &str) -> Result<Vec<u8>, CallError> {
        if path == "checkpoint" {
            let checkpoint = self.runtime.block_on(self.client.checkpoint())?;
            return Ok(checkpoint.to_bytes());
        }
        match path.parse() {
            Ok(TilePath::Tile(id)) => {
                let hashes = self.runtime.block_on(self.client.tile(id))?;
                Ok(hashes.iter().flat_map(|hash| *hash.as_bytes()).collect())
            }
            Ok(TilePath::Entries(id)) => {
                let mut bundle = Vec::new();
                for entry in self.runtime.block_on(self.client.entries(id))? {
                    // It came out of a bundle, so it fits into one.
                    let _ = push_entry(&mut bundle, &entry);
                }
                Ok(bundle)
            }
            // fsck asks for nothing else.
            Err(_) => Ok(Vec::new()),
        }
    }
}

impl TileSource for Remote {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, SourceError> {
        self.fetch(path).map_err(|error| {
            let kind = match error {
                _ if error.is_not_found() => ErrorKind::NotFound,
                CallError::Transport(_) => ErrorKind::ConnectionAborted,
                _ => ErrorKind::InvalidData,
            };
            if kind == ErrorKind::ConnectionAborted {
                self.failure = Some(error);
            }
            SourceError { kind }
        })
    }
}

/// How long one try of one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);
