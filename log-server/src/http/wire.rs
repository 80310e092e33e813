//! The JSON that goes over the wire, apart from statements and receipts, which are `anchorlog-proto`'s.
//!
//! These types are written by serde and described to `OpenAPI` by the same definition. Statements and receipts
//! are written from their canonical bytes instead ([`super::receipt`]); their schemas here exist for the
//! description only, and a test holds real answers to them. Members stand in alphabetical order, as in every
//! canonical JSON of the house.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

/// What a first-time client needs to know about a log before it trusts an answer of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LogInfo {
    /// The log's name: the origin line of its checkpoints.
    #[schema(example = "example.com/log")]
    pub origin: String,
    /// The number of entries now.
    #[schema(minimum = 0)]
    pub size: u64,
    /// What serves the log.
    pub software: Software,
    /// The log's public key as a C2SP verifier key. Compare it with what its operator published elsewhere
    /// before you pin it.
    #[schema(example = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")]
    pub vkey: String,
    /// All public keys that sign its checkpoints, the one above first: several while it changes its key.
    pub vkeys: Vec<String>,
}

/// A program and its version.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Software {
    /// The program.
    #[schema(example = "anchorlog")]
    pub name: &'static str,
    /// Its version.
    #[schema(example = "0.1.0")]
    pub version: &'static str,
}

/// One entry of a listing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedEntry {
    /// The digest the statement commits to.
    #[schema(pattern = "^sha256:[0-9a-f]{64}$")]
    pub digest: String,
    /// Position in the log.
    pub index: u64,
    /// The id of the submitter's key; null for an unsigned statement.
    #[schema(required, pattern = "^gadk1:[0-9a-f]{64}$")]
    pub key_id: Option<String>,
    /// What the digest is a digest of.
    #[schema(example = "core_root")]
    pub kind: &'static str,
    /// Position within the trail; null when the statement has none.
    #[schema(required)]
    pub sequence: Option<u64>,
    /// What the statement belongs to; null when it belongs to nothing.
    #[schema(required)]
    pub trail: Option<String>,
}

/// The entries that commit to one digest.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupAnswer {
    /// In the order of the log; empty when there is none.
    pub entries: Vec<ListedEntry>,
    /// Whether there are more than fit into one answer. Name a `kind` to narrow it down.
    pub truncated: bool,
}

/// A part of a trail.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrailAnswer {
    /// Places of the trail that entries of this part claim, and that are claimed with different digests or more
    /// often than 10,000 times.
    pub conflicts: Vec<TrailConflict>,
    /// In the order of the log.
    pub entries: Vec<ListedEntry>,
    /// What to give as `from` for the next part; null when this is the last one.
    #[schema(required)]
    pub next: Option<u64>,
}

/// One place of a trail that is claimed with more than one digest.
#[derive(Debug, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrailConflict {
    /// The entries that claim it, in the order of the log.
    #[schema(min_items = 2)]
    pub indexes: Vec<u64>,
    /// The place.
    pub sequence: u64,
}

/// A part of what one key has signed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitterAnswer {
    /// In the order of the log.
    pub entries: Vec<ListedEntry>,
    /// What to give as `from` for the next part; null when this is the last one.
    #[schema(required)]
    pub next: Option<u64>,
}

/// RFC 6962 inclusion proof.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InclusionAnswer {
    /// Sibling hashes in base64, the leaf's own sibling first.
    #[schema(max_items = 63)]
    pub hashes: Vec<String>,
    /// The entry.
    pub index: u64,
    /// The tree.
    pub size: u64,
}

/// RFC 6962 consistency proof.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsistencyAnswer {
    /// The smaller tree.
    pub from: u64,
    /// Node hashes in base64, in the order of RFC 6962 section 2.1.2.
    #[schema(max_items = 63)]
    pub hashes: Vec<String>,
    /// The larger tree.
    pub to: u64,
}

/// A checkpoint that third parties have countersigned.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CountersignedCheckpoint {
    /// The signed note, with the log's own signature alone. Its SHA-256 is what the tokens stamp.
    pub checkpoint: String,
    /// Signature lines of witnesses, in the order in which they came. A witness that was asked again has several.
    pub cosignatures: Vec<String>,
    /// The number of entries it covers.
    pub size: u64,
    /// What time-stamping authorities have said about it, in the order in which it came.
    pub timestamps: Vec<TimestampAnswer>,
}

/// An RFC 3161 token over a checkpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Timestamp)]
#[serde(deny_unknown_fields)]
pub struct TimestampAnswer {
    /// When the first certificate of the path that verified it runs out.
    #[schema(example = "2027-03-01T00:00:00Z")]
    pub expires: String,
    /// When the authority says it made it.
    #[schema(example = "2026-02-01T12:00:00.25Z")]
    pub gen_time: String,
    /// Who runs the authority, by the log's configuration.
    pub operator: String,
    /// When the log received it, by its own clock.
    #[schema(example = "2026-02-01T12:00:01Z")]
    pub received: String,
    /// The token, DER in base64.
    pub token: String,
}

/// A part of the countersigned checkpoints.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointsAnswer {
    /// Newest first.
    pub checkpoints: Vec<CountersignedCheckpoint>,
    /// What to give as `below` for the next part; null when this is the last one.
    #[schema(required)]
    pub next: Option<u64>,
}

/// How it goes with the log's time-stamping authorities.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AnchoringHealth)]
#[serde(deny_unknown_fields)]
pub struct AnchoringHealth {
    /// In the order of the configuration.
    pub authorities: Vec<AuthorityHealth>,
    /// For how many seconds the oldest entry has waited that no anchored checkpoint covers; 0 when there is
    /// none.
    pub waited_seconds: u64,
}

/// How it goes with one time-stamping authority.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthorityHealth {
    /// Seconds since its last token; null when none is known.
    #[schema(required)]
    pub age_seconds: Option<u64>,
    /// Milliseconds by which its clock was ahead of ours when it last answered.
    pub clock_offset_ms: i64,
    /// Code of the last failure since its last token; null when there was none.
    #[schema(required, example = "TSA.IMPRINT")]
    pub error: Option<Cow<'static, str>>,
    /// Failures since its last token.
    pub failures: u32,
    /// Who runs it.
    pub operator: String,
}

/// That the process runs (`ok`), or that it takes statements (`ready`).
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HealthAnswer {
    /// How anchoring goes. Absent where there is none.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchoring: Option<AnchoringHealth>,
    /// `signing`; `reading` where it signs nothing because the log takes nothing; `stopped` after a statement that may
    /// not be kept, until a restart. Absent where the log is no witness of audit trails.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_witness: Option<&'static str>,
    /// `ok` or `ready`; `read-only` or `frozen` for a log that is served and takes nothing.
    pub status: &'static str,
    /// How witnessing goes. Absent where there is none.
    #[schema(nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witnessing: Option<WitnessingHealth>,
}

/// How it goes with the log's witnesses.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WitnessingHealth {
    /// Seconds since the newest witnessed checkpoint was; null before the first.
    #[schema(required)]
    pub age_seconds: Option<u64>,
    /// Entries that the newest witnessed checkpoint covers; null before the first.
    #[schema(required)]
    pub size: Option<u64>,
    /// For how many seconds the oldest entry has waited that no witnessed checkpoint covers; 0 when there is
    /// none.
    pub waited_seconds: u64,
    /// In the order of the policy.
    pub witnesses: Vec<WitnessHealth>,
}

/// How it goes with one witness.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WitnessHealth {
    /// Seconds since its last cosignature; null when none is known.
    #[schema(required)]
    pub age_seconds: Option<u64>,
    /// Milliseconds by which its clock was ahead of ours when it last answered.
    pub clock_offset_ms: i64,
    /// Code of the last failure since its last cosignature; null when there was none.
    #[schema(required, example = "WITNESS.UNKNOWN_LOG")]
    pub error: Option<Cow<'static, str>>,
    /// Failures since its last cosignature.
    pub failures: u32,
    /// Its name in the policy.
    pub name: String,
    /// The largest size that it is known to know; null before it was asked.
    #[schema(required)]
    pub size: Option<u64>,
}

/// What a log entry says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Statement)]
#[serde(deny_unknown_fields)]
pub struct StatementSchema {
    /// The digest that is committed.
    #[schema(pattern = "^sha256:[0-9a-f]{64}$")]
    digest: String,
    /// What the digest is a digest of.
    kind: KindSchema,
    /// `anchorlog.statement/1`.
    #[schema(pattern = "^anchorlog\\.statement/1$")]
    schema: String,
    /// Position within the trail, as its owner numbers it.
    #[schema(maximum = 9_007_199_254_740_991_u64, nullable = false)]
    sequence: Option<u64>,
    /// What the statement belongs to.
    #[schema(pattern = "^[a-z0-9][a-z0-9:._-]{0,127}$", nullable = false)]
    trail: Option<String>,
}

/// The kinds of statements.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StatementKind)]
#[serde(rename_all = "snake_case")]
pub enum KindSchema {
    /// h(P) of a GAD plan.
    PlanCommitment,
    /// The root of a GAD core bundle.
    CoreRoot,
    /// A declared head of a witness chain.
    ChainHead,
    /// The root of an evidence envelope.
    EnvelopeRoot,
    /// An attestation file.
    Attestation,
    /// A trust policy.
    Policy,
    /// An RFC 0020 execution record.
    ExecutionDigest,
    /// A checkpoint line of an external audit trail.
    Checkpoint,
    /// An RFC 3161 token over one of this log's checkpoints.
    Anchor,
    /// Anything else.
    Digest,
}

/// A statement with its submitter's signature over the canonical form of `body`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignedStatement)]
#[serde(deny_unknown_fields)]
pub struct SignedStatementSchema {
    /// The statement with two members more.
    body: SignedBodySchema,
    /// Ed25519, 64 bytes in base64.
    #[schema(min_length = 88, max_length = 88)]
    signature: String,
}

/// A statement and who signs it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignedStatementBody)]
#[serde(deny_unknown_fields)]
pub struct SignedBodySchema {
    /// The digest that is committed.
    #[schema(pattern = "^sha256:[0-9a-f]{64}$")]
    digest: String,
    /// The id of the signing key.
    #[schema(pattern = "^gadk1:[0-9a-f]{64}$")]
    key_id: String,
    /// What the digest is a digest of.
    kind: KindSchema,
    /// `anchorlog.statement/1`.
    #[schema(pattern = "^anchorlog\\.statement/1$")]
    schema: String,
    /// Position within the trail, as its owner numbers it.
    #[schema(maximum = 9_007_199_254_740_991_u64, nullable = false)]
    sequence: Option<u64>,
    /// What the statement belongs to.
    #[schema(pattern = "^[a-z0-9][a-z0-9:._-]{0,127}$", nullable = false)]
    trail: Option<String>,
    /// `statement`.
    #[schema(pattern = "^statement$")]
    r#type: String,
}

/// A plain or a signed statement.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Submission)]
#[serde(untagged)]
pub enum SubmissionSchema {
    /// Anybody's, where the log takes unsigned statements.
    Plain(StatementSchema),
    /// By a key the log knows.
    Signed(SignedStatementSchema),
}

/// Statements that are committed together or not at all.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BatchSubmission)]
#[serde(deny_unknown_fields)]
pub struct BatchSchema {
    /// In the order in which they get their indexes.
    #[schema(min_items = 1, max_items = 1000)]
    statements: Vec<SubmissionSchema>,
}

/// How far a receipt has grown.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = ReceiptState)]
#[serde(rename_all = "lowercase")]
pub enum StateSchema {
    /// Durable, and covered by a checkpoint the log has published.
    Published,
    /// Covered by a checkpoint that witnesses have cosigned.
    Witnessed,
    /// Covered by a checkpoint that a time stamping authority has stamped.
    Anchored,
}

/// The receipt of one entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Receipt)]
#[serde(deny_unknown_fields)]
pub struct ReceiptSchema {
    /// Other entries that claim the same place of the same trail with another digest, among its first 10,000
    /// claims. Absent when there are none.
    #[schema(min_items = 1, nullable = false)]
    conflicts: Option<Vec<u64>>,
    /// Position in the log.
    index: u64,
    /// RFC 6962 leaf hash of the statement's canonical bytes.
    #[schema(pattern = "^sha256:[0-9a-f]{64}$")]
    leaf_hash: String,
    /// The log's origin.
    log: String,
    /// A C2SP tlog-proof: index, inclusion proof and signed checkpoint. Saved as a file of its own it
    /// verifies with any C2SP tool.
    proof: String,
    /// `anchorlog.receipt/1`.
    #[schema(pattern = "^anchorlog\\.receipt/1$")]
    schema: String,
    /// How far the receipt has grown.
    state: StateSchema,
    /// The entry itself.
    statement: SubmissionSchema,
    /// RFC 3161 tokens over the proof's checkpoint, DER in base64.
    timestamps: Vec<String>,
}

/// One entry.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Entry)]
#[serde(deny_unknown_fields)]
pub struct EntrySchema {
    /// Position in the log.
    index: u64,
    /// RFC 6962 leaf hash of the statement's canonical bytes.
    #[schema(pattern = "^sha256:[0-9a-f]{64}$")]
    leaf_hash: String,
    /// What the entry says.
    statement: SubmissionSchema,
}

/// A checkpoint line of an audit trail that disagrees with the first one of its place.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldConflict {
    /// What the log held first.
    pub held: HeldLine,
    /// What was sent.
    pub offered: HeldLine,
    /// The record's place in the trail.
    pub sequence: u64,
    /// The trail.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub trail: String,
}

/// A checkpoint line that is in the log.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldLine {
    /// The SHA-256 of the line without its newline.
    #[schema(pattern = "^sha256:[0-9a-f]{64}$")]
    pub digest: String,
    /// Position in the log.
    pub index: u64,
}

/// The places of a batch's statements.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchReceipt {
    /// A signed checkpoint that covers every one of them.
    pub checkpoint: String,
    /// The log's origin.
    pub log: String,
    /// In the order of the statements. A full receipt is at `/v1/receipts/{index}`.
    pub receipts: Vec<BatchPlace>,
}

/// The place of one statement of a batch.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchPlace {
    /// Whether the log had the statement before; the index is then that of the first time.
    pub duplicate: bool,
    /// Position in the log.
    pub index: u64,
    /// RFC 6962 leaf hash of the statement's canonical bytes.
    #[schema(pattern = "^sha256:[0-9a-f]{64}$")]
    pub leaf_hash: String,
    /// How far the receipt has grown.
    pub state: StateSchema,
}
