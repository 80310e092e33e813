//! Strict JSON: one reader, one writer, one canonical form.
//!
//! What it is: the only way JSON bytes become values in Anchorlog, and the only way values become
//! bytes that are hashed or signed. The canonical form is `jcs-int/1`: RFC 8785 over objects,
//! arrays, strings, booleans, null and integers within ±(2^53-1), with member names in code-point
//! order (which is the byte order of their UTF-8 form). Input is refused, never repaired: every
//! refusal has its own stable [`JsonCode`], the byte offset and a JSON pointer.
//!
//! What it isn't: a data-binding framework. A format reads its own closed objects with [`Fields`].
//!
//! Three invariants hold together, and property tests keep them together:
//! * `parse(canonical(v)) == v` for every value within the limits;
//! * `canonical(parse(x))` is a fixed point;
//! * [`Document::noncanonical_at`] is `None` exactly when `canonical(parse(x)) == x`.
//!
//! RFC 8785 sorts names by UTF-16 code units, this form by code points. The two differ only where
//! one name has a character above U+FFFF and the other one in U+E000..=U+FFFF at the first place
//! they differ; names outside an `ext` object are ASCII, where there is no difference.

mod error;
mod fields;
mod limits;
mod reader;
pub(crate) mod scan;
mod time;
mod value;
mod writer;

pub use error::{JsonCode, JsonError, MAX_POINTER_BYTES};
pub use fields::Fields;
pub use limits::{MemberNames, ReadLimits};
pub use reader::{Document, parse, parse_canonical, read};
pub use time::{format_utc_seconds, parse_utc_seconds};
pub use value::{IntegerRangeError, MAX_INTEGER, MAX_UNSIGNED, Object, Value};
pub use writer::{canonical, write_canonical};

#[cfg(test)]
pub(crate) mod corpus_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod reader_tests;
