//! Strict JSON with number literals kept (RFC 0020 sections 1 and 2).
//!
//! What it is: the reader of everything in a workflow bundle. One value, well-formed UTF-8, no repeated names,
//! no unpaired surrogates, and numbers exactly as they are spelled, because a case may say `-0` and a foreign
//! document may say `1.50`. What it isn't: the reader of Anchorlog's own formats, which is
//! [`crate::json`]: that one has integers and no literals. Why there are two is in
//! `docs/decisions/0010-number-literals.md`.
//!
//! Nothing stops at the first fault of a later phase: see [`crate::jp::fault`].

mod bounds;
mod fields;
mod nesting;
mod reader;
#[cfg(test)]
mod tests;
mod value;

pub use bounds::{Bounds, Numbers};
pub use fields::Fields;
pub use reader::{raw_member, read, read_into};
pub use value::{Object, Value};
