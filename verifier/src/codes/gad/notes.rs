//! `HYG.*`, `NOTE.*`: what a reader should know.

super::gad_family! {
    KEY_MATERIAL: "HYG.KEY_MATERIAL", Broken, [Defensible], "A private key in the bundle",
        "A member parses as a private key, or is the secret of a key that the plan registers or \
         of the operator's. Whoever has the bundle can sign in that name. Without a policy this \
         is a note.",
        "Count the key as compromised: replace it by a succession, and find out how it came into \
         the export.",
        "GAD 1.3, section 9 (REG-38)";
    ATTRIBUTION_PROXY: "NOTE.ATTRIBUTION_PROXY", Note, [Note],
        "Which node did what is derived, not observed",
        "A session covered several nodes. The engine saw what the session changed; that one node \
         or another did it is a derivation, of class proxy.",
        "Ask for one session per node where it matters.",
        "GAD 1.3, section 1 (RUL-8)";
    NOTICE: "NOTE.NOTICE", Note, [Note], "The record carries a nonconformance notice",
        "The operator discloses that something is wrong with this record. Validity is judged by \
         the rules all the same.",
        "Read the notice.",
        "GAD 1.3, Algorithm 1 (EXPORT); section 3";
    NOT_HISTORY: "NOTE.NOT_HISTORY", Note, [Note], "Structure is not history",
        "This evaluation shows that the record is whole and consistent. It can't show that the \
         events really happened: who holds the keys can make up a record that holds.",
        "Look at the layers that the envelope declares, and check at least one of them yourself.",
        "GAD 1.3, section 1 (boundary)";
    RECORDED_ONLY: "NOTE.RECORDED_ONLY", Note, [Note], "Precedence is recorded, not bounded",
        "The plan comes before the work by the order of the record's own entries. No anchor over \
         the plan verifies here, so no clock but the operator's says so.",
        "Don't state more than that; commit to the plan before the first dispatch where more is \
         needed.",
        "GAD 1.3, section 9 (pre-dispatch commitment)";
    RELATIVE: "NOTE.RELATIVE", Note, [Note], "The result is relative",
        "Defensible or not holds for this envelope, under this policy, by this version of the \
         evaluator. Another policy may say something else.",
        "State the policy's hash along with the result.",
        "GAD 1.3, section 2 (trust policy)";
    SNAPSHOT: "NOTE.SNAPSHOT", Note, [Note], "There may be more of this run",
        "A snapshot holds the record up to a checkpoint. What came later is not here, and no \
         bundle can show whether there is anything; a log in which heads are registered can.",
        "Ask the log for later heads of this plan.",
        "GAD 1.3, section 3";
    UNANCHORED: "NOTE.UNANCHORED", Note, [Note], "Nobody else holds this record in place",
        "No anchor over the root or a head verifies here. The record is linked in itself, and who \
         holds the keys could make it anew without anybody noticing.",
        "Have the root anchored; or evaluate under a policy that trusts the issuers of the \
         anchors that are there.",
        "GAD 1.3, section 1 (boundary); section 10";
}
