//! `LOG.*`: what a transparency log signed, and whether it contains what is claimed.

super::family! {
    CLOCK: "LOG.CLOCK", Unmet, "Clocks around the log disagree",
        "A time that a witness' cosignature or a time stamp states is later than it can be by the \
         watcher's own clock, or two of them differ by more than the limit while they are about one \
         checkpoint. One of the clocks is wrong, or a time was made up.",
        "Check the watcher's own clock first. If it is right, ask the operators of the witness or \
         of the authority whose time is off.",
        "C2SP tlog-cosignature; RFC 3161";
    COSIGNATURE: "LOG.COSIGNATURE", Broken, "A witness's cosignature does not verify",
        "The checkpoint carries a line under the name and key id of a witness of the policy, and \
         the signature in it is not one by that witness over this checkpoint. A line of a known \
         key must verify, or the note is not what it says.",
        "Get the receipt again from the log. If the line is there again, tell the operators of the \
         log and of the witness.",
        "C2SP signed-note; C2SP tlog-cosignature";
    CONSISTENCY: "LOG.CONSISTENCY", Broken, "Two trees of one log are not consistent",
        "The proof does not show that the smaller tree is a prefix of the larger one. With the \
         log's own proof for two checkpoints that it signed, this means that the log has changed \
         or removed entries.",
        "Check that the proof is for exactly these two sizes. If it is, keep both signed \
         checkpoints: they are evidence.",
        "RFC 9162 section 2.1.4.2";
    ENTRY: "LOG.ENTRY", Broken, "An entry served is not the one in the tree",
        "The log serves bytes for an entry whose hash is not the leaf that its tree, which it \
         signed, has at that index.",
        "Fetch the bundle again, past any cache. If it stays so, keep it with the checkpoint: the \
         log, or whoever serves its files, shows something else than was logged.",
        "C2SP tlog-tiles";
    ENTRY_INDEX: "LOG.ENTRY_INDEX", Broken, "An entry is served at another place than it has",
        "The bytes that the log serves for one index are the entry that its tree, which it signed, \
         has at another index.",
        "Fetch the bundle again, past any cache. If it stays so, keep it with the checkpoint: the \
         log, or whoever serves its files, shows entries in another order than they were logged.",
        "C2SP tlog-tiles";
    INCLUSION: "LOG.INCLUSION", Broken, "The entry is not in the tree",
        "Hashing the leaf with the proof's hashes gives another root than the one in the \
         checkpoint, so this entry is not the one at this index of this tree.",
        "Check that entry, index and checkpoint belong together. Get the receipt or the proof \
         again from the log.",
        "RFC 9162 section 2.1.3.2";
    INDEX: "LOG.INDEX", Broken, "The index is not in the tree",
        "The index of the entry is not below the size of the tree, so the tree holds no such \
         entry.",
        "Use a checkpoint that is at least as large as index + 1, and the proof for that size.",
        "RFC 9162 section 2.1.3";
    LEAF: "LOG.LEAF", Broken, "The entry is not the one that was asked for",
        "The logged statement has another digest, kind or trail than the caller expects. Whatever \
         the log proves, it proves it about something else.",
        "Compare the expected digest and kind with the statement in the report; look up the right \
         receipt by its digest.",
        "Anchorlog statements";
    MALFORMED: "LOG.MALFORMED", Broken, "A logged entry is no statement",
        "The bytes of the entry are in the tree that the log signed and are not a canonical \
         statement. A log of this kind admits nothing else, so it was not admitted the way it \
         should be.",
        "Keep the entry with its inclusion proof and ask the log's operator. For a log that is \
         meant to hold other entries, say so (--foreign).",
        "Anchorlog statements";
    MISSING: "LOG.MISSING", Unmet, "A file of the tree is not served",
        "The checkpoint says how many entries there are, and with it which tiles and bundles. One \
         of them is not there, so nobody can see what the log has signed.",
        "Try again later. If it stays so, the log withholds entries, or its files were lost.",
        "C2SP tlog-tiles";
    ORIGIN: "LOG.ORIGIN", Unsupported, "The checkpoints are of different logs",
        "Consistency is a matter within one log. The two checkpoints have different origins, so \
         there is nothing to compare.",
        "Use two checkpoints of one log.",
        "C2SP tlog-checkpoint";
    PROOF_LENGTH: "LOG.PROOF_LENGTH", Broken, "The proof has too many or too few hashes",
        "Index and sizes determine how many hashes a proof has. One with another number is never \
         valid, whatever its hashes.",
        "Check that the proof is for this index and this tree size, and that no hash was lost in \
         copying.",
        "RFC 9162 sections 2.1.3.2 and 2.1.4.2";
    PROOF_SIZE: "LOG.PROOF_SIZE", Broken, "The proof is for another tree",
        "The proof says for which tree sizes it was made, and the checkpoints are of other sizes.",
        "Ask the log for the proof between exactly these sizes.",
        "RFC 9162 section 2.1";
    QUORUM: "LOG.QUORUM", Unmet, "Too few witnesses have cosigned",
        "The witnesses of the policy whose cosignatures verify do not satisfy its quorum. Nobody \
         the policy trusts vouches that the log showed this tree to everybody.",
        "Wait until the log has collected cosignatures and get the receipt again, or use the \
         policy that names its witnesses.",
        "C2SP tlog-policy";
    ROLLBACK: "LOG.ROLLBACK", Unmet, "The newer checkpoint is smaller than the older one",
        "The tree that should be the newer one has fewer entries. A log only grows; this one \
         either went back or served an old checkpoint.",
        "Check the order of the two checkpoints. If it is right, keep both and ask the log for its \
         newest checkpoint.",
        "C2SP tlog-witness";
    SIG: "LOG.SIG", Broken, "The log's signature is missing or does not verify",
        "The checkpoint names a log of the policy, but holds no valid signature by the key that \
         the policy gives for it. Unknown lines, their order, and colliding key ids do not matter.",
        "Check that the policy has the log's current key. Get the checkpoint again from the log.",
        "C2SP signed-note; C2SP tlog-checkpoint";
    SILENT: "LOG.SILENT", Unmet, "The log has shown no sign of life for too long",
        "Within the limit there was no answer, or no newer checkpoint and no newer cosignature or \
         time stamp of the one there is. A log that shows some people an old state hides what came \
         later.",
        "Ask the log from another place and compare the checkpoints. If it is down, its operator \
         will want to know.",
        "C2SP tlog-checkpoint; C2SP tlog-witness";
    SPLIT_VIEW: "LOG.SPLIT_VIEW", Broken, "One log signed two different trees of one size",
        "Both checkpoints have the same origin and size, and different roots. No proof can \
         reconcile them: the log shows different histories.",
        "Keep both signed checkpoints and publish them: together they prove the log's \
         misbehaviour.",
        "C2SP tlog-checkpoint; C2SP tlog-witness";
    TILE: "LOG.TILE", Broken, "A tile or bundle is not of the tree that the log signed",
        "The hashes in the file do not lead to the root in the signed checkpoint, or it does not \
         have the form of its kind. With such files nothing can be proved, and what they would \
         show is another history.",
        "Fetch the file again, past any cache. If it stays so, keep it with the checkpoint and ask \
         the log's operator.",
        "C2SP tlog-tiles";
    UNKNOWN: "LOG.UNKNOWN", Unsupported, "The policy does not know this log",
        "No log of the policy has the checkpoint's origin, so none of its signatures can count.",
        "If you trust this log, add its verifier key to the policy; get the key from its operator, \
         not from the receipt.",
        "C2SP tlog-policy";
    WITNESS_DUP: "LOG.WITNESS_DUP", Broken, "One witness key counts twice in the policy",
        "The policy lists one public key under several witness names. A quorum met with it would \
         be met by fewer parties than it says, so the policy is not used.",
        "List every witness key once.",
        "C2SP tlog-policy";
}
