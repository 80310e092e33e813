//! Every truncation of a last line, every damaged line, and what the three rules make of it.

use super::*;

/// The bytes of the last line, newline included.
fn last_line(bytes: &[u8]) -> usize {
    let body = &bytes[..bytes.len() - 1];
    bytes.len() - body.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn cut(bytes: &[u8], length: usize) -> Vec<u8> {
    bytes[..bytes.len() - length].to_vec()
}

/// Checks the outcome, that repair does exactly that, and what becomes of the files.
fn expect(files: &[Vec<u8>; 3], outcome: Outcome, codes: &[FindingCode], after: &[Vec<u8>; 3]) {
    let place = Place::filled();
    place.write(files);
    assert_eq!(place.outcome(), (outcome, codes.to_vec()));
    if outcome != Outcome::Start {
        match place.open() {
            Err(CheckpointWitnessError::Refused { outcome: said, findings, .. }) => {
                assert_eq!(said, outcome);
                assert!(!findings.is_empty());
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(place.read(), *files, "opening repairs nothing");
    }
    let repaired = place.repair();
    assert_eq!(place.read(), *after);
    if outcome.is_repairable() || outcome == Outcome::Start {
        assert_eq!(repaired.outcome, Outcome::Start, "{:?}", repaired.findings);
        let witness = place.open().unwrap();
        for trail in [A, B] {
            read_chain(&witness, trail);
        }
        // It goes on, at the index that is next.
        let (before, next) = (witness.size().1, submission(A, 1000, "later"));
        statement(witness.submit(&somebody(), &next));
        assert_eq!(witness.size().1, before + 1);
        read_chain(&witness, A);
    } else {
        assert_eq!((repaired.outcome, repaired.steps.len()), (outcome, 0));
    }
}

/// As the writer would have left the files, had it been killed behind so many statements and marks.
fn killed_before_the_mark() -> ([Vec<u8>; 3], [Vec<u8>; 3]) {
    let whole = Place::filled().read();
    let [log, marks, registrations] = whole.clone();
    ([log, cut(&marks, last_line(&marks)), registrations], whole)
}

#[test]
fn whole_files_start() {
    let whole = Place::filled().read();
    expect(&whole, Outcome::Start, &[], &whole);
    let place = Place::new();
    drop(place.open().unwrap());
    assert_eq!(place.outcome(), (Outcome::Start, vec![]), "empty files, too");
    drop(place.open().unwrap());
}

#[test]
fn every_truncation_of_the_last_statement() {
    let ([log, marks, registrations], whole) = killed_before_the_mark();
    let last = last_line(&log);
    let unmarked = [log.clone(), marks.clone(), registrations.clone()];
    expect(&unmarked, Outcome::MarkCompleted, &[FindingCode::Unmarked], &whole);
    // Its newline alone is missing: that, and the mark.
    let files = [cut(&log, 1), marks.clone(), registrations.clone()];
    let codes = [FindingCode::LogUnterminated, FindingCode::Unmarked];
    expect(&files, Outcome::NewlineAndMarkCompleted, &codes, &whole);
    let end = cut(&log, last);
    for missing in (2..last).step_by(if cfg!(debug_assertions) { 53 } else { 1 }) {
        let files = [cut(&log, missing), marks.clone(), registrations.clone()];
        let after = [end.clone(), marks.clone(), registrations.clone()];
        expect(&files, Outcome::SetAside, &[FindingCode::LogTorn], &after);
        // The same behind a mark: a published statement was cut short.
        let files = [cut(&log, missing), whole[1].clone(), registrations.clone()];
        let codes = [FindingCode::LogTorn, FindingCode::MarkUnreached];
        expect(&files, Outcome::Refused, &codes, &files);
    }
    let files = [cut(&log, 1), whole[1].clone(), registrations.clone()];
    expect(&files, Outcome::Refused, &[FindingCode::LogUnterminated], &files);
    let files = [end, whole[1].clone(), registrations];
    expect(&files, Outcome::Refused, &[FindingCode::MarkUnreached], &files);
}

#[test]
fn every_length_of_the_statements_has_the_outcome_of_the_rules() {
    let ([log, marks, _], _) = killed_before_the_mark();
    let place = Place::filled();
    for length in log.len() - last_line(&log)..=log.len() {
        fs::write(place.paths().statements(), &log[..length]).unwrap();
        fs::write(&place.paths().marks, &marks).unwrap();
        let expected = match log.len() - length {
            0 => Outcome::MarkCompleted,
            1 => Outcome::NewlineAndMarkCompleted,
            missing if missing == last_line(&log) => Outcome::Start,
            _ => Outcome::SetAside,
        };
        assert_eq!(place.outcome().0, expected, "{length}");
    }
}

#[test]
fn every_truncation_of_the_last_mark() {
    let whole = Place::filled().read();
    let [log, marks, registrations] = whole.clone();
    let place = Place::filled();
    for missing in 1..last_line(&marks) {
        let files = [log.clone(), cut(&marks, missing), registrations.clone()];
        place.write(&files);
        let codes = vec![FindingCode::MarksTorn, FindingCode::Unmarked];
        assert_eq!(place.outcome(), (Outcome::NewKey, codes), "{missing}");
        assert_eq!(place.repair().outcome, Outcome::NewKey);
        assert_eq!(place.read(), files, "nothing is written");
    }
    // Whole lines that are lost.
    let cut_marks = cut(&marks, last_line(&marks));
    let twice = cut(&cut_marks, last_line(&cut_marks));
    let files = [log.clone(), twice, registrations.clone()];
    expect(&files, Outcome::Refused, &[FindingCode::Unmarked], &files);
    // Both torn.
    let files = [cut(&log, 9), cut(&marks, 9), registrations.clone()];
    let codes = [FindingCode::LogTorn, FindingCode::MarksTorn];
    expect(&files, Outcome::NewKey, &codes, &files);
    // The file.
    place.write(&whole);
    fs::remove_file(&place.paths().marks).unwrap();
    assert_eq!(place.outcome(), (Outcome::NewKey, vec![FindingCode::MarksLost]));
    assert_eq!(place.repair().outcome, Outcome::NewKey);
    assert!(place.open().is_err() && !place.paths().marks.exists(), "no marks are made");
}

#[test]
fn every_truncation_of_the_last_registration() {
    let whole = Place::filled().read();
    let [log, marks, registrations] = whole.clone();
    let mut more = registrations.clone();
    let third = Registration::new(TrailId::from_bytes([3; 16]), "i", "s").unwrap();
    more.extend([third.to_line(), b"\n".to_vec()].concat());
    let place = Place::filled();
    for missing in 1..last_line(&more) {
        place.write(&[log.clone(), marks.clone(), cut(&more, missing)]);
        let codes = vec![FindingCode::RegistrationsTorn];
        assert_eq!(place.outcome(), (Outcome::RegistrationSetAside, codes), "{missing}");
        let repaired = place.repair();
        assert_eq!((repaired.outcome, repaired.steps.len()), (Outcome::Start, 1));
        let kept = fs::read(repaired.steps[0].kept.as_ref().unwrap()).unwrap();
        assert_eq!([registrations.clone(), kept].concat(), cut(&more, missing));
        assert_eq!(place.read(), whole);
    }
    // Without it a trail would have statements and no owner: that is no crash of ours.
    let files = [log, marks, cut(&registrations, 1)];
    let codes = [FindingCode::RegistrationsTorn, FindingCode::Unregistered];
    expect(&files, Outcome::Refused, &codes, &files);
}

#[test]
fn every_single_damaged_line() {
    let whole = Place::filled().read();
    let place = Place::filled();
    for file in 0..3 {
        let lines: Vec<&[u8]> = whole[file].split_inclusive(|byte| *byte == b'\n').collect();
        for (number, line) in lines.iter().enumerate() {
            let others = |instead: &[u8]| {
                let mut lines = lines.clone();
                lines[number] = instead;
                lines.concat()
            };
            let mut damaged = line.to_vec();
            // In the hexadecimal digits of a digest, a signature or a trail.
            let at = line.len() - 12;
            let at = (at - 60..at).rev().find(|at| line[*at].is_ascii_hexdigit()).unwrap();
            damaged[at] = if line[at] == b'0' { b'1' } else { b'0' };
            for instead in [damaged, b"{}\n".to_vec(), b"\n".to_vec(), Vec::new()] {
                let mut files = whole.clone();
                files[file] = others(&instead);
                place.write(&files);
                let (outcome, codes) = place.outcome();
                let is_right = match file {
                    // A line of the marks that is gone or names another statement is not to be told from marks
                    // of before, and the last one is the step that repair takes.
                    1 => match outcome {
                        Outcome::NewKey => true,
                        Outcome::Refused => codes.contains(&FindingCode::Unmarked),
                        Outcome::MarkCompleted => instead.is_empty() && number == lines.len() - 1,
                        _ => false,
                    },
                    // Another copy may be put in its place.
                    _ => outcome == Outcome::Refused,
                };
                assert!(is_right, "{file} {number} {outcome:?} {codes:?}");
                let expected = place.read();
                let repaired = place.repair();
                if outcome == Outcome::MarkCompleted {
                    assert_eq!((repaired.outcome, place.read()), (Outcome::Start, whole.clone()));
                } else {
                    assert_eq!((repaired.outcome, place.read()), (outcome, expected));
                }
            }
        }
    }
    // An unmarked last statement that fails the checks: neither rule applies.
    let ([log, marks, registrations], _) = killed_before_the_mark();
    let mut log = log;
    let at = log.len() - 100;
    let at = (0..at).rev().find(|at| log[*at..].starts_with(b"\"signature\":\"")).unwrap() + 14;
    log[at] = if log[at] == b'0' { b'1' } else { b'0' };
    let files = [log, marks, registrations];
    let codes = [FindingCode::SignatureInvalid, FindingCode::Unmarked];
    expect(&files, Outcome::NewKey, &codes, &files);
}

#[test]
fn marks_that_stand_there_twice_and_other_orders() {
    let whole = Place::filled().read();
    let [log, marks, registrations] = whole.clone();
    let lines: Vec<&[u8]> = marks.split_inclusive(|byte| *byte == b'\n').collect();
    let files = [log.clone(), [lines.concat(), lines[1].to_vec()].concat(), registrations.clone()];
    expect(&files, Outcome::NewKey, &[FindingCode::MarkRepeated], &files);
    // No rule asks for an order of the marks.
    let turned = lines.iter().rev().copied().collect::<Vec<_>>().concat();
    let files = [log.clone(), turned, registrations.clone()];
    expect(&files, Outcome::Start, &[], &files);
    // An unmarked statement in the middle was left by no crash.
    let without: Vec<u8> = [&lines[..1], &lines[2..]].concat().concat();
    let files = [log, without, registrations];
    expect(&files, Outcome::Refused, &[FindingCode::Unmarked], &files);
}

#[test]
fn a_repair_that_is_killed_is_taken_up() {
    let ([log, marks, registrations], whole) = killed_before_the_mark();
    // Between the newline and the mark.
    let files = [log.clone(), marks.clone(), registrations.clone()];
    expect(&files, Outcome::MarkCompleted, &[FindingCode::Unmarked], &whole);
    // Between the kept bytes and the cut.
    let place = Place::filled();
    let torn = [cut(&log, 20), marks.clone(), registrations.clone()];
    place.write(&torn);
    let first = place.repair();
    place.write(&torn);
    let second = place.repair();
    assert_eq!(first.steps, second.steps, "the same bytes are kept once");
    place.write(&[cut(&log, 30), marks, registrations]);
    let third = place.repair();
    assert_ne!(second.steps, third.steps, "other bytes in a file of their own");
    assert_eq!(third.outcome, Outcome::Start);
}

#[test]
fn a_long_line_is_damage_and_costs_no_memory() {
    let whole = Place::filled().read();
    let [log, marks, registrations] = whole;
    let bulk = vec![b'x'; 1 << 20];
    let files = [[log.clone(), bulk.clone()].concat(), marks.clone(), registrations.clone()];
    let after = [log.clone(), marks.clone(), registrations.clone()];
    expect(&files, Outcome::SetAside, &[FindingCode::LogTorn], &after);
    let ended = [log, bulk, b"\n".to_vec()].concat();
    let files = [ended, marks, registrations];
    expect(&files, Outcome::NewKey, &[FindingCode::Malformed], &files);
}

#[test]
fn a_copy_is_verified_as_far_as_it_is_given() {
    let place = Place::filled();
    let paths = place.paths();
    let key = signer().key();
    let check = |marks, key| verify(&paths.statements(), marks, None, key, Limits::DEFAULT);
    let verified = check(None, &key).unwrap();
    assert_eq!((verified.outcome, verified.statements, verified.trails), (Outcome::Start, 5, 2));
    assert_eq!(verified.marks, None);
    assert_eq!(check(Some(&paths.marks), &key).unwrap().marks, Some(5));
    let other = WitnessSigner::from_seed(&[1; 32]).key();
    let verified = check(None, &other).unwrap();
    assert_eq!((verified.outcome, verified.finding_count), (Outcome::Refused, 5));
    assert!(verify(&paths.directory.join("none"), None, None, &key, Limits::DEFAULT).is_err());
}
