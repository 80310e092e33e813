//! The authority over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderMap};
use axum::http::{Method, Request, StatusCode};
use tower::ServiceExt as _;

use super::*;

async fn send(
    router: &Router,
    method: Method,
    path: &str,
    media_type: Option<&str>,
    body: Vec<u8>,
) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(media_type) = media_type {
        request = request.header(CONTENT_TYPE, media_type);
    }
    let request = request.body(Body::from(body)).unwrap();
    let (head, body) = router.clone().oneshot(request).await.unwrap().into_parts();
    assert_eq!(head.headers["x-anchorlog-trust"], "development");
    (head.status, head.headers, to_bytes(body, 1 << 20).await.unwrap().to_vec())
}

const QUERY: Option<&str> = Some("application/timestamp-query");

#[tokio::test]
async fn requests_are_answered() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let router = router(Arc::new(tsa));
    let good = request(HashAlgorithm::Sha512).to_der();
    for media_type in ["application/timestamp-query", "Application/Timestamp-Query; x=y"] {
        let (status, headers, body) =
            send(&router, Method::POST, "/tsa", Some(media_type), good.clone()).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(headers[CONTENT_TYPE], "application/timestamp-reply");
        assert_eq!(TimestampResponse::parse(&body).unwrap().texts, [WARNING]);
        token(&body);
    }
    // A refusal is an answer too.
    let (status, headers, body) =
        send(&router, Method::POST, "/tsa", QUERY, b"nonsense".to_vec()).await;
    assert_eq!(
        (status, &headers[CONTENT_TYPE]),
        (StatusCode::OK, &"application/timestamp-reply".parse().unwrap())
    );
    assert!(TimestampResponse::parse(&body).unwrap().granted().is_err());
}

#[tokio::test]
async fn the_root_is_published() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let root = tsa.root_pem().to_owned();
    let (status, headers, body) =
        send(&router(Arc::new(tsa)), Method::GET, "/tsa/root.pem", None, Vec::new()).await;
    assert_eq!((status, String::from_utf8(body).unwrap()), (StatusCode::OK, root));
    assert_eq!(headers[CONTENT_TYPE], "application/x-pem-file");
}

#[tokio::test]
async fn what_is_no_request_in_form_is_a_problem() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let router = router(Arc::new(tsa));
    let cases = [
        (Method::POST, "/tsa", None, 10, 415),
        (Method::POST, "/tsa", Some("application/timestamp-reply"), 10, 415),
        (Method::POST, "/tsa", Some("application/json"), 10, 415),
        (Method::POST, "/tsa", QUERY, 16 << 10, 200),
        (Method::POST, "/tsa", QUERY, (16 << 10) + 1, 413),
        (Method::GET, "/tsa", None, 0, 405),
        (Method::PUT, "/tsa", QUERY, 10, 405),
        (Method::POST, "/tsa/root.pem", QUERY, 10, 405),
    ];
    for (method, path, media_type, length, expected) in cases {
        let (status, headers, body) =
            send(&router, method.clone(), path, media_type, vec![0x30; length]).await;
        assert_eq!(status.as_u16(), expected, "{method} {path} {media_type:?} {length}");
        if expected != 200 {
            assert_eq!(headers[CONTENT_TYPE], "application/problem+json");
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["status"], expected);
        }
        if expected == 405 {
            let allowed = headers[ALLOW].to_str().unwrap();
            assert!(allowed == "POST" || allowed == "GET,HEAD", "{allowed}");
        }
    }
}
