//! The start-up checks: the statements, the marks and the registrations, each read once, and what follows.
//!
//! Nothing is written here and nothing is served. The statements are read in the file's order; signatures are
//! verified on all processors. Memory is that of the [`Book`] and, while the marks are compared, 16 bytes a
//! statement.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::thread;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{
    Mark, Registration, Signature, Statement, TrailId, VerifiedStatement, WitnessKey,
};

use super::book::{Book, Limits, Place};
use super::finding::{Finding, FindingCode, Outcome};
use super::lines::{Line, Lines};

/// Findings that are named one by one; beyond, they are only counted.
pub const MAX_NAMED: usize = 100;

/// What is examined.
pub(super) struct Sources<R> {
    /// The statements.
    pub(super) log: R,
    /// The marks.
    pub(super) marks: Part<R>,
    /// The registrations.
    pub(super) registrations: Part<R>,
}

/// A file beside the statements.
pub(super) enum Part<R> {
    /// It is there.
    There(R),
    /// It is not there.
    Missing,
    /// It is not looked at.
    Ignored,
}

/// How a file ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Ending {
    /// Where its last line ends, newline included.
    pub(super) whole: u64,
    /// Bytes behind that.
    pub(super) tail: u64,
}

/// What the checks found.
#[derive(Debug)]
pub(super) struct Examined {
    pub(super) findings: Vec<Finding>,
    pub(super) finding_count: u64,
    pub(super) outcome: Outcome,
    pub(super) book: Book,
    pub(super) marks: u64,
    pub(super) log: Ending,
    pub(super) registrations: Ending,
    /// The mark that repair completes.
    pub(super) unmarked: Option<Mark>,
}

/// Reads and checks everything. Errors: a file can't be read.
pub(super) fn examine<R: BufRead>(
    sources: Sources<R>,
    key: &WitnessKey,
    limits: Limits,
) -> io::Result<Examined> {
    let mut examination = Examination::new(key, limits);
    examination.read_log(sources.log)?;
    examination.read_marks(sources.marks)?;
    examination.read_registrations(sources.registrations)?;
    Ok(examination.finish())
}

struct Examination<'a> {
    key: &'a WitnessKey,
    limits: Limits,
    findings: Vec<Finding>,
    finding_count: u64,
    book: Book,
    /// Trails whose chain has broken: only the first break is named.
    broken: HashSet<TrailId>,
    /// By trail, in the order of the indexes, the statements that continue its chain.
    seen: HashMap<TrailId, Vec<Seen>>,
    /// The statements that don't, and whether a mark names them.
    astray: HashMap<Mark, bool>,
    faulty: u64,
    last: Option<Last>,
    log: Ending,
    tail: Tail,
    marks: u64,
    /// Whether there are marks to compare with, damaged or not.
    are_read: bool,
    marks_state: Marks,
    unreached: u64,
    registrations: Ending,
    registrations_are_wrong: bool,
}

/// The head of a signature's hash, and whether a mark names the statement.
#[derive(Clone, Copy)]
struct Seen {
    head: [u8; 15],
    is_marked: bool,
}

/// What lies behind the last line of the statements.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Tail {
    None,
    /// Part of a line.
    Torn,
    /// A whole statement, but for its newline.
    Unterminated,
}

/// What the marks are worth.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Marks {
    /// They are not looked at, or there are none and nothing they could name.
    Ignored,
    Whole,
    Damaged,
}

/// The last whole statement.
#[derive(Clone, Copy)]
struct Last {
    mark: Option<Mark>,
    is_faulty: bool,
}

/// What a line of the statements is.
enum Proved {
    Statement(VerifiedStatement),
    Unverified(Statement, String),
    Malformed(String),
}

impl<'a> Examination<'a> {
    fn new(key: &'a WitnessKey, limits: Limits) -> Self {
        Self {
            key,
            limits,
            findings: Vec::new(),
            finding_count: 0,
            book: Book::default(),
            broken: HashSet::new(),
            seen: HashMap::new(),
            astray: HashMap::new(),
            faulty: 0,
            last: None,
            log: Ending::default(),
            tail: Tail::None,
            marks: 0,
            are_read: false,
            marks_state: Marks::Ignored,
            unreached: 0,
            registrations: Ending::default(),
            registrations_are_wrong: false,
        }
    }

    fn find(&mut self, code: FindingCode, detail: impl Into<String>) {
        self.finding_count = self.finding_count.saturating_add(1);
        if self.findings.len() < MAX_NAMED {
            self.findings.push(Finding::new(code, detail));
        }
    }

    fn read_log(&mut self, log: impl BufRead) -> io::Result<()> {
        let mut lines = Lines::new(log);
        let mut number = 0_u64;
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH
                && let Some(line) = lines.next()?
            {
                batch.push(line);
            }
            if batch.is_empty() {
                return Ok(());
            }
            let proved = prove_all(&batch, self.key);
            for (line, proved) in batch.iter().zip(proved) {
                number = number.saturating_add(1);
                self.take(line, number, proved);
            }
        }
    }

    fn take(&mut self, line: &Line, number: u64, proved: Proved) {
        if line.is_ended {
            self.log.whole = line.end();
        } else {
            self.log.tail = line.length;
            if matches!(proved, Proved::Malformed(_)) {
                self.tail = Tail::Torn;
                let detail = format!("statements: {} bytes behind the last line", line.length);
                return self.find(FindingCode::LogTorn, detail);
            }
            self.tail = Tail::Unterminated;
            let detail = "statements: the last statement has no newline";
            self.find(FindingCode::LogUnterminated, detail);
        }
        let (mark, fault) = match proved {
            Proved::Malformed(what) => (None, Some((FindingCode::Malformed, what))),
            Proved::Unverified(statement, what) => {
                (Some(Mark::of(&statement)), Some((FindingCode::SignatureInvalid, what)))
            }
            Proved::Statement(statement) => {
                let fault = self.chain(&statement, line);
                (Some(Mark::of(&statement)), fault)
            }
        };
        let is_faulty = fault.is_some();
        if let (Some(mark), true) = (mark, is_faulty) {
            self.astray.insert(mark, false);
        }
        self.faulty = self.faulty.saturating_add(u64::from(is_faulty));
        self.last = Some(Last { mark, is_faulty });
        // A break is named once for a trail: what comes behind it can't be right.
        if let Some((code, what)) = fault.filter(|(_, what)| !what.is_empty()) {
            self.find(code, format!("statements, line {number}: {what}"));
        }
    }

    /// Adds a statement to its chain; what is wrong with it, if that isn't possible.
    fn chain(
        &mut self,
        statement: &VerifiedStatement,
        line: &Line,
    ) -> Option<(FindingCode, String)> {
        let trail = statement.body().checkpoint.trail;
        if self.broken.contains(&trail) {
            return Some((FindingCode::ChainBroken, String::new()));
        }
        let over = self.book.statements() >= self.limits.statements
            || (self.book.trail(trail).is_none() && self.book.trail_count() >= self.limits.trails);
        if over {
            self.broken.insert(trail);
            let what = "more statements or trails than a witness keeps".to_owned();
            return Some((FindingCode::OverLimit, what));
        }
        let length = u16::try_from(line.length).unwrap_or(u16::MAX);
        let place = Place { offset: line.start, length };
        if let Err(broken) = self.book.push(statement, place) {
            self.broken.insert(trail);
            return Some((FindingCode::ChainBroken, format!("trail {trail}: {broken}")));
        }
        let seen = Seen { head: head(statement.signature()), is_marked: false };
        self.seen.entry(trail).or_default().push(seen);
        None
    }

    fn read_marks(&mut self, marks: Part<impl BufRead>) -> io::Result<()> {
        let marks = match marks {
            Part::Ignored => return Ok(()),
            Part::There(marks) => marks,
            Part::Missing if self.log == Ending::default() => return Ok(()),
            Part::Missing => {
                self.marks_state = Marks::Damaged;
                self.find(FindingCode::MarksLost, "marks: there are statements and no marks; is the volume with the marks mounted?");
                return Ok(());
            }
        };
        (self.are_read, self.marks_state) = (true, Marks::Whole);
        let mut lines = Lines::new(marks);
        let mut number = 0_u64;
        while let Some(line) = lines.next()? {
            number = number.saturating_add(1);
            if !line.is_ended {
                self.marks_state = Marks::Damaged;
                let detail = format!("marks: {} bytes behind the last line", line.length);
                self.find(FindingCode::MarksTorn, detail);
                continue;
            }
            let Some(mark) = line.bytes.as_deref().and_then(Mark::read) else {
                self.marks_state = Marks::Damaged;
                self.find(FindingCode::MarkMalformed, format!("marks, line {number}: no mark"));
                continue;
            };
            self.marks = self.marks.saturating_add(1);
            match self.reach(&mark) {
                Some(false) => {}
                Some(true) => {
                    self.marks_state = Marks::Damaged;
                    let detail = format!("marks, line {number}: the mark stands there twice");
                    self.find(FindingCode::MarkRepeated, detail);
                }
                None => {
                    self.unreached = self.unreached.saturating_add(1);
                    let (trail, index) = (mark.trail, mark.index);
                    let detail = format!(
                        "marks, line {number}: the statement {index} of trail {trail} is not there"
                    );
                    self.find(FindingCode::MarkUnreached, detail);
                }
            }
        }
        Ok(())
    }

    /// Marks the statement that a mark names, and tells whether it was marked before. None if it isn't there.
    fn reach(&mut self, mark: &Mark) -> Option<bool> {
        let at = usize::try_from(mark.index).ok()?;
        let seen = self.seen.get_mut(&mark.trail).and_then(|seen| seen.get_mut(at));
        let slot = match seen.filter(|seen| seen.head == head(&mark.signature)) {
            Some(seen) => &mut seen.is_marked,
            None => self.astray.get_mut(mark)?,
        };
        Some(std::mem::replace(slot, true))
    }

    fn is_marked(&self, mark: &Mark) -> bool {
        let at = usize::try_from(mark.index).ok();
        let seen = at.and_then(|at| self.seen.get(&mark.trail)?.get(at));
        let seen = seen.filter(|seen| seen.head == head(&mark.signature));
        seen.map_or_else(
            || self.astray.get(mark).is_some_and(|is_marked| *is_marked),
            |seen| seen.is_marked,
        )
    }

    fn read_registrations(&mut self, registrations: Part<impl BufRead>) -> io::Result<()> {
        let mut lines = match registrations {
            Part::Ignored => return Ok(()),
            Part::Missing => None,
            Part::There(registrations) => Some(Lines::new(registrations)),
        };
        let mut number = 0_u64;
        while let Some(lines) = &mut lines
            && let Some(line) = lines.next()?
        {
            number = number.saturating_add(1);
            if !line.is_ended {
                self.registrations.tail = line.length;
                let detail = format!("registrations: {} bytes behind the last line", line.length);
                self.find(FindingCode::RegistrationsTorn, detail);
                continue;
            }
            self.registrations.whole = line.end();
            let Some(registration) = line.bytes.as_deref().and_then(Registration::read) else {
                self.registrations_are_wrong = true;
                let detail = format!("registrations, line {number}: no registration");
                self.find(FindingCode::RegistrationMalformed, detail);
                continue;
            };
            self.book.register(registration);
        }
        if self.book.registration_count() > self.limits.trails {
            self.registrations_are_wrong = true;
            self.find(FindingCode::OverLimit, "registrations: more than a witness keeps");
        }
        let mut without: Vec<TrailId> = self.book.trails().map(|(id, _)| *id).collect();
        without.retain(|id| self.book.registered(*id).is_none());
        without.sort_unstable();
        for id in without {
            self.registrations_are_wrong = true;
            let detail = format!("registrations: trail {id} has statements and no registration");
            self.find(FindingCode::Unregistered, detail);
        }
        Ok(())
    }

    fn finish(mut self) -> Examined {
        let unmarked = if self.are_read { self.name_unmarked() } else { 0 };
        let outcome = self.outcome(unmarked);
        let completes =
            matches!(outcome, Outcome::MarkCompleted | Outcome::NewlineAndMarkCompleted);
        Examined {
            outcome,
            unmarked: self.last.and_then(|last| last.mark).filter(|_| completes),
            findings: self.findings,
            finding_count: self.finding_count,
            book: self.book,
            marks: self.marks,
            log: self.log,
            registrations: self.registrations,
        }
    }

    /// How many statements no mark names; each is a finding.
    fn name_unmarked(&mut self) -> u64 {
        let mut all: Vec<(TrailId, u64)> = Vec::new();
        for (trail, seen) in &self.seen {
            let unmarked = (0..).zip(seen).filter(|(_, seen)| !seen.is_marked);
            all.extend(unmarked.map(|(index, _)| (*trail, index)));
        }
        let astray = self.astray.iter().filter(|(_, is_marked)| !**is_marked);
        all.extend(astray.map(|(mark, _)| (mark.trail, mark.index)));
        all.sort_unstable();
        for (trail, index) in &all {
            let detail = format!("marks: none for the statement {index} of trail {trail}");
            self.find(FindingCode::Unmarked, detail);
        }
        u64::try_from(all.len()).unwrap_or(u64::MAX)
    }

    /// The three rules: nothing is inferred from damaged marks; an index is released only with torn bytes that
    /// no mark can name; the one mark that is made is the next step of the fixed order.
    fn outcome(&self, unmarked: u64) -> Outcome {
        if self.marks_state == Marks::Damaged {
            return Outcome::NewKey;
        }
        let last_is_unmarked = self.marks_state == Marks::Whole
            && self.last.is_some_and(|last| last.mark.is_none_or(|mark| !self.is_marked(&mark)));
        if self.faulty > 0 || self.unreached > 0 {
            let only_the_last = self.faulty == 1
                && self.unreached == 0
                && self.tail != Tail::Torn
                && last_is_unmarked
                && self.last.is_some_and(|last| last.is_faulty);
            return if only_the_last { Outcome::NewKey } else { Outcome::Refused };
        }
        let log = match (self.tail, unmarked) {
            (Tail::None, 0) => Outcome::Start,
            (Tail::None, 1) if last_is_unmarked => Outcome::MarkCompleted,
            (Tail::Unterminated, 1) if last_is_unmarked => Outcome::NewlineAndMarkCompleted,
            (Tail::Torn, 0) => Outcome::SetAside,
            _ => return Outcome::Refused,
        };
        if self.registrations_are_wrong {
            return Outcome::Refused;
        }
        if log == Outcome::Start && self.registrations.tail > 0 {
            return Outcome::RegistrationSetAside;
        }
        log
    }
}

/// What each line of a batch is, in its order; the signatures are verified on all processors.
fn prove_all(batch: &[Line], key: &WitnessKey) -> Vec<Proved> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if batch.len() < ALONE || threads == 1 {
        return batch.iter().map(|line| prove(line, key)).collect();
    }
    let share = batch.len().div_ceil(threads);
    thread::scope(|scope| {
        let work =
            |share: &'_ [Line]| share.iter().map(|line| prove(line, key)).collect::<Vec<_>>();
        let shares: Vec<_> =
            batch.chunks(share).map(|share| scope.spawn(move || work(share))).collect();
        let joined = shares
            .into_iter()
            .map(|share| share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect()
    })
}

fn prove(line: &Line, key: &WitnessKey) -> Proved {
    let Some(bytes) = &line.bytes else {
        return Proved::Malformed("longer than a statement".to_owned());
    };
    let statement = match Statement::read(bytes) {
        Err(error) => return Proved::Malformed(error.to_string()),
        Ok(statement) if statement.to_line().as_bytes() != bytes => {
            return Proved::Malformed("not in the canonical form".to_owned());
        }
        Ok(statement) => statement,
    };
    match statement.verify(key) {
        Ok(verified) => Proved::Statement(verified),
        Err(error) => Proved::Unverified(statement, error.to_string()),
    }
}

fn head(signature: &Signature) -> [u8; 15] {
    let digest = Digest::of(signature.to_string().as_bytes());
    let mut head = [0; 15];
    for (to, from) in head.iter_mut().zip(digest.as_bytes()) {
        *to = *from;
    }
    head
}

/// Lines that are read before they are verified.
const BATCH: usize = 4096;

/// Fewer lines than this are verified where they are read.
const ALONE: usize = 64;
