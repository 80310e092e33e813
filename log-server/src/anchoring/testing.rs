//! An authority that does as the test says.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use anchorlog_proto::timestamp::{GenTime, Imprint};

use super::authority::{Authority, StampFailure, Stamped, Stamping};
use crate::clock::unix_ms;

/// One answer of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// A token that is good for so many seconds, from a clock that is off by so many.
    Token { good_for: i64, clock_off: i64 },
    /// A failure of this code.
    Refuse(&'static str),
    /// Nothing, ever.
    Hang,
    /// A defect.
    Panic,
}

/// A token that is good for a year.
pub(crate) const GOOD: Answer = Answer::Token { good_for: 365 * 86_400, clock_off: 0 };

/// Gives the answers of its script one after the other, and then the last of them for ever.
pub(crate) struct Scripted {
    operator: String,
    /// So that no two authorities give the same token.
    instance: u64,
    script: Mutex<VecDeque<Answer>>,
    asked: AtomicU64,
}

impl Scripted {
    pub(crate) fn new(operator: &str, script: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        static INSTANCES: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            operator: operator.to_owned(),
            instance: INSTANCES.fetch_add(1, Ordering::SeqCst),
            script: Mutex::new(script.into_iter().collect()),
            asked: AtomicU64::new(0),
        })
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    fn next(&self) -> Answer {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let next = script.pop_front().unwrap_or(GOOD);
        if script.is_empty() {
            script.push_back(next);
        }
        next
    }
}

impl Authority for Scripted {
    fn operator(&self) -> &str {
        &self.operator
    }

    fn stamp(self: Arc<Self>, imprint: Imprint) -> Stamping {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.next();
        Box::pin(async move {
            match answer {
                Answer::Token { good_for, clock_off } => {
                    let received = SystemTime::now();
                    let now = unix_ms(received).div_euclid(1000);
                    let token = format!("token {}.{number} over {imprint}", self.instance);
                    Ok(Stamped {
                        token: token.into_bytes(),
                        gen_time: GenTime::from_unix(now.saturating_add(clock_off)),
                        expires: now.saturating_add(good_for),
                        received,
                        round_trip: Duration::from_secs(1),
                    })
                }
                Answer::Refuse(code) => {
                    Err(StampFailure { code: code.into(), text: "as scripted".to_owned() })
                }
                Answer::Hang => std::future::pending().await,
                Answer::Panic => {
                    #[allow(clippy::panic, reason = "the script asks for one")]
                    {
                        panic!("as scripted")
                    }
                }
            }
        })
    }
}
