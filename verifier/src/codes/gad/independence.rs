//! `IND.*`: whether the evaluator is somebody else than the operator.

super::gad_family! {
    EVALUATOR_UNRESOLVED: "IND.EVALUATOR_UNRESOLVED", Unsupported, [Defensible],
        "The policy can't tell who the evaluator is",
        "Name and key of the evaluator have to be those of exactly one party of the policy. They \
         are of none, of several, or of different ones; who can't be placed is not independent.",
        "Complete the policy's parties if you know the evaluator.",
        "GAD 1.3, section 2 (operator record); gad.policy/1, independence";
    OPERATOR_MISSING: "IND.OPERATOR_MISSING", Unmet, [R1, Defensible],
        "The operator does not say who they are",
        "The core has no operator record, or one that lacks a member. Without it nobody can be \
         shown to be independent of the operator.",
        "Have the record exported with a full operator record.",
        "GAD 1.3, section 2 (operator record)";
    OPERATOR_UNRESOLVED: "IND.OPERATOR_UNRESOLVED", Unsupported, [Defensible],
        "The policy can't tell who the operator is",
        "The operator's name has to be that of exactly one party of the policy, byte for byte, and \
         the key of its record listed by no other one. Who can't be placed can't be told apart \
         from the evaluator.",
        "Complete the policy's parties if you know the operator.",
        "GAD 1.3, section 2 (operator record); gad.policy/1, independence";
    RELATED: "IND.RELATED", Unmet, [Defensible], "Evaluator and operator are related",
        "The policy names both in one group of related parties.",
        "Have the record evaluated by somebody outside the group.",
        "GAD 1.3, section 1, equation (8); gad.policy/1, related_groups";
    RULE: "IND.RULE", Unsupported, [Defensible], "An unknown rule of independence",
        "The policy names a rule by which independence is to be judged, and this evaluator does \
         not know it.",
        "Use the rule distinct_unrelated/1, or an evaluator that knows the other one.",
        "GAD 1.3, section 2 (trust policy: IndependentUnder)";
    SAME_PARTY: "IND.SAME_PARTY", Unmet, [Defensible], "The operator evaluated its own record",
        "Evaluator and operator are one party of the policy.",
        "Have the record evaluated by somebody else.",
        "GAD 1.3, section 1, equation (8)";
    SHARED_KEY: "IND.SHARED_KEY", Unmet, [Defensible], "The evaluator uses a key of the run",
        "The key that signed the attestation is the operator's, the engine's or another one that \
         the plan registers, whatever name it goes by here. Whoever made the record could have \
         made the attestation.",
        "Have the record evaluated by somebody with keys of their own.",
        "GAD 1.3, section 1, equation (8); gad.policy/1, independence";
}
