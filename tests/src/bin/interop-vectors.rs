//! Writes the vectors that other implementations are tested on: `interop-vectors --seed N --out FILE`.

use std::path::PathBuf;
use std::process::ExitCode;

use anchorlog_tests::interop;

#[allow(clippy::print_stderr, reason = "a command says what went wrong")]
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("interop-vectors: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), interop::Failure> {
    let usage = "usage: interop-vectors --seed N --out FILE";
    let (mut seed, mut out) = (None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(usage)?;
        match name.as_str() {
            "--seed" => seed = Some(value.parse()?),
            "--out" => out = Some(PathBuf::from(value)),
            _ => return Err(usage.into()),
        }
    }
    let (Some(seed), Some(out)) = (seed, out) else { return Err(usage.into()) };
    let vectors = interop::export(seed)?;
    #[allow(clippy::disallowed_methods, reason = "a scratch file, made again at will")]
    std::fs::write(out, serde_json::to_vec(&vectors)?)?;
    Ok(())
}
