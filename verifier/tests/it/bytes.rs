//! Every byte of a receipt matters, or is shown not to.

use anchorlog_verifier::receipt::{Expectations, VerifiedReceipt, examine_receipt, read_receipt};

use crate::world::World;

/// What the bytes prove, if anything.
fn verified(world: &World, bytes: &[u8]) -> Option<VerifiedReceipt> {
    let receipt = read_receipt(bytes).ok()?;
    examine_receipt(&receipt, &world.policy(), &Expectations::default()).into_verified().ok()
}

/// Every change of one byte: each bit flipped, the byte removed, the byte doubled.
fn changes(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..bytes.len()).flat_map(move |at| {
        let flips = (0..8).map(move |bit| {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1 << bit;
            (at, changed)
        });
        let mut removed = bytes.to_vec();
        removed.remove(at);
        let mut doubled = bytes.to_vec();
        doubled.insert(at, bytes[at]);
        flips.chain([(at, removed), (at, doubled)])
    })
}

#[test]
fn every_byte_of_a_lean_receipt_matters() {
    let world = World::new();
    for index in [2, 4] {
        let bytes = world.draft(index).json();
        assert!(verified(&world, &bytes).is_some());
        for (at, changed) in changes(&bytes) {
            let text = String::from_utf8_lossy(&changed);
            assert!(verified(&world, &changed).is_none(), "byte {at}: {text}");
        }
    }
}

/// With everything a receipt may carry beside its proof: changes that are accepted lie where
/// nothing is proven, and what is proven stays the same.
#[test]
fn what_does_not_matter_changes_nothing() {
    let world = World::new();
    let mut draft = world.draft(2);
    draft.extra = Some(vec![0xaa; 30]);
    draft.timestamps = vec![vec![0x30; 30]];
    draft.conflicts = vec![44, 55];
    draft.cosign(&world.witnesses[2], 1);
    draft.state = "published";
    let bytes = draft.json();
    let truth = verified(&world, &bytes).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let without_effect = [
        // Opaque by the proof format.
        span(&text, "extra ", "\\n"),
        // Not verified by this version, and never counted.
        span(&text, "\"timestamps\":[", "]"),
        // The log's word.
        span(&text, "\"conflicts\":[", "]"),
        // Three cosignatures where two are asked for: any one of them can be lost by becoming a line
        // of an unknown key, which is passed over.
        span(&text, "\u{2014} witness1.example", "\\n"),
        span(&text, "\u{2014} witness2.example", "\\n"),
        span(&text, "\u{2014} witness3.example", "\\n"),
    ];
    let mut accepted = 0;
    for (at, changed) in changes(&bytes) {
        let Some(found) = verified(&world, &changed) else { continue };
        accepted += 1;
        let place = String::from_utf8_lossy(&changed);
        assert!(without_effect.iter().any(|span| span.contains(&at)), "byte {at}: {place}");
        assert_eq!(found.origin(), truth.origin());
        assert_eq!(found.index(), truth.index());
        assert_eq!(found.tree(), truth.tree());
        assert_eq!(found.entry(), truth.entry());
        assert_eq!(found.state(), truth.state());
        // A witness can be lost with its line; none can be won.
        assert!(found.witnesses().iter().all(|witness| truth.witnesses().contains(witness)));
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn random_bytes_and_splices_never_panic_and_never_prove_another_thing() {
    let world = World::new();
    let receipts: Vec<_> = (0..7).map(|index| world.draft(index).json()).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..20_000 {
        let mut bytes = receipts[random.below(receipts.len())].clone();
        match round % 4 {
            0 => bytes = (0..random.below(300)).map(|_| random.byte()).collect(),
            1 => {
                let at = random.below(bytes.len());
                bytes.truncate(at);
            }
            2 => {
                for _ in 0..=random.below(4) {
                    let at = random.below(bytes.len());
                    bytes[at] = random.byte();
                }
            }
            _ => {
                let other = &receipts[random.below(receipts.len())];
                let (from, to) = (random.below(bytes.len()), random.below(other.len()));
                bytes.truncate(from);
                bytes.extend_from_slice(&other[to..]);
            }
        }
        if let Some(found) = verified(&world, &bytes) {
            let index = usize::try_from(found.index()).unwrap();
            assert_eq!(*found.entry(), world.entries[index]);
            assert_eq!(found.tree().root, world.checkpoint(7).root);
        }
    }
}

fn span(text: &str, start: &str, end: &str) -> std::ops::Range<usize> {
    let from = text.find(start).unwrap_or_else(|| panic!("{start}"));
    let to = text[from + start.len()..].find(end).unwrap();
    from..from + start.len() + to + 1
}

/// xorshift64*: the same bytes in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % bound
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }
}
