//! Each forged token comes to what its maker says.

use anchorlog_proto::Digest;
use anchorlog_tests::forge::{Expected, REASONS, cases};
use anchorlog_tests::judge::judge;
use anchorlog_verifier::codes::Code;

#[test]
fn every_sound_token_holds_and_every_bad_one_fails_for_its_reason() {
    let mut wrong = Vec::new();
    let (mut sound, mut bad) = (0, 0);
    for case in cases() {
        let outcome = judge(&case);
        let name = case.name;
        match (&case.expected, &outcome) {
            (Expected::Holds { operator, signer, gen_time }, Ok(token)) => {
                sound += 1;
                assert_eq!(token.operator(), *operator, "{name}");
                assert_eq!(token.chain().first(), Some(&Digest::of(signer)), "{name}");
                assert_eq!(
                    token.gen_time().to_generalized_time().as_deref(),
                    Some(*gen_time),
                    "{name}"
                );
            }
            (Expected::Fails(reason), Err(failure)) if failure.reason() == *reason => bad += 1,
            (expected, Ok(_)) => wrong.push(format!("{name}: {expected:?}, but it holds")),
            (Expected::Holds { .. }, Err(failure)) => {
                wrong.push(format!("{name}: holds, but {}: {failure}", failure.reason()));
            }
            (Expected::Fails(reason), Err(failure)) => {
                wrong.push(format!("{name}: {reason}, but {}: {failure}", failure.reason()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(sound >= 35 && bad >= 120, "{sound} sound, {bad} bad");
}

#[test]
fn every_reason_is_explained_and_some_token_fails_for_it() {
    let cases = cases();
    for (code, reasons) in REASONS {
        for reason in *reasons {
            let explained = Code::with_reason(reason).map(|code| code.to_string());
            assert_eq!(explained.as_deref(), Some(*code), "{reason}");
            let fails =
                |case: &&anchorlog_tests::forge::Case| case.expected == Expected::Fails(reason);
            let failing = cases.iter().find(fails);
            let failing = failing.unwrap_or_else(|| panic!("no token fails for {reason}"));
            assert_eq!(judge(failing).unwrap_err().code().as_str(), *code, "{reason}");
        }
    }
}
