//! A time-stamping server on raw TCP. Left alone it is right; a script of steps makes it wrong in every way a
//! server can be.

pub mod der;
pub mod signer;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anchorlog_proto::timestamp::TimestampRequest;

use der::{integer, seq, tlv};
use signer::{Authority, Deviation};

pub const REPLY: &str = "application/timestamp-reply";

/// What is done with one connection.
pub type Step = Arc<dyn Fn(&Authority, &Asked, &mut TcpStream) + Send + Sync>;

/// One request as it came.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub line: String,
    pub headers: String,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn request(&self) -> TimestampRequest {
        TimestampRequest::parse(&self.body).unwrap()
    }
}

/// A running server.
pub struct Tsa {
    pub authority: Arc<Authority>,
    address: SocketAddr,
    script: Arc<Mutex<Vec<Step>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Tsa {
    /// A server of the authority of this name, that answers well.
    pub fn start(name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let crl = format!("http://{address}/crl");
        let authority = Arc::new(Authority::new(name, Some(&crl)));
        Self::serve(listener, authority)
    }

    /// The same without a distribution point in the certificate.
    pub fn without_crl(name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::serve(listener, Arc::new(Authority::new(name, None)))
    }

    /// The same with this distribution point.
    pub fn with_crl_url(name: &str, url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::serve(listener, Arc::new(Authority::new(name, Some(url))))
    }

    fn serve(listener: TcpListener, authority: Arc<Authority>) -> Self {
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Mutex::new(vec![good()]));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let tsa = Self { authority, address, script, asked };
        let (authority, script, asked) =
            (tsa.authority.clone(), tsa.script.clone(), tsa.asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (authority, script, asked) = (authority.clone(), script.clone(), asked.clone());
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(request) = read_request(&mut stream) else { return };
                    asked.lock().unwrap().push(request.clone());
                    let step = {
                        let mut script = script.lock().unwrap();
                        // The last step stays.
                        if script.len() > 1 { script.remove(0) } else { script[0].clone() }
                    };
                    step(&authority, &request, &mut stream);
                });
            }
        });
        tsa
    }

    /// What to do with the next connections, one step each; the last one stays.
    pub fn script(&self, steps: impl IntoIterator<Item = Step>) {
        *self.script.lock().unwrap() = steps.into_iter().collect();
        self.asked.lock().unwrap().clear();
    }

    pub fn url(&self) -> String {
        format!("http://{}/tsr", self.address)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// A right answer, or a right revocation list.
pub fn good() -> Step {
    Arc::new(|authority, asked, stream| {
        if asked.line.starts_with("GET /crl") {
            let crl = authority.crl(false);
            send(stream, "200 OK", "Content-Type: application/pkix-crl", &crl);
        } else {
            let response = authority.response(&asked.request(), &Deviation::default());
            send(stream, "200 OK", &format!("Content-Type: {REPLY}"), &response);
        }
    })
}

/// A right answer with another status line and other headers.
pub fn good_as(status: &'static str, headers: impl Into<String>) -> Step {
    let headers = headers.into();
    Arc::new(move |authority, asked, stream| {
        let response = authority.response(&asked.request(), &Deviation::default());
        send(stream, status, &headers, &response);
    })
}

/// A signed answer that says something else than was asked.
pub fn deviating(deviation: Deviation) -> Step {
    Arc::new(move |authority, asked, stream| {
        let response = authority.response(&asked.request(), &deviation);
        send(stream, "200 OK", &format!("Content-Type: {REPLY}"), &response);
    })
}

/// A body that has nothing to do with what was asked.
pub fn fixed(status: &'static str, headers: impl Into<String>, body: impl Into<Vec<u8>>) -> Step {
    let (headers, body) = (headers.into(), body.into());
    Arc::new(move |_, _, stream| send(stream, status, &headers, &body))
}

/// A body under the right media type.
pub fn reply(body: impl Into<Vec<u8>>) -> Step {
    fixed("200 OK", format!("Content-Type: {REPLY}"), body)
}

/// Whatever the closure does with a right answer.
pub fn with_response(act: impl Fn(&[u8], &mut TcpStream) + Send + Sync + 'static) -> Step {
    Arc::new(move |authority, asked, stream| {
        act(&authority.response(&asked.request(), &Deviation::default()), stream);
    })
}

/// A refusal with a status, a text and the failure bit.
pub fn refusal(status: u8, failure: Option<u8>) -> Step {
    let text = seq(&[&tlv(0x0c, "go \u{202e}away\u{1b}[31m".as_bytes())]);
    let failure = failure.map(|bit| {
        let mut octets = vec![0; usize::from(bit / 8) + 1];
        *octets.last_mut().unwrap() = 0x80 >> (bit % 8);
        tlv(3, &[&[7 - bit % 8], &octets[..]].concat())
    });
    reply(seq(&[&seq(&[&integer(&[status]), &text, failure.as_deref().unwrap_or_default()])]))
}

/// Takes the request and never says anything.
pub fn hang() -> Step {
    Arc::new(|_, _, _| thread::sleep(Duration::from_mins(1)))
}

/// Headers and body, with the body's length and an end to the connection.
pub fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    // Whoever has heard enough hangs up.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

fn read_request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let end = loop {
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        // A TLS handshake: nobody here speaks it.
        if bytes.starts_with(&[0x16]) {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut body = bytes[end + 4..].to_vec();
    let (line, headers) = head.split_once("\r\n").unwrap();
    let headers = headers.to_lowercase();
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    while body.len() < length {
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
        body.extend_from_slice(&buffer[..read]);
    }
    Some(Asked { line: line.to_owned(), headers, body })
}
