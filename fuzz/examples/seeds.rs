//! Writes a small seed corpus for every target: `cargo run --example seeds -- fuzz/corpus`.
//!
//! Seeds are made, not collected: valid inputs of the test world and the smallest variations that
//! reach another branch. libFuzzer does the rest.

use std::fs;
use std::path::Path;

use anchorlog_fuzz::gad_world::{
    Choose, Files, Walk, completed, defended, diamond, policy, role_key,
};
use anchorlog_fuzz::jp_world::{ProjectionDraft, pack, pack_reversed, run_export};
use anchorlog_fuzz::timestamps::CASES;
use anchorlog_fuzz::workflows::BUNDLES;
use anchorlog_fuzz::world::{Draft, World, submitter};
use anchorlog_fuzz::{witness, witness_chain};
use anchorlog_proto::audit::{AuditBody, Collector, Start, Subject};
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::gad::claims::{
    Claims, EvidenceRef, IssuerType, Noncoverage, Subject as ClaimSubject, TypedClaim,
};
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::names::{AnchorKind, EvidenceClass, Role};
use anchorlog_proto::gad::tar::TarWriter;
use anchorlog_proto::jp::attribution::Drift;
use anchorlog_proto::json::canonical;
use anchorlog_proto::timestamp::{TimestampResponse, Token};
use anchorlog_verifier::jp::attribution::{Packs, account};

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
    let requests = [(0, 0), (0, 7), (3, 7), (3, 3), (6, 7)].map(|(old, size)| {
        let proof = world.consistency(old, size);
        let proof: String = proof.iter().map(|hash| hash.to_base64() + "\n").collect();
        format!("old {old}\n{proof}\n{}", world.note(size)).into_bytes()
    });
    let mut asked = requests.to_vec();
    asked.push(b"20852163\n".to_vec());
    let note = world.note(7);
    asked.push(note.rsplit("\n\n").next().unwrap_or_default().as_bytes().to_vec());
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

    let [witnessed, storage] = witness::seeds();
    let made =
        gad().into_iter().chain(workflows()).chain(attribution()).chain(witness_chain::seeds());
    for (target, seeds) in made.chain([
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
        ("tlog_witness", asked),
        ("statement", leaves),
        ("receipt", receipts.clone()),
        ("audit", audits(&world)),
        ("tile_path", paths),
        ("entry_bundle", bundles),
        ("vkey", keys),
        ("receipt_verify", receipts),
        ("witness_statement", witnessed),
        ("witness_storage", storage),
    ]) {
        write(&Path::new(&folder).join(target), &seeds)?;
    }
    Ok(())
}

/// What an auditor says about this log: by trail, by submitter, and from a later position.
fn audits(world: &World) -> Vec<Vec<u8>> {
    let [three, seven] = [3, 7].map(|size| world.checkpoint(size));
    let note = SignedCheckpoint::parse(world.note(7).as_bytes()).expect("a checkpoint");
    let trail = "trail:a".parse().expect("a trail");
    let later = Start { size: three.size, root: three.root };
    let cases = [
        (Subject::Trail(trail), Start::beginning()),
        (Subject::Submitter(submitter().id()), Start::beginning()),
        (Subject::Plan(seven.root), later),
    ];
    let audit = |(subject, from): (Subject, Start)| {
        let mut collector = Collector::new(subject.clone());
        for (index, entry) in (0..).zip(&world.entries) {
            if index >= from.size.get() {
                collector.push(index, entry);
            }
        }
        let collected = collector.finish();
        let body = AuditBody {
            log_key: world.log.verifier_key().clone(),
            checkpoint: note.clone(),
            from,
            subject,
            entries: collected.entries,
            entries_omitted: collected.entries_omitted,
            findings: collected.findings,
            findings_omitted: collected.findings_omitted,
            time: 1_800_000_000,
        };
        body.sign(&submitter()).expect("an audit")
    };
    cases.into_iter().map(audit).collect()
}

/// Numbers for walks; the same every time.
struct Dice(u64);

impl Choose for Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % limit
    }
}

/// Packs, an execution that was evaluated by one, and what is counted of it.
fn attribution() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let facts = [
        r#"{"bad":false,"amount":true,"known":true}"#,
        r#"{"bad":false,"vip":true,"board":true}"#,
        r#"{"bad":false}"#,
        r#"{"bad":true,"known":true}"#,
    ];
    let (draft, trail) = ProjectionDraft::evaluated(&pack(), &facts);
    let packs = [pack(), pack_reversed()].map(String::into_bytes);
    let evaluations = facts.map(|facts| [packs[0].as_slice(), b"\0", facts.as_bytes()].concat());
    let mut known = Packs::new();
    let counted = known.add(&packs[0]).and_then(|_| account(&draft.read(), &known));
    let summary = counted.ok().map(|accounted| accounted.summary);
    let drift = summary.as_ref().and_then(|summary| Drift::between(summary, summary).ok());
    let projection = draft.json().into_bytes();
    let with_pack = [projection.as_slice(), b"\0", packs[0].as_slice()].concat();
    let lines = trail.lines().map(|line| line.as_bytes().to_vec()).collect();
    vec![
        ("core_pack", packs.to_vec()),
        ("core_evaluate", evaluations.to_vec()),
        ("attribution_projection", vec![projection, with_pack]),
        (
            "attribution_summary",
            summary.and_then(|one| one.to_canonical().ok()).into_iter().collect(),
        ),
        ("attribution_drift", drift.and_then(|one| one.to_canonical().ok()).into_iter().collect()),
        ("attribution_execution", vec![draft.execution_record().into_bytes()]),
        ("attribution_audit", lines),
    ]
}

/// Run exports with a trace of every shape of an entry.
fn traced_exports() -> Vec<Vec<u8>> {
    let disposition =
        r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"yes","reasons":[]}"#;
    let exceptions = r#"{"stage":"applicability","condition":"true"},{"stage":"exception","id":"a","condition":"unknown","onUnknown":"ignore"},{"stage":"exception","id":"b","condition":"false"}"#;
    let forced = r#"{"stage":"exception","id":"c","condition":"true","effect":"force-outcome","outcome":"yes"},{"stage":"rule","id":"a","condition":"not-evaluated","skipped":true}"#;
    let ruled = r#"{"stage":"exception","id":"c","condition":"true","effect":"suppress-rule"},{"stage":"rule","id":"a","condition":"not-evaluated","suppressed":true},{"stage":"rule","id":"b","condition":"true","outcome":"yes"},{"stage":"rule","id":"c","condition":"unknown","onUnknown":"ignore"}"#;
    [forced, ruled]
        .map(|rest| run_export("{}", disposition, &format!("[{exceptions},{rest}]")).into_bytes())
        .to_vec()
}

/// A record of every type of entry, the bundle that is DEFENSIBLE, and bytes to choose by.
fn gad() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let mut walk = Walk::new(diamond());
    let mut dice = Dice(1);
    for _ in 0..150 {
        walk.step(&mut dice);
    }
    walk.halt();
    walk.end();
    let mut lines = walk.record.lines.clone();
    lines.iter_mut().for_each(|line| line.truncate(line.len() - 1));
    lines.sort_by_key(|line| entry_type(line));
    lines.dedup_by_key(|line| entry_type(line));

    let bundle = defended(&completed(), Seal::Final);
    let file = |path: &str| vec![bundle.files[path].clone()];
    let plans = vec![file("core/plan.json").concat(), canonical(&diamond().to_value())];
    let known = br#"{"checkpoints":[{"consistency":null,"origin":"log.example","root":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","size":1}],"schema":"gad.known-checkpoints/1"}"#;
    let beside = vec![file("core/operator.json").concat(), known.to_vec()];
    let small = Files::from([("a".to_owned(), b"x".to_vec()), ("b/c".to_owned(), vec![0; 513])]);
    let (core, _) = walk.record.core(Seal::Final);
    let choices = (0..24_u64).map(|seed| {
        let mut dice = Dice(seed);
        (0..64 * (seed + 1)).map(|_| u8::try_from(dice.below(256)).unwrap_or(0)).collect()
    });
    vec![
        ("gad_plan", plans),
        ("gad_entry", lines),
        ("gad_claims", vec![claims()]),
        ("gad_core_manifest", file("core/manifest.json")),
        ("gad_envelope", file("envelope.json")),
        ("gad_attestation", file("attestations/q.json")),
        ("gad_policy", vec![canonical(&policy().to_value())]),
        ("gad_anchor_file", file("anchors/root.json")),
        ("gad_beside", beside),
        ("gad_tar", vec![archive(&small), archive(&Files::new())]),
        ("gad_bundle", vec![archive(&bundle.files), archive(&core)]),
        ("gad_evaluate", choices.collect()),
    ]
}

/// Documents of generated bundles, and whole files of them to be changed.
fn workflows() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let named = |end: &str| -> Vec<Vec<u8>> {
        let files = BUNDLES.iter().flat_map(|bundle| &bundle.files);
        files.filter(|(path, _)| path.ends_with(end)).map(|(_, bytes)| bytes.clone()).collect()
    };
    let mut records = named("execution.json");
    for end in ["record.json", "selections/organisations/1.json", "sets/people.json"] {
        records.extend(named(end).into_iter().take(4));
    }
    let mut exports = named("run.json");
    exports.extend(named("evaluation-error.json"));
    exports.truncate(12);
    exports.extend(traced_exports());
    let mut json = texts(&[r#"{"b":-0,"a":[1.50,"<\u2028\ud83d\ude02"]}"#, "[[[[]]]]", "1e400"]);
    json.extend(named("payload.json").into_iter().take(4));
    let mut bundles = Vec::new();
    for (which, bundle) in (0_u8..).zip(BUNDLES.iter()) {
        for (at, bytes) in (0_u8..32).zip(bundle.files.values()) {
            bundles.push([&[which, at][..], bytes].concat());
        }
    }
    vec![
        ("jp_json", json),
        ("jp_workflow", named("workflow.json")),
        ("jp_execution", records),
        ("jp_export", exports),
        ("jp_bundle", bundles),
    ]
}

/// A machine's claim and a human's.
fn claims() -> Vec<u8> {
    let hash = anchorlog_proto::Digest::of(b"plan");
    let claim = TypedClaim {
        predicate: "judgment/x".into(),
        subject: ClaimSubject { plan_hash: hash, node: Some("a".into()), test_id: None },
        evidence: vec![EvidenceRef::Entry(5), EvidenceRef::Anchor(AnchorKind::CoreRoot)],
        class: EvidenceClass::Attested,
        noncoverage: Some(vec![Noncoverage { aspect: "scope".into(), text: "t".into() }]),
        issuer: IssuerType::Machine,
        signed: None,
    };
    let human = claim.clone().signed_by(hash, &role_key(Role::Approver));
    let claims = Claims { registry_known: true, claims: vec![Some(claim), Some(human)] };
    canonical(&claims.to_value())
}

fn entry_type(line: &[u8]) -> Vec<u8> {
    let mark = b"\"type\":\"";
    let at = line.windows(mark.len()).rposition(|window| window == mark).unwrap_or_default();
    line[at..].iter().copied().skip(mark.len()).take_while(|byte| *byte != b'"').collect()
}

fn archive(files: &Files) -> Vec<u8> {
    let mut writer = TarWriter::new(Vec::new());
    for (path, bytes) in files {
        let size = u64::try_from(bytes.len()).expect("small");
        writer.append(path, size, bytes.as_slice()).expect("written to memory");
    }
    writer.finish().expect("written to memory")
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
