//! Alarms: raised once, cleared once, each under a stable code.

use serde::{Deserialize, Serialize};

use anchorlog_verifier::codes::{self, Code};

/// What is wrong with a log, and since when.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Alarm {
    /// The stable code: `LOG.SPLIT_VIEW`.
    pub code: String,
    /// What it is about, where one code can be about several things: a witness, `answer`, `checkpoint`.
    pub subject: String,
    /// What was found when it was raised, in a sentence.
    pub detail: String,
    /// When it was raised, by the monitor's clock, in seconds since 1970.
    pub since: i64,
    /// The directory with both signed notes, where there are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl Alarm {
    /// Whether it stays until somebody acknowledges it: what was signed is not undone by a better answer.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        [codes::log::SPLIT_VIEW, codes::log::CONSISTENCY, codes::log::MALFORMED]
            .iter()
            .any(|code: &Code| code.as_str() == self.code)
    }

    /// The identifier of the event that raised it.
    #[must_use]
    pub fn id(&self) -> String {
        let Self { code, subject, since, .. } = self;
        format!("alarm:{code}:{subject}:{since}")
    }

    fn is(&self, code: &str, subject: &str) -> bool {
        self.code == code && self.subject == subject
    }
}

/// The alarms that are raised now.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Alarms(Vec<Alarm>);

impl Alarms {
    /// The alarms, in the order they were raised.
    #[must_use]
    pub fn active(&self) -> &[Alarm] {
        &self.0
    }

    /// Raises an alarm; `None` if the same code is raised for the same subject already. `build` makes the
    /// alarm only then.
    pub(super) fn raise(
        &mut self,
        code: &str,
        subject: &str,
        build: impl FnOnce() -> Alarm,
    ) -> Option<&Alarm> {
        if self.0.iter().any(|alarm| alarm.is(code, subject)) || self.0.len() >= MAX_ALARMS {
            return None;
        }
        self.0.push(build());
        self.0.last()
    }

    /// Takes back every alarm of which `over` says that it is over.
    pub(super) fn clear(&mut self, over: impl Fn(&Alarm) -> bool) -> Vec<Alarm> {
        let (cleared, kept) = std::mem::take(&mut self.0).into_iter().partition(over);
        self.0 = kept;
        cleared
    }
}

/// More than there are codes and witnesses.
const MAX_ALARMS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn alarm(code: &str, subject: &str, since: i64) -> Alarm {
        Alarm {
            code: code.to_owned(),
            subject: subject.to_owned(),
            detail: "found".to_owned(),
            since,
            evidence: None,
        }
    }

    #[test]
    fn an_alarm_is_raised_once_and_cleared_once() {
        let mut alarms = Alarms::default();
        let raise = |alarms: &mut Alarms, code: &str, subject: &str, since| {
            alarms.raise(code, subject, || alarm(code, subject, since)).map(Alarm::id)
        };
        let id = raise(&mut alarms, "LOG.CLOCK", "witness a", 1);
        assert_eq!(id.as_deref(), Some("alarm:LOG.CLOCK:witness a:1"));
        assert_eq!(raise(&mut alarms, "LOG.CLOCK", "witness a", 2), None);
        assert!(raise(&mut alarms, "LOG.CLOCK", "witness b", 3).is_some());
        let cleared = alarms.clear(|alarm| alarm.subject == "witness a");
        assert_eq!(cleared, [alarm("LOG.CLOCK", "witness a", 1)]);
        assert_eq!(alarms.active(), [alarm("LOG.CLOCK", "witness b", 3)]);
        assert!(raise(&mut alarms, "LOG.CLOCK", "witness a", 4).is_some());
    }

    #[test]
    fn what_is_signed_stays() {
        for (code, lasting) in [
            ("LOG.SPLIT_VIEW", true),
            ("LOG.CONSISTENCY", true),
            ("LOG.MALFORMED", true),
            ("LOG.ROLLBACK", false),
            ("LOG.SILENT", false),
        ] {
            assert_eq!(alarm(code, "", 0).is_lasting(), lasting, "{code}");
            assert!(Code::lookup(code).is_some());
        }
    }
}
