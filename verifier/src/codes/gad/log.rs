//! `LOG.*`: what only anchors of envelopes raise; the others are in the table of logs.

super::gad_family! {
    CHECKPOINT: "LOG.CHECKPOINT", Broken, [Defensible], "The log's proof can't be read",
        "The proof in the anchor, or the checkpoint in it, is not in its form: lines, size, root \
         or signatures are malformed or beyond the limits. It names no log that could be asked.",
        "Get the receipt again from the log, and make the anchor from it anew.",
        "C2SP tlog-proof; C2SP tlog-checkpoint; C2SP signed-note";
}
