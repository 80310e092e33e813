//! A connection that stays open for many requests, and breaks with its server.

use std::io::{self, BufRead, BufReader, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// HTTP/1.1 over one connection at a time; a broken one is replaced by the next request.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

/// A whole answer: every byte that its head announces has come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The media type.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// The body as text, for messages.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Whether this is a refusal as every one should be: RFC 9457, with this status.
    #[must_use]
    pub fn is_problem(&self, status: u16) -> bool {
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        self.status == status
            && self.content_type == "application/problem+json"
            && body.get("status").and_then(serde_json::Value::as_u64) == Some(status.into())
    }
}

impl Connection {
    /// A connection that is opened by the first request.
    #[must_use]
    pub const fn to(address: SocketAddr) -> Self {
        Self { address, stream: None }
    }

    /// Sends `GET path`.
    pub fn get(&mut self, path: &str) -> io::Result<Reply> {
        self.exchange(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())
    }

    /// Sends `POST path` with a JSON body.
    pub fn post(&mut self, path: &str, body: &[u8]) -> io::Result<Reply> {
        let mut bytes = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        self.exchange(&bytes)
    }

    fn exchange(&mut self, request: &[u8]) -> io::Result<Reply> {
        let mut stream = if let Some(stream) = self.stream.take() {
            stream
        } else {
            let stream = TcpStream::connect(self.address)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            BufReader::new(stream)
        };
        stream.get_mut().write_all(request)?;
        let (reply, goes_on) = read_reply(&mut stream)?;
        if goes_on {
            self.stream = Some(stream);
        }
        Ok(reply)
    }
}

/// Reads one answer, and whether another may follow on the connection.
fn read_reply(stream: &mut impl BufRead) -> io::Result<(Reply, bool)> {
    let status_line = line(stream)?;
    let status = status_line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| malformed("no status"))?;
    let (mut length, mut content_type, mut goes_on) = (None, String::new(), true);
    loop {
        let field = line(stream)?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':').ok_or_else(|| malformed("no header"))?;
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("content-length", value) => length = value.parse().ok(),
            ("content-type", value) => value.clone_into(&mut content_type),
            ("connection", "close") => goes_on = false,
            _ => {}
        }
    }
    let length: usize = length.ok_or_else(|| malformed("no length"))?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((Reply { status, content_type, body }, goes_on))
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let line = line.strip_suffix("\r\n").ok_or_else(|| malformed("the connection ended"))?;
    Ok(line.to_owned())
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, what)
}

const PATIENCE: Duration = Duration::from_mins(1);
