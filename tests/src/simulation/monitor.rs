//! A monitor: reads the whole log again and again, remembers, and says what doesn't fit.

use anchorlog_proto::merkle::consistency;

use super::Shown;

#[derive(Debug, Default)]
pub(super) struct Monitor {
    /// The number of the question it waits for the answer to.
    question: u32,
    /// The tree it believes in; on disk, so that being killed costs it nothing but the answer under way.
    last: Option<Shown>,
    /// Everything it has seen signed.
    pub(super) seen: Vec<Shown>,
    /// How often something didn't fit.
    pub(super) alarms: u32,
}

impl Monitor {
    /// Asks again. Whatever comes to the question before is no answer any more.
    pub(super) fn ask(&mut self) -> u32 {
        self.question += 1;
        self.question
    }

    /// Takes an answer: holds what is signed against the entries, and both against what it had.
    pub(super) fn take(&mut self, question: u32, shown: Shown) {
        if question != self.question {
            return;
        }
        self.question += 1;
        let (size, root) = shown.head();
        assert_eq!(shown.tree.root(size), root, "this model's logs show the entries they sign");
        let fits = self.last.as_ref().is_none_or(|last| {
            let (before, old_root) = last.head();
            let proof = shown.tree.consistency(before, size);
            let sizes = (last.note.checkpoint().size, shown.note.checkpoint().size);
            proof.is_some_and(|proof| {
                consistency::verify(sizes.0, sizes.1, &old_root, &root, &proof).is_ok()
            })
        });
        self.seen.push(shown.clone());
        if fits {
            self.last = Some(shown);
        } else {
            self.alarms += 1;
        }
    }

    /// Killed: the answer to the last question will find nobody.
    pub(super) fn kill(&mut self) {
        self.question += 1;
    }
}
