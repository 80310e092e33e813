//! `R2.*`: recorded precedence: the plan came before the work.

super::gad_family! {
    CLOCK_ANCHOR_CONTRADICTION: "R2.CLOCK.ANCHOR_CONTRADICTION", Broken, [Defensible],
        "An anchor is older than an entry it covers",
        "Somebody else proved that the entry existed at a certain time, and the entry says that \
         it was written later than that, by more than the plan's clock policy allows. The clock \
         of the run was wrong or was set.",
        "Don't rely on the times in this record; ask the operator about the engine's clock.",
        "GAD 1.3, section 9 (anchors); Algorithm 2, R2";
    CLOCK_BACKSTEP: "R2.CLOCK.BACKSTEP", Broken, [R2], "Time runs backwards",
        "An entry's time is earlier than that of the entry before it, by more than the plan's \
         clock policy allows. The order of entries stands; their times are not to be relied on.",
        "Ask the operator about the engine's clock; have a later plan allow a step that is normal \
         on that machine.",
        "GAD 1.3, Algorithm 2, R2 (clock policy)";
    CLOCK_UNDECLARED: "R2.CLOCK.UNDECLARED", Broken, [R2], "The plan declares no clock policy",
        "The plan does not say how far times may step back or lie ahead, so there is nothing to \
         hold the entries' times against.",
        "Add clock_policy with both bounds to the plan before it is frozen.",
        "GAD 1.3, Algorithm 2, R2 (clock policy)";
    FREEZE_AFTER_DISPATCH: "R2.FREEZE.AFTER_DISPATCH", Broken, [R2],
        "Work began before the plan was frozen",
        "The first dispatch stands before the freeze. A contract written after the work can be \
         fitted to it.",
        "Judge the work as not governed by this plan; freeze first in the next run.",
        "GAD 1.3, Algorithm 2, R2";
    FREEZE_DUP: "R2.FREEZE.DUP", Broken, [R2], "The plan is frozen twice",
        "A witness has exactly one freeze. With a second one it is not clear which plan held.",
        "Use a succession for another plan; the successor has its own witness.",
        "GAD 1.3, Algorithm 2, R2 (unique freeze)";
    FREEZE_EMBED: "R2.FREEZE.EMBED", Broken, [R2], "The frozen plan is not the plan of the record",
        "The freeze holds the plan itself, and core/plan.json is another one. The plan was \
         exchanged after it had been frozen.",
        "Compare the two: the one in the freeze is what the run was held to.",
        "GAD 1.3, Algorithm 1 (freeze)";
    FREEZE_HASH: "R2.FREEZE.HASH", Broken, [R2], "The freeze names another plan",
        "The hash in the freeze is not that of core/plan.json. What was committed to is not what \
         is shown.",
        "Get the plan with the hash in the freeze.",
        "GAD 1.3, Algorithm 2, R2";
    FREEZE_MISSING: "R2.FREEZE.MISSING", Unmet, [R2], "The plan was never frozen",
        "No entry freezes the plan, so nothing in the record shows that there was a contract \
         before the work.",
        "Have the engine freeze the plan as its first entry; this record can't be repaired.",
        "GAD 1.3, Algorithm 2, R2";
    FREEZE_NOT_FIRST: "R2.FREEZE.NOT_FIRST", Broken, [R2], "The freeze is not the first entry",
        "Something stands before the freeze, in a run that was not yet governed by any plan.",
        "Have the engine freeze the plan as its first entry; this record can't be repaired.",
        "GAD 1.3, Algorithm 1 (freeze); gad.table/1";
    LABEL_BOUNDED: "R2.LABEL.BOUNDED", Unmet, [R9, Defensible],
        "Bounded precedence is claimed and not shown",
        "The record claims that its plan existed before the work by somebody else's clock, and no \
         anchor over the plan verifies. All it shows is the order of its own entries, and it has \
         to say so.",
        "Withdraw the claim, or supply the anchor over the plan and the policy that trusts its \
         issuer.",
        "GAD 1.3, section 9 (pre-dispatch commitment)";
}
