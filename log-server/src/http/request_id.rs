//! The name of one request: in the answer's `x-request-id`, in its problem body and in the server's log.
//!
//! A client (or the proxy in front) may bring its own id along; anything but a short, plain token is
//! replaced, because ids end up in log lines. Our own are a number drawn once per process and a counter.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header that carries the id, both ways.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id of one request.
#[derive(Clone, Debug)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only built from bytes that are plain ASCII.
        self.0.to_str().unwrap_or_default()
    }

    /// Returns the id as it goes into the answer's header.
    #[must_use]
    pub fn into_header(self) -> HeaderValue {
        self.0
    }
}

/// Makes ids that no other request of this process has.
#[derive(Debug)]
pub struct RequestIds {
    process: u32,
    next: AtomicU64,
}

impl RequestIds {
    /// Draws the number that tells this process's ids from others'.
    #[must_use]
    pub fn new() -> Self {
        // Not a secret, only a distinction: the clock would do, and does if the system has no randomness.
        let process = getrandom::u32().unwrap_or_else(|_| std::process::id());
        Self { process, next: AtomicU64::new(0) }
    }

    /// Takes the request's own id if it is usable, or makes one.
    pub fn assign(&self, headers: &HeaderMap) -> RequestId {
        if let Some(brought) = headers.get(HEADER).filter(|value| is_usable(value.as_bytes())) {
            return RequestId(brought.clone());
        }
        let mut text = [b'0'; 8 + 1 + 12];
        let (process, counter) = text.split_at_mut(8);
        hex(u64::from(self.process), process);
        let (dash, counter) = counter.split_at_mut(1);
        dash.fill(b'-');
        hex(self.next.fetch_add(1, Ordering::Relaxed), counter);
        // Hexadecimal digits and a dash are always a valid header value.
        RequestId(HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("-")))
    }
}

impl Default for RequestIds {
    fn default() -> Self {
        Self::new()
    }
}

fn is_usable(id: &[u8]) -> bool {
    (1..=64).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// Writes the low digits of `value`, most significant first, until `out` is full.
fn hex(mut value: u64, out: &mut [u8]) {
    for place in out.iter_mut().rev() {
        *place = *DIGITS.get(usize::try_from(value & 15).unwrap_or(0)).unwrap_or(&b'0');
        value >>= 4;
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_counted_up() {
        let ids = RequestIds { process: 0x00ab_cdef, next: AtomicU64::new(255) };
        assert_eq!(ids.assign(&HeaderMap::new()).as_str(), "00abcdef-0000000000ff");
        assert_eq!(ids.assign(&HeaderMap::new()).as_str(), "00abcdef-000000000100");
    }

    #[test]
    fn a_plain_id_is_kept_and_a_strange_one_replaced() {
        let ids = RequestIds::new();
        let with = |id: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_static(id));
            ids.assign(&headers).as_str().to_owned()
        };
        assert_eq!(with("4bf92f3577b34da6.A_b"), "4bf92f3577b34da6.A_b");
        for strange in ["", "a b", "a\"b", "a=b"] {
            assert_ne!(with(strange), strange);
        }
        let long = "a".repeat(65);
        let mut headers = HeaderMap::new();
        headers
            .insert(HEADER, HeaderValue::from_str(&long).unwrap_or(HeaderValue::from_static("")));
        assert_ne!(ids.assign(&headers).as_str(), long);
    }
}
