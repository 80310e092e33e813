//! The answer: `TimeStampResp` (RFC 3161 section 2.4.2).

use der::asn1::BitString;
use der::{Any, Decode as _, Encode as _, Sequence};

use super::WARNING;
use super::request::Refusal;

/// Encodes a token, or the refusal of one. Either says in words what the authority is.
pub(super) fn encode(token: Result<&[u8], Refusal>) -> Vec<u8> {
    // What is encoded is of known, short form. If it weren't, an empty body is no answer to anybody.
    build(token).unwrap_or_default()
}

fn build(token: Result<&[u8], Refusal>) -> der::Result<Vec<u8>> {
    let response = match token {
        Ok(token) => TimeStampResp {
            status: PkiStatusInfo { status: GRANTED, text: vec![WARNING.into()], failure: None },
            token: Some(Any::from_der(token)?),
        },
        Err(refusal) => TimeStampResp {
            status: PkiStatusInfo {
                status: REJECTION,
                text: vec![refusal.text().into(), WARNING.into()],
                failure: Some(named_bit(refusal.bit())?),
            },
            token: None,
        },
    };
    response.to_der()
}

#[derive(Sequence)]
struct TimeStampResp {
    status: PkiStatusInfo,
    token: Option<Any>,
}

/// RFC 4210 section 5.2.3.
#[derive(Sequence)]
struct PkiStatusInfo {
    status: u8,
    /// `PKIFreeText`: each a `UTF8String`.
    text: Vec<String>,
    failure: Option<BitString>,
}

/// A named bit list with one bit set, in the form of X.690 section 11.2.2: nothing behind that bit.
fn named_bit(bit: u8) -> der::Result<BitString> {
    let mut octets = vec![0; usize::from(bit / 8)];
    octets.push(0x80 >> (bit % 8));
    BitString::new(7 - bit % 8, octets)
}

const GRANTED: u8 = 0;
const REJECTION: u8 = 2;
