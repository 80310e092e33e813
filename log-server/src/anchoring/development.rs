//! The development authority inside the server, asked without any network and verified like a foreign one.

use std::borrow::Cow;
use std::sync::Arc;

use anchorlog_proto::timestamp::{GenTime, Imprint, Nonce, TimestampRequest};
use anchorlog_verifier::timestamp::{
    CertificateError, Rules, Supplied, TrustEntry, read_certificates, verify_response,
};

use super::authority::{Authority, StampFailure, Stamped, Stamping};
use crate::clock::unix_ms;
use crate::config::DEV_OPERATOR;
use crate::dev_tsa::DevTsa;

/// The development authority, as one of those who stamp.
#[derive(Debug)]
pub struct Development {
    tsa: Arc<DevTsa>,
    trust: TrustEntry,
}

impl Development {
    /// An authority that is trusted by the root it made for itself, and therefore for development only.
    pub fn new(tsa: Arc<DevTsa>) -> Result<Self, CertificateError> {
        let trust = TrustEntry::new(DEV_OPERATOR, read_certificates(tsa.root_der())?);
        Ok(Self { tsa, trust })
    }

    fn answer(&self, imprint: Imprint) -> Result<Stamped, StampFailure> {
        let mut octets = [0; 16];
        getrandom::fill(&mut octets).map_err(|error| StampFailure {
            code: "CLIENT.SETUP".into(),
            text: error.to_string(),
        })?;
        let request = TimestampRequest::new(imprint, Nonce::from_random(octets));
        let asked = self.tsa.now();
        let response = self.tsa.respond(&request.to_der(), asked);
        let received = self.tsa.now();
        let rules = Rules::at(GenTime::from_unix(unix_ms(received).div_euclid(1000)));
        let trust = std::slice::from_ref(&self.trust);
        let verified = verify_response(&response, &request, trust, &Supplied::default(), &rules);
        let verified = verified.map_err(|failure| {
            let code = Cow::Owned(failure.code().as_str().to_owned());
            StampFailure { code, text: failure.to_string() }
        })?;
        Ok(Stamped {
            token: verified.bytes().to_vec(),
            gen_time: verified.gen_time(),
            expires: verified.expires().unix_seconds(),
            received,
            round_trip: received.duration_since(asked).unwrap_or_default(),
        })
    }
}

impl Authority for Development {
    fn operator(&self) -> &str {
        DEV_OPERATOR
    }

    fn stamp(self: Arc<Self>, imprint: Imprint) -> Stamping {
        Box::pin(async move {
            let answered = tokio::task::spawn_blocking(move || self.answer(imprint)).await;
            let panicked = |error: tokio::task::JoinError| StampFailure {
                code: super::INTERNAL.into(),
                text: error.to_string(),
            };
            answered.map_err(panicked)?
        })
    }
}
