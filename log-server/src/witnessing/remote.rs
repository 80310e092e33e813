//! A witness somewhere else, asked through the client's library.

use std::borrow::Cow;
use std::sync::Arc;

use anchorlog_client::witness::{Witness as Asked, WitnessClient, WitnessError};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tlog_witness::AddCheckpoint;

use super::witness::{Asking, Witness, WitnessFailure};

/// A witness at a URL.
#[derive(Debug)]
pub struct Remote {
    client: Arc<WitnessClient>,
    witness: Asked,
}

impl Remote {
    /// A witness that is asked through `client`.
    #[must_use]
    pub const fn new(client: Arc<WitnessClient>, witness: Asked) -> Self {
        Self { client, witness }
    }
}

impl Witness for Remote {
    fn key(&self) -> &VerifierKey {
        self.witness.key()
    }

    fn add_checkpoint(self: Arc<Self>, request: AddCheckpoint) -> Asking {
        Box::pin(async move {
            let answer = self.client.add_checkpoint(&self.witness, &request).await;
            answer.map_err(|error| failure(&error))
        })
    }
}

fn failure(error: &WitnessError) -> WitnessFailure {
    WitnessFailure {
        code: Cow::Owned(error.code().to_owned()),
        text: error.to_string(),
        temporary: error.is_temporary(),
        retry_after: error.retry_after(),
    }
}
