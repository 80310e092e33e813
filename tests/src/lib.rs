//! Shared fixtures.

pub mod differential;
pub mod forge;
pub mod gad;
pub mod gad_load;
pub mod interop;
pub mod judge;
pub mod ledger;
pub mod process;
pub mod world;
