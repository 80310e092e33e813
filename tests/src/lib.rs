//! Shared fixtures.

pub mod differential;
pub mod forge;
pub mod gad;
pub mod gad_load;
pub mod interop;
pub mod judge;
pub mod ledger;
pub mod lying_log;
pub mod process;
pub mod simulation;
pub mod witness_double;
pub mod workflow;
pub mod world;
