//! One authority: asked, judged, asked again.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anchorlog_proto::timestamp::{
    GenTime, Imprint, MAX_RESPONSE_BYTES, Nonce, TimestampError, TimestampRequest,
    TimestampResponse, Token, ber,
};
use anchorlog_verifier::timestamp::revocation::Crl;
use anchorlog_verifier::timestamp::{Allow, VerifiedToken};
use tokio::sync::watch;

use super::Shared;
use super::again::Again;
use super::authority::Authority;
use super::crl::{self, FetchedCrl};
use super::error::{CrlFailure, CrlFailureReason, StampError};
use super::exchange::Ask;
use super::report::{Outcome, Stamp, Transport};
use super::verify::Judgement;
use crate::problem::printable;

/// Everything that is needed to ask one authority.
pub(super) struct Task {
    pub(super) shared: Arc<Shared>,
    pub(super) imprint: Imprint,
    pub(super) authority: Authority,
    pub(super) deadline: tokio::time::Instant,
}

/// What has happened so far; outlives the attempt that is given up.
#[derive(Default)]
struct Progress {
    attempts: u32,
    failures: Vec<StampError>,
}

impl Task {
    /// Asks until there is a token, no hope, no time, or no need: `cut` becomes true.
    pub(super) async fn run(self, mut cut: watch::Receiver<bool>) -> Outcome {
        let begun = Instant::now();
        let mut progress = Progress::default();
        let result = tokio::select! {
            biased;
            result = tokio::time::timeout_at(self.deadline, self.ask(&mut progress)) => {
                result.unwrap_or(Err(None))
            }
            // The sender lives as long as anybody waits for this.
            _ = cut.wait_for(|cut| *cut) => Err(Some(StampError::Abandoned)),
        };
        let result = result.map_err(|error| {
            error.unwrap_or_else(|| StampError::Deadline {
                after: self.shared.options.deadline,
                last: progress.failures.pop().map(Box::new),
            })
        });
        Outcome {
            authority: self.authority,
            attempts: progress.attempts,
            elapsed: begun.elapsed(),
            earlier: progress.failures,
            result,
        }
    }

    /// `Err(None)` is never returned; it is what a deadline looks like to the caller.
    async fn ask(&self, progress: &mut Progress) -> Result<Stamp, Option<StampError>> {
        let mut second_chance = true;
        loop {
            progress.attempts += 1;
            let failure = match self.attempt().await {
                Ok(stamp) => return Ok(stamp),
                Err(failure) => failure,
            };
            let worthwhile = match failure.again() {
                Again::Never => false,
                Again::Once => std::mem::take(&mut second_chance),
                Again::Later => true,
            };
            let policy = &self.shared.options.retry;
            let delay = policy.delay(progress.attempts, failure.retry_after());
            let until = delay.map(|delay| tokio::time::Instant::now() + delay);
            match until.filter(|until| worthwhile && *until < self.deadline) {
                Some(until) => {
                    progress.failures.push(failure);
                    tokio::time::sleep_until(until).await;
                }
                None => return Err(Some(failure)),
            }
        }
    }

    async fn attempt(&self) -> Result<Stamp, StampError> {
        let Shared { http, options } = &*self.shared;
        let nonce = random_nonce().map_err(|source| StampError::Random { source })?;
        let request = TimestampRequest {
            policy: self.authority.policy(),
            ..TimestampRequest::new(self.imprint.clone(), nonce)
        };
        let sent = Instant::now();
        let query = request.to_der();
        let url = self.authority.url().url();
        let ask = Ask::Query(&query);
        let answer = http.ask(url, ask, MAX_RESPONSE_BYTES, options.timeout).await?;
        let (round_trip, received_at) = (sent.elapsed(), SystemTime::now());
        let response = answer.body;
        check_granted(&response, options.allow)?;

        let judgement =
            Judgement { at: gen_time(received_at), allow: options.allow, skew_s: options.skew_s };
        let mut token = self.judge(judgement, &response, &request, None).await?;
        let mut crls = Vec::new();
        if options.fetch_crls {
            (token, crls) = self.with_crls(judgement, &response, &request, &token).await?;
        }
        let transport = if answer.secure { Transport::Https } else { Transport::Http };
        Ok(Stamp { response, token, crls, transport, received_at, round_trip })
    }

    /// Judges off the threads that serve: a hostile token can cost milliseconds.
    async fn judge(
        &self,
        judgement: Judgement,
        response: &[u8],
        request: &TimestampRequest,
        crls: Option<Vec<Crl>>,
    ) -> Result<VerifiedToken, StampError> {
        let (response, request) = (response.to_vec(), request.clone());
        let authority = self.authority.clone();
        let judge = move || judgement.of_response(&response, &request, &authority, crls);
        let judged = tokio::task::spawn_blocking(judge).await.map_err(|_| StampError::Internal)?;
        judged.map_err(|failure| StampError::Verification { failure })
    }

    /// Fetches the lists of a token that holds, and judges it again with them.
    async fn with_crls(
        &self,
        judgement: Judgement,
        response: &[u8],
        request: &TimestampRequest,
        token: &VerifiedToken,
    ) -> Result<(VerifiedToken, Vec<FetchedCrl>), StampError> {
        let Shared { http, options } = &*self.shared;
        let (fetched, mut failures) =
            crl::fetch(http, token.crl_urls(), options.timeout, judgement.at).await;
        let crls: Vec<_> = fetched.iter().map(|fetched| fetched.crl.clone()).collect();
        // First whether something is revoked, which is worse than not knowing.
        let token = self.judge(judgement, response, request, Some(crls.clone())).await?;
        let (again, authority) = (token.clone(), self.authority.clone());
        let is_covered = move || judgement.is_covered(&again, &authority, crls);
        let is_covered = tokio::task::spawn_blocking(is_covered).await;
        if is_covered.map_err(|_| StampError::Internal)? {
            return Ok((token, fetched));
        }
        if failures.is_empty() {
            failures.extend(fetched.into_iter().map(|fetched| CrlFailure {
                url: fetched.url,
                reason: CrlFailureReason::NotCovering,
            }));
        }
        Err(StampError::Crl { failures })
    }
}

/// Looks at the wrapper of the token: what the authority says, and whether it is a wrapper at all. Where
/// BER is allowed, the response is looked at in DER, like its token by whoever judges it.
fn check_granted(response: &[u8], allow: Allow) -> Result<(), StampError> {
    let rewritten = if allow.ber { ber::response_to_der(response) } else { None };
    let response = rewritten.as_deref().unwrap_or(response);
    let read = match TimestampResponse::parse(response) {
        Ok(read) => read,
        Err(_) if Token::parse(response).is_ok() => {
            return Err(StampError::BareToken { bytes: response.len() });
        }
        Err(source) => return Err(StampError::Response { source }),
    };
    match read.granted() {
        Ok(_) => Ok(()),
        Err(TimestampError::NotGranted { status, failure }) => Err(StampError::Rejected {
            status,
            failure,
            texts: read.texts.iter().map(|text| printable(text)).collect(),
        }),
        Err(source) => Err(StampError::Response { source }),
    }
}

fn random_nonce() -> Result<Nonce, getrandom::Error> {
    let mut octets = [0; 16];
    getrandom::fill(&mut octets)?;
    Ok(Nonce::from_random(octets))
}

/// Whole seconds are enough: tolerances are in seconds too.
fn gen_time(time: SystemTime) -> GenTime {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    GenTime::from_unix(i64::try_from(seconds).unwrap_or(i64::MAX))
}
