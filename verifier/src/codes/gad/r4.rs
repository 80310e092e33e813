//! `R4.*`: whether verdicts are valid, and strong enough for what relies on them.

super::gad_family! {
    CAPTURE: "R4.CAPTURE", Broken, [R4], "A verdict does not say how it was captured",
        "Every verdict declares whether the engine captured the observation itself or took \
         somebody's word. Here it is absent or something else; the evidence counts as attested.",
        "Have the engine declare attested_capture or engine_capture in every verdict.",
        "GAD 1.3, Algorithm 2, R4";
    CLASS_BELOW: "R4.CLASS_BELOW", Unmet, [R4], "The evidence is weaker than the plan asks for",
        "The record relies on a node whose passing verdict is of a lower class than the node's \
         floor. The weaker of two things decides: how the result was captured, and what kind of \
         signal was looked at.",
        "Look at the findings about probes and capture: they say why the class is low. Judge \
         again with stronger evidence in a new run.",
        "GAD 1.3, Algorithm 2, R4; section 1, equation (3)";
    CLASS_DECLARED: "R4.CLASS_DECLARED", Broken, [R4], "A verdict declares its own class",
        "The class of evidence is computed from how it was captured and what was looked at. A \
         verdict that states it would be marking its own work.",
        "Have the engine leave the member out.",
        "GAD 1.3, section 2 (verdict)";
    CONTRADICTION: "R4.CONTRADICTION", Broken, [R4], "Passed, with an exit code that means failed",
        "The verdict says pass, and the exit code beside it is not the one that the frozen test \
         expects.",
        "Count the test as failed; check what in the engine turns exit codes into verdicts.",
        "GAD 1.3, section 12A (observables)";
    CUSTODY: "R4.CUSTODY", Unmet, [R4], "Nothing is disclosed about who keeps the engine's key",
        "The verdict counts as an authenticated observation of the engine, and the registry's \
         custody statement for its key is empty. Whether the engine alone could have signed is \
         unknown.",
        "Disclose in the plan how the key is kept; until then the layer can't be claimed.",
        "GAD 1.3, section 1, equation (3)";
    DIGESTS: "R4.DIGESTS", Broken, [R4], "A verdict does not say what it is about",
        "A verdict binds itself by digests to the test, to the artifact that ran, to the subject, \
         to the environment and to the output. One of them is missing.",
        "Have the engine state all of them in every verdict.",
        "GAD 1.3, Algorithm 2, R4";
    ENGINE_IDENTITY: "R4.ENGINE_IDENTITY", Broken, [R4],
        "A verdict names another engine than its signer",
        "The engine identity in the verdict is not the key that signed it.",
        "Ask the operator which engine judged; count the verdict for nothing until then.",
        "GAD 1.3, section 2 (verdict)";
    LAYERS: "R4.LAYERS", Broken, [R4], "A verdict does not say what its observation rests on",
        "Every verdict declares its observation layers: authenticated engine observation, \
         independent replay, both or none. They are absent, repeated or something else; no layer \
         counts.",
        "Have the engine declare the layers as a list in every verdict.",
        "GAD 1.3, Algorithm 2, R4";
    PASS_MISSING: "R4.PASS_MISSING", Unmet, [R4], "Relied on without having passed",
        "The record goes on as if the node were done, and one of its tests has no passing verdict \
         in the last attempt.",
        "Look up the test named; the node has to be judged again in a new run.",
        "GAD 1.3, Algorithm 2, R4";
    REPLAY_FAILED: "R4.REPLAY_FAILED", Broken, [R4, Defensible], "A replay gives another result",
        "The policy asks for the test to be run again, and its result was not the one recorded. \
         Either the record is wrong or the test does not give the same result twice.",
        "Keep the replay's output and compare environment and artifact digests; don't rely on the \
         node until it is explained.",
        "GAD 1.3, section 2 (trust policy); section 1, equation (3)";
    REPLAY_UNAVAILABLE: "R4.REPLAY_UNAVAILABLE", Unsupported, [R4, Defensible],
        "A replay that is asked for was not made",
        "The policy asks for this verdict to be replayed, and no runner was given or it could not \
         run the test. What is asked for and not done counts as failed.",
        "Evaluate again with a replay runner, or under a policy that asks for no replay.",
        "GAD 1.3, section 2 (trust policy)";
    RESULT: "R4.RESULT", Broken, [R4], "A verdict that is neither pass nor fail",
        "There are two results. A test that could not be run, or whose result is unknown, is \
         recorded as fail.",
        "Have the engine write fail whenever it can't tell.",
        "GAD 1.3, Algorithm 2, R4; section 1, equation (2)";
    SIG: "R4.SIG", Broken, [R4], "A verdict is not the engine's",
        "The verdict carries no valid signature by a registered engine key; the finding about its \
         issuer says why. A verdict that anybody could have written judges nothing.",
        "Look at the finding of R1 for the same entry.",
        "GAD 1.3, Algorithm 2, R4";
    SIGNAL: "R4.SIGNAL", Broken, [R4], "A verdict does not say what kind of signal it saw",
        "Every verdict declares whether it observed the thing itself or a test that the worker \
         wrote. Here it is absent or something else; the evidence counts as attested.",
        "Have the engine declare direct_observable or worker_authored_proxy in every verdict.",
        "GAD 1.3, Algorithm 2, R4";
    SIGNAL_FROZEN: "R4.SIGNAL_FROZEN", Broken, [R4], "A verdict was observed otherwise than agreed",
        "The frozen test declares how it is captured, on which layers and what kind of signal it \
         is. The verdict declares something else, which could make weak evidence look strong.",
        "Go by what the plan declares; correct the engine or write a successor plan.",
        "GAD 1.3, section 12A (observables)";
    SPEC_DIGEST: "R4.SPEC_DIGEST", Broken, [R4], "A verdict about another test",
        "The digest of the test in the verdict is not that of the test in the frozen plan. \
         Something else was run under its name.",
        "Find out what was run; the node was not judged by the agreed test.",
        "GAD 1.3, section 2 (verdict)";
}
