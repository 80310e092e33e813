//! The grammar refusal by refusal, quorums against a slow model, and what must hold for any bytes.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::checkpoint::Checkpoint;
use crate::cosignature::CosignerKey;
use crate::note::{
    KeyError, KeyName, NoteSignature, NoteSigner, SignatureAlgorithm, SignatureFault, SignedNote,
};

const CHECKPOINT: &str = "log.example\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

fn log(seed: u8) -> NoteSigner {
    NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [seed; 32])
}

fn witness(number: u8) -> CosignerKey {
    let name = KeyName::new(&format!("witness{number}.example")).unwrap();
    CosignerKey::from_seed(name, [100 + number; 32])
}

fn log_line(seed: u8) -> String {
    format!("log {}\n", log(seed).verifier_key())
}

fn witness_lines(numbers: impl IntoIterator<Item = u8>) -> String {
    let line = |number| format!("witness w{number} {}\n", witness(number).verifier_key());
    numbers.into_iter().map(line).collect()
}

/// A policy with one log and witnesses w1 to w6.
fn policy(rest: &str) -> TlogPolicy {
    let text = format!("{}{}{rest}", log_line(1), witness_lines(1..=6));
    TlogPolicy::parse(text.as_bytes()).unwrap()
}

/// The log's checkpoint with cosignatures by these witnesses at these times.
fn signed(cosignatures: &[(u8, u64)]) -> SignedCheckpoint {
    let cosignatures =
        cosignatures.iter().map(|&(w, time)| witness(w).cosign(CHECKPOINT, time).unwrap());
    with_lines([log(1).sign(CHECKPOINT)].into_iter().chain(cosignatures).collect())
}

fn with_lines(lines: Vec<NoteSignature>) -> SignedCheckpoint {
    SignedCheckpoint::from_note(SignedNote::new(CHECKPOINT.to_owned(), lines).unwrap()).unwrap()
}

fn refused(text: &[u8]) -> PolicyError {
    TlogPolicy::parse(text).unwrap_err()
}

#[test]
fn the_whole_language_is_read() {
    let key1 = log(1).verifier_key().to_string();
    let text = [
        b"# comment \xff\xfe\n\n \t\n  # indented comment\n".to_vec(),
        format!("log {key1} https://log.example/\n").into_bytes(),
        format!("\tlog \t {}  \n", log(2).verifier_key()).into_bytes(),
        witness_lines(1..=5).into_bytes(),
        [b"witness K\xe2\x84\xaa ", witness(6).verifier_key().to_string().as_bytes(), b" #url\n"]
            .concat(),
        b"group X 2 w1 w2 w3\ngroup # any w4\ngroup all all X #\nquorum all\ngroup Z any w5\n"
            .to_vec(),
    ]
    .concat();
    let policy = TlogPolicy::parse(&text).unwrap();
    assert_eq!(policy.logs().len(), 2);
    assert_eq!(policy.logs()[0].key().to_string(), key1);
    assert_eq!(policy.logs()[0].origin().as_str(), "log.example");
    assert_eq!(policy.logs()[0].url(), Some(&b"https://log.example/"[..]));
    assert_eq!(policy.logs()[1].url(), None);
    assert_eq!(policy.witnesses().len(), 6);
    assert_eq!(policy.witnesses()[5].name().as_bytes(), b"K\xe2\x84\xaa");
    assert_eq!(policy.witnesses()[5].name().to_string(), "K\\xe2\\x84\\xaa");
    assert_eq!(policy.witnesses()[5].url(), Some(&b"#url"[..]));
    let groups: Vec<_> = policy
        .groups()
        .iter()
        .map(|group| (group.name().to_string(), group.threshold(), group.members().to_vec()))
        .collect();
    let w = Member::Witness;
    assert_eq!(
        groups,
        [
            ("X".to_owned(), 2, vec![w(0), w(1), w(2)]),
            ("#".to_owned(), 1, vec![w(3)]),
            ("all".to_owned(), 2, vec![Member::Group(0), Member::Group(1)]),
            ("Z".to_owned(), 1, vec![w(4)]),
        ]
    );
    assert_eq!(policy.quorum(), Quorum::Of(Member::Group(2)));

    let least = TlogPolicy::parse(b"quorum none\n").unwrap();
    assert_eq!(least.quorum(), Quorum::None);
    assert!(least.logs().is_empty());
}

#[test]
fn every_rule_has_its_refusal_and_its_line() {
    let log_key = log(1).verifier_key().to_string();
    let witness_key = witness(1).verifier_key().to_string();
    let renamed = |key: &VerifierKey, algorithm| {
        let name = KeyName::new("other.example").unwrap();
        VerifierKey::new(name, algorithm, *key.public_key().ed25519().unwrap()).to_string()
    };
    let same_log = renamed(log(1).verifier_key(), SignatureAlgorithm::Ed25519);
    let same_witness = renamed(witness(1).verifier_key(), SignatureAlgorithm::CosignatureV1);
    let as_note_key = renamed(witness(1).verifier_key(), SignatureAlgorithm::Ed25519);
    let name = |name: &[u8]| PolicyName(Box::from(name));
    let long = "n".repeat(MAX_NAME_BYTES + 1);
    // Lines that come after `witness w1`, `witness w2` and `group g any w2`, as line 4.
    let table: Vec<(String, PolicyLineError)> = vec![
        ("quorum w1\r".into(), PolicyLineError::Byte { byte: b'\r' }),
        ("# comment \0".into(), PolicyLineError::Byte { byte: 0 }),
        ("quorum w1\x7f".into(), PolicyLineError::Byte { byte: 0x7f }),
        ("Quorum w1".into(), PolicyLineError::Keyword),
        ("quorums w1".into(), PolicyLineError::Keyword),
        ("quorum\u{a0}w1".into(), PolicyLineError::Keyword),
        ("log".into(), PolicyLineError::Words),
        (format!("log {log_key} url more"), PolicyLineError::Words),
        (format!("log {log_key} # comment"), PolicyLineError::Words),
        ("witness w3".into(), PolicyLineError::Words),
        (format!("witness w3 {witness_key} url more"), PolicyLineError::Words),
        ("group h".into(), PolicyLineError::Words),
        ("group h any".into(), PolicyLineError::Words),
        ("quorum".into(), PolicyLineError::Words),
        ("quorum w1 w2".into(), PolicyLineError::Words),
        ("log w".into(), PolicyLineError::Key(KeyError::Syntax)),
        ("witness w3 w".into(), PolicyLineError::Key(KeyError::Syntax)),
        (format!("log {witness_key}"), PolicyLineError::KeyAlgorithm),
        (format!("log {log_key}\nlog {log_key}"), PolicyLineError::DuplicateLog),
        (format!("log {log_key}\nlog {same_log}"), PolicyLineError::DuplicateLog),
        (format!("witness w3 {witness_key}"), PolicyLineError::DuplicateWitness),
        (format!("witness w3 {same_witness}"), PolicyLineError::DuplicateWitness),
        (format!("witness w3 {as_note_key}"), PolicyLineError::DuplicateWitness),
        (format!("witness {long} {}", witness(3).verifier_key()), PolicyLineError::NameTooLong),
        (format!("witness none {}", witness(3).verifier_key()), PolicyLineError::ReservedName),
        ("group none any w1".into(), PolicyLineError::ReservedName),
        ("group h any none".into(), PolicyLineError::ReservedName),
        (
            format!("witness w2 {}", witness(3).verifier_key()),
            PolicyLineError::DuplicateName { name: name(b"w2") },
        ),
        ("group w1 any w1".into(), PolicyLineError::DuplicateName { name: name(b"w1") }),
        ("group g any w1".into(), PolicyLineError::DuplicateName { name: name(b"g") }),
        ("group h any w9".into(), PolicyLineError::UndefinedName { name: name(b"w9") }),
        ("group h any h".into(), PolicyLineError::UndefinedName { name: name(b"h") }),
        ("group h any W1".into(), PolicyLineError::UndefinedName { name: name(b"W1") }),
        ("quorum w9".into(), PolicyLineError::UndefinedName { name: name(b"w9") }),
        ("group h any w1 w1".into(), PolicyLineError::MemberTwice { name: name(b"w1") }),
        ("group h any w1 w2".into(), PolicyLineError::MemberTwice { name: name(b"w2") }),
        ("group h some w1".into(), PolicyLineError::ThresholdForm),
        ("group h 01 w1".into(), PolicyLineError::ThresholdForm),
        ("group h -1 w1".into(), PolicyLineError::ThresholdForm),
        ("group h +1 w1".into(), PolicyLineError::ThresholdForm),
        ("group h 0 w1".into(), PolicyLineError::ThresholdRange { members: 1 }),
        ("group h 2 w1".into(), PolicyLineError::ThresholdRange { members: 1 }),
        ("group h 9223372036854775807 w1 g".into(), PolicyLineError::ThresholdRange { members: 2 }),
        ("quorum w1\nquorum w1".into(), PolicyLineError::SecondQuorum),
        ("quorum none\nquorum none".into(), PolicyLineError::SecondQuorum),
    ];
    let before = format!("{}group g any w2\n", witness_lines(1..=2));
    for (lines, reason) in table {
        let line = 4 + lines.matches('\n').count();
        let text = format!("{before}{lines}\nquorum none\n");
        assert_eq!(refused(text.as_bytes()), PolicyError::Line { line, reason }, "{lines:?}");
    }
    // Two keys, found by search, whose names and key IDs are the same.
    let colliding = [21_877_u64, 72_346].map(|number| {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        NoteSigner::from_seed(KeyName::new("n").unwrap(), seed).verifier_key().to_string()
    });
    let ambiguous = PolicyError::Line { line: 2, reason: PolicyLineError::AmbiguousKey };
    assert_eq!(refused(colliding.map(|key| format!("log {key}\n")).concat().as_bytes()), ambiguous);
    assert_eq!(refused(b""), PolicyError::NoQuorum);
    assert_eq!(refused(b"# quorum none\n"), PolicyError::NoQuorum);
    assert_eq!(refused(b"quorum none"), PolicyError::NoFinalNewline);
    let dup = format!("{before}witness w3 {same_witness}\n");
    assert_eq!(refused(dup.as_bytes()).code(), "LOG.WITNESS_DUP");
}

#[test]
fn limits_hold_at_their_edges() {
    let seed = |n: usize| {
        let mut seed = [1; 32];
        seed[..8].copy_from_slice(&u64::try_from(n).unwrap().to_le_bytes());
        NoteSigner::from_seed(KeyName::new("key.example").unwrap(), seed)
    };
    let lines = |count: usize, line: &dyn Fn(usize) -> String| {
        (0..count).map(line).collect::<Vec<_>>().concat()
    };
    let logs = |count| lines(count, &|n| format!("log {}\n", seed(n).verifier_key()));
    let witnesses = |count| lines(count, &|n| format!("witness {n} {}\n", seed(n).verifier_key()));
    // Each group has the one before as its only member, the first one has the witness 0.
    let groups = |count| {
        lines(count, &|n| match n {
            0 => "group g0 any 0\n".to_owned(),
            _ => format!("group g{n} any g{}\n", n - 1),
        })
    };
    let parse = |text: String| TlogPolicy::parse(format!("{text}quorum none\n").as_bytes());
    for count in [32, MAX_LOGS] {
        assert_eq!(parse(logs(count)).unwrap().logs().len(), count);
        assert_eq!(parse(witnesses(count)).unwrap().witnesses().len(), count);
        // As deep as groups can be nested.
        assert_eq!(parse(witnesses(1) + &groups(count)).unwrap().groups().len(), count);
    }
    let over = |line, reason| Err(PolicyError::Line { line, reason });
    assert_eq!(parse(logs(MAX_LOGS + 1)), over(MAX_LOGS + 1, PolicyLineError::TooManyLogs));
    assert_eq!(
        parse(witnesses(MAX_WITNESSES + 1)),
        over(MAX_WITNESSES + 1, PolicyLineError::TooManyWitnesses)
    );
    assert_eq!(
        parse(witnesses(1) + &groups(MAX_GROUPS + 1)),
        over(MAX_GROUPS + 2, PolicyLineError::TooManyGroups)
    );
    let filled = |bytes: usize| format!("quorum none\n#{}\n", "-".repeat(bytes - 14));
    assert!(TlogPolicy::parse(filled(MAX_POLICY_BYTES).as_bytes()).is_ok());
    assert_eq!(
        refused(filled(MAX_POLICY_BYTES + 1).as_bytes()),
        PolicyError::TooLarge { bytes: MAX_POLICY_BYTES + 1 }
    );
    let longest = "n".repeat(MAX_NAME_BYTES);
    let text = format!("witness {longest} {}\nquorum {longest}\n", witness(1).verifier_key());
    assert!(TlogPolicy::parse(text.as_bytes()).is_ok());
}

#[test]
fn a_log_of_the_policy_must_have_signed() {
    let none = policy("quorum none\n");
    let verdict = none.check(&signed(&[])).unwrap();
    assert_eq!(verdict.log_keys(), [log(1).verifier_key().clone()]);
    assert_eq!(verdict.checkpoint().checkpoint(), &Checkpoint::parse(CHECKPOINT).unwrap());
    assert_eq!(verdict.quorum(), QuorumOutcome::NotRequired);
    assert_eq!(verdict.quorum_time(), None);
    assert_eq!(none.verify(&signed(&[])).unwrap().verdict(), &verdict);

    let origin = Origin::new("log.example").unwrap();
    let refused =
        |policy: &TlogPolicy, signed: &SignedCheckpoint| policy.check(signed).unwrap_err();
    // The right key, under a name that is not the origin, is not a key of this log.
    let elsewhere = NoteSigner::from_seed(KeyName::new("else.example").unwrap(), [1; 32]);
    let text = format!("log {}\nquorum none\n", elsewhere.verifier_key());
    let other = TlogPolicy::parse(text.as_bytes()).unwrap();
    let error = refused(&other, &with_lines(vec![elsewhere.sign(CHECKPOINT)]));
    assert_eq!(error, PolicyError::UnknownLog { origin: origin.clone() });
    assert_eq!(error.code(), "LOG.UNKNOWN");

    let error = refused(&none, &with_lines(vec![log(2).sign(CHECKPOINT)]));
    assert!(matches!(
        &error,
        PolicyError::LogSignature { source: NoteError::UnknownKeys { .. }, .. }
    ));
    assert_eq!(error.code(), "LOG.SIG");
    let error = refused(&none, &with_lines(vec![log(1).sign("other\n")]));
    assert!(matches!(
        &error,
        PolicyError::LogSignature { source: NoteError::BadSignature { .. }, .. }
    ));
    assert_eq!(error.code(), "LOG.SIG");
}

#[test]
fn a_log_may_have_two_keys_while_it_changes_them() {
    let text = format!("{}{}quorum none\n", log_line(2), log_line(1));
    let policy = TlogPolicy::parse(text.as_bytes()).unwrap();
    let keys = [log(2).verifier_key().clone(), log(1).verifier_key().clone()];
    assert_eq!(policy.check(&signed(&[])).unwrap().log_keys(), &keys[1..]);
    let both = with_lines(vec![log(1).sign(CHECKPOINT), log(2).sign(CHECKPOINT)]);
    let verdict = policy.check(&both).unwrap();
    assert_eq!(verdict.log_keys(), &keys);
    assert_eq!(verdict.checkpoint().log_key(), &keys[0]);
    let one_fails = with_lines(vec![log(1).sign(CHECKPOINT), log(2).sign("other\n")]);
    assert_eq!(policy.check(&one_fails).unwrap_err().code(), "LOG.SIG");
}

#[test]
fn quorums_are_met_by_witnesses_and_nothing_else() {
    let nested = "group X 2 w1 w2 w3\ngroup Y any w4 w5 w6\ngroup both all X Y\nquorum both\n";
    let met = |unix_seconds| QuorumOutcome::Met { unix_seconds };
    let not = QuorumOutcome::NotMet;
    for (rest, cosignatures, outcome) in [
        ("quorum w1\n", &[(1, 10)][..], met(10)),
        ("quorum w1\n", &[(2, 10)], not),
        ("quorum w1\n", &[], not),
        ("group g 2 w1 w2 w3\nquorum g\n", &[(1, 10), (2, 30), (3, 20)], met(20)),
        ("group g 2 w1 w2 w3\nquorum g\n", &[(3, 5), (1, 0)], met(5)),
        ("group g 2 w1 w2 w3\nquorum g\n", &[(3, 5), (4, 5)], not),
        ("group g all w1 w2\nquorum g\n", &[(1, 10), (2, 30)], met(30)),
        ("group g any w1 w2\nquorum g\n", &[(1, 10), (2, 30)], met(10)),
        (nested, &[(1, 1), (2, 9), (3, 3), (4, 4), (6, 2)], met(3)),
        (nested, &[(1, 1), (2, 2), (5, 9)], met(9)),
        (nested, &[(1, 1), (4, 2), (5, 3), (6, 4)], not),
        (nested, &[(1, 1), (2, 2), (3, 3)], not),
    ] {
        let policy = policy(rest);
        let signed = signed(cosignatures);
        let verdict = policy.check(&signed).unwrap();
        assert_eq!(verdict.quorum(), outcome, "{rest:?} with {cosignatures:?}");
        assert_eq!(verdict.witnesses().len(), cosignatures.len());
        for cosignature in verdict.witnesses() {
            let number = cosignature.witness().name().as_bytes()[1] - b'0';
            assert!(cosignatures.contains(&(number, cosignature.unix_seconds())));
            assert_eq!(cosignature.witness().key(), witness(number).verifier_key());
        }
        if let QuorumOutcome::Met { unix_seconds } = outcome {
            assert_eq!(verdict.quorum_time(), Some(unix_seconds));
            assert_eq!(policy.verify(&signed).unwrap().checkpoint(), verdict.checkpoint());
        } else {
            assert_eq!(verdict.quorum_time(), None);
            let error = policy.verify(&signed).unwrap_err();
            assert_eq!(error, PolicyError::QuorumNotMet { cosigned: cosignatures.len() });
            assert_eq!(error.code(), "LOG.QUORUM");
        }
    }
}

#[test]
fn a_witness_counts_once_and_by_its_earliest_line() {
    let policy = policy("group g 2 w1 w2\nquorum g\n");
    let cosign = |w, time| witness(w).cosign(CHECKPOINT, time).unwrap();
    let log_line = log(1).sign(CHECKPOINT);
    let twice = with_lines(vec![cosign(1, 20), log_line.clone(), cosign(1, 10)]);
    let verdict = policy.check(&twice).unwrap();
    assert_eq!(verdict.quorum(), QuorumOutcome::NotMet);
    assert_eq!(verdict.witnesses().len(), 1);
    assert_eq!(verdict.witnesses()[0].unix_seconds(), 10);

    // A witness unknown to the policy, whose key is another name for one that it knows.
    let alias = CosignerKey::from_seed(KeyName::new("alias.example").unwrap(), [101; 32]);
    let aliased = with_lines(vec![log_line, cosign(1, 20), alias.cosign(CHECKPOINT, 20).unwrap()]);
    assert_eq!(policy.check(&aliased).unwrap().quorum(), QuorumOutcome::NotMet);
}

#[test]
fn a_failing_line_of_a_known_witness_refuses_the_checkpoint() {
    let policy = policy("group g 2 w1 w2 w3\nquorum g\n");
    let good = signed(&[(1, 10), (2, 10)]);
    policy.verify(&good).unwrap();
    let other_text = witness(3).cosign(&CHECKPOINT.replace("\n7\n", "\n8\n"), 10).unwrap();
    // A plain signature under the key ID of a cosigner.
    let key = witness(3).verifier_key().clone();
    let plain = NoteSigner::from_seed(key.name().clone(), [103; 32]).sign(CHECKPOINT);
    let plain =
        NoteSignature::new(key.name().clone(), key.key_id(), plain.bytes().to_vec()).unwrap();
    for (line, expected) in [
        (other_text, SignatureFault::Mismatch),
        (plain, SignatureFault::Length { expected: 72, actual: 64 }),
    ] {
        let error = policy.check(&good.clone().with_signature(line).unwrap()).unwrap_err();
        assert_eq!(error.code(), "LOG.QUORUM");
        let PolicyError::WitnessSignature { source: NoteError::BadSignature { fault, .. } } = error
        else {
            panic!("{error}");
        };
        assert_eq!(fault, expected);
    }
    // One that the policy doesn't know may say what it likes.
    let stranger = witness(9).cosign(&CHECKPOINT.replace("\n7\n", "\n8\n"), 10).unwrap();
    policy.verify(&good.with_signature(stranger).unwrap()).unwrap();
}

#[test]
fn a_note_key_on_a_witness_line_means_the_cosigner() {
    let skey = witness(1).to_skey();
    let note_signer: NoteSigner = skey.parse().unwrap();
    let text = format!("{}witness w1 {}\nquorum w1\n", log_line(1), note_signer.verifier_key());
    let policy = TlogPolicy::parse(text.as_bytes()).unwrap();
    assert_eq!(policy.witnesses()[0].key(), witness(1).verifier_key());
    assert_eq!(policy.verify(&signed(&[(1, 5)])).unwrap().verdict().quorum_time(), Some(5));
    // Its plain signature is a line of nobody.
    let plain = with_lines(vec![log(1).sign(CHECKPOINT), note_signer.sign(CHECKPOINT)]);
    assert_eq!(policy.check(&plain).unwrap().quorum(), QuorumOutcome::NotMet);
}

/// Thresholds of a random forest over the six witnesses: each group takes what no group has taken yet.
fn any_forest() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((1..=3_usize, 0..10_usize), 1..5)
}

/// Whether the quorum is met by those who had cosigned by `now`: the definition, followed literally.
fn met_by(policy: &TlogPolicy, member: Member, times: &[Option<u64>], now: u64) -> bool {
    match member {
        Member::Witness(index) => times[index].is_some_and(|time| time <= now),
        Member::Group(index) => {
            let group = &policy.groups()[index];
            let met = group.members().iter().filter(|&&member| met_by(policy, member, times, now));
            met.count() >= group.threshold()
        }
    }
}

proptest! {
    #[test]
    fn quorum_time_is_when_the_quorum_was_first_met(
        forest in any_forest(),
        times in prop::collection::vec(prop::option::of(0..8_u64), 6),
    ) {
        let mut free: Vec<String> = (1..=6).map(|n| format!("w{n}")).collect();
        let mut rest = String::new();
        let mut last = String::new();
        for (n, (members, threshold)) in forest.into_iter().enumerate() {
            let taken: Vec<String> = free.drain(..members.min(free.len())).collect();
            let threshold = threshold % taken.len() + 1;
            last = format!("g{n}");
            writeln!(rest, "group {last} {threshold} {}", taken.join(" ")).unwrap();
            free.insert(0, last.clone());
        }
        writeln!(rest, "quorum {last}").unwrap();
        let policy = policy(&rest);
        let cosignatures: Vec<(u8, u64)> =
            (1..).zip(&times).filter_map(|(w, time)| time.map(|time| (w, time))).collect();
        let verdict = policy.check(&signed(&cosignatures)).unwrap();
        let Quorum::Of(quorum) = policy.quorum() else { unreachable!() };
        let expected = (0..8).find(|&now| met_by(&policy, quorum, &times, now));
        prop_assert_eq!(verdict.quorum_time(), expected);
        prop_assert_eq!(verdict.require_quorum().is_ok(), expected.is_some());
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = TlogPolicy::parse(&bytes);
    }

    #[test]
    fn any_words(words in prop::collection::vec(
        prop::sample::select(vec![
            "log ", "witness ", "group ", "quorum ", "none", "all ", "any ", "2 ", "a ", "b ", "\n", "\n",
            "#", "witness1.example+7b0bebb9+BBFDovhb1X3AQmjKku6E/zMteS09Shjwi3adxaj0L2wi ",
            "witness2.example+36b8a3de+BLDe3ZsKfb0uQk7zeEc7sP/D2YkFRo1vaIqnN2A/nyGa ",
        ]),
        0..60,
    )) {
        let _ = TlogPolicy::parse(format!("{}\n", words.concat()).as_bytes());
    }
}
