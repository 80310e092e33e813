//! `R9.*`: typed claims are no stronger than their evidence.

super::gad_family! {
    ALLOWED: "R9.ALLOWED", Unmet, [R9], "A claim below what its predicate allows",
        "The registry sets the lowest class in which a statement of this kind may be made at all. \
         This claim is made in a lower one.",
        "Withdraw the claim, or gather the evidence that it needs.",
        "GAD 1.3, Algorithm 2, R9; gad.registry/1";
    CLASS: "R9.CLASS", Broken, [R9], "A claim stronger than its evidence",
        "The class that the claim states is above the weakest of the evidence it names.",
        "State the class that the evidence supports, or name stronger evidence only.",
        "GAD 1.3, section 1, equation (9)";
    EVIDENCE_EMPTY: "R9.EVIDENCE_EMPTY", Unmet, [R9], "A claim without evidence",
        "The claim names no entry and no anchor. A claim that rests on nothing has no strength.",
        "Name the evidence, or withdraw the claim.",
        "GAD 1.3, section 1, equation (9)";
    EVIDENCE_NEGATIVE: "R9.EVIDENCE_NEGATIVE", Broken, [R9], "The evidence says the opposite",
        "The claim rests on a failed verdict, a failed recheck or a refusal, or says that a scope \
         was kept of a session that touched something outside it.",
        "Withdraw the claim.",
        "GAD 1.3, Algorithm 2, R9; gad.registry/1";
    EVIDENCE_REF: "R9.EVIDENCE_REF", Unmet, [R9], "The evidence is not there",
        "The claim names an entry or a kind of anchor that record and envelope do not hold.",
        "Supply the evidence or withdraw the claim.",
        "GAD 1.3, Algorithm 2, R9";
    EVIDENCE_SHAPE: "R9.EVIDENCE_SHAPE", Broken, [R9], "Evidence of the wrong kind",
        "The registry says for every predicate what counts as evidence for it. The entry named is \
         of another type, or a piece that is required is missing.",
        "Name what the registry asks for; see the table of predicates.",
        "GAD 1.3, Algorithm 2, R9; gad.registry/1";
    EVIDENCE_SUBJECT: "R9.EVIDENCE_SUBJECT", Broken, [R9], "Evidence about something else",
        "The entry named is about another plan, node, test or attempt than the claim.",
        "Name evidence of the current attempt of the claim's subject.",
        "GAD 1.3, Algorithm 2, R9";
    FORM: "R9.FORM", Broken, [R9], "Not a typed claim",
        "A claim has six members: predicate, subject, evidence, class, what it does not cover, \
         and issuer. One is missing or of the wrong form.",
        "Have the claim written in full.",
        "GAD 1.3, Algorithm 2, R9; section 2 (claim)";
    HUMAN_UNSIGNED: "R9.HUMAN_UNSIGNED", Unmet, [R9], "A human's claim that no human signed",
        "A claim in a human's name carries the signature of a registered person who is not the \
         engine. Otherwise a machine's judgment could pass for a human's.",
        "Have the person sign the claim, or withdraw it.",
        "gad-bytes/1, claims; GAD 1.3, Algorithm 2, R9";
    ISSUER: "R9.ISSUER", Broken, [R9], "Not this issuer's kind of claim",
        "The registry says for every predicate whether machines, humans or both may issue it.",
        "Have the claim issued by somebody who may.",
        "GAD 1.3, section 2 (claim); gad.registry/1";
    MACHINE_JUDGMENT: "R9.MACHINE_JUDGMENT", Broken, [R9], "A machine judges",
        "The claim says that something is good, secure, fit or the like, in a machine's name. No \
         evidence could support that; such claims are for humans to make and sign.",
        "Withdraw the claim, or have a registered person make it.",
        "GAD 1.3, Algorithm 2, R9 (JudgmentPredicates)";
    NONCOVERAGE: "R9.NONCOVERAGE", Broken, [R9], "A claim does not say what it leaves open",
        "Every claim names what it does not cover, at least the aspect that the registry asks for \
         with its predicate. It is absent, empty or about something else.",
        "Add the aspect, with a sentence a reader can understand.",
        "GAD 1.3, Algorithm 2, R9; section 7 (I6)";
    PREDICATE: "R9.PREDICATE", Broken, [R9], "A predicate that is in no registry",
        "The registry has no such predicate, so it is not defined what the claim says and what \
         would support it.",
        "Use a predicate of the registry; human judgments begin with judgment/.",
        "GAD 1.3, Algorithm 2, R9; gad.registry/1";
    REGISTRY: "R9.REGISTRY", Unsupported, [R9], "An unknown registry of predicates",
        "The claims are written for a registry version that this evaluator does not know, so it \
         can't tell what they mean.",
        "Use an evaluator that knows the registry.",
        "GAD 1.3, section 2 (claim); gad.registry/1";
}
