//! `CKPT.*`: the text of a checkpoint.

super::family! {
    BLANK_LINE: "CKPT.BLANK_LINE", Broken, "A blank line in a checkpoint",
        "The lines of a checkpoint are not empty.",
        "Get the checkpoint again from the log.",
        "C2SP tlog-checkpoint";
    EMPTY_ROOT: "CKPT.EMPTY_ROOT", Broken, "An empty tree with a wrong root",
        "A tree of size 0 has the SHA-256 of nothing as its root.",
        "Tell the log's operator; do not use the checkpoint.",
        "RFC 6962 section 2.1";
    EXTENSION_FORM: "CKPT.EXTENSION_FORM", Broken, "A malformed extension line",
        "An extension line is not empty and holds no control character.",
        "Get the checkpoint again from the log.",
        "C2SP tlog-checkpoint";
    EXTENSION_LINES: "CKPT.EXTENSION_LINES", Broken, "Too many extension lines",
        "The checkpoint has more extension lines than are read.",
        "Check that it is the right file.",
        "Anchorlog limits";
    FINAL_NEWLINE: "CKPT.FINAL_NEWLINE", Broken, "A checkpoint without a final newline",
        "The text of a checkpoint ends with a newline, which is signed too.",
        "Check that the checkpoint is complete and was not trimmed.",
        "C2SP tlog-checkpoint";
    KEY_ALGORITHM: "CKPT.KEY_ALGORITHM", Broken, "A key that logs do not sign with",
        "A log signs its checkpoints with an Ed25519 key of type 1; the key given is of another \
         type.",
        "Use the log's key, not a witness's.",
        "C2SP tlog-checkpoint";
    LINES: "CKPT.LINES", Broken, "Too few lines in a checkpoint",
        "A checkpoint has at least origin, size and root, a line each.",
        "Check that it is the right file and complete.",
        "C2SP tlog-checkpoint";
    ORIGIN: "CKPT.ORIGIN", Broken, "A malformed origin",
        "The first line of a checkpoint, the log's name, is empty, too long, or has a control \
         character.",
        "Get the checkpoint again from the log.",
        "C2SP tlog-checkpoint";
    ORIGIN_MISMATCH: "CKPT.ORIGIN_MISMATCH", Broken, "A checkpoint of another log",
        "The checkpoint's origin is not the log whose key it is checked with.",
        "Use the key of the log that the checkpoint names, or the other log's checkpoint.",
        "C2SP tlog-checkpoint";
    ROOT_BASE64: "CKPT.ROOT_BASE64", Broken, "A root hash is not base64",
        "The third line of a checkpoint is the root hash in standard padded base64.",
        "Get the checkpoint again from the log.",
        "C2SP tlog-checkpoint";
    ROOT_LENGTH: "CKPT.ROOT_LENGTH", Broken, "A root hash of the wrong length",
        "A root hash has 32 bytes.",
        "Get the checkpoint again from the log.",
        "C2SP tlog-checkpoint";
    SIGNATURES_DIFFER: "CKPT.SIGNATURES_DIFFER", Broken, "Two different signatures by one log key",
        "The log's key has two valid, different lines. Which of them a time stamp covers would \
         depend on their order, which nothing protects.",
        "Get the checkpoint again from the log; tell its operator.",
        "Anchorlog anchors";
    SIZE_FORM: "CKPT.SIZE_FORM", Broken, "A malformed tree size",
        "The second line of a checkpoint is the tree size in decimal, without sign, leading zero \
         or white space.",
        "Get the checkpoint again from the log.",
        "C2SP tlog-checkpoint";
    SIZE_RANGE: "CKPT.SIZE_RANGE", Broken, "A tree size out of range",
        "The tree size is over 2^63-1, which no log can reach.",
        "Get the checkpoint again from the log.",
        "Anchorlog limits";
    TRAILING_BLANK_LINE: "CKPT.TRAILING_BLANK_LINE", Broken, "A blank line ends the checkpoint",
        "Between the last line of a checkpoint and its signatures there is exactly one blank line.",
        "Get the checkpoint again from the log.",
        "C2SP tlog-checkpoint";
}
