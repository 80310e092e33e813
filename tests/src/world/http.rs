//! HTTP/1.1 by hand: a client that shows every byte and can send what no library would.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// One answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Header fields in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, without its transfer coding.
    pub body: Vec<u8>,
}

impl Answer {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} stands there twice: {:?}", self.headers);
        value
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("the body is UTF-8")
    }

    /// The body of a success as JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// The body of a refusal, held to what RFC 9457 and the interface ask of every one.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        let problem: Value = serde_json::from_slice(&self.body).expect("the body is JSON");
        assert_eq!(problem["code"], code, "{problem:#}");
        assert_eq!(problem["status"], status);
        for member in ["type", "title", "detail", "instance"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{problem:#}");
        }
        let id = self.header("x-request-id").expect("every answer has an id");
        assert_eq!(problem["instance"], format!("urn:anchorlog:request:{id}"));
        problem
    }
}

/// Sends one well-formed request on a connection of its own. `content-length` and `host` are added.
#[must_use]
pub fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    if method == "POST" {
        head.extend(["content-length: ", &body.len().to_string(), "\r\n"]);
    }
    head.push_str("\r\n");
    let mut stream = connect(address);
    // A server that refuses early may close before it has read everything; its answer still counts.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    read_answer(&mut stream).unwrap_or_else(|| panic!("{method} {path} is not answered"))
}

/// Sends bytes as they are and reads the answer up to the end of the connection, which the server has to
/// bring about. `None` when it closes without an answer.
#[must_use]
pub fn raw(address: SocketAddr, bytes: &[u8]) -> Option<Answer> {
    let mut stream = connect(address);
    let _ = stream.write_all(bytes);
    read_answer(&mut stream)
}

/// Sends bytes as they are, says that there are no more, and reads the answer. `None` when there isn't one: a
/// server may take the end of what it reads for the end of the client.
#[must_use]
pub fn raw_and_no_more(address: SocketAddr, bytes: &[u8]) -> Option<Answer> {
    let mut stream = connect(address);
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    read_answer(&mut stream)
}

/// Opens a connection that gives up after a minute.
#[must_use]
pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server accepts connections");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit can be set");
    stream.set_write_timeout(Some(PATIENCE)).expect("a time limit can be set");
    stream
}

/// Reads one answer up to the end of the connection. `None` when there isn't any.
#[must_use]
pub fn read_answer(stream: &mut TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        // Closed with bytes of ours unread: what came before still counts.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the answer can't be read: {error}"),
    }
    if bytes.is_empty() { None } else { Some(parse(&bytes)) }
}

fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head that ends");
    let head = std::str::from_utf8(&bytes[..end]).expect("the head is text");
    let mut lines = head.split("\r\n");
    let status_line = lines.next().expect("a status line");
    assert!(status_line.starts_with("HTTP/1.1 "), "{status_line}");
    let status = status_line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let headers: Vec<(String, String)> = lines
        .map(|line| {
            let (name, value) = line.split_once(':').expect("a header has a name");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        })
        .collect();
    let chunked =
        headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let rest = &bytes[end + 4..];
    let declared = headers.iter().find(|(name, _)| name == "content-length");
    let declared = declared.map(|(_, value)| value.parse().expect("a length is a number"));
    let body = match declared {
        _ if chunked => unchunk(rest),
        // What follows belongs to the next answer. An answer to HEAD has less than it declares.
        Some(length) => rest[..rest.len().min(length)].to_vec(),
        None => rest.to_vec(),
    };
    Answer { status: status.expect("a status code"), headers, body }
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n").expect("a chunk's length");
        let length = std::str::from_utf8(&rest[..line]).expect("a length is text");
        let length = usize::from_str_radix(length, 16).expect("a hexadecimal length");
        rest = &rest[line + 2..];
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&rest[..length]);
        rest = &rest[length + 2..];
    }
}

const PATIENCE: Duration = Duration::from_mins(1);
