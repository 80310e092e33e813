//! The properties of the fuzz targets on seeds and on small changes of them, so that they are run without a
//! fuzzer too.

#[path = "../../../fuzz/src/attribution.rs"]
mod properties;

use anchorlog_proto::jp::attribution::Drift;
use anchorlog_verifier::jp::attribution::{Packs, account};

use crate::jp_world::{ProjectionDraft, pack, pack_reversed};

/// Runs a property on the seed, cut short, with bytes changed, and with parts repeated.
fn changed(seed: &[u8], property: fn(&[u8])) {
    property(seed);
    let mut state = 7_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        usize::try_from(state >> 33).unwrap() % limit.max(1)
    };
    for _ in 0..300 {
        let mut bytes = seed.to_vec();
        match below(4) {
            0 => bytes.truncate(below(seed.len())),
            1 => {
                let at = below(seed.len());
                bytes[at] = b"0129{}[],:\"-.eatx\\ \0"[below(20)];
            }
            2 => {
                let (from, to) = (below(seed.len()), below(seed.len()));
                let part = bytes[from.min(to)..from.max(to)].to_vec();
                let at = below(seed.len());
                bytes.splice(at..at, part);
            }
            _ => {
                // A digit for a digit and a letter for a letter keep the form more often.
                let at = below(seed.len());
                bytes[at] = match bytes[at] {
                    b'0'..=b'9' => b"0123456789"[below(10)],
                    b'a'..=b'z' => b"abcdefghij"[below(10)],
                    other => other,
                };
            }
        }
        property(&bytes);
    }
}

#[test]
fn the_properties_hold_near_the_seeds() {
    let facts = [
        r#"{"bad":false,"amount":true,"known":true}"#,
        r#"{"bad":false,"vip":true,"board":true}"#,
        r#"{"bad":false}"#,
    ];
    let (draft, trail) = ProjectionDraft::evaluated(&pack(), &facts);
    let (projection, pack) = (draft.json(), pack());
    changed(pack.as_bytes(), properties::core_pack);
    changed(pack_reversed().as_bytes(), properties::core_pack);
    for facts in facts {
        changed(format!("{pack}\0{facts}").as_bytes(), properties::core_evaluate);
    }
    changed(format!("{pack}\0{{}}\0{{}}").as_bytes(), properties::core_evaluate);
    changed(format!("{projection}\0{pack}").as_bytes(), properties::attribution_projection);
    let mut known = Packs::new();
    known.add(pack.as_bytes()).unwrap();
    let summary = account(&draft.read(), &known).unwrap().summary;
    changed(&summary.to_canonical().unwrap(), properties::attribution_summary);
    let mut other = summary.clone();
    other.stages[0].unresolved += 3;
    let difference = Drift::between(&summary, &other).unwrap();
    changed(&difference.to_canonical().unwrap(), properties::attribution_drift);
    changed(draft.execution_record().as_bytes(), properties::attribution_execution);
    changed(trail.lines().next().unwrap().as_bytes(), properties::attribution_audit);
}
