//! `OUT.*`, `SAT.*`, `LVL.*`: how the run ended, whether its contract is satisfied, how far the
//! record reaches on the ladder.

super::gad_family! {
    LVL_GAD1: "LVL.GAD1", Unmet, [Level], "Below GAD-1: the minimum record is not complete",
        "Every start of an executor leaves a dispatch, an exit and a result. One of them is \
         missing for some session, or the record could not be read that far, so the level is 0.",
        "Look at the findings of R3 about exits and results.",
        "GAD 1.3, section 8 (GAD-1)";
    LVL_GAD2_ATTESTED: "LVL.GAD2_ATTESTED", Unmet, [Level],
        "Below GAD-2: a test rests on somebody's word",
        "A test that counts for completion was judged by evidence of the class attested. On the \
         ladder that is recorded, not verified, even where the plan allows it.",
        "Have the engine observe the test itself, or probe a test that the worker wrote.",
        "GAD 1.3, section 8 (GAD-2)";
    LVL_GAD2_TESTIMONY: "LVL.GAD2_TESTIMONY", Note, [Note], "A node that only records testimony",
        "The plan marks the node as recording what somebody says. Its verdicts do not count \
         towards the level, and its completion verifies nothing.",
        "Read the node as testimony.",
        "GAD 1.3, section 8 (GAD-2)";
    LVL_GAD4_NO_POST_RUN: "LVL.GAD4_NO_POST_RUN", Unmet, [Level],
        "Below GAD-4: no anchor over the finished record",
        "No anchor over the root of the record verifies under the policy. Nothing outside the \
         operator shows that the record is still the one that was sealed.",
        "Have the root anchored by an authority or log that the policy trusts, and add the anchor \
         in a further envelope.",
        "GAD 1.3, section 8 (GAD-4); section 1, equation (7)";
    LVL_GAD4_NO_PRECOMMIT: "LVL.GAD4_NO_PRECOMMIT", Unmet, [Level],
        "Below GAD-4: the plan's commitment is not shown",
        "The record claims that its plan existed before the work by somebody else's clock, and no \
         anchor over the plan verifies under the policy.",
        "Supply the anchor over the plan, or withdraw the claim of bounded precedence.",
        "GAD 1.3, section 8 (GAD-4); section 9";
    OUT_INCOMPLETE: "OUT.INCOMPLETE", Note, [Note], "A snapshot of a run that had not ended",
        "The record is a valid, sealed snapshot without an entry that ends the run. It says \
         nothing about how the run went on.",
        "Ask the operator for the final record if the run has ended since.",
        "GAD 1.3, Algorithm 2, OUTCOME";
    OUT_INVALID: "OUT.INVALID", Unmet, [Outcome], "The record is not valid",
        "One of R1 to R9 is false, or could not be evaluated, so the record has no outcome: \
         whatever its last entry says is not to be relied on.",
        "Look at the findings that make rules false, the first one first: many others follow from \
         it.",
        "GAD 1.3, Algorithm 2, OUTCOME";
    SAT_INVALID: "SAT.INVALID", Unmet, [Satisfied],
        "The contract is not satisfied: the record is not valid",
        "A contract can be satisfied in a valid record only.",
        "Look at the findings that make R1 to R9 false.",
        "GAD 1.3, section 1, equation (6)";
    SAT_NOT_COMPLETED: "SAT.NOT_COMPLETED", Unmet, [Satisfied],
        "The contract is not satisfied: the run did not complete",
        "The record is valid, and it shows a run that was halted, superseded or not yet ended. \
         That can be the system working; it is not completion.",
        "Look up which nodes are open; a successor or a new run may complete them.",
        "GAD 1.3, section 1, equation (6)";
}
