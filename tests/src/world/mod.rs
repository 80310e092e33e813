//! The three programs as people run them: real processes, real sockets, real files.
//!
//! What it is: a [`World`] is one log with a home of its own: a temporary directory, a port and a `log-server`
//! process that can be stopped, killed and started again in the same place. [`Anchor`] is somebody with a
//! state directory who uses that log, [`verifier`] the judge, [`http`] a client that can also misbehave. What
//! it isn't: a second implementation of anything. Nothing here reads receipts or checks proofs; tests do that
//! with `proto` and with the programs themselves.
//!
//! Fixtures panic when something can't be set up: then the test that asked for it has failed. Every process
//! dies with the value that stands for it.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used,
    reason = "fixtures fail by panicking; that is the failure of the test that uses them"
)]
#![allow(clippy::disallowed_methods, reason = "scratch files, made again for every test")]

mod anchor;
pub mod corpus;
pub mod http;
mod ports;
mod programs;
mod server;
pub mod statements;

pub use anchor::Anchor;
pub use programs::{Program, Ran, command, run, run_with_input, verifier};
pub use server::{Settings, World};
