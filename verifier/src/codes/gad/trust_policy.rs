//! `POL.*`: the trust policy, and what it asks of the record itself.

super::gad_family! {
    HASH: "POL.HASH", Broken, [Defensible], "Not the policy that was expected",
        "The caller stated the hash of the policy to evaluate under, and the policy supplied has \
         another one. Nothing is judged under a policy that was not meant.",
        "Check where the expected hash comes from, and supply the policy with that hash.",
        "GAD 1.3, section 2 (trust policy: published, identified, hashed)";
    LAYERS: "POL.LAYERS", Unmet, [Defensible], "No layer that the policy accepts",
        "The envelope declares on what its provenance rests, and none of that is what the policy \
         accepts.",
        "Ask the operator for evidence on an accepted layer, or judge whether another policy \
         fits.",
        "GAD 1.3, section 2 (trust policy: accepted provenance layers)";
    NOTICE: "POL.NOTICE", Unmet, [Defensible], "The record discloses its own defects",
        "The record carries a nonconformance notice, and the policy accepts none that do.",
        "Read the notice: it says what is wrong.",
        "gad.policy/1, reject_with_notice; GAD 1.3, Algorithm 1 (EXPORT)";
    NO_ROOTS: "POL.NO_ROOTS", Unsupported, [Defensible],
        "The policy asks for anchors and trusts nobody",
        "Anchors are required, and there is no authority's root and no log's text to judge them \
         by: the policy names none, or those it names are not in the trust directory. No anchor \
         could ever count.",
        "Put the certificates and log texts that the policy names by digest into the trust \
         directory.",
        "GAD 1.3, section 2 (trust policy); section 1, equation (7)";
    OUTCOME: "POL.OUTCOME", Unmet, [Defensible], "The policy does not accept this outcome",
        "The run ended in a way that is not among the outcomes the policy accepts.",
        "Look at the outcome: a halt or a snapshot may be honest, and is not what this policy \
         asks for.",
        "gad.policy/1, accept_outcomes";
    PARSE: "POL.PARSE", Broken, [Defensible], "The policy can't be read",
        "The file is not a trust policy in canonical form: a member is missing, unknown or \
         malformed. Nothing was judged under it.",
        "Correct the policy and state its new hash.",
        "gad.policy/1; GAD 1.3, section 2 (trust policy)";
    REPLAY_UNSUPPORTED: "POL.REPLAY_UNSUPPORTED", Unsupported, [Defensible],
        "The policy asks for replays and there is no runner",
        "The policy wants tests to be run again, and no program was given that can run them. What \
         is asked for and not done counts as failed.",
        "Evaluate again with a replay runner.",
        "GAD 1.3, section 2 (trust policy: replay policy)";
    SEAL: "POL.SEAL", Unmet, [Defensible], "The operator has not sealed the record",
        "The operator's signature over the root is absent, or does not verify under the operator \
         record's key. Where the policy does not ask for a seal, a seal that does not verify is a \
         note.",
        "Have the operator seal the envelope.",
        "gad.policy/1, require_operator_seal; gad-bytes/1, envelope manifest";
    SESSION_NODES: "POL.SESSION_NODES", Unmet, [Defensible], "A session covered several nodes",
        "The policy asks for one session per node, so that what a node changed was observed and \
         not derived. A dispatch names several.",
        "Have every node dispatched in a session of its own.",
        "GAD 1.3, section 1 (RUL-8); gad.policy/1, require_single_node_sessions";
    UNBOUND: "POL.UNBOUND", Unmet, [Defensible], "An artifact that nothing names",
        "The policy asks that the digest of every artifact stand in the plan or in an entry, and \
         one does not.",
        "Have entries name the digests of all artifacts; see R1.ARTIFACT.UNBOUND for what follows \
         from it.",
        "gad.policy/1, require_bound_artifacts";
    UNNAMED: "POL.UNNAMED", Unmet, [Defensible], "No policy was given",
        "Defensible was asked for without saying by whose standard. Without a named policy the \
         word means nothing.",
        "Give the trust policy to evaluate under.",
        "GAD 1.3, section 2 (trust policy)";
    VACUOUS: "POL.VACUOUS", Note, [Note], "The policy asks for no anchor",
        "Whatever anchors are there or not, the policy is content. The record may be defensible \
         under it without anything outside the operator holding it in place, and does not reach \
         GAD-4 that way.",
        "Use a policy that requires an anchor over the finished record.",
        "GAD 1.3, section 1, equation (7); section 8 (GAD-4)";
}
