//! Requests that are built once: between two of them only sixteen hexadecimal digits per statement change.
//!
//! Those are the first sixteen of the digest, and they are scattered: digests of real documents come in no
//! order, and an index that is fed keys in order would look better than it is.

use anchorlog_proto::Digest;
use anchorlog_proto::statement::{LogEntry, Statement, StatementError, StatementKind};

/// A request buffer whose digests can be renewed in place.
#[derive(Clone, Debug)]
pub(super) struct Payload {
    request: Vec<u8>,
    /// Where the first sixteen digits of each statement's digest lie in `request`.
    counters: Vec<usize>,
    run: RunId,
}

/// What makes the digests of one run its own: their last 24 bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct RunId([u8; 24]);

impl RunId {
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The digest with this number in this run.
    pub(super) fn digest(self, number: u64) -> Digest {
        let mut bytes = [0; 32];
        for (slot, byte) in
            bytes.iter_mut().zip(scattered(number).to_be_bytes().into_iter().chain(self.0))
        {
            *slot = byte;
        }
        Digest::from_bytes(bytes)
    }

    /// The statement with this number in this run.
    pub(super) fn entry(self, number: u64) -> Result<LogEntry, StatementError> {
        LogEntry::unsigned(Statement::new(StatementKind::Digest, self.digest(number)))
    }
}

impl Payload {
    /// A `POST` of one statement, or of a batch of `batch` ones.
    pub(super) fn new(
        host: &str,
        path: &str,
        batch: Option<usize>,
        run: RunId,
    ) -> Result<Self, StatementError> {
        // Every statement of a run is equally long: only digits change.
        let leaf = run.entry(0)?.leaf_bytes().to_vec();
        let hex = run.digest(0).to_hex();
        let counter = position(&leaf, hex.as_bytes()).unwrap_or_default();
        let mut body = Vec::new();
        let mut offsets = Vec::new();
        match batch {
            None => {
                offsets.push(counter);
                body.extend_from_slice(&leaf);
            }
            Some(count) => {
                body.extend_from_slice(br#"{"statements":["#);
                for number in 0..count {
                    if number > 0 {
                        body.push(b',');
                    }
                    offsets.push(body.len() + counter);
                    body.extend_from_slice(&leaf);
                }
                body.extend_from_slice(b"]}");
            }
        }
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let counters = offsets.into_iter().map(|offset| head.len() + offset).collect();
        Ok(Self { request: [head.as_bytes(), &body].concat(), counters, run })
    }

    /// How many statements one request carries.
    pub(super) fn statements(&self) -> u64 {
        u64::try_from(self.counters.len()).unwrap_or(u64::MAX)
    }

    /// The request with the statements numbered from `first` on.
    pub(super) fn renew(&mut self, first: u64) -> &[u8] {
        for (position, offset) in (0..).zip(&self.counters) {
            if let Some(digits) = self.request.get_mut(*offset..*offset + 16) {
                write_hex(scattered(first.wrapping_add(position)), digits);
            }
        }
        &self.request
    }

    /// The statements of the request that [`Self::renew`] made for `first`.
    pub(super) fn entries(&self, first: u64) -> Result<Vec<LogEntry>, StatementError> {
        (0..self.statements()).map(|n| self.run.entry(first.wrapping_add(n))).collect()
    }
}

/// Another number for every number, without any order: the finaliser of `SplitMix64`, which is a bijection.
const fn scattered(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn write_hex(number: u64, digits: &mut [u8]) {
    for (shift, digit) in (0..16_u32).rev().zip(digits) {
        let nibble = u8::try_from((number >> (4 * shift)) & 0xf).unwrap_or(0);
        *digit = if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    }
}

fn position(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(request: &[u8]) -> &[u8] {
        let start = position(request, b"\r\n\r\n").unwrap() + 4;
        &request[start..]
    }

    #[test]
    fn a_renewed_request_is_the_leaf_of_its_number() {
        let run = RunId::random().unwrap();
        let mut payload = Payload::new("log.example", "/v1/entries", None, run).unwrap();
        for number in [0, 1, 0xdead_beef, u64::MAX] {
            let request = payload.renew(number).to_vec();
            assert_eq!(body(&request), run.entry(number).unwrap().leaf_bytes(), "{number}");
            let head = String::from_utf8_lossy(&request);
            assert!(head.starts_with("POST /v1/entries HTTP/1.1\r\nHost: log.example\r\n"));
            assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body(&request).len())));
        }
    }

    #[test]
    fn a_batch_counts_through() {
        let run = RunId::random().unwrap();
        let mut payload = Payload::new("log.example", "/v1/entries:batch", Some(3), run).unwrap();
        assert_eq!(payload.statements(), 3);
        let request = payload.renew(41).to_vec();
        let json: serde_json::Value = serde_json::from_slice(body(&request)).unwrap();
        let statements = json["statements"].as_array().unwrap();
        let expected = payload.entries(41).unwrap();
        assert_eq!(statements.len(), 3);
        for (statement, entry) in statements.iter().zip(&expected) {
            let read = LogEntry::read(statement.to_string().as_bytes()).unwrap();
            assert_eq!(&read, entry);
        }
        assert_eq!(expected[2], run.entry(43).unwrap());
    }
}
