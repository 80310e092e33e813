//! `anchor mirror`: a verified copy of a log.

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use anchorlog_verifier::report::Verdict;
use serde_json::Value;

use super::progress;
use super::report::{Form, Report, announce};
use super::tile_args::{KeyArgs, LocationArgs, asked_to_end};
use crate::mirror::{Mirror, MirrorError, MirrorOptions, Round};

/// Copy a log into a directory, everything verified.
///
/// The copy is a C2SP tile tree: any static server can serve it, `log-server fsck` checks it, and
/// `anchor monitor` reads it. It can be interrupted at any moment and goes on where it was. A file that is
/// there is never replaced by other bytes. Exit code 1 if the log contradicts itself or its files are not
/// of the tree that it signed; both notes of a contradiction are kept in DIR/.mirror/evidence.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  anchor mirror --log https://log.example --vkey log.example+1a2b3c4d+AbCd… --to copy
  anchor mirror --log /srv/tessera --policy log.policy --to copy --follow --interval 30")]
pub(super) struct Args {
    #[command(flatten)]
    log: LocationArgs,
    #[command(flatten)]
    keys: KeyArgs,
    /// Directory of the copy.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Go on with what comes later, until interrupted.
    #[arg(long)]
    follow: bool,
    /// Seconds between two looks at the log.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, requires = "follow", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    interval: u64,
}

pub(super) async fn run(args: Args, form: Form) -> Report {
    let mut report = Report::new("mirror");
    report.member("log", args.log.log.to_string());
    report.member("to", args.to.display().to_string());
    let keys = match args.keys.read() {
        Ok(keys) => keys,
        Err(error) => {
            report.error(&error.into());
            return report;
        }
    };
    if let Err(error) = copy(&args, keys.keys, form, &mut report).await {
        report.fail(error.verdict(), error.code(), &error.to_string());
        if let MirrorError::Follow { evidence: Some(Ok(path)), .. } = &error {
            report.member("evidence", path.display().to_string());
        }
    }
    report
}

async fn copy(
    args: &Args,
    keys: Vec<anchorlog_proto::note::VerifierKey>,
    form: Form,
    report: &mut Report,
) -> Result<(), MirrorError> {
    let mut mirror = Mirror::open(MirrorOptions {
        from: args.log.log.clone(),
        keys,
        to: args.to.clone(),
        follow: args.log.options(),
    })?;
    let mut all = Round::default();
    let mut answered = true;
    let mut interrupted = false;
    let mut end = pin!(asked_to_end());
    loop {
        let bar = progress::entries(form);
        let mut show = |done, of| {
            bar.set_length(of);
            bar.set_position(done);
        };
        // A copy that is left off goes on where it was.
        let round = tokio::select! {
            biased;
            () = &mut end => {
                bar.finish_and_clear();
                interrupted = true;
                break;
            }
            round = mirror.round(&mut show) => round,
        };
        bar.finish_and_clear();
        match round {
            Ok(round) => {
                if round.read > 0 && args.follow && form == Form::Text {
                    announce(&format!("{} entries", round.size));
                }
                all = Round {
                    size: round.size,
                    read: all.read + round.read,
                    written: all.written + round.written,
                    kept: all.kept + round.kept,
                };
                answered = true;
            }
            Err(error) if args.follow && error.is_temporary() => {
                if std::mem::take(&mut answered) {
                    announce(&format!("warning: {error}; asking again every {} s", args.interval));
                }
            }
            Err(error) => return Err(error),
        }
        if !args.follow {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(args.interval)) => {}
            () = &mut end => break,
        }
    }
    if interrupted && !args.follow {
        let detail = "interrupted; the same command goes on where this one was";
        report.fail(Verdict::NotEvaluated, "CLIENT.INTERRUPTED", detail);
        return Ok(());
    }
    report.line(format!(
        "{} entries, {} of them new, in {}: {} files written, {} there already",
        all.size,
        all.read,
        args.to.display(),
        all.written,
        all.kept
    ));
    for (name, number) in
        [("size", all.size), ("read", all.read), ("written", all.written), ("kept", all.kept)]
    {
        report.member(name, Value::from(number));
    }
    Ok(())
}
