//! An authority somewhere else, asked through the client's library.

use std::borrow::Cow;
use std::sync::Arc;

use anchorlog_client::stamp::{Authority as Asked, StampError, Stamper};
use anchorlog_proto::timestamp::Imprint;

use super::authority::{Authority, StampFailure, Stamped, Stamping};

/// An authority at a URL. Its tokens are verified by the client under its own trust entry.
#[derive(Debug)]
pub struct Remote {
    stamper: Stamper,
    authority: Asked,
}

impl Remote {
    /// An authority that is asked through `stamper`.
    #[must_use]
    pub const fn new(stamper: Stamper, authority: Asked) -> Self {
        Self { stamper, authority }
    }
}

impl Authority for Remote {
    fn operator(&self) -> &str {
        self.authority.operator()
    }

    fn stamp(self: Arc<Self>, imprint: Imprint) -> Stamping {
        Box::pin(async move {
            let asked = std::slice::from_ref(&self.authority);
            let report = self.stamper.stamp(&imprint, asked).await;
            match report.outcomes.into_iter().next().map(|outcome| outcome.result) {
                Some(Ok(stamp)) => Ok(Stamped {
                    token: stamp.token.bytes().to_vec(),
                    gen_time: stamp.token.gen_time(),
                    expires: stamp.token.expires().unix_seconds(),
                    received: stamp.received_at,
                    round_trip: stamp.round_trip,
                }),
                Some(Err(error)) => Err(failure(&error)),
                None => Err(failure(&StampError::Internal)),
            }
        })
    }
}

fn failure(error: &StampError) -> StampFailure {
    StampFailure { code: Cow::Owned(error.code().to_owned()), text: error.to_string() }
}
