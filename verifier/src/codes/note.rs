//! `NOTE.*`, `COSIG.*`: signed notes, cosignatures, and the keys that verify them.

super::family! {
    AMBIGUOUS_KEYS: "NOTE.AMBIGUOUS_KEYS", Broken, "Two keys with one name and key id",
        "Two different keys are known under one name and one key id, so a signature line can't be \
         given to either.",
        "Remove one of the keys, or have its owner take another name.",
        "C2SP signed-note";
    BAD_REPEATED_SIGNATURE: "NOTE.BAD_REPEATED_SIGNATURE", Broken, "A repeated signature line does \
         not verify",
        "A known key has several lines in the note, and one of them is not a valid signature. \
         Every line of a known key must verify.",
        "Get the note again from where it is published.",
        "C2SP signed-note";
    BAD_SIGNATURE: "NOTE.BAD_SIGNATURE", Broken, "A signature does not verify",
        "The line of a known key is not a valid signature over this text: the text or the line was \
         changed, or the key signed something else.",
        "Get the note again from where it is published.",
        "C2SP signed-note";
    COSIG_BAD_SIGNATURE: "COSIG.BAD_SIGNATURE", Broken, "A cosignature does not verify",
        "The line of a witness is not a valid cosignature over this checkpoint and its time.",
        "Ask the witness again.",
        "C2SP tlog-cosignature";
    COSIG_EXTENSIONS: "COSIG.EXTENSIONS", Broken, "Extension lines under a type that leaves them out",
        "A cosignature of type 6 covers origin, size and root of a checkpoint, and this one has more \
         lines.",
        "Cosign it with a key of type 4, or leave the extension lines out.",
        "C2SP tlog-cosignature";
    COSIG_KEY_ALGORITHM: "COSIG.KEY_ALGORITHM", Broken, "A key that witnesses do not sign with",
        "A witness cosigns with an Ed25519 key of type 4; the key given is of another type.",
        "Use the witness's cosignature key, not a log's key.",
        "C2SP tlog-cosignature";
    COSIG_LENGTH: "COSIG.LENGTH", Broken, "A cosignature of the wrong length",
        "A cosignature holds a time of eight bytes and a signature of 64.",
        "Ask the witness again.",
        "C2SP tlog-cosignature";
    COSIG_OTHER_KEY: "COSIG.OTHER_KEY", Broken, "A cosignature by another key",
        "Name or key id of the line are not those of the witness's key.",
        "Check that you have the witness's current key.",
        "C2SP tlog-cosignature";
    COSIG_SIGNING: "COSIG.SIGNING", Broken, "A cosignature that could not be made",
        "The algorithm gave up before it found a signature, which practically never happens.",
        "Cosign again.",
        "FIPS 204";
    COSIG_TIMESTAMP: "COSIG.TIMESTAMP", Broken, "A cosignature with an impossible time",
        "The time of a cosignature is over 2^63-1 seconds.",
        "Ask the witness again; tell its operator.",
        "C2SP tlog-cosignature";
    CONTROL: "NOTE.CONTROL", Broken, "A control character in a note",
        "The text of a note holds no control character but the newline. Tabs and carriage returns \
         are refused too.",
        "Check that line ends were not converted on the note's way.",
        "C2SP signed-note";
    FINAL_NEWLINE: "NOTE.FINAL_NEWLINE", Broken, "The note does not end with a newline",
        "Every line of a note ends with a newline, the last one too.",
        "Check that the note is complete and was not trimmed.",
        "C2SP signed-note";
    KEY_ALGORITHM: "NOTE.KEY_ALGORITHM", Unsupported, "A key of an unsupported algorithm",
        "The verifier key is of a signature type other than Ed25519 (1) and timestamped Ed25519 \
         cosignature (4).",
        "Use an Ed25519 key of the log or the witness.",
        "C2SP signed-note";
    KEY_BASE64: "NOTE.KEY_BASE64", Broken, "A key is not base64",
        "The last part of a verifier key is standard padded base64.",
        "Copy the key again, whole and on one line.",
        "C2SP signed-note";
    KEY_ID_FORM: "NOTE.KEY_ID_FORM", Broken, "A malformed key id",
        "The key id in a verifier key is eight lower-case hexadecimal digits.",
        "Copy the key again, whole and on one line.",
        "C2SP signed-note";
    KEY_ID_MISMATCH: "NOTE.KEY_ID_MISMATCH", Broken, "Key id and key do not belong together",
        "The key id is computed from name and key, and here it comes out otherwise: one of the \
         three was changed.",
        "Copy the key again; do not change its name.",
        "C2SP signed-note";
    KEY_LENGTH: "NOTE.KEY_LENGTH", Broken, "A key of the wrong length",
        "An Ed25519 verifier key holds a type byte and 32 bytes.",
        "Copy the key again, whole and on one line.",
        "C2SP signed-note";
    KEY_NAME: "NOTE.KEY_NAME", Broken, "Not a key name",
        "A key name is not empty and has no white space, no plus sign and no control character.",
        "Copy the key again; do not change its name.",
        "C2SP signed-note";
    KEY_NON_CANONICAL: "NOTE.KEY_NON_CANONICAL", Broken, "Not the canonical encoding of a key",
        "The bytes are no point of the curve, or a second spelling of one. Each key has one \
         spelling here.",
        "Ask the owner of the key for a proper one.",
        "RFC 8032 section 5.1.3";
    KEY_SYNTAX: "NOTE.KEY_SYNTAX", Broken, "Not a verifier key",
        "A verifier key is written name+keyid+base64.",
        "Copy the key again, whole and on one line.",
        "C2SP signed-note";
    KEY_WEAK: "NOTE.KEY_WEAK", Broken, "A weak key",
        "The public key is of small order: signatures under it can be valid for any text.",
        "Do not trust this key.",
        "RFC 8032 section 8";
    NO_SIGNATURES: "NOTE.NO_SIGNATURES", Broken, "A note without signatures",
        "A signed note has at least one signature line.",
        "Check that the note is complete.",
        "C2SP signed-note";
    SIGNATURE_BASE64: "NOTE.SIGNATURE_BASE64", Broken, "A signature is not base64",
        "The last part of a signature line is standard padded base64 on one line.",
        "Check that the note was not re-wrapped on its way.",
        "C2SP signed-note";
    SIGNATURE_LINE: "NOTE.SIGNATURE_LINE", Broken, "A malformed signature line",
        "A signature line is an em dash, a space, the key name, a space, and base64.",
        "Check that the note was not re-encoded or re-wrapped on its way.",
        "C2SP signed-note";
    SIGNATURE_LINES: "NOTE.SIGNATURE_LINES", Broken, "Too many signature lines",
        "The note has more signature lines than are read from one note.",
        "Remove lines of keys that nobody needs; the others stay valid.",
        "C2SP signed-note";
    SIGNATURE_SHORT: "NOTE.SIGNATURE_SHORT", Broken, "A signature is too short",
        "A signature line holds a key id of four bytes and at least one byte of signature.",
        "Check that the line is complete.",
        "C2SP signed-note";
    SYNTAX: "NOTE.SYNTAX", Broken, "Not a signed note",
        "No blank line separates the text from signature lines.",
        "Check that it is the right file and complete.",
        "C2SP signed-note";
    TOO_LARGE: "NOTE.TOO_LARGE", Broken, "A note is too large",
        "The note is longer than is read of one note.",
        "Check that it is the right file.",
        "Anchorlog limits";
    UNKNOWN_KEYS: "NOTE.UNKNOWN_KEYS", Unmet, "No signature by a known key",
        "None of the note's lines is by a key that the caller gave. A line with a known name and \
         another key id, or the other way round, is not one.",
        "Check that you have the current key of the note's author.",
        "C2SP signed-note";
    UTF8: "NOTE.UTF8", Broken, "A note is not UTF-8",
        "Notes are UTF-8 text.",
        "Check that it is the right file and was not converted on its way.",
        "C2SP signed-note";
}
