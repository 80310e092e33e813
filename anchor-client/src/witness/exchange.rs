//! One POST to a witness, with limits on everything that comes back. No body is read as anything here but
//! the size of a 409.

use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tlog_witness::parse_size;
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::{Response, Url};

use super::error::WitnessError;
use crate::problem::printable;
use crate::retry::parse_retry_after;
use crate::stamp::exchange::{Http, excerpt, is_redirect, read_limited};
use crate::stamp::{ExchangeError, RedirectRefusal};
use crate::transport::header;

/// An answer that means something.
#[derive(Debug)]
pub(super) enum Reply {
    /// 200, with its body.
    Cosignatures(Vec<u8>),
    /// 409, with the size in its body if there is one.
    Stale(Option<TreeSize>),
    /// 422.
    Inconsistent,
}

pub(super) async fn post(http: &Http, url: &Url, body: Vec<u8>) -> Result<Reply, WitnessError> {
    let request = http
        .client(url)?
        .post(url.clone())
        .header(CONTENT_TYPE, "text/plain; charset=utf-8")
        .header(ACCEPT, "text/plain, text/x.tlog.size, */*")
        .body(body);
    let response = request.send().await.map_err(ExchangeError::connection)?;
    let status = response.status();
    if is_redirect(status) {
        let target = printable(&header(response.headers(), &LOCATION).unwrap_or_default());
        let refusal = RedirectRefusal::Never;
        return Err(ExchangeError::Redirect { target, refusal }.into());
    }
    match status.as_u16() {
        200 => {
            if let Some(encoding) = header(response.headers(), &CONTENT_ENCODING)
                && !encoding.eq_ignore_ascii_case("identity")
            {
                return Err(ExchangeError::Encoding { encoding: printable(&encoding) }.into());
            }
            Ok(Reply::Cosignatures(read_limited(response, MAX_ANSWER_BYTES).await?))
        }
        // The media type isn't looked at: some leave it away, and a size is a size.
        409 => {
            let body = read_limited(response, MAX_SIZE_BYTES).await.unwrap_or_default();
            let line = [body.trim_ascii(), b"\n"].concat();
            Ok(Reply::Stale(parse_size(&line).ok()))
        }
        422 => Ok(Reply::Inconsistent),
        // An unknown origin is 404; older witnesses say 403, which is also for keys they don't have.
        status @ (403 | 404) => {
            Err(WitnessError::UnknownLog { status, excerpt: excerpt(response).await })
        }
        status => Err(refused(status, response).await),
    }
}

async fn refused(status: u16, response: Response) -> WitnessError {
    let retry_after = header(response.headers(), &RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| parse_retry_after(&value));
    WitnessError::Exchange(ExchangeError::Status {
        status,
        retry_after,
        excerpt: excerpt(response).await,
    })
}

/// Bytes of the longest answer: many lines, also such as have post-quantum signatures.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Bytes of the longest body of a 409: 19 digits and what some put around them.
const MAX_SIZE_BYTES: usize = 256;
