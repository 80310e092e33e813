//! `log-server export` and `log-server fsck` on the three forms a log has: its directory, its export, its URL.

use std::fs;
use std::path::Path;

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{Frontier, TreeSize, leaf_hash};
use anchorlog_proto::tile::{EntriesId, LevelShape, TileId, parse_bundle};
use anchorlog_tests::world::statements::{batch, text};
use anchorlog_tests::world::{Ran, World};
use serde_json::Value;

/// One full tile and a partial one, on two levels.
const ENTRIES: u64 = 300;

#[test]
fn a_log_is_clean_as_directory_export_and_url() {
    let mut world = filled(ENTRIES);
    let by_url = fsck_url(&world).report(0);
    let busy = world.log_server(&["fsck"]).report(2);
    assert_eq!(busy["error"]["code"], "CLI.LOCKED", "{busy:#}");
    let busy = world.log_server(&["export", "--to", "public"]).report(2);
    assert_eq!(busy["error"]["code"], "CLI.LOCKED", "{busy:#}");
    assert!(!world.root().join("public").exists());

    world.kill();
    let directory = world.log_server(&["fsck"]).report(0);
    let named = world.log_server(&["fsck", world.data().to_str().unwrap()]).report(0);
    assert_eq!(directory["root"], named["root"]);
    let exported = world.log_server(&["export", "--to", "public"]).report(0);
    assert_eq!(exported["size"], ENTRIES);
    let public = world.log_server(&["fsck", "public", "--vkey", world.vkey()]).report(0);
    for report in [&by_url, &directory, &public] {
        assert_eq!(report["verdict"], "holds");
        assert_eq!((&report["entries"], &report["size"]), (&ENTRIES.into(), &ENTRIES.into()));
        assert_eq!(report["root"], directory["root"]);
        assert_eq!(report["problem_count"], 0, "{report:#}");
    }
    // Everything has been read and nothing changed: the log goes on.
    world.restart();
    assert_eq!(world.post("/v1/entries", text(0)).json()["index"], 0);
    assert_eq!(world.post("/v1/entries", text(ENTRIES)).json()["index"], ENTRIES);
}

#[test]
fn an_export_is_what_the_server_serves() {
    let mut world = filled(ENTRIES);
    let size = TreeSize::new(ENTRIES).unwrap();
    let mut paths = vec!["checkpoint".to_owned()];
    for level in 0..2 {
        let tiles = LevelShape::of(level, size).tiles();
        paths.extend(tiles.map(|(index, width)| TileId { level, index, width }.path()));
    }
    let bundles = LevelShape::of(0, size).tiles();
    paths.extend(bundles.map(|(index, width)| EntriesId { index, width }.path()));
    let expected = [
        "checkpoint",
        "tile/0/000",
        "tile/0/001.p/44",
        "tile/1/000.p/1",
        "tile/entries/000",
        "tile/entries/001.p/44",
    ];
    assert_eq!(paths, expected);
    let served: Vec<_> = paths.iter().map(|path| world.get(&format!("/{path}"))).collect();
    world.terminate();
    let _ = world.log_server(&["export", "--to", "public"]).report(0);
    let public = world.root().join("public");
    for (path, answer) in paths.iter().zip(&served) {
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(fs::read(public.join(path)).unwrap(), answer.body, "{path}");
    }
    assert_eq!(files(&public), expected, "and nothing else");

    // Whoever has the files and the key needs nobody's word for the root.
    let note = SignedCheckpoint::parse(&served[0].body).unwrap();
    let checkpoint = note.verify(&world.vkey().parse().unwrap()).unwrap();
    let mut frontier = Frontier::new();
    for (index, width) in LevelShape::of(0, size).tiles() {
        let bundle = fs::read(public.join(EntriesId { index, width }.path())).unwrap();
        for entry in parse_bundle(&bundle, width).unwrap() {
            frontier.push(leaf_hash(entry)).unwrap();
        }
    }
    assert_eq!(checkpoint.checkpoint().size, frontier.size());
    assert_eq!(checkpoint.checkpoint().root, frontier.root());
}

#[test]
fn exporting_again_adds_what_is_new() {
    let mut world = filled(ENTRIES);
    world.terminate();
    let first = world.log_server(&["export", "--to", "public"]).report(0);
    assert_eq!((&first["written"], &first["kept"]), (&6.into(), &0.into()));
    let again = world.log_server(&["export", "--to", "public"]).report(0);
    assert_eq!((&again["written"], &again["kept"]), (&4.into(), &2.into()), "{again:#}");
    world.restart();
    fill(&world, ENTRIES, 512);
    world.terminate();
    let grown = world.log_server(&["export", "--to", "public"]).report(0);
    assert_eq!((&grown["size"], &grown["kept"]), (&512.into(), &2.into()), "{grown:#}");
    let check = world.log_server(&["fsck", "public", "--vkey", world.vkey()]).report(0);
    assert_eq!(check["entries"], 512);
}

#[test]
fn an_empty_log_is_exported_and_checked_too() {
    let mut world = World::start();
    assert_eq!(fsck_url(&world).report(0)["size"], 0);
    world.terminate();
    assert_eq!(world.log_server(&["fsck"]).report(0)["size"], 0);
    assert_eq!(world.log_server(&["export", "--to", "public"]).report(0)["size"], 0);
    assert_eq!(files(&world.root().join("public")), ["checkpoint"]);
    let check = world.log_server(&["fsck", "public", "--vkey", world.vkey()]).report(0);
    assert_eq!((&check["size"], &check["entries"]), (&0.into(), &0.into()));
}

#[test]
fn what_is_missing_or_changed_in_an_export_is_named() {
    let mut world = filled(ENTRIES);
    world.terminate();
    let public = world.root().join("public");
    let check = |path: &str, change: &dyn Fn(&Path)| {
        let _ = fs::remove_dir_all(&public);
        let _ = world.log_server(&["export", "--to", "public"]).report(0);
        change(&public.join(path));
        let report = world.log_server(&["fsck", "public", "--vkey", world.vkey()]).report(1);
        assert_eq!(report["verdict"], "does_not_hold");
        let named = report["problems"].as_array().unwrap().iter().any(|one| one["file"] == path);
        assert!(named, "{path} is not named: {report:#}");
    };
    for path in [
        "checkpoint",
        "tile/0/000",
        "tile/0/001.p/44",
        "tile/1/000.p/1",
        "tile/entries/000",
        "tile/entries/001.p/44",
    ] {
        if path != "checkpoint" {
            check(path, &|file| fs::remove_file(file).unwrap());
        }
        check(path, &|file| {
            let mut bytes = fs::read(file).unwrap();
            let place = bytes.len() / 2;
            bytes[place] ^= 1;
            fs::write(file, bytes).unwrap();
        });
        check(path, &|file| {
            let bytes = fs::read(file).unwrap();
            fs::write(file, &bytes[..bytes.len() - 1]).unwrap();
        });
    }
    // Without a checkpoint there is nothing that could be checked.
    fs::remove_file(public.join("checkpoint")).unwrap();
    let report = world.log_server(&["fsck", "public", "--vkey", world.vkey()]).report(2);
    assert_eq!(report["error"]["code"], "CLI.NO_LOG");
}

#[test]
fn a_log_is_not_checked_with_somebody_elses_key() {
    let mut world = filled(3);
    let other = World::with(anchorlog_tests::world::Settings {
        origin: "other.example/log".to_owned(),
        ..Default::default()
    });
    let foreign = |target: &str| {
        let report = world.log_server(&["fsck", target, "--vkey", other.vkey()]).report(1);
        assert_eq!(report["problems"][0]["file"], "checkpoint", "{report:#}");
    };
    foreign(&world.url());
    let no_key = world.log_server(&["fsck", &world.url()]).report(2);
    assert_eq!(no_key["error"]["code"], "CLI.VKEY");
    let nobody = world.log_server(&["fsck", "http://127.0.0.1:1", "--vkey", world.vkey()]);
    assert_eq!(nobody.report(2)["error"]["code"], "CLI.CALL");
    world.terminate();
    let _ = world.log_server(&["export", "--to", "public"]).report(0);
    let report = world.log_server(&["fsck", "public", "--vkey", other.vkey()]).report(1);
    assert_eq!(report["problems"][0]["file"], "checkpoint", "{report:#}");
    let report = world.log_server(&["fsck", "nowhere", "--vkey", world.vkey()]).report(2);
    assert_eq!(report["error"]["code"], "CLI.NO_LOG");
}

fn filled(entries: u64) -> World {
    let world = World::start();
    fill(&world, 0, entries);
    world
}

/// Adds the statements from number `from` up to `to`.
fn fill(world: &World, from: u64, to: u64) {
    let answer = world.post("/v1/entries:batch", batch((from..to).map(text)));
    let receipts: Value = answer.json()["receipts"].clone();
    assert_eq!(receipts.as_array().unwrap().last().unwrap()["index"], to - 1);
}

fn fsck_url(world: &World) -> Ran {
    world.log_server(&["fsck", &world.url(), "--vkey", world.vkey()])
}

/// Every file below a folder, as sorted paths relative to it.
fn files(folder: &Path) -> Vec<String> {
    anchorlog_tests::world::corpus::files(folder, "")
        .iter()
        .map(|path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned())
        .collect()
}
