//! C2SP tlog-tiles: paths, bytes, headers.

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::tile::{Width, parse_bundle, parse_tile};

use super::*;

const IMMUTABLE: Option<&str> = Some("public, max-age=604800, immutable");

#[tokio::test]
async fn the_checkpoint_is_a_fresh_signed_note() {
    let world = World::new().await;
    for size in [0, 3] {
        world.fill(size).await;
        let answer = world.get("/checkpoint").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        let checkpoint = SignedCheckpoint::parse(&answer.body).unwrap();
        let verified = checkpoint.verify(world.log.key()).unwrap();
        assert_eq!(verified.checkpoint().size.get(), size);
    }
}

#[tokio::test]
async fn tiles_of_every_width_are_served_and_nothing_else() {
    let world = World::new().await;
    world.fill(600).await;
    for (path, hashes) in [
        ("/tile/0/000", 256),
        ("/tile/0/001", 256),
        ("/tile/0/002.p/88", 88),
        ("/tile/0/002.p/1", 1),
        ("/tile/0/000.p/255", 255),
        ("/tile/1/000.p/2", 2),
    ] {
        let answer = world.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body.len());
        assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
        assert_eq!(answer.header("cache-control"), IMMUTABLE);
        assert_eq!(answer.header("content-encoding"), None);
        assert_eq!(
            parse_tile(&answer.body, Width::new(hashes).unwrap()).unwrap().len(),
            usize::from(hashes)
        );
    }
    for path in [
        "/tile/0/002",
        "/tile/0/002.p/89",
        "/tile/0/003.p/1",
        "/tile/1/000.p/3",
        "/tile/1/000",
        "/tile/2/000.p/1",
        "/tile/63/000",
    ] {
        world.get(path).await.problem(404, "log.not-found");
    }
}

#[tokio::test]
async fn bundles_hold_the_entries() {
    let world = World::new().await;
    world.fill(300).await;
    for (path, first, width) in [("/tile/entries/000", 0, 256), ("/tile/entries/001.p/44", 256, 44)]
    {
        let answer = world.get(path).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
        assert_eq!(answer.header("cache-control"), IMMUTABLE);
        let entries = parse_bundle(&answer.body, Width::new(width).unwrap()).unwrap();
        for (number, bytes) in (first..).zip(entries) {
            assert_eq!(bytes, text(number).as_bytes());
        }
    }
    world.get("/tile/entries/001").await.problem(404, "log.not-found");
    world.get("/tile/entries/001.p/45").await.problem(404, "log.not-found");
}

#[tokio::test]
async fn bundles_are_compressed_for_those_who_accept_it() {
    let world = World::new().await;
    world.fill(256).await;
    let plain = world.get("/tile/entries/000").await;
    assert_eq!(plain.header("vary"), Some("accept-encoding"));
    let accepting = |path| request(Method::GET, path, &[("accept-encoding", "gzip, br")], "");
    let packed = world.send(accepting("/tile/entries/000")).await;
    assert_eq!(packed.status, 200);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.header("cache-control"), IMMUTABLE);
    assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() < plain.body.len());
    let tile = world.send(accepting("/tile/0/000")).await;
    assert_eq!(tile.header("content-encoding"), None, "hashes don't compress");
    let missing = world.send(accepting("/tile/entries/009")).await;
    missing.problem(404, "log.not-found");
}

#[tokio::test]
async fn only_the_one_spelling_of_a_path_is_known() {
    let world = World::new().await;
    world.fill(2).await;
    for path in [
        "/tile/0/0",
        "/tile/0/00",
        "/tile/0/0000",
        "/tile/0/x000/000",
        "/tile/0/001.p/0",
        "/tile/0/000.p/256",
        "/tile/0/000.p/01",
        "/tile/00/000",
        "/tile/64/000",
        "/tile/-1/000",
        "/tile/0/000.p",
        "/tile/0/000.p/1/",
        "/tile/0/%3000",
        "/tile/entries/0",
        "/tile/entries/000.p/0",
        "/tile/Entries/000.p/2",
    ] {
        world.get(path).await.problem(400, "request.bad-parameter");
    }
    for path in ["/tile", "/tile/", "/tile/0", "/tile/0/", "/tile/entries/"] {
        assert_eq!(world.get(path).await.status, 404, "{path}");
    }
    world.get("/tile/0/000.p/2?x=1").await.problem(400, "request.unknown-parameter");
}
