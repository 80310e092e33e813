//! The verifier from the outside: its library over a small world, and its program by exit codes.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    clippy::assigning_clones,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::too_many_lines,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking, and its tables are long"
)]
#![allow(clippy::disallowed_methods, reason = "tests build their own worlds")]

mod attribution;
mod attribution_cli;
mod attribution_fuzzed;
mod attribution_traces;
mod bytes;
mod cli;
mod cli_proof;
mod cli_workflow;
mod core_corpus;
mod core_properties;
mod core_vectors;
mod corpus;
mod docs;
mod gad_judgement;
mod gad_outputs;
mod gad_properties;
mod gad_vectors;
mod gad_world;
mod jp_world;
mod mutations;
mod receipt;
mod tokens;
mod witness_cli;
mod witness_fuzzed;
mod witness_world;
mod workflow;
#[path = "../../../tests/src/workflow/mod.rs"]
mod workflow_world;
mod world;
