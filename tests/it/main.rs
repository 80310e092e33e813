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

mod audit;
mod checkpoint_witness;
mod client;
mod compare;
mod crash;
mod export;
mod faults;
mod follow_support;
mod freeze;
mod gad;
mod gad_growth;
mod holder;
mod http;
mod lies;
mod merkle;
mod mirror;
mod monitor;
mod rollback;
mod rotation;
mod rs_merkle;
mod simulation;
mod story;
mod tokens;
mod witness;
mod witnessing;
mod workflow;
