//! Shared fixtures.

pub mod forge;
pub mod interop;
pub mod ledger;
pub mod process;
pub mod world;
