//! Tests of the transition language: legal walks, every guard, the table's document, the corpus.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it skips"
)]

mod corpus;
mod gates;
mod random;
mod scale;
mod sessions;
mod succession;
mod table;
mod terminals;
mod trace;
mod verdicts;
mod walks;
