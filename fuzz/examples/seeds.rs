//! Writes a small seed corpus for every target: `cargo run --example seeds -- fuzz/corpus`.
//!
//! Seeds are made, not collected: valid inputs of the test world and the smallest variations that
//! reach another branch. libFuzzer does the rest.

use std::fs;
use std::path::Path;

use anchorlog_fuzz::timestamps::CASES;
use anchorlog_fuzz::world::{Draft, World};
use anchorlog_proto::timestamp::{TimestampResponse, Token};

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "fuzz/corpus".to_owned());
    let world = World::new();
    let draft = world.draft(4);
    let receipts: Vec<Vec<u8>> = drafts(&world).iter().map(Draft::json).collect();
    let notes: Vec<Vec<u8>> =
        [0, 1, 6, 7].map(|size| world.note(size).into_bytes()).into_iter().collect();
    let leaves: Vec<Vec<u8>> =
        world.entries.iter().map(|entry| entry.leaf_bytes().to_vec()).collect();

    let mut json = receipts.clone();
    json.extend(leaves.iter().cloned());
    json.extend(texts(&[
        r#"[null,true,false,0,-1,9007199254740991,"","\u00e9\ud83d\ude00\n",{"ext":{"é":[]}}]"#,
        r#"{"b":1,"a":2}"#,
        "1.0",
        "-0",
        "[[[[[[[[]]]]]]]]",
        r#"{"a":1,"\u0061":2}"#,
    ]));
    let mut checkpoints = notes.clone();
    checkpoints.push(draft.checkpoint.to_text().into_bytes());
    let policies = texts(&[
        &world.policy_text(),
        &world.policy_text_without_quorum(),
        &format!("# a comment\nlog {}\n\nquorum none\n", world.vkey()),
        &world.policy_text().replace("group g 2 w1 w2 w3", "group a any w1 w2\ngroup g all a w3"),
    ]);
    let proofs: Vec<_> = drafts(&world).iter().map(|draft| draft.proof().into_bytes()).collect();
    let paths = texts(&[
        "tile/0/000",
        "tile/0/x001/x234/067.p/1",
        "tile/63/000.p/255",
        "tile/entries/000.p/7",
        "tile/entries/x001/000",
    ]);
    let mut bundle = vec![7];
    for leaf in &leaves {
        bundle.extend(u16::try_from(leaf.len()).map_err(std::io::Error::other)?.to_be_bytes());
        bundle.extend(leaf);
    }
    let bundles = vec![bundle, vec![1, 0, 0], vec![2, 0, 1, 65, 0, 0]];
    let mut keys = vec![world.vkey()];
    keys.extend(world.witnesses.iter().map(|key| key.verifier_key().to_string()));
    let keys = keys.into_iter().map(String::into_bytes).collect();

    let stamps: Vec<_> = CASES.iter().map(|case| case.bytes.clone()).collect();
    let tokens: Vec<_> = stamps.iter().filter_map(|bytes| token(bytes)).collect();
    let infos: Vec<_> = tokens.iter().filter_map(|token| content(token)).collect();
    let bags: Vec<_> = tokens.iter().filter_map(|token| bag(token)).collect();
    let lists = CASES.iter().flat_map(|case| case.given.crls.iter().chain(&case.given.ocsp));
    let lists: Vec<_> = lists.cloned().collect();

    for (target, seeds) in [
        ("timestamp_response", stamps),
        ("timestamp_token", tokens),
        ("tst_info", infos),
        ("certificate_path", bags),
        ("revocation", lists),
        ("json", json),
        ("note", notes),
        ("checkpoint", checkpoints),
        ("tlog_policy", policies),
        ("tlog_proof", proofs),
        ("statement", leaves),
        ("receipt", receipts.clone()),
        ("tile_path", paths),
        ("entry_bundle", bundles),
        ("vkey", keys),
        ("receipt_verify", receipts),
    ] {
        write(&Path::new(&folder).join(target), &seeds)?;
    }
    Ok(())
}

fn drafts(world: &World) -> Vec<Draft> {
    let mut drafts: Vec<_> = (0..7).map(|index| world.draft(index)).collect();
    let mut full = world.draft(2);
    full.extra = Some(vec![1, 2, 3]);
    full.timestamps = vec![vec![0x30, 0]];
    full.conflicts = vec![3, 4];
    drafts.push(full);
    drafts
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn write(folder: &Path, seeds: &[Vec<u8>]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), seed)?;
    }
    Ok(())
}

/// The token of a response that has one.
fn token(bytes: &[u8]) -> Option<Vec<u8>> {
    TimestampResponse::parse(bytes).ok()?.token.map(<[u8]>::to_vec)
}

fn content(token: &[u8]) -> Option<Vec<u8>> {
    Some(Token::parse(token).ok()?.content.to_vec())
}

/// The certificates of a token, one after another.
fn bag(token: &[u8]) -> Option<Vec<u8>> {
    Some(Token::parse(token).ok()?.certificates.concat())
}
