//! `ATTR.*`: contributors of workflow outputs (RFC 0028).

super::family! {
    ABSENT: "ATTR.ABSENT", Unmet, "A pinned pack or output is absent",
        "The projection pins a pack of which no file with that SHA-256 was given, or it pins an output that it \
         does not hold. Nothing can be counted without it. RFC code inventory-mismatch.",
        "Give the pack's exact bytes with --pack; a digest names bytes, so another spelling of the same JSON \
         is another pack.",
        "RFC 0028 (draft), Conformance; RFC 0020 (draft) section 9";
    ASSOCIATION: "ATTR.ASSOCIATION", Broken, "A contributor does not lead to the outcome",
        "The named rule or exception is in the pinned pack, but it names another outcome than the recorded \
         one, or the exception has not the effect force-outcome. It can't have contributed.",
        "Ask whoever wrote the output for the evaluation it was made from.",
        "RFC 0028 (draft), Specification; Core 0.2.0-draft section 8, steps 6 and 9";
    AUDIT: "ATTR.AUDIT", Broken, "The audit record is of another evaluation",
        "The audit record that the output's lineage pins names another pack than the stage pins, or another \
         disposition than the projection says was recorded.",
        "Make the projection again from the execution's artifacts.",
        "RFC 0020 (draft) sections 5 and 7";
    BOUND: "ATTR.BOUND", Broken, "A bound is exceeded",
        "A document is larger, deeper or longer than its bound: 65,536 bytes of an output envelope, 4,096 \
         contributors, or 33,554,432 bytes of everything together. Nothing is cut off to fit. RFC code \
         input-over-bound.",
        "Such an output may not be admitted; the limit on everything together is this verifier's own.",
        "RFC 0028 (draft), Specification and Conformance; RFC 0020 (draft) section 2";
    COUNT: "ATTR.COUNT", Broken, "The summary is not what the outputs add up to",
        "A count, an identity, an outcome, a stage or a pin of the stated summary differs from what was counted \
         from the output envelopes. The summary is never trusted: it is counted again and compared.",
        "Use the counted summary; ask who wrote the stated one.",
        "RFC 0028 (draft), Specification; anchorlog.summary/1";
    DRIFT: "ATTR.DRIFT", Broken, "The drift is not the difference of the two executions",
        "A difference of the stated drift is another one than after minus before, each counted from its own \
         output envelopes.",
        "Use the drift that was computed; ask who wrote the stated one.",
        "RFC 0028 (draft), Specification; anchorlog.drift/1";
    EXPECTED: "ATTR.EXPECTED", Broken, "Not the digest that was expected",
        "The counted summary, or the execution record, has another digest than the one you hold independently. \
         Something was changed since that digest was made: this is how an omission shows that was made \
         consistently in outputs, pins and summary alike.",
        "Find the bytes that the digest was made of, and compare.",
        "RFC 0028 (draft), Security and privacy";
    IDENTITY: "ATTR.IDENTITY", Broken, "No such rule or exception",
        "The pinned pack has no rule, or no exception, of that id. The namespaces are apart: an exception of \
         the same id is no rule.",
        "Check that the pack is the one that was evaluated.",
        "RFC 0028 (draft), Specification";
    INVARIANT: "ATTR.INVARIANT", Broken, "Counts that no outputs can have",
        "With N records of an outcome, F of them by fallback, and M memberships, no single count is over N - F, \
         and M is from N - F to 4096 times that. The stated summary breaks that by itself.",
        "The summary is wrong whatever the outputs are; ask who wrote it.",
        "RFC 0028 (draft), Specification";
    LINEAGE: "ATTR.LINEAGE", Broken, "An output of another execution, stage or pack",
        "The lineage of an output envelope names another workflow, execution, stage or pack than the place it \
         stands at.",
        "Make the projection again from the execution's artifacts.",
        "RFC 0020 (draft) section 5";
    MALFORMED: "ATTR.MALFORMED", Broken, "Not the form",
        "A document is no strict JSON, has a number outside of its domain, or has not its closed form: a \
         selector is missing, contributors are null, empty, out of order, repeated or of two kinds, a pack does \
         not conform to Core. RFC code input-malformed.",
        "See docs/contributors.md for the forms.",
        "RFC 0028 (draft), Specification; Core 0.2.0-draft section 3.3";
    MISSING: "ATTR.MISSING", Broken, "An outcome that nothing contributed to",
        "The recorded disposition is an outcome and not the pack's fallback, and the output names no \
         contributor. Such an outcome has at least one.",
        "Ask whoever wrote the output for the evaluation it was made from.",
        "RFC 0028 (draft), Specification";
    NON_OUTCOME: "ATTR.NON_OUTCOME", Broken, "Contributors to no outcome",
        "The recorded disposition is unresolved or not applicable, and the output names contributors.",
        "Ask whoever wrote the output for the evaluation it was made from.",
        "RFC 0028 (draft), Specification";
    OUTCOME: "ATTR.OUTCOME", Broken, "The pack declares no such outcome",
        "The recorded disposition names an outcome that the pinned pack does not declare.",
        "Check that the pack is the one that was evaluated.",
        "Core 0.2.0-draft section 8.3";
    PIN: "ATTR.PIN", Broken, "Bytes are not those that a digest pins",
        "The canonical bytes of an output envelope have another SHA-256 than the pin that stands for it, or the \
         execution record pins other outputs or packs than the projection.",
        "Make the projection again from the execution's artifacts.",
        "RFC 0020 (draft) sections 5 and 7";
    REPLAY: "ATTR.REPLAY", Broken, "Evaluating again gives something else",
        "The pinned pack, evaluated on the facts and evidence of the pinned audit record, has another \
         disposition or other contributors than the output. A replay by this verifier's evaluator is no proof \
         of what the Runtime did, and no claim of conformance.",
        "Compare the contributors that are expected with those that are named.",
        "Core 0.2.0-draft sections 7 and 8; RFC 0028 (draft), Implementation";
    REPLAY_INPUT: "ATTR.REPLAY_INPUT", Unmet, "An output can't be evaluated again",
        "A replay was asked for, and the audit record that this output's lineage pins was not given, or its \
         inputs can't be evaluated under this evaluator's limits.",
        "Give the audit trail that holds the record with --audit.",
        "RFC 0028 (draft), Implementation";
    TRACE: "ATTR.TRACE", Broken, "A recorded trace says something else",
        "A run export keeps the trace that the Runtime printed. Read off it, this output has another disposition or \
         other contributors than were recorded; or the trace contradicts its own disposition, the pinned pack, or \
         the replay. A trace is informative and unsigned: it is no evidence, and a replay counts more. RFC code none; \
         the report's word is trace-mismatch.",
        "Replay the output with --replay to see which of the two is right.",
        "Core 0.2.0-draft section 8.3; RFC 0028 (draft), Implementation";
    UNPINNED_EXPORT: "ATTR.UNPINNED_EXPORT", Note, "A run export that no output pins",
        "The lineage of no output names the audit record in this run export, or the export has none. Its trace was \
         not read and says nothing about any output here.",
        "Give the exports of the attempts that the outputs come from.",
        "RFC 0020 (draft) sections 5 and 7";
    VERSION: "ATTR.VERSION", Unsupported, "A version that is not read",
        "Accounting for contributors reads execution version 3 with outputs and summaries of version 2, and \
         drift of version 2. Version 1 names one representative, which is never taken for a complete set, and \
         models are not mixed. RFC code version-unread.",
        "Evaluate again and write the outputs in the complete model; there is no conversion.",
        "RFC 0028 (draft), Compatibility";
}
