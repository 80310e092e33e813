//! TimeStampResp: what an authority answers (RFC 3161 section 2.4.2).

use der::Tag;

use super::element::{Element, Elements};
use super::{FailInfo, MAX_RESPONSE_BYTES, Status, TimestampError};

/// Texts that are read from one response.
const MAX_TEXTS: usize = 16;

/// An answer, as received.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TimestampResponse<'a> {
    /// Whether the token was granted.
    pub status: Status,
    /// What the authority says to people, untrusted.
    pub texts: Vec<&'a str>,
    /// Why it refuses.
    pub failure: FailInfo,
    /// The token's bytes as received; that they are a token hasn't been looked at.
    pub token: Option<&'a [u8]>,
}

impl<'a> TimestampResponse<'a> {
    /// Reads a response: the whole of `bytes`, and nothing behind it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, TimestampError> {
        if bytes.len() > MAX_RESPONSE_BYTES {
            return Err(TimestampError::Length { bytes: bytes.len(), limit: MAX_RESPONSE_BYTES });
        }
        let mut outer = Elements::new(bytes).ok_or(TimestampError::Response)?;
        let response = outer.next().ok_or(TimestampError::Response)?;
        if !outer.is_empty() {
            return Err(TimestampError::Trailing { what: "the response" });
        }
        let mut fields = response.elements_of(Tag::Sequence).ok_or(TimestampError::Response)?;
        let info = fields.expect(Tag::Sequence).ok_or(TimestampError::Response)?;
        let token = if fields.is_empty() {
            None
        } else {
            Some(fields.expect(Tag::Sequence).ok_or(TimestampError::Response)?.raw())
        };
        if !fields.is_empty() {
            return Err(TimestampError::Response);
        }
        let mut fields = info.elements().ok_or(TimestampError::Response)?;
        let status = fields.expect(Tag::Integer).ok_or(TimestampError::Response)?;
        let status = status.small().and_then(Status::from_number);
        let status = status.ok_or(TimestampError::UnknownStatus)?;
        let texts = match fields.optional(Tag::Sequence) {
            Some(texts) => read_texts(&texts).ok_or(TimestampError::Response)?,
            None => Vec::new(),
        };
        let failure = match fields.optional(Tag::BitString) {
            Some(failure) => FailInfo::read(&failure).ok_or(TimestampError::Response)?,
            None => FailInfo::default(),
        };
        if fields.is_empty() {
            Ok(Self { status, texts, failure, token })
        } else {
            Err(TimestampError::Response)
        }
    }

    /// The token's bytes, if status, failure and presence of a token say together that the request
    /// was granted.
    pub const fn granted(&self) -> Result<&'a [u8], TimestampError> {
        let (status, failure) = (self.status, self.failure);
        match self.token {
            Some(_) if !status.is_granted() => Err(TimestampError::TokenUnexpected { status }),
            Some(token) if failure.is_empty() => Ok(token),
            Some(_) => Err(TimestampError::FailInfo),
            None if status.is_granted() => Err(TimestampError::TokenMissing),
            None => Err(TimestampError::NotGranted { status, failure }),
        }
    }
}

fn read_texts<'a>(texts: &Element<'a>) -> Option<Vec<&'a str>> {
    let texts = texts.elements()?.collect_all(MAX_TEXTS)?;
    let text = |text: &Element<'a>| {
        if text.tag() == Tag::Utf8String { core::str::from_utf8(text.value()).ok() } else { None }
    };
    texts.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::super::writer::{SEQUENCE, element};
    use super::*;

    const TOKEN: &[u8] = &[0x30, 0];

    fn response(info: &[u8], token: &[u8]) -> Vec<u8> {
        element(SEQUENCE, &[&element(SEQUENCE, &[info]), token])
    }

    fn granted(info: &[u8], token: &[u8]) -> Result<Vec<u8>, &'static str> {
        let response = response(info, token);
        let token = TimestampResponse::parse(&response).and_then(|response| response.granted());
        token.map(<[u8]>::to_vec).map_err(|error| error.reason())
    }

    #[test]
    fn status_and_token_agree() {
        for status in [0, 1] {
            let info = [2, 1, status];
            assert_eq!(granted(&info, TOKEN), Ok(TOKEN.to_vec()));
            assert_eq!(granted(&info, &[]), Err("status.token-missing"));
            let failed = [&info[..], &[3, 2, 7, 0x80]].concat();
            assert_eq!(granted(&failed, TOKEN), Err("status.fail-info"));
        }
        for (status, reason) in [
            (2, "status.rejected"),
            (3, "status.waiting"),
            (4, "status.revocation"),
            (5, "status.revocation"),
        ] {
            assert_eq!(granted(&[2, 1, status], &[]), Err(reason));
            assert_eq!(granted(&[2, 1, status], TOKEN), Err("status.token-unexpected"));
        }
        assert_eq!(granted(&[2, 1, 6], TOKEN), Err("status.unknown"));
        assert_eq!(granted(&[2, 1, 0xff], TOKEN), Err("status.unknown"));
    }

    #[test]
    fn texts_and_failures_are_read() {
        let info = [&[2, 1, 2, 0x30, 5, 0x0c, 3][..], b"why", &[3, 3, 0, 0, 1]].concat();
        let bytes = response(&info, &[]);
        let response = TimestampResponse::parse(&bytes).unwrap();
        assert_eq!(response.texts, ["why"]);
        let error = response.granted().unwrap_err();
        assert_eq!(error.to_string(), "the authority's status is rejection (unacceptedPolicy)");
    }

    #[test]
    fn nothing_else_is_a_response() {
        let good = response(&[2, 1, 0], TOKEN);
        for end in 0..good.len() {
            assert!(TimestampResponse::parse(&good[..end]).is_err(), "{end}");
        }
        for bad in [
            [&good[..], &[0]].concat(),
            response(&[], TOKEN),
            response(&[2, 1, 0, 5, 0], TOKEN),
            response(&[2, 1, 0], &[5, 0]),
            response(&[2, 1, 0], &[0x30, 0, 0x30, 0]),
            response(&[2, 1, 0, 0x30, 3, 0x0c, 1, 0xff], TOKEN),
            response(&[&[2, 1, 0, 0x30, 34][..], &[0x0c, 0].repeat(17)].concat(), TOKEN),
            b"<html>".to_vec(),
        ] {
            assert!(TimestampResponse::parse(&bad).is_err(), "{bad:x?}");
        }
        let long = vec![0; MAX_RESPONSE_BYTES + 1];
        assert_eq!(TimestampResponse::parse(&long).unwrap_err().reason(), "parse.length");
    }
}
