//! A connection's stream that gives up on a peer who doesn't take what is written.
//!
//! hyper bounds the time for a request head and the body reader bounds the time for a body, but nothing
//! bounds a client that asks for a large answer and then reads none of it. [`Stall`] does: a write that makes
//! no progress for the given time fails with [`io::ErrorKind::TimedOut`].

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A stream with a limit on how long writes may stall. Reads pass through.
#[derive(Debug)]
pub(super) struct Stall<S> {
    stream: S,
    patience: Duration,
    /// Made at the first write that has to wait and kept for the next one: most connections never need it.
    alarm: Option<Pin<Box<Sleep>>>,
    waiting: bool,
}

impl<S> Stall<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, alarm: None, waiting: false }
    }

    /// Passes a finished write on; for one that has to wait, lets the alarm run.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = false;
            return written;
        }
        let deadline = Instant::now() + self.patience;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if !self.waiting {
            self.waiting = true;
            alarm.as_mut().reset(deadline);
        }
        ready!(alarm.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client doesn't take its answer",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, closed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up() {
        let (ours, _theirs) = tokio::io::duplex(8);
        let mut stream = Stall::new(ours, Duration::from_secs(3));
        let started = Instant::now();
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed().as_secs(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_but_steady_peer_is_served() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut stream = Stall::new(ours, Duration::from_secs(3));
        let reader = tokio::spawn(async move {
            let mut taken = 0;
            while taken < 64 {
                tokio::time::sleep(Duration::from_secs(2)).await;
                taken += theirs.read(&mut [0; 8]).await.unwrap();
            }
        });
        stream.write_all(&[0; 64]).await.unwrap();
        reader.await.unwrap();
    }
}
