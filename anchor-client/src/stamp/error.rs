//! Why an authority gave no token that holds: one variant for each kind, and what to do about it.

use std::time::Duration;

use anchorlog_proto::timestamp::{FailInfo, GenTime, Status, TimestampError};
use anchorlog_verifier::report::Verdict;
use anchorlog_verifier::timestamp::TokenFailure;
use anchorlog_verifier::timestamp::revocation::EvidenceError;

use super::again::Again;
use super::exchange::ExchangeError;

/// Why there is no token from one authority.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StampError {
    /// Enough other operators had answered, and the time that the rest is given then was over.
    #[error("not waited for any longer: enough other operators have answered")]
    Abandoned,
    /// A token where a response was expected, which is what RFC 3161 section 3.4 lets a server send.
    #[error(
        "answered with a bare token of {bytes} bytes where a time-stamp response was expected; \
         this server doesn't speak RFC 3161 over HTTP"
    )]
    BareToken {
        /// Length of the answer.
        bytes: usize,
    },
    /// The token holds, but there are no revocation lists for its certificates, and they were asked for.
    #[error("the token holds, but {}", crl_sentence(failures))]
    Crl {
        /// What went wrong for each distribution point; empty if the certificates name none.
        failures: Vec<CrlFailure>,
    },
    /// The time for everything was over.
    #[error("no token within {} seconds{}", after.as_secs_f32(), last_sentence(last.as_deref()))]
    Deadline {
        /// The time for everything.
        after: Duration,
        /// What went wrong last, if anything had.
        last: Option<Box<StampError>>,
    },
    /// No answer came, or none that can be one.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The program failed, not the authority.
    #[error("internal error: the task ended early")]
    Internal,
    /// The system has no random numbers, and without a nonce nothing is asked.
    #[error("the system gives no random numbers: {source}")]
    Random {
        /// The system's answer.
        source: getrandom::Error,
    },
    /// The authority says no, or not yet.
    #[error("the authority's status is {status}{failure}{}", text_sentence(texts))]
    Rejected {
        /// Its status.
        status: Status,
        /// Its reasons.
        failure: FailInfo,
        /// What it says to people, made safe to print.
        texts: Vec<String>,
    },
    /// The answer isn't a time-stamp response, or one that contradicts itself.
    #[error("the answer is no time-stamp response: {source}")]
    Response {
        /// What is wrong.
        source: TimestampError,
    },
    /// The token was evaluated and doesn't hold.
    #[error("the token doesn't hold: {failure}")]
    Verification {
        /// Why.
        failure: Box<TokenFailure>,
    },
}

/// Why one revocation list isn't there.
#[derive(Debug, thiserror::Error)]
#[error("{url}: {reason}")]
pub struct CrlFailure {
    /// The distribution point.
    pub url: String,
    /// What went wrong.
    pub reason: CrlFailureReason,
}

impl CrlFailure {
    fn is_passing(&self) -> bool {
        matches!(&self.reason, CrlFailureReason::Exchange(error) if error.again() == Again::Later)
    }
}

/// What went wrong with one distribution point.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrlFailureReason {
    /// Nothing came.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// Something came that is no list.
    #[error("no revocation list: {0}")]
    Form(#[from] EvidenceError),
    /// The program failed.
    #[error("internal error: the task ended early")]
    Internal,
    /// A current list came, and doesn't say whether every certificate stands: it is signed by somebody
    /// else, or about others.
    #[error("the list isn't about every certificate of the path")]
    NotCovering,
    /// Only `http` is asked for lists.
    #[error("only http addresses are asked for revocation lists")]
    Scheme,
    /// The list is an old one: the next was due, or it doesn't say when the next is.
    #[error("the list isn't current{}", due_sentence(next_update.as_ref()))]
    Stale {
        /// When the next list was due.
        next_update: Option<GenTime>,
    },
}

impl StampError {
    /// The stable code of the failure: `TSA.*` for what was said by the authority, `CLIENT.*` for the
    /// rest.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Abandoned => "CLIENT.ABANDONED",
            Self::BareToken { .. } => "CLIENT.BARE_TOKEN",
            Self::Crl { .. } => "CLIENT.CRL",
            Self::Deadline { .. } => "CLIENT.TIMEOUT",
            Self::Exchange(error) => error.code(),
            Self::Internal => "CLIENT.INTERNAL",
            Self::Random { .. } => "CLIENT.SETUP",
            Self::Rejected { .. } => "TSA.STATUS",
            Self::Response { source } => source.code(),
            Self::Verification { failure } => failure.code().as_str(),
        }
    }

    /// The finer reason beneath a `TSA.*` code.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Rejected { status, failure, .. } => {
                Some(TimestampError::NotGranted { status: *status, failure: *failure }.reason())
            }
            Self::Response { source } => Some(source.reason()),
            Self::Verification { failure } => Some(failure.reason()),
            _ => None,
        }
    }

    /// Whether asking again can help.
    #[must_use]
    pub fn again(&self) -> Again {
        match self {
            Self::Exchange(error) => error.again(),
            Self::Rejected { status: Status::Waiting, .. } => Again::Later,
            Self::Rejected { failure, .. } if is_passing(*failure) => Again::Later,
            Self::Response { .. } | Self::Verification { .. } => Again::Once,
            Self::Crl { failures } if failures.iter().any(CrlFailure::is_passing) => Again::Later,
            _ => Again::Never,
        }
    }

    /// What the failure says about the token asked for: one was evaluated and doesn't hold, or there was
    /// none to evaluate.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Verification { .. } => Verdict::DoesNotHold,
            Self::Deadline { last: Some(last), .. } => last.verdict(),
            Self::Internal => Verdict::Failed,
            _ => Verdict::NotEvaluated,
        }
    }

    /// How long the authority asked to be left alone.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Exchange(ExchangeError::Status { retry_after, .. }) => *retry_after,
            _ => None,
        }
    }
}

/// Whether a refusal is about the authority's state and not about what was asked.
fn is_passing(failure: FailInfo) -> bool {
    failure.contains(FailInfo::TIME_NOT_AVAILABLE) || failure.contains(FailInfo::SYSTEM_FAILURE)
}

fn crl_sentence(failures: &[CrlFailure]) -> String {
    if failures.is_empty() {
        return "its certificates name no place for revocation lists".to_owned();
    }
    let failures: Vec<_> = failures.iter().map(ToString::to_string).collect();
    format!("the revocation of its certificates can't be checked: {}", failures.join("; "))
}

fn due_sentence(next_update: Option<&GenTime>) -> String {
    next_update.map(|due| format!("; the next was due at {due}")).unwrap_or_default()
}

fn last_sentence(last: Option<&StampError>) -> String {
    last.map(|last| format!("; the last try: {last}")).unwrap_or_default()
}

fn text_sentence(texts: &[String]) -> String {
    if texts.is_empty() { String::new() } else { format!(": {}", texts.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(status: Status, failure: FailInfo) -> StampError {
        StampError::Rejected { status, failure, texts: vec!["because".to_owned()] }
    }

    #[test]
    fn refusals_that_pass_are_asked_again() {
        for (status, failure, again) in [
            (Status::Rejection, FailInfo::TIME_NOT_AVAILABLE, Again::Later),
            (Status::Rejection, FailInfo::SYSTEM_FAILURE, Again::Later),
            (Status::Rejection, FailInfo::BAD_ALG, Again::Never),
            (Status::Rejection, FailInfo::UNACCEPTED_POLICY, Again::Never),
            (Status::Rejection, FailInfo::default(), Again::Never),
            (Status::Waiting, FailInfo::default(), Again::Later),
            (Status::RevocationNotification, FailInfo::default(), Again::Never),
        ] {
            assert_eq!(rejected(status, failure).again(), again, "{status}{failure}");
        }
        for (status, again) in
            [(429, Again::Later), (500, Again::Later), (503, Again::Later), (404, Again::Never)]
        {
            let error = ExchangeError::Status { status, retry_after: None, excerpt: String::new() };
            assert_eq!(StampError::from(error).again(), again, "{status}");
        }
        assert_eq!(StampError::Response { source: TimestampError::Response }.again(), Again::Once);
        assert_eq!(StampError::BareToken { bytes: 1 }.again(), Again::Never);
    }

    #[test]
    fn messages_say_what_the_authority_says() {
        let error = rejected(Status::Rejection, FailInfo::BAD_ALG);
        let text = "the authority's status is rejection (badAlg): because";
        assert_eq!(error.to_string(), text);
        assert_eq!((error.code(), error.reason()), ("TSA.STATUS", Some("status.rejected")));
        let late = StampError::Deadline {
            after: Duration::from_millis(1500),
            last: Some(Box::new(error)),
        };
        assert_eq!(late.to_string(), format!("no token within 1.5 seconds; the last try: {text}"));
        assert_eq!(late.verdict(), Verdict::NotEvaluated);
    }
}
