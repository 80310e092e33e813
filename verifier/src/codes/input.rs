//! `IN.*`, `CLI.*`, `VER.*`: why nothing could be evaluated.

super::family! {
    CERTIFICATES: "IN.CERTIFICATES", Unsupported, "Certificates or revocation data can't be read",
        "The file is no PEM or DER of certificates, revocation lists or an OCSP response.",
        "Check that it is the right file; roots and certificates may be PEM with several of them.",
        "RFC 5280; RFC 6960; RFC 7468";
    INTERNAL: "VER.INTERNAL", Unsupported, "The verifier itself failed",
        "Something happened that can't happen. Nothing is said about the evidence.",
        "Report it with the command, its input and its output.",
        "none";
    LIMIT_BYTES: "IN.LIMIT_BYTES", Broken, "An input is too large",
        "The input, or a member of a bundle, or all of them together, is larger than the limit, so \
         it was not read. Limits keep a hostile input from exhausting the verifier.",
        "Check that it is the right file. The limits for bundles can be raised.",
        "Anchorlog limits; gad-bytes/1, limits";
    LIMIT_COUNT: "IN.LIMIT_COUNT", Broken, "An input holds too many values",
        "The document holds more values, or the bundle more members, entries, anchors, attestations \
         or certificates, than the limit allows, so it was not read on.",
        "Check that it is the right file. The limits for bundles can be raised.",
        "Anchorlog limits; gad-bytes/1, limits";
    OPEN: "IN.OPEN", Unsupported, "An input can't be read",
        "The file is not there, may not be read, or reading it failed half-way. An archive is not in \
         the tar form that bundles have, or ends early.",
        "Check the path and the permissions; get an archive again that ends early.",
        "gad-bytes/1, bundle (tar form)";
    USAGE: "CLI.USAGE", Unsupported, "The command line is wrong",
        "An argument is missing, unknown, malformed, or does not go with another one.",
        "Run the command with --help: it shows every option and examples.",
        "none";
}
