//! A witness: decides, keeps, answers, in that order and one request after another; or not.

use std::collections::VecDeque;

use anchorlog_proto::checkpoint::Checkpoint;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tlog_witness::{AddCheckpoint, Refused, decide};

use super::Shown;

/// What a witness is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WitnessNature {
    /// Keeps what it decided before anybody hears of it, and decides nothing meanwhile.
    Honest,
    /// Cosigns whatever it is sent.
    Dishonest,
    /// Broken: answers, and keeps it when there is nothing else to do.
    AnswersFirst,
    /// Broken: decides about a request while another is being kept.
    DecidesMeanwhile,
    /// Broken: starts from an old copy of its disk after it was killed.
    Forgets,
}

/// What leaves a witness.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Cosigned(Shown),
    Conflict(u64),
    Refused,
}

/// How far a request has come.
#[derive(Clone, Debug)]
enum Stage {
    Decided,
    Kept,
    /// Answered and not kept, which an honest one never is.
    Answered,
}

#[derive(Debug)]
pub(super) struct Witness {
    nature: WitnessNature,
    disk: Option<Checkpoint>,
    /// What was on the disk before, for one that forgets.
    backup: Option<Checkpoint>,
    memory: Option<Checkpoint>,
    waiting: VecDeque<(Vec<u8>, Shown)>,
    /// What was accepted and isn't done; more than one only where the turn isn't kept.
    under_way: VecDeque<(Stage, Shown)>,
}

impl Witness {
    pub(super) fn new(nature: WitnessNature) -> Self {
        let (disk, backup, memory) = (None, None, None);
        let (waiting, under_way) = (VecDeque::new(), VecDeque::new());
        Self { nature, disk, backup, memory, waiting, under_way }
    }

    /// A request arrives.
    pub(super) fn take(&mut self, request: Vec<u8>, shown: Shown) {
        // One that is busy sends further requests away, as a server does.
        if self.waiting.len() < 3 {
            self.waiting.push_back((request, shown));
        }
    }

    /// One step of its work. `full` says that the disk takes nothing at the moment.
    pub(super) fn work(&mut self, keys: &[VerifierKey], full: bool) -> Option<Said> {
        if self.nature == WitnessNature::Dishonest {
            return self.waiting.pop_front().map(|(_, shown)| Said::Cosigned(shown));
        }
        let at_once = match self.nature {
            WitnessNature::DecidesMeanwhile => 4,
            WitnessNature::AnswersFirst => 8,
            _ => 1,
        };
        if self.under_way.len() < at_once
            && let Some((request, shown)) = self.waiting.pop_front()
        {
            return self.decide(&request, shown, keys);
        }
        let (stage, shown) = self.under_way.pop_front()?;
        match stage {
            // What could not be kept has not happened; nobody is told otherwise.
            Stage::Decided | Stage::Answered if full => None,
            Stage::Decided => {
                self.keep(&shown);
                self.under_way.push_front((Stage::Kept, shown));
                None
            }
            Stage::Answered => {
                self.keep(&shown);
                None
            }
            Stage::Kept => Some(Said::Cosigned(shown)),
        }
    }

    /// Killed, and started again from its disk.
    pub(super) fn kill(&mut self) -> bool {
        let unanswered = self.under_way.iter().any(|(stage, _)| matches!(stage, Stage::Kept));
        self.waiting.clear();
        self.under_way.clear();
        if self.nature == WitnessNature::Forgets {
            self.disk = self.backup.clone();
        }
        self.memory = self.disk.clone();
        unanswered
    }

    fn decide(&mut self, request: &[u8], shown: Shown, keys: &[VerifierKey]) -> Option<Said> {
        let request = AddCheckpoint::parse(request).ok()?;
        match decide(self.memory.as_ref(), &request, keys) {
            Ok(accepted) => {
                assert_eq!(accepted.checkpoint(), shown.note.checkpoint(), "it is what was sent");
                if self.nature == WitnessNature::AnswersFirst {
                    self.memory = Some(accepted.checkpoint().clone());
                    self.under_way.push_back((Stage::Answered, shown.clone()));
                    return Some(Said::Cosigned(shown));
                }
                self.under_way.push_back((Stage::Decided, shown));
                None
            }
            Err(Refused::Stale { recorded }) => Some(Said::Conflict(recorded.get())),
            Err(_) => Some(Said::Refused),
        }
    }

    fn keep(&mut self, shown: &Shown) {
        self.backup = self.disk.take();
        self.disk = Some(shown.note.checkpoint().clone());
        if self.nature != WitnessNature::AnswersFirst {
            self.memory.clone_from(&self.disk);
        }
    }
}
