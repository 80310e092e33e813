//! Where a part stands in the bytes that it is a part of.

/// A part of some bytes, kept beside them.
#[derive(Clone, Copy, Debug)]
pub(in crate::timestamp) struct Span {
    start: usize,
    length: usize,
}

impl Span {
    /// Where `part` is in `whole`, of which it is a slice.
    pub(in crate::timestamp) fn of(whole: &[u8], part: &[u8]) -> Self {
        let start = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
        Self { start, length: part.len() }
    }

    /// The part again.
    pub(in crate::timestamp) fn within(self, whole: &[u8]) -> &[u8] {
        let end = self.start.saturating_add(self.length);
        whole.get(self.start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn a_part_is_found_again() {
        let whole = *b"0123456789";
        for (start, end) in [(0, 10), (0, 0), (3, 7), (10, 10)] {
            let span = Span::of(&whole, &whole[start..end]);
            assert_eq!(span.within(whole.to_vec().as_slice()), &whole[start..end]);
        }
    }
}
