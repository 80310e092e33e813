//! What is wrong with the path from the signer to a root.

use super::paths_sound::{chain, common_name_base, under};
use crate::forge::certificate::{
    AUTHORITY_KEY_ID, BASIC_CONSTRAINTS, Extension, Identity, KEY_USAGE, name_constraints, serial,
};
use crate::forge::draft::{Draft, List};
use crate::forge::keys::Key;
use crate::forge::raw::{context, context_primitive, named_bits, octets, oid, sequence};

pub(super) fn add(list: &mut List<'_>) {
    no_path(list);
    signatures(list);
    authorities(list);
    lengths(list);
    constraints(list);
    validity(list);
}

fn no_path(list: &mut List<'_>) {
    let reason = "chain.no-path";
    list.fails("path-untrusted-root", reason, "a sound chain to a root that isn't trusted", |d| {
        d.signer(&d.world.other_tsa);
        let root = d.world.other_root.certificate.clone();
        *d.bag() = vec![d.token.signer.certificate.clone(), root];
    });
    list.fails("path-issuer-missing", reason, "the intermediate is nowhere", |d| {
        d.bag().truncate(1);
    });
    list.fails("path-self-signed", reason, "the signer signed its own certificate", |d| {
        let key = Key::p256("self-signed tsa");
        let mut template = d.token.signer.template.clone();
        template.spki = key.spki();
        template.issuer.clone_from(&template.subject);
        template.without(AUTHORITY_KEY_ID);
        let leaf = Identity::root(template, key.into());
        d.signer(&leaf);
        d.bag().truncate(1);
    });
    list.fails(
        "path-loop",
        reason,
        "two CAs certify each other, and no root certifies either",
        |d| {
            let one = Identity::root_of("Forge Loop One", Key::p256("loop one"));
            let two = one.ca("Forge Loop Two", Key::p256("loop two"), None);
            let one_by_two = two.ca("Forge Loop One", Key::p256("loop one"), None);
            under(d, &[one_by_two, two]);
        },
    );
    list.fails("path-issuer-name", reason, "the signer's issuer name is nobody's", |d| {
        d.leaf(|leaf| {
            leaf.issuer = crate::forge::raw::name("Nobody");
            leaf.without(AUTHORITY_KEY_ID);
        });
    });
    list.fails(
        "path-root-by-name-only",
        "chain.signature",
        "the bag has a false root of the right name, with its chain",
        |d| {
            let root = Identity::root_of("Forge Root", Key::p384("false root"));
            let ca = root.ca("Forge False CA", Key::p256("false ca"), Some(0));
            d.bag().push(root.certificate.clone());
            under_false(d, &root, ca);
        },
    );
    list.fails("trust-none", reason, "nobody is trusted", |d| d.given.trust.clear());
    list.fails("path-too-deep", "chain.limit", "twelve CAs between the root and the signer", |d| {
        let cas = chain(&d.root, 12);
        under(d, &cas);
    });
}

fn under_false(draft: &mut Draft<'_>, root: &Identity, ca: Identity) {
    under(draft, &[ca]);
    draft.bag().push(root.certificate.clone());
}

fn signatures(list: &mut List<'_>) {
    let reason = "chain.signature";
    list.fails(
        "chain-signature-signer",
        reason,
        "the signer's certificate has a broken signature",
        |d| {
            d.leaf(|leaf| leaf.break_signature = true);
        },
    );
    list.fails("chain-signature-issuer", reason, "the intermediate has a broken signature", |d| {
        d.intermediate(|ca| ca.break_signature = true);
    });
    list.fails(
        "chain-forged-issuer",
        reason,
        "somebody else signed the intermediate in the root's name",
        |d| {
            d.intermediate(|ca| ca.forger = Some(Key::p384("forger").into()));
        },
    );
    list.fails(
        "chain-forged-signer",
        reason,
        "somebody else signed the signer's certificate in the CA's name",
        |d| {
            d.leaf(|leaf| leaf.forger = Some(Key::p256("forger").into()));
        },
    );
}

fn authorities(list: &mut List<'_>) {
    let reason = "chain.not-ca";
    list.fails(
        "issuer-no-constraints",
        reason,
        "the intermediate lacks basicConstraints (RFC 5280 6.1.4 k)",
        |d| {
            d.intermediate(|ca| ca.without(BASIC_CONSTRAINTS));
        },
    );
    list.fails("issuer-not-ca", reason, "the intermediate has basicConstraints without CA", |d| {
        d.intermediate(|ca| ca.extension(BASIC_CONSTRAINTS).value = sequence::<&[u8]>([]));
    });
    list.fails("issuer-v1", reason, "the intermediate is a version 1 certificate", |d| {
        d.intermediate(|ca| {
            ca.version = None;
            ca.extensions.clear();
        });
    });
    list.fails("issuer-is-tsa", reason, "a TSA issued the signer's certificate", |d| {
        let leaf = d.world.tsa.tsa("Forge TSA under a TSA", Key::p256("sub tsa"));
        let tsa = d.world.tsa.certificate.clone();
        d.signer(&leaf);
        d.bag().push(tsa);
    });
    list.fails(
        "issuer-key-usage",
        "chain.key-usage",
        "the intermediate has cRLSign and no keyCertSign",
        |d| {
            d.intermediate(|ca| ca.extension(KEY_USAGE).value = named_bits(&[6]));
        },
    );
    list.fails(
        "issuer-key-usage-signature",
        "chain.key-usage",
        "the intermediate has digitalSignature alone",
        |d| {
            d.intermediate(|ca| ca.extension(KEY_USAGE).value = named_bits(&[0]));
        },
    );
    list.fails(
        "issuer-eku-server",
        "chain.eku",
        "the intermediate has EKU serverAuth alone",
        |d| {
            d.intermediate(|ca| {
                ca.extensions.push(Extension::purposes(false, &["1.3.6.1.5.5.7.3.1"]));
            });
        },
    );
    list.fails(
        "issuer-eku-unknown",
        "chain.eku",
        "the intermediate has EKU 1.2.3.4, critical",
        |d| {
            d.intermediate(|ca| ca.extensions.push(Extension::purposes(true, &["1.2.3.4"])));
        },
    );
    list.fails(
        "upper-issuer-eku",
        "chain.eku",
        "the CA above the intermediate has EKU codeSigning",
        |d| {
            let upper = d.root.ca("Forge Upper CA", Key::p256("upper"), None);
            let upper = upper.again(&d.root, |ca| {
                ca.extensions.push(Extension::purposes(false, &["1.3.6.1.5.5.7.3.3"]));
            });
            let lower = upper.ca("Forge Lower CA", Key::p256("lower"), None);
            under(d, &[upper, lower]);
        },
    );
    list.fails(
        "issuer-unknown-critical",
        "chain.unknown-critical",
        "an unknown critical extension of the intermediate",
        |d| {
            let extension = Extension::new("1.3.6.1.4.1.32473.3161.11", true, octets("?"));
            d.intermediate(|ca| ca.extensions.push(extension));
        },
    );
}

fn lengths(list: &mut List<'_>) {
    let reason = "chain.path-length";
    list.fails("path-length-zero", reason, "pathLen 0 above another CA (RFC 5280 6.1.4 l)", |d| {
        let upper = d.intermediate.clone();
        let lower = upper.ca("Forge Lower CA", Key::p256("lower"), None);
        under(d, &[upper, lower]);
    });
    list.fails("path-length-one", reason, "pathLen 1 above two CAs", |d| {
        let one = d.root.ca("Forge Upper CA", Key::p256("upper"), Some(1));
        let two = one.ca("Forge Middle CA", Key::p256("middle"), None);
        let three = two.ca("Forge Lower CA", Key::p256("lower"), None);
        under(d, &[one, two, three]);
    });
}

fn constraints(list: &mut List<'_>) {
    let names = "chain.name-constraints";
    list.fails("names-not-permitted", names, "name constraints permit somebody else alone", |d| {
        let base = crate::forge::raw::name("Somebody Else");
        d.intermediate(|ca| ca.extensions.push(name_constraints(&[&base], &[])));
    });
    list.fails(
        "names-excluded",
        names,
        "name constraints exclude the signer's organisation",
        |d| {
            let base = common_name_base();
            d.intermediate(|ca| ca.extensions.push(name_constraints(&[], &[&base])));
        },
    );
    list.fails(
        "names-excluded-within-permitted",
        names,
        "permitted by organisation, excluded by name",
        |d| {
            let permitted = common_name_base();
            let excluded = d.token.signer.template.subject.clone();
            d.intermediate(|ca| ca.extensions.push(name_constraints(&[&permitted], &[&excluded])));
        },
    );
    list.fails("names-alternative-excluded", names, "a dNSName of the signer is excluded", |d| {
        let dns = context_primitive(2, "tsa.example");
        let value = sequence([context(1, sequence([context_primitive(2, "example")]))]);
        d.intermediate(|ca| ca.extensions.push(Extension::new("2.5.29.30", true, value)));
        let alternatives = sequence([dns]);
        d.leaf(|leaf| leaf.extensions.push(Extension::new("2.5.29.17", false, alternatives)));
    });
    let policy = "chain.policy";
    let require = || Extension::new("2.5.29.36", true, sequence([context_primitive(0, [0])]));
    let policies = |dotted| Extension::new("2.5.29.32", false, sequence([sequence([oid(dotted)])]));
    list.fails(
        "policy-required-and-absent",
        policy,
        "an explicit policy is required and nobody has one",
        |d| {
            d.intermediate(|ca| ca.extensions.push(require()));
        },
    );
    list.fails(
        "policy-required-and-differs",
        policy,
        "an explicit policy is required; CA and signer differ",
        |d| {
            d.intermediate(|ca| {
                ca.extensions.push(policies("1.3.6.1.4.1.32473.10"));
                ca.extensions.push(require());
            });
            d.leaf(|leaf| leaf.extensions.push(policies("1.3.6.1.4.1.32473.11")));
        },
    );
}

fn validity(list: &mut List<'_>) {
    let reason = "validity.issuer";
    list.fails(
        "issuer-expired",
        reason,
        "genTime is a second after the intermediate's notAfter",
        |d| {
            d.intermediate(|ca| ca.valid("20220101000000Z", "20250601115959Z"));
        },
    );
    list.fails(
        "issuer-not-yet-valid",
        reason,
        "genTime is a second before the intermediate's notBefore",
        |d| {
            d.intermediate(|ca| ca.valid("20250601120001Z", "20350101000000Z"));
        },
    );
    list.fails(
        "issuer-all-expired",
        reason,
        "both certificates of the intermediate expired before genTime",
        |d| {
            d.intermediate(|ca| ca.valid("20200101000000Z", "20230101000000Z"));
            let second = d.intermediate.again(&d.root, |ca| {
                ca.serial = serial("expired too", 16);
                ca.valid("20200101000000Z", "20240101000000Z");
            });
            d.bag().push(second.certificate);
        },
    );
}
