//! RFC 9457 problem documents: a log's reasons for saying no.

use std::time::Duration;

use anchorlog_verifier::report::text::is_deceptive;
use serde::Deserialize;

/// The media type of problem documents.
pub const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

/// A refusal in the log's own words.
///
/// Texts are made safe to print when they are read: no control characters, bounded length.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// The stable code to branch on.
    pub code: String,
    /// What a person can do about it.
    pub detail: String,
    /// Which statement of a batch is meant, counted from 0.
    pub position: Option<u64>,
    /// How long the log asked to wait.
    pub retry_after: Option<Duration>,
}

impl Problem {
    /// Reads a problem document. `None` if it isn't one with a code: then whoever answered is hardly a log.
    #[must_use]
    pub fn read(status: u16, body: &[u8], retry_after: Option<Duration>) -> Option<Self> {
        let document: Document = serde_json::from_slice(body).ok()?;
        Some(Self {
            status,
            code: printable(&document.code),
            detail: printable(document.detail.as_deref().or(document.title.as_deref())?),
            position: document.position,
            retry_after,
        })
    }

    /// Reads the refusal of a gateway's witness, `{"error", "reason"}`: a text and a word to branch on. `None` if it
    /// isn't one.
    #[must_use]
    pub fn read_reason(status: u16, body: &[u8], retry_after: Option<Duration>) -> Option<Self> {
        let refusal: Refusal = serde_json::from_slice(body).ok()?;
        Some(Self {
            status,
            code: printable(&refusal.reason),
            detail: printable(&refusal.error),
            position: None,
            retry_after,
        })
    }

    /// Whether the log refused what was asked, so that asking again as it is can't help: every 4xx but
    /// 408 (too slow) and 429 (too often).
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        is_refusal(self.status)
    }
}

/// As [`Problem::is_refusal`], for a bare status.
pub(crate) fn is_refusal(status: u16) -> bool {
    (400..500).contains(&status) && status != 408 && status != 429
}

/// Text from elsewhere, made safe for a terminal: control characters and those that are invisible or turn
/// the direction of writing become spaces, and what is over 500 characters is cut.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().take(MAX_TEXT).map(|c| if is_deceptive(c) { ' ' } else { c }).collect()
}

const MAX_TEXT: usize = 500;

/// Unknown members are welcome: RFC 9457 section 3.2 lets a problem type add its own.
#[derive(Deserialize)]
struct Document {
    code: String,
    detail: Option<String>,
    title: Option<String>,
    position: Option<u64>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_code_detail_and_position() {
        let body =
            br#"{"type":"about:blank","title":"Unprocessable","status":422,"code":"STATEMENT.KIND",
            "detail":"statement 3: unknown kind\u001b[31m","position":3,"other":[]}"#;
        let problem = Problem::read(422, body, None).unwrap();
        assert_eq!((problem.code.as_str(), problem.position), ("STATEMENT.KIND", Some(3)));
        assert_eq!(problem.detail, "statement 3: unknown kind [31m");
        assert!(problem.is_refusal());
    }

    #[test]
    fn waiting_helps_with_some_and_not_with_others() {
        for (status, refusal) in [(400, true), (403, true), (404, true), (413, true), (422, true)] {
            assert_eq!(is_refusal(status), refusal, "{status}");
        }
        for status in [200, 302, 408, 429, 500, 503, 507] {
            assert!(!is_refusal(status), "{status}");
        }
    }

    #[test]
    fn what_is_no_problem_document_is_none() {
        for body in [&b"<html>"[..], b"{}", br#"{"code":1,"detail":""}"#, br#"{"code":"A"}"#, b""] {
            assert_eq!(Problem::read(400, body, None), None);
        }
    }

    #[test]
    fn a_gateway_s_reason_is_read() {
        let body = br#"{"error":"the trail\u0007 is retired","reason":"retired","statements":[]}"#;
        let problem = Problem::read_reason(409, body, None).unwrap();
        assert_eq!((problem.code.as_str(), problem.status), ("retired", 409));
        assert_eq!(problem.detail, "the trail  is retired");
        assert_eq!(Problem::read_reason(400, br#"{"error":"x"}"#, None), None);
    }

    #[test]
    fn texts_are_safe_to_print() {
        assert_eq!(printable("a\u{1b}[31m\u{202e}b\u{200b}\r\nä"), "a [31m b   ä");
        assert_eq!(printable(&"ä".repeat(10_000)).chars().count(), 500);
    }
}
