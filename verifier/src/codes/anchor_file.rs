//! `ANCHOR.*`: the files in which an envelope carries a log's proof. EVALUATE says of such a file what it
//! means for the anchor; these are for who reads one by itself.

super::family! {
    PROOF_LENGTH: "ANCHOR.PROOF_LENGTH", Broken, "The proof in an anchor file is too long",
        "The text of the log's proof is longer than any proof can be.",
        "Check that it is the right file; make it anew from the log's receipt.",
        "gad-bytes/1, anchors; Anchorlog limits";
    TIMESTAMPS: "ANCHOR.TIMESTAMPS", Broken, "An anchor file with too many time stamps",
        "The file carries more time stamps over the log's checkpoint than are read.",
        "Make the file anew with the time stamps that matter.",
        "gad-bytes/1, anchors; Anchorlog limits";
    TIMESTAMP_LENGTH: "ANCHOR.TIMESTAMP_LENGTH", Broken, "A time stamp in an anchor file is too long",
        "One of the time stamps is empty or longer than any token can be.",
        "Make the file anew from the log's receipt.",
        "gad-bytes/1, anchors; Anchorlog limits";
}
