//! Time stamps of the corpus: real ones of public authorities, and made ones with one defect each.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anchorlog_proto::timestamp::{HashAlgorithm, Imprint, Nonce, TimestampRequest};
use anchorlog_verifier::timestamp::{
    Allow, Expected, Rules, Supplied, TokenFailure, TrustEntry, VerifiedToken, read_certificates,
    token_in, verify_response, verify_token,
};

use crate::corpus::corpus_folder;

/// What each real token must come to, where that isn't to hold.
const REAL: &[(&str, &str)] = &[
    ("globalsign/resp-2018-nocert-sha1.tsr", "algorithm.digest"),
    ("microsoft/pca2010-2019-eku-noncritical.der", "eku.not-critical"),
    ("sigstore/staging-response-invalid-signature.tsr", "signature.invalid"),
    ("negative-globalsign-mutants/TimeStampTokenWithInvalidSignature.der", "signature.invalid"),
    ("negative-globalsign-mutants/TimeStampTokenWithoutSigningCertificate.der", "ess.missing"),
    ("negative-globalsign-mutants/TimeStampTokenWithMismatchCertHash.der", "ess.hash-mismatch"),
    ("negative-globalsign-mutants/TimeStampTokenWithTSTInfoVersion2.der", "version.tst-info"),
    (
        "negative-globalsign-mutants/TimeStampTokenWithValidAndInvalidSignerInfos.der",
        "signers.several",
    ),
    ("negative-globalsign-mutants/SHA1TimeStampToken.der", "imprint.algorithm"),
    ("negative-globalsign-mutants/TimeStampTokenWithoutSigner.der", "signers.none"),
    ("negative-globalsign-mutants/TimeStampTokenWithoutSignedAttributes.der", "attributes.absent"),
    (
        "negative-globalsign-mutants/TimeStampTokenInvalidSignedAttributeContentType.der",
        "attributes.content-type",
    ),
    ("rejections/badAlg.tsr", "status.rejected"),
    ("rejections/addInfo-text.tsr", "status.rejected"),
    ("rejections/malformed.tsr", "parse.response"),
];

/// What the manifest of the made tokens says in words, in ours.
const MADE: &[(&str, &[&str])] = &[
    ("OK", &["holds"]),
    ("OK|FAIL", &["ess.outside-path"]),
    ("ess.", &["ess.form"]),
    ("ess.missing", &["ess.missing"]),
    ("ess.serial", &["ess.issuer-serial"]),
    ("ess.v1.mismatch", &["ess.hash-mismatch"]),
    ("ess.v2.mismatch", &["ess.hash-mismatch"]),
    ("ess.v2.parse", &["ess.form"]),
    ("ess.v2|OK", &["ess.algorithm"]),
    ("leaf: EKU lacks", &["eku.purpose"]),
    ("leaf: EKU missing", &["eku.missing"]),
    ("leaf: EKU not critical", &["eku.not-critical"]),
    ("leaf: KU", &["signer.key-usage"]),
    ("leaf: TSA certificate is a CA", &["signer.is-ca"]),
    ("path: expired", &["validity.signer"]),
    ("path: unhandled critical", &["chain.unknown-critical"]),
    ("path: untrusted: expired", &["validity.issuer"]),
    ("path: untrusted: issuer EKU", &["chain.eku"]),
    ("path: untrusted: issuer is not a CA", &["chain.not-ca"]),
    ("path: untrusted: pathLen", &["chain.path-length"]),
    ("response.granted_without_token", &["status.token-missing"]),
    ("response.rejected", &["status.rejected", "status.token-unexpected"]),
    ("signer.alg_protection", &["attributes.algorithm-protection"]),
    ("signer.content_type", &["attributes.content-type"]),
    ("signer.duplicate_attr", &["attributes.repeated"]),
    ("signer.message_digest", &["attributes.message-digest"]),
    ("signer.no_content_type", &["attributes.content-type-missing"]),
    ("signer.no_signed_attrs", &["attributes.absent"]),
    ("signer.sig_alg_unsupported_or_mismatch", &["algorithm.mismatch"]),
    ("signer.signature", &["signature.invalid"]),
    ("signer.version", &["parse.signer-version"]),
    ("token", &["parse.response", "parse.der"]),
    ("token.econtent_type", &["parse.encapsulated-type"]),
    ("token.sd.version", &["parse.signed-data-version"]),
    ("token.signer_count", &["signers.several"]),
    ("tst.critical_extension", &["version.critical-extension"]),
    ("tst.imprint_alg_forbidden", &["imprint.algorithm"]),
    ("tst.imprint_alg_unknown", &["imprint.algorithm"]),
    ("tst.imprint_len", &["imprint.length"]),
    ("tst.imprint_mismatch", &["imprint.mismatch"]),
    ("tst.nonce_missing", &["nonce.missing"]),
    ("tst.parse", &["parse.gen-time", "parse.trailing"]),
    ("tst.version", &["version.tst-info"]),
];

#[test]
fn real_tokens_come_to_what_is_known_of_them() {
    let Some(folder) = corpus_folder("rfc3161/real") else { return };
    let expected: BTreeMap<_, _> = REAL.iter().copied().collect();
    let mut seen = 0;
    for row in rows(&folder) {
        if !matches!(row["kind"].as_str(), "token" | "response") {
            continue;
        }
        let bytes = fs::read(folder.join(&row["file"])).unwrap();
        let roots = read_certificates(&fs::read(folder.join(&row["roots"])).unwrap()).unwrap();
        let trust = [TrustEntry::new("the operator", roots)];
        let certificates = match row["extra_certs"].as_str() {
            "" => Vec::new(),
            extra => read_certificates(&fs::read(folder.join(extra)).unwrap()).unwrap(),
        };
        let supplied = Supplied { certificates, ..Supplied::default() };
        let options = &row["policy_opts"];
        let allow = Allow { sha1: options.contains("sha1ok"), ..Allow::default() };
        let rules = Rules { allow, ..Rules::default() };
        let expect =
            Expected { imprint: imprint(&folder, &row), nonce: nonce(options), policy: None };
        let outcome = token_in(&bytes, &rules)
            .and_then(|token| verify_token(&token, &expect, &trust, &supplied, &rules));
        let wanted = expected.get(row["file"].as_str()).copied().unwrap_or("holds");
        assert_eq!(words(&outcome), wanted, "{}: {:?}", row["file"], outcome.err());
        seen += 1;
    }
    assert!(seen >= 25, "{seen} tokens");
}

#[test]
fn made_tokens_have_the_defect_that_the_manifest_names() {
    let Some(folder) = corpus_folder("rfc3161/generated") else { return };
    let meanings: BTreeMap<_, _> = MADE.iter().copied().collect();
    let roots = read_certificates(&fs::read(folder.join("root.pem")).unwrap()).unwrap();
    let trust = [TrustEntry::new("the operator", roots)];
    let mut seen = 0;
    for row in rows(&folder) {
        let bytes = fs::read(folder.join(&row["file"])).unwrap();
        let digest = anchorlog_proto::encoding::hex_decode(&row["digest"]).unwrap();
        let algorithm = HashAlgorithm::ALL.into_iter().find(|one| one.length() == digest.len());
        let options = &row["opts"];
        let certificates = if options.contains("extra=tsa") {
            read_certificates(&fs::read(folder.join("tsa.pem")).unwrap()).unwrap()
        } else {
            Vec::new()
        };
        let supplied = Supplied { certificates, ..Supplied::default() };
        let rules = Rules::default();
        let file = &row["file"];
        // A digest of 16 octets is one of MD5, which can't be asked for: anything stands for it.
        let imprint = match algorithm {
            Some(algorithm) => Imprint::new(algorithm, digest).unwrap(),
            None => Imprint::of_data(HashAlgorithm::Sha256, b"hello"),
        };
        // p09 and p21 answer requests that didn't ask for certificates; their manifest has no such column.
        let cert_req = !options.contains("extra=tsa");
        let request = TimestampRequest { imprint, nonce: nonce(options), policy: None, cert_req };
        let outcome = verify_response(&bytes, &request, &trust, &supplied, &rules);
        let wanted = meanings.get(row["expect"].as_str()).copied().unwrap_or_default();
        assert!(wanted.contains(&words(&outcome)), "{file}: {wanted:?}, {outcome:?}");
        seen += 1;
    }
    assert!(seen >= 60, "{seen} tokens");
}

fn words(outcome: &Result<VerifiedToken, TokenFailure>) -> &'static str {
    match outcome {
        Ok(_) => "holds",
        Err(failure) => failure.reason(),
    }
}

fn nonce(options: &str) -> Option<Nonce> {
    let option = options.split([' ', ';']).find_map(|option| option.strip_prefix("nonce="))?;
    Some(option.parse().unwrap())
}

fn imprint(folder: &Path, row: &BTreeMap<String, String>) -> Imprint {
    let named = HashAlgorithm::ALL.into_iter().find(|one| one.name() == row["imprint_alg"]);
    let algorithm = named.unwrap_or(HashAlgorithm::Sha256);
    match row["message_or_digest"].split_once(':').unwrap() {
        ("text", text) => Imprint::of_data(algorithm, text.replace("\\n", "\n").as_bytes()),
        ("file", file) => {
            let token = folder.join(&row["file"]);
            let data = fs::read(token.parent().unwrap().join(file)).unwrap();
            Imprint::of_data(algorithm, &data)
        }
        (_, "") => Imprint::of_data(algorithm, b""),
        (_, hex) => {
            Imprint::new(algorithm, anchorlog_proto::encoding::hex_decode(hex).unwrap()).unwrap()
        }
    }
}

/// The rows of a manifest, by the names of its columns.
fn rows(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| {
        let values = line.split('\t').chain(std::iter::repeat(""));
        names.iter().map(|name| (*name).to_owned()).zip(values.map(str::to_owned)).collect()
    };
    lines.map(row).collect()
}
