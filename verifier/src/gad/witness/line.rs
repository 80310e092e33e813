//! One line of the witness, as far as it can be judged by itself: on any thread, in any order.

use std::borrow::Cow;
use std::mem;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Defects;
use anchorlog_proto::gad::chain::chain_hash;
use anchorlog_proto::gad::entry::{Entry, EntryReading, UnknownEntry};
use anchorlog_proto::gad::line::{LineDocument, read_line};
use anchorlog_proto::json::JsonError;

use super::owner::{self, is_input};
use super::{WitnessContext, issuer};
use crate::codes::Code;
use crate::codes::gad::Affect;
use crate::codes::gad::container::LIMIT_LINE;
use crate::codes::gad::r1::{CHAIN_NONCANONICAL, ISSUER_UNKNOWN_TYPE};
use crate::gad::{GadFinding, Where};

/// A line cut from the stream, parsed.
pub(super) struct Raw<'b> {
    /// It ended with LF.
    terminated: bool,
    content: Content<'b>,
}

enum Content<'b> {
    /// Nothing but white space.
    Blank,
    TooLong,
    Refused(JsonError),
    Read(LineDocument<'b>),
}

/// A line as the sequence takes it.
pub(super) struct Line<'v> {
    pub(super) kind: Kind<'v>,
    /// What is wrong with it by itself, in order.
    pub(super) findings: Vec<GadFinding>,
    /// One of the findings ends the evaluation.
    pub(super) ends: bool,
}

/// What a line is.
#[allow(clippy::large_enum_variant, reason = "nearly every line is the large one")]
pub(super) enum Kind<'v> {
    Blank,
    TooLong,
    /// No entry. Its findings have no `seq` yet: only the sequence knows which line it is.
    Unreadable,
    Entry {
        entry: Entry<'v>,
        authentic: bool,
        chain: Chain<'v>,
    },
    UnknownType {
        entry: UnknownEntry<'v>,
        chain: Chain<'v>,
    },
}

/// What is known of h = H(dom(chain), h of the entry before as stated, canon(body)).
pub(super) enum Chain<'v> {
    Holds,
    /// It should be this.
    Differs(Digest),
    /// The entry before stands in another batch; this is canon(body).
    Open(Cow<'v, [u8]>),
    /// The entry before can't be read.
    Lost,
}

/// What a line of a batch finds before it.
#[derive(Clone, Copy)]
enum Before {
    Unknown,
    Stated(Digest),
    Lost,
}

/// Cuts `batch`, whole lines, and parses each.
pub(super) fn cut<'b>(batch: &'b [u8], cx: &WitnessContext<'_>) -> Vec<Raw<'b>> {
    let longest = usize::try_from(cx.limits.line_bytes).unwrap_or(usize::MAX);
    let lines = batch.split_inclusive(|byte| *byte == b'\n');
    lines
        .map(|line| {
            let (bytes, terminated) = match line {
                [bytes @ .., b'\n'] => (bytes, true),
                bytes => (bytes, false),
            };
            // With its LF, whether or not it is there.
            let content = if bytes.len() >= longest {
                Content::TooLong
            } else if bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                Content::Blank
            } else {
                read_line(bytes, cx.limits).map_or_else(Content::Refused, Content::Read)
            };
            Raw { terminated, content }
        })
        .collect()
}

/// Judges the lines of one batch, each by itself and its link to the one before.
pub(super) fn judge<'v>(batch: &'v [Raw<'_>], cx: &WitnessContext<'_>) -> Vec<Line<'v>> {
    let mut before = Before::Unknown;
    batch.iter().map(|raw| raw.judge(&mut before, cx)).collect()
}

impl Raw<'_> {
    fn judge<'v>(&'v self, before: &mut Before, cx: &WitnessContext<'_>) -> Line<'v> {
        match &self.content {
            Content::Blank => Line { kind: Kind::Blank, findings: Vec::new(), ends: false },
            Content::TooLong => Line { kind: Kind::TooLong, findings: Vec::new(), ends: true },
            Content::Refused(error) => {
                *before = Before::Lost;
                unparsed(error)
            }
            Content::Read(document) => self.read(document, before, cx),
        }
    }

    fn read<'v>(
        &'v self,
        document: &'v LineDocument<'_>,
        before: &mut Before,
        cx: &WitnessContext<'_>,
    ) -> Line<'v> {
        let mut defects = Defects::new();
        let reading = document.entry(cx.limits, &mut defects);
        let mut findings = Vec::new();
        let place = || Where::entry(reading.link().map_or(0, |(seq, _)| seq));
        if !document.is_canonical() || !self.terminated {
            let actual =
                if self.terminated { "another spelling of it" } else { "no LF at the end" };
            findings.push(
                GadFinding::new(CHAIN_NONCANONICAL, place())
                    .expected("its canonical form, then LF")
                    .actual(actual),
            );
        }
        if !defects.is_empty() {
            let entry_type = reading.entry().map(|entry| entry.entry_type);
            owner::findings(&defects, entry_type, &place(), &mut findings);
        }
        let chain = chain(document, &reading, before);
        let kind = match reading {
            EntryReading::Entry(entry) => {
                let authentic = issuer::check(&entry, cx.plan, &mut findings);
                cx.artifacts.check(&entry, &mut findings);
                Kind::Entry { entry, authentic, chain }
            }
            EntryReading::UnknownType(entry) => {
                let place = Where::entry(entry.seq).at("/body/type");
                findings.push(GadFinding::new(ISSUER_UNKNOWN_TYPE, place).actual(entry.type_name));
                Kind::UnknownType { entry, chain }
            }
            EntryReading::Unreadable => Kind::Unreadable,
        };
        cx.artifacts.bind(document.value());
        let ends = findings.iter().any(|finding| is_input(finding.code));
        Line { kind, findings, ends }
    }
}

fn chain<'v>(
    document: &'v LineDocument<'_>,
    reading: &EntryReading<'_>,
    before: &mut Before,
) -> Chain<'v> {
    let (Some((_, h)), Some(body)) = (reading.link(), document.body_bytes()) else {
        *before = Before::Lost;
        return Chain::Lost;
    };
    match mem::replace(before, Before::Stated(h)) {
        Before::Unknown => Chain::Open(body),
        Before::Lost => Chain::Lost,
        Before::Stated(previous) => Chain::of(&previous, &body, &h),
    }
}

impl Chain<'_> {
    /// Whether `h` is the hash of `body` after an entry whose hash is `previous`.
    pub(super) fn of(previous: &Digest, body: &[u8], h: &Digest) -> Self {
        let expected = chain_hash(previous, body);
        if expected == *h { Chain::Holds } else { Chain::Differs(expected) }
    }
}

fn unparsed(error: &JsonError) -> Line<'static> {
    let mut findings = Vec::new();
    let mut ends = false;
    if let Some(code) = Code::lookup(error.code.as_str()) {
        ends = is_input(code);
        let affects = if ends { LIMIT_LINE.affects() } else { &[Affect::R1][..] };
        let mut finding =
            GadFinding::new(code, Where::entry(0).at(error.pointer.as_str())).affecting(affects);
        if let Some(offset) = error.offset {
            finding = finding.actual(format_args!("at byte {offset} of the line"));
        }
        findings.push(finding);
    }
    Line { kind: Kind::Unreadable, findings, ends }
}
