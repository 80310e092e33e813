//! `ATT.*`: whether an evaluation attestation is valid for this record under this policy.

super::gad_family! {
    DIVERGES: "ATT.DIVERGES", Broken, [Defensible],
        "The attestation says something else than this evaluation",
        "What the attestation states about validity, outcome and satisfaction is not what was \
         computed here from the same record. One of the two evaluators is wrong, or saw other \
         bytes.",
        "Compare versions and policies of both evaluations, and have the attested one repeated.",
        "GAD 1.3, Algorithm 2 (predicate_results)";
    FORM: "ATT.FORM", Broken, [Defensible], "Not an attestation",
        "The file is no signed object of the closed form: a member is missing, unknown or \
         malformed, the stored form is not canonical, or the credential in it is not the \
         signer's. Nothing else of it is examined.",
        "Have the evaluator issue it anew with `verifier attest`.",
        "GAD 1.3, Algorithm 2 (q_body); section 2 (evaluation attestation)";
    IMPLEMENTATION: "ATT.IMPLEMENTATION", Unmet, [Defensible],
        "The policy does not accept the evaluator's program",
        "Name, version and hash of the program that evaluated are not among those that the policy \
         accepts.",
        "Have it evaluated with an accepted program, or examine this one and add it to the \
         policy.",
        "GAD 1.3, section 2 (trust policy: accepted evaluator implementations)";
    IN_CORE: "ATT.IN_CORE", Broken, [Defensible], "An attestation inside the core",
        "An attestation lies within the record that it would have to have evaluated. That is \
         impossible unless the record was put together afterwards.",
        "Have the record exported without it; attestations belong into the envelope.",
        "GAD 1.3, section 2 (evaluation attestation)";
    KEY_REVOKED: "ATT.KEY_REVOKED", Unmet, [Defensible], "The evaluator's key is revoked",
        "The policy revokes the key from a time that has passed, and nothing shows that the \
         attestation was made earlier. The time it states itself proves nothing.",
        "Have the evaluation attested anew under a key that holds.",
        "GAD 1.3, section 12A (REG-14); gad.policy/1, revocation";
    MISSING: "ATT.MISSING", Unmet, [Defensible], "Nobody independent has evaluated this",
        "There is no attestation in the envelope or beside it. That somebody else has checked is \
         a fact that only a signed attestation can carry.",
        "Have an independent evaluator run `verifier attest`, and add the attestation in a \
         further envelope.",
        "GAD 1.3, section 1, equation (8)";
    NEGATIVE: "ATT.NEGATIVE", Unmet, [Defensible],
        "The attestation says that the record is not valid",
        "An independent evaluator looked and found the record invalid. Such an attestation makes \
         nothing defensible.",
        "Read the evaluator's findings; it is an objection, not a formality.",
        "GAD 1.3, section 1, equation (8)";
    POLICY: "ATT.POLICY", Unmet, [Defensible], "Evaluated under another policy",
        "The attestation names a policy that is neither the one given here nor one that it \
         accepts evaluations under.",
        "Have it evaluated under this policy, or evaluate here under the attestation's.",
        "GAD 1.3, Algorithm 2 (policy); gad.policy/1, accept_attestations_under";
    REPLAY_LAYERS: "ATT.REPLAY_LAYERS", Unmet, [Defensible],
        "The evaluator did not replay what the policy asks for",
        "The policy asks for replays, and the attestation does not list the layer among those \
         that were exercised.",
        "Have it evaluated with a replay runner.",
        "GAD 1.3, Algorithm 2 (replay_layers_exercised)";
    ROOT_CORE: "ATT.ROOT_CORE", Broken, [Defensible], "The attestation is about another record",
        "The root or the plan in the attestation is not that of this record.",
        "Find the record with the stated root, and the attestation of this one.",
        "GAD 1.3, section 1, equation (8)";
    SIG: "ATT.SIG", Broken, [Defensible], "The attestation's signature does not verify",
        "The signature was not made over this body with the key that the attestation names. It \
         was changed, or is forged.",
        "Get the attestation from the evaluator itself.",
        "GAD 1.3, Algorithm 2; section 2 (signed objects)";
    SPEC_VERSION: "ATT.SPEC_VERSION", Broken, [Defensible],
        "Evaluated by other versions than the record's",
        "The attestation names a version of the specification, the canonical form or the registry \
         of predicates that is not the record's. Two evaluations by different rules don't \
         compare.",
        "Have it evaluated anew by the versions that the record names.",
        "GAD 1.3, Algorithm 2 (spec_version, canonicalization_version, \
         predicate_registry_version)";
    TIME_FUTURE: "ATT.TIME_FUTURE", Broken, [Defensible], "Evaluated in the future",
        "The attestation's time is later than the time of this evaluation and the skew that the \
         policy allows.",
        "Check the time of this evaluation; if it is right, the evaluator's clock was wrong.",
        "GAD 1.3, Algorithm 2 (evaluation_time); gad.policy/1, clock";
    TIME_ORDER: "ATT.TIME_ORDER", Broken, [Defensible],
        "Evaluated before what it evaluated was anchored",
        "The attestation is about an envelope that carries an anchor, and states a time before \
         that anchor's. It can't have seen what it says it saw.",
        "Ask the evaluator about its clock, or have the evaluation attested anew.",
        "GAD 1.3, section 2 (envelope lineage); gad.policy/1, clock";
    UNTRUSTED: "ATT.UNTRUSTED", Unmet, [Defensible], "The policy does not know the evaluator's key",
        "The key is under none of the credential authorities of the policy, so it is not known \
         whose word the attestation is.",
        "If you know the evaluator, add its key to the policy; get the key from the evaluator, \
         not from the bundle.",
        "GAD 1.3, section 2 (trust policy: accepted credential authorities)";
}
