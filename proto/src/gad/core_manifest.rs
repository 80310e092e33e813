//! M_core, the manifest of a core bundle (`gad.core-manifest/1`), whose hash is `root_core`.

use std::collections::BTreeSet;

use crate::digest::Digest;
use crate::json::{JsonCode, Value};
use crate::signed_object::Domain;

use super::code::{
    FormCode, R1_CKPT_POLICY, R1_MANIFEST_DUP, R1_PROFILE_KEYED, R1_PROFILE_UNSUPPORTED,
};
use super::emit::{integer, list, object, text};
use super::form::{At, Cell, Defects, Reader};
use super::limits::{Limits, most};
use super::names::words;

/// The schema name.
pub const CORE_MANIFEST_SCHEMA: &str = "gad.core-manifest/1";

/// The manifest: what the core consists of, and under which versions it is read.
///
/// Versions and modes of which only one is read aren't kept: R1.PROFILE.* and R1.CKPT.POLICY stand against
/// any other.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct CoreManifest {
    /// The version of the specification the record was written by, as stated: one of [`SPEC_VERSIONS`]
    /// where R1.PROFILE.UNSUPPORTED doesn't stand against it, and empty where it isn't even a string.
    pub spec_version: Box<str>,
    /// Whether the record ends with the run.
    pub seal: Seal,
    /// Number of entries of W.
    pub witness_count: u64,
    /// Last h of W.
    pub witness_head: Digest,
    /// Every member but the manifest, as stated: ascending by path and without repeats where
    /// J.NONCANONICAL and R1.MANIFEST.DUP don't stand against it.
    pub members: Vec<CoreMember>,
}

impl CoreManifest {
    /// Reads a manifest to the end and notes everything that is wrong with it.
    ///
    /// `None` when its form is refused (`J.*`, `IN.*`) or its schema is unknown. A version or a mode that
    /// isn't read here, and rows out of order or repeated, are noted and the rest is there all the same.
    /// Path form, roles and which members there have to be are for whoever has the bundle.
    #[must_use]
    pub fn read(value: &Value<'_>, limits: &Limits, defects: &mut Defects) -> Option<Self> {
        Cell::new(value, &At::root(""), defects).object(|reader| {
            reader.allow_ext();
            let schema = only(reader, "schema", CORE_MANIFEST_SCHEMA, R1_PROFILE_UNSUPPORTED);
            for (name, value) in PROFILE {
                only(reader, name, value, R1_PROFILE_UNSUPPORTED);
            }
            chain_mode(reader);
            for (name, value) in CHECKPOINTS {
                only(reader, name, value, R1_CKPT_POLICY);
            }
            let spec_version = spec_version(reader);
            let seal = reader.required("seal", |cell| cell.one_of(Seal::from_name));
            let witness = reader.required("witness", |cell| {
                cell.object(|witness| {
                    let (count, head) = (witness.seq("count"), witness.digest("head"));
                    Some((count?, head?))
                })
            });
            let members = members(reader, limits);
            schema?;
            let (witness_count, witness_head) = witness?;
            Some(Self { spec_version, seal: seal?, witness_count, witness_head, members: members? })
        })
    }

    /// The manifest as JSON; extensions aren't kept.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        let witness =
            object([("count", integer(self.witness_count)), ("head", text(self.witness_head))]);
        let mut members = crate::json::Object::from([
            ("chain_mode", text(CHAIN_MODE)),
            ("members", list(&self.members, CoreMember::to_value)),
            ("schema", text(CORE_MANIFEST_SCHEMA)),
            ("seal", text(self.seal)),
            ("spec_version", text(&self.spec_version)),
            ("witness", witness),
        ]);
        for (name, value) in PROFILE.into_iter().chain(CHECKPOINTS) {
            members.insert(name, value);
        }
        Value::Object(members)
    }
}

/// root_core of the canonical bytes of a manifest.
#[must_use]
pub fn root_core(canonical: &[u8]) -> Digest {
    Domain::CoreManifest.hash(&[canonical])
}

/// The members that name the byte profile, with the one value that is read.
pub const PROFILE: [(&str, &str); 4] = [
    ("byte_profile", "gad-bytes/1"),
    ("canonicalization", "jcs-int/1"),
    ("hash", "sha256"),
    ("table", "gad.table/1"),
];

/// The members that say how checkpoints cover the witness, with the one value that is read.
pub const CHECKPOINTS: [(&str, &str); 2] =
    [("checkpoint_overlap", "none"), ("coverage_scheme", "checkpoint")];

/// The one chain mode that is read.
pub const CHAIN_MODE: &str = "public";

/// The versions of the specification that are read.
pub const SPEC_VERSIONS: [&str; 8] = ["0.6", "0.7", "0.8", "0.9", "1.0", "1.1", "1.2", "1.3"];

/// One row of the manifest.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct CoreMember {
    /// Path relative to `core/`. As listed: its form is the container's to refuse.
    pub path: Box<str>,
    /// What it is.
    pub role: CoreRole,
    /// Its size in bytes.
    pub size: u64,
    /// Its plain SHA-256.
    pub digest: Digest,
}

impl CoreMember {
    fn to_value(&self) -> Value<'static> {
        object([
            ("digest", text(self.digest)),
            ("path", text(&self.path)),
            ("role", text(self.role)),
            ("size", integer(self.size)),
        ])
    }
}

words! {
    /// What a core member is.
    CoreRole {
        /// `plan.json`.
        Plan = "plan",
        /// `witness.jsonl`.
        Witness = "witness",
        /// `operator.json`.
        Operator = "operator",
        /// `claims.json`.
        Claims = "claims",
        /// Anything below `artifacts/`.
        Artifact = "artifact",
    }
}

words! {
    /// Whether a record is whole.
    Seal {
        /// It ends with the run.
        Final = "final",
        /// It is the sealed prefix of a run that went on.
        Snapshot = "snapshot",
    }
}

/// A member that has exactly one value, with the code for everything else.
fn only(
    reader: &mut Reader<'_, '_>,
    name: &'static str,
    value: &str,
    code: FormCode,
) -> Option<()> {
    reader.literal((name, code), value)
}

fn chain_mode(reader: &mut Reader<'_, '_>) {
    const NAME: &str = "chain_mode";
    let keyed = reader.raw(NAME).and_then(Value::as_str) == Some("keyed");
    let code = if keyed { R1_PROFILE_KEYED } else { R1_PROFILE_UNSUPPORTED };
    only(reader, NAME, CHAIN_MODE, code);
}

fn spec_version(reader: &mut Reader<'_, '_>) -> Box<str> {
    const NAME: &str = "spec_version";
    let stated = reader.raw(NAME).and_then(Value::as_str).unwrap_or_default().into();
    reader.required((NAME, R1_PROFILE_UNSUPPORTED), |cell| {
        cell.one_of(|version| SPEC_VERSIONS.contains(&version).then_some(()))
    });
    stated
}

fn members(reader: &mut Reader<'_, '_>, limits: &Limits) -> Option<Vec<CoreMember>> {
    let mut before: Option<&str> = None;
    let mut seen = BTreeSet::new();
    reader.required("members", |cell| {
        cell.list(most(limits.members), |mut cell| {
            let (path, member) = cell.reborrow().object(|reader| member(reader))?;
            let repeated = !seen.insert(path);
            // A repeat right behind its like is no disorder of its own.
            if before.is_some_and(|before| before > path) {
                cell.reborrow().refuse::<()>(JsonCode::Noncanonical);
            }
            if repeated {
                cell.refuse::<()>(R1_MANIFEST_DUP);
            }
            before = Some(path);
            Some(member)
        })
    })
}

fn member<'v>(reader: &mut Reader<'v, '_>) -> Option<(&'v str, CoreMember)> {
    let path = reader.required("path", |cell| cell.string());
    let role = reader.required("role", |cell| cell.one_of(CoreRole::from_name));
    let (size, digest) = (reader.seq("size"), reader.digest("digest"));
    let path = path?;
    Some((path, CoreMember { path: path.into(), role: role?, size: size?, digest: digest? }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{ReadLimits, canonical, parse};

    fn manifest(paths: &[&str]) -> CoreManifest {
        let member = |path: &&str| CoreMember {
            path: (*path).into(),
            role: CoreRole::Artifact,
            size: 3,
            digest: Digest::of(b"abc"),
        };
        CoreManifest {
            spec_version: "1.3".into(),
            seal: Seal::Final,
            witness_count: 7,
            witness_head: Digest::of(b"head"),
            members: paths.iter().map(member).collect(),
        }
    }

    fn text(manifest: &CoreManifest) -> String {
        String::from_utf8(canonical(&manifest.to_value())).unwrap()
    }

    fn read(text: &str) -> (Option<CoreManifest>, Vec<String>) {
        let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        let mut defects = Defects::new();
        let manifest = CoreManifest::read(&value, &Limits::DEFAULT, &mut defects);
        let list = defects.list().iter();
        (manifest, list.map(|d| format!("{} {}", d.code.as_str(), d.pointer)).collect())
    }

    /// The defects of a manifest of one row with one replacement, and whether there was one.
    fn changed(from: &str, to: &str) -> (bool, Vec<String>) {
        let text = text(&manifest(&["a"]));
        assert!(text.contains(from), "{from}");
        let (manifest, defects) = read(&text.replacen(from, to, 1));
        (manifest.is_some(), defects)
    }

    #[test]
    fn a_good_manifest_reads_and_writes_back() {
        let good = manifest(&["a", "a.b", "a/b", "b"]);
        assert_eq!(read(&text(&good)), (Some(good), vec![]));
    }

    #[test]
    fn versions_that_are_not_read_are_noted() {
        let unsupported = "R1.PROFILE.UNSUPPORTED";
        for (name, value) in PROFILE.into_iter().chain([("spec_version", "1.3")]) {
            for to in ["\"0.5\"", "7"] {
                let (there, defects) =
                    changed(&format!("\"{name}\":\"{value}\""), &format!("\"{name}\":{to}"));
                assert_eq!((there, defects), (true, vec![format!("{unsupported} /{name}")]));
            }
            let (there, defects) = changed(&format!("\"{name}\":"), "\"zz\":");
            assert!(there);
            assert_eq!(defects, [format!("{unsupported} /{name}"), "J.UNKNOWN_FIELD /zz".into()]);
        }
        for version in SPEC_VERSIONS {
            assert!(changed("\"1.3\"", &format!("\"{version}\"")).1.is_empty(), "{version}");
        }
        let (there, defects) = changed("gad.core-manifest/1", "gad.core-manifest/2");
        assert_eq!((there, defects), (false, vec![format!("{unsupported} /schema")]));
    }

    #[test]
    fn modes_that_are_not_read_are_noted() {
        let mode = |to: &str| changed("\"public\"", to);
        assert_eq!(mode("\"keyed\""), (true, vec!["R1.PROFILE.KEYED /chain_mode".into()]));
        for other in ["\"secret\"", "null"] {
            assert_eq!(mode(other), (true, vec!["R1.PROFILE.UNSUPPORTED /chain_mode".into()]));
        }
        for (from, name) in
            [("\"none\"", "checkpoint_overlap"), ("\"checkpoint\"", "coverage_scheme")]
        {
            assert_eq!(changed(from, "\"x\""), (true, vec![format!("R1.CKPT.POLICY /{name}")]));
        }
    }

    #[test]
    fn a_form_that_is_refused_leaves_no_manifest() {
        for (from, to, expected) in [
            ("\"final\"", "\"last\"", "J.ENUM /seal"),
            ("\"count\":7", "\"count\":-7", "J.ENUM /witness/count"),
            ("\"head\":\"sha256:", "\"head\":\"sha-256:", "J.DIGEST_FORM /witness/head"),
            ("\"artifact\"", "\"thing\"", "J.ENUM /members/0/role"),
            ("\"size\":3", "\"size\":\"3\"", "J.TYPE /members/0/size"),
            ("\"path\":\"a\"", "\"path\":null", "J.TYPE /members/0/path"),
        ] {
            assert_eq!(changed(from, to), (false, vec![expected.to_owned()]));
        }
        assert_eq!(
            changed("\"size\"", "\"Size\"").1,
            ["J.MISSING_FIELD /members/0/size", "J.UNKNOWN_FIELD /members/0/Size"]
        );
        let mut limits = Limits::DEFAULT;
        limits.members = 1;
        let mut defects = Defects::new();
        let value = manifest(&["a", "b"]).to_value();
        assert_eq!(CoreManifest::read(&value, &limits, &mut defects), None);
        assert_eq!(defects.list()[0].code, JsonCode::LimitCount.into());
    }

    #[test]
    fn rows_ascend_and_none_is_listed_twice() {
        let defects = |paths: &[&str]| {
            let (read, defects) = read(&text(&manifest(paths)));
            assert_eq!(read.unwrap().members.len(), paths.len());
            defects.join(",")
        };
        assert_eq!(defects(&["a", "a"]), "R1.MANIFEST.DUP /members/1");
        assert_eq!(defects(&["b", "a", "c"]), "J.NONCANONICAL /members/1");
        // A repeat is found across rows that are out of order.
        assert_eq!(
            defects(&["a", "b", "a"]),
            "J.NONCANONICAL /members/2,R1.MANIFEST.DUP /members/2"
        );
        // Bytewise, and as listed: what a path may be is for whoever opens the bundle.
        assert_eq!(defects(&["", "../x", "B", "a", "é"]), "");
    }
}
