//! How much a bundle may ask of its reader. Every limit can be set, and every report says what they were.

/// Declares the limits: field, name on the command line and in reports, default.
macro_rules! limits {
    ($($(#[$meta:meta])* $field:ident = $name:literal, $default:expr;)*) => {
        /// The limits of one evaluation.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        #[allow(clippy::exhaustive_structs, reason = "the format lists exactly these")]
        pub struct Limits { $($(#[$meta])* pub $field: u64,)* }

        impl Limits {
            /// The defaults of gad-bytes/1.
            pub const DEFAULT: Self = Self { $($field: $default,)* };

            /// Name and value of each, ascending by name.
            #[must_use]
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                let mut list = vec![$(($name, self.$field)),*];
                list.sort_unstable();
                list
            }

            /// Sets the limit of this name; false when there is none.
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name { $($name => self.$field = value,)* _ => return false }
                true
            }
        }
    };
}

limits! {
    /// Sum of the sizes of all members, in bytes.
    bundle_bytes = "bundle_bytes", 1 << 30;
    /// Size of one member, in bytes.
    member_bytes = "member_bytes", 256 << 20;
    /// Regular files in the bundle, both manifests included.
    members = "members", 100_000;
    /// Witness entries.
    entries = "entries", 1_000_000;
    /// Listed anchors.
    anchors = "anchors", 64;
    /// Listed attestations.
    attestations = "attestations", 64;
    /// Certificates in one token.
    certificates = "certificates", 32;
    /// One witness line with its LF, in bytes.
    line_bytes = "line_bytes", 1 << 20;
    /// Nesting of one JSON document.
    depth = "depth", 64;
    /// Nodes of a plan.
    nodes = "nodes", 10_000;
    /// Edges of a plan.
    edges = "edges", 100_000;
    /// Tests of one node.
    tests = "tests", 1_000;
    /// Registered principals.
    principals = "principals", 1_000;
    /// Elements of an array of findings, paths or references.
    elements = "elements", 100_000;
}

/// A limit as a number of elements in memory.
pub(crate) fn most(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
