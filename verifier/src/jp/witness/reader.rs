//! The steps of a reading (section 8.6).

use std::collections::{BTreeSet, HashSet};

use anchorlog_proto::jp::witness::{
    Continuation, Statement, StatementKind, TrailId, VerifiedStatement,
};

use super::MAX_BYTES;
use super::chain::Walk;
use super::fault::{ChainFault, Refusal};
use super::keys::TrustedKeys;
use super::lines::{Lines, Origin};
use super::reading::Reading;
use crate::jp::attribution::Found;

/// What a reader has at hand besides its keys.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "section 8.6 names these")]
pub struct Supplied<'a> {
    /// The trail that is being verified.
    pub trail: TrailId,
    /// The files of statements, each a statement a line.
    pub statements: &'a [&'a [u8]],
    /// The file of the head that the reader fetched from the witness: one statement.
    pub head: Option<&'a [u8]>,
    /// What an earlier reading of the same trail saved.
    pub resume: Option<&'a [u8]>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The specification's words for what was found; all of them, however many findings are kept.
    pub faults: BTreeSet<ChainFault>,
    /// The findings.
    pub found: Found,
    /// The statement lines, the head's and the continuation's two counted.
    pub lines: usize,
    /// The different statements among them that have the form.
    pub statements: usize,
    /// The checkpoint statements that verified, by index: each is held against a copy of the trail even where
    /// the chain has a finding. A continuation's latest is one of them.
    pub checkpoints: Vec<VerifiedStatement>,
    /// The reading; none where anything was found.
    pub reading: Option<Reading>,
}

/// Refuses files that are together over [`MAX_BYTES`], by their sizes, before any is read.
pub fn within_bytes(sizes: impl IntoIterator<Item = u64>) -> Result<(), Refusal> {
    let total = sizes.into_iter().fold(0_u64, u64::saturating_add);
    if total > MAX_BYTES { Err(Refusal::BytesOverBound) } else { Ok(()) }
}

/// Reads a chain. The statements of all files, the head and the continuation's two are one set, whatever files
/// they came in and in whatever order. In this order:
///
/// 1. Every statement: its form, its signature under the key at hand that it names, its trail.
/// 2. No two different statements have one index.
/// 3. If nothing was found so far: from index 0, or after the continuation, no index is missing, each statement
///    names the one before it, and each kind keeps its rule.
/// 4. The statements reach the head.
pub fn read_chain(keys: &TrustedKeys, supplied: &Supplied<'_>) -> Result<Outcome, Refusal> {
    let size = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let single = [supplied.head, supplied.resume].into_iter().flatten();
    within_bytes(supplied.statements.iter().copied().chain(single).map(size))?;
    let lines = Lines::split(supplied)?;
    let mut set = Set::new(keys, supplied.trail, lines.count);

    let continuation = supplied.resume.map(Continuation::read);
    let last = match &continuation {
        Some(Ok(continuation)) => Some(*continuation.last()),
        _ => None,
    };
    let read = |&(origin, line)| (origin, Statement::read(line));
    let statements: Vec<_> = lines.statements.iter().map(read).collect();
    if let Some(last) = last {
        only_after(last.body().index, &statements)?;
    }
    match &continuation {
        Some(Ok(continuation)) => {
            set.add(Origin::Continuation, *continuation.last());
            set.add(Origin::Continuation, *continuation.latest());
        }
        Some(Err(error)) => set.malformed(Origin::Continuation, error),
        None => {}
    }
    for (origin, statement) in statements {
        match statement {
            Ok(statement) => set.add(origin, statement),
            Err(error) => set.malformed(origin, &error),
        }
    }
    let mut head = None;
    match lines.head.as_deref() {
        None => {}
        Some([line]) => match Statement::read(line) {
            Ok(statement) => {
                set.add(Origin::Head, statement);
                head = Some(statement);
            }
            Err(error) => set.malformed(Origin::Head, &error),
        },
        Some(lines) => {
            let what = format!("{} statement lines; a head is one", lines.len());
            set.find(ChainFault::Malformed, Origin::Head, &what);
        }
    }
    set.equivocation();
    let resume = continuation.and_then(Result::ok);
    Ok(set.conclude(resume.as_ref(), head.as_ref()))
}

/// Refuses statements that a continuation stands for already.
fn only_after<E>(last: u64, statements: &[(Origin, Result<Statement, E>)]) -> Result<(), Refusal> {
    for (origin, statement) in statements {
        let (Origin::File { file, line }, Ok(statement)) = (*origin, statement) else { continue };
        let index = statement.body().index;
        if index <= last {
            return Err(Refusal::BeforeContinuation { file, line, index, last });
        }
    }
    Ok(())
}

/// The statements so far, each once, and those that passed step 1.
struct Set<'a> {
    keys: &'a TrustedKeys,
    trail: TrailId,
    seen: HashSet<Statement>,
    passing: Vec<(Origin, VerifiedStatement)>,
    outcome: Outcome,
}

impl<'a> Set<'a> {
    fn new(keys: &'a TrustedKeys, trail: TrailId, lines: usize) -> Self {
        let outcome = Outcome { lines, ..Outcome::default() };
        Self { keys, trail, seen: HashSet::new(), passing: Vec::new(), outcome }
    }

    /// Step 1 but for the form.
    fn add(&mut self, origin: Origin, statement: Statement) {
        if !self.seen.insert(statement) {
            return;
        }
        let Some(key) = self.keys.get(statement.key_id()) else {
            let what =
                format!("the statement names the key {}, which is not given", statement.key_id());
            return self.find(ChainFault::SignatureInvalid, origin, &what);
        };
        let Ok(verified) = statement.verify(key) else {
            let what = "the signature does not verify under the key that the statement names";
            return self.find(ChainFault::SignatureInvalid, origin, what);
        };
        let trail = verified.body().checkpoint.trail;
        if trail == self.trail {
            self.passing.push((origin, verified));
        } else {
            let what = format!("the statement is of the trail {trail}");
            self.find(ChainFault::TrailMismatch, origin, &what);
        }
    }

    fn malformed(&mut self, origin: Origin, error: &impl core::fmt::Display) {
        self.find(ChainFault::Malformed, origin, &error.to_string());
    }

    fn find(&mut self, fault: ChainFault, origin: Origin, what: &str) {
        let finding = fault.finding(format!("{}{what}", origin.lead()));
        self.outcome.faults.insert(fault);
        self.outcome.found.push(origin.mark(finding));
    }

    /// Step 2. Puts the statements in the order of their indexes.
    fn equivocation(&mut self) {
        self.passing.sort_by_key(|(_, statement)| statement.body().index);
        let mut doubles = Vec::new();
        for pair in self.passing.windows(2) {
            let [(place, before), (origin, statement)] = pair else { continue };
            if before.body().index == statement.body().index {
                doubles.push((*place, *origin, statement.body().index));
            }
        }
        for (place, origin, index) in doubles {
            let what = format!("another statement of index {index} than {place}; both verify");
            self.find(ChainFault::Equivocation, origin, &what);
        }
    }

    /// Steps 3 and 4.
    fn conclude(mut self, resume: Option<&Continuation>, head: Option<&Statement>) -> Outcome {
        self.outcome.statements = self.seen.len();
        let checkpoints = self.passing.iter().map(|(_, statement)| *statement);
        self.outcome.checkpoints = checkpoints
            .filter(|statement| statement.body().kind == StatementKind::Checkpoint)
            .collect();
        if !self.outcome.faults.is_empty() {
            return self.outcome;
        }
        let end = resume.map(|resume| resume.last().body().index);
        let head_index = head.map(|head| head.body().index);
        let behind = head_index.zip(end).filter(|(head, end)| head < end);
        let unreached = head.is_some_and(|head| behind.is_none() && !self.reaches(head, end));

        let walked = self.walk(resume, head.filter(|_| unreached));
        if let Err(broken) = &walked {
            self.chain(ChainFault::ChainBroken, broken.to_string());
        }
        if let Some(head) = head_index.filter(|_| unreached) {
            let what =
                format!("the head is of index {head}, and no statement before it is supplied");
            self.chain(ChainFault::HeadUnreached, what);
        }
        if let Some((head, end)) = behind {
            let what = format!("the head is of index {head}; index {end} was read before");
            self.chain(ChainFault::HeadBehind, what);
        }
        if let (Ok(walk), true) = (walked, self.outcome.faults.is_empty())
            && let (Some(last), Some(latest)) = (walk.last, walk.latest)
        {
            self.outcome.reading = Some(Reading {
                trail: self.trail,
                continued: end,
                head: head_index,
                last,
                latest,
                conflicts: walk.conflicts,
                retired: last.body().kind == StatementKind::Retirement,
            });
        }
        self.outcome
    }

    /// Whether a head is at most one index past some other statement or the continuation, or the first of all.
    fn reaches(&self, head: &Statement, end: Option<u64>) -> bool {
        let others = self.passing.iter().map(|(_, statement)| statement.statement());
        let highest = others.filter(|other| *other != head).map(|other| other.body().index).max();
        let highest = highest.max(end);
        head.body().index <= highest.map_or(0, |highest| highest.saturating_add(1))
    }

    /// Step 3, over all statements but a head that is not reached.
    fn walk(
        &self,
        resume: Option<&Continuation>,
        unreached: Option<&Statement>,
    ) -> Result<Walk, super::chain::Broken> {
        let find = |wanted: &Statement| {
            let mut all = self.passing.iter().map(|(_, statement)| *statement);
            all.find(|statement| statement.statement() == wanted)
        };
        let pair = resume.and_then(|resume| find(resume.last()).zip(find(resume.latest())));
        let mut walk = match pair {
            Some((last, latest)) => Walk::after(last, latest)?,
            None => Walk::default(),
        };
        let start = walk.last.map_or(0, |last| last.body().index.saturating_add(1));
        for (_, statement) in &self.passing {
            if statement.body().index >= start && Some(statement.statement()) != unreached {
                walk.step(*statement)?;
            }
        }
        walk.finish()
    }

    fn chain(&mut self, fault: ChainFault, what: String) {
        self.outcome.faults.insert(fault);
        self.outcome.found.push(fault.finding(what));
    }
}
