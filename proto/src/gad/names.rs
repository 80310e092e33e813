//! The words of GAD objects: ids, paths, and the small enumerations.

/// Whether `text` is an id: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let body = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
    text.len() <= 64
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && text.bytes().all(body)
}

/// What is wrong with a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the two codes of a path's form")]
pub enum PathDefect {
    /// A traversal shape: an empty, `.` or `..` segment, a leading `/`, a backslash, a drive prefix, NUL or
    /// another control byte.
    Traversal,
    /// Another byte than `[A-Za-z0-9._/-]`, or not 1 to 255 bytes.
    Form,
}

/// Whether `text` has path form: 1 to 255 bytes of `[A-Za-z0-9._/-]`, no empty, `.` or `..` segment, no
/// leading `/`, no drive prefix.
#[must_use]
pub fn is_path(text: &str) -> bool {
    check_path(text.as_bytes()).is_ok()
}

/// Checks path form; traversal shapes are told apart and come first.
pub fn check_path(path: &[u8]) -> Result<(), PathDefect> {
    let drive = matches!(path, [letter, b':', ..] if letter.is_ascii_alphabetic());
    let control = path.iter().any(|byte| byte.is_ascii_control() || *byte == b'\\');
    let segment = |segment: &[u8]| matches!(segment, b"" | b"." | b"..");
    if drive || control || (!path.is_empty() && path.split(|byte| *byte == b'/').any(segment)) {
        return Err(PathDefect::Traversal);
    }
    let plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-');
    if path.is_empty() || path.len() > 255 || !path.iter().all(plain) {
        return Err(PathDefect::Form);
    }
    Ok(())
}

/// Declares a closed enumeration with its words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[allow(clippy::exhaustive_enums, reason = "the format lists exactly these")]
        pub enum $name { $($(#[$inner])* $variant,)* }

        impl $name {
            /// All of them, in the order of the format's table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The one with this word.
            #[must_use]
            pub fn from_name(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// How far evidence reaches; ascending (section 1, eq (3)).
    EvidenceClass {
        /// Somebody said so.
        Attested = "attested",
        /// Observed through something the worker wrote, shown able to fail.
        Proxy = "proxy",
        /// The engine observed it.
        EngineObserved = "engine_observed",
    }
}

words! {
    /// How a verdict was captured.
    Capture {
        /// Somebody attested it.
        AttestedCapture = "attested_capture",
        /// The engine captured it.
        EngineCapture = "engine_capture",
    }
}

words! {
    /// What holds an engine capture up; a set, not a mode.
    ObservationLayer {
        /// The engine observed it under the disclosed custody of its key.
        AuthenticatedEngineObservation = "authenticated_engine_observation",
        /// It can be done again, and was.
        IndependentlyReplayable = "independently_replayable",
    }
}

words! {
    /// What kind of signal was evaluated.
    SignalKind {
        /// The thing itself.
        DirectObservable = "direct_observable",
        /// Something the worker wrote about the thing.
        WorkerAuthoredProxy = "worker_authored_proxy",
    }
}

words! {
    /// What a test observes.
    ObservableKind {
        /// A command's exit code.
        Command = "command",
        /// An HTTP observation.
        Http = "http",
        /// A filesystem assertion.
        Filesystem = "filesystem",
        /// A database assertion.
        Database = "database",
        /// A page-level check.
        Page = "page",
    }
}

words! {
    /// What a registered key may sign.
    Role {
        /// Approvals and refusals.
        Approver = "approver",
        /// Verdicts, probes, scope closures, checkpoints, notices.
        Engine = "engine",
        /// Successions.
        SuccessionAuthority = "succession_authority",
    }
}

words! {
    /// The risk of a node.
    Risk {
        /// Verified is done.
        Normal = "normal",
        /// Needs a named human's approval.
        Gated = "gated",
    }
}

words! {
    /// pass or fail; there is no third.
    PassFail {
        /// It passed.
        Pass = "pass",
        /// It failed, or it couldn't be told.
        Fail = "fail",
    }
}

words! {
    /// What an anchor is over.
    AnchorKind {
        /// `root_core`, after the run.
        CoreRoot = "core_root",
        /// A declared head of the witness chain.
        ChainHead = "chain_head",
        /// h(P), before the first dispatch.
        PlanCommitment = "plan_commitment",
    }
}

words! {
    /// The provenance layers an envelope can declare.
    ProvenanceLayer {
        /// The constructor was inspected.
        ConstructorInspection = "constructor_inspection",
        /// The plan was committed to before dispatch.
        PreDispatchCommitment = "pre_dispatch_commitment",
        /// Runtime or hardware attestation.
        RuntimeAttestation = "runtime_attestation",
        /// Entries and checkpoints are signed under protected keys.
        SignedEntriesAndCheckpoints = "signed_entries_and_checkpoints",
        /// Checkpoints are witnessed by others.
        WitnessedCheckpoints = "witnessed_checkpoints",
    }
}

words! {
    /// How a run ended.
    RunOutcome {
        /// Every obligation met.
        Completed = "COMPLETED",
        /// Stopped, with what is unresolved named.
        Halted = "HALTED",
        /// A sealed snapshot of a run that goes on.
        Incomplete = "INCOMPLETE",
        /// The record isn't valid.
        Invalid = "INVALID",
        /// Ended by a successor plan.
        Superseded = "SUPERSEDED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        let longest = "a".repeat(64);
        for id in ["a", "Z", "0", "n1", "a.b_c-d", "0-", &longest] {
            assert!(is_id(id), "{id}");
        }
        let too_long = "a".repeat(65);
        for other in ["", ".a", "-a", "_a", "a b", "a/b", "é", "aé", "a\n", "a\0", &too_long] {
            assert!(!is_id(other), "{other:?}");
        }
    }

    #[test]
    fn paths() {
        let longest = format!("{}b", "a/".repeat(127));
        assert_eq!(longest.len(), 255);
        for path in ["a", "a/b", "a.b/c-d_e", "...", ".a", "a.", "..a", "a..", "-", "0/1", &longest]
        {
            assert_eq!(check_path(path.as_bytes()), Ok(()), "{path}");
            assert!(is_path(path));
        }
    }

    #[test]
    fn traversal_shapes_are_told_apart() {
        for shape in [
            ".", "..", "./a", "../a", "a/.", "a/..", "a/./b", "a/../b", "/", "/a", "//a", "a//b",
            "a/", "\\a", "a\\b", "..\\a", "C:", "c:a", "C:/a", "C:\\a", "a\0", "\0", "a\u{1}b",
            "a\nb", "a\u{7f}", "é/..",
        ] {
            assert_eq!(check_path(shape.as_bytes()), Err(PathDefect::Traversal), "{shape:?}");
            assert!(!is_path(shape));
        }
    }

    #[test]
    fn other_bytes_and_lengths_are_the_form() {
        let too_long = "a".repeat(256);
        for path in ["", "a b", "ab:c", "1:", "é", "a*", "~", "%2e%2e", "．．/a", &too_long] {
            assert_eq!(check_path(path.as_bytes()), Err(PathDefect::Form), "{path:?}");
        }
        assert_eq!(check_path(b"a\xff"), Err(PathDefect::Form));
        // Of two defects the traversal is told.
        assert_eq!(check_path("../".repeat(100).as_bytes()), Err(PathDefect::Traversal));
    }

    /// Every word reads back, ascends within its enumeration where sets of it are compared, and no other
    /// spelling is one.
    #[test]
    fn words_read_back() {
        fn check<T: Copy + Eq + core::fmt::Display + core::fmt::Debug>(
            all: &[T],
            from_name: impl Fn(&str) -> Option<T>,
        ) {
            for word in all {
                let text = word.to_string();
                assert_eq!(from_name(&text), Some(*word));
                for wrong in [text.to_uppercase(), text.to_lowercase(), format!("{text} ")] {
                    assert!(wrong == text || from_name(&wrong).is_none(), "{wrong}");
                }
            }
            assert!(from_name("").is_none());
        }
        check(EvidenceClass::ALL, EvidenceClass::from_name);
        check(Capture::ALL, Capture::from_name);
        check(ObservationLayer::ALL, ObservationLayer::from_name);
        check(SignalKind::ALL, SignalKind::from_name);
        check(ObservableKind::ALL, ObservableKind::from_name);
        check(Role::ALL, Role::from_name);
        check(Risk::ALL, Risk::from_name);
        check(PassFail::ALL, PassFail::from_name);
        check(AnchorKind::ALL, AnchorKind::from_name);
        check(ProvenanceLayer::ALL, ProvenanceLayer::from_name);
        check(RunOutcome::ALL, RunOutcome::from_name);
    }

    /// Sets are strictly ascending bytewise, and are compared by the order of the enumeration.
    #[test]
    fn enumerations_that_stand_in_sets_ascend_by_their_words() {
        fn ascends<T: core::fmt::Display>(all: &[T]) -> bool {
            all.iter().map(T::to_string).collect::<Vec<_>>().is_sorted_by(|a, b| a < b)
        }
        assert!(ascends(ObservationLayer::ALL));
        assert!(ascends(Role::ALL));
        assert!(ascends(ProvenanceLayer::ALL));
        assert!(ascends(RunOutcome::ALL));
        assert!(ascends(super::super::envelope::AnchorType::ALL));
        assert!(ascends(super::super::policy::TimeSource::ALL));
    }

    #[test]
    fn classes_ascend_by_how_far_they_reach() {
        assert!(EvidenceClass::Attested < EvidenceClass::Proxy);
        assert!(EvidenceClass::Proxy < EvidenceClass::EngineObserved);
    }
}
