//! Writes docs/differential.md: `differential FILE`. `differential --check FILE` holds the file against a new run
//! instead, if the `openssl` is of the version that it is about.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anchorlog_tests::differential::Comparison;

#[allow(clippy::print_stderr, reason = "a command says what went wrong")]
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (check, file) = match arguments[..] {
        [file] if file != "--check" => (false, file),
        ["--check", file] => (true, file),
        _ => {
            eprintln!("usage: differential [--check] FILE");
            return ExitCode::from(2);
        }
    };
    match run(check, Path::new(file)) {
        Ok(said) => {
            eprintln!("{file}: {said}");
            ExitCode::from(u8::from(said == DRIFTED))
        }
        Err(error) => {
            eprintln!("differential: {error}");
            ExitCode::from(2)
        }
    }
}

const DRIFTED: &str = "isn't what a new run gives: write it again and look at what has changed";

fn run(check: bool, file: &Path) -> io::Result<&'static str> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "there is no openssl");
    let comparison = Comparison::run()?.ok_or_else(missing)?;
    if !check {
        #[allow(clippy::disallowed_methods, reason = "a page that can be made again")]
        std::fs::write(file, comparison.page())?;
        return Ok("written");
    }
    let page = std::fs::read_to_string(file)?;
    Ok(if !comparison.is_about(&page) {
        "is about another version of OpenSSL; not compared"
    } else if page == comparison.page() {
        "is what a new run gives"
    } else {
        DRIFTED
    })
}
