//! What only the order of the lines can say: positions, numbers, the chain across batches, checkpoints.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::genesis;
use anchorlog_proto::gad::entry::{Entry, EntryType, Payload};

use super::checkpoints::{Checkpoints, End};
use super::line::{Chain, Kind, Line};
use super::{Observer, WitnessContext, WitnessSummary};
use crate::codes::Code;
use crate::codes::gad::container::LIMIT_LINE;
use crate::codes::gad::r1::{
    CHAIN_COUNT, CHAIN_EMPTY, CHAIN_HASH, CHAIN_HEAD, CHAIN_NONCANONICAL, CHAIN_SEQ_GAP,
    CHAIN_SEQ_START,
};
use crate::codes::input::LIMIT_COUNT;
use crate::gad::finding::WITNESS;
use crate::gad::{Event, Findings, FirstDispatch, GadFinding, Where};

/// The record so far.
pub(super) struct Sequence<'a, 'c> {
    cx: &'a WitnessContext<'c>,
    observer: &'a mut Observer<'a>,
    findings: &'a mut Findings,
    checkpoints: Checkpoints,
    /// Number of lines so far that aren't blank: the position of the next one.
    position: u64,
    /// Number of blank lines so far.
    blank: u64,
    heads: Vec<Digest>,
    latest: Vec<i64>,
    /// seq and type of the latest entry.
    last: Option<(u64, Option<EntryType>)>,
    last_time: i64,
    terminal: Option<(u64, u64, EntryType)>,
    terminal_time: i64,
    first_dispatch: Option<FirstDispatch>,
    unreadable: Option<u64>,
    /// A finding has ended the evaluation.
    ended: bool,
}

impl<'a, 'c> Sequence<'a, 'c> {
    pub(super) fn new(
        cx: &'a WitnessContext<'c>,
        observer: &'a mut Observer<'a>,
        findings: &'a mut Findings,
    ) -> Self {
        // What the manifest says is only a hint: it is held against the limit first.
        let stated = cx.stated.map_or(0, |stated| stated.count).min(cx.limits.entries);
        let room = usize::try_from(stated).unwrap_or(0).min(MAX_ROOM);
        Self {
            cx,
            observer,
            findings,
            checkpoints: Checkpoints::new(cx.plan.is_some()),
            position: 0,
            blank: 0,
            heads: Vec::with_capacity(room),
            latest: Vec::with_capacity(room),
            last: None,
            last_time: 0,
            terminal: None,
            terminal_time: 0,
            first_dispatch: None,
            unreadable: None,
            ended: false,
        }
    }

    /// Whether a finding has ended the evaluation.
    pub(super) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes the lines of the next batch; only their findings are taken out of them.
    pub(super) fn take(&mut self, lines: &mut [Line<'_>]) {
        for line in lines {
            if self.ended {
                return;
            }
            self.line(line);
        }
    }

    fn line(&mut self, line: &mut Line<'_>) {
        let Line { kind, findings, ends } = line;
        if let Kind::Blank = kind {
            // No entries, and no less work.
            self.blank = self.blank.saturating_add(1);
            if self.blank > self.cx.limits.entries {
                let limit = self.cx.limits.entries;
                self.end(LIMIT_COUNT, Where::member(WITNESS), "blank lines", limit);
                return;
            }
            self.push(
                GadFinding::new(CHAIN_NONCANONICAL, Where::entry(self.position))
                    .actual("a blank line before it"),
            );
            return;
        }
        if self.position >= self.cx.limits.entries {
            self.end(LIMIT_COUNT, Where::member(WITNESS), "entries", self.cx.limits.entries);
            return;
        }
        let position = self.position;
        self.position = position.saturating_add(1);
        if let Kind::TooLong = kind {
            let limit = self.cx.limits.line_bytes;
            self.end(LIMIT_LINE, Where::entry(position), "bytes", limit);
            return;
        }
        let unreadable = matches!(kind, Kind::Unreadable);
        for mut finding in findings.drain(..) {
            if unreadable {
                finding.place.seq = Some(position);
            }
            self.push(finding);
        }
        self.ended |= *ends;
        if self.ended {
            return;
        }
        match kind {
            Kind::Blank | Kind::TooLong => {}
            Kind::Unreadable => self.unreadable = self.unreadable.or(Some(position)),
            Kind::Entry { entry, authentic, chain } => {
                self.link(entry.seq, entry.h, chain);
                self.entry(&Event { index: position, entry, authentic: *authentic });
                self.end_entry(entry.seq, Some(entry.entry_type), entry.time, entry.h);
            }
            Kind::UnknownType { entry, chain } => {
                self.link(entry.seq, entry.h, chain);
                if self.unreadable.is_none() {
                    self.checkpoints.head(entry.h);
                }
                self.end_entry(entry.seq, None, entry.time, entry.h);
            }
        }
    }

    /// R1.CHAIN of one entry.
    fn link(&mut self, seq: u64, h: Digest, chain: &Chain<'_>) {
        if self.unreadable.is_some() {
            return;
        }
        let expected = self.last.map_or(Some(0), |(before, _)| before.checked_add(1));
        if expected != Some(seq) {
            let code = if self.last.is_none() { CHAIN_SEQ_START } else { CHAIN_SEQ_GAP };
            let mut finding = GadFinding::new(code, Where::entry(seq).at("/body/seq")).actual(seq);
            if let Some(expected) = expected {
                finding = finding.expected(expected);
            }
            self.push(finding);
        }
        let open;
        let chain = match chain {
            Chain::Open(body) => {
                let before = self.heads.last().copied().unwrap_or_else(genesis);
                open = Chain::of(&before, body, &h);
                &open
            }
            chain => chain,
        };
        if let Chain::Differs(expected) = chain {
            self.push(
                GadFinding::new(CHAIN_HASH, Where::entry(seq).at("/h"))
                    .expected(expected)
                    .actual(h),
            );
        }
    }

    fn entry(&mut self, event: &Event<'_>) {
        let Entry { seq, time, entry_type, .. } = *event.entry;
        if entry_type.is_terminal() && self.terminal.is_none() {
            self.terminal = Some((event.index, seq, entry_type));
            self.terminal_time = time;
        }
        if entry_type == EntryType::Dispatch && self.first_dispatch.is_none() {
            let precommit = match event.payload() {
                Some(Payload::Dispatch(dispatch)) => dispatch.precommit,
                _ => None,
            };
            self.first_dispatch = Some(FirstDispatch { seq, time, precommit });
        }
        if self.unreadable.is_none() {
            self.checkpoints.observe(event, &self.heads, self.findings);
            (self.observer)(event, self.findings);
        }
    }

    fn end_entry(&mut self, seq: u64, entry_type: Option<EntryType>, time: i64, h: Digest) {
        self.last = Some((seq, entry_type));
        self.last_time = time;
        // Positions of heads are positions of lines only as far as every line can be read.
        if self.unreadable.is_none() {
            self.heads.push(h);
            self.latest.push(self.latest.last().map_or(time, |latest| time.max(*latest)));
        }
    }

    fn end(&mut self, code: Code, place: Where, what: &str, limit: u64) {
        self.ended = true;
        let finding = GadFinding::new(code, place).affecting(LIMIT_LINE.affects());
        self.push(finding.expected(format_args!("at most {limit} {what}")));
    }

    fn push(&mut self, finding: GadFinding) {
        self.findings.push(finding);
    }

    /// What follows from the end of the record; `None` when a finding has ended the evaluation. Size and
    /// digest are still to be filled in.
    pub(super) fn finish(mut self) -> Option<WitnessSummary> {
        if self.ended {
            return None;
        }
        if self.position == 0 {
            self.push(GadFinding::new(CHAIN_EMPTY, Where::member(WITNESS)));
        }
        if self.unreadable.is_none() {
            self.finish_chain();
        }
        if let (Some(last), None) = (self.last, self.unreadable) {
            let end = End { last, terminal: self.terminal };
            let seal = self.cx.stated.map(|stated| stated.seal);
            self.checkpoints.finish(&end, seal, self.findings);
        }
        let end_time = if self.terminal.is_some() { self.terminal_time } else { self.last_time };
        Some(WitnessSummary {
            size: 0,
            digest: Digest::of(b""),
            entries: self.position,
            unreadable: self.unreadable,
            heads: self.heads,
            latest: self.latest,
            terminal: self.terminal.map(|(position, _, entry_type)| (entry_type, position)),
            end_time: self.last.map(|_| end_time),
            first_dispatch: self.first_dispatch,
            coverage: self.checkpoints.into_coverage(),
        })
    }

    fn finish_chain(&mut self) {
        let Some(stated) = self.cx.stated else { return };
        if stated.count != self.position {
            self.push(
                GadFinding::new(CHAIN_COUNT, Where::member(WITNESS))
                    .expected(stated.count)
                    .actual(self.position),
            );
        }
        if let (Some(head), Some((seq, _))) = (self.heads.last(), self.last)
            && *head != stated.head
        {
            let finding = GadFinding::new(CHAIN_HEAD, Where::entry(seq).at("/h"));
            self.findings.push(finding.expected(stated.head).actual(head));
        }
    }
}

/// For how many entries room is made ahead of them.
const MAX_ROOM: usize = 1 << 20;
