//! The witness' HTTP: one thread for who knocks, one for each connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anchorlog_proto::tlog_witness::{AddCheckpoint, MAX_REQUEST_BYTES};

use super::answer::{Answer, answer};
use super::{Behaviour, Shared};

pub(super) fn start(shared: &Arc<Shared>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        for connection in listener.incoming() {
            if shared.lock().stopped {
                return;
            }
            let Ok(connection) = connection else { continue };
            let shared = Arc::clone(&shared);
            thread::spawn(move || serve(&shared, connection));
        }
    });
    address
}

/// Answers every request of a connection.
fn serve(shared: &Shared, connection: TcpStream) {
    let _ = connection.set_read_timeout(Some(Duration::from_secs(30)));
    let Ok(mut writing) = connection.try_clone() else { return };
    let mut reading = BufReader::new(connection);
    while let Some((path, body)) = read_request(&mut reading) {
        let behaviour = shared.lock().behaviour.clone();
        let request = AddCheckpoint::parse(&body).ok();
        let answer = match request {
            Some(request) if path == "/double/add-checkpoint" => {
                shared.lock().seen.push(request.clone());
                if let Behaviour::Slow(time) = behaviour {
                    thread::sleep(time);
                }
                answer(shared, &behaviour, &request)
            }
            // It shows nothing; not every witness does.
            None if path.ends_with("/checkpoint") => Answer::status(404),
            _ => {
                shared.lock().unreadable += 1;
                Answer::status(400)
            }
        };
        if write_answer(&mut writing, &answer).is_none() {
            return;
        }
    }
}

fn read_request(reading: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    reading.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reading.read_line(&mut header).ok().filter(|read| *read > 0)?;
        let header = header.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok().filter(|length| *length <= MAX_REQUEST_BYTES)?;
        }
    }
    let mut body = vec![0; length];
    reading.read_exact(&mut body).ok()?;
    Some((path, body))
}

fn write_answer(writing: &mut TcpStream, answer: &Answer) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.extend(["content-length: ", &answer.body.len().to_string(), "\r\n\r\n"]);
    writing.write_all(head.as_bytes()).ok()?;
    writing.write_all(&answer.body).ok()
}
