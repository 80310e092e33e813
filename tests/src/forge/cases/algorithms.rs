//! What is wrong with algorithms, their parameters and keys.

use super::algorithms_sound::pss_spki;
use crate::forge::draft::{Draft, List};
use crate::forge::keys::{Hash, Key, Scheme, pss_parameters};
use crate::forge::raw::{
    algorithm, bits, context, integer, join, null, number, octets, oid, sequence, set, tlv,
};
use crate::forge::world::RSA_1024;

const PSS: &str = "1.2.840.113549.1.1.10";
const ECDSA_SHA256: &str = "1.2.840.10045.4.3.2";

pub(super) fn add(list: &mut List<'_>) {
    digests(list);
    mismatches(list);
    parameters(list);
    pss(list);
    keys(list);
}

fn digests(list: &mut List<'_>) {
    list.fails(
        "digest-algorithms-another",
        "algorithm.unlisted",
        "digestAlgorithms names another digest and not the signer's: it should be there (RFC 5652 5.3), and who \
         leaves it out may be refused",
        |d| d.token.digest_algorithms = Some(set([Hash::Sha512.identifier()])),
    );
    let reason = "algorithm.digest";
    list.fails("digest-sha1", reason, "digestAlgorithm and signature by SHA-1", |d| {
        d.token.scheme = Scheme::Ecdsa(Hash::Sha1);
        d.token.digest = Hash::Sha1;
    });
    list.fails("digest-sha224", reason, "digestAlgorithm and signature by SHA-224", |d| {
        d.token.scheme = Scheme::Ecdsa(Hash::Sha224);
        d.token.digest = Hash::Sha224;
    });
    list.fails("digest-rsa-sha1", reason, "RSA, digestAlgorithm and signature by SHA-1", |d| {
        d.signer(&d.world.rsa2048);
        d.token.scheme = Scheme::Pkcs1(Hash::Sha1);
        d.token.digest = Hash::Sha1;
    });
    list.fails("digest-unknown", reason, "digestAlgorithm that nobody knows", |d| {
        d.token.digest_algorithm = Some(algorithm("1.3.6.1.4.1.32473.3161.4", None));
    });
    let signature = "algorithm.signature";
    list.fails("signature-unknown", signature, "signatureAlgorithm that nobody knows", |d| {
        d.token.signature_algorithm = Some(algorithm("1.3.6.1.4.1.32473.3161.3", None));
    });
    list.fails(
        "signature-ecdsa-sha1",
        "algorithm.digest",
        "ecdsa-with-SHA1 over a SHA-256 digest",
        |d| {
            d.token.scheme = Scheme::Ecdsa(Hash::Sha1);
        },
    );
    list.fails(
        "signature-ecdsa-sha224",
        signature,
        "ecdsa-with-SHA224 over a SHA-256 digest",
        |d| {
            d.token.scheme = Scheme::Ecdsa(Hash::Sha224);
        },
    );
    list.fails(
        "signature-rsa-sha1",
        "algorithm.digest",
        "sha1WithRSAEncryption over a SHA-256 digest",
        |d| {
            d.signer(&d.world.rsa2048);
            d.token.scheme = Scheme::Pkcs1(Hash::Sha1);
        },
    );
    list.fails("signature-is-digest", signature, "signatureAlgorithm is id-sha256", |d| {
        d.token.signature_algorithm = Some(Hash::Sha256.identifier());
    });
}

fn mismatches(list: &mut List<'_>) {
    let reason = "algorithm.mismatch";
    list.fails(
        "mismatch-ecdsa-sha384",
        reason,
        "digest SHA-256, ecdsa-with-SHA384 (RFC 5754 3.3)",
        |d| {
            d.token.scheme = Scheme::Ecdsa(Hash::Sha384);
        },
    );
    list.fails("mismatch-ecdsa-sha256", reason, "digest SHA-512, ecdsa-with-SHA256", |d| {
        d.token.digest = Hash::Sha512;
    });
    list.fails("mismatch-rsa-sha512", reason, "digest SHA-256, sha512WithRSAEncryption", |d| {
        d.signer(&d.world.rsa2048);
        d.token.scheme = Scheme::Pkcs1(Hash::Sha512);
    });
    list.fails("mismatch-pss-sha512", reason, "digest SHA-256, PSS with SHA-512", |d| {
        d.signer(&d.world.rsa2048);
        d.token.scheme = Scheme::pss(Hash::Sha512);
    });
    list.fails(
        "mismatch-ed25519-sha256",
        reason,
        "Ed25519 with a SHA-256 digest (RFC 8419 3.1)",
        |d| {
            d.signer(&d.world.ed25519);
            d.token.digest = Hash::Sha256;
        },
    );
}

fn parameters(list: &mut List<'_>) {
    let reason = "algorithm.parameters";
    let odd = || Some(octets("?"));
    list.fails(
        "parameters-digest",
        reason,
        "digestAlgorithm with an OCTET STRING (RFC 5754 2)",
        |d| {
            d.token.digest_algorithm = Some(algorithm(Hash::Sha256.dotted(), odd()));
        },
    );
    list.fails("parameters-digest-two", reason, "digestAlgorithm with NULL twice", |d| {
        let twice = join([null(), null()]);
        d.token.digest_algorithm = Some(algorithm(Hash::Sha256.dotted(), Some(twice)));
    });
    list.fails(
        "parameters-null-not-empty",
        reason,
        "digestAlgorithm with a NULL of one octet",
        |d| {
            d.token.digest_algorithm = Some(algorithm(Hash::Sha256.dotted(), Some(tlv(0x05, [0]))));
        },
    );
    list.fails(
        "parameters-ecdsa",
        reason,
        "ecdsa-with-SHA256 with an OCTET STRING (RFC 5758 3.2)",
        |d| {
            d.token.signature_algorithm = Some(algorithm(ECDSA_SHA256, odd()));
        },
    );
    list.fails("parameters-ecdsa-curve", reason, "ecdsa-with-SHA256 with the curve", |d| {
        let curve = Some(oid("1.2.840.10045.3.1.7"));
        d.token.signature_algorithm = Some(algorithm(ECDSA_SHA256, curve));
    });
    list.fails("parameters-rsa", reason, "sha256WithRSAEncryption with an OCTET STRING", |d| {
        d.signer(&d.world.rsa2048);
        d.token.signature_algorithm = Some(algorithm("1.2.840.113549.1.1.11", odd()));
    });
    list.fails(
        "parameters-ed25519",
        reason,
        "Ed25519 with NULL: absent, always (RFC 8410 3)",
        |d| {
            d.signer(&d.world.ed25519);
            d.token.signature_algorithm = Some(algorithm("1.3.101.112", Some(null())));
        },
    );
    list.fails(
        "parameters-key-rsa",
        "algorithm.key",
        "rsaEncryption of the key with an OCTET STRING",
        |d| {
            d.signer(&d.world.rsa2048);
            let public = bits(d.token.signer.key.public_octets());
            let spki = sequence([algorithm("1.2.840.113549.1.1.1", odd()), public]);
            d.leaf(|leaf| leaf.spki = spki);
        },
    );
    list.fails(
        "parameters-key-ed25519",
        "algorithm.key",
        "the key is Ed25519 with NULL (RFC 8410 3)",
        |d| {
            d.signer(&d.world.ed25519);
            let public = bits(d.token.signer.key.public_octets());
            let spki = sequence([algorithm("1.3.101.112", Some(null())), public]);
            d.leaf(|leaf| leaf.spki = spki);
        },
    );
    list.fails(
        "parameters-certificate",
        "algorithm.certificate",
        "the certificate's signature has parameters",
        |d| {
            let odd = algorithm(ECDSA_SHA256, odd());
            d.leaf(|leaf| {
                leaf.inner_algorithm = Some(odd.clone());
                leaf.outer_algorithm = Some(odd);
            });
        },
    );
}

/// RSASSA-PSS with SHA-256 everywhere, but these parameters written down.
fn pss_with(draft: &mut Draft<'_>, parameters: Option<Vec<u8>>) {
    draft.signer(&draft.world.rsa2048);
    draft.token.scheme = Scheme::pss(Hash::Sha256);
    draft.token.signature_algorithm = Some(algorithm(PSS, parameters));
}

fn pss(list: &mut List<'_>) {
    let reason = "algorithm.parameters";
    let sha256 = || Hash::Sha256.identifier_with_null();
    list.fails(
        "pss-mgf-differs",
        reason,
        "MGF1 with SHA-512 beside SHA-256, signed so: one digest for both (RFC 4055 3.1 recommends it)",
        |d| {
            d.signer(&d.world.rsa2048);
            d.token.scheme = Scheme::Pss { hash: Hash::Sha256, mgf: Hash::Sha512, salt: 32 };
        },
    );
    list.fails("pss-mgf-unknown", reason, "a mask generation function that isn't MGF1", |d| {
        let mgf = sequence([oid("1.3.6.1.4.1.32473.3161.2"), sha256()]);
        let parts = [context(0, sha256()), context(1, mgf), context(2, number(32))];
        pss_with(d, Some(sequence(parts)));
    });
    list.fails("pss-trailer-2", reason, "trailerField 2: it must be 1 (RFC 4055 3.1)", |d| {
        pss_with(d, Some(pss_parameters(&sha256(), &sha256(), 32, Some(2))));
    });
    list.fails(
        "pss-no-parameters",
        reason,
        "no parameters: a signature has them (RFC 4055 3.1)",
        |d| {
            pss_with(d, None);
        },
    );
    list.fails("pss-null-parameters", reason, "NULL for parameters", |d| pss_with(d, Some(null())));
    list.fails("pss-salt-negative", reason, "saltLength -1", |d| {
        let mgf = sequence([oid("1.2.840.113549.1.1.8"), sha256()]);
        let parts = [context(0, sha256()), context(1, mgf), context(2, integer([0xff]))];
        pss_with(d, Some(sequence(parts)));
    });
    list.fails(
        "pss-salt-too-long",
        "algorithm.key",
        "saltLength 4096, more than there is room for: inconsistent (RFC 8017 9.1.2)",
        |d| {
            let mgf = sequence([oid("1.2.840.113549.1.1.8"), sha256()]);
            let parts = [context(0, sha256()), context(1, mgf), context(2, number(4096))];
            pss_with(d, Some(sequence(parts)));
        },
    );
    list.fails(
        "pss-salt-differs",
        "signature.invalid",
        "saltLength 20, and the salt has 32 octets",
        |d| {
            pss_with(d, Some(pss_parameters(&sha256(), &sha256(), 20, None)));
        },
    );
}

fn keys(list: &mut List<'_>) {
    let reason = "algorithm.key";
    list.fails("key-rsa-for-ecdsa", reason, "ecdsa-with-SHA256 and an RSA key", |d| {
        d.signer(&d.world.rsa2048);
        d.token.signature_algorithm = Some(algorithm(ECDSA_SHA256, None));
    });
    list.fails("key-ec-for-rsa", reason, "sha256WithRSAEncryption and a P-256 key", |d| {
        d.token.signature_algorithm = Some(Scheme::Pkcs1(Hash::Sha256).identifier());
    });
    list.fails("key-ec-for-ed25519", reason, "Ed25519 and a P-256 key", |d| {
        d.token.scheme = Scheme::Ecdsa(Hash::Sha512);
        d.token.digest = Hash::Sha512;
        d.token.signature_algorithm = Some(Scheme::Ed25519.identifier());
    });
    list.fails(
        "key-pss-for-pkcs1",
        reason,
        "a key for PSS alone signs by PKCS #1 v1.5 (RFC 4055 1.2)",
        |d| {
            d.signer(&d.world.rsa2048);
            let spki = pss_spki(&d.token.signer);
            d.leaf(|leaf| leaf.spki = spki);
        },
    );
    list.fails("key-unknown-curve", reason, "the key says secp256k1", |d| {
        let kind = algorithm("1.2.840.10045.2.1", Some(oid("1.3.132.0.10")));
        let public = bits(d.token.signer.key.public_octets());
        d.leaf(|leaf| leaf.spki = sequence([kind, public]));
    });
    list.fails("key-unknown-algorithm", reason, "the key's algorithm is known to nobody", |d| {
        let kind = algorithm("1.3.6.1.4.1.32473.3161.1", None);
        let public = bits(d.token.signer.key.public_octets());
        d.leaf(|leaf| leaf.spki = sequence([kind, public]));
    });
    list.fails("key-point-off-curve", reason, "the key's point isn't on the curve", |d| {
        let mut point = d.token.signer.key.public_octets();
        if let Some(last) = point.last_mut() {
            *last ^= 1;
        }
        let kind = algorithm("1.2.840.10045.2.1", Some(oid("1.2.840.10045.3.1.7")));
        d.leaf(|leaf| leaf.spki = sequence([kind, bits(point)]));
    });
    list.fails("key-rsa-1024", "algorithm.key-size", "the signer has RSA of 1024 bits", |d| {
        d.signer(&d.world.rsa1024);
    });
    list.fails(
        "key-rsa-1024-issuer",
        "algorithm.key-size",
        "the issuing CA has RSA of 1024 bits",
        |d| {
            let ca = d.root.ca("Forge Weak CA", Key::rsa(RSA_1024), Some(0));
            let leaf = ca.tsa("Forge TSA under a weak CA", Key::p256("tsa"));
            d.intermediate = ca;
            d.signer(&leaf);
        },
    );
    let certificate = "algorithm.certificate";
    list.fails(
        "certificate-sha1",
        certificate,
        "the signer's certificate is signed by SHA-1",
        |d| {
            d.leaf(|leaf| leaf.scheme = Some(Scheme::Ecdsa(Hash::Sha1)));
        },
    );
    list.fails(
        "certificate-sha224",
        certificate,
        "the signer's certificate is signed by SHA-224",
        |d| {
            d.leaf(|leaf| leaf.scheme = Some(Scheme::Ecdsa(Hash::Sha224)));
        },
    );
    list.fails(
        "certificate-sha1-issuer",
        certificate,
        "the CA's certificate is signed by SHA-1",
        |d| {
            d.intermediate(|ca| ca.scheme = Some(Scheme::Ecdsa(Hash::Sha1)));
        },
    );
}
