//! From a record in the making to its bytes.
//!
//! The order is that of the dependencies: plan, commitments, entries, manifest, root, anchors, envelope,
//! attestation, the envelope after it. Chain hashes, checkpoints and signatures are written by the lower
//! layer of the project's own writer, which writes defective records just as well.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::{Chain, checkpoint_digest};
use anchorlog_proto::gad::plan::{plan_hash, test_spec_digest};
use anchorlog_proto::json::{format_utc_seconds, parse_utc_seconds};
use anchorlog_proto::signed_object::Domain;
use serde_json::{Map, Value as Json, json};

use super::entries::Entry;
use super::json::{Names, canon, to_value};
use super::record::{Files, Form, Record};
use super::{keys, trust};

/// The time of the first entry: 2025-06-01, nine o'clock.
pub const START: i64 = 1_748_768_400;

/// The bytes of a record and of everything beside it.
#[derive(Debug)]
pub struct Rendered {
    /// The bundle.
    pub bundle: Bundle,
    /// The policy.
    pub policy: Option<Vec<u8>>,
    /// Members of `inputs`, and the files they name.
    pub inputs: (Map<String, Json>, Files),
    /// The trust directory: its name and files.
    pub trust: (&'static str, Files),
    /// What was only known in the end.
    pub names: Names,
}

/// A bundle in its form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Bundle {
    /// An archive.
    Tar(Vec<u8>),
    /// The files of a directory.
    Directory(Files),
}

impl Record {
    /// The bytes.
    #[must_use]
    pub fn render(&self) -> Rendered {
        let mut names = Names::default();
        trust::name(&mut names);
        let policy = self.render_policy(&mut names);
        let mut files = Files::new();
        let plan = self.render_plan(&mut names);
        files.insert("core/plan.json".into(), canon(&plan));
        for (path, bytes) in &self.files {
            names.set(format!("sha:{path}"), Digest::of(bytes).to_string());
            files.insert(format!("core/{path}"), bytes.clone());
        }
        if let Some(successor) = &self.inputs.successor {
            let hash = plan_hash(&canon(&names.resolve(successor)));
            names.set("successor", hash.to_string());
        }
        let commitments = self.render_anchors(&mut names, true);
        let (witness, head) = self.render_witness(&mut names);
        files.insert("core/witness.jsonl".into(), witness);
        if let Some(operator) = &self.operator {
            files.insert("core/operator.json".into(), canon(&names.resolve(operator)));
        }
        if let Some(claims) = &self.claims {
            files.insert("core/claims.json".into(), canon(&names.resolve(claims)));
        }
        self.edit_all(&mut files, |path| path != "envelope.json" && path != MANIFEST);
        let manifest = self.render_manifest(&files, head, &names);
        names.set("core", Domain::CoreManifest.hash(&[&canon(&manifest)]).to_string());
        files.insert(MANIFEST.into(), canon(&manifest));
        let mut anchors = commitments;
        anchors.extend(self.render_anchors(&mut names, false));
        anchors.sort_by(|one, other| one.0.cmp(&other.0));
        let first = self.render_envelope(&anchors, &[], None, &names);
        names.set("envelope", envelope_root(&first));
        let attested: Vec<_> = self
            .attestations
            .iter()
            .zip(1..)
            .map(|(q, number)| (format!("attestations/q{number}.json"), canon(&names.resolve(q))))
            .collect();
        let beside = self.inputs.attestation.as_ref().map(|q| canon(&names.resolve(q)));
        let envelope = if attested.is_empty() {
            first.clone()
        } else {
            self.render_envelope(&anchors, &attested, Some(&names.text("envelope")), &names)
        };
        names.set("last-envelope", envelope_root(&envelope));
        files.insert("envelope.json".into(), canon(&envelope));
        files.extend(anchors.into_iter().map(|(path, bytes, _)| (path, bytes)));
        files.extend(attested);
        self.edit_all(&mut files, |path| path == "envelope.json" || path == MANIFEST);
        self.outside.iter().for_each(|change| change(&mut files));
        let bundle = self.render_bundle(files);
        let inputs = self.render_inputs(&names, &first, beside);
        let mut trusted = trust::files();
        let set = self.inputs.trust.as_ref().map_or("basic", |(name, more)| {
            trusted.extend(more.clone());
            *name
        });
        Rendered { bundle, policy, inputs, trust: (set, trusted), names }
    }

    fn render_policy(&self, names: &mut Names) -> Option<Vec<u8>> {
        let policy = names.resolve(self.policy.as_ref()?);
        let bytes = canon(&policy);
        names.set("policy", Domain::TrustPolicy.hash(&[&bytes]).to_string());
        names.set("policy-id", policy["id"].clone());
        let edits = self.edits.iter().filter(|(path, _)| *path == "policy");
        Some(edits.fold(bytes, |bytes, (_, edit)| edit(bytes)))
    }

    fn render_plan(&self, names: &mut Names) -> Json {
        let plan = names.resolve(&self.plan);
        names.set("plan", plan_hash(&canon(&plan)).to_string());
        names.set("plan-document", plan.clone());
        for node in plan["N"].as_array().into_iter().flatten() {
            for test in node["T"].as_array().into_iter().flatten() {
                let id = |of: &Json, name: &str| of[name].as_str().unwrap_or_default().to_owned();
                let name = format!("spec:{}/{}", id(node, "node"), id(test, "test_id"));
                names.set(name, test_spec_digest(&to_value(&test["spec"])).to_string());
            }
        }
        plan
    }

    /// The anchors that are, or aren't, commitments: those the first dispatch may name.
    fn render_anchors(&self, names: &mut Names, committed: bool) -> Vec<(String, Vec<u8>, Json)> {
        let chosen = self.anchors.iter().filter(|anchor| (anchor.over == "plan") == committed);
        let rendered: Vec<_> = chosen.map(|anchor| (anchor.name, anchor.render(names))).collect();
        for (name, (_, bytes, _)) in &rendered {
            names.set(format!("anchor:{name}"), Digest::of(bytes).to_string());
        }
        rendered.into_iter().map(|(_, anchor)| anchor).collect()
    }

    fn render_witness(&self, names: &mut Names) -> (Vec<u8>, Digest) {
        for (entry, number) in self.entries.iter().zip(0_u64..) {
            let stated = entry.seq.clone().unwrap_or_else(|| number.into());
            names.set(format!("seq:{}", entry.label), stated);
        }
        let mut chain = Chain::new();
        let mut heads = Vec::new();
        let mut covered = 0;
        let mut time = START;
        let mut witness = String::new();
        for (entry, number) in self.entries.iter().zip(0_u64..) {
            let t = entry.t.clone().unwrap_or_else(|| format_utc_seconds(time).into());
            time = t.as_str().and_then(parse_utc_seconds).unwrap_or(time) + 60;
            let mut p = entry.p.clone();
            if entry.kind == "checkpoint" {
                fill_checkpoint(&mut p, covered, &heads, names);
                covered = number;
            }
            let mut p = sign(entry, p, names);
            if let Some(change) = entry.payload {
                change(&mut p);
            }
            let mut body = json!({"seq": names.value(&format!("seq:{}", entry.label)), "t": t, "type": entry.kind, "p": p});
            if let Some(change) = entry.body {
                change(&mut body);
            }
            let line = chain.append_body(&to_value(&body));
            names.set(format!("h:{}", entry.label), line.h.to_string());
            heads.push(line.h);
            let text = String::from_utf8(line.bytes).expect("JSON is text");
            witness.push_str(&match &entry.line {
                Some(edit) => edit(text),
                None => text,
            });
        }
        (witness.into_bytes(), chain.head())
    }

    fn render_manifest(&self, files: &Files, head: Digest, names: &Names) -> Json {
        let members: Vec<_> = files
            .iter()
            .filter_map(|(path, bytes)| Some((path.strip_prefix("core/")?, bytes)))
            .map(|(path, bytes)| {
                let role = match path {
                    "plan.json" => "plan",
                    "witness.jsonl" => "witness",
                    "operator.json" => "operator",
                    "claims.json" => "claims",
                    _ => "artifact",
                };
                let digest = Digest::of(bytes).to_string();
                json!({"path": path, "role": role, "size": bytes.len(), "digest": digest})
            })
            .collect();
        let mut manifest = json!({
            "schema": "gad.core-manifest/1", "spec_version": self.spec_version,
            "byte_profile": "gad-bytes/1", "canonicalization": "jcs-int/1", "hash": "sha256",
            "table": "gad.table/1", "chain_mode": "public", "coverage_scheme": "checkpoint",
            "checkpoint_overlap": "none", "seal": self.seal,
            "witness": {"count": self.entries.len(), "head": head.to_string()},
            "members": members,
        });
        self.manifest.iter().for_each(|change| change(&mut manifest));
        names.resolve(&manifest)
    }

    fn render_envelope(
        &self,
        anchors: &[(String, Vec<u8>, Json)],
        attested: &[(String, Vec<u8>)],
        predecessor: Option<&str>,
        names: &Names,
    ) -> Json {
        let heads: Vec<_> = self
            .heads
            .iter()
            .map(|label| json!({"seq": format!("@seq:{label}"), "head": format!("@h:{label}")}))
            .collect();
        let attested: Vec<_> = attested
            .iter()
            .map(|(path, bytes)| json!({"path": path, "digest": Digest::of(bytes).to_string()}))
            .collect();
        let mut envelope = json!({
            "schema": "gad.envelope-manifest/1", "root_core": "@core", "predecessor": predecessor,
            "provenance_layers": self.layers, "declared_heads": heads,
            "anchors": anchors.iter().map(|(_, _, row)| row.clone()).collect::<Vec<_>>(),
            "attestations": attested,
            "metadata": {"producer": "anchorlog-tests", "created": "2025-06-01T12:30:00Z"},
        });
        if let Some(seal) = &self.operator_seal {
            envelope["operator_seal"] = seal.clone();
        }
        self.envelope.iter().for_each(|change| change(&mut envelope));
        names.resolve(&envelope)
    }

    fn edit_all(&self, files: &mut Files, which: impl Fn(&str) -> bool) {
        let stored = |path: &str| path != "policy" && !path.starts_with("input:");
        for (path, edit) in self.edits.iter().filter(|(path, _)| which(path) && stored(path)) {
            let bytes = files.remove(*path).unwrap_or_else(|| panic!("there is no {path}"));
            files.insert((*path).to_owned(), edit(bytes));
        }
    }

    fn render_bundle(&self, files: Files) -> Bundle {
        match self.form {
            Form::Tar => {
                let archive = super::archive::archive(&files);
                Bundle::Tar(self.archive.iter().fold(archive, |bytes, edit| edit(bytes)))
            }
            Form::Directory => Bundle::Directory(files),
            Form::Core => Bundle::Directory(
                files
                    .into_iter()
                    .filter_map(|(path, bytes)| Some((path.strip_prefix("core/")?.into(), bytes)))
                    .collect(),
            ),
        }
    }

    fn render_inputs(
        &self,
        names: &Names,
        first: &Json,
        beside: Option<Vec<u8>>,
    ) -> (Map<String, Json>, Files) {
        let inputs = &self.inputs;
        let mut members = Map::new();
        let mut files = Files::new();
        members.insert("require".into(), inputs.require.into());
        members.insert("evaluation_time".into(), inputs.at.into());
        for (name, value) in [
            ("policy_hash", inputs.policy_hash),
            ("expected_root_core", inputs.root_core),
            ("expected_root_envelope", inputs.root_envelope),
        ] {
            if let Some(value) = value {
                members.insert(name.into(), names.resolve(&value.into()));
            }
        }
        if !inputs.limits.is_empty() {
            members.insert("limits".into(), json!(inputs.limits));
        }
        if let Some(replay) = inputs.replay {
            members.insert("replay".into(), replay.into());
        }
        for (name, file, bytes) in [
            ("predecessor", "predecessor.json", inputs.predecessor.then(|| canon(first))),
            (
                "successor_plan",
                "successor.json",
                inputs.successor.as_ref().map(|plan| canon(&names.resolve(plan))),
            ),
            ("known_checkpoints", "known.json", inputs.known.as_ref().map(canon)),
            ("attestation", "attestation.json", beside),
        ] {
            if let Some(bytes) = bytes {
                members.insert(name.into(), file.into());
                files.insert(file.into(), bytes);
            }
        }
        for (path, edit) in &self.edits {
            if let Some(bytes) = path.strip_prefix("input:").and_then(|name| files.get_mut(name)) {
                *bytes = edit(std::mem::take(bytes));
            }
        }
        (members, files)
    }
}

const MANIFEST: &str = "core/manifest.json";

fn envelope_root(envelope: &Json) -> String {
    Domain::EnvelopeManifest.hash(&[&canon(envelope)]).to_string()
}

/// Fills in what a checkpoint leaves open: the range since the last one, its digest and its head.
fn fill_checkpoint(p: &mut Json, covered: u64, heads: &[Digest], names: &Names) {
    let next = u64::try_from(heads.len()).expect("a small number");
    if p["range"] == "@@auto" {
        p["range"] = json!([covered, next.saturating_sub(1)]);
    }
    let range = names.resolve(&p["range"]);
    let bound = |index: usize| {
        range[index].as_u64().and_then(|bound| usize::try_from(bound).ok()).unwrap_or_default()
    };
    let heads: Vec<_> = heads
        .iter()
        .skip(bound(0))
        .take((bound(1) + 1).saturating_sub(bound(0)))
        .copied()
        .collect();
    if p["digest_over_range"] == "@@auto" {
        p["digest_over_range"] = checkpoint_digest(heads.iter().copied()).to_string().into();
    }
    if p["head"] == "@@auto" {
        let head = heads.last().copied().unwrap_or_else(|| Digest::of(b"no head"));
        p["head"] = head.to_string().into();
    }
}

/// The payload, signed where somebody signs.
fn sign(entry: &Entry, p: Json, names: &Names) -> Json {
    let Some(signer) = entry.signer else { return names.resolve(&p) };
    let mut body = p;
    for (name, value) in [
        ("type", entry.kind.to_owned()),
        ("key_id", format!("@key:{signer}")),
        ("plan_hash", "@plan".to_owned()),
    ] {
        if let Some(members) = body.as_object_mut() {
            members.entry(name).or_insert(value.into());
        }
    }
    names.resolve(&json!({"@sign": signer, "body": body}))
}

/// The bytes of the key with this label, as a file.
#[must_use]
pub fn seed_file(label: &str) -> Vec<u8> {
    keys::seed(label).to_vec()
}
