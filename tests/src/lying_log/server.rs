//! The log behind HTTP, in this process.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::body::Bytes;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::oneshot;

use super::{Answer, LyingLog};

/// A server that stops with this value.
#[derive(Debug)]
pub struct Served {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LyingLog {
    /// Serves the log on a loopback address, as it is and as it will be told to be.
    #[must_use]
    pub fn serve(&self) -> Served {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket of our own");
        let address = listener.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel();
        let log = self.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime for one server");
        let thread = thread::spawn(move || {
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
                let answer = move |method: Method, uri: Uri, body: Bytes| {
                    let answer = answer(&log, &method, &uri, &body);
                    async move { answer }
                };
                let served = axum::serve(listener, Router::new().fallback(answer)).into_future();
                // Whoever still waits for an answer gets none: the log is gone.
                tokio::select! {
                    served = served => served.expect("the server runs until it is stopped"),
                    _ = stopped => {}
                }
            });
        });
        Served { address, stop: Some(stop), thread: Some(thread) }
    }
}

impl Served {
    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The log's prefix, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Either fails only if the server is gone already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn answer(log: &LyingLog, method: &Method, uri: &Uri, body: &[u8]) -> Response {
    let Answer { status, content_type, body } = match *method {
        Method::POST => log.post(uri.path(), body),
        _ => log.get(uri.path(), uri.query().unwrap_or_default()),
    };
    let status = StatusCode::from_u16(status).expect("a status code");
    (status, [(header::CONTENT_TYPE, content_type)], body).into_response()
}
