//! `STM.*`, `SIG.*`, `KEY.*`: statements, signed objects and their keys.

super::family! {
    KEY_ENCODING: "KEY.ENCODING", Broken, "Not the encoding of a public key",
        "The bytes are no Ed25519 public key, or a second spelling of one.",
        "Copy the key again, as 44 characters of base64.",
        "RFC 8032 section 5.1.3";
    KEY_SMALL_ORDER: "KEY.SMALL_ORDER", Broken, "A weak public key",
        "The public key is of small order: signatures under it can be valid for any text.",
        "Do not trust this key.",
        "RFC 8032 section 8";
    KIND: "STM.KIND", Broken, "An unknown statement kind",
        "The kind says what the digest is a digest of, and this one is not in the list.",
        "Check the spelling, and whether the statement is of a newer format version.",
        "Anchorlog statements";
    SCHEMA: "STM.SCHEMA", Broken, "An unknown statement schema",
        "The statement is not of the schema anchorlog.statement/1.",
        "Check that it is the right file, and whether it is of a newer format version.",
        "Anchorlog statements";
    SEQUENCE_RANGE: "STM.SEQUENCE_RANGE", Broken, "A sequence out of range",
        "A sequence is an integer from 0 to 2^53-1.",
        "Number the trail within that range.",
        "Anchorlog statements";
    SEQUENCE_WITHOUT_TRAIL: "STM.SEQUENCE_WITHOUT_TRAIL", Broken, "A sequence without a trail",
        "A sequence is a position within a trail, and the statement names none.",
        "Name the trail, or leave the sequence out.",
        "Anchorlog statements";
    SIGNATURE: "STM.SIGNATURE", Broken, "The submitter's signature does not verify",
        "The signature in the statement is not one by the given key over this body.",
        "Check that it is the submitter's key; if it is, the statement was not signed by the \
         submitter.",
        "Anchorlog statements";
    SIGNATURE_KEY: "STM.SIGNATURE_KEY", Broken, "The statement names another signer",
        "The key id in the statement is not that of the given key.",
        "Give the key of the submitter that the statement names.",
        "Anchorlog statements";
    SIGNER_UNCHECKED: "STM.SIGNER_UNCHECKED", Note, "The submitter's signature was not checked",
        "The statement names a signer. The log admitted it with that signature; here no key was \
         given to check it again, so who submitted it is the log's word.",
        "Give the submitter's public key to have the signature checked.",
        "Anchorlog statements";
    SIG_INVALID: "SIG.INVALID", Broken, "A signed object's signature does not verify",
        "The signature is not one by this key over the canonical form of the body.",
        "Check that the object was not changed, and that it is the signer's key.",
        "GAD signed objects";
    SIG_KEY_ID: "SIG.KEY_ID", Broken, "A signed object names another key",
        "The key id in the body is not that of the key it is checked with.",
        "Use the key that the body names.",
        "GAD signed objects";
    TOO_LARGE: "STM.TOO_LARGE", Broken, "A statement is too large",
        "The canonical form of a statement has at most 4,096 bytes.",
        "Shorten the trail.",
        "Anchorlog limits";
    TRAIL_FORM: "STM.TRAIL_FORM", Broken, "A malformed trail",
        "A trail is 1 to 128 characters of a-z, 0-9, colon, dot, underscore and hyphen, beginning \
         with a letter or a digit.",
        "Name the trail in that form.",
        "Anchorlog statements";
    TYPE: "STM.TYPE", Broken, "A signed object that is no statement",
        "The body of a signed statement says the type \"statement\"; this one says another.",
        "Check that it is the right object: a signature for one type is none for another.",
        "Anchorlog statements";
    UNSIGNED: "STM.UNSIGNED", Unmet, "The statement is not signed",
        "A submitter's signature is asked for, and the statement has none.",
        "Leave the submitter's key out, or get the statement signed.",
        "Anchorlog statements";
}
