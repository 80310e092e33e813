//! Sound tokens: every key, signature scheme, digest and legal way to write an algorithm down.

use crate::forge::certificate::Identity;
use crate::forge::draft::{Draft, List};
use crate::forge::keys::{Hash, Key, Scheme, pss_parameters};
use crate::forge::raw::{algorithm, null, sequence, set};
use crate::forge::token::{SignedAttribute, algorithm_protection};

/// Signs with another scheme of the same key.
fn scheme(draft: &mut Draft<'_>, scheme: Scheme) {
    draft.token.scheme = scheme;
    draft.token.digest = scheme.digest();
}

/// Puts the signer under a new CA with this key and changes that CA's signature on it.
fn under(draft: &mut Draft<'_>, key: Key, by: Option<Scheme>) {
    let ca = draft.root.ca("Forge Second Issuing CA", key, Some(0));
    let leaf = ca.tsa("Forge Second TSA", Key::p256("second tsa"));
    let leaf = leaf.again(&ca, |template| template.scheme = by);
    draft.intermediate = ca;
    draft.signer(&leaf);
}

pub(super) fn add(list: &mut List<'_>) {
    rsa(list);
    pss(list);
    curves(list);
    digests(list);
    issuers(list);
}

fn rsa(list: &mut List<'_>) {
    list.holds("rsa-2048-sha256", "RSASSA-PKCS1-v1_5 with SHA-256 and 2048 bits", |d| {
        d.signer(&d.world.rsa2048);
    });
    list.holds("rsa-2048-sha384", "RSASSA-PKCS1-v1_5 with SHA-384", |d| {
        d.signer(&d.world.rsa2048);
        scheme(d, Scheme::Pkcs1(Hash::Sha384));
    });
    list.holds("rsa-3072-sha256", "RSASSA-PKCS1-v1_5 with SHA-256 and 3072 bits", |d| {
        d.signer(&d.world.rsa3072);
    });
    list.holds("rsa-4096-sha512", "RSASSA-PKCS1-v1_5 with SHA-512 and 4096 bits", |d| {
        d.signer(&d.world.rsa4096);
        scheme(d, Scheme::Pkcs1(Hash::Sha512));
    });
    list.holds(
        "rsa-encryption-as-signature-algorithm",
        "signatureAlgorithm is rsaEncryption and the digest comes from digestAlgorithm (RFC 5754 3.2, RFC 3370 3.2)",
        |d| {
            d.signer(&d.world.rsa2048);
            d.token.signature_algorithm = Some(algorithm("1.2.840.113549.1.1.1", Some(null())));
        },
    );
    list.holds(
        "rsa-parameters-absent",
        "sha256WithRSAEncryption without parameters: both forms are accepted (RFC 4055 5, RFC 5754 3.2)",
        |d| {
            d.signer(&d.world.rsa2048);
            d.token.signature_algorithm = Some(algorithm("1.2.840.113549.1.1.11", None));
        },
    );
}

fn pss(list: &mut List<'_>) {
    for (name, hash) in
        [("pss-sha256", Hash::Sha256), ("pss-sha384", Hash::Sha384), ("pss-sha512", Hash::Sha512)]
    {
        list.holds(
            name,
            "RSASSA-PSS, MGF1 with the same digest, a salt of its length (RFC 4056)",
            |d| {
                d.signer(&d.world.rsa2048);
                scheme(d, Scheme::pss(hash));
            },
        );
    }
    list.holds(
        "pss-hashes-without-null",
        "PSS parameters whose hash identifiers have no parameters: equal to NULL (RFC 4055 2.1)",
        |d| {
            d.signer(&d.world.rsa2048);
            scheme(d, Scheme::pss(Hash::Sha512));
            let hash = Hash::Sha512.identifier();
            let parameters = pss_parameters(&hash, &hash, 64, None);
            d.token.signature_algorithm =
                Some(algorithm("1.2.840.113549.1.1.10", Some(parameters)));
        },
    );
    list.holds(
        "pss-trailer-written",
        "PSS parameters with trailerField 1 written out: to be recognised (RFC 4055 3.1)",
        |d| {
            d.signer(&d.world.rsa2048);
            scheme(d, Scheme::pss(Hash::Sha256));
            let hash = Hash::Sha256.identifier_with_null();
            let parameters = pss_parameters(&hash, &hash, 32, Some(1));
            d.token.signature_algorithm =
                Some(algorithm("1.2.840.113549.1.1.10", Some(parameters)));
        },
    );
    list.holds(
        "pss-salt-20",
        "PSS with SHA-256 and a salt of 20 octets: saltLength says so (RFC 4055 3.1)",
        |d| {
            d.signer(&d.world.rsa2048);
            scheme(d, Scheme::Pss { hash: Hash::Sha256, mgf: Hash::Sha256, salt: 20 });
        },
    );
    list.holds(
        "pss-key-identifier",
        "the key itself is marked id-RSASSA-PSS, without parameters, so without limits (RFC 4055 1.2)",
        |d| {
            d.signer(&d.world.rsa2048);
            let spki = pss_spki(&d.token.signer);
            d.leaf(|leaf| leaf.spki = spki);
            scheme(d, Scheme::pss(Hash::Sha256));
        },
    );
}

/// The identity's key under id-RSASSA-PSS.
pub(super) fn pss_spki(identity: &Identity) -> Vec<u8> {
    let public = crate::forge::raw::bits(identity.key.public_octets());
    sequence([algorithm("1.2.840.113549.1.1.10", None), public])
}

fn curves(list: &mut List<'_>) {
    list.holds("p256-sha256", "ECDSA on P-256 with SHA-256, everything as usual", |_| {});
    list.holds("p256-sha384", "ECDSA on P-256 with SHA-384", |d| {
        scheme(d, Scheme::Ecdsa(Hash::Sha384));
    });
    list.holds("p256-sha512", "ECDSA on P-256 with SHA-512", |d| {
        scheme(d, Scheme::Ecdsa(Hash::Sha512));
    });
    list.holds("p384-sha384", "ECDSA on P-384 with SHA-384", |d| d.signer(&d.world.p384));
    list.holds("p384-sha256", "ECDSA on P-384 with SHA-256", |d| {
        d.signer(&d.world.p384);
        scheme(d, Scheme::Ecdsa(Hash::Sha256));
    });
    list.holds("p384-sha512", "ECDSA on P-384 with SHA-512", |d| {
        d.signer(&d.world.p384);
        scheme(d, Scheme::Ecdsa(Hash::Sha512));
    });
    list.holds("p521-sha512", "ECDSA on P-521 with SHA-512", |d| d.signer(&d.world.p521));
    list.holds("p521-sha384", "ECDSA on P-521 with SHA-384", |d| {
        d.signer(&d.world.p521);
        scheme(d, Scheme::Ecdsa(Hash::Sha384));
    });
    list.holds("ed25519", "Ed25519; the digest of the content is SHA-512 (RFC 8419 3.1)", |d| {
        d.signer(&d.world.ed25519);
    });
    list.holds(
        "ecdsa-null-parameters",
        "ecdsa-with-SHA256 with NULL parameters, which RFC 5758 3.2 forbids and some send; NULL says nothing",
        |d| {
            d.token.signature_algorithm = Some(algorithm("1.2.840.10045.4.3.2", Some(null())));
        },
    );
}

fn digests(list: &mut List<'_>) {
    list.holds("imprint-sha384", "a SHA-384 imprint", |d| d.imprint(Hash::Sha384));
    list.holds("imprint-sha512", "a SHA-512 imprint", |d| d.imprint(Hash::Sha512));
    list.holds("digest-null-parameters", "digestAlgorithm with NULL (RFC 5754 2)", |d| {
        d.token.digest_algorithm = Some(Hash::Sha256.identifier_with_null());
    });
    list.holds("imprint-null-parameters", "the imprint's algorithm with NULL (RFC 5754 2)", |d| {
        let digest = d.given.digest.clone();
        d.token.info.imprint =
            crate::forge::token::imprint(&Hash::Sha256.identifier_with_null(), &digest);
    });
    list.holds(
        "digest-algorithms-empty",
        "digestAlgorithms has no element: any number is allowed, zero too (RFC 5652 5.1)",
        |d| d.token.digest_algorithms = Some(set::<&[u8]>([])),
    );
    list.holds("algorithm-protection", "CMSAlgorithmProtection that is right (RFC 6211)", |d| {
        let attribute =
            algorithm_protection(&Hash::Sha256.identifier(), &d.token.scheme.identifier());
        d.token.attributes.get_or_insert_default().push(SignedAttribute::Raw(attribute));
    });
}

fn issuers(list: &mut List<'_>) {
    list.holds("chain-rsa", "the CA signs with RSASSA-PKCS1-v1_5", |d| {
        let key = Key::rsa(crate::forge::world::RSA_2048);
        under(d, key, None);
    });
    list.holds("chain-pss", "the CA signs with RSASSA-PSS", |d| {
        let key = Key::rsa(crate::forge::world::RSA_2048);
        under(d, key, Some(Scheme::pss(Hash::Sha256)));
    });
    list.holds("chain-ed25519", "the CA signs with Ed25519", |d| {
        under(d, Key::ed25519("second ca"), None);
    });
    list.holds("chain-p521", "the CA signs with P-521", |d| {
        under(d, Key::p521("second ca"), None);
    });
}
