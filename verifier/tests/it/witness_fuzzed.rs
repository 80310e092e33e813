//! The properties of the fuzz targets on seeds and on small changes of them, so that they are run without a
//! fuzzer too.

#[path = "../../../fuzz/src/witness_chain.rs"]
mod properties;

/// Runs a property on every seed, and on it with bytes changed, moved, repeated or gone.
fn changed(seeds: &[Vec<u8>], property: fn(&[u8])) {
    let mut state = 7_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        usize::try_from(state >> 33).unwrap() % limit.max(1)
    };
    for seed in seeds {
        property(seed);
        for _ in 0..100 {
            let mut bytes = seed.clone();
            for _ in 0..=below(2) {
                let at = below(bytes.len());
                match below(4) {
                    0 => drop(bytes.drain(at..at + usize::from(at < bytes.len()))),
                    1 if at < bytes.len() => bytes[at] = u8::try_from(below(34)).unwrap(),
                    2 => bytes.insert(at, u8::try_from(below(34)).unwrap()),
                    _ => bytes.rotate_left(at),
                }
            }
            property(&bytes);
        }
    }
}

#[test]
fn the_properties_hold_near_the_seeds() {
    let [(_, chains), (_, copies)] = properties::seeds();
    changed(&chains, properties::chain);
    changed(&copies, properties::records);
}
