//! `anchor stamp`: a digest in, verified time stamps out.

use anchorlog_proto::encoding::hex_encode;
use anchorlog_verifier::report::Verdict;
use serde_json::{Value, json};

use super::report::{Form, Report, count};
use super::stamp_args::{Args, StampInputError};
use crate::durable::DurableError;
use crate::problem::printable;
use crate::stamp::{
    KeptStamp, Outcome, Stamp, StampError, StampReport, Stamper, TokenStore, Transport,
};

pub(super) async fn run(args: Args, form: Form) -> Report {
    let mut report = Report::new("stamp");
    if let Err(error) = stamp(&args, form, &mut report).await {
        report.fail(Verdict::NotEvaluated, error.code(), &error.to_string());
    }
    report
}

async fn stamp(args: &Args, form: Form, report: &mut Report) -> Result<(), StampInputError> {
    let authorities = args.authorities()?;
    let options = args.options()?;
    let store = TokenStore::choose(&args.out, authorities.len(), args.force);
    if let Err(error) = store.check_free(&authorities) {
        fail_file(report, &error);
        return Ok(());
    }
    let imprint = args.imprint(form)?;
    report.member("imprint", imprint.to_string());
    if let Some(file) = args.file() {
        report.member("file", file.display().to_string());
    }
    let client = match Stamper::new(options) {
        Ok(client) => client,
        Err(error) => {
            report.fail(Verdict::NotEvaluated, error.code(), &error.to_string());
            return Ok(());
        }
    };
    let stamped = client.stamp(&imprint, &authorities).await;
    show(report, &stamped, store.keep(&stamped));
    Ok(())
}

fn show(
    report: &mut Report,
    stamped: &StampReport,
    kept: Vec<Option<Result<KeptStamp, DurableError>>>,
) {
    let operators = stamped.operators();
    report.line(format!(
        "{}: tokens of {} hold, {} needed",
        stamped.imprint,
        count(operators.len(), "operator"),
        stamped.quorum
    ));
    report.member(
        "quorum",
        json!({
            "needed": stamped.quorum,
            "reached": stamped.is_quorum(),
            "operators": operators.iter().collect::<Vec<_>>(),
        }),
    );
    if !stamped.is_quorum() {
        let detail = format!(
            "tokens of {} hold, where {} needed",
            count(operators.len(), "operator"),
            if stamped.quorum == 1 { "1 is".to_owned() } else { format!("{} are", stamped.quorum) }
        );
        report.fail(Verdict::NotEvaluated, "CLIENT.QUORUM", &detail);
    }
    let mut values = Vec::new();
    for (outcome, kept) in stamped.outcomes.iter().zip(kept) {
        let mut value = common(outcome);
        match (&outcome.result, kept) {
            (Ok(stamp), kept) => {
                show_stamp(report, outcome, stamp);
                merge(&mut value, describe(stamp));
                match kept {
                    Some(Ok(kept)) => {
                        show_kept(report, &kept);
                        merge(&mut value, describe_kept(&kept));
                    }
                    Some(Err(error)) => fail_file(report, &error),
                    None => {}
                }
            }
            (Err(error), _) => {
                let text = format!("{}: {error}", name_of(outcome));
                merge(&mut value, json!({"holds": false}));
                merge(&mut value, describe_failure(error));
                if stamped.is_quorum() {
                    // Said, but it spoils nothing.
                    report.line(printable(&format!("no token of {text}")));
                } else {
                    report.fail(error.verdict(), error.code(), &text);
                }
            }
        }
        values.push(value);
    }
    report.member("outcomes", values);
}

fn show_stamp(report: &mut Report, outcome: &Outcome, stamp: &Stamp) {
    let token = &stamp.token;
    let (earliest, latest) = token.interval();
    report.line(format!(
        "{}  {}  ({earliest} to {latest})  policy {}",
        outcome.authority.operator(),
        token.gen_time(),
        token.policy()
    ));
    if stamp.transport == Transport::Http {
        report.line(
            "  over plain http: whoever was on the way saw the digest; forging needs the key",
        );
    }
}

fn show_kept(report: &mut Report, kept: &KeptStamp) {
    report.line(format!("  {}: {}", kept.form.as_str(), kept.path.display()));
    for crl in &kept.crls {
        report.line(format!("  revocation list: {}", crl.display()));
    }
}

/// What is said about every authority.
fn common(outcome: &Outcome) -> Value {
    json!({
        "operator": outcome.authority.operator(),
        "url": outcome.authority.url().as_str(),
        "policy_asked": outcome.authority.policy().map(|policy| policy.to_string()),
        "attempts": outcome.attempts,
        "elapsed_ms": u64::try_from(outcome.elapsed.as_millis()).ok(),
        "earlier": outcome.earlier.iter().map(describe_failure).collect::<Vec<_>>(),
    })
}

fn describe(stamp: &Stamp) -> Value {
    let token = &stamp.token;
    let (earliest, latest) = token.interval();
    json!({
        "holds": true,
        "transport": stamp.transport.as_str(),
        "round_trip_ms": u64::try_from(stamp.round_trip.as_millis()).ok(),
        "gen_time": token.gen_time().to_string(),
        "earliest": earliest.to_string(),
        "latest": latest.to_string(),
        "accuracy_us": token.accuracy().map(|accuracy| accuracy.microseconds()),
        "policy": token.policy().to_string(),
        "serial": hex_encode(token.serial()),
        "chain": token.chain().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "signer": printable(token.signer()),
        "expires": token.expires().to_string(),
        "revocation": if stamp.crls.is_empty() { "not-checked" } else { "checked-at-acquisition" },
        "crls": stamp.crls.iter().map(|crl| crl.url.as_str()).collect::<Vec<_>>(),
        "notes": token.notes().iter().map(|note| note.as_str()).collect::<Vec<_>>(),
    })
}

fn describe_kept(kept: &KeptStamp) -> Value {
    json!({
        "path": kept.path.display().to_string(),
        "form": kept.form.as_str(),
        "crl_files": kept.crls.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
    })
}

fn describe_failure(error: &StampError) -> Value {
    json!({
        "code": error.code(),
        "reason": error.reason(),
        "detail": error.to_string(),
    })
}

fn merge(value: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (value.as_object_mut(), more) {
        object.extend(more);
    }
}

fn fail_file(report: &mut Report, error: &DurableError) {
    if error.source.kind() == std::io::ErrorKind::AlreadyExists {
        let detail = format!("{}: there is such a file; --force replaces it", error.path.display());
        report.fail(Verdict::NotEvaluated, "CLIENT.EXISTS", &detail);
    } else {
        report.fail(Verdict::NotEvaluated, "CLIENT.STATE", &error.to_string());
    }
}

fn name_of(outcome: &Outcome) -> String {
    format!("{} ({})", outcome.authority.operator(), outcome.authority.url())
}
