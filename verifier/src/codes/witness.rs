//! `WITNESS.*`: the chain that a checkpoint witness signed for an audit trail.

super::family! {
    BOUND: "WITNESS.BOUND", Broken, "More than one reading takes",
        "There are more than 16 keys, more than 67,108,864 bytes of files or more than 110,000 statements, the \
         head and a continuation's two counted. Nothing was read: a chain is never read in part. The reasons are \
         keys-over-bound, bytes-over-bound and statements-over-bound.",
        "Read a longer chain in steps: --save where one reading ended, --resume the next from there.",
        "Gateway specification, sections 8.6 and 8.7";
    CHAIN: "WITNESS.CHAIN", Broken, "The statements are no chain from its beginning",
        "Every statement verifies, and together they do not begin at index 0 or where the continuation ended, or \
         one is missing, does not name the one before it, or breaks the rule of its kind: checkpoints increase, a \
         conflict is at or below the latest checkpoint, a retirement repeats it and comes last. An early statement \
         that was left out is just what a rewritten trail would fail against. Reason witness-chain-broken.",
        "Fetch all statements of the trail from the witness, from index 0 on.",
        "Gateway specification, sections 8.5 and 8.6, step 3";
    EQUIVOCATION: "WITNESS.EQUIVOCATION", Broken, "A witness signed two chains",
        "Two different statements of one trail and one index both verify. An honest witness never signs a second \
         one. Reason witness-equivocation.",
        "Keep both statements: they prove it to anybody who has the key. Trust no coverage by this witness.",
        "Gateway specification, section 8.6, step 2";
    HEAD_BEHIND: "WITNESS.HEAD_BEHIND", Broken, "The head is older than what was read before",
        "The continuation ends at a higher index than the head. The witness forgot or withholds statements, or the \
         head was fetched before the earlier reading. Reason witness-head-behind.",
        "Fetch the head again. If it stays behind, keep the continuation: its statement is evidence.",
        "Gateway decision 0013, determination 6";
    HEAD_UNREACHED: "WITNESS.HEAD_UNREACHED", Unmet, "The statements do not reach the head",
        "The head that was fetched from the witness is more than one index past every statement supplied, so there \
         are statements that were not read. Reason witness-head-unreached.",
        "Fetch the statements up to the head, and read again.",
        "Gateway specification, section 8.6, step 4";
    KEY_RULE: "WITNESS.KEY", Broken, "A key that nobody may trust",
        "The 32 bytes are not the canonical encoding of a point, a point of small order, under which signatures can \
         be made without a private key, or no point at all. Nothing was read. The reasons are key-not-canonical, \
         key-small-order and key-not-on-curve.",
        "Get the witness' public key again, from its operator.",
        "Gateway specification, section 8.4";
    MALFORMED: "WITNESS.MALFORMED", Broken, "Not a statement of a checkpoint witness",
        "A line has not the closed form of witnessVersion 1, a head file has not exactly one line, or a continuation \
         has not its form. No line is passed over. Reason witness-malformed.",
        "Give the lines as the witness serves them. Another version needs another reader.",
        "Gateway specification, sections 8.2 and 8.6, step 1";
    RESUMED: "WITNESS.RESUMED", Broken, "Statements that were read before",
        "A file has a statement at or below the index where the continuation ended. A reading that goes on takes only \
         what follows, and passes nothing over. Nothing was read. Reason statement-before-continuation.",
        "Give only the statements after the continuation, or read the whole chain without --resume.",
        "Gateway decision 0013, determination 6";
    SAVE: "WITNESS.SAVE", Unsupported, "The continuation could not be saved",
        "The reading ended without a finding, and the file to save its end in could not be written. What was there \
         before is unchanged.",
        "Check the path and the permissions of its directory.",
        "none";
    SIGNATURE: "WITNESS.SIGNATURE", Broken, "No key at hand signed the statement",
        "The statement names a key that was not given, or its signature does not verify under the key it names. Such a \
         statement fails the reading, whatever it claims. Reason witness-signature-invalid.",
        "Give every key of the witness that you trust. If it is the right key, the statement was altered or forged.",
        "Gateway specification, sections 8.4 and 8.6, step 1";
    TRAIL: "WITNESS.TRAIL", Broken, "A statement of another trail",
        "The statement verifies, and it is about another trail than the one that is asked for. Reason \
         witness-trail-mismatch.",
        "Give the statements of one trail, and the identity that its records carry.",
        "Gateway specification, section 8.6, step 1";
}
