//! A core's directory being written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::{Chain, Line, RangeHasher, Signer};
use anchorlog_proto::gad::core_manifest::{CoreManifest, CoreMember, CoreRole, Seal};
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::issuer::Issuer;
use anchorlog_proto::gad::operator::{Credential, Operator};
use anchorlog_proto::gad::payload::{ArtifactRef, Checkpoint};
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::json::{Value, canonical};
use anchorlog_proto::signed_object::SigningKey;
use sha2::{Digest as _, Sha256};

/// The key with this name.
pub(super) fn key(name: &str) -> SigningKey {
    SigningKey::from_seed(Digest::of(name.as_bytes()).as_bytes())
}

/// A record whose entries are written as they come. Checkpoints are put in by themselves.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    witness: BufWriter<File>,
    hasher: Sha256,
    size: u64,
    plan_hash: Digest,
    chain: Chain,
    engine: SigningKey,
    approver: SigningKey,
    time: i64,
    /// Over the chain hashes from `covered` on.
    range: RangeHasher,
    covered: u64,
    /// How many entries a checkpoint covers.
    every: u64,
    members: BTreeMap<Box<str>, CoreMember>,
    signed: u64,
}

/// What was written.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "figures of a record")]
pub struct Written {
    /// Number of entries.
    pub entries: u64,
    /// How many of them are signed.
    pub signed: u64,
    /// Bytes of the witness.
    pub bytes: u64,
}

impl Record {
    /// A record of this plan in a folder that isn't there yet, with a checkpoint over `every` entries each.
    /// Its first entry is the freeze.
    #[must_use]
    pub fn create(folder: &Path, plan: &Plan, every: u64) -> Self {
        let (engine, approver) = (key("engine"), key("approver"));
        #[allow(clippy::disallowed_methods, reason = "scratch files, made again at will")]
        let file = {
            fs::create_dir_all(folder.join("artifacts")).unwrap();
            File::create(folder.join("witness.jsonl")).unwrap()
        };
        let plan = plan.to_value();
        let bytes = canonical(&plan);
        let mut record = Self {
            folder: folder.to_owned(),
            witness: BufWriter::with_capacity(1 << 20, file),
            hasher: Sha256::new(),
            size: 0,
            plan_hash: plan_hash(&bytes),
            chain: Chain::new(),
            engine,
            approver,
            time: 1_800_000_000,
            range: RangeHasher::new(),
            covered: 0,
            every,
            members: BTreeMap::new(),
            signed: 0,
        };
        record.member("plan.json", CoreRole::Plan, &bytes);
        let operator = Operator {
            identity: "Load Ltd.".into(),
            credential: Credential::of(key("operator").public_key()),
            implementation: "load/1".into(),
            unit: "benches".into(),
            engagement: "none".into(),
        };
        record.member("operator.json", CoreRole::Operator, &canonical(&operator.to_value()));
        record.write(&Payload::freeze(plan.as_object().unwrap()));
        record
    }

    /// The engine's key id, as verdicts state it.
    #[must_use]
    pub fn engine_identity(&self) -> String {
        self.engine.id().to_string()
    }

    /// The key that approves.
    #[must_use]
    pub const fn approver(&self) -> &SigningKey {
        &self.approver
    }

    /// The time of the next entry, in seconds since 1970.
    #[must_use]
    pub const fn time(&self) -> i64 {
        self.time
    }

    /// The number of the next entry.
    #[must_use]
    pub const fn next_seq(&self) -> u64 {
        self.chain.next_seq()
    }

    /// Writes an entry, signed as its type asks for, and a checkpoint when one is due; its number.
    pub fn write(&mut self, payload: &Payload<'_>) -> u64 {
        self.write_line(payload).seq
    }

    /// The same; the whole line.
    pub fn write_line(&mut self, payload: &Payload<'_>) -> Line {
        let line = self.append(payload);
        if self.chain.next_seq() - self.covered >= self.every {
            self.checkpoint();
        }
        line
    }

    /// A checkpoint over everything since the latest one.
    pub fn checkpoint(&mut self) {
        let next = self.chain.next_seq();
        let range = Some((self.covered, next - 1));
        let (digest, head) = (self.range.clone().finish(), self.chain.head());
        (self.range, self.covered) = (RangeHasher::new(), next);
        self.append(&Payload::Checkpoint(Checkpoint { range, digest, head }));
    }

    /// Writes an entry, whatever checkpoints are due.
    pub fn append(&mut self, payload: &Payload<'_>) -> Line {
        let signer = match payload.entry_type().issuer() {
            Issuer::EngineSigned => Signer::Key(&self.engine),
            Issuer::PrincipalSigned | Issuer::AuthoritySigned => Signer::Key(&self.approver),
            Issuer::CheckpointCovered => Signer::None,
        };
        self.signed += u64::from(matches!(signer, Signer::Key(_)));
        let line = self.chain.append(self.time, payload, signer, &self.plan_hash);
        self.time += 1;
        self.put(&line);
        line
    }

    /// Writes whatever payload under whatever type.
    pub fn append_raw(&mut self, type_name: &str, p: Value<'_>) -> u64 {
        let line = self.chain.append_raw("2027-01-15T08:00:00Z", type_name, p);
        self.put(&line);
        line.seq
    }

    fn put(&mut self, line: &Line) {
        self.range.push(&line.h);
        self.hasher.update(&line.bytes);
        self.size += u64::try_from(line.bytes.len()).unwrap();
        self.witness.write_all(&line.bytes).unwrap();
    }

    /// A reference to the artifact of this name, which is written where it isn't there yet.
    pub fn artifact<'p>(&mut self, path: &'p str) -> ArtifactRef<'p> {
        if let Some(member) = self.members.get(path) {
            return ArtifactRef { path, digest: member.digest };
        }
        let bytes = format!("{path}\n").repeat(100);
        ArtifactRef { path, digest: self.member(path, CoreRole::Artifact, bytes.as_bytes()) }
    }

    fn member(&mut self, path: &str, role: CoreRole, bytes: &[u8]) -> Digest {
        #[allow(clippy::disallowed_methods, reason = "scratch files, made again at will")]
        fs::write(self.folder.join(path), bytes).unwrap();
        let (size, digest) = (u64::try_from(bytes.len()).unwrap(), Digest::of(bytes));
        self.members.insert(path.into(), CoreMember { path: path.into(), role, size, digest });
        digest
    }

    /// The last checkpoint and the manifest.
    #[must_use]
    pub fn finish(mut self, seal: Seal) -> Written {
        self.checkpoint();
        self.end(seal)
    }

    /// The manifest, after whatever entries there are.
    #[must_use]
    pub fn end(mut self, seal: Seal) -> Written {
        self.witness.flush().unwrap();
        let path: Box<str> = "witness.jsonl".into();
        let digest = Digest::from_bytes(self.hasher.clone().finalize().into());
        let witness =
            CoreMember { path: path.clone(), role: CoreRole::Witness, size: self.size, digest };
        self.members.insert(path, witness);
        let manifest = CoreManifest {
            spec_version: "1.3".into(),
            seal,
            witness_count: self.chain.next_seq(),
            witness_head: self.chain.head(),
            members: self.members.values().cloned().collect(),
        };
        let bytes = canonical(&manifest.to_value());
        #[allow(clippy::disallowed_methods, reason = "scratch files, made again at will")]
        fs::write(self.folder.join("manifest.json"), bytes).unwrap();
        Written { entries: self.chain.next_seq(), signed: self.signed, bytes: self.size }
    }
}
