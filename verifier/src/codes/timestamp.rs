//! `TSA.*`: RFC 3161 tokens. Beneath most of these codes stand finer reasons.

super::family! {
    ACCURACY: "TSA.ACCURACY", Unmet, "Not accurate enough",
        "The token states no accuracy, or a wider one than the trust entry of its authority allows. \
         Reasons: accuracy.absent, accuracy.wide.",
        "Use an authority that states its accuracy, or allow a wider one.",
        "RFC 3161 section 2.4.2";
    ALG: "TSA.ALG", Unmet, "An algorithm or key below the floor",
        "A digest or signature algorithm, of the token or of a certificate in its path, is unknown, \
         too weak, has parameters it may not have, or doesn't fit the digest or the key beside it. \
         The floor is SHA-256, RSA of 2048 bits, P-256, P-384, P-521 and Ed25519. Reasons: \
         algorithm.digest, algorithm.unlisted, algorithm.signature, algorithm.mismatch, algorithm.parameters, \
         algorithm.key, algorithm.key-size, algorithm.certificate.",
        "Get a token with today's algorithms. Old tokens that use SHA-1 can be allowed by name.",
        "RFC 5754; RFC 8419; RFC 8933";
    CA_LEAF: "TSA.CA_LEAF", Broken, "The signer is a certification authority",
        "The certificate that signed may sign certificates: it isn't one of a time-stamping unit. \
         Reason: signer.is-ca.",
        "Get a token from an authority that signs with a certificate for this purpose.",
        "RFC 3161 section 2.3";
    CERT_ABSENT: "TSA.CERT_ABSENT", Unmet, "The signer's certificate is not there",
        "Neither the token nor what was supplied holds the certificate that the token names, or it \
         can't be read. Reasons: certificate.absent, certificate.form.",
        "Supply the certificate of the authority.",
        "RFC 3161 section 2.4.1";
    CERTS_UNASKED: "TSA.CERTS_UNASKED", Broken, "Certificates nobody asked for",
        "The request asked for no certificates, and the answer carries some: it is not an answer to \
         this request. Reason: certificates.unasked.",
        "Ask again, and ask for certificates.",
        "RFC 3161 section 2.4.1";
    CHAIN: "TSA.CHAIN", Unmet, "No path to a trusted root",
        "No certification path that holds at the token's time leads from the signer to a root of a \
         trust entry. An embedded root is not trust. Reasons: chain.no-path, chain.signature, \
         chain.not-ca, chain.path-length, chain.key-usage, chain.eku, chain.name-constraints, \
         chain.policy, chain.unknown-critical, chain.limit.",
        "Supply intermediate certificates that the token leaves out, and check whose root you trust.",
        "RFC 5280 section 6.1";
    EKU: "TSA.EKU", Broken, "The certificate is not for time stamps alone",
        "The signer's certificate has to be for time stamping and nothing else, and to say so in a \
         critical extension; its key usage has to be signatures. Reasons: eku.missing, eku.purpose, \
         eku.not-sole, eku.not-critical, signer.key-usage.",
        "Get a token from an authority with a proper certificate; one whose extension is only not \
         critical can be allowed by name.",
        "RFC 3161 section 2.3";
    ESS: "TSA.ESS", Broken, "The token does not name its signer",
        "The signed attributes have to name the signer's certificate by its digest. They name none, \
         another one, by a hash that doesn't count, or a certificate that isn't in the path. Reasons: \
         ess.missing, ess.form, ess.algorithm, ess.hash-mismatch, ess.issuer-serial, \
         ess.outside-path.",
        "Get another token; supply the certificate if the authority's was exchanged for another.",
        "RFC 5035 section 5; RFC 5816";
    FUTURE: "TSA.FUTURE", Broken, "A time that lies ahead",
        "The token's time is later than the time of evaluation and the skew that is allowed. Reason: \
         time.future.",
        "Check the time of evaluation; if it is right, the authority's clock is wrong.",
        "Anchorlog time stamps";
    IMPRINT: "TSA.IMPRINT", Broken, "The token is over something else",
        "Algorithm and digest of the token are not those of the thing it should be over. Reason: \
         imprint.mismatch.",
        "Check which file or digest the token belongs to.",
        "RFC 3161 section 2.4.2";
    IMPRINT_ALG: "TSA.IMPRINT_ALG", Unmet, "A digest that does not count",
        "The token is over a digest whose algorithm is unknown or not allowed, or whose length isn't \
         the algorithm's. Reasons: imprint.algorithm, imprint.length.",
        "Stamp a digest of SHA-256, SHA-384 or SHA-512.",
        "RFC 3161 section 2.4.1";
    NAME: "TSA.NAME", Broken, "The authority's name is not the signer's",
        "The token names an authority, and its signer's certificate has no such name. Reason: \
         name.mismatch.",
        "Get a token from an authority whose certificate fits.",
        "RFC 3161 section 2.4.2";
    NONCE: "TSA.NONCE", Broken, "Not the answer to this request",
        "The request had a nonce, and the token repeats none or another one: it may be an old token. \
         Reasons: nonce.missing, nonce.mismatch.",
        "Ask again; if it happens again, something between you and the authority replays answers.",
        "RFC 3161 section 2.4.1";
    NOT_COUNTED: "TSA.NOT_COUNTED", Note, "A time stamp counts for nothing",
        "One of several time stamps does not hold, or is of an authority that nobody trusts here. It \
         spoils nothing: the others count as if it were not there.",
        "Look at its reason in the list of time stamps if you had expected it to count.",
        "RFC 3161; Anchorlog receipts";
    NOTE: "TSA.NOTE", Note, "Something about a time stamp that a reader should know",
        "The token holds, and there is something about it that matters to some readers. Reasons: \
         note.ber, note.digest-unlisted, note.ess-sha1, note.future-unchecked, note.no-accuracy, \
         note.noncritical-eku, note.revocation-unknown, note.sha1, note.unsorted-attributes.",
        "Nothing.",
        "Anchorlog time stamps";
    PARSE: "TSA.PARSE", Broken, "Not a time stamp",
        "The bytes are no DER of a response or of signed data with a TSTInfo, or something stands \
         behind them. Reasons: parse.ber, parse.der, parse.trailing, parse.length, parse.count, \
         parse.content-type, parse.encapsulated-type, parse.content-absent, \
         parse.signed-data-version, parse.signer-version, parse.tst-info, parse.gen-time, \
         parse.accuracy, parse.serial, parse.response.",
        "Get the token again. A token whose wrapper is BER can be allowed by name.",
        "RFC 3161 section 2.4.2; RFC 5652";
    POLICY_OID: "TSA.POLICY_OID", Unmet, "Made under another policy",
        "The token was made under a policy that the request didn't name, or that the trust entry of \
         its authority doesn't accept. Reasons: policy.not-accepted, policy.not-asked.",
        "Ask the authority for a policy that you accept.",
        "RFC 3161 section 2.4.2";
    POLICY_WINDOW: "TSA.POLICY_WINDOW", Unmet, "Outside the time in which the authority counts",
        "The token's time is outside the window of the trust entry under whose roots it holds. A \
         window of another entry never helps. Reason: window.outside.",
        "Check the window of the authority's entry.",
        "Anchorlog time stamps";
    QUORUM: "TSA.QUORUM", Unmet, "Too few authorities",
        "The tokens that hold are of fewer distinct operators than were asked for. Two tokens of one \
         operator count once.",
        "Get tokens of further authorities.",
        "Anchorlog time stamps";
    REVOCATION_UNKNOWN: "TSA.REVOCATION_UNKNOWN", Unmet, "Nothing says that it was not revoked",
        "Evidence about revocation is required, and no CRL or OCSP response that was supplied says \
         that a certificate of the path was not revoked at the token's time. Reason: \
         revocation.unknown.",
        "Supply a CRL or OCSP response of the issuer that is newer than the token.",
        "RFC 3161 section 4";
    REVOKED: "TSA.REVOKED", Broken, "A revoked certificate",
        "A certificate of the path was revoked at or before the token's time, or for a reason that \
         spoils every token of its key. Reasons: revoked.signer, revoked.issuer.",
        "The token no longer shows anything. Use another authority's, or a later anchor.",
        "RFC 3161 section 4";
    ROOT_PURPOSE: "TSA.ROOT_PURPOSE", Unmet, "A root for something else",
        "The path ends at a root that is trusted for another purpose than time stamps. Reason: \
         root.purpose.",
        "List the root as one of a time-stamping authority, if it is one.",
        "Anchorlog time stamps";
    SIG: "TSA.SIG", Broken, "The signature is not the signer's",
        "The signature over the signed attributes was not made with the key of the certificate that \
         the token names. Reason: signature.invalid.",
        "The token was changed or forged. Get it again from where it was kept.",
        "RFC 5652 section 5.4";
    SIGNED_ATTRS: "TSA.SIGNED_ATTRS", Broken, "The signature is about other content",
        "The attributes that the signature covers have to name the content's type and digest, once. \
         Reasons: attributes.absent, attributes.form, attributes.repeated, \
         attributes.content-type-missing, attributes.content-type, \
         attributes.message-digest-missing, attributes.message-digest, \
         attributes.algorithm-protection.",
        "The token was changed or put together wrongly. Get it again.",
        "RFC 5652 section 11; RFC 6211";
    SIGNERS: "TSA.SIGNERS", Broken, "Not exactly one signature",
        "A token has exactly one signature, the authority's. Reasons: signers.none, signers.several.",
        "Get another token.",
        "RFC 3161 section 2.4.2";
    STATUS: "TSA.STATUS", Broken, "The request was not granted",
        "The response says that no token was granted, or contradicts itself about it. Reasons: \
         status.rejected, status.waiting, status.revocation, status.unknown, status.token-missing, \
         status.token-unexpected, status.fail-info.",
        "Read what the authority says, and ask again or ask another one.",
        "RFC 3161 section 2.4.2";
    UNCHECKED: "TSA.UNCHECKED", Note, "A time stamp was not examined",
        "The receipt carries an RFC 3161 token, and no roots of time-stamping authorities were given. \
         So it counts for nothing: it neither proves a time nor breaks the receipt.",
        "Give the roots of the authorities whose time stamps you accept.",
        "RFC 3161; Anchorlog receipts";
    VALIDITY: "TSA.VALIDITY", Broken, "Not valid at its time",
        "The signer's certificate, or one in its path, was not valid yet or no longer at the token's \
         time. Today doesn't matter. Reasons: validity.signer, validity.issuer.",
        "Use another authority's token.",
        "RFC 3161 appendix B; RFC 5280 section 4.1.2.5";
    VERSION: "TSA.VERSION", Broken, "A version or an extension not understood",
        "The TSTInfo isn't of version 1, or has an extension that must be understood and isn't. \
         Reasons: version.tst-info, version.critical-extension.",
        "Use another authority's token.",
        "RFC 3161 section 2.4.2";
}
