//! What lists say, and what is made of all of it.

mod ocsp;

use super::super::path::{Root, find_path};
use super::super::testing::{
    Draft, NULL, basic_constraints, ecdsa_sha256, extension, generalized_time, integer, key_usage,
    list as sequence_or_nothing, name, oid, sequence, signed, time, tlv, utc_time, wrapped,
};
use super::*;
use ocsp::{Answer, answer_of, ocsp};

const AT: &str = "20260101000000Z";
const LATER: &str = "20260601000000Z";
const EARLIER: &str = "20250601000000Z";

/// A CRL to be: of the authority that issued the signer, unless said otherwise.
#[derive(Clone)]
struct List {
    issuer: Vec<u8>,
    key: u8,
    this_update: Vec<u8>,
    entries: Vec<Vec<u8>>,
    extensions: Vec<Vec<u8>>,
    algorithm: Vec<u8>,
}

fn list(this_update: &str) -> List {
    List {
        issuer: name(&["middle"]),
        key: 2,
        this_update: generalized_time(this_update),
        entries: Vec::new(),
        extensions: Vec::new(),
        algorithm: ecdsa_sha256(),
    }
}

fn entry(serial: &[u8], date: &str, extensions: &[Vec<u8>]) -> Vec<u8> {
    sequence(&[tlv(2, &[serial]), generalized_time(date), sequence_or_nothing(extensions)])
}

fn reason(number: u8) -> Vec<u8> {
    extension("2.5.29.21", false, &tlv(10, &[&[number]]))
}

impl List {
    fn revoking(mut self, date: &str, extensions: &[Vec<u8>]) -> Self {
        self.entries.push(entry(&[99], date, extensions));
        self.entries.push(entry(&[3], date, extensions));
        self
    }

    fn with(mut self, extension: Vec<u8>) -> Self {
        self.extensions.push(extension);
        self
    }

    fn der(&self) -> Vec<u8> {
        let tbs = sequence(&[
            integer(&[1]),
            self.algorithm.clone(),
            self.issuer.clone(),
            self.this_update.clone(),
            utc_time("300101000000Z"),
            sequence_or_nothing(&self.entries),
            wrapped(0xa0, &self.extensions),
        ]);
        signed(&tbs, self.key, &[])
    }

    fn crl(&self) -> Crl {
        Crl::parse(&self.der()).unwrap()
    }
}

/// Root (key 1), middle (2), signer (3, serial number 3), and the rules.
struct World {
    root: Certificate,
    middle: Certificate,
    signer: Certificate,
    rules: RevocationRules,
}

fn world() -> World {
    World {
        root: Draft::authority("root", "root", 1).by(1),
        middle: Draft::authority("middle", "root", 2).by(1),
        signer: Draft::signer("signer", "middle", 3).by(2),
        rules: RevocationRules { mode: RevocationMode::Supplied, ..Default::default() },
    }
}

impl World {
    fn check(&self, evidence: &Evidence) -> Result<Stance, RevocationError> {
        let (middles, roots) = ([self.middle.clone()], [Root::new(self.root.clone())]);
        let path = find_path(&self.signer, &middles, &roots, time(AT), Sha1::Refused).unwrap();
        check_revocation(&path, time(AT), evidence, &self.rules)
    }

    /// What is shown of the signer at the instant, or the reason.
    fn signer(&self, crls: &[List], ocsp: &[Vec<u8>]) -> Result<Known, &'static str> {
        let crls = crls.iter().map(List::crl).collect();
        let ocsp = ocsp.iter().map(|der| OcspResponse::parse(der).unwrap()).collect();
        match self.check(&Evidence { crls, ocsp }) {
            Ok(Stance::Checked(statuses)) => Ok(statuses[0].good.filter(|_| statuses[0].covers)),
            Ok(Stance::NotChecked) => panic!("not checked"),
            Err(error) => Err(error.reason()),
        }
    }
}

type Known = Option<(GenTime, EvidenceKind)>;

#[allow(clippy::unnecessary_wraps, reason = "it is compared with what may fail")]
fn known(at: &str, kind: EvidenceKind) -> Result<Known, &'static str> {
    Ok(Some((time(at), kind)))
}

const REVOKED: Result<Known, &str> = Err("revoked.signer");
const NOTHING: Result<Known, &str> = Ok(None);

#[test]
fn a_list_shows_what_was_good_when_it_was_issued() {
    let world = world();
    assert_eq!(world.signer(&[], &[]), NOTHING);
    assert_eq!(world.signer(&[list(LATER)], &[]), known(LATER, EvidenceKind::Crl));
    assert_eq!(world.signer(&[list(AT)], &[]), known(AT, EvidenceKind::Crl));
    assert_eq!(world.signer(&[list("20251231235959Z")], &[]), NOTHING);
    let lists = [list(AT), list(LATER), list(EARLIER)];
    assert_eq!(world.signer(&lists, &[]), known(LATER, EvidenceKind::Crl));
}

#[test]
fn an_older_list_is_told_but_shows_nothing() {
    let mut world = world();
    let older = Evidence { crls: vec![list(EARLIER).crl()], ..Evidence::default() };
    let Ok(Stance::Checked(statuses)) = world.check(&older) else { panic!("not checked") };
    assert_eq!(statuses[0].good, Some((time(EARLIER), EvidenceKind::Crl)));
    assert!(!statuses[0].covers);
    world.rules.mode = RevocationMode::Required;
    assert_eq!(world.check(&older).unwrap_err().reason(), "revocation.unknown");
}

#[test]
fn evidence_that_nobody_can_have_yet_is_passed_over() {
    let mut world = world();
    world.rules.until = Some(time(AT));
    assert_eq!(world.signer(&[list(LATER)], &[]), NOTHING);
    assert_eq!(world.signer(&[list(LATER).revoking(EARLIER, &[])], &[]), NOTHING);
    assert_eq!(world.signer(&[list(AT)], &[]), known(AT, EvidenceKind::Crl));
}

#[test]
fn reasons_decide_which_tokens_are_bad() {
    let world = world();
    for (number, before, after) in [
        (Some(0), Ok(()), Err(())),
        (Some(1), Err(()), Err(())),
        (Some(2), Err(()), Err(())),
        (Some(3), Ok(()), Err(())),
        (Some(4), Ok(()), Err(())),
        (Some(5), Ok(()), Err(())),
        (Some(6), Err(()), Err(())),
        (Some(8), Err(()), Err(())),
        (Some(9), Err(()), Err(())),
        (Some(10), Err(()), Err(())),
        (None, Err(()), Err(())),
    ] {
        let extensions: Vec<_> = number.map(reason).into_iter().collect();
        for (date, expected) in [("20260201000000Z", before), (AT, after), (EARLIER, after)] {
            let crl = list(LATER).revoking(date, &extensions);
            let expected = expected.map_or(REVOKED, |()| known(LATER, EvidenceKind::Crl));
            assert_eq!(world.signer(&[crl], &[]), expected, "{number:?} {date}");
            let revoked = answer_of(Some((date, number)));
            let expected = expected.map(|known| known.map(|(at, _)| (at, EvidenceKind::Ocsp)));
            assert_eq!(world.signer(&[], &[ocsp(&revoked)]), expected, "{number:?} {date}");
        }
    }
    // The table of the formats knows a time before an unexplained revocation.
    let mut lenient = self::world();
    lenient.rules.unexplained = UnexplainedRevocation::ByDate;
    let unexplained = |date| [list(LATER).revoking(date, &[])];
    assert_eq!(lenient.signer(&unexplained(LATER), &[]), known(LATER, EvidenceKind::Crl));
    assert_eq!(lenient.signer(&unexplained(AT), &[]), REVOKED);
}

#[test]
fn whatever_revokes_outweighs() {
    let world = world();
    // A revocation stays one, however old the list; a hold may be lifted.
    let old = list(EARLIER).revoking(EARLIER, &[reason(4)]);
    assert_eq!(world.signer(&[list(LATER), old], &[]), REVOKED);
    let hold = |at| list(at).revoking(EARLIER, &[reason(6)]);
    assert_eq!(world.signer(&[hold(EARLIER), list(LATER)], &[]), known(LATER, EvidenceKind::Crl));
    assert_eq!(world.signer(&[list(AT), hold(LATER)], &[]), REVOKED);
    let good = ocsp(&answer_of(None));
    assert_eq!(
        world.signer(&[hold(EARLIER)], std::slice::from_ref(&good)),
        known(LATER, EvidenceKind::Ocsp)
    );
    let revoked = list(EARLIER).revoking(EARLIER, &[reason(4)]);
    assert_eq!(world.signer(&[revoked], &[good]), REVOKED);
    // Two entries of one certificate: both count.
    let mut twice = list(LATER).revoking("20260201000000Z", &[reason(4)]);
    twice.entries.push(entry(&[3], "20260201000000Z", &[reason(1)]));
    assert_eq!(world.signer(&[twice], &[]), REVOKED);
    // Serial numbers are numbers; invalidityDate may be the earlier one.
    let mut padded = list(LATER);
    padded.entries.push(entry(&[0, 0, 3], EARLIER, &[reason(4)]));
    assert_eq!(world.signer(&[padded], &[]), REVOKED);
    let invalid = extension("2.5.29.24", false, &generalized_time(EARLIER));
    let entries = [reason(4), invalid];
    assert_eq!(world.signer(&[list(LATER).revoking(LATER, &entries)], &[]), REVOKED);
    let unreadable = [reason(4), extension("2.5.29.24", false, NULL)];
    assert_eq!(world.signer(&[list(LATER).revoking(LATER, &unreadable)], &[]), REVOKED);
    let unreadable = [extension("2.5.29.21", false, NULL)];
    assert_eq!(world.signer(&[list(LATER).revoking(LATER, &unreadable)], &[]), REVOKED);
}

#[test]
fn lists_of_others_are_passed_over() {
    let world = world();
    let revoking = || list(LATER).revoking(EARLIER, &[reason(1)]);
    assert_eq!(world.signer(&[revoking()], &[]), REVOKED);
    let scope = |parts: &[&[u8]]| extension("2.5.29.28", true, &tlv(0x30, parts));
    let point = |uri: &[u8]| tlv(0xa0, &[&tlv(0xa0, &[&tlv(0x86, &[uri])])]);
    let certificate_issuer = extension("2.5.29.29", true, &tlv(0x30, &[]));
    for passed_over in [
        List { issuer: name(&["root"]), ..revoking() },
        List { key: 1, ..revoking() },
        revoking().with(extension("1.2.3.4", true, NULL)),
        revoking().with(scope(&[&[0x82, 1, 0xff]])),
        revoking().with(scope(&[&[0x84, 1, 0xff]])),
        revoking().with(scope(&[&[0x85, 1, 0xff]])),
        revoking().with(scope(&[&point(b"http://crl.example/other.crl")])),
        revoking().with(scope(&[NULL])),
        // Whatever comes after doesn't mend it.
        revoking().with(extension("1.2.3.4", true, NULL)).with(scope(&[])),
        list(LATER).revoking(EARLIER, &[reason(1), certificate_issuer.clone()]),
        list(LATER).revoking(EARLIER, &[reason(1), extension("1.2.3.4", true, NULL)]),
    ] {
        assert_eq!(world.signer(&[passed_over], &[]), NOTHING);
    }
    for counting in [
        revoking().with(scope(&[])),
        revoking().with(scope(&[&[0x81, 1, 0xff]])),
        revoking().with(extension("1.2.3.4", false, NULL)),
        revoking().with(extension("2.5.29.20", false, &integer(&[7]))),
        List { issuer: name(&["MIDDLE"]), ..revoking() },
        List { this_update: utc_time("260601000000Z"), ..revoking() },
    ] {
        assert_eq!(world.signer(&[counting], &[]), REVOKED);
    }
    // A delta, or a list for some reasons, clears nobody; whom it names is revoked all the same.
    let delta = extension("2.5.29.27", true, &integer(&[1]));
    for partial in [delta, scope(&[&[0x83, 2, 0, 0x40]])] {
        let with = |list: List| list.with(partial.clone());
        assert_eq!(world.signer(&[with(revoking())], &[]), REVOKED);
        assert_eq!(world.signer(&[with(list(LATER))], &[]), NOTHING);
        let removed = list(LATER).revoking(EARLIER, &[reason(8)]);
        assert_eq!(world.signer(&[with(removed)], &[]), NOTHING);
        let superseded = || with(list(LATER).revoking(LATER, &[reason(4)]));
        assert_eq!(world.signer(&[superseded()], &[]), NOTHING);
        assert_eq!(world.signer(&[superseded(), list(AT)], &[]), known(AT, EvidenceKind::Crl));
    }
    // A list of one place counts for those that name it.
    let place = tlv(0x30, &[&tlv(0x30, &[&point(b"http://crl.example/a.crl")])]);
    let signer = Draft::signer("signer", "middle", 3).with(extension("2.5.29.31", false, &place));
    let named = World { signer: signer.by(2), ..self::world() };
    let listed = revoking().with(scope(&[&point(b"http://crl.example/a.crl")]));
    assert_eq!(named.signer(&[listed], &[]), REVOKED);
    // Places have names of other forms, too, and every certificate names its issuer as one.
    let directory = |text| tlv(0xa0, &[&tlv(0xa0, &[&tlv(0xa4, &[&name(&[text])])])]);
    let place = tlv(0x30, &[&tlv(0x30, &[&directory("CRL 1")])]);
    let signer = Draft::signer("signer", "middle", 3).with(extension("2.5.29.31", false, &place));
    let named = World { signer: signer.by(2), ..self::world() };
    for (text, expected) in [("crl 1", REVOKED), ("CRL 2", NOTHING), ("middle", REVOKED)] {
        assert_eq!(named.signer(&[revoking().with(scope(&[&directory(text)]))], &[]), expected);
    }
    // Whose key usage is known and has no cRLSign signs none.
    let middle = Draft::new("middle", "root", 2).with(basic_constraints(true, None));
    for (middle, expected) in [(middle.clone().with(key_usage(&[5])), NOTHING), (middle, REVOKED)] {
        let world = World { middle: middle.by(1), ..self::world() };
        assert_eq!(world.signer(&[revoking()], &[]), expected);
    }
}

#[test]
fn an_expired_certificate_may_have_been_dropped() {
    let signer = Draft::signer("signer", "middle", 3).valid(EARLIER, "20260301000000Z").by(2);
    let world = World { signer, ..world() };
    assert_eq!(
        world.signer(&[list("20260301000000Z")], &[]),
        known("20260301000000Z", EvidenceKind::Crl)
    );
    assert_eq!(world.signer(&[list(LATER)], &[]), NOTHING);
    let kept = |since| extension("2.5.29.60", false, &generalized_time(since));
    let keeping = list(LATER).with(kept("20260301000000Z"));
    assert_eq!(world.signer(&[keeping], &[]), known(LATER, EvidenceKind::Crl));
    assert_eq!(world.signer(&[list(LATER).with(kept("20260301000001Z"))], &[]), NOTHING);
    let listed = list(LATER).revoking(EARLIER, &[reason(4)]);
    assert_eq!(world.signer(&[listed], &[]), REVOKED);

    let good = |extensions: &[Vec<u8>]| {
        ocsp(&Answer { extensions: extensions.to_vec(), ..answer_of(None) })
    };
    assert_eq!(world.signer(&[], &[good(&[])]), NOTHING);
    let cutoff = |since| extension("1.3.6.1.5.5.7.48.1.6", false, &generalized_time(since));
    assert_eq!(world.signer(&[], &[good(&[cutoff(EARLIER)])]), known(LATER, EvidenceKind::Ocsp));
    assert_eq!(world.signer(&[], &[good(&[cutoff(LATER)])]), NOTHING);
}

#[test]
fn issuers_are_looked_at_like_the_signer() {
    let world = world();
    let above = |list: List| List { issuer: name(&["root"]), key: 1, ..list };
    let mut revoking = above(list(LATER));
    revoking.entries.push(entry(&[2], LATER, &[reason(1)]));
    let evidence = Evidence { crls: vec![revoking.crl()], ocsp: Vec::new() };
    let error = world.check(&evidence).unwrap_err();
    assert_eq!((error.code().as_str(), error.reason()), ("TSA.REVOKED", "revoked.issuer"));
    // Lists of users alone don't name it, lists of authorities alone don't name the signer.
    let only = |field: u8| extension("2.5.29.28", true, &tlv(0x30, &[&[field, 1, 0xff]]));
    let crls = |list: List| Evidence { crls: vec![list.crl()], ocsp: Vec::new() };
    assert!(world.check(&crls(revoking.clone().with(only(0x82)))).is_err());
    assert!(world.check(&crls(revoking.with(only(0x81)))).is_ok());

    let both = Evidence { crls: vec![list(LATER).crl(), above(list(AT)).crl()], ocsp: vec![] };
    let Ok(Stance::Checked(statuses)) = world.check(&both) else { panic!() };
    let digests: Vec<_> = statuses.iter().map(|status| status.certificate).collect();
    assert_eq!(digests, [world.signer.fingerprint(), world.middle.fingerprint()]);
    assert_eq!(statuses[1].good, Some((time(AT), EvidenceKind::Crl)));
}

#[test]
fn what_is_required_has_to_be_there() {
    let mut world = world();
    let above = List { issuer: name(&["root"]), key: 1, ..list(AT) };
    let crls =
        |lists: &[List]| Evidence { crls: lists.iter().map(List::crl).collect(), ocsp: Vec::new() };
    world.rules.mode = RevocationMode::None;
    let revoking = list(LATER).revoking(EARLIER, &[reason(1)]);
    assert_eq!(world.check(&crls(&[revoking])), Ok(Stance::NotChecked));
    world.rules.mode = RevocationMode::Required;
    let unknown = |certificate: &Certificate| {
        Err(RevocationError::Unknown { certificate: certificate.fingerprint() })
    };
    assert_eq!(world.check(&crls(&[])), unknown(&world.signer));
    assert_eq!(world.check(&crls(&[list(EARLIER), above.clone()])), unknown(&world.signer));
    assert_eq!(world.check(&crls(&[list(AT)])), unknown(&world.middle));
    assert!(world.check(&crls(&[list(AT), above])).is_ok());
    world.rules.scope = RevocationScope::Signer;
    assert!(world.check(&crls(&[list(AT)])).is_ok());

    // Nobody vouches for a signer that is itself the anchor.
    let roots = [Root::new(world.signer.clone())];
    let path = find_path(&world.signer, &[], &roots, time(AT), Sha1::Refused).unwrap();
    let check = |mode| {
        let rules = RevocationRules { mode, ..world.rules };
        check_revocation(&path, time(AT), &crls(&[list(AT)]), &rules)
    };
    assert_eq!(check(RevocationMode::Required), unknown(&world.signer));
    let Ok(Stance::Checked(statuses)) = check(RevocationMode::Supplied) else { panic!() };
    assert_eq!((statuses.len(), statuses[0].good), (1, None));

    let many = Evidence { crls: vec![list(AT).crl(); MAX_EVIDENCE + 1], ocsp: Vec::new() };
    let limit = RevocationError::Limit { limit: MAX_EVIDENCE };
    assert_eq!(world.check(&many), Err(limit));
    // Lists of others are passed over, however many there are.
    let stranger = List { issuer: name(&["stranger"]), ..list(AT) }.crl();
    let mut crls = vec![stranger; MAX_EVIDENCE + 1];
    crls.push(list(AT).crl());
    assert!(world.check(&Evidence { crls, ocsp: Vec::new() }).is_ok());
    assert_eq!(
        (limit.code().as_str(), limit.reason()),
        ("TSA.REVOCATION_UNKNOWN", "revocation.unknown")
    );
}

#[test]
fn bytes_that_are_no_list() {
    let form = EvidenceError::Form { what: "a CRL" };
    let der = list(LATER).revoking(EARLIER, &[reason(1)]).der();
    for end in 0..der.len() {
        assert_eq!(Crl::parse(&der[..end]).unwrap_err(), form, "{end}");
    }
    let with = |entry: Vec<u8>| Crl::parse(&List { entries: vec![entry], ..list(LATER) }.der());
    for entry in [
        NULL.to_vec(),
        sequence(&[integer(&[3])]),
        sequence(&[integer(&[3]), utc_time("2601010000Z")]),
        sequence(&[integer(&[3]), utc_time("260101000000Z"), NULL.to_vec()]),
        sequence(&[integer(&[3]), utc_time("260101000000Z"), sequence(&[NULL.to_vec()])]),
    ] {
        assert_eq!(with(entry.clone()).unwrap_err(), form, "{entry:x?}");
    }
    let two = List { algorithm: tlv(0x30, &[&oid("1.2.840.10045.4.3.3")]), ..list(LATER) };
    assert_eq!(Crl::parse(&two.der()).unwrap_err(), form);
    let bytes = MAX_CRL_BYTES + 1;
    let limit = EvidenceError::Length { bytes, limit: MAX_CRL_BYTES };
    assert_eq!(Crl::parse(&vec![0; bytes]).unwrap_err(), limit);
}

#[test]
fn a_long_list_is_read_where_it_stands() {
    let mut long = list(LATER);
    let number = |number: u32| [&[1], number.to_be_bytes().as_slice()].concat();
    long.entries = (0..100_000).map(|serial| entry(&number(serial), EARLIER, &[])).collect();
    assert_eq!(world().signer(std::slice::from_ref(&long), &[]), known(LATER, EvidenceKind::Crl));
    long.entries.push(entry(&[3], EARLIER, &[]));
    assert_eq!(world().signer(&[long], &[]), REVOKED);
}

#[test]
fn files_hold_lists() {
    let (one, two) = (list(AT).der(), list(LATER).der());
    let pem = |der: &[u8]| {
        pem_rfc7468::encode_string("X509 CRL", pem_rfc7468::LineEnding::LF, der).unwrap()
    };
    let count = |bytes: &[u8]| read_crls(bytes).map(|found| found.len());
    assert_eq!(count(&one), Ok(1));
    assert_eq!(count(format!("{}text\n{}", pem(&one), pem(&two)).as_bytes()), Ok(2));
    assert_eq!(count(b"text"), Err(EvidenceError::Pem));
    assert_eq!(count(pem(NULL).as_bytes()), Err(EvidenceError::Form { what: "a CRL" }));
    let limit = EvidenceError::Count { limit: MAX_EVIDENCE };
    assert_eq!(count(pem(&one).repeat(MAX_EVIDENCE + 1).as_bytes()), Err(limit));
    let bytes = MAX_CRL_BYTES / 2 * 3 + 1;
    let limit = EvidenceError::Length { bytes, limit: bytes - 1 };
    assert_eq!(count(&vec![b'x'; bytes]), Err(limit));
}

#[test]
fn no_changed_bit_of_evidence_goes_unnoticed() {
    let world = world();
    let listed = list(LATER).revoking(EARLIER, &[reason(1)]).der();
    let answered = ocsp(&answer_of(Some((EARLIER, Some(1)))));
    let with = |der: &[u8], is_list| {
        let mut evidence = Evidence::default();
        if is_list {
            evidence.crls.extend(Crl::parse(der).ok());
        } else {
            evidence.ocsp.extend(OcspResponse::parse(der).ok());
        }
        world.check(&evidence).map(|stance| match stance {
            Stance::Checked(statuses) => statuses[0].good,
            Stance::NotChecked => None,
        })
    };
    for (der, is_list) in [(listed, true), (answered, false)] {
        assert!(with(&der, is_list).is_err());
        for position in 0..der.len() {
            let mut changed = der.clone();
            changed[position] ^= 1 << (position % 8);
            assert_eq!(with(&changed, is_list), Ok(None), "{position}");
        }
    }
}

#[test]
fn the_list_of_the_corpus_is_read() {
    let Some(corpus) = std::env::var_os("ANCHORLOG_CORPUS") else {
        println!("skipped: ANCHORLOG_CORPUS is not set");
        return;
    };
    let path = std::path::Path::new(&corpus).join("gad/_shared/trust-crl/tsa-a.crl");
    let crl = Crl::parse(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(crl.issuer().to_string(), "CN=TSA CA,O=Example TSA A");
    assert_eq!(crl.this_update(), time("20261001000000Z"));
}
