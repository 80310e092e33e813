//! Algorithm 2, equation (3): "eff(v) ≜ min(observation_assurance(v), signal_strength(v))".
//!
//! How a result was captured and what kind of signal was evaluated are two questions; each has its
//! function here, and neither sees what the other one looks at.

use anchorlog_proto::gad::names::{Capture, EvidenceClass, SignalKind};

/// What is known of how a verdict was captured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "equation (3) names exactly these")]
pub struct Observation {
    /// Its capture as declared; `None` where undeclared.
    pub capture: Option<Capture>,
    /// Whether authenticated_engine_observation is declared and holds: the custody of the engine's key is
    /// disclosed.
    pub authenticated: bool,
    /// Whether independently_replayable is declared and holds: a replay was executed and agreed.
    pub replayed: bool,
}

/// What is known of the signal that a verdict evaluated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "equation (3) names exactly these")]
pub struct Signal {
    /// Its kind as declared; `None` where undeclared.
    pub kind: Option<SignalKind>,
    /// Whether an earlier probe matches it in everything R5 asks for.
    pub probed: bool,
}

/// observation_assurance: engine_observed for an engine capture of which at least one declared layer holds,
/// attested for everything else.
#[must_use]
pub const fn observation_assurance(observation: Observation) -> EvidenceClass {
    match observation.capture {
        Some(Capture::EngineCapture) if observation.authenticated || observation.replayed => {
            EvidenceClass::EngineObserved
        }
        Some(Capture::EngineCapture | Capture::AttestedCapture) | None => EvidenceClass::Attested,
    }
}

/// signal_strength: engine_observed for the thing itself, proxy for what the worker wrote about it when a
/// probe has shown it able to fail, attested for everything else.
#[must_use]
pub const fn signal_strength(signal: Signal) -> EvidenceClass {
    match signal.kind {
        Some(SignalKind::DirectObservable) => EvidenceClass::EngineObserved,
        Some(SignalKind::WorkerAuthoredProxy) if signal.probed => EvidenceClass::Proxy,
        Some(SignalKind::WorkerAuthoredProxy) | None => EvidenceClass::Attested,
    }
}

/// eff: the weaker of the two axes. Strength on one never makes up for weakness on the other.
#[must_use]
pub fn effective_class(observation: Observation, signal: Signal) -> EvidenceClass {
    observation_assurance(observation).min(signal_strength(signal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use EvidenceClass::{Attested, EngineObserved, Proxy};

    const CAPTURES: [Option<Capture>; 3] =
        [None, Some(Capture::AttestedCapture), Some(Capture::EngineCapture)];
    const KINDS: [Option<SignalKind>; 3] =
        [None, Some(SignalKind::DirectObservable), Some(SignalKind::WorkerAuthoredProxy)];

    /// Rows of (authenticated, replayed) for each capture.
    #[test]
    fn observation_assurance_as_equation_3_says() {
        let table = [
            (None, [Attested; 4]),
            (Some(Capture::AttestedCapture), [Attested; 4]),
            (
                Some(Capture::EngineCapture),
                [Attested, EngineObserved, EngineObserved, EngineObserved],
            ),
        ];
        for (capture, expected) in table {
            let layers = [(false, false), (false, true), (true, false), (true, true)];
            for ((authenticated, replayed), expected) in layers.into_iter().zip(expected) {
                let observation = Observation { capture, authenticated, replayed };
                assert_eq!(observation_assurance(observation), expected, "{observation:?}");
            }
        }
    }

    #[test]
    fn signal_strength_as_equation_3_says() {
        let table = [
            (None, Attested, Attested),
            (Some(SignalKind::DirectObservable), EngineObserved, EngineObserved),
            (Some(SignalKind::WorkerAuthoredProxy), Attested, Proxy),
        ];
        for (kind, unprobed, probed) in table {
            assert_eq!(signal_strength(Signal { kind, probed: false }), unprobed, "{kind:?}");
            assert_eq!(signal_strength(Signal { kind, probed: true }), probed, "{kind:?}");
        }
    }

    /// All 72 rows: the classes are what the words of equation (3) leave no choice about.
    #[test]
    fn the_minimum_governs() {
        let mut count = [0; 3];
        for capture in CAPTURES {
            for kind in KINDS {
                for bits in 0..8_u8 {
                    let observation = Observation {
                        capture,
                        authenticated: bits & 1 != 0,
                        replayed: bits & 2 != 0,
                    };
                    let signal = Signal { kind, probed: bits & 4 != 0 };
                    let class = effective_class(observation, signal);
                    let captured = capture == Some(Capture::EngineCapture) && bits & 3 != 0;
                    let expected = match (captured, kind, signal.probed) {
                        (true, Some(SignalKind::DirectObservable), _) => EngineObserved,
                        (true, Some(SignalKind::WorkerAuthoredProxy), true) => Proxy,
                        _ => Attested,
                    };
                    assert_eq!(class, expected, "{observation:?} {signal:?}");
                    count[match class {
                        Attested => 0,
                        Proxy => 1,
                        EngineObserved => 2,
                    }] += 1;
                }
            }
        }
        assert_eq!(count, [63, 3, 6]);
    }
}
