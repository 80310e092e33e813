//! `anchor commit`: a plan, before anything is dispatched.

use anchorlog_proto::Digest;

use crate::core::Core;
use crate::envelope::{LAYERS, World};
use crate::fake_log::FakeLog;
use crate::tsa::Tsa;

#[test]
fn a_plan_is_committed_to_before_anything_happens() {
    let (world, log, tsa) = (World::new(), FakeLog::start(), Tsa::start("alpha"));
    let roots = world.root(&tsa);
    let (url, vkey, tsa_url) = (log.url(), log.vkey(), tsa.url());
    let arguments =
        ["commit", "plan.json", "--out", "commitment", "--tsa", &tsa_url, "--roots", &roots];
    let report = world
        .done(&[&arguments[..], &["--log", &url, "--vkey", &vkey, "--wait", "published"]].concat());
    assert_eq!(report["plan_hash"], world.core.plan_hash.to_string());
    let files: Vec<String> = report["anchors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|anchor| {
            let file = anchor["file"].as_str().unwrap();
            let digest = Digest::of(&std::fs::read(world.path(file)).unwrap());
            assert_eq!(anchor["precommit_digest"], digest.to_string());
            file.to_owned()
        })
        .collect();
    assert_eq!(files.len(), 2);
    assert_eq!(report["precommit_digest"], report["anchors"][0]["precommit_digest"]);
    // The file goes into the envelope of the run as it is: its digest is what the dispatch carries.
    let digest: Digest = report["precommit_digest"].as_str().unwrap().parse().unwrap();
    let bound = Core::new(Some(digest));
    bound.write(&world.path("bound"));
    world.done(&["envelope", "new", "bound", "--out", "e0", "--layers", LAYERS]);
    let mut add = vec!["envelope", "add-anchor", "e0", "--kind", "plan_commitment"];
    add.extend(files.iter().map(String::as_str));
    world.done(&add);
    let envelope = world.envelope("e0");
    assert!(envelope.manifest().anchors.iter().any(|row| row.item.digest == digest));
    std::fs::write(world.path("plan.json"), "{}").unwrap();
    assert_eq!(world.refused(&arguments), (2, "J.MISSING_FIELD".into()));
}
