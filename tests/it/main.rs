//! What only several rooms together can show. One binary, so that everything is linked once.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests build their own worlds, print their seeds and fail by panicking"
)]

mod client;
mod crash;
mod export;
mod faults;
mod gad;
mod gad_growth;
mod http;
mod merkle;
mod rs_merkle;
mod story;
mod tokens;
