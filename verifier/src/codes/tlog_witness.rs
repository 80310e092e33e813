//! `TLOGWITNESS.*`: what a log and a witness say to each other.

super::family! {
    BAD_REQUEST: "TLOGWITNESS.BAD_REQUEST", Broken, "A request that could not have been read",
        "The request was put together in a way that its text can't have: its old size is over the \
         checkpoint's, or it has more than 63 hashes.",
        "Make the request from a consistency proof between the two sizes.",
        "C2SP tlog-witness";
    COSIGNATURES: "TLOGWITNESS.COSIGNATURES", Broken, "Too many cosignatures in an answer",
        "A witness answers with one line for each of its keys; this many are not read.",
        "Tell the operator of the witness.",
        "Anchorlog limits";
    EMPTY_TREE_ROOT: "TLOGWITNESS.EMPTY_TREE_ROOT", Broken, "An empty tree with another root",
        "The log signed a checkpoint of size 0 that does not have the root of the empty tree.",
        "Tell the operator of the log.",
        "C2SP tlog-witness";
    HASH: "TLOGWITNESS.HASH", Broken, "A hash of the request is malformed",
        "A line of the consistency proof is not the base64 of 32 bytes.",
        "Make the request again.",
        "C2SP tlog-witness";
    HASHES: "TLOGWITNESS.HASHES", Broken, "Too many hashes in a request",
        "A consistency proof has at most 63 hashes: no tree is higher.",
        "Make the request again.",
        "C2SP tlog-witness";
    INCONSISTENT: "TLOGWITNESS.INCONSISTENT", Broken, "Not shown to be consistent",
        "The proof does not lead from the tree that the witness has to the one in the checkpoint, or \
         both have one size and different roots.",
        "If the proof was made from the log's own tree, the log has forked or lost entries: stop it \
         and find out.",
        "C2SP tlog-witness";
    NOT_SIGNED: "TLOGWITNESS.NOT_SIGNED", Broken, "Not signed by the log",
        "No key that the witness knows of this log has signed the checkpoint, or a line of one does \
         not verify.",
        "Give the operator of the witness the log's current key.",
        "C2SP tlog-witness";
    NO_COSIGNATURES: "TLOGWITNESS.NO_COSIGNATURES", Broken, "An answer without a cosignature",
        "The witness said that it had cosigned, and sent no line.",
        "Ask the witness again; tell its operator.",
        "C2SP tlog-witness";
    OLD_FORM: "TLOGWITNESS.OLD_FORM", Broken, "A malformed first line",
        "The line \"old\" with a decimal number without sign and leading zero is missing.",
        "Make the request again.",
        "C2SP tlog-witness";
    OLD_OVER_SIZE: "TLOGWITNESS.OLD_OVER_SIZE", Broken, "An old size over the checkpoint's",
        "The request starts from a larger tree than it leads to.",
        "If the witness has the larger one, the log has lost entries: stop it and find out.",
        "C2SP tlog-witness";
    SIZE_FORM: "TLOGWITNESS.SIZE_FORM", Broken, "A malformed size in an answer",
        "A witness tells its size as a decimal number and a newline.",
        "Ask the witness again; tell its operator.",
        "C2SP tlog-witness";
    SIZE_RANGE: "TLOGWITNESS.SIZE_RANGE", Broken, "A size out of range",
        "The size is over 2^63-1, which no log can reach.",
        "Make the request again, or tell the operator of the witness.",
        "Anchorlog limits";
    STALE: "TLOGWITNESS.STALE", Broken, "The witness has another size",
        "The request does not start from the size that the witness has, which the answer names.",
        "Ask again from that size. If it is larger than the log, the log has lost entries: stop it \
         and find out.",
        "C2SP tlog-witness";
    TOO_LARGE: "TLOGWITNESS.TOO_LARGE", Broken, "A request or an answer is too large",
        "It is longer than is read of one.",
        "Send the log's own signature lines and no cosignatures.",
        "Anchorlog limits";
    TRUNCATED: "TLOGWITNESS.TRUNCATED", Broken, "A request or an answer ends too early",
        "The blank line before the checkpoint, or the last newline, is missing.",
        "Make the request again, or ask the witness again.",
        "C2SP tlog-witness";
    UNKNOWN_ORIGIN: "TLOGWITNESS.UNKNOWN_ORIGIN", Broken, "A log that the witness does not know",
        "The witness has no key for a log with the origin of the checkpoint.",
        "Ask the operator of the witness to add the log.",
        "C2SP tlog-witness";
    UTF8: "TLOGWITNESS.UTF8", Broken, "Cosignatures that are not UTF-8",
        "Signature lines are text, and these are not.",
        "Ask the witness again; tell its operator.",
        "C2SP tlog-witness";
}
