//! Connections: accepting them, bounding them, and letting them finish.
//!
//! HTTP/1.1 in clear text; TLS belongs to a proxy in front. Each connection is bounded by the time it may
//! take for a request head, by the size of that head, and by the time it may leave an answer untaken; their
//! number is bounded by not accepting more. On stop nothing new is accepted, idle connections are closed,
//! and every request that was already read is answered.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;
use tracing::{debug, info, warn};

use super::stall::Stall;
use crate::config::HttpConfig;

/// Serves `router` on `listener` until `stop` becomes true, then answers what was accepted and returns.
///
/// Returns `true` if every connection ended by itself, `false` if some had to be cut off because they
/// weren't done after the configured grace time.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    config: &HttpConfig,
    mut stop: watch::Receiver<bool>,
) -> bool {
    let connections = Arc::new(Semaphore::new(config.max_connections));
    let builder = Arc::new(builder(config));
    // Held by every connection: when all are gone, `ended` resolves.
    let (alive, mut ended) = tokio::sync::mpsc::channel::<()>(1);
    loop {
        let accepted = tokio::select! {
            biased;
            () = stopped(&mut stop) => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        let Some((stream, place)) = accepted else { continue };
        let (router, builder) = (router.clone(), Arc::clone(&builder));
        let (stop, alive, patience) = (stop.clone(), alive.clone(), config.write_timeout.get());
        tokio::spawn(async move {
            connection(stream, router, &builder, patience, stop).await;
            drop((place, alive));
        });
    }
    drop((listener, alive));
    info!("stopped accepting; answering what was accepted");
    let grace = config.shutdown_grace.get();
    if tokio::time::timeout(grace, ended.recv()).await.is_err() {
        warn!(seconds = grace.as_secs(), "some connections weren't done in time and are cut off");
        return false;
    }
    true
}

fn builder(config: &HttpConfig) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(config.header_timeout.get())
        .max_headers(MAX_HEADERS)
        .max_header_size(MAX_HEAD)
        .max_buf_size(MAX_BUFFER);
    builder
}

type Place = tokio::sync::OwnedSemaphorePermit;

/// Waits for a free place and then for a connection. `None` after an error that concerns one connection only.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, Place)> {
    // The semaphore is never closed.
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are written whole; waiting to fill a packet only delays them.
            let _ = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(error) => {
            if !concerns_one_connection(&error) {
                // Typically out of file descriptors. Accepting would fail again at once, so breathe first.
                warn!(%error, "can't accept connections");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            None
        }
    }
}

fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

async fn connection(
    stream: TcpStream,
    router: Router,
    builder: &http1::Builder,
    patience: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let service = router.map_request(|request: hyper::Request<Incoming>| request.map(Body::new));
    let io = TokioIo::new(Stall::new(stream, patience));
    let connection = builder.serve_connection(io, TowerToHyperService::new(service));
    let mut connection = std::pin::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = stopped(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        debug!(%error, "connection ended early");
    }
}

/// Resolves once the server has to stop, also when nobody is left who could say so.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stopped| *stopped).await;
}

/// Header lines of one request.
const MAX_HEADERS: usize = 64;

/// Bytes of one request head.
const MAX_HEAD: usize = 16 * 1024;

/// Bytes read ahead per connection.
const MAX_BUFFER: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::config::Span;

    async fn start(
        config: HttpConfig,
        router: Router,
    ) -> (std::net::SocketAddr, watch::Sender<bool>, tokio::task::JoinHandle<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let server = tokio::spawn(async move { serve(listener, router, &config, stopped).await });
        (address, stop, server)
    }

    fn router() -> Router {
        Router::new().route("/", get(|| async { "here" })).route(
            "/slow",
            post(|| async {
                tokio::time::sleep(Duration::from_millis(150)).await;
                "done"
            }),
        )
    }

    async fn all_of(stream: &mut TcpStream) -> String {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn what_was_accepted_is_answered_after_the_stop() {
        let (address, stop, server) = start(HttpConfig::default(), router()).await;
        let mut busy = TcpStream::connect(address).await.unwrap();
        busy.write_all(b"POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
            .await
            .unwrap();
        let mut idle = TcpStream::connect(address).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.send(true).unwrap();
        let answer = all_of(&mut busy).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("done"), "{answer}");
        assert_eq!(all_of(&mut idle).await, "");
        assert!(server.await.unwrap());
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn the_grace_time_ends() {
        let router = Router::new().route("/", get(std::future::pending::<()>));
        let config = HttpConfig { shutdown_grace: Span::from_millis(50), ..HttpConfig::default() };
        let (address, stop, server) = start(config, router).await;
        let mut busy = TcpStream::connect(address).await.unwrap();
        busy.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.send(true).unwrap();
        assert!(!server.await.unwrap());
    }

    #[tokio::test]
    async fn a_head_that_does_not_come_closes_the_connection() {
        let config = HttpConfig { header_timeout: Span::from_millis(60), ..HttpConfig::default() };
        let (address, _stop, _server) = start(config, router()).await;
        let mut slow = TcpStream::connect(address).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nho").await.unwrap();
        let answer = tokio::time::timeout(Duration::from_secs(5), all_of(&mut slow)).await.unwrap();
        assert!(!answer.contains("200 OK"), "{answer}");
    }

    #[tokio::test]
    async fn a_huge_head_is_refused() {
        let (address, _stop, _server) = start(HttpConfig::default(), router()).await;
        let mut large = TcpStream::connect(address).await.unwrap();
        let head = format!("GET / HTTP/1.1\r\nhost: x\r\na: {}\r\n\r\n", "x".repeat(MAX_HEAD));
        // The server may close while this is still being written, and the close may overtake the answer.
        let _ = large.write_all(head.as_bytes()).await;
        let answer = all_of(&mut large).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }

    #[tokio::test]
    async fn further_connections_wait_for_a_place() {
        let config = HttpConfig { max_connections: 1, ..HttpConfig::default() };
        let (address, _stop, _server) = start(config, router()).await;
        let first = TcpStream::connect(address).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        let waited = tokio::time::timeout(Duration::from_millis(100), all_of(&mut second)).await;
        assert!(waited.is_err());
        drop(first);
        let answer =
            tokio::time::timeout(Duration::from_secs(5), all_of(&mut second)).await.unwrap();
        assert!(answer.ends_with("here"), "{answer}");
    }
}
