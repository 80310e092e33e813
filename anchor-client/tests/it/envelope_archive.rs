//! Envelopes as archives: determined, whole, and nothing of a hostile one.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_verifier::gad::container::Bundle;

use crate::envelope::{CREATED, World};

#[test]
fn archives_are_determined_and_come_back_whole() {
    let world = World::new();
    world.new_envelope("e0", &["--head", "6"]);
    let packed = world.done(&["envelope", "pack", "e0", "e0.tar"]);
    world.done(&["envelope", "pack", "e0", "again.tar"]);
    let bytes = std::fs::read(world.path("e0.tar")).unwrap();
    assert_eq!(bytes, std::fs::read(world.path("again.tar")).unwrap());
    assert_eq!(packed["archive"], Digest::of(&bytes).to_string());
    assert!(Bundle::from_tar(&bytes, &Limits::DEFAULT).is_ok());
    let unpacked = world.done(&["envelope", "unpack", "e0.tar", "back"]);
    assert_eq!(unpacked["archive"], packed["archive"]);
    assert_eq!(world.tree("back"), world.tree("e0"));
    let pack = world.refused(&["envelope", "pack", "e0", "e0.tar"]);
    assert_eq!(pack, (2, "CLIENT.EXISTS".into()));
    let unpack = world.refused(&["envelope", "unpack", "e0.tar", "back"]);
    assert_eq!(unpack, (2, "CLIENT.EXISTS".into()));
    assert_eq!(world.refused(&["envelope", "pack", "core", "c.tar"]).1, "R1.ENV.MISSING");
    assert_eq!(world.refused(&["envelope", "unpack", "e0", "x"]).1, "CLIENT.PACK");

    // An archive can be extended into a directory, never in place.
    let q = world.attest("e0", |_| {});
    world.done(&["envelope", "add-attestation", "e0.tar", &q, "--out", "e1", "--created", CREATED]);
    world.done(&[
        "envelope",
        "add-attestation",
        "e0",
        &q,
        "--out",
        "f1",
        "--created",
        CREATED,
        "--producer",
        concat!("anchor ", env!("CARGO_PKG_VERSION")),
    ]);
    assert_eq!(world.tree("e1"), world.tree("f1"));
}

#[test]
fn a_hostile_archive_leaves_nothing() {
    let world = World::new();
    world.new_envelope("e0", &[]);
    world.done(&["envelope", "pack", "e0", "e0.tar"]);
    let good = std::fs::read(world.path("e0.tar")).unwrap();
    let last = good.len() - 1024;
    // Appends a member of this header before the end.
    let with = |path: &str, flag: u8, body: &[u8]| {
        let mut header = [0_u8; 512];
        header[..path.len()].copy_from_slice(path.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[108..124].copy_from_slice(b"0000000\x000000000\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", body.len()).as_bytes());
        header[136..148].copy_from_slice(b"00000000000\0");
        header[148..156].copy_from_slice(b"        ");
        header[156] = flag;
        if flag != b'0' {
            header[157..168].copy_from_slice(b"/etc/passwd");
        }
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let mut archive = good[..last].to_vec();
        archive.extend(header);
        archive.extend(body);
        archive.resize(archive.len().next_multiple_of(512) + 1024, 0);
        archive
    };
    let mut cases = vec![
        ("control", with("zz", b'0', b"x"), ""),
        ("up", with("../out", b'0', b"x"), "IN.PATH_TRAVERSAL"),
        ("rooted", with("/out", b'0', b"x"), "IN.PATH_TRAVERSAL"),
        ("strange", with("a b", b'0', b"x"), "IN.PATH_FORM"),
        ("link", with("zz", b'2', b""), "IN.NOT_REGULAR"),
        ("hard link", with("zz", b'1', b""), "IN.NOT_REGULAR"),
        ("device", with("zz", b'3', b""), "IN.NOT_REGULAR"),
        ("twice", with("envelope.json", b'0', b"x"), "IN.ARCHIVE_DUP"),
        ("case", with("Envelope.json", b'0', b"x"), "IN.PATH_COLLISION"),
        ("short", good[..last - 512].to_vec(), "IN.OPEN"),
        ("more", [&good[..], b"x"].concat(), "IN.ARCHIVE_TRAILING"),
        // A file where another member needs a directory.
        ("below a file", with("envelope.json/x", b'0', b"x"), "CLIENT.EXISTS"),
    ];
    let mut huge = with("zz", b'0', b"");
    let at = huge.len() - 1024 - 512;
    huge[at + 124..at + 136].copy_from_slice(b"77777777777\0");
    let sum: u32 = huge[at..at + 148]
        .iter()
        .chain(&huge[at + 156..at + 512])
        .map(|byte| u32::from(*byte))
        .sum::<u32>()
        + 8 * 32;
    huge[at + 148..at + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    cases.push(("huge", huge, "IN.LIMIT_BYTES"));
    for (name, bytes, code) in cases {
        std::fs::write(world.path("bad.tar"), bytes).unwrap();
        let arguments = ["envelope", "unpack", "bad.tar", "out"];
        if code.is_empty() {
            world.done(&arguments);
            std::fs::remove_dir_all(world.path("out")).unwrap();
        } else {
            let (exit, found) = world.refused(&arguments);
            assert_eq!(exit, 2, "{name}");
            assert!(found == code || name == "below a file", "{name}: {found}");
        }
    }
    assert!(!world.path("../out").exists());
}
