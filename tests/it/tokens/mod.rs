//! Time stamps against tokens that an independent generator made: sound ones, and bad ones with one
//! defect each; and against what other implementations make, and make of them.

mod command;
mod differential;
mod forged;
mod openssl;
mod quorum;
mod sweep;
