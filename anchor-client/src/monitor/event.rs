//! What a monitor tells: one JSON object per event, on one line.

use anchorlog_proto::json::format_utc_seconds;
use anchorlog_verifier::codes::Code;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::alarm::Alarm;

/// The schema name of every event.
pub const SCHEMA: &str = "anchorlog.monitor-event/1";

/// The longest event, in bytes of its JSON; one that would be longer loses its entry's text.
pub const MAX_EVENT_BYTES: usize = 16 * 1024;

/// One thing that happened.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The place in the order of all events of this monitor, from 0.
    pub number: u64,
    /// The same for the same event, however often it is told.
    pub id: String,
    /// The JSON object, on one line.
    pub line: String,
}

/// An event before it has its number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Draft {
    pub(super) id: String,
    pub(super) members: Value,
}

impl Draft {
    /// The event that raises an alarm.
    pub(super) fn raised(alarm: &Alarm) -> Self {
        Self { id: alarm.id(), members: members_of("alarm", alarm) }
    }

    /// The event that takes it back, and why.
    pub(super) fn cleared(alarm: &Alarm, reason: &str, now: i64) -> Self {
        let mut members = members_of("clear", alarm);
        if let Some(object) = members.as_object_mut() {
            object.insert("reason".to_owned(), reason.into());
            object.insert("raised_by".to_owned(), alarm.id().into());
            object.insert("cleared_at".to_owned(), format_utc_seconds(now).into());
        }
        Self { id: format!("clear:{}:{now}", alarm.id()), members }
    }

    /// The event as it is told about the log `origin`.
    pub(super) fn numbered(self, number: u64, origin: &str) -> Event {
        let mut members = self.members;
        if let Some(object) = members.as_object_mut() {
            object.insert("schema".to_owned(), SCHEMA.into());
            object.insert("id".to_owned(), self.id.clone().into());
            object.insert("log".to_owned(), origin.into());
            object.insert("number".to_owned(), number.into());
        }
        Event { number, id: self.id, line: members.to_string() }
    }
}

fn members_of(kind: &str, alarm: &Alarm) -> Value {
    let title = Code::lookup(&alarm.code).map(Code::title);
    json!({
        "type": kind,
        "code": alarm.code,
        "subject": alarm.subject,
        "title": title,
        "detail": alarm.detail,
        "since": format_utc_seconds(alarm.since),
        "evidence": alarm.evidence,
    })
}
