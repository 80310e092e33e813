use core::slice::from_ref;

use super::super::signature::SignatureError;
use super::super::testing::{
    ANY_PURPOSE, Draft, SERVER_AUTH, TIME_STAMPING, attribute, basic_constraints, extension,
    integer, key_usage, name, oid, public_key, purposes, sequence, set, time, tlv, utc_time,
};
use super::*;

const AT: &str = "20260101000000Z";

/// Root (key 1), one intermediate certificate (key 2), signer (key 3).
struct Three {
    root: Draft,
    middle: Draft,
    signer: Draft,
}

fn three() -> Three {
    Three {
        root: Draft::authority("root", "root", 1),
        middle: Draft::authority("middle", "root", 2),
        signer: Draft::signer("signer", "middle", 3),
    }
}

impl Three {
    fn find(&self) -> Result<usize, &'static str> {
        find(&self.signer.by(2), &[self.middle.by(1)], &self.root.by(1), AT)
    }
}

/// The length of the path, or the reason.
fn find(
    signer: &Certificate,
    candidates: &[Certificate],
    root: &Certificate,
    at: &str,
) -> Result<usize, &'static str> {
    let roots = [Root::new(root.clone())];
    let mut backwards = candidates.to_vec();
    backwards.reverse();
    backwards.extend_from_slice(&candidates[..candidates.len().min(1)]);
    let [one, other] = [candidates, &backwards].map(|candidates| {
        let found = find_path(signer, candidates, &roots, time(at), Sha1::Refused);
        found
            .map(|path| {
                assert_eq!(path.root().certificate(), root);
                assert_eq!(path.certificates().first().copied(), Some(signer));
                assert_eq!(path.certificates().last().copied(), Some(root));
                assert_eq!(path.digests().len(), path.certificates().len());
                path.digests()
            })
            .map_err(|error| (error.reason(), error.subject().to_owned()))
    });
    // Neither order nor repetitions matter.
    assert_eq!(one.as_ref().err(), other.as_ref().err());
    assert_eq!(one, other);
    one.map(|digests| digests.len()).map_err(|(reason, _)| reason)
}

#[test]
fn from_the_signer_to_whatever_is_believed() {
    let Three { root, middle, signer } = three();
    let (root, middle, signer) = (root.by(1), middle.by(1), signer.by(2));
    assert_eq!(find(&signer, from_ref(&middle), &root, AT), Ok(3));
    assert_eq!(find(&signer, &[root.clone(), middle.clone(), signer.clone()], &root, AT), Ok(3));
    assert_eq!(find(&signer, &[], &middle, AT), Ok(2));
    assert_eq!(find(&signer, from_ref(&middle), &middle, AT), Ok(2));
    assert_eq!(find(&signer, &[], &signer, AT), Ok(1));
    assert_eq!(find(&signer, &[], &root, AT), Err("chain.no-path"));
    let none = find_path(&signer, &[middle], &[], time(AT), Sha1::Refused).unwrap_err();
    assert_eq!((none.reason(), none.subject()), ("chain.no-path", "CN=middle"));
}

#[test]
fn names_may_be_written_differently() {
    let mut three = three();
    three.signer.issuer = name(&["MIDDLE "]);
    assert_eq!(three.find(), Ok(3));
    three.signer.issuer = name(&["midd le"]);
    assert_eq!(three.find(), Err("chain.no-path"));
}

#[test]
fn every_certificate_is_valid_at_the_instant_but_the_anchor() {
    let at =
        |three: &Three, at| find(&three.signer.by(2), &[three.middle.by(1)], &three.root.by(1), at);
    let mut one = three();
    one.signer = one.signer.valid("20260101000000Z", "20260102000000Z");
    for (when, expected) in [
        ("20251231235959.9Z", Err("validity.signer")),
        ("20260101000000Z", Ok(3)),
        ("20260102000000Z", Ok(3)),
        ("20260102000000.1Z", Err("validity.signer")),
    ] {
        assert_eq!(at(&one, when), expected, "{when}");
    }
    let mut one = three();
    one.middle = one.middle.valid("20260101000000Z", "20260102000000Z");
    for (when, expected) in [
        ("20251231235959.9Z", Err("validity.issuer")),
        ("20260101000000Z", Ok(3)),
        ("20260102000000Z", Ok(3)),
        ("20260102000000.1Z", Err("validity.issuer")),
    ] {
        assert_eq!(at(&one, when), expected, "{when}");
    }
    // An intermediate certificate that is believed has no dates any more; a signer keeps its own.
    assert_eq!(find(&one.signer.by(2), &[], &one.middle.by(1), "20260301000000Z"), Ok(2));
    let mut one = three();
    one.root = one.root.valid("20200101000000Z", "20210101000000Z");
    assert_eq!(one.find(), Ok(3));
    one.signer = one.signer.valid("20200101000000Z", "20210101000000Z");
    let signer = one.signer.by(2);
    assert_eq!(find(&signer, &[], &signer, AT), Err("validity.signer"));
}

#[test]
fn every_signature_is_the_issuers() {
    let Three { root, middle, signer } = three();
    let (root_, middle_, signer_) = (root.by(1), middle.by(1), signer.by(2));
    let middle_of_another = middle.by(9);
    let signer_of_another = signer.by(9);
    assert_eq!(find(&signer_, from_ref(&middle_of_another), &root_, AT), Err("chain.signature"));
    assert_eq!(find(&signer_of_another, from_ref(&middle_), &root_, AT), Err("chain.signature"));
    // The anchor's own signature is nobody's business.
    assert_eq!(find(&signer_, from_ref(&middle_), &root.by(9), AT), Ok(3));
    // Another certificate of the name is passed over, whether it comes earlier or later.
    let strangers = (20..40).map(|key| Draft::authority("middle", "root", key).by(1));
    let mut bag: Vec<_> = strangers.collect();
    bag.push(middle_);
    bag.push(middle_of_another);
    assert_eq!(find(&signer_, &bag, &root_, AT), Ok(3));
}

#[test]
fn issuers_are_authorities() {
    let with = |middle: Draft| Three { middle, ..three() }.find();
    let bare = || Draft::new("middle", "root", 2);
    assert_eq!(with(bare().with(basic_constraints(true, None))), Ok(3));
    assert_eq!(with(bare()), Err("chain.not-ca"));
    assert_eq!(with(bare().with(basic_constraints(false, None))), Err("chain.not-ca"));
    assert_eq!(with(Draft { version: None, ..bare() }), Err("chain.not-ca"));
    assert_eq!(with(Draft { version: Some(1), ..bare() }), Err("chain.not-ca"));
    let authority = || bare().with(basic_constraints(true, None));
    assert_eq!(with(authority().with(key_usage(&[5]))), Ok(3));
    assert_eq!(with(authority().with(key_usage(&[0, 6]))), Err("chain.key-usage"));
    for (purposes_of, expected) in [
        (&[TIME_STAMPING][..], Ok(3)),
        (&[SERVER_AUTH, TIME_STAMPING], Ok(3)),
        (&[ANY_PURPOSE], Ok(3)),
        (&[SERVER_AUTH], Err("chain.eku")),
        (&["1.2.3.4"], Err("chain.eku")),
    ] {
        let middle = authority().with(purposes(false, purposes_of));
        assert_eq!(with(middle), expected, "{purposes_of:?}");
    }
    let unknown = |critical| extension("1.2.3.4", critical, &[5, 0]);
    assert_eq!(with(authority().with(unknown(false))), Ok(3));
    assert_eq!(with(authority().with(unknown(true))), Err("chain.unknown-critical"));
    let mut one = three();
    one.signer = one.signer.with(unknown(true));
    assert_eq!(one.find(), Err("chain.unknown-critical"));
}

#[test]
fn what_the_anchor_says_counts_too() {
    let with = |root: Draft| Three { root, ..three() }.find();
    let bare = || Draft::new("root", "root", 1);
    assert_eq!(with(Draft { version: None, ..bare() }), Ok(3));
    assert_eq!(with(bare()), Err("chain.not-ca"));
    let authority = |length| bare().with(basic_constraints(true, length));
    assert_eq!(with(authority(Some(1))), Ok(3));
    assert_eq!(with(authority(Some(0))), Err("chain.path-length"));
    assert_eq!(with(authority(None).with(key_usage(&[6]))), Err("chain.key-usage"));
    assert_eq!(with(authority(None).with(purposes(true, &[SERVER_AUTH]))), Ok(3));
    let critical = extension("1.2.3.4", true, &[5, 0]);
    assert_eq!(with(authority(None).with(critical)), Err("chain.unknown-critical"));
}

#[test]
fn self_issued_certificates_dont_lengthen_a_path() {
    let limited = |subject, issuer, key, length| {
        Draft::new(subject, issuer, key).with(basic_constraints(true, Some(length)))
    };
    let root = Draft::authority("root", "root", 1).by(1);
    let signer = Draft::signer("signer", "b", 5).by(4);
    let last = Draft::authority("b", "a", 4).by(3);
    let self_issued = Draft::authority("a", "a", 3).by(2);
    let bag = |length| [limited("a", "root", 2, length).by(1), self_issued.clone(), last.clone()];
    assert_eq!(find(&signer, &bag(1), &root, AT), Ok(5));
    assert_eq!(find(&signer, &bag(0), &root, AT), Err("chain.path-length"));
}

#[test]
fn the_floor_is_for_certificates_too() {
    let mut one = three();
    let rsa = tlv(0x30, &[&oid("1.2.840.113549.1.1.1"), &[5, 0]]);
    let numbers = |octets| tlv(0x30, &[&integer(&vec![0xff; octets]), &integer(&[1, 0, 1])]);
    let short = tlv(0x30, &[&rsa, &super::super::testing::bits(&numbers(128))]);
    one.middle.key = short;
    assert_eq!(one.find(), Err("algorithm.key-size"));
    let long = tlv(0x30, &[&rsa, &super::super::testing::bits(&numbers(256))]);
    one.middle.key = long;
    assert_eq!(one.find(), Err("algorithm.key"));
    one.middle.key = public_key(2);
    assert_eq!(one.find(), Ok(3));

    let error = |error| {
        let fault = PathFault::Algorithm(error);
        let error = PathError::new(fault, &three().signer.by(2));
        assert_eq!(error.fault(), fault);
        (error.code().to_string(), error.reason())
    };
    assert_eq!(
        error(SignatureError::KeySize { bits: 1024 }),
        ("TSA.ALG".into(), "algorithm.key-size")
    );
    assert_eq!(error(SignatureError::Parameters), ("TSA.ALG".into(), "algorithm.certificate"));
}

#[test]
fn names_stay_within_constraints() {
    let subtree = |text| tlv(0x30, &[&tlv(0xa4, &[&name(&[text])])]);
    let permitted = |text| tlv(0x30, &[&tlv(0xa0, &[&subtree(text)])]);
    let excluded = |text| tlv(0x30, &[&tlv(0xa1, &[&subtree(text)])]);
    let constraints = |value: &[u8]| extension("2.5.29.30", true, value);
    for (value, expected) in [
        (permitted("signer"), Ok(3)),
        (permitted("other"), Err("chain.name-constraints")),
        (excluded("other"), Ok(3)),
        (excluded("SIGNER"), Err("chain.name-constraints")),
    ] {
        let mut one = three();
        one.middle = one.middle.with(constraints(&value));
        assert_eq!(one.find(), expected, "{value:x?}");
    }
    // The anchor's bind the one in the middle as well.
    let mut one = three();
    one.root = one.root.with(constraints(&permitted("signer")));
    assert_eq!(one.find(), Err("chain.name-constraints"));
    // A form that can't be compared: only who has such a name is refused.
    let registered = tlv(0x30, &[&tlv(0xa0, &[&tlv(0x30, &[&tlv(0x88, &[&[42]])])])]);
    let mut one = three();
    one.middle = one.middle.with(constraints(&registered));
    assert_eq!(one.find(), Ok(3));
    let names = tlv(0x30, &[&tlv(0x88, &[&[42]])]);
    one.signer = one.signer.with(extension("2.5.29.17", false, &names));
    assert_eq!(one.find(), Err("chain.name-constraints"));
}

#[test]
fn an_excluded_name_isnt_escaped_by_another_string_type() {
    let one_name = |tag, text: &[u8]| sequence(&[set(&[&attribute("2.5.4.3", tag, text)])]);
    let (utf8, printable, t61, ia5, visible, bmp) = (0x0c, 0x13, 0x14, 0x16, 0x1a, 0x1e);
    let excluded = |base: &[u8]| {
        let subtree = tlv(0x30, &[&tlv(0xa4, &[base])]);
        extension("2.5.29.30", true, &tlv(0x30, &[&tlv(0xa1, &[&subtree])]))
    };
    for (base, signer, expected) in [
        (one_name(printable, b"Evil"), one_name(t61, b"evil"), false),
        (one_name(utf8, b"Evil"), one_name(ia5, b"Evil"), false),
        (one_name(bmp, b"\0E\0v\0i\0l"), one_name(utf8, b"Evil"), false),
        (one_name(printable, b"Evil"), one_name(visible, b"Evil"), false),
        (one_name(utf8, "\u{e9}".as_bytes()), one_name(t61, b"\xc2e"), false),
        (one_name(printable, b"Evil"), one_name(t61, b"good"), true),
        (one_name(printable, b"Evil"), one_name(4, b"Evil"), true),
    ] {
        let mut one = three();
        one.middle = one.middle.with(excluded(&base));
        one.signer.subject.clone_from(&signer);
        let expected = if expected { Ok(3) } else { Err("chain.name-constraints") };
        assert_eq!(one.find(), expected, "{base:x?} {signer:x?}");
    }
}

#[test]
fn comparisons_of_names_are_bounded() {
    let many = |tag: u8, wrapped: bool, count| {
        let name = |number: usize| {
            let name = tlv(tag, &[format!("{number:x}").as_bytes()]);
            if wrapped { tlv(0x30, &[&name]) } else { name }
        };
        sequence(&(0..count).map(name).collect::<Vec<_>>())
    };
    let mut one = three();
    let bases = tlv(0x30, &[&tlv(0xa1, &[Element(&many(0x82, true, 1000)).contents()])]);
    one.middle = one.middle.with(extension("2.5.29.30", true, &bases));
    assert_eq!(one.find(), Ok(3));
    one.signer = one.signer.with(extension("2.5.29.17", false, &many(0x86, false, 1000)));
    assert_eq!(one.find(), Err("chain.limit"));
}

/// What is inside an encoding of more than 255 octets.
struct Element<'a>(&'a [u8]);

impl<'a> Element<'a> {
    fn contents(&self) -> &'a [u8] {
        &self.0[4..]
    }
}

const ANY: &str = "2.5.29.32.0";
const BAD: Result<usize, &str> = Err("chain.policy");

/// What the one in the middle and the signer say, and what comes of it.
type Policies<'a> = (&'a [Vec<u8>], &'a [Vec<u8>], Result<usize, &'static str>);

#[test]
fn policies_hold_where_somebody_requires_one() {
    let policies = |list: &[&str]| {
        let list: Vec<_> = list.iter().map(|policy| tlv(0x30, &[&oid(policy)])).collect();
        extension("2.5.29.32", false, &sequence(&list))
    };
    let explicit = |after: u8| extension("2.5.29.36", true, &tlv(0x30, &[&[0x80, 1, after]]));
    let mapping = |from, to| {
        let pair = tlv(0x30, &[&oid(from), &oid(to)]);
        extension("2.5.29.33", true, &tlv(0x30, &[&pair]))
    };
    let no_mapping = || extension("2.5.29.36", true, &tlv(0x30, &[&[0x80, 1, 0], &[0x81, 1, 0]]));
    let no_any = |after: u8| extension("2.5.29.54", true, &integer(&[after]));
    let cases: &[Policies<'_>] = &[
        // Nobody requires one.
        (&[policies(&["1.2.1"])], &[policies(&["1.2.2"])], Ok(3)),
        (&[], &[], Ok(3)),
        // Somebody does.
        (&[policies(&["1.2.1"]), explicit(0)], &[policies(&["1.2.1"])], Ok(3)),
        (&[policies(&["1.2.1"]), explicit(0)], &[policies(&["1.2.2"])], BAD),
        (&[policies(&["1.2.1"]), explicit(0)], &[], BAD),
        (&[explicit(0)], &[policies(&["1.2.1"])], BAD),
        (&[policies(&["1.2.1"]), explicit(1)], &[policies(&["1.2.2"])], BAD),
        (&[policies(&["1.2.1"]), explicit(2)], &[policies(&["1.2.2"])], Ok(3)),
        (&[policies(&["1.2.1"])], &[policies(&["1.2.2"]), explicit(0)], BAD),
        (&[policies(&["1.2.1"])], &[policies(&["1.2.1"]), explicit(0)], Ok(3)),
        // anyPolicy stands for all, until it is inhibited.
        (&[policies(&[ANY]), explicit(0)], &[policies(&["1.2.2"])], Ok(3)),
        (&[policies(&["1.2.1"]), explicit(0)], &[policies(&[ANY])], Ok(3)),
        (&[policies(&["1.2.1"]), explicit(0), no_any(0)], &[policies(&[ANY])], BAD),
        (&[policies(&["1.2.1"]), explicit(0), no_any(1)], &[policies(&[ANY])], Ok(3)),
        // Mappings.
        (
            &[policies(&["1.2.1"]), explicit(0), mapping("1.2.1", "1.2.2")],
            &[policies(&["1.2.2"])],
            Ok(3),
        ),
        (
            &[policies(&["1.2.1"]), explicit(0), mapping("1.2.1", "1.2.2")],
            &[policies(&["1.2.1"])],
            BAD,
        ),
        (
            &[policies(&["1.2.1"]), explicit(0), mapping("1.2.3", "1.2.2")],
            &[policies(&["1.2.2"])],
            BAD,
        ),
        (
            &[policies(&[ANY]), explicit(0), mapping("1.2.3", "1.2.2")],
            &[policies(&["1.2.2"])],
            Ok(3),
        ),
        (&[policies(&[ANY]), mapping(ANY, "1.2.2")], &[], BAD),
        (&[policies(&["1.2.1"]), mapping("1.2.1", ANY)], &[], BAD),
        // Inhibited from the next certificate on: this one may still map.
        (
            &[policies(&["1.2.1"]), no_mapping(), mapping("1.2.1", "1.2.2")],
            &[policies(&["1.2.2"])],
            Ok(3),
        ),
    ];
    for (position, (middle, signer, expected)) in cases.iter().enumerate() {
        let mut one = three();
        one.middle.extensions.extend_from_slice(middle);
        one.signer.extensions.extend_from_slice(signer);
        assert_eq!(one.find(), *expected, "{position}");
    }

    // The second certificate in the middle may not map, and has what it mapped taken away.
    let (root, signer) = (Draft::authority("root", "root", 1).by(1), "1.2.2");
    let signer = Draft::signer("signer", "b", 4).with(policies(&[signer])).by(3);
    let first = Draft::authority("a", "root", 2).with(policies(&["1.2.1"])).with(no_mapping());
    let second = Draft::authority("b", "a", 3).with(policies(&["1.2.1"]));
    let second = second.with(mapping("1.2.1", "1.2.2"));
    assert_eq!(find(&signer, &[first.by(1), second.by(2)], &root, AT), BAD);
}

#[test]
fn the_search_turns_back() {
    // Two certificates of one authority and key: one has expired, one leads to a root nobody knows.
    let root = Draft::authority("root", "root", 1).by(1);
    let signer = Draft::signer("signer", "middle", 3).by(2);
    let expired =
        Draft::authority("middle", "root", 2).valid("20200101000000Z", "20210101000000Z").by(1);
    let elsewhere = Draft::authority("middle", "elsewhere", 2).by(9);
    let good = Draft::authority("middle", "root", 2).by(1);
    let bag = [expired.clone(), elsewhere.clone(), good];
    assert_eq!(find(&signer, &bag, &root, AT), Ok(3));
    // The attempt that came farthest is the one that is told about.
    assert_eq!(find(&signer, &bag[..2], &root, AT), Err("chain.no-path"));
    assert_eq!(find(&signer, &bag[..1], &root, AT), Err("validity.issuer"));
    let unrelated = Draft::authority("middle", "root", 7).by(1);
    assert_eq!(find(&signer, &[unrelated, expired], &root, AT), Err("validity.issuer"));
}

#[test]
fn key_identifiers_only_order_the_search() {
    let own = |id: &[u8]| extension("2.5.29.14", false, &tlv(4, &[id]));
    let issuers = |id: &[u8]| extension("2.5.29.35", false, &tlv(0x30, &[&tlv(0x80, &[id])]));
    let mut one = three();
    one.signer = one.signer.with(issuers(b"wrong"));
    one.middle = one.middle.with(own(b"right"));
    assert_eq!(one.find(), Ok(3));
    // Seventy of the name, and the identifier leads to the one.
    let signer = Draft::signer("signer", "middle", 3).with(issuers(b"one")).by(2);
    let mut bag: Vec<_> =
        (10..80).map(|key| Draft::authority("middle", "root", key).by(1)).collect();
    bag.push(Draft::authority("middle", "root", 2).with(own(b"one")).by(1));
    assert_eq!(find(&signer, &bag, &one.root.by(1), AT), Ok(3));
}

#[test]
fn the_work_is_bounded() {
    let root = Draft::authority("root", "root", 1).by(1);
    // Every one issued every other, so there are more ways than anybody could go.
    let pairs = (10..16).flat_map(|key| (10..16).map(move |issuer| (key, issuer)));
    let everyone: Vec<_> =
        pairs.map(|(key, issuer)| Draft::authority("middle", "middle", key).by(issuer)).collect();
    let signer = Draft::signer("signer", "middle", 3).by(10);
    assert_eq!(find(&signer, &everyone, &root, AT), Err("chain.limit"));
    let strangers: Vec<_> =
        (10..=80).map(|key| Draft::authority("middle", "root", key).by(1)).collect();
    let signer = Draft::signer("signer", "middle", 3).by(9);
    assert_eq!(find(&signer, &strangers, &root, AT), Err("chain.limit"));
    assert_eq!(
        find(&signer, &strangers[..MAX_SIGNATURE_CHECKS - 1], &root, AT),
        Err("chain.signature")
    );
    let too_many = vec![root.clone(); MAX_CANDIDATES + 1];
    let roots = [Root::new(root)];
    let many = find_path(&signer, &too_many, &roots, time(AT), Sha1::Refused);
    assert_eq!(many.unwrap_err().fault(), PathFault::Limit);
}

#[test]
fn a_path_has_eight_certificates() {
    let chain = |length: u8| {
        let middles = (1..length - 1).map(|key| {
            Draft::authority(&format!("{}", key + 1), &key.to_string(), key + 1).by(key)
        });
        let middles: Vec<_> = middles.collect();
        let root = Draft::authority("1", "1", 1).by(1);
        let last = length - 1;
        let signer = Draft::signer("signer", &last.to_string(), 100).by(last);
        find(&signer, &middles, &root, AT)
    };
    assert_eq!(chain(8), Ok(MAX_PATH_CERTIFICATES));
    assert_eq!(chain(9), Err("chain.limit"));
}

#[test]
fn names_are_followed_without_a_look_at_keys() {
    let signer = Draft::signer("signer", "middle", 3).by(9);
    let middle = Draft::authority("Middle", "root", 2).by(9);
    let cross = Draft::authority("middle", "cross", 2).by(9);
    let stranger = Draft::authority("stranger", "elsewhere", 2).by(9);
    let around = Draft::authority("root", "middle", 2).by(9);
    let bag = [stranger, around, cross, middle];
    let names: Vec<_> = issuer_names(&signer, &bag).iter().map(ToString::to_string).collect();
    assert_eq!(names, ["CN=signer", "CN=middle", "CN=cross", "CN=root"]);
    let own = Draft { not_before: utc_time("250101000000Z"), ..Draft::signer("a", "a", 1) }.by(1);
    assert_eq!(issuer_names(&own, &[]).len(), 2);
    let many: Vec<_> = (0..200)
        .map(|number| Draft::authority(&number.to_string(), &(number + 1).to_string(), 1).by(1))
        .collect();
    let signer = Draft::signer("signer", "0", 3).by(9);
    assert_eq!(issuer_names(&signer, &many).len(), 64);
}

#[test]
fn no_changed_bit_of_a_certificate_goes_unnoticed() {
    let Three { middle, signer, .. } = three();
    let (middle, der) = (middle.by(1), signer.der(2));
    assert_eq!(find(&Certificate::parse(&der).unwrap(), &[], &middle, AT), Ok(2));
    for position in 0..der.len() {
        let mut changed = der.clone();
        changed[position] ^= 1 << (position % 8);
        if let Ok(signer) = Certificate::parse(&changed) {
            assert!(find(&signer, &[], &middle, AT).is_err(), "{position}");
        }
    }
}
