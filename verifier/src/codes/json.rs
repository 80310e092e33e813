//! `J.*`: strict JSON, its canonical form, and closed objects.

super::family! {
    B64_FORM: "J.B64_FORM", Broken, "Not canonical base64",
        "The text is not base64 of the standard alphabet with padding, zero unused bits and no \
         white space, or not of the length the field holds.",
        "Encode the bytes with standard padded base64 on one line.",
        "RFC 4648 section 4";
    BOM: "J.BOM", Broken, "Starts with a byte order mark",
        "The input starts with U+FEFF, which is not part of JSON.",
        "Save the file as UTF-8 without a byte order mark.",
        "RFC 8259 section 8.1";
    DEPTH: "J.DEPTH", Broken, "Nested too deeply",
        "Arrays and objects are nested deeper than the reader's limit.",
        "Nothing of this kind nests so deeply: check that it is the right file.",
        "Anchorlog canonical form; gad-bytes/1, canonical form";
    DIGEST_FORM: "J.DIGEST_FORM", Broken, "Not a digest",
        "A digest is written \"sha256:\" and 64 lower-case hexadecimal digits.",
        "Write the digest in that form; upper-case digits and other algorithms are refused.",
        "Anchorlog statements; gad-bytes/1, objects";
    DUP_KEY: "J.DUP_KEY", Broken, "A member name is repeated",
        "One object has two members of the same name. Readers disagree about which one counts, so \
         neither does.",
        "Remove the repeated member where the file is made.",
        "RFC 8785; RFC 8259 section 4";
    ENUM: "J.ENUM", Broken, "A value outside its list",
        "The value is not one of those the format allows here.",
        "Check the spelling, and whether the file is of a newer format version.",
        "Anchorlog statements; gad-bytes/1, objects";
    INT_RANGE: "J.INT_RANGE", Broken, "An integer out of range",
        "The integer is outside -(2^53-1) to 2^53-1, or outside the range of its field.",
        "Write large values as text where the format has a text form.",
        "RFC 8785; RFC 7493 section 2.2";
    LONE_SURROGATE: "J.LONE_SURROGATE", Broken, "Half a surrogate pair",
        "A string holds a \\u escape for one half of a surrogate pair, which is no character.",
        "Repair the string where the file is made.",
        "RFC 8785; RFC 7493 section 2.1";
    MISSING_FIELD: "J.MISSING_FIELD", Broken, "A required member is absent",
        "The object lacks a member that its format requires.",
        "Check that the file is complete and of the right kind.",
        "Anchorlog statements; gad-bytes/1, objects";
    NAME_FORM: "J.NAME_FORM", Broken, "A member name is not ASCII",
        "Member names are ASCII, so that there is one order to sort them in.",
        "Rename the member.",
        "Anchorlog canonical form; gad-bytes/1, canonical form";
    NEG_ZERO: "J.NEG_ZERO", Broken, "The number -0",
        "-0 and 0 are the same number with two spellings; only 0 is read.",
        "Write 0.",
        "RFC 8785 section 3.2.2.3";
    NONCANONICAL: "J.NONCANONICAL", Broken, "Not in canonical form",
        "The bytes are good JSON, but not the canonical form of it: member order, white space or \
         escapes differ.",
        "Use the bytes as they were made; do not reformat or re-encode the file.",
        "RFC 8785";
    NON_INTEGER: "J.NON_INTEGER", Broken, "A number that is not an integer",
        "The number has a fraction or an exponent (1.0 and 1e3 too).",
        "Write integers without fraction and exponent.",
        "Anchorlog canonical form; gad-bytes/1, canonical form";
    SYNTAX: "J.SYNTAX", Broken, "Not JSON",
        "The input is not exactly one JSON value: there is a comment, a trailing comma, a raw \
         control character, a second value, or it ends too early.",
        "Check that it is the right file and complete.",
        "RFC 8259";
    TIME_FORM: "J.TIME_FORM", Broken, "Not a time",
        "A time is written YYYY-MM-DDThh:mm:ssZ and is a real instant of UTC; leap seconds and \
         fractions are not read.",
        "Write the time in that form.",
        "RFC 3339";
    TYPE: "J.TYPE", Broken, "A value of the wrong type",
        "The member has another JSON type than its format says.",
        "Compare the member with the format's description.",
        "Anchorlog statements; gad-bytes/1, objects";
    UNKNOWN_FIELD: "J.UNKNOWN_FIELD", Broken, "An unknown member",
        "The object has a member that its format does not list. Nothing unknown is passed over \
         silently.",
        "Remove the member, or use a verifier that knows the newer format.",
        "Anchorlog statements; gad-bytes/1, objects";
    UTF8: "J.UTF8", Broken, "Not UTF-8",
        "The input is not well-formed UTF-8.",
        "Save the file as UTF-8.",
        "RFC 8259 section 8.1";
}
