//! The same forged cases before our verifier and before `openssl ts -verify`: who is wrong about which.
//!
//! What it is: [`Comparison::run`] asks both about every case, [`Comparison::page`] is docs/differential.md.
//! The program `differential` writes it; a test holds the page that is there against a new run, where the
//! OpenSSL is of the version that the page is about. What it isn't: a judgement. What is right, the forge says.

#![allow(clippy::disallowed_methods, reason = "scratch files, made again at will")]

mod page;
mod peer;

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::forge::{Case, Expected, Revocation, cases};
use crate::judge::judge;

pub use page::UNEXPLAINED;
use peer::Answer;

/// All cases with what both say.
#[derive(Debug)]
pub struct Comparison {
    /// The peer's version.
    version: String,
    rows: Vec<Row>,
}

/// One case.
#[derive(Debug)]
struct Row {
    case: Case,
    /// The reason why ours refuses.
    ours: Option<&'static str>,
    peer: Answer,
}

impl Row {
    /// The reason for which it has to be refused.
    fn defect(&self) -> Option<&'static str> {
        match self.case.expected {
            Expected::Fails(reason) => Some(reason),
            Expected::Holds { .. } => None,
        }
    }

    fn part(&self) -> Part {
        if self.case.given.revocation == Revocation::None { Part::Token } else { Part::Revocation }
    }
}

/// What a case is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    /// The token, its path and what it has to say.
    Token,
    /// What CRLs and OCSP responses say.
    Revocation,
}

impl Comparison {
    /// Asks both about every case. `None` without an `openssl`.
    pub fn run() -> io::Result<Option<Self>> {
        let Some(version) = peer::version() else { return Ok(None) };
        let folder = tempfile::tempdir()?;
        let cases = cases();
        let next = AtomicUsize::new(0);
        let answers = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = cases.get(index) else { break };
                        let answer = peer::ask(case, folder.path());
                        let ours = judge(case).err().map(|failure| failure.reason());
                        if let Ok(mut answers) = answers.lock() {
                            answers.push((index, ours, answer));
                        }
                    }
                });
            }
        });
        let mut answers = answers.into_inner().map_err(|_| io::ErrorKind::Other)?;
        answers.sort_unstable_by_key(|(index, ..)| *index);
        let rows = cases.into_iter().zip(answers).map(|(case, (_, ours, peer))| {
            let peer = peer?;
            Ok(Row { case, ours, peer })
        });
        Ok(Some(Self { version, rows: rows.collect::<io::Result<_>>()? }))
    }

    /// The names of the cases about which we are wrong. There should be none.
    #[must_use]
    pub fn our_mistakes(&self) -> Vec<&'static str> {
        let wrong = |row: &&Row| row.ours != row.defect();
        self.rows.iter().filter(wrong).map(|row| row.case.name).collect()
    }
}
