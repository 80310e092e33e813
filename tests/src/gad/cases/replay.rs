//! Replay policies.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{E, Nobody, W};
use crate::gad::base::envelopes::replayed;
use crate::gad::base::runs::minimal;
use crate::gad::case::case;
use crate::gad::trust::basic;

const RULE: &str = "S2 trust policy replay, A2 R4";

pub(super) fn cases() -> Vec<Case> {
    let unavailable = ["R4.REPLAY_UNAVAILABLE"];
    vec![
        case("replay-no-runner", replayed, E, RULE, "a replay is asked and nobody does it")
            .change(|r| r.inputs.replay = None)
            .invalid(&["R4.REPLAY_UNAVAILABLE", "POL.REPLAY_UNSUPPORTED"]),
        case("replay-unavailable", replayed, E, RULE, "the runner can't tell")
            .change(|r| r.inputs.replay = Some("unavailable"))
            .invalid(&unavailable),
        case("replay-failed", replayed, E, RULE, "the replay disagrees")
            .change(|r| r.inputs.replay = Some("disagrees"))
            .invalid(&["R4.REPLAY_FAILED"]),
        case("replay-required-for", replayed, E, RULE, "asked for commands, and this is one")
            .change(|r| {
                r.policy("/replay", json!({"rule": "required_for", "kinds": ["command"]}));
                r.inputs.replay = Some("disagrees");
            })
            .invalid(&["R4.REPLAY_FAILED"]),
        case(
            "replay-required-for-others",
            replayed,
            Nobody,
            RULE,
            "asked for pages, and this is none",
        )
        .change(|r| {
            r.policy("/replay", json!({"rule": "required_for", "kinds": ["page"]}));
            r.inputs.replay = Some("disagrees");
        })
        .holds(&[])
        .without(&["R4.REPLAY_FAILED"]),
        case("replay-sampled-all", replayed, E, RULE, "a sample of everything")
            .change(|r| {
                r.policy("/replay", json!({"rule": "sampled", "per_million": 1_000_000}));
                r.inputs.replay = Some("disagrees");
            })
            .invalid(&["R4.REPLAY_FAILED"]),
        case("replay-sampled-none", replayed, Nobody, RULE, "a sample of nothing")
            .change(|r| {
                r.policy("/replay", json!({"rule": "sampled", "per_million": 0}));
                r.inputs.replay = Some("disagrees");
            })
            .holds(&[])
            .without(&["R4.REPLAY_FAILED"]),
        case("replay-layers", replayed, W, "A2 attestation", "the attestation exercised no replay")
            .change(|r| r.attest("/body/replay_layers_exercised", json!([])))
            .indefensible(&["ATT.REPLAY_LAYERS"]),
        case(
            "replay-policy-without-need",
            crate::gad::base::envelopes::defensible,
            Nobody,
            RULE,
            "a replay policy and nothing replayable",
        )
        .change(|r| {
            r.policy("/replay", json!({"rule": "required_for_all"}));
            r.inputs.replay = Some("disagrees");
        })
        .holds(&[])
        .without(&["R4.REPLAY_FAILED", "R4.REPLAY_UNAVAILABLE"]),
        case(
            "replay-policy-no-runner",
            crate::gad::base::envelopes::defensible,
            E,
            "S2 trust policy replay",
            "a replay policy and no runner",
        )
        .change(|r| r.policy("/replay", json!({"rule": "required_for_all"})))
        .indefensible(&["POL.REPLAY_UNSUPPORTED"])
        .without(&["R4.REPLAY_UNAVAILABLE"]),
        case("replay-no-policy", minimal, Nobody, RULE, "no policy asks for no replay")
            .change(|r| {
                let layers =
                    || json!(["authenticated_engine_observation", "independently_replayable"]);
                r.plan("/N/0/T/0/spec/observation_layers", layers());
                r.set("v", "/observation_layers", layers());
                assert!(basic()["replay"] == "none", "the usual policy asks for none");
            })
            .holds(&[])
            .without(&["R4.REPLAY_UNAVAILABLE"]),
    ]
}
