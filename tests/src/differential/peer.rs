//! `openssl ts -verify` before one forged case.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use anchorlog_proto::encoding::hex_encode;
use anchorlog_proto::timestamp::{Token, ber};
use anchorlog_verifier::timestamp::revocation::Crl;
use anchorlog_verifier::timestamp::{Allow, Rules, token_in};
use pem_rfc7468::LineEnding;

use crate::forge::{Case, Form, Revocation};

/// What OpenSSL says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Answer {
    /// `Verification: OK`.
    Accepts,
    /// Anything else, and the last reason that it gives.
    Refuses(String),
}

/// The version of the `openssl` there is: `OpenSSL 3.0.19`. `None` without one.
#[must_use]
pub(super) fn version() -> Option<String> {
    let output = Command::new("openssl").arg("version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let mut words = text.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?))
}

/// Asks OpenSSL about a case, with everything told that it can be told. `folder` is for its files.
pub(super) fn ask(case: &Case, folder: &Path) -> io::Result<Answer> {
    let given = &case.given;
    let write = |name: &str, bytes: &[u8]| -> io::Result<_> {
        let path = folder.join(format!("{}.{name}", case.name));
        fs::write(&path, bytes)?;
        Ok(path)
    };
    let mut command = Command::new("openssl");
    command.args(["ts", "-verify", "-in"]).arg(write("tsr", &case.bytes)?);
    if case.form == Form::Token {
        command.arg("-token_in");
    }
    match case.request() {
        Some(request) => command.arg("-queryfile").arg(write("tsq", &request)?),
        None => command.args(["-digest", &hex_encode(&given.digest)]),
    };
    // A trust anchor need not be a root; and CRLs have no other way in.
    command.arg("-partial_chain");
    let mut trusted = pem("CERTIFICATE", given.trust.iter().flat_map(|entry| &entry.roots));
    if given.revocation != Revocation::None {
        // One that can't be read would spoil the file.
        let crls: Vec<_> = given.crls.iter().filter(|der| Crl::parse(der).is_ok()).collect();
        if given.revocation == Revocation::Required || !crls.is_empty() {
            trusted.push_str(&pem("X509 CRL", crls));
            command.arg("-crl_check_all");
        }
    }
    command.arg("-CAfile").arg(write("trusted.pem", trusted.as_bytes())?);
    if !given.certificates.is_empty() {
        let certificates = pem("CERTIFICATE", &given.certificates);
        command.arg("-untrusted").arg(write("untrusted.pem", certificates.as_bytes())?);
    }
    command.args(["-attime", &attime(case).to_string()]);
    // Nothing that this machine's configuration says.
    let output = command.env("OPENSSL_CONF", "/dev/null").output()?;
    if output.status.success() && output.stdout.starts_with(b"Verification: OK") {
        return Ok(Answer::Accepts);
    }
    Ok(Answer::Refuses(reason(&String::from_utf8_lossy(&output.stderr))))
}

/// The time at which OpenSSL is to judge certificates: genTime, as a careful caller would have it read from the
/// token first. The time of evaluation if it can't be read, or where CRLs are to count: none from before
/// genTime would.
fn attime(case: &Case) -> i64 {
    let gen_time = gen_time(&case.bytes).filter(|_| case.given.revocation == Revocation::None);
    gen_time.unwrap_or(case.given.at)
}

fn gen_time(bytes: &[u8]) -> Option<i64> {
    let rules = Rules { allow: Allow { ber: true, ..Allow::default() }, ..Rules::default() };
    let token = token_in(bytes, &rules).ok()?;
    let rewritten = ber::token_to_der(&token);
    let token = Token::parse(rewritten.as_deref().unwrap_or(&token)).ok()?;
    Some(token.info.gen_time.unix_seconds())
}

/// The last error of OpenSSL's queue: `message imprint mismatch`, `certificate verify error: CRL has expired`.
fn reason(stderr: &str) -> String {
    // thread:error:number:library:function:reason:file:line:data
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let mut errors =
        stderr.lines().map(fields).filter(|line| line.get(1).is_some_and(|it| it == "error"));
    let Some(last) = errors.next_back() else { return "(no reason)".to_owned() };
    let part = |index: usize| last.get(index).map_or("", |part| part.trim());
    match part(9) {
        "" => part(5).to_owned(),
        data => format!("{}: {data}", part(5)),
    }
}

fn pem<'a>(label: &str, ders: impl IntoIterator<Item = &'a Vec<u8>>) -> String {
    let texts = ders.into_iter();
    texts.filter_map(|der| pem_rfc7468::encode_string(label, LineEnding::LF, der).ok()).collect()
}
