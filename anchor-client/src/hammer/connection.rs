//! One HTTP/1.1 keep-alive connection, as light as it can be: a request is one prepared buffer and one
//! write, an answer is found by its `Content-Length`.
//!
//! What it is not: an HTTP client. It sends what it is given, speaks to one server over plain TCP, and
//! refuses every answer it wasn't made for (chunked bodies, missing lengths). It exists so that on a
//! machine that is measured the load generator takes little of what it measures.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection with the bytes of an answer that is being read.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// What came back: its status, and where its body lies until the next exchange.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
    /// Whether the server will close the connection.
    pub(super) closing: bool,
}

impl Connection {
    pub(super) async fn open(host: &str, port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a whole request and reads the whole answer.
    pub(super) async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            if let Some(end) = end_of_head(&self.buffer) {
                break Head::read(self.buffer.get(..end).unwrap_or_default(), end)?;
            }
            if self.buffer.len() > MAX_HEAD {
                return Err(refused("the answer's head is too long"));
            }
            self.fill().await?;
        };
        let end = head.length.saturating_add(head.body_length);
        while self.buffer.len() < end {
            self.fill().await?;
        }
        if self.buffer.len() > end {
            return Err(refused("more bytes than the answer's length"));
        }
        let body = self.buffer.get(head.length..end).unwrap_or_default();
        Ok(Answer { status: head.status, body, closing: head.closing })
    }

    async fn fill(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            _ => Ok(()),
        }
    }
}

/// What is needed of a status line and its headers.
#[derive(Debug, Eq, PartialEq)]
struct Head {
    status: u16,
    /// Bytes of the head, the empty line included.
    length: usize,
    body_length: usize,
    closing: bool,
}

impl Head {
    fn read(head: &[u8], length: usize) -> io::Result<Self> {
        let text = str::from_utf8(head).map_err(|_| refused("the answer's head is not text"))?;
        let mut lines = text.split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.strip_prefix("HTTP/1.1 "))
            .and_then(|line| line.get(..3))
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| refused("not an HTTP/1.1 answer"))?;
        let mut body_length = None;
        let mut closing = false;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                let parsed = value.parse().ok().filter(|length| *length <= MAX_BODY);
                body_length =
                    Some(parsed.ok_or_else(|| refused("Content-Length is out of bounds"))?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                return Err(refused("the answer is chunked, which the hammer doesn't read"));
            } else if name.eq_ignore_ascii_case("connection") {
                closing = value.eq_ignore_ascii_case("close");
            }
        }
        let body_length = body_length.ok_or_else(|| refused("the answer has no Content-Length"))?;
        Ok(Self { status, length, body_length, closing })
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|start| start + 4)
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

const MAX_HEAD: usize = 16 * 1024;
const MAX_BODY: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    fn head(text: &str) -> Result<Head, String> {
        Head::read(text.as_bytes(), text.len()).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_what_it_needs_of_a_head() {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: a:b\r\ncontent-LENGTH:  12 \r\n\r\n";
        let expected = Head { status: 200, length: text.len(), body_length: 12, closing: false };
        assert_eq!(head(text), Ok(expected));
        let closing = head("HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        assert!(closing.unwrap().closing);
    }

    #[test]
    fn refuses_what_it_was_not_made_for() {
        for text in [
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 \r\n\r\n",
            "",
        ] {
            assert!(head(text).is_err(), "{text:?}");
        }
    }

    async fn answered_with(pieces: &'static [&'static str]) -> io::Result<(u16, Vec<u8>)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4];
            stream.read_exact(&mut request).await.unwrap();
            for piece in pieces {
                stream.write_all(piece.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut connection = Connection::open("127.0.0.1", port).await?;
        let answer = connection.exchange(b"ping").await?;
        Ok((answer.status, answer.body.to_vec()))
    }

    #[tokio::test]
    async fn answers_in_pieces_are_put_together() {
        let pieces = &["HTTP/1.1 20", "0 OK\r\nContent-Length: 5\r\n\r", "\nhe", "llo"];
        assert_eq!(answered_with(pieces).await.unwrap(), (200, b"hello".to_vec()));
    }

    #[tokio::test]
    async fn torn_and_overlong_answers_are_errors() {
        let torn = answered_with(&["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"]).await;
        assert_eq!(torn.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let long = answered_with(&["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello"]).await;
        assert_eq!(long.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
