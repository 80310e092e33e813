//! `TILE.*`, `PROOF.*`: what clients of a log meet when they read tiles and proofs.

super::family! {
    BUNDLE_COUNT: "TILE.BUNDLE_COUNT", Broken, "An entry bundle with another number of entries",
        "The bundle holds more or fewer entries than its path says.",
        "Fetch it again; if it comes again, tell the log's operator.",
        "C2SP tlog-tiles";
    BUNDLE_TRUNCATED: "TILE.BUNDLE_TRUNCATED", Broken, "An entry bundle ends too early",
        "An entry is shorter than its length prefix says.",
        "Fetch the bundle again.",
        "C2SP tlog-tiles";
    ENTRY_TOO_LONG: "TILE.ENTRY_TOO_LONG", Broken, "An entry is too long for a bundle",
        "An entry of a bundle has at most 65,535 bytes.",
        "Submit a digest of the data instead of the data.",
        "C2SP tlog-tiles";
    LENGTH: "TILE.LENGTH", Broken, "A tile of the wrong length",
        "A tile has 32 bytes for each of its hashes.",
        "Fetch the tile again; if it comes again, tell the log's operator.",
        "C2SP tlog-tiles";
    PATH: "TILE.PATH", Broken, "Not the path of a tile",
        "The path does not name a tile or an entry bundle in its one spelling.",
        "Compare the path with the specification.",
        "C2SP tlog-tiles";
    PROOF_INDEX: "PROOF.INDEX", Broken, "The index is not in the tree",
        "An inclusion proof is for an index below the tree size.",
        "Ask for a proof in a tree that holds the entry.",
        "RFC 9162 section 2.1.3";
    PROOF_LENGTH: "PROOF.LENGTH", Broken, "A proof with too many or too few hashes",
        "Index and sizes determine how many hashes a proof has.",
        "Ask for the proof again.",
        "RFC 9162 section 2.1";
    PROOF_OLD_ROOT: "PROOF.OLD_ROOT", Broken, "A proof that does not lead to the older root",
        "The hashes of the consistency proof do not give the root of the older tree.",
        "Keep both checkpoints and ask for the proof again.",
        "RFC 9162 section 2.1.4.2";
    PROOF_ROOT: "PROOF.ROOT", Broken, "A proof that leads to another root",
        "The hashes of the proof do not give the root of the tree.",
        "Keep the checkpoint and ask for the proof again.",
        "RFC 9162 section 2.1";
    PROOF_SIZES: "PROOF.SIZES", Broken, "A consistency proof from a larger tree to a smaller one",
        "The older tree of a consistency proof is not larger than the newer one.",
        "Give the sizes the other way round.",
        "RFC 9162 section 2.1.4";
}
