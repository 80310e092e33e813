//! IN.*: what a bundle may be as a container.

use crate::gad::Case;
use crate::gad::Level::{C, N, Nobody};
use crate::gad::archive::{BLOCK, append, header, member, sum};
use crate::gad::base::envelopes::{beside, defensible};
use crate::gad::base::runs::minimal;
use crate::gad::base::sessions::two_nodes;
use crate::gad::case::case;

const TAR: &str = "gad-formats 3 tar form";
const PATH: &str = "gad-formats 3 path form";
const LIMIT: &str = "gad-formats 3 limits, I5";

pub(super) fn cases() -> Vec<Case> {
    let mut list = archives();
    list.extend(kinds());
    list.extend(paths());
    list.extend(limits());
    list
}

fn archives() -> Vec<Case> {
    let cut = |name, why, keep: fn(usize) -> usize| {
        case(name, minimal, N, TAR, why)
            .change(|r| {
                r.archive(move |mut bytes| {
                    bytes.truncate(keep(bytes.len()));
                    bytes
                });
            })
            .refused(&["IN.OPEN"])
    };
    let spoil = |name, why, at: usize, to: u8| {
        case(name, minimal, N, TAR, why)
            .change(|r| {
                r.archive(move |mut bytes| {
                    bytes[at] = to;
                    bytes
                });
            })
            .refused(&["IN.OPEN"])
    };
    let trailing = |name, why, more: Vec<u8>| {
        case(name, minimal, N, TAR, why)
            .change(|r| r.archive(move |bytes| [&bytes[..], &more].concat()))
            .refused(&["IN.ARCHIVE_TRAILING"])
    };
    vec![
        cut("in-open-cut-in-member", "the last member ends early", |len| len - 3 * BLOCK),
        cut("in-open-no-end", "the end-of-archive blocks are missing", |len| len - 2 * BLOCK),
        cut("in-open-half-end", "one end-of-archive block where two belong", |len| len - BLOCK),
        cut("in-open-empty", "an empty file is no archive", |_| 0),
        spoil("in-open-checksum", "the checksum of a header doesn't fit", 100, b'7'),
        spoil("in-open-magic", "the magic of a header isn't ustar", 257, b'U'),
        trailing("in-trailing-bytes", "bytes follow the end of the archive", b"more".to_vec()),
        trailing("in-trailing-zeros", "a third zero block follows the end", vec![0; BLOCK]),
        trailing("in-trailing-zero", "a single zero byte follows the end", vec![0]),
        case("in-archive-dup", minimal, N, TAR, "the archive holds the plan twice")
            .change(|r| {
                r.archive(|bytes| append(bytes, &member(b"core/plan.json", b"{}", b'0')));
            })
            .refused(&["IN.ARCHIVE_DUP"]),
        case(
            "in-size-over-limit",
            minimal,
            N,
            LIMIT,
            "a header states more than a member may have",
        )
        .change(|r| {
            r.archive(|bytes| {
                let mut header = header(b"core/artifacts/huge", 0o7_777_777_777, b'0');
                sum(&mut header);
                append(bytes, &header)
            });
        })
        .refused(&["IN.LIMIT_BYTES"]),
        case(
            "in-archive-metadata",
            minimal,
            Nobody,
            TAR,
            "mode, owner and time of members aren't read",
        )
        .change(|r| {
            r.archive(|mut bytes| {
                let mut head = [0; BLOCK];
                head.copy_from_slice(&bytes[..BLOCK]);
                head[100..107].copy_from_slice(b"0000777");
                head[108..115].copy_from_slice(b"0001750");
                head[136..147].copy_from_slice(b"14724160000");
                sum(&mut head);
                bytes[..BLOCK].copy_from_slice(&head);
                bytes
            });
        })
        .holds(&[])
        .without(&["IN.OPEN"]),
    ]
}

fn kinds() -> Vec<Case> {
    [
        ("in-symlink", b'2', "a symbolic link"),
        ("in-hard-link", b'1', "a hard link"),
        ("in-directory-member", b'5', "a directory as a member of an archive"),
        ("in-character-device", b'3', "a character device"),
        ("in-fifo", b'6', "a FIFO"),
        ("in-extended-header", b'x', "a pax header"),
        ("in-long-name", b'L', "a GNU long name"),
    ]
    .into_iter()
    .map(|(name, kind, why)| {
        case(name, minimal, N, TAR, why)
            .change(|r| {
                r.archive(move |bytes| append(bytes, &member(b"core/artifacts/odd", b"", kind)));
            })
            .refused(&["IN.NOT_REGULAR"])
    })
    .collect()
}

fn paths() -> Vec<Case> {
    let found = |name, path: &'static [u8], code, why| {
        case(name, minimal, N, PATH, why)
            .change(|r| r.archive(move |bytes| append(bytes, &member(path, b"x", b'0'))))
            .refused(&[code])
    };
    let listed = |name, path: &'static str, code, why| {
        case(name, minimal, C, PATH, why)
            .change(|r| {
                r.manifest(move |manifest| {
                    let digest = "@sha256:x";
                    let row = serde_json::json!(
                        {"path": path, "role": "artifact", "size": 1, "digest": digest});
                    let rows = manifest["members"].as_array_mut().expect("rows");
                    rows.push(row);
                    rows.sort_by_key(|row| row["path"].as_str().map(str::to_owned));
                });
            })
            .refused(&[code])
    };
    vec![
        found("in-path-parent", b"core/../x", "IN.PATH_TRAVERSAL", "a segment is .."),
        found("in-path-dot", b"core/./x", "IN.PATH_TRAVERSAL", "a segment is ."),
        found("in-path-absolute", b"/etc/x", "IN.PATH_TRAVERSAL", "the path is absolute"),
        found("in-path-empty-segment", b"core//x", "IN.PATH_TRAVERSAL", "a segment is empty"),
        found("in-path-backslash", b"core\\x", "IN.PATH_TRAVERSAL", "a backslash"),
        found("in-path-drive", b"C:/x", "IN.PATH_TRAVERSAL", "a drive prefix"),
        found("in-path-control", b"core/\x07", "IN.PATH_TRAVERSAL", "a control byte"),
        found("in-path-space", b"core/artifacts/a b", "IN.PATH_FORM", "a space"),
        found("in-path-not-ascii", "core/artifacts/é".as_bytes(), "IN.PATH_FORM", "not ASCII"),
        found("in-path-colon", b"core/artifacts/a:b", "IN.PATH_FORM", "a colon"),
        found("in-path-collision", b"core/Plan.json", "IN.PATH_COLLISION", "two spellings by case"),
        listed("in-listed-parent", "../x", "IN.PATH_TRAVERSAL", "M_core lists a path that leaves"),
        listed(
            "in-listed-form",
            "artifacts/a b",
            "IN.PATH_FORM",
            "M_core lists a path with a space",
        ),
        listed(
            "in-listed-collision",
            "artifacts/Delta.patch",
            "IN.PATH_COLLISION",
            "M_core lists two spellings by case",
        ),
        case("in-anchor-path", defensible, N, PATH, "M_envelope lists a path that leaves")
            .change(|r| {
                r.envelope(|envelope| envelope["anchors"][0]["path"] = "anchors/../x.tsr".into());
            })
            .refused(&["IN.PATH_TRAVERSAL"]),
    ]
}

/// The envelope on its own: a limit is the caller's, and would be met by the predecessor as well.
fn first() -> crate::gad::record::Record {
    let mut r = defensible();
    r.inputs.predecessor = false;
    r
}

fn limits() -> Vec<Case> {
    let limit = |name, base, limit, value, code, why| {
        case(name, base, Nobody, LIMIT, why)
            .change(|r| {
                r.inputs.limits.insert(limit, value);
            })
            .refused(&[code])
    };
    let enough = |name, base, limit, value, code, why| {
        case(name, base, Nobody, LIMIT, why)
            .change(|r| {
                r.inputs.limits.insert(limit, value);
            })
            .holds(&[])
            .without(&[code])
    };
    let (bytes, count, line) = ("IN.LIMIT_BYTES", "IN.LIMIT_COUNT", "IN.LIMIT_LINE");
    vec![
        limit("in-limit-member-bytes", minimal, "member_bytes", 500, bytes, "a member is too long"),
        limit("in-limit-bundle-bytes", minimal, "bundle_bytes", 5000, bytes, "all are too long"),
        limit("in-limit-line", minimal, "line_bytes", 300, line, "a witness line is too long"),
        limit("in-limit-members", minimal, "members", 6, count, "seven members where six may be"),
        enough("in-limit-members-met", minimal, "members", 7, count, "seven where seven may be"),
        limit("in-limit-entries", minimal, "entries", 7, count, "eight entries where seven may be"),
        enough("in-limit-entries-met", minimal, "entries", 8, count, "eight where eight may be"),
        limit("in-limit-anchors", first, "anchors", 0, count, "an anchor where none may be"),
        limit(
            "in-limit-attestations",
            defensible,
            "attestations",
            0,
            count,
            "one where none may be",
        ),
        limit("in-limit-nodes", two_nodes, "nodes", 1, count, "two nodes where one may be"),
        limit("in-limit-edges", two_nodes, "edges", 0, count, "an edge where none may be"),
        limit("in-limit-principals", minimal, "principals", 2, count, "three keys, two may be"),
        enough("in-limit-beside", beside, "anchors", 1, count, "one anchor where one may be"),
    ]
}
