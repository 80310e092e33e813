//! Fences: which paths a node may touch.

use std::collections::BTreeSet;

use crate::gad::emit::{list, object, text};
use crate::gad::form::Cell;
use crate::gad::names::is_path;
use crate::json::{JsonCode, Value};

/// The one kind of fence.
pub(in crate::gad) const FENCE_KIND: &str = "paths";

/// An allowlist of paths, bytewise: an entry that ends in `/` admits everything below it, any other one
/// exactly itself. An empty list admits nothing.
///
/// Entries have path form, optionally with one final `/`, and none is listed twice. Looking a path up costs
/// a binary search for each of its segments, however long the list is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Fence {
    /// As stated.
    allow: Box<[Box<str>]>,
    /// Positions in `allow`, ascending by entry.
    order: Box<[usize]>,
}

/// The longest entry in bytes: a path and a final `/`.
const MAX_ENTRY_BYTES: usize = 256;

impl Fence {
    /// The fence with these entries; `None` when one isn't of the form or stands there twice.
    #[must_use]
    pub fn new(allow: Vec<Box<str>>) -> Option<Self> {
        allow.iter().all(|entry| is_fence_entry(entry)).then_some(())?;
        let mut order: Vec<_> = allow.iter().enumerate().collect();
        order.sort_unstable_by_key(|(_, entry)| *entry);
        let distinct = order.windows(2).all(|pair| matches!(pair, [(_, a), (_, b)] if a < b));
        let order = order.into_iter().map(|(position, _)| position).collect();
        distinct.then(|| Self { order, allow: allow.into() })
    }

    /// Its entries as stated.
    #[must_use]
    pub fn allow(&self) -> &[Box<str>] {
        &self.allow
    }

    /// Whether it has exactly this entry.
    #[must_use]
    pub fn lists(&self, entry: &str) -> bool {
        let of = |position: &usize| self.allow.get(*position).map_or("", |entry| entry);
        self.order.binary_search_by(|position| of(position).cmp(entry)).is_ok()
    }

    /// Whether it admits `path`.
    #[must_use]
    pub fn admits(&self, path: &str) -> bool {
        let folder = |(end, byte): (usize, u8)| {
            byte == b'/' && path.get(..=end).is_some_and(|folder| self.lists(folder))
        };
        self.lists(path) || path.bytes().enumerate().take(MAX_ENTRY_BYTES).any(folder)
    }

    /// Reads a fence of at most `most` entries. What is wrong is noted under the code of its member.
    #[must_use]
    pub fn read(cell: Cell<'_, '_>, most: usize) -> Option<Self> {
        cell.object(|reader| {
            let kind = reader.literal("kind", FENCE_KIND);
            let allow = reader.required("allow", |cell| {
                let mut seen = BTreeSet::new();
                cell.list(most, |cell| {
                    cell.string_as(JsonCode::Enum, |entry| {
                        (is_fence_entry(entry) && seen.insert(entry)).then(|| entry.into())
                    })
                })
            })?;
            kind?;
            Self::new(allow)
        })
    }

    /// The fence as JSON.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        object([("allow", list(&self.allow, text)), ("kind", text(FENCE_KIND))])
    }
}

/// Whether `entry` has path form, optionally with one final `/`.
fn is_fence_entry(entry: &str) -> bool {
    is_path(entry.strip_suffix('/').unwrap_or(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(entries: &[&str]) -> Option<Fence> {
        Fence::new(entries.iter().map(|entry| (*entry).into()).collect())
    }

    #[test]
    fn folders_admit_what_is_below_and_files_themselves() {
        let fence = fence(&["src/parser/", "README.md", "a/b", "src/parse"]).unwrap();
        for admitted in ["src/parser/x.rs", "src/parser/y/z", "README.md", "a/b", "src/parse"] {
            assert!(fence.admits(admitted), "{admitted}");
        }
        for stray in
            ["src/parser", "src/parsers", "src/x", "README.md2", "readme.md", "a/b/c", "a", ""]
        {
            assert!(!fence.admits(stray), "{stray}");
        }
        assert!(!Fence::default().admits("a"));
    }

    #[test]
    fn entries_have_path_form_and_stand_once() {
        assert!(fence(&["a/", "a"]).is_some());
        for wrong in
            [&["a", "a"][..], &["/"], &[""], &["a//"], &["../"], &["a/../b"], &["/a"], &["*"]]
        {
            assert_eq!(fence(wrong), None, "{wrong:?}");
        }
        let long = "x".repeat(255);
        assert!(fence(&[&format!("{long}/")]).unwrap().admits(&format!("{long}/y")));
        assert_eq!(fence(&[&format!("{long}x")]), None);
    }

    #[test]
    fn a_fence_keeps_the_order_it_was_stated_in() {
        let fence = fence(&["b", "a/", "c"]).unwrap();
        assert_eq!(fence.allow(), [Box::from("b"), "a/".into(), "c".into()]);
        assert!(fence.lists("a/") && !fence.lists("a"));
    }

    /// A hundred thousand look-ups in a hundred thousand entries.
    #[test]
    fn looking_up_does_not_grow_with_the_list() {
        let entries: Vec<Box<str>> = (0..100_000).map(|i| format!("d{i}/").into()).collect();
        let fence = Fence::new(entries).unwrap();
        let start = std::time::Instant::now();
        assert!(
            (0..100_000)
                .all(|i| fence.admits(&format!("d{i}/f")) && !fence.admits(&format!("e{i}/f")))
        );
        assert!(start.elapsed().as_secs() < 20, "quadratic: {:?}", start.elapsed());
    }
}
