//! Request bodies: declared as JSON, bounded in size and in time.
//!
//! The size is checked against the declared length before a byte is read and again while reading, so that
//! no client can make the server hold more than the limit. The usual body, one frame that arrived together
//! with the head, is handed on without a copy and without a timer.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::problem::{Code, Problem};

/// How much of a body is read, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Bytes.
    pub size: usize,
    /// From the first read to the last byte.
    pub timeout: Duration,
}

/// Checks that the body is declared as plain JSON: `application/json`, any parameters, not compressed.
pub fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let detail = "The body must be JSON and be declared with `Content-Type: application/json`.";
    require_plain(headers, "application/json", detail)
}

/// Checks that the body is declared to be of a media type, with any parameters, and isn't compressed.
/// `detail` says so to whoever declares another one.
pub fn require_plain(
    headers: &HeaderMap,
    media_type: &str,
    detail: &'static str,
) -> Result<(), Problem> {
    let essence = headers.get(CONTENT_TYPE).map(|value| {
        let value = value.as_bytes();
        value.split(|byte| *byte == b';').next().unwrap_or(value).trim_ascii()
    });
    if !essence.is_some_and(|essence| essence.eq_ignore_ascii_case(media_type.as_bytes())) {
        return Err(Problem::new(Code::UnsupportedMediaType, detail));
    }
    let encoded = headers
        .get(CONTENT_ENCODING)
        .is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        let detail = "The body must be sent as it is, without `Content-Encoding`.";
        return Err(Problem::new(Code::UnsupportedMediaType, detail));
    }
    Ok(())
}

/// Reads a whole body within its limits.
pub async fn read(body: Body, limits: BodyLimits) -> Result<Bytes, Problem> {
    if body.size_hint().lower() > u64::try_from(limits.size).unwrap_or(u64::MAX) {
        return Err(too_large(limits.size));
    }
    let reading = collect(body, limits.size);
    tokio::time::timeout(limits.timeout, reading).await.unwrap_or_else(|_| {
        let detail = format!(
            "The body didn't arrive whole within {} ms; nothing was changed. Send it again.",
            limits.timeout.as_millis()
        );
        Err(Problem::new(Code::BodyTimeout, detail))
    })
}

async fn collect(mut body: Body, limit: usize) -> Result<Bytes, Problem> {
    let Some(first) = next(&mut body).await? else { return Ok(Bytes::new()) };
    if first.len() > limit {
        return Err(too_large(limit));
    }
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = Vec::with_capacity(first.len().saturating_mul(2).min(limit));
    whole.extend_from_slice(&first);
    while let Some(data) = next(&mut body).await? {
        if data.len() > limit - whole.len() {
            return Err(too_large(limit));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.into())
}

/// The next piece of data; trailers are passed over.
async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    while let Some(frame) = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
        match frame {
            Ok(frame) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Err(error) => {
                let detail = "The body broke off before its end; nothing was changed.";
                return Err(Problem::new(Code::UnreadableBody, detail).caused_by(&error));
            }
        }
    }
    Ok(None)
}

fn too_large(limit: usize) -> Problem {
    let detail =
        format!("The body is larger than the {limit} bytes this server reads for this call.");
    Problem::new(Code::BodyTooLarge, detail)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use std::collections::VecDeque;
    use std::task::{Context, Poll};

    use axum::http::HeaderValue;

    use super::*;

    /// A body that comes in the given pieces and then ends, hangs or breaks.
    struct Pieces(VecDeque<Bytes>, End);

    enum End {
        Break,
        Finish,
        Hang,
    }

    impl HttpBody for Pieces {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, std::io::Error>>> {
            match (self.0.pop_front(), &self.1) {
                (Some(piece), _) => Poll::Ready(Some(Ok(hyper::body::Frame::data(piece)))),
                (None, End::Finish) => Poll::Ready(None),
                (None, End::Hang) => Poll::Pending,
                (None, End::Break) => Poll::Ready(Some(Err(std::io::Error::other("reset")))),
            }
        }
    }

    fn pieces(pieces: &[&'static str], end: End) -> Body {
        Body::new(Pieces(
            pieces.iter().map(|piece| Bytes::from_static(piece.as_bytes())).collect(),
            end,
        ))
    }

    fn limits(size: usize) -> BodyLimits {
        BodyLimits { size, timeout: Duration::from_millis(20) }
    }

    #[tokio::test]
    async fn bodies_up_to_the_limit_are_read() {
        assert_eq!(read(Body::from("12345"), limits(5)).await.unwrap(), "12345");
        assert_eq!(read(Body::empty(), limits(5)).await.unwrap(), "");
        assert_eq!(
            read(pieces(&["12", "34", "5"], End::Finish), limits(5)).await.unwrap(),
            "12345"
        );
    }

    #[tokio::test]
    async fn larger_bodies_are_refused_declared_or_not() {
        let declared = read(Body::from("123456"), limits(5)).await.unwrap_err();
        assert_eq!(declared.code(), Code::BodyTooLarge);
        for chunked in [&["123456"][..], &["123", "456"]] {
            let refusal = read(pieces(chunked, End::Hang), limits(5)).await.unwrap_err();
            assert_eq!(refusal.code(), Code::BodyTooLarge);
        }
    }

    #[tokio::test]
    async fn slow_and_broken_bodies_are_refused() {
        let slow = read(pieces(&["12"], End::Hang), limits(5)).await.unwrap_err();
        assert_eq!(slow.code(), Code::BodyTimeout);
        let broken = read(pieces(&["12"], End::Break), limits(5)).await.unwrap_err();
        assert_eq!(broken.code(), Code::UnreadableBody);
        assert!(broken.cause().unwrap().contains("reset"));
    }

    #[test]
    fn only_plain_json_passes() {
        let with = |name, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(name, HeaderValue::from_static(value));
            require_json(&headers)
        };
        for fine in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json ;a=b",
        ] {
            with(CONTENT_TYPE, fine).unwrap();
        }
        with(CONTENT_ENCODING, "identity").unwrap();
        for wrong in ["", "text/plain", "application/jsonp", "application/x-www-form-urlencoded"] {
            assert_eq!(with(CONTENT_TYPE, wrong).unwrap_err().code(), Code::UnsupportedMediaType);
        }
        assert_eq!(with(CONTENT_ENCODING, "gzip").unwrap_err().code(), Code::UnsupportedMediaType);
        assert_eq!(require_json(&HeaderMap::new()).unwrap_err().code(), Code::UnsupportedMediaType);
    }
}
