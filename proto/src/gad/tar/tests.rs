//! Archives of our own, archives of an enemy, and another tar as a witness.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::as_conversions,
    reason = "a failing test may panic, and builds its own world"
)]

use std::io::Read;
use std::process::Command;

use proptest::prelude::*;

use super::*;
use crate::gad::Limits;
use crate::gad::names::PathDefect;

type Members = Vec<(String, Vec<u8>)>;

fn pack(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = TarWriter::new(Vec::new());
    for (path, bytes) in members {
        writer.append(path, bytes.len() as u64, *bytes).unwrap();
    }
    writer.finish().unwrap()
}

/// The acceptable members, everything reported, and whether the end was a sound one.
fn read_with(archive: &[u8], limits: &Limits) -> (Members, Vec<TarError>, bool) {
    let mut reader = TarReader::new(archive, limits);
    let (mut members, mut errors) = (Vec::new(), Vec::new());
    while let Some(member) = reader.next_member(&mut |error| errors.push(error)) {
        let mut bytes = Vec::new();
        match reader.read_to_end(&mut bytes) {
            Ok(read) => {
                assert_eq!(read as u64, member.size);
                let offset = usize::try_from(member.offset).unwrap();
                assert_eq!(archive[offset..offset + read], bytes);
                members.push((member.path.into(), bytes));
            }
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof),
        }
    }
    assert!(reader.is_whole() || !errors.is_empty());
    (members, errors, reader.is_whole())
}

fn read(archive: &[u8]) -> (Members, Vec<TarError>) {
    let (members, errors, _) = read_with(archive, &Limits::DEFAULT);
    (members, errors)
}

fn codes(archive: &[u8]) -> Vec<&'static str> {
    read(archive).1.iter().map(TarError::code).collect()
}

/// Changes the header at `offset` and makes its checksum right again.
fn with_header(mut archive: Vec<u8>, offset: usize, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    change(&mut archive[offset..offset + 512]);
    seal(&mut archive[offset..offset + 512]);
    archive
}

fn seal(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

fn two() -> Vec<u8> {
    pack(&[("a/one.txt", b"1"), ("b", &[7; 600])])
}

#[test]
fn what_is_written_is_read_and_nothing_else() {
    let archive = two();
    assert_eq!(archive.len(), 512 + 512 + 512 + 1024 + 1024);
    let (members, errors) = read(&archive);
    assert_eq!(errors, []);
    assert_eq!(members, [("a/one.txt".into(), b"1".to_vec()), ("b".into(), vec![7; 600])]);
    assert_eq!(read(&pack(&[])), (vec![], vec![]));
}

#[test]
fn members_can_be_left_unread() {
    let archive = two();
    let mut reader = TarReader::new(&*archive, &Limits::DEFAULT);
    let mut report = |error: TarError| panic!("{error}");
    assert_eq!(reader.next_member(&mut report).unwrap().size, 1);
    assert_eq!(&*reader.next_member(&mut report).unwrap().path, "b");
    reader.read_exact(&mut [0; 5]).unwrap();
    assert_eq!(reader.next_member(&mut report), None);
    assert!(reader.is_whole());
}

#[test]
fn an_archive_cut_anywhere_ends_early() {
    let archive = two();
    for length in 0..archive.len() {
        let (members, errors, whole) = read_with(&archive[..length], &Limits::DEFAULT);
        assert!(!whole);
        assert!(members.len() <= 2);
        assert_eq!(
            errors,
            [TarError::EndsEarly { offset: length as u64 }],
            "cut to {length} bytes"
        );
    }
}

#[test]
fn the_end_is_two_zero_blocks_and_nothing_more() {
    for tail in [&b"\0"[..], b"x", &[0; 512], &[0; 9216]] {
        let archive = [two(), tail.to_vec()].concat();
        assert_eq!(read(&archive).1, [TarError::Trailing { offset: 3584 }]);
    }
    let mut one = two();
    one.truncate(one.len() - 512);
    assert_eq!(codes(&one), ["IN.OPEN"]);
    let member = pack(&[("c", b"")]);
    one.extend_from_slice(&member);
    assert_eq!(read(&one).1, [TarError::EndMarker { offset: 2560 }]);
    // A second archive behind the first one.
    assert_eq!(codes(&[two(), two()].concat()), ["IN.ARCHIVE_TRAILING"]);
}

#[test]
fn only_regular_files_are_members() {
    for type_flag in *b"123456789xgLKSMVDNAX \x01\xff" {
        let archive = with_header(two(), 0, |header| header[156] = type_flag);
        let expected = TarError::NotRegular { path: b"a/one.txt"[..].into(), type_flag };
        // It says that a byte follows; whether one does depends on the type.
        assert_eq!(read(&archive), (vec![], vec![expected.clone()]));
        // Nothing follows, so the rest is looked at all the same.
        let archive = with_header(pack(&[("a/one.txt", b""), ("b", b"2")]), 0, |header| {
            header[156] = type_flag;
        });
        assert_eq!(read(&archive), (vec![("b".into(), b"2".to_vec())], vec![expected]));
    }
    let archive = with_header(two(), 0, |header| header[156] = 0);
    assert_eq!(read(&archive).1, [], "the type of older writers");
}

#[test]
fn everything_wrong_with_the_members_is_reported() {
    let mut archive = pack(&[("a", b""), ("b", b""), ("c", b""), ("d", b"4")]);
    archive = with_header(archive, 0, |header| {
        header[..4].copy_from_slice(b"../x");
        header[156] = b'2';
    });
    archive = with_header(archive, 512, |header| header[0] = 0xff);
    archive = with_header(archive, 1024, |header| header[0] = b'd');
    let (members, errors) = read(&archive);
    assert_eq!(members, [("d".into(), vec![])]);
    let codes: Vec<_> = errors.iter().map(TarError::code).collect();
    assert_eq!(codes, ["IN.PATH_TRAVERSAL", "IN.NOT_REGULAR", "IN.PATH_FORM", "IN.ARCHIVE_DUP"]);
    assert_eq!(errors[0].path(), Some(&b"../x"[..]));
    assert_eq!(errors[3], TarError::Duplicate { path: b"d"[..].into() });
}

#[test]
fn paths_are_those_of_prefix_and_name_with_every_byte() {
    let rename = |name: &[u8], prefix: &[u8]| {
        with_header(pack(&[("a", b"")]), 0, |header| {
            header[..name.len()].copy_from_slice(name);
            header[345..345 + prefix.len()].copy_from_slice(prefix);
        })
    };
    let path = |archive: &[u8]| read(archive).0.first().map(|(path, _)| path.clone());
    assert_eq!(path(&rename(b"n", b"p/q")).as_deref(), Some("p/q/n"));
    assert_eq!(path(&rename(&[b'n'; 100], &[b'p'; 154])).unwrap().len(), 255);
    for (name, prefix, code) in [
        (&[b'n'; 100][..], &[b'p'; 155][..], "IN.PATH_FORM"), // 256 bytes
        (b"/etc", b"", "IN.PATH_TRAVERSAL"),
        (b"n", b"/p", "IN.PATH_TRAVERSAL"),
        (b"n", b"p/", "IN.PATH_TRAVERSAL"),
        (b"n/", b"", "IN.PATH_TRAVERSAL"),
        (b"n\0m", b"", "IN.PATH_TRAVERSAL"),
        (b"n", b"p\0q", "IN.PATH_TRAVERSAL"),
        (b"n\\m", b"", "IN.PATH_TRAVERSAL"),
        (b"c:n", b"", "IN.PATH_TRAVERSAL"),
        (b"./n", b"", "IN.PATH_TRAVERSAL"),
        (b"n\xc3\xa9", b"", "IN.PATH_FORM"),
        (b"n m", b"", "IN.PATH_FORM"),
        (b"\0", b"", "IN.PATH_FORM"), // no name at all
    ] {
        assert_eq!(codes(&rename(name, prefix)), [code], "{name:?} {prefix:?}");
    }
}

#[test]
fn headers_of_other_dialects_are_refused() {
    let refused = |change: &dyn Fn(&mut [u8])| read(&with_header(two(), 0, change)).1;
    let magic = [TarError::Magic { offset: 0 }];
    assert_eq!(refused(&|header| header[257..265].copy_from_slice(b"ustar  \0")), magic);
    assert_eq!(refused(&|header| header[257..265].fill(0)), magic);
    assert_eq!(refused(&|header| header[263..265].copy_from_slice(b"01")), magic);
    // A long name of GNU tar, and its sparse file.
    for type_flag in [b'L', b'S'] {
        let errors = refused(&|header| {
            header[257..265].copy_from_slice(b"ustar  \0");
            header[156] = type_flag;
        });
        let path = b"a/one.txt"[..].into();
        assert_eq!(errors, [TarError::NotRegular { path, type_flag }, magic[0].clone()]);
    }
    // No archive at all.
    assert_eq!(codes(b"\x1f\x8b\x08"), ["IN.OPEN"]);
    assert_eq!(codes(&[b'{'; 2048]), ["IN.OPEN"]);
    assert_eq!(codes(b""), ["IN.OPEN"]);
}

#[test]
fn every_changed_bit_of_a_header_is_noticed() {
    let archive = two();
    for bit in 0..512 * 8 {
        if matches!((bit / 8, bit % 8), (154 | 155, 5)) {
            continue; // a space or a zero byte ends the checksum
        }
        let mut changed = archive.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let errors = read(&changed).1;
        assert_eq!(errors.len(), 1, "bit {bit}: {errors:?}");
        assert_eq!(errors[0].code(), "IN.OPEN", "bit {bit}");
    }
    // Signed sums of some old writers are none.
    let mut changed = with_header(archive, 0, |header| header[0] = 0xff);
    changed[148..156].copy_from_slice(b"000000\0 ");
    assert_eq!(read(&changed).1, [TarError::Checksum { offset: 0 }]);
}

#[test]
fn sizes_are_octal_and_nothing_else() {
    let with_size = |size: &[u8; 12]| {
        read(&with_header(two(), 0, |header| header[124..136].copy_from_slice(size))).1
    };
    for size in [b"00000000001\0", b"00000000001 ", b"1\0\0\0\0\0\0\0\0\0\0\0", b"1          \0"] {
        assert_eq!(with_size(size), []);
    }
    for size in [
        b"\x80\0\0\0\0\0\0\0\0\0\0\x01",                     // base-256
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", // base-256, negative
        b"-0000000001\0",
        b"+0000000001\0",
        b" 0000000001\0",
        b"00000000008\0",
        b"0x000000001\0",
        b"000000000001", // no terminator
        b"1\x0001\0\0\0\0\0\0\0\0",
        b"\0\0\0\0\0\0\0\0\0\0\0\0",
    ] {
        assert_eq!(with_size(size), [TarError::Size { offset: 0 }], "{size:?}");
    }
}

#[test]
fn limits_hold_before_anything_is_read() {
    let limits = |change: &dyn Fn(&mut Limits)| {
        let mut limits = Limits::DEFAULT;
        change(&mut limits);
        limits
    };
    let errors = |limits: &Limits| read_with(&two(), limits).1;
    assert_eq!(errors(&limits(&|limits| limits.member_bytes = 600)), []);
    let over = errors(&limits(&|limits| limits.member_bytes = 599));
    assert_eq!(over, [TarError::MemberBytes { path: b"b"[..].into(), size: 600, limit: 599 }]);
    assert_eq!(errors(&limits(&|limits| limits.bundle_bytes = 601)), []);
    let over = errors(&limits(&|limits| limits.bundle_bytes = 600));
    assert_eq!(over, [TarError::TotalBytes { size: 601, limit: 600 }]);
    assert_eq!(errors(&limits(&|limits| limits.members = 2)), []);
    let over = errors(&limits(&|limits| limits.members = 1));
    assert_eq!(over, [TarError::Members { limit: 1 }]);
    // Links count, too: nothing that is listed is free.
    let link = with_header(pack(&[("a", b""), ("b", b"")]), 0, |header| header[156] = b'2');
    let over = read_with(&link, &limits(&|limits| limits.members = 1)).1;
    assert_eq!(over.last(), Some(&TarError::Members { limit: 1 }));

    // The largest size there is, with nothing behind it.
    let huge = with_header(two(), 0, |header| header[124..136].copy_from_slice(b"77777777777\0"));
    assert_eq!(codes(&huge), ["IN.LIMIT_BYTES"]);
    let unlimited = limits(&|limits| {
        limits.member_bytes = u64::MAX;
        limits.bundle_bytes = u64::MAX;
    });
    let (members, errors, _) = read_with(&huge, &unlimited);
    assert_eq!((members, errors[0].code()), (vec![], "IN.OPEN"));
}

#[test]
fn a_failing_source_is_no_end() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::PermissionDenied.into())
        }
    }
    let archive = two();
    for length in [0, 100, 512, 1024, 1100] {
        let mut errors = Vec::new();
        let mut reader = TarReader::new(archive[..length].chain(Failing), &Limits::DEFAULT);
        while reader.next_member(&mut |error| errors.push(error)).is_some() {}
        assert_eq!(errors, [TarError::Io(std::io::ErrorKind::PermissionDenied)]);
    }
}

#[test]
fn the_writer_refuses_what_has_no_one_form() {
    let mut writer = TarWriter::new(Vec::new());
    writer.append("b", 1, &b"1"[..]).unwrap();
    let long = "x".repeat(101);
    let refused = |error| matches!(error, Err(TarWriteError::NotAscending { .. }));
    assert!(refused(writer.append("b", 0, &b""[..])));
    assert!(refused(writer.append("a", 0, &b""[..])));
    let error = writer.append("../c", 0, &b""[..]).unwrap_err();
    assert!(matches!(error, TarWriteError::Path { defect: PathDefect::Traversal, .. }));
    let error = writer.append("c d", 0, &b""[..]).unwrap_err();
    assert!(matches!(error, TarWriteError::Path { defect: PathDefect::Form, .. }));
    let error = writer.append("c", 1 << 33, &b""[..]).unwrap_err();
    assert!(matches!(error, TarWriteError::TooLarge { .. }));
    for path in [long.clone(), format!("{}/x", "y".repeat(156)), format!("y/{long}")] {
        let error = writer.append(&path, 0, &b""[..]).unwrap_err();
        assert!(matches!(error, TarWriteError::Unrepresentable { .. }), "{path}");
    }
    // None of these left a trace.
    writer.append("c", 0, &b""[..]).unwrap();
    assert_eq!(read(&writer.finish().unwrap()).0.len(), 2);

    for (size, actual) in [(2, 3), (4, 3)] {
        let error = TarWriter::new(Vec::new()).append("a", size, &b"123"[..]).unwrap_err();
        assert!(matches!(error, TarWriteError::Length { actual: found, .. } if found == actual));
    }
}

#[test]
fn long_paths_take_the_prefix_field() {
    for path in [
        "x".repeat(100),
        format!("{}/{}", "p".repeat(155), "n".repeat(99)),
        format!("{}/{}", "p".repeat(154), "n".repeat(100)),
        format!("a/{}", "n".repeat(99)),
        format!("{}/{}", "d".repeat(20), ["n"; 60].join("/")),
    ] {
        let (members, errors) = read(&pack(&[(&path, b"x")]));
        assert_eq!(errors, []);
        assert_eq!(members[0].0, path);
    }
}

/// GNU tar, asked for the same archive, writes the same bytes; and lists what we wrote.
#[test]
fn gnu_tar_agrees() {
    let version = Command::new("tar").arg("--version").output();
    let gnu = version.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("GNU tar"));
    if !gnu {
        println!("skipped: there is no GNU tar here");
        return;
    }
    let long = format!("core/artifacts/{}/{}", "d".repeat(60), "f".repeat(90));
    let members: [(&str, &[u8]); 4] =
        [(&long, b"long"), ("core/artifacts/empty", b""), ("core/x", &[9; 513]), ("z", b"z\n")];
    let ours = pack(&members);

    let root = std::env::temp_dir().join(format!("anchorlog-tar-{}", std::process::id()));
    std::fs::create_dir_all(root.join("in")).unwrap();
    for (path, bytes) in members {
        let path = root.join("in").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    std::fs::write(root.join("ours.tar"), &ours).unwrap();
    let tar = |arguments: &[&str]| {
        let output = Command::new("tar").current_dir(&root).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let listed = tar(&["tf", "ours.tar"]);
    let names: Vec<_> = members.iter().map(|(path, _)| *path).collect();
    assert_eq!(listed.lines().collect::<Vec<_>>(), names);

    let mut arguments = vec![
        "cf",
        "theirs.tar",
        "--format=ustar",
        "-b1",
        "--mtime=@0",
        "--mode=0644",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "-C",
        "in",
    ];
    arguments.extend(names);
    tar(&arguments);
    let theirs = std::fs::read(root.join("theirs.tar")).unwrap();
    std::fs::remove_dir_all(&root).unwrap();
    assert!(theirs == ours, "not the bytes of GNU tar");
}

proptest! {
    /// Whatever members there are, they come back; whatever byte is changed, nothing panics and no
    /// member is made up of other lengths.
    #[test]
    fn any_members_come_back(
        members in prop::collection::btree_map("[a-c]{1,3}(/[a-c]{1,3}){0,2}", prop::collection::vec(any::<u8>(), 0..1200), 0..6),
        position in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let members: Members = members.into_iter().collect();
        let list: Vec<(&str, &[u8])> =
            members.iter().map(|(path, bytes)| (&**path, &**bytes)).collect();
        let mut archive = pack(&list);
        prop_assert_eq!(read(&archive), (members, vec![]));
        let position = position.index(archive.len());
        archive[position] = byte;
        read(&archive);
    }

    #[test]
    fn any_bytes_are_an_archive_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        let (members, errors) = read(&bytes);
        prop_assert!(!errors.is_empty() || members.is_empty());
    }
}
