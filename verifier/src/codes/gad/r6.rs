//! `R6.*`: what was touched outside a fence is flagged, removed and rechecked.

super::gad_family! {
    CLOSE_NO_FLAG: "R6.CLOSE.NO_FLAG", Broken, [R6], "Closed without having been flagged",
        "A closure stands for a node that has no open flag, so it is not known what was \
         rechecked.",
        "Look for a flag that is missing from the record.",
        "GAD 1.3, Algorithm 1 (scope_closed)";
    CLOSE_NO_REMEDIATION: "R6.CLOSE.NO_REMEDIATION", Unmet, [R6], "Closed without a removal",
        "A flag is closed when the stray work has been removed and the engine has looked again. \
         No removal is recorded since the flag.",
        "Have the removal recorded before the recheck; the flag counts as open.",
        "GAD 1.3, Algorithm 2, R6";
    CLOSE_SIG: "R6.CLOSE.SIG", Broken, [R6], "A closure is not the engine's",
        "The closure carries no valid signature by a registered engine key. Only the engine's own \
         recheck closes a flag.",
        "Look at the finding of R1 for the same entry.",
        "GAD 1.3, Algorithm 2, R6";
    FLAG_INCOMPLETE: "R6.FLAG.INCOMPLETE", Broken, [R6], "A flag leaves something out",
        "The session covered one node, and its flags name fewer paths than the session touched \
         outside that node's fence. What is left out would never be rechecked.",
        "Look at the paths named in the finding; have the engine compute flags from the touched \
         surface.",
        "GAD 1.3, Algorithm 2, R6";
    FLAG_IN_FENCE: "R6.FLAG.IN_FENCE", Broken, [R6], "A flag about something that is allowed",
        "The flagged path is admitted by the node's fence. Flags are computed from surface and \
         fence, so this one was made in another way.",
        "Have the engine compute flags from the touched surface.",
        "GAD 1.3, Algorithm 1 (flag)";
    FLAG_NOT_TOUCHED: "R6.FLAG.NOT_TOUCHED", Broken, [R6],
        "A flag about something that was not touched",
        "The flagged path is not in the touched surface of the result that the flag names.",
        "Have the engine compute flags from the touched surface.",
        "GAD 1.3, Algorithm 2, R6";
    FLAG_OMITTED: "R6.FLAG.OMITTED", Broken, [R6], "Touched outside every fence, and not flagged",
        "A session touched a path that no fence of its nodes admits, and its work was judged \
         without a flag about it.",
        "Look at what was changed there; it is outside of what was agreed and nobody rechecked \
         it.",
        "GAD 1.3, Algorithm 1 (flag); Algorithm 2, R6";
    FLAG_REF: "R6.FLAG.REF", Broken, [R6], "A flag that refers to no result of its node",
        "A flag names the result whose touched surface it comes from: that of the node's current \
         session, before anything is judged. This one names another entry or comes too late.",
        "Have the engine flag after the result and before the verdicts.",
        "GAD 1.3, Algorithm 2, R6";
    FLAG_UNAUTHENTICATED: "R6.FLAG.UNAUTHENTICATED", Unmet, [R6],
        "The result behind a flag is nobody's word",
        "The result that the flag names is in no valid checkpoint, so nothing shows that the \
         engine observed that surface.",
        "Look at the findings about checkpoints.",
        "GAD 1.3, Algorithm 2, R6";
    OPEN_AT_GOOD: "R6.OPEN_AT_GOOD", Broken, [R6], "Relied on with an open flag",
        "The record goes on as if the node were done, and stray work of its session was not \
         removed and rechecked, or the recheck failed.",
        "Look at the flagged paths; the node is not done until they are dealt with in a new run.",
        "GAD 1.3, Algorithm 2, R6";
    REMEDIATION_ACTION: "R6.REMEDIATION.ACTION", Broken, [R6], "A remediation that is none",
        "Stray work is remedied by removing it; after a refusal, by a revision. There is no other \
         action.",
        "Remove the stray work, or widen the fence by a succession.",
        "GAD 1.3, Algorithm 2, R6";
    REMEDIATION_NO_FLAG: "R6.REMEDIATION.NO_FLAG", Broken, [R6],
        "A remediation with nothing to remedy",
        "The node has no open flag and was not refused, so it is not known what was removed or \
         revised.",
        "Look for a flag that is missing from the record.",
        "GAD 1.3, Algorithm 1 (remediation)";
    SUCCESSION_CLOSE: "R6.SUCCESSION_CLOSE", Broken, [R6], "A succession is taken for a closure",
        "A succession ends the plan; it never makes stray work good under the old fence.",
        "Remove the stray work, or end the plan with plan_superseded and leave the flag open.",
        "GAD 1.3, Algorithm 2, R6; section 4";
}
