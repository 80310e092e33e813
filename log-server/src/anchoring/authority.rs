//! Who is asked for a time stamp: the seam between the anchoring task and whatever speaks RFC 3161.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anchorlog_proto::timestamp::{GenTime, Imprint};

use crate::clock::unix_ms;

/// An authority's answer to one question, on its way.
pub type Stamping = Pin<Box<dyn Future<Output = Result<Stamped, StampFailure>> + Send>>;

/// A time-stamping authority, as the anchoring task knows it.
///
/// Contract: a token that is handed out stamps exactly the imprint asked for, and was verified under this
/// authority's own trust entry and no other. The caller bounds the time and drops the future when it is
/// over.
pub trait Authority: Send + Sync {
    /// Who runs it. Distinct operators count towards a quorum, and the name is a label of metrics.
    fn operator(&self) -> &str;

    /// Asks for a token over `imprint`.
    fn stamp(self: Arc<Self>, imprint: Imprint) -> Stamping;
}

/// A verified token and what the anchoring task has to know about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stamped {
    /// The token, DER, as received.
    pub token: Vec<u8>,
    /// When the authority says it made it.
    pub gen_time: GenTime,
    /// When the first certificate of the path that verified it runs out, in Unix seconds.
    pub expires: i64,
    /// This machine's clock when the answer was complete.
    pub received: SystemTime,
    /// Between sending the request and having the answer.
    pub round_trip: Duration,
}

impl Stamped {
    /// By how much the authority's clock differs from ours, as far as one exchange can tell, in
    /// milliseconds: positive when the authority is ahead. Zero when genTime lies within the exchange.
    #[must_use]
    pub fn clock_offset_ms(&self) -> i64 {
        let stated = self.gen_time.unix_seconds().saturating_mul(1000);
        let stated = stated.saturating_add(i64::from(self.gen_time.nanoseconds() / 1_000_000));
        let received = unix_ms(self.received);
        let round_trip = i64::try_from(self.round_trip.as_millis()).unwrap_or(i64::MAX);
        let asked = received.saturating_sub(round_trip);
        if stated > received {
            stated.saturating_sub(received)
        } else if stated < asked {
            stated.saturating_sub(asked)
        } else {
            0
        }
    }
}

/// Why there is no token.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{code}: {text}")]
pub struct StampFailure {
    /// A stable code, which everybody may see.
    pub code: Cow<'static, str>,
    /// What happened, for the operator of the log.
    pub text: String,
}

impl StampFailure {
    /// The authority did not answer in time.
    #[must_use]
    pub fn late(after: Duration) -> Self {
        let text = format!("no answer within {} ms", after.as_millis());
        Self { code: Cow::Borrowed(LATE), text }
    }
}

/// Code of [`StampFailure::late`].
pub const LATE: &str = "ANCHOR.LATE";

/// Code of a defect of the program.
pub const INTERNAL: &str = "ANCHOR.INTERNAL";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_only_wrong_outside_the_exchange() {
        let received = SystemTime::UNIX_EPOCH + Duration::from_millis(100_500);
        let offset = |gen_time: &[u8]| {
            let Some(gen_time) = GenTime::parse(gen_time) else { return i64::MAX };
            let round_trip = Duration::from_secs(2);
            let stamped = Stamped { token: vec![1], gen_time, expires: 0, received, round_trip };
            stamped.clock_offset_ms()
        };
        assert_eq!(offset(b"19700101000139Z"), 0);
        assert_eq!(offset(b"19700101000140.5Z"), 0);
        assert_eq!(offset(b"19700101000140.75Z"), 250);
        assert_eq!(offset(b"19700101000138Z"), -500);
        assert_eq!(offset(b"19700101000240Z"), 59_500);
    }
}
