//! `R7.*`: gates: a registered human answered, on the engine's findings, before anything followed.

super::gad_family! {
    CONSEQUENCE: "R7.CONSEQUENCE", Broken, [R7], "The consequence came before the approval",
        "Something that depends on a gated node was started, or the run was completed, before a \
         human had approved the node. The approval decided nothing any more.",
        "Judge what followed as not approved, and see to it that the engine waits.",
        "GAD 1.3, Algorithm 2, R7";
    DECISION: "R7.DECISION", Broken, [R7], "The answer contradicts its entry",
        "An approval has to say proceed and a refusal refuse. Here the signed decision is the \
         other one, or none.",
        "Ask the person what they decided; the signed word stands against the entry.",
        "GAD 1.3, Algorithm 1 (approval, refusal)";
    FINDINGS_EMPTY: "R7.FINDINGS_EMPTY", Unmet, [R7], "A decision that rests on nothing",
        "A request and an answer name the engine's findings they stand on. This one names none.",
        "Have the engine put its findings before the human, and the human name them.",
        "GAD 1.3, Algorithm 2, R7";
    FINDINGS_NODE: "R7.FINDINGS_NODE", Broken, [R7],
        "A decision that rests on findings about something else",
        "An entry that is named as a finding is about another node, or about an earlier attempt \
         of this one.",
        "Ask again with the findings of the current attempt.",
        "GAD 1.3, Algorithm 2, R7; gad-bytes/1, entries";
    FINDINGS_NOT_ENGINE: "R7.FINDINGS_NOT_ENGINE", Broken, [R7],
        "A decision that rests on somebody's word",
        "An entry that is named as a finding is what the executor claimed or what a person \
         decided, not what the engine found. Claims may be shown beside the findings; a decision \
         can't rest on them.",
        "Ask again with the engine's findings.",
        "GAD 1.3, Algorithm 2, R7";
    FINDINGS_REF: "R7.FINDINGS_REF", Broken, [R7],
        "A decision that rests on an entry that was not there",
        "An entry that is named as a finding does not exist, stands later, or is not one that the \
         human was asked about.",
        "Ask again with findings that exist; have the answer name those of its request.",
        "GAD 1.3, Algorithm 2, R7";
    NO_REQUEST: "R7.NO_REQUEST", Unmet, [R7], "Approved without having been asked",
        "A gated node is approved, and nowhere is a request for it. It can't be told what the \
         human saw.",
        "Count the node as not approved; ask in a new run.",
        "GAD 1.3, Algorithm 2, R7";
    ORDER: "R7.ORDER", Broken, [R7], "Approved before being asked",
        "The approval of a gated node stands before every request for it.",
        "Count the node as not approved; an approval answers a request.",
        "GAD 1.3, Algorithm 2, R7";
    REFUSAL: "R7.REFUSAL", Broken, [R7], "Approved after a refusal, with nothing between",
        "A human refused the node, and the next answer approves it without a revised request. A \
         refusal is overcome by a recorded change and a new request, not by asking until the \
         answer suits.",
        "Count the node as refused.",
        "GAD 1.3, Algorithm 2, R7; section 3 (node states)";
    REPLAY: "R7.REPLAY", Broken, [R7], "An answer to another question",
        "An answer names the request it is to by its hash. This one is not to the latest request \
         about the node: it was copied from elsewhere, or is about an earlier state.",
        "Treat the answer as misplaced; ask the person what they answered.",
        "gad-bytes/1, entries (request_h); GAD 1.3, Algorithm 2, R7";
    ROLE: "R7.ROLE", Broken, [R7], "Approved by somebody who may not",
        "The person or key that answers is registered in the frozen plan, but not as an approver.",
        "Ask a registered approver; roles change by succession only.",
        "GAD 1.3, Algorithm 2, R7";
    SIG: "R7.SIG", Broken, [R7], "The answer is not that person's",
        "The approval or refusal carries no valid signature under the key that the plan registers \
         for who is said to have answered.",
        "Ask the person. Look at the finding of R1 for the same entry as well.",
        "GAD 1.3, Algorithm 2, R7";
    WHO: "R7.WHO", Broken, [R7], "Answered by somebody unknown",
        "Who answers is not among the principals of the frozen plan.",
        "Find out who it was; a new approver needs a succession.",
        "GAD 1.3, Algorithm 2, R7";
}
