//! `TLOGPROOF.*`: the text of a proof file.

super::family! {
    EXTRA_BASE64: "TLOGPROOF.EXTRA_BASE64", Broken, "The extra data is not base64",
        "The extra line holds standard padded base64.",
        "Get the proof again.",
        "C2SP tlog-proof";
    EXTRA_LENGTH: "TLOGPROOF.EXTRA_LENGTH", Broken, "Too much extra data",
        "The extra line is longer than other implementations read.",
        "Keep the data beside the proof.",
        "C2SP tlog-proof";
    HASH: "TLOGPROOF.HASH", Broken, "A hash of the proof is malformed",
        "A line of the proof is not the base64 of 32 bytes.",
        "Check that the proof was not re-wrapped on its way, or get it again.",
        "C2SP tlog-proof";
    HASHES: "TLOGPROOF.HASHES", Broken, "Too many hashes in a proof",
        "A proof has at most 63 hashes: no tree is higher.",
        "Get the proof again.",
        "C2SP tlog-proof";
    HEADER: "TLOGPROOF.HEADER", Broken, "Not a proof file of a known version",
        "The first line is not c2sp.org/tlog-proof@v1.",
        "Check that it is the right file, and whether it is of a newer format version.",
        "C2SP tlog-proof";
    INDEX_FORM: "TLOGPROOF.INDEX_FORM", Broken, "A malformed index line",
        "The line \"index\" with a decimal number without sign and leading zero is missing.",
        "Get the proof again.",
        "C2SP tlog-proof";
    INDEX_RANGE: "TLOGPROOF.INDEX_RANGE", Broken, "An index out of range",
        "The index is over 2^63-1, which no log can reach.",
        "Get the proof again.",
        "Anchorlog limits";
    TOO_LARGE: "TLOGPROOF.TOO_LARGE", Broken, "A proof file is too large",
        "The proof is longer than is read of one proof.",
        "Check that it is the right file.",
        "Anchorlog limits";
    TRUNCATED: "TLOGPROOF.TRUNCATED", Broken, "A proof file ends too early",
        "The blank line before the checkpoint is missing.",
        "Check that the file is complete.",
        "C2SP tlog-proof";
}
