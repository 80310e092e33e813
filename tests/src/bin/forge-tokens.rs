//! Writes every forged token, with what a verifier has to be told, as files: `forge-tokens DIR`.
//!
//! For each case: `NAME.tsr` (a response) or `NAME.tst` (a bare token), `NAME.tsq` (the request, where there
//! is one), `NAME.roots.pem` (the roots of all its trust entries), `NAME.certs.pem` (certificates supplied
//! beside the token), `NAME.N.crl`, `NAME.N.ocsp`. `MANIFEST.tsv` has a line per case: name, form, answer
//! (`holds` or the reason), digest algorithm, digest, evaluation time, switches, revocation stance, what is
//! special. What a trust entry says beside its roots is in no file: only the library carries it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anchorlog_tests::forge::{self, Case, Expected, Form, Revocation};

#[allow(clippy::print_stderr, reason = "a command says what went wrong")]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: forge-tokens DIR");
        return ExitCode::from(2);
    };
    match run(&PathBuf::from(directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("forge-tokens: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(directory: &Path) -> std::io::Result<()> {
    #[allow(clippy::disallowed_methods, reason = "scratch files, made again at will")]
    std::fs::create_dir_all(directory)?;
    let mut manifest =
        String::from("name\tform\texpect\talgorithm\tdigest\tat\tallow\trevocation\tabout\n");
    for case in forge::cases() {
        write_case(directory, &case)?;
        manifest.push_str(&line(&case));
    }
    write(&directory.join("MANIFEST.tsv"), manifest.as_bytes())
}

fn write_case(directory: &Path, case: &Case) -> std::io::Result<()> {
    let file = |ending: &str| directory.join(format!("{}.{ending}", case.name));
    let given = &case.given;
    write(&file(if case.form == Form::Response { "tsr" } else { "tst" }), &case.bytes)?;
    if let Some(request) = case.request() {
        write(&file("tsq"), &request)?;
    }
    let roots = given.trust.iter().flat_map(|entry| &entry.roots);
    write(&file("roots.pem"), pem(roots).as_bytes())?;
    write(&file("certs.pem"), pem(&given.certificates).as_bytes())?;
    for (number, crl) in given.crls.iter().enumerate() {
        write(&file(&format!("{number}.crl")), crl)?;
    }
    for (number, ocsp) in given.ocsp.iter().enumerate() {
        write(&file(&format!("{number}.ocsp")), ocsp)?;
    }
    Ok(())
}

fn line(case: &Case) -> String {
    let given = &case.given;
    let form = if case.form == Form::Response { "response" } else { "token" };
    let expected = match &case.expected {
        Expected::Holds { .. } => "holds",
        Expected::Fails(reason) => reason,
    };
    let mut digest = String::new();
    for octet in &given.digest {
        let _ = write!(digest, "{octet:02x}");
    }
    let allow: Vec<_> = given.allow.iter().map(|switch| switch.name()).collect();
    let revocation = match given.revocation {
        Revocation::None => "none",
        Revocation::Supplied => "supplied",
        Revocation::Required => "required",
    };
    format!(
        "{}\t{form}\t{expected}\t{}\t{digest}\t{}\t{}\t{revocation}\t{}\n",
        case.name,
        given.digest_algorithm,
        given.at,
        allow.join(","),
        case.about
    )
}

fn pem<'a>(certificates: impl IntoIterator<Item = &'a Vec<u8>>) -> String {
    certificates
        .into_iter()
        .filter_map(|der| {
            pem_rfc7468::encode_string("CERTIFICATE", pem_rfc7468::LineEnding::LF, der).ok()
        })
        .collect()
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    #[allow(clippy::disallowed_methods, reason = "scratch files, made again at will")]
    std::fs::write(path, bytes)
}
