//! Shared fixtures.

pub mod interop;
pub mod ledger;
pub mod process;
pub mod world;
