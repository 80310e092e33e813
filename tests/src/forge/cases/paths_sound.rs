//! Sound paths: anchors, detours, dead ends beside the right way, constraints that are met.

use crate::forge::certificate::{
    AUTHORITY_KEY_ID, Extension, Identity, KEY_USAGE, SUBJECT_KEY_ID, TIME_STAMPING,
    name_constraints, serial,
};
use crate::forge::draft::{Draft, List, entry};
use crate::forge::keys::{Hash, Key, Scheme};
use crate::forge::raw::{context, oid, sequence, set, utf8};
use crate::forge::world::OPERATOR;

/// Lets a TSA under the last of these CAs sign, and puts all of them into the bag.
pub(super) fn under(draft: &mut Draft<'_>, cas: &[Identity]) {
    let Some(last) = cas.last() else { return };
    let leaf = last.tsa("Forge TSA below", Key::p256("tsa"));
    draft.intermediate = last.clone();
    draft.signer(&leaf);
    let rest = cas.iter().rev().skip(1).map(|ca| ca.certificate.clone());
    draft.bag().extend(rest);
}

/// A chain of CAs below the root, none of which limits the path.
pub(super) fn chain(root: &Identity, count: usize) -> Vec<Identity> {
    const NAMES: [&str; 12] = [
        "CA 1", "CA 2", "CA 3", "CA 4", "CA 5", "CA 6", "CA 7", "CA 8", "CA 9", "CA 10", "CA 11",
        "CA 12",
    ];
    let mut cas: Vec<Identity> = Vec::new();
    for label in NAMES.into_iter().take(count) {
        let next = cas.last().unwrap_or(root).ca(label, Key::p256(label), None);
        cas.push(next);
    }
    cas
}

/// The `RDN` sequence that all names of the forge begin with.
pub(super) fn common_name_base() -> Vec<u8> {
    sequence([
        set([sequence([oid("2.5.4.6"), crate::forge::raw::tlv(0x13, "XX")])]),
        set([sequence([oid("2.5.4.10"), utf8("Anchorlog Forge")])]),
    ])
}

pub(super) fn add(list: &mut List<'_>) {
    anchors(list);
    several(list);
    constraints(list);
}

fn anchors(list: &mut List<'_>) {
    list.holds("path-direct", "the signer right under the root", |d| {
        let leaf = d.root.tsa("Forge Direct TSA", Key::p256("tsa"));
        d.signer(&leaf);
        d.bag().truncate(1);
    });
    list.holds("path-of-four", "root, two CAs, signer", |d| {
        let cas = chain(&d.root, 2);
        under(d, &cas);
    });
    list.holds("path-of-seven", "root, five CAs, signer", |d| {
        let cas = chain(&d.root, 5);
        under(d, &cas);
    });
    list.holds(
        "anchor-intermediate",
        "the intermediate is the trust anchor (RFC 5280 6.1.1)",
        |d| {
            let anchor = d.intermediate.clone();
            d.given.trust = vec![entry(OPERATOR, &anchor)];
        },
    );
    list.holds("anchor-signer", "the signer's own certificate is the trust anchor: pinned", |d| {
        let anchor = d.token.signer.clone();
        d.given.trust = vec![entry(OPERATOR, &anchor)];
        d.bag().truncate(1);
    });
    list.holds(
        "anchor-expired",
        "the root expired before genTime: an anchor's dates don't count",
        |d| {
            d.root(|root| root.valid("20100101000000Z", "20200101000000Z"));
        },
    );
    list.holds(
        "anchor-sha1",
        "the root signed itself by SHA-1: nobody relies on that signature",
        |d| {
            d.root(|root| root.scheme = Some(Scheme::Ecdsa(Hash::Sha1)));
        },
    );
    list.holds(
        "anchor-self-signature-broken",
        "the root's own signature is broken: it isn't part of the path",
        |d| {
            d.root(|root| root.break_signature = true);
        },
    );
    list.holds("anchor-second-root", "the entry has two roots and the second is right", |d| {
        let other = d.world.other_root.certificate.clone();
        d.trust().roots.insert(0, other);
    });
    list.holds(
        "anchor-same-name",
        "two roots of one name, of which the second has the right key",
        |d| {
            let other = Identity::root_of("Forge Root", Key::p384("another root"));
            d.trust().roots.insert(0, other.certificate);
        },
    );
    list.holds("anchor-v1", "the root is a version 1 certificate, without extensions", |d| {
        d.root(|root| {
            root.version = None;
            root.extensions.clear();
        });
    });
}

fn several(list: &mut List<'_>) {
    list.holds(
        "paths-expired-cross",
        "an expired cross certificate of the intermediate stands first",
        |d| {
            let cross = d.intermediate.again(&d.root, |ca| {
                ca.serial = serial("expired cross", 16);
                ca.valid("20200101000000Z", "20230101000000Z");
            });
            d.bag().insert(0, cross.certificate);
        },
    );
    list.holds(
        "paths-other-key",
        "a CA of the intermediate's name and another key stands first",
        |d| {
            let mut other = d.root.ca("Forge Issuing CA", Key::p256("other intermediate"), Some(0));
            other = other.again(&d.root, |ca| ca.serial = serial("other intermediate", 16));
            d.bag().insert(0, other.certificate);
        },
    );
    list.holds(
        "paths-untrusted-cross",
        "the intermediate's cross certificate by an untrusted root stands first",
        |d| {
            let cross = d.intermediate.again(&d.world.other_root, |ca| {
                ca.serial = serial("untrusted cross", 16);
                ca.issuer.clone_from(&d.world.other_root.template.subject);
                ca.without(AUTHORITY_KEY_ID);
            });
            d.bag().insert(0, cross.certificate);
        },
    );
    list.holds(
        "paths-trusted-cross",
        "only the cross certificate by a second root is trusted",
        |d| {
            let second = d.world.other_root.clone();
            let cross = d.intermediate.again(&second, |ca| {
                ca.serial = serial("trusted cross", 16);
                ca.issuer.clone_from(&second.template.subject);
                ca.without(AUTHORITY_KEY_ID);
            });
            d.bag().push(cross.certificate);
            d.given.trust = vec![entry(OPERATOR, &second)];
        },
    );
    list.holds(
        "paths-decoys",
        "twenty CAs of the intermediate's name and key identifier before it",
        |d| {
            let right = d.intermediate.template.clone();
            for number in 0..20_u8 {
                let mut decoy = right.clone();
                decoy.serial = serial("decoy", 8 + usize::from(number));
                decoy.spki = Key::p256("decoy").spki();
                let certificate = decoy.sign(&d.root.key);
                d.bag().insert(0, certificate);
            }
        },
    );
    list.holds(
        "paths-loop-beside",
        "two CAs that certify each other stand beside the right path",
        |d| {
            let one = d.intermediate.clone();
            let other = one.ca("Forge Looping CA", Key::p256("loop"), None);
            let back = one.again(&other, |ca| {
                ca.issuer.clone_from(&other.template.subject);
                ca.without(AUTHORITY_KEY_ID);
                ca.serial = serial("loop", 16);
            });
            d.bag().insert(0, back.certificate);
            d.bag().insert(0, other.certificate);
        },
    );
    list.holds(
        "path-self-issued",
        "a self-issued CA for a new key: it doesn't count for pathLen 0 (RFC 5280 6.1.4 l)",
        |d| {
            let old = d.intermediate.clone();
            let key = Key::p256("new intermediate key");
            let mut new = old.ca("Forge Issuing CA", key, Some(0));
            new = new.again(&old, |ca| ca.serial = serial("self-issued", 16));
            under(d, &[old, new]);
        },
    );
    list.holds("path-no-key-identifiers", "no certificate has key identifiers: names do", |d| {
        d.intermediate(|ca| {
            ca.without(SUBJECT_KEY_ID);
            ca.without(AUTHORITY_KEY_ID);
        });
        d.leaf(|leaf| {
            leaf.without(SUBJECT_KEY_ID);
            leaf.without(AUTHORITY_KEY_ID);
        });
    });
}

fn constraints(list: &mut List<'_>) {
    list.holds("issuer-eku-time-stamping", "the intermediate has EKU timeStamping", |d| {
        d.intermediate(|ca| ca.extensions.push(Extension::purposes(false, &[TIME_STAMPING])));
    });
    list.holds("issuer-eku-any", "the intermediate has EKU anyExtendedKeyUsage", |d| {
        d.intermediate(|ca| ca.extensions.push(Extension::purposes(false, &["2.5.29.37.0"])));
    });
    list.holds(
        "issuer-eku-several",
        "the intermediate has timeStamping among other purposes",
        |d| {
            let purposes = ["1.3.6.1.5.5.7.3.3", TIME_STAMPING, "1.2.3.4"];
            d.intermediate(|ca| ca.extensions.push(Extension::purposes(true, &purposes)));
        },
    );
    list.holds(
        "issuer-no-key-usage",
        "the intermediate has no keyUsage (RFC 5280 6.1.4 n: if present)",
        |d| {
            d.intermediate(|ca| ca.without(KEY_USAGE));
        },
    );
    list.holds("issuer-path-length-enough", "pathLen 1 above one CA", |d| {
        let first = d.root.ca("Forge Upper CA", Key::p256("upper"), Some(1));
        let second = first.ca("Forge Lower CA", Key::p256("lower"), Some(0));
        under(d, &[first, second]);
    });
    list.holds("names-permitted", "name constraints permit the organisation of the signer", |d| {
        let base = common_name_base();
        d.intermediate(|ca| ca.extensions.push(name_constraints(&[&base], &[])));
    });
    list.holds("names-not-excluded", "name constraints exclude somebody else", |d| {
        let base = crate::forge::raw::name("Somebody Else");
        d.intermediate(|ca| ca.extensions.push(name_constraints(&[], &[&base])));
    });
    list.holds(
        "names-of-another-kind",
        "name constraints on dNSNames, of which the signer has none",
        |d| {
            let dns = crate::forge::raw::context_primitive(2, "example.com");
            let value = sequence([context(0, sequence([dns]))]);
            d.intermediate(|ca| ca.extensions.push(Extension::new("2.5.29.30", true, value)));
        },
    );
    list.holds(
        "policy-required-and-there",
        "an explicit policy is required, and both carry it",
        |d| {
            let policies = sequence([sequence([oid("1.3.6.1.4.1.32473.10")])]);
            let again = policies.clone();
            let require = sequence([crate::forge::raw::context_primitive(0, [0])]);
            d.intermediate(|ca| {
                ca.extensions.push(Extension::new("2.5.29.32", false, policies));
                ca.extensions.push(Extension::new("2.5.29.36", true, require));
            });
            d.leaf(|leaf| leaf.extensions.push(Extension::new("2.5.29.32", false, again)));
        },
    );
}
