//! R1: the witness chain, its seal, and how it is stored.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{C, E, N};
use crate::gad::base::runs::minimal;
use crate::gad::base::sessions::{periodic, snapshot};
use crate::gad::case::case;
use crate::gad::record::replace_once;

const CHAIN: &str = "eq (1), A2 R1";
const STORED: &str = "S9, gad-definitions 2.5 storage";
const WITNESS: &str = "core/witness.jsonl";

pub(super) fn cases() -> Vec<Case> {
    let mut list = links();
    list.extend(lines());
    list.extend(seals());
    list
}

fn links() -> Vec<Case> {
    let stated = |name, label: &'static str, seq: u64, code, why| {
        case(name, minimal, E, CHAIN, why)
            .change(|r| r.entry(label).seq = Some(seq.into()))
            .invalid(&[code])
    };
    vec![
        case("r1-chain-empty", minimal, C, CHAIN, "no entry")
            .change(|r| r.entries.clear())
            .invalid(&["R1.CHAIN.EMPTY"]),
        case("r1-chain-seq-start", minimal, E, CHAIN, "numbers start at 1")
            .change(|r| {
                for (entry, number) in r.entries.iter_mut().zip(1..) {
                    entry.seq = Some(json!(number));
                }
            })
            .invalid(&["R1.CHAIN.SEQ_START"]),
        stated("r1-chain-seq-gap", "said", 9, "R1.CHAIN.SEQ_GAP", "a number is left out"),
        stated("r1-chain-seq-repeat", "said", 3, "R1.CHAIN.SEQ_GAP", "a number twice"),
        stated(
            "r1-chain-seq-max",
            "said",
            9_007_199_254_740_991,
            "R1.CHAIN.SEQ_GAP",
            "2^53-1 in between",
        ),
        case("r1-chain-cut-middle", minimal, N, CHAIN, "an entry was taken out")
            .change(|r| {
                r.outside(|files| {
                    let text = String::from_utf8(files[WITNESS].clone()).expect("text");
                    let kept: Vec<_> =
                        text.lines().filter(|line| !line.contains("\"claim\"")).collect();
                    files.insert(WITNESS.into(), (kept.join("\n") + "\n").into_bytes());
                });
            })
            .invalid(&["R1.CHAIN.SEQ_GAP", "R1.MANIFEST.HASH"]),
        case("r1-chain-hash", minimal, C, CHAIN, "an entry was changed, its hash wasn't")
            .change(|r| r.replace(WITNESS, "all done", "all fine"))
            .invalid(&["R1.CHAIN.HASH"]),
        case("r1-chain-hash-last", minimal, C, CHAIN, "the h of the last entry is another")
            .change(|r| {
                r.entry("seal").edit(|line| {
                    let at = line.find("\"h\":").expect("h") + 12;
                    let flipped = if line.as_bytes()[at] == b'0' { "1" } else { "0" };
                    format!("{}{flipped}{}", &line[..at], &line[at + 1..])
                });
            })
            .invalid(&["R1.CHAIN.HASH"]),
        case("r1-chain-reorder", minimal, C, CHAIN, "two entries changed places")
            .change(|r| {
                r.edit(WITNESS, |bytes| {
                    let text = String::from_utf8(bytes).expect("text");
                    let mut lines: Vec<_> = text.lines().collect();
                    lines.swap(2, 3);
                    (lines.join("\n") + "\n").into_bytes()
                });
            })
            .invalid(&["R1.CHAIN.SEQ_GAP", "R1.CHAIN.HASH"]),
        case("r1-chain-head", minimal, C, CHAIN, "M_core names another head")
            .change(|r| r.manifest(|m| m["witness"]["head"] = "@h:v".into()))
            .invalid(&["R1.CHAIN.HEAD"]),
        case("r1-chain-count", minimal, C, CHAIN, "M_core counts other entries")
            .change(|r| r.manifest(|m| m["witness"]["count"] = 9.into()))
            .invalid(&["R1.CHAIN.COUNT"]),
        case("r1-chain-cut-tail", periodic, C, CHAIN, "the tail is cut, M_core's head isn't")
            .change(|r| {
                r.edit(WITNESS, |bytes| {
                    let text = String::from_utf8(bytes).expect("text");
                    text.split_inclusive('\n').take(4).collect::<String>().into_bytes()
                });
            })
            .invalid(&["R1.CHAIN.HEAD", "R1.CHAIN.COUNT"]),
    ]
}

fn lines() -> Vec<Case> {
    let edit = |name, why, change: fn(Vec<u8>) -> Vec<u8>| {
        case(name, minimal, C, STORED, why)
            .change(|r| r.edit(WITNESS, change))
            .invalid(&["R1.CHAIN.NONCANONICAL"])
    };
    vec![
        edit("r1-chain-no-last-lf", "the last line has no LF", |mut bytes| {
            bytes.pop();
            bytes
        }),
        edit("r1-chain-blank-line", "a blank line", |bytes| replace_once(bytes, "\n", "\n\n")),
        edit("r1-chain-crlf", "a CR before the LF", |bytes| replace_once(bytes, "\n", "\r\n")),
        edit("r1-chain-space", "a space within a line", |bytes| {
            replace_once(bytes, "\"seq\":0", "\"seq\": 0")
        }),
        edit("r1-chain-member-order", "h before body", |bytes| {
            let text = String::from_utf8(bytes).expect("text");
            let (first, rest) = text.split_once('\n').expect("lines");
            let at = first.rfind(",\"h\":").expect("h");
            let h = &first[at + 1..first.len() - 1];
            format!("{{{h},{}}}\n{rest}", &first[1..at]).into_bytes()
        }),
        case("r1-issuer-unknown-type", minimal, E, "S2 issuer table", "a type nobody knows")
            .change(|r| {
                let entry = crate::gad::entries::Entry::new("odd", "key_rotated", json!({}));
                r.before("done", [entry]);
            })
            .invalid(&["R1.ISSUER.UNKNOWN_TYPE"]),
    ]
}

fn seals() -> Vec<Case> {
    vec![
        case("r1-seal-final-without-end", snapshot, E, "S3", "seal=final and no terminal")
            .change(|r| r.seal = "final")
            .invalid(&["R1.SEAL.MODE"]),
        case("r1-seal-snapshot-with-end", minimal, C, "S3", "seal=snapshot and a terminal")
            .change(|r| r.seal = "snapshot")
            .invalid(&["R1.SEAL.MODE"]),
        case("r1-seal-unsealed", snapshot, C, "A2 OUTCOME", "a run cut where no checkpoint stands")
            .change(|r| r.drop(&["seal"]))
            .invalid(&["R1.SEAL.UNSEALED", "R1.CKPT.NOT_AT_HEAD"]),
    ]
}
