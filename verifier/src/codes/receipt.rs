//! `RCT.*`: what a receipt says beside its proof.

super::family! {
    ANCHORED_WITHOUT_TIMESTAMP: "RCT.ANCHORED_WITHOUT_TIMESTAMP", Broken, "Anchored without a time \
         stamp",
        "The receipt's state is anchored, and it carries no time stamp at all.",
        "Get the receipt again from the log.",
        "Anchorlog receipts";
    CONFLICTS: "RCT.CONFLICTS", Broken, "A malformed list of conflicts",
        "The list of conflicting entries names 1 to 64 other entries in ascending order, or is \
         absent.",
        "Get the receipt again from the log.",
        "Anchorlog receipts";
    CONFLICT_FLAGGED: "RCT.CONFLICT_FLAGGED", Note, "The log flagged a conflicting statement",
        "The log's answer names other entries with the same trail and sequence and another digest. \
         The list is the log's word: it is not covered by any signature, and the proof of this \
         entry stands.",
        "Look at the entries with the named indexes before you rely on the position within the \
         trail.",
        "Anchorlog statements";
    INDEX: "RCT.INDEX", Broken, "Receipt and proof name different indexes",
        "The receipt's index is not the one its proof is for.",
        "Get the receipt again from the log.",
        "Anchorlog receipts";
    LEAF_HASH: "RCT.LEAF_HASH", Broken, "The leaf hash is not the statement's",
        "The receipt's leaf hash is not the RFC 6962 hash of the canonical form of its statement: \
         one of the two was changed.",
        "Get the receipt again from the log.",
        "Anchorlog receipts; RFC 6962 section 2.1";
    ORIGIN: "RCT.ORIGIN", Broken, "Receipt and checkpoint name different logs",
        "The receipt says it is of one log, and its checkpoint is one of another.",
        "Get the receipt again from the log.",
        "Anchorlog receipts";
    STATE: "RCT.STATE", Unmet, "The receipt claims more than is shown",
        "The receipt's state says witnessed or anchored, and under this policy the evidence for \
         that is not there: no witness quorum is asked and met, or no time stamp is verified.",
        "Use a policy that names the witness quorum, and give the roots of the authorities whose time \
         stamps you accept.",
        "Anchorlog receipts";
    TIMESTAMP_COUNT: "RCT.TIMESTAMP_COUNT", Broken, "Too many time stamps",
        "The receipt carries more time stamps than are read.",
        "Remove time stamps of authorities that nobody needs; the others stay valid.",
        "Anchorlog limits";
    TIMESTAMP_LENGTH: "RCT.TIMESTAMP_LENGTH", Broken, "A time stamp is empty or too long",
        "A time stamp token of the receipt has no bytes, or more than any token has.",
        "Get the receipt again from the log.",
        "Anchorlog limits";
}
