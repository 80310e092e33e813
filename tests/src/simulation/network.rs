//! Messages under way: in no order, some of them twice, some of them for ever.

use super::{Shown, below, percent};
use crate::interop::random::Random;

/// What is said.
#[derive(Clone, Debug)]
pub(super) enum Message {
    /// The log asks a witness.
    Ask { witness: usize, request: Vec<u8>, shown: Shown },
    /// A witness has cosigned.
    Cosigned { witness: usize, size: u64 },
    /// A witness has another size than it was taken to have.
    Conflict { witness: usize, size: u64 },
    /// A witness refuses: what was sent is not consistent with what it has.
    Refused,
    /// A monitor asks for the newest checkpoint; `question` tells its answer from those to earlier questions.
    Poll { monitor: usize, question: u32 },
    /// The log answers.
    Answer { monitor: usize, question: u32, shown: Shown },
}

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Network {
    messages: Vec<Message>,
}

impl Network {
    pub(super) fn send(&mut self, messages: impl IntoIterator<Item = Message>) {
        self.messages.extend(messages);
    }

    /// Any one of the messages under way arrives, if it isn't lost; it may arrive again.
    pub(super) fn deliver(&mut self, random: &mut Random) -> Option<Message> {
        if self.messages.is_empty() {
            return None;
        }
        let position = below(random, self.messages.len());
        if percent(random, 10) {
            return Some(self.messages[position].clone());
        }
        let message = self.messages.swap_remove(position);
        (!percent(random, 10)).then_some(message)
    }
}
