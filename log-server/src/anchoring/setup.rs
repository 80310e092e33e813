//! From the configuration to the parts of anchoring.

use super::schedule::Rules;
use super::task::Options;
use crate::clock::Clock;
use crate::config::AnchoringConfig;

/// The options that the configuration asks for.
#[must_use]
pub fn options(config: &AnchoringConfig) -> Options {
    Options {
        rules: Rules {
            interval: config.interval.get(),
            after_entries: config.after_entries,
            renew_before: config.renew_before.get(),
        },
        timeout: config.timeout.get(),
        clock_skew: config.clock_skew.get(),
        clock: Clock::system(),
    }
}
