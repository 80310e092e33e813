//! Bundles of the corpus, and bundles made to deceive.

#![allow(clippy::disallowed_methods, reason = "tests build their own worlds on disk")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use anchorlog_proto::gad::tar::TarWriter;
use anchorlog_proto::json::{ReadLimits, parse};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;

const LIMITS: Limits = Limits::DEFAULT;

/// The corpus's folder of GAD vectors.
pub(in crate::gad) fn vectors() -> Option<PathBuf> {
    let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    let Some(corpus) = std::env::var_os("ANCHORLOG_CORPUS") else {
        assert!(!required, "ANCHORLOG_REQUIRE_CORPUS=1, but ANCHORLOG_CORPUS is not set");
        println!("skipped: ANCHORLOG_CORPUS is not set");
        return None;
    };
    let folder = Path::new(&corpus).join("gad");
    assert!(folder.is_dir(), "{} is not there", folder.display());
    Some(folder)
}

/// The names of all vectors, ascending.
pub(in crate::gad) fn names(vectors: &Path) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(vectors)
        .unwrap()
        .map(name)
        .filter(|name| vectors.join(name).join("vector.json").is_file())
        .collect();
    names.sort();
    names
}

/// What a vector says must be found, of the codes that start like this.
pub(in crate::gad) fn must_codes(vector: &Path, start: &str) -> Vec<String> {
    let text = fs::read(vector.join("vector.json")).unwrap();
    let value = parse(&text, &ReadLimits::DEFAULT).unwrap();
    let expected = value.as_object().unwrap().get("expected").unwrap();
    let codes = expected.as_object().unwrap().get("must_codes").unwrap().as_array().unwrap();
    let codes = codes.iter().map(|code| code.as_str().unwrap().to_owned());
    codes.filter(|code| code.starts_with(start)).collect()
}

/// Opens a vector's bundle, whichever form it has.
pub(in crate::gad) fn open_vector(vector: &Path, limits: &Limits) -> Result<Bundle, Findings> {
    let directory = vector.join("bundle");
    let path = if directory.is_dir() { directory } else { vector.join("bundle.tar") };
    Bundle::open(&path, limits)
}

pub(in crate::gad) fn codes(findings: &Findings) -> Vec<String> {
    findings.sorted().iter().map(|finding| finding.code.to_string()).collect()
}

/// Code and member of each finding; all of them end the evaluation.
fn refused(result: Result<Bundle, Findings>) -> Vec<(String, String)> {
    let findings = result.err().unwrap_or_default();
    let row = |finding: &&GadFinding| {
        assert_eq!(finding.affects, Affect::EVERYTHING, "{}", finding.code);
        let member = finding.place.member.as_deref().unwrap_or("-");
        (finding.code.to_string(), member.to_owned())
    };
    findings.sorted().iter().map(row).collect()
}

fn pairs<const N: usize>(rows: [(&str, &str); N]) -> Vec<(String, String)> {
    rows.map(|(code, member)| (code.to_owned(), member.to_owned())).to_vec()
}

/// A directory with these files.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let root = TempDir::new().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn members(bundle: &Bundle) -> Vec<(String, Vec<u8>)> {
    let read = |(path, size): (&str, u64)| {
        let bytes = bundle.read_whole(path).unwrap();
        assert_eq!(u64::try_from(bytes.len()).unwrap(), size);
        (path.to_owned(), bytes)
    };
    bundle.members().map(read).collect()
}

fn pack(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = TarWriter::new(Vec::new());
    for (path, bytes) in members {
        writer.append(path, u64::try_from(bytes.len()).unwrap(), &**bytes).unwrap();
    }
    writer.finish().unwrap()
}

const PLAIN: &[(&str, &str)] =
    &[("core/manifest.json", "{}"), ("core/plan.json", "plan"), ("envelope.json", "")];

#[test]
fn corpus_bundles_are_the_same_in_every_form() {
    let Some(vectors) = vectors() else { return };
    let mut packed = 0;
    for name in names(&vectors) {
        let Ok(bundle) = open_vector(&vectors.join(&name), &LIMITS) else { continue };
        let listed = members(&bundle);
        let archive = pack(&listed);
        let tar = Bundle::from_tar(&archive, &LIMITS).unwrap();
        assert_eq!(members(&tar), listed, "{name}");
        assert_eq!(tar.sha256(), Some(Digest::of(&archive)));
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("x"), &archive).unwrap();
        let tar = Bundle::open(&folder.path().join("x"), &LIMITS).unwrap();
        assert_eq!((tar.form(), tar.sha256()), (Form::Tar, Some(Digest::of(&archive))));
        assert_eq!(members(&tar), listed, "{name}");
        if bundle.form() == Form::Tar {
            // Written by somebody else from the same members: the same bytes.
            assert_eq!(bundle.sha256(), tar.sha256(), "{name}");
        } else {
            assert_eq!((bundle.form(), bundle.sha256()), (Form::Directory, None));
        }
        packed += 1;
    }
    assert!(packed > 200, "{packed}");
    let first = open_vector(&vectors.join("V01"), &LIMITS).unwrap();
    let control = open_vector(&vectors.join("X052d"), &LIMITS).unwrap();
    assert_eq!(members(&first), members(&control));
}

#[test]
fn corpus_containers_are_refused_with_their_codes() {
    let Some(vectors) = vectors() else { return };
    let mut refused = Vec::new();
    for name in names(&vectors) {
        let vector = vectors.join(&name);
        let mut limits = LIMITS;
        if name == "X054c" {
            limits.members = 5;
        }
        match open_vector(&vector, &limits) {
            // Paths as listed and limits of the witness come later.
            Ok(_) => {
                let later = ["X047", "X054a", "X054b"].contains(&&*name);
                assert!(later || must_codes(&vector, "IN.").is_empty(), "{name}");
            }
            Err(findings) => {
                assert_eq!(codes(&findings), must_codes(&vector, "IN."), "{name}");
                refused.push(name);
            }
        }
    }
    assert_eq!(refused, ["X049", "X052a", "X052b", "X052c", "X052e", "X054c"]);
}

#[test]
fn a_directory_is_read_and_empty_folders_are_not_members() {
    let root = directory(PLAIN);
    fs::create_dir_all(root.path().join("core/empty/with space")).unwrap();
    let bundle = Bundle::open(root.path(), &LIMITS).unwrap();
    assert_eq!(bundle.form(), Form::Directory);
    let listed: Vec<_> = bundle.members().collect();
    assert_eq!(listed, [("core/manifest.json", 2), ("core/plan.json", 4), ("envelope.json", 0)]);
    assert_eq!(bundle.read_whole("core/plan.json").unwrap(), b"plan");
    assert_eq!(bundle.read_whole("envelope.json").unwrap(), b"");
    assert!(bundle.contains("envelope.json") && !bundle.contains("plan.json"));
    let absent = bundle.read_whole("plan.json").unwrap_err();
    assert_eq!(codes(&absent), ["IN.OPEN"]);

    // The bundle itself may be named by a link.
    let link = TempDir::new().unwrap();
    symlink(root.path(), link.path().join("latest")).unwrap();
    assert!(Bundle::open(&link.path().join("latest"), &LIMITS).is_ok());
}

#[test]
fn a_core_alone_is_called_as_in_a_bundle() {
    let root = directory(&[("manifest.json", "{}"), ("artifacts/a", "1")]);
    let bundle = Bundle::open(root.path(), &LIMITS).unwrap();
    assert_eq!((bundle.form(), bundle.form().as_str()), (Form::Core, "core"));
    let listed = members(&bundle);
    assert_eq!(listed.first().unwrap(), &("core/artifacts/a".to_owned(), b"1".to_vec()));
    let core =
        [("artifacts/a".to_owned(), b"1".to_vec()), ("manifest.json".into(), b"{}".to_vec())];
    assert_eq!(members(&Bundle::in_memory(core, Form::Core, &LIMITS).unwrap()), listed);

    // A stray manifest beside a core makes no core of it.
    let root = directory(&[("manifest.json", "{}"), ("core/manifest.json", "1")]);
    assert_eq!(Bundle::open(root.path(), &LIMITS).unwrap().form(), Form::Directory);
}

#[test]
fn what_is_no_bundle_cannot_be_opened() {
    let root = directory(&[("file", "not an archive")]);
    let open = |name: &str| refused(Bundle::open(&root.path().join(name), &LIMITS));
    assert_eq!(open("absent"), pairs([("IN.OPEN", "-")]));
    assert_eq!(open("file"), pairs([("IN.OPEN", "-")]));
    let fifo = root.path().join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert_eq!(open("fifo"), pairs([("IN.NOT_REGULAR", "-")]));
    assert_eq!(refused(Bundle::open(Path::new("/dev/zero"), &LIMITS)), open("fifo"));
}

#[test]
fn nothing_but_regular_files_is_taken_from_a_directory() {
    let root = directory(PLAIN);
    let at = |path: &str| root.path().join(path);
    symlink("plan.json", at("core/link")).unwrap();
    symlink("core", at("linked")).unwrap();
    symlink("nowhere", at("core/dangling")).unwrap();
    mknodat(CWD, at("core/fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let _socket = UnixListener::bind(at("core/socket")).unwrap();
    fs::write(at("core/one"), "1").unwrap();
    fs::hard_link(at("core/one"), at("core/two")).unwrap();
    let expected = pairs([
        ("IN.NOT_REGULAR", "core/dangling"),
        ("IN.NOT_REGULAR", "core/fifo"),
        ("IN.NOT_REGULAR", "core/link"),
        ("IN.NOT_REGULAR", "core/one"),
        ("IN.NOT_REGULAR", "core/socket"),
        ("IN.NOT_REGULAR", "core/two"),
        ("IN.NOT_REGULAR", "linked"),
    ]);
    assert_eq!(refused(Bundle::open(root.path(), &LIMITS)), expected);
}

#[test]
fn paths_of_files_are_checked_and_every_fault_is_reported() {
    let root = directory(&[("core/A", ""), ("core/a", ""), ("core/b c", ""), ("core/d\\e", "")]);
    fs::write(root.path().join(std::ffi::OsStr::from_bytes(b"core/\xff")), "").unwrap();
    let long = ["n".repeat(100), "m".repeat(100), "l".repeat(60)].join("/");
    fs::create_dir_all(root.path().join(&long).parent().unwrap()).unwrap();
    fs::write(root.path().join(&long), "").unwrap();
    let expected = pairs([
        ("IN.PATH_FORM", "core/\\xff"),
        ("IN.PATH_COLLISION", "core/a"),
        ("IN.PATH_FORM", "core/b c"),
        ("IN.PATH_TRAVERSAL", "core/d\\\\e"),
        ("IN.PATH_FORM", &long),
    ]);
    assert_eq!(refused(Bundle::open(root.path(), &LIMITS)), expected);

    let files = [
        ("a/../b", "IN.PATH_TRAVERSAL"),
        ("/a", "IN.PATH_TRAVERSAL"),
        ("c:x", "IN.PATH_TRAVERSAL"),
        ("a\0", "IN.PATH_TRAVERSAL"),
        ("a//b", "IN.PATH_TRAVERSAL"),
        ("", "IN.PATH_FORM"),
        ("é", "IN.PATH_FORM"),
    ];
    for (path, code) in files {
        let found = Bundle::in_memory([(path.to_owned(), vec![])], Form::Directory, &LIMITS);
        assert_eq!(codes(&found.unwrap_err()), [code], "{path:?}");
    }
    let twice = [("a".to_owned(), vec![]), ("a".to_owned(), vec![])];
    let found = Bundle::in_memory(twice, Form::Tar, &LIMITS);
    assert_eq!(codes(&found.unwrap_err()), ["IN.ARCHIVE_DUP"]);
}

#[test]
fn limits_hold_in_every_form() {
    let root = directory(&[("a", "12345"), ("b", "123"), ("c/d", "")]);
    let listed = members(&Bundle::open(root.path(), &LIMITS).unwrap());
    let archive = pack(&listed);
    for (limit, at_limit, over) in [
        ("members", 3, "IN.LIMIT_COUNT"),
        ("member_bytes", 5, "IN.LIMIT_BYTES"),
        ("bundle_bytes", 8, "IN.LIMIT_BYTES"),
    ] {
        let open = |value: u64| {
            let mut limits = LIMITS;
            assert!(limits.set(limit, value));
            [
                refused(Bundle::open(root.path(), &limits)),
                refused(Bundle::from_tar(&archive, &limits)),
                refused(Bundle::in_memory(listed.clone(), Form::Directory, &limits)),
            ]
            .map(|rows| rows.into_iter().map(|(code, _)| code).collect::<Vec<_>>())
        };
        assert!(open(at_limit).iter().all(Vec::is_empty));
        assert_eq!(open(at_limit - 1), [[over], [over], [over]]);
    }
    // Directories are no members, but there can't be any number of them.
    for name in 0..6 {
        fs::create_dir(root.path().join(format!("empty{name}"))).unwrap();
    }
    let mut limits = LIMITS;
    limits.members = 6;
    assert_eq!(refused(Bundle::open(root.path(), &limits)), pairs([("IN.LIMIT_COUNT", "-")]));
    limits.members = 7;
    assert!(Bundle::open(root.path(), &limits).is_ok());
}

#[test]
fn a_file_that_changed_since_it_was_listed_is_not_taken() {
    let changes: [fn(&Path); 6] = [
        |file| fs::write(file, "shorter").unwrap(),
        |file| fs::write(file, "a longer text than it was").unwrap(),
        |file| fs::remove_file(file).unwrap(),
        |file| {
            fs::rename(file, file.with_extension("old")).unwrap();
            symlink("x.old", file).unwrap();
        },
        |file| {
            fs::rename(file, file.with_extension("old")).unwrap();
            fs::copy(file.with_extension("old"), file).unwrap();
        },
        |file| {
            fs::remove_file(file).unwrap();
            mknodat(CWD, file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let root = directory(&[("x", "what was listed")]);
        let bundle = Bundle::open(root.path(), &LIMITS).unwrap();
        assert!(bundle.read_whole("x").is_ok());
        change(&root.path().join("x"));
        let findings = bundle.read_whole("x").unwrap_err();
        assert_eq!(codes(&findings), ["IN.OPEN"], "change {number}");
        assert_eq!(codes(&bundle.reader("x").unwrap_err()), ["IN.OPEN"], "change {number}");
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_not_taken() {
    let root = directory(&[("x", "what was listed")]);
    let bundle = Bundle::open(root.path(), &LIMITS).unwrap();
    let file = || OpenOptions::new().append(true).open(root.path().join("x")).unwrap();
    let read = |reader: &mut MemberReader<'_>| io::copy(reader, &mut io::sink());

    let mut reader = bundle.reader("x").unwrap();
    reader.read_exact(&mut [0; 4]).unwrap();
    file().write_all(b"!").unwrap();
    let finding = read_failure("x", &read(&mut reader).unwrap_err());
    assert_eq!(finding.code.as_str(), "IN.OPEN");
    assert_eq!(finding.actual.as_deref(), Some("it is longer than it was listed with"));

    file().set_len(15).unwrap();
    let mut reader = bundle.reader("x").unwrap();
    assert_eq!(read(&mut reader).unwrap(), 15);
    let mut reader = bundle.reader("x").unwrap();
    file().set_len(6).unwrap();
    let error = read(&mut reader).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(read_failure("x", &error).place, Where::member("x"));
}

#[test]
fn an_archive_that_shrinks_is_not_taken() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bundle.tar");
    fs::write(&path, pack(&[("a".into(), vec![1; 5000]), ("b".into(), vec![2; 10])])).unwrap();
    let bundle = Bundle::open(&path, &LIMITS).unwrap();
    // Members are read from several places at once.
    let (mut a, mut b) = (bundle.reader("a").unwrap(), bundle.reader("b").unwrap());
    a.read_exact(&mut [0; 3000]).unwrap();
    b.read_exact(&mut [0; 5]).unwrap();
    let mut rest = Vec::new();
    a.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, [1; 2000]);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(3000).unwrap();
    assert_eq!(codes(&bundle.read_whole("a").unwrap_err()), ["IN.OPEN"]);
    assert_eq!(b.read(&mut [0; 5]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn what_is_wrong_with_an_archive_is_reported_whole() {
    let archive = pack(&[("a".into(), vec![]), ("b".into(), vec![1])]);
    let mut twice = archive[..1536].to_vec();
    twice.extend_from_slice(&archive);
    twice.push(0);
    let expected =
        pairs([("IN.ARCHIVE_TRAILING", "-"), ("IN.ARCHIVE_DUP", "a"), ("IN.ARCHIVE_DUP", "b")]);
    assert_eq!(refused(Bundle::from_tar(&twice, &LIMITS)), expected);
    for length in 0..archive.len() {
        let found = refused(Bundle::from_tar(&archive[..length], &LIMITS));
        assert_eq!(found, pairs([("IN.OPEN", "-")]), "{length}");
    }
}

#[test]
fn paths_as_listed_are_checked_with_those_that_are_there() {
    let bundle = Bundle::in_memory(
        PLAIN.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())),
        Form::Directory,
        &LIMITS,
    )
    .unwrap();
    let core = crate::gad::rules::r1_manifest::tests::manifest(&[
        ("artifacts/x", ""),
        ("../plan.json", ""),
        ("Plan.json", ""),
        ("plan.json", ""),
        ("plan.json", ""),
    ]);
    let envelope = crate::gad::rules::r1_envelope::tests::manifest(
        &[("anchors/a b", ""), ("anchors/X", "")],
        &[("attestations/\u{e9}", ""), ("anchors/x", ""), ("core/artifacts/X", "")],
    );
    let mut findings = Findings::new();
    bundle.check_paths(Some(&core), Some(&envelope), &mut findings);
    let rows: Vec<_> = findings
        .list()
        .iter()
        .map(|finding| {
            assert_eq!(finding.affects, Affect::EVERYTHING);
            let place = &finding.place;
            (finding.code.as_str(), place.member.as_deref(), place.pointer.as_deref().unwrap())
        })
        .collect();
    let (manifest, envelope) = (Some("core/manifest.json"), Some("envelope.json"));
    let expected = [
        ("IN.PATH_TRAVERSAL", manifest, "/members/1/path"),
        ("IN.PATH_COLLISION", manifest, "/members/2/path"),
        ("IN.PATH_FORM", envelope, "/anchors/0/path"),
        ("IN.PATH_FORM", envelope, "/attestations/0/path"),
        ("IN.PATH_COLLISION", envelope, "/attestations/1/path"),
        ("IN.PATH_COLLISION", envelope, "/attestations/2/path"),
    ];
    assert_eq!(rows, expected);
    let mut findings = Findings::new();
    bundle.check_paths(None, None, &mut findings);
    assert!(findings.is_empty());
}
