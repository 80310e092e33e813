//! Honest witnesses of no worth, for trying out and measuring: `witness-doubles COUNT`.
//!
//! Prints a C2SP tlog-policy that names them and demands all of them, and cosigns until it is ended. They keep
//! nothing: after a restart they know no log.

use std::io::Write as _;
use std::process::ExitCode;

use anchorlog_tests::witness_double::{Behaviour, WitnessDouble};

#[allow(clippy::print_stderr, reason = "a command says how it is used")]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().and_then(|count| count.parse().ok());
    let (Some(count @ 1..=32), None) = (count, arguments.next()) else {
        eprintln!("usage: witness-doubles COUNT, from 1 to 32");
        return ExitCode::from(2);
    };
    let start =
        |number: u8| WitnessDouble::start(&format!("double.example/{number}"), Behaviour::Honest);
    let doubles: Vec<WitnessDouble> = (0..count).map(start).collect();
    let mut policy: String = doubles.iter().map(WitnessDouble::policy_line).collect();
    let members: Vec<&str> = doubles.iter().map(WitnessDouble::name).collect();
    policy.extend(["group everybody all ", &members.join(" "), "\nquorum everybody\n"]);
    let mut out = std::io::stdout();
    if out.write_all(policy.as_bytes()).and_then(|()| out.flush()).is_err() {
        return ExitCode::from(2);
    }
    loop {
        std::thread::park();
    }
}
