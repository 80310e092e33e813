//! What the tests of mirror and monitor share: the program with a home, and a small HTTP server.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use anchorlog_tests::world::{Program, Ran, command, run};
use serde_json::Value;

/// `anchor` with a state directory of its own.
pub(crate) struct Home {
    root: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn anchor(&self, arguments: &[&str]) -> Command {
        let mut command = command(Program::Anchor);
        command.current_dir(self.root.path()).env("ANCHORLOG_STATE", self.path("state"));
        command.args(arguments).args(["--attempts", "2"]);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Told {
        Told::of(&run(self.anchor(arguments).arg("--json")))
    }
}

/// The lines of standard output: events, and the report at the end.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) code: i32,
    pub(crate) events: Vec<Value>,
    pub(crate) report: Value,
}

impl Told {
    fn of(ran: &Ran) -> Self {
        let mut lines: Vec<Value> = ran
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{ran:?}")))
            .collect();
        let report = lines.pop().unwrap_or_else(|| panic!("{ran:?}"));
        assert_eq!(report["schema"], "anchorlog.client-report/1", "{ran:?}");
        assert_eq!(report["exit_code"], ran.code, "{ran:?}");
        Self { code: ran.code, events: lines, report }
    }

    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// The events as `type code` or `type index`.
    pub(crate) fn names(&self) -> Vec<String> {
        self.events.iter().map(name).collect()
    }
}

/// An event as `type code` or `type index`.
pub(crate) fn name(event: &Value) -> String {
    let what = event["code"].as_str().map_or(event["index"].to_string(), str::to_owned);
    format!("{} {what}", event["type"].as_str().unwrap())
}

/// Serves the files of a directory, as any static server would.
pub(crate) fn serve_directory(root: &Path) -> SocketAddr {
    let root = root.to_owned();
    serve(move |path, _| fs::read(root.join(path.trim_start_matches('/'))).map_err(|_| 404))
}

/// Takes posts and answers them with `status`, the first `failing` ones with 503; what came is kept.
pub(crate) fn take_posts(failing: usize) -> (SocketAddr, Arc<Mutex<Vec<Vec<u8>>>>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&kept);
    let address = serve(move |_, body| {
        let mut taken = taken.lock().unwrap();
        taken.push(body.to_vec());
        if taken.len() <= failing { Err(503) } else { Ok(Vec::new()) }
    });
    (address, kept)
}

/// The body of an answer with status 200, or another status.
type Answer = dyn Fn(&str, &[u8]) -> Result<Vec<u8>, u16>;

fn serve(
    answer: impl Fn(&str, &[u8]) -> Result<Vec<u8>, u16> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                // Whoever hangs up has got what it wanted.
                let _ = exchange(&stream.unwrap(), &*answer);
            });
        }
    });
    address
}

fn exchange(stream: &TcpStream, answer: &Answer) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let (status, bytes) = match answer(&path, &body) {
        Ok(bytes) => (200, bytes),
        Err(status) => (status, Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        bytes.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(&bytes)
}
