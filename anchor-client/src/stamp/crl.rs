//! Revocation lists, fetched while they are to be had.
//!
//! A list that is published today says that a certificate stands today; in ten years nobody may serve it.
//! So whoever wants to show later that nothing was revoked keeps the lists beside the token (RFC 3161
//! section 2.2).

use std::collections::BTreeSet;
use std::time::Duration;

use anchorlog_proto::timestamp::GenTime;
use anchorlog_proto::timestamp::element::{Element, Elements};
use anchorlog_verifier::timestamp::revocation::{Crl, MAX_CRL_BYTES};
use der::Tag;
use reqwest::Url;

use super::error::{CrlFailure, CrlFailureReason};
use super::exchange::{Ask, Http};

/// A revocation list, as received.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchedCrl {
    /// Where it is from.
    pub url: String,
    /// The list; its `der` are the bytes that were received.
    pub crl: Crl,
}

/// Asks every distribution point once, one after the other, for lists that are current at `now`.
/// Certificates may name several places for the same list, so what can't be had is told and left out.
pub(super) async fn fetch(
    http: &Http,
    urls: &[String],
    timeout: Duration,
    now: GenTime,
) -> (Vec<FetchedCrl>, Vec<CrlFailure>) {
    let (mut fetched, mut failures) = (Vec::new(), Vec::new());
    let mut asked = BTreeSet::new();
    for url in urls.iter().filter(|url| asked.insert(*url)).take(MAX_DISTRIBUTION_POINTS) {
        let url = url.clone();
        match fetch_one(http, &url, timeout, now).await {
            Ok(crl) => fetched.push(FetchedCrl { url, crl }),
            Err(reason) => failures.push(CrlFailure { url, reason }),
        }
    }
    (fetched, failures)
}

async fn fetch_one(
    http: &Http,
    url: &str,
    timeout: Duration,
    now: GenTime,
) -> Result<Crl, CrlFailureReason> {
    // A list is signed, so TLS adds nothing to it, and checking TLS certificates can need lists.
    let url = Url::parse(url).ok().filter(|url| url.scheme() == "http");
    let url = url.ok_or(CrlFailureReason::Scheme)?;
    let bytes = http.ask(&url, Ask::Crl, MAX_CRL_BYTES, timeout).await?.body;
    // Parsing reads every entry of what may be 16 MiB.
    let parse = move || (Crl::parse(&bytes), next_update(&bytes));
    let parsed = tokio::task::spawn_blocking(parse).await;
    let (crl, next_update) = parsed.map_err(|_| CrlFailureReason::Internal)?;
    let crl = crl?;
    // Whoever is on the way could send an old one, from before a revocation.
    match next_update {
        Some(next_update) if next_update >= now => Ok(crl),
        next_update => Err(CrlFailureReason::Stale { next_update }),
    }
}

/// When the next list is due (RFC 5280 section 5.1.2.5).
fn next_update(der: &[u8]) -> Option<GenTime> {
    let mut outer = Element::parse(der)?.elements_of(Tag::Sequence)?;
    let mut fields = outer.expect(Tag::Sequence)?.elements()?;
    fields.optional(Tag::Integer);
    fields.expect(Tag::Sequence)?;
    fields.expect(Tag::Sequence)?;
    time(&mut fields)?;
    time(&mut fields)
}

fn time(fields: &mut Elements<'_>) -> Option<GenTime> {
    let time = fields.next()?;
    match time.tag() {
        Tag::GeneralizedTime => GenTime::parse(time.value()),
        Tag::UtcTime => {
            let century: &[u8] = if time.value().first()? < &b'5' { b"20" } else { b"19" };
            GenTime::parse(&[century, time.value()].concat())
        }
        _ => None,
    }
}

/// Real paths have two or three.
pub(super) const MAX_DISTRIBUTION_POINTS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// A list without anything that isn't looked at here.
    fn list(times: &[&[u8]]) -> Vec<u8> {
        let element = |tag: u8, contents: &[u8]| {
            [&[tag, u8::try_from(contents.len()).unwrap()], contents].concat()
        };
        let fields = [&[2, 1, 1, 0x30, 0, 0x30, 0][..], &times.concat()].concat();
        element(0x30, &element(0x30, &fields))
    }

    #[test]
    fn both_forms_of_time_are_read() {
        let (utc, general) = (b"\x17\x0d250601120000Z", b"\x18\x0f20500601120000Z");
        let read = |times: &[&[u8]]| next_update(&list(times)).map(|time| time.to_string());
        assert_eq!(read(&[utc, general]).as_deref(), Some("2050-06-01T12:00:00Z"));
        assert_eq!(read(&[general, utc]).as_deref(), Some("2025-06-01T12:00:00Z"));
        assert_eq!(read(&[utc]), None);
        assert_eq!(read(&[utc, &[0x30, 0]]), None);
        assert_eq!(next_update(b"<html>"), None);
    }
}
