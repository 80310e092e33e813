//! `ANC.*`: whether anchors hold, and are those that the policy asks for.

super::gad_family! {
    DISTINCT: "ANC.DISTINCT", Unmet, [Defensible], "Too few independent anchors",
        "The policy asks for anchors by several operators, and fewer have one that verifies. Two \
         tokens of one authority count once.",
        "Get anchors from further operators that the policy trusts, and add them in a further \
         envelope.",
        "gad.policy/1, required_anchors";
    HEAD_NOT_IN_CHAIN: "ANC.HEAD_NOT_IN_CHAIN", Broken, [Defensible],
        "A declared head is not in the chain",
        "The envelope declares the hash of an entry as a head, and the witness has another hash \
         there. What was anchored is not part of this record.",
        "Ask for the record whose head was anchored: this one may have been rewritten after it.",
        "GAD 1.3, section 9 (anchors)";
    HEAD_UNDECLARED: "ANC.HEAD_UNDECLARED", Broken, [Defensible],
        "An anchor over a head that is not declared",
        "An anchor over the chain names a hash that is not among the heads the envelope declares, \
         so it is not known which entry it is about.",
        "Have the envelope made anew with the head declared.",
        "GAD 1.3, section 9 (anchors); gad-bytes/1, envelope manifest";
    NO_TRUSTED_TIME: "ANC.NO_TRUSTED_TIME", Unmet, [Defensible],
        "An anchor without a time that counts",
        "The policy has a rule about when the anchor was made, and the anchor carries no time \
         from a source that the policy lists. An entry in a log alone proves no time. Where other \
         anchors meet the requirement, this is a note.",
        "Have the log's checkpoint stamped by a trusted authority, or use a time stamp over the \
         value itself.",
        "gad.policy/1, time_sources";
    PRECOMMIT_LATE: "ANC.PRECOMMIT_LATE", Unmet, [Defensible], "The plan was committed to too late",
        "The anchor over the plan was not made before the first dispatch, by the rule of the \
         policy. It does not show that the contract came before the work. Where other anchors \
         meet the requirement, this is a note.",
        "Compare the anchor's time with that of the first dispatch; commit before dispatching in \
         the next run.",
        "GAD 1.3, section 9 (pre-dispatch commitment); gad.policy/1, required_anchors";
    PRECOMMIT_UNBOUND: "ANC.PRECOMMIT_UNBOUND", Unmet, [Defensible],
        "The first dispatch does not carry the plan's anchor",
        "The policy asks that the first dispatch state the digest of the anchor over the plan, so \
         that it can't have been written before. It states none, or another one. Where other \
         anchors meet the requirement, this is a note.",
        "Have the engine obtain the anchor first and put its digest into the first dispatch.",
        "gad.policy/1, required_anchors (bound_in_dispatch)";
    PRESENT_INVALID: "ANC.PRESENT_INVALID", Broken, [Defensible], "An anchor does not hold",
        "An anchor that is there is unreadable, or is by an issuer that the policy knows and does \
         not verify. An anchor that contradicts fails the envelope, whatever others say.",
        "Look at the finding about its token or log beside this one. Get the anchor again from \
         where it was kept.",
        "GAD 1.3, section 1, equation (7) (each verifies)";
    REQUIRED_MISSING: "ANC.REQUIRED_MISSING", Unmet, [Defensible], "A required anchor is missing",
        "The policy asks for an anchor of this kind and type, and none that verifies is there.",
        "Have the value anchored by an authority or log that the policy trusts, and add the \
         anchor in a further envelope.",
        "GAD 1.3, section 1, equation (7); gad.policy/1, required_anchors";
    TARGET: "ANC.TARGET", Broken, [Defensible], "An anchor over something else",
        "An anchor is over the root of this core, over a declared head, or, as a commitment, over \
         the plan. This one is over another value, so it belongs to another record.",
        "Find the record that the anchor belongs to, and the anchor of this one.",
        "GAD 1.3, section 1, equation (7); section 9 (anchors)";
    TIME_BEFORE_TERMINAL: "ANC.TIME_BEFORE_TERMINAL", Broken, [Defensible],
        "The record was anchored before it ended",
        "The anchor over the root is older than the record's last act by its own clock. The root \
         existed before what it covers is said to have happened, so the record's times are wrong.",
        "Ask the operator about the engine's clock; don't rely on the record's times.",
        "GAD 1.3, section 1, equation (7) (post-run root anchor); section 9";
    TOO_LATE: "ANC.TOO_LATE", Unmet, [Defensible], "Anchored too long after the end",
        "Between the end of the run and the anchor lies more time than the policy allows. In \
         between, the record could have been rewritten. Where other anchors meet the requirement, \
         this is a note.",
        "Judge whether that gap matters; anchor sooner in the next run.",
        "gad.policy/1, required_anchors (max_delay_s)";
    TYPE_UNKNOWN: "ANC.TYPE_UNKNOWN", Unsupported, [Defensible], "An unknown type of anchor",
        "Anchors are RFC 3161 tokens or entries in a transparency log. This evaluator can't tell \
         whether this one holds.",
        "Use an evaluator that knows the type, or have the value anchored in a known way.",
        "GAD 1.3, section 9 (anchors)";
    UNTRUSTED_ISSUER: "ANC.UNTRUSTED_ISSUER", Note, [Note],
        "An anchor by somebody whom the policy does not know",
        "Its issuer is neither an authority nor a log of the policy. The anchor counts for \
         nothing and spoils nothing.",
        "If you trust the issuer, evaluate under a policy that names it; get its root or key from \
         the issuer, not from the bundle.",
        "gad-bytes/1, anchors; GAD 1.3, section 2 (trust policy)";
}
