//! Equation (9): "support_class(c) ≜ min over c.evidence_refs of evidence_strength(e, c.predicate_id,
//! registry)"; and before it, whether each piece is there, of the right kind, about the subject, and for it.

use std::collections::BTreeSet;

use anchorlog_proto::gad::claims::EvidenceRef;
use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::gad::names::{AnchorKind, EvidenceClass};

use super::Judgement;
use super::registry::{Accepts, Needs, Predicate, Strength, SubjectShape};
use crate::codes::Code;
use crate::codes::gad::r9::{EVIDENCE_NEGATIVE, EVIDENCE_REF, EVIDENCE_SHAPE, EVIDENCE_SUBJECT};
use crate::gad::{Kept, NodeIx};

/// What a claim is about, found in the plan.
#[derive(Clone, Copy)]
struct About {
    node: Option<NodeIx>,
    test: Option<usize>,
}

impl Judgement<'_> {
    /// support_class; `None` when a piece of the evidence is missing or can't be taken, which is reported,
    /// or when there is none.
    pub(super) fn support(&mut self, predicate: &Predicate) -> Option<EvidenceClass> {
        let about = self.subject(predicate);
        let mut support = Some(EvidenceClass::EngineObserved);
        for (position, evidence) in self.claim.evidence.iter().enumerate() {
            let strength = match evidence {
                EvidenceRef::Anchor(kind) => self.anchor(predicate, *kind),
                EvidenceRef::Entry(seq) => self.entry(predicate, about, *seq),
            };
            match strength {
                Ok(strength) => support = support.map(|support| support.min(strength)),
                Err(codes) => {
                    for code in codes {
                        self.report(code, &format!("/evidence_refs/{position}"), None, None);
                    }
                    support = None;
                }
            }
        }
        let about = about.filter(|_| !self.claim.evidence.is_empty())?;
        if !self.is_complete(predicate, about, support.is_some()) {
            self.report(EVIDENCE_SHAPE, "/evidence_refs", Some(needs(predicate.needs)), None);
            return None;
        }
        support
    }

    /// The subject, which has to be of the predicate's shape and of this plan.
    fn subject(&mut self, predicate: &Predicate) -> Option<About> {
        let (plan, subject) = (self.record.plan, &self.claim.subject);
        let of_plan = subject.plan_hash == plan.hash();
        let shape = match predicate.subject {
            SubjectShape::Plan => subject.node.is_none() && subject.test_id.is_none(),
            SubjectShape::Node => subject.node.is_some() && subject.test_id.is_none(),
            SubjectShape::Test => subject.node.is_some() && subject.test_id.is_some(),
            SubjectShape::Any => subject.node.is_some() || subject.test_id.is_none(),
        };
        let node = subject.node.as_ref().map(|node| plan.find(node));
        let test = subject.test_id.as_ref().map(|test| {
            node.flatten().and_then(|node| plan.test(node, test)).map(|(position, _)| position)
        });
        let about = match (node, test) {
            (Some(None), _) | (_, Some(None)) => None,
            (node, test) => Some(About { node: node.flatten(), test: test.flatten() }),
        };
        if !of_plan {
            let expected = plan.hash().to_string();
            let actual = subject.plan_hash.to_string();
            let member = "/subject_ref/plan_hash";
            self.report(EVIDENCE_SUBJECT, member, Some(&expected), Some(&actual));
        }
        if !shape || about.is_none() {
            let expected = match predicate.subject {
                SubjectShape::Plan => "the plan as a whole",
                SubjectShape::Node => "a node of the plan",
                SubjectShape::Test => "a test of a node of the plan",
                SubjectShape::Any => "the plan, a node or a test of it",
            };
            self.report(EVIDENCE_SUBJECT, "/subject_ref", Some(expected), None);
        }
        about.filter(|_| of_plan && shape)
    }

    fn anchor(&self, predicate: &Predicate, kind: AnchorKind) -> Result<EvidenceClass, Vec<Code>> {
        let state = (self.anchors)(kind);
        if !state.listed {
            return Err(vec![EVIDENCE_REF]);
        }
        match predicate.accepts {
            Accepts::Anchors(kinds) if kinds.contains(&kind) && state.verified => {
                Ok(EvidenceClass::EngineObserved)
            }
            Accepts::Anchors(kinds) if kinds.contains(&kind) => Ok(EvidenceClass::Attested),
            Accepts::Anchors(_) | Accepts::Entries(_) | Accepts::AnyEntry => {
                Err(vec![EVIDENCE_SHAPE])
            }
        }
    }

    /// Of an unknown subject only the kind and the sign of evidence are judged; it has no strength.
    fn entry(
        &self,
        predicate: &Predicate,
        about: Option<About>,
        seq: u64,
    ) -> Result<EvidenceClass, Vec<Code>> {
        let Some(kept) = self.record.ledger.get(seq) else { return Err(vec![EVIDENCE_REF]) };
        let of_kind = match predicate.accepts {
            Accepts::Entries(types) => types.contains(&kept.entry_type),
            Accepts::AnyEntry => true,
            Accepts::Anchors(_) => false,
        };
        if !of_kind || !kept.authentic {
            return Err(vec![EVIDENCE_SHAPE]);
        }
        let mut codes = Vec::new();
        if about.is_some_and(|about| !self.concerns(predicate, about, kept, seq)) {
            codes.push(EVIDENCE_SUBJECT);
        }
        if is_negative(kept) || about.is_some_and(|about| self.strays(predicate, about, kept)) {
            codes.push(EVIDENCE_NEGATIVE);
        }
        match about {
            Some(about) if codes.is_empty() => Ok(self.strength(predicate, about, kept)),
            _ => Err(codes),
        }
    }

    /// Whether a result that is to show that its scope was kept shows that it wasn't. Where somebody was
    /// judged or flagged, R6 says so; a session that failed, or that nobody was judged of, owes no flag.
    fn strays(&self, predicate: &Predicate, about: About, kept: &Kept) -> bool {
        predicate.needs == Needs::ResultAndClosure
            && kept.entry_type == EntryType::ExecutionResult
            && about.node.and_then(|node| self.facts.stray.get(node.position())) == Some(&true)
    }

    /// Whether an entry is about the subject, and where the registry says so of its last attempt.
    fn concerns(&self, predicate: &Predicate, about: About, kept: &Kept, seq: u64) -> bool {
        let Some(node) = about.node else { return true };
        let of_test = match (about.test, kept.entry_type) {
            (Some(test), EntryType::Verdict) => position_of_test(kept) == Some(test),
            _ => true,
        };
        let machine = self.record.machine;
        let of_node = match (kept.entry_type, kept.node) {
            (EntryType::ExecutionResult, _) if predicate.last_attempt => {
                return machine.session_of(node).is_some_and(|session| session.result == Some(seq));
            }
            (_, Some(named)) => {
                named == node && (!predicate.last_attempt || kept.attempt == machine.attempt(node))
            }
            (_, None) => kept.session.is_none_or(|session| self.is_of_session(node, session)),
        };
        of_node && of_test
    }

    /// Whether this is the session of a node's last attempt, by the position of its dispatch.
    fn is_of_session(&self, node: NodeIx, dispatch: u32) -> bool {
        let session = self.record.machine.session_of(node);
        let position = session.and_then(|session| self.record.ledger.position(session.dispatch));
        position == Some(dispatch.into())
    }

    fn strength(&self, predicate: &Predicate, about: About, kept: &Kept) -> EvidenceClass {
        match predicate.strength {
            Strength::Always(class) => class,
            Strength::Effective => {
                let judged = about.node.zip(position_of_test(kept));
                let judged = judged.and_then(|(node, test)| self.record.machine.judged(node, test));
                judged.map_or(EvidenceClass::Attested, |judged| judged.class)
            }
            Strength::Session => {
                let session = about.node.and_then(|node| self.record.machine.session_of(node));
                if session.is_some_and(|session| session.commissioned == 1) {
                    EvidenceClass::EngineObserved
                } else {
                    EvidenceClass::Proxy
                }
            }
            Strength::Anchor => EvidenceClass::Attested,
        }
    }

    /// Whether every piece is there that the registry asks for, and nothing twice where it asks for one.
    /// `sound`: nothing is wrong with those that are there.
    fn is_complete(&self, predicate: &Predicate, about: About, sound: bool) -> bool {
        let evidence = &self.claim.evidence;
        match (predicate.needs, about.node) {
            (Needs::AtLeastOne, _) => !evidence.is_empty(),
            (Needs::One, node) => match (evidence.as_slice(), node.zip(about.test)) {
                // Of several verdicts of one test in one attempt the first one counts.
                ([EvidenceRef::Entry(seq)], Some((node, test)))
                    if sound && predicate.strength == Strength::Effective =>
                {
                    self.record.machine.judged(node, test).is_none_or(|judged| judged.seq == *seq)
                }
                (evidence, _) => evidence.len() == 1,
            },
            (Needs::VerdictPerTest, Some(node)) => self.has_every_verdict(node),
            (Needs::ResultAndClosure, Some(node)) => self.has_result_and_closure(node),
            (Needs::FreezeAndFirstDispatch, _) => {
                let of_type =
                    |entry_type| self.cited().find(|(_, kept)| kept.entry_type == entry_type);
                let dispatch = of_type(EntryType::Dispatch);
                let position = dispatch.and_then(|(seq, _)| self.record.ledger.position(seq));
                evidence.len() == 2
                    && of_type(EntryType::Freeze).is_some()
                    && position.is_some()
                    && position == self.facts.first_dispatch
            }
            (Needs::VerdictPerTest | Needs::ResultAndClosure, None) => false,
        }
    }

    fn has_every_verdict(&self, node: NodeIx) -> bool {
        let tests = self.record.plan.node(node).tests.len();
        if self.claim.evidence.len() != tests {
            return false;
        }
        let cited: BTreeSet<u64> = self.cited().map(|(seq, _)| seq).collect();
        (0..tests).all(|test| {
            self.record.machine.judged(node, test).is_some_and(|judged| cited.contains(&judged.seq))
        })
    }

    fn has_result_and_closure(&self, node: NodeIx) -> bool {
        let result = self.record.machine.session_of(node).and_then(|session| session.result);
        let flag = self.facts.flags.get(node.position()).copied().flatten();
        let closes = |seq: u64, kept: &Kept, flag: u64| {
            let position = self.record.ledger.position(seq);
            kept.entry_type == EntryType::ScopeClosed && position.is_some_and(|at| at > flag)
        };
        result.is_some_and(|result| self.cited().any(|(seq, _)| seq == result))
            && match flag {
                Some(flag) => self.cited().any(|(seq, kept)| closes(seq, kept, flag)),
                // One of an earlier attempt may still be open.
                None => !self.record.machine.has_open_flag(node),
            }
    }

    /// The entries the claim cites, as far as they are there.
    fn cited(&self) -> impl Iterator<Item = (u64, &Kept)> {
        self.claim.evidence.iter().filter_map(|evidence| match evidence {
            EvidenceRef::Entry(seq) => Some((*seq, self.record.ledger.get(*seq)?)),
            EvidenceRef::Anchor(_) => None,
        })
    }
}

/// A verdict that fails, a scope that isn't closed, a refusal.
fn is_negative(kept: &Kept) -> bool {
    match kept.entry_type {
        EntryType::Verdict | EntryType::ScopeClosed => kept.pass != Some(true),
        EntryType::Refusal => true,
        _ => false,
    }
}

fn position_of_test(kept: &Kept) -> Option<usize> {
    kept.test.and_then(|test| usize::try_from(test).ok())
}

const fn needs(needs: Needs) -> &'static str {
    match needs {
        Needs::One => "the one entry that counts",
        Needs::AtLeastOne => "one or more",
        Needs::ResultAndClosure => {
            "the node's last execution_result and, as it was flagged, its scope_closed"
        }
        Needs::VerdictPerTest => "the verdict that counts of each test of the node",
        Needs::FreezeAndFirstDispatch => "the freeze and the first dispatch",
    }
}
