//! M_envelope, the manifest of an evidence envelope (`gad.envelope-manifest/1`), whose hash is
//! `root_envelope`.

use crate::digest::Digest;
use crate::json::{JsonCode, Object, Value};
use crate::signed_object::Domain;

use super::code::R1_PROFILE_UNSUPPORTED;
use super::emit;
use super::entry::Signed;
use super::form::{At, Cell, Defects, MAX_ELEMENTS, Reader, read_closed};
use super::limits::Limits;
use super::names::{AnchorKind, ProvenanceLayer, words};
use super::payload::Malformed;

/// The schema name.
pub const ENVELOPE_SCHEMA: &str = "gad.envelope-manifest/1";

/// The `type` of an operator seal's body.
pub const OPERATOR_SEAL_TYPE: &str = "operator_seal";

/// The longest name of a producer, in bytes.
pub const MAX_PRODUCER_BYTES: usize = 256;

/// `root_envelope` of a manifest, whose canonical bytes these are.
#[must_use]
pub fn root_envelope(canonical: &[u8]) -> Digest {
    Domain::EnvelopeManifest.hash(&[canonical])
}

/// The manifest: a core, and what was added around it.
///
/// Its `ext`, where it has one, is in its hash and nowhere else: it isn't kept here, and a successor
/// doesn't inherit it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct EnvelopeManifest {
    /// The stated `root_core`; `None` when malformed, which a defect says too (R1.ENV.ROOT_CORE). Never
    /// believed.
    pub root_core: Option<Digest>,
    /// `root_envelope` of the envelope before; `Err` when neither null nor a digest
    /// (R1.ENV.PREDECESSOR_FORM).
    pub predecessor: Result<Option<Digest>, Malformed>,
    /// The declared layers that are known, ascending; empty when absent or empty
    /// (R1.ENV.LAYERS_UNDECLARED).
    pub layers: Vec<ProvenanceLayer>,
    /// The declared heads, ascending by seq; `None` when malformed, which a defect says.
    pub heads: Option<Vec<DeclaredHead>>,
    /// The anchors, ascending by path where no defect says otherwise.
    pub anchors: Vec<AnchorRow>,
    /// The attestations, ascending by path where no defect says otherwise.
    pub attestations: Vec<ItemRow>,
    /// Unsigned words about the envelope; `None` when malformed, which a defect says.
    pub metadata: Option<Metadata>,
    /// The operator's signature over root_core, where there is one.
    pub operator_seal: Option<OperatorSeal>,
}

/// What the producer of an envelope says about it. Nobody signs it and nothing depends on it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Metadata {
    /// Who or what made the envelope.
    pub producer: Box<str>,
    /// When, in seconds since 1970.
    pub created: i64,
}

impl EnvelopeManifest {
    /// Reads a manifest to its end.
    ///
    /// `None` for what is no envelope manifest of this schema, and where `anchors` or `attestations`
    /// aren't lists within their limits. Of a manifest with defects everything is here that could be
    /// read, so that it can be looked at all the same; it is refused by its defects.
    pub fn read(value: &Value<'_>, limits: &Limits, defects: &mut Defects) -> Option<Self> {
        let root = At::root("");
        let Some(object) = value.as_object() else {
            defects.push(JsonCode::Type, &root);
            return None;
        };
        // Of another schema nothing is known, not even which members it has.
        if object.get("schema").and_then(Value::as_str) != Some(ENVELOPE_SCHEMA) {
            defects.push(R1_PROFILE_UNSUPPORTED, &root.member("schema"));
            return None;
        }
        let rows = |name, most| Rows { object, at: &root, name, most };
        let anchors =
            rows("anchors", limits.anchors).read(defects, AnchorRow::read, |row| &row.item.path);
        let attestations =
            rows("attestations", limits.attestations).read(defects, ItemRow::read, |row| &row.path);
        let operator_seal = object
            .get("operator_seal")
            .and_then(|seal| OperatorSeal::read(seal, &root.member("operator_seal"), defects));
        read_closed(object, &root, defects, |reader| {
            for read in ["schema", "anchors", "attestations", "operator_seal"] {
                reader.raw(read);
            }
            reader.allow_ext();
            let root_core = reader.digest("root_core");
            let predecessor = match reader.raw("predecessor") {
                Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => text.parse().map(Some).map_err(|_| Malformed),
                _ => Err(Malformed),
            };
            let layers = read_layers(reader);
            let heads = read_heads(reader);
            let metadata = reader.required("metadata", |cell| cell.object(Metadata::read));
            Some(Self {
                root_core,
                predecessor,
                layers,
                heads,
                anchors: anchors?,
                attestations: attestations?,
                metadata,
                operator_seal,
            })
        })
    }

    /// The manifest as it is written. What could not be read is left out, so that it is refused again.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        let mut object = Object::from([
            ("schema", ENVELOPE_SCHEMA.into()),
            ("provenance_layers", emit::list(&self.layers, emit::text)),
            ("anchors", emit::list(&self.anchors, AnchorRow::to_value)),
            ("attestations", emit::list(&self.attestations, |item| item.to_object().into())),
        ]);
        if let Some(root_core) = self.root_core {
            object.insert("root_core", root_core.to_string());
        }
        if let Ok(predecessor) = self.predecessor {
            object.insert("predecessor", emit::nullable(predecessor, emit::text));
        }
        if let Some(heads) = &self.heads {
            object.insert("declared_heads", emit::list(heads, DeclaredHead::value));
        }
        if let Some(metadata) = &self.metadata {
            object.insert("metadata", metadata.to_value());
        }
        if let Some(seal) = &self.operator_seal {
            object.insert("operator_seal", emit::signed(&seal.signed));
        }
        object.into()
    }

    /// The envelope that comes after this one, whose root is `own_root`: E_{k+1} with everything of E_k
    /// and nothing more yet.
    #[must_use]
    pub fn successor(&self, own_root: Digest) -> Self {
        Self { predecessor: Ok(Some(own_root)), ..self.clone() }
    }

    /// Lists one more anchor. False, and nothing is changed, when its path is listed already.
    #[must_use]
    pub fn add_anchor(&mut self, row: AnchorRow) -> bool {
        !self.lists(&row.item.path) && {
            let at = self.anchors.partition_point(|other| other.item.path < row.item.path);
            self.anchors.insert(at, row);
            true
        }
    }

    /// Lists one more attestation. False, and nothing is changed, when its path is listed already.
    #[must_use]
    pub fn add_attestation(&mut self, row: ItemRow) -> bool {
        !self.lists(&row.path) && {
            let at = self.attestations.partition_point(|other| other.path < row.path);
            self.attestations.insert(at, row);
            true
        }
    }

    /// Whether a file of this path is listed.
    #[must_use]
    pub fn lists(&self, path: &str) -> bool {
        self.anchors
            .iter()
            .map(|row| &row.item)
            .chain(&self.attestations)
            .any(|item| &*item.path == path)
    }
}

/// A head of the witness chain that may be anchored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct DeclaredHead {
    /// Number of the entry.
    pub seq: u64,
    /// Its h.
    pub head: Digest,
}

/// One listed anchor.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct AnchorRow {
    /// Path and digest of the file.
    pub item: ItemRow,
    /// Its type; `None` for one that isn't implemented (ANC.TYPE_UNKNOWN), and no defect then.
    pub anchor_type: Option<AnchorType>,
    /// What it is over.
    pub kind: AnchorKind,
    /// The anchored value as stated.
    pub target: Digest,
}

/// One listed file.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct ItemRow {
    /// Path relative to the bundle. As listed: its form is the container's to refuse.
    pub path: Box<str>,
    /// Its plain SHA-256.
    pub digest: Digest,
}

words! {
    /// The anchors that are understood.
    AnchorType {
        /// An RFC 3161 time stamp.
        Rfc3161 = "rfc3161",
        /// An inclusion in a transparency log.
        Tlog = "tlog",
    }
}

/// The operator's seal as it was read: body {type "operator_seal", key_id, plan_hash, root_core}.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct OperatorSeal {
    /// Signer, message and signature; nothing is known about it.
    pub signed: Signed,
    /// The sealed root; `None` when absent or malformed, which a defect says.
    pub root_core: Option<Digest>,
}

impl Metadata {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let producer = reader.text("producer", 1..=MAX_PRODUCER_BYTES);
        let created = reader.time("created");
        Some(Self { producer: producer?.into(), created: created? })
    }

    fn to_value(&self) -> Value<'static> {
        Object::from([
            ("producer", emit::text(&self.producer)),
            ("created", emit::time(self.created)),
        ])
        .into()
    }
}

impl DeclaredHead {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let seq = reader.seq("seq");
        let head = reader.digest("head");
        Some(Self { seq: seq?, head: head? })
    }

    fn value(&self) -> Value<'static> {
        Object::from([("seq", emit::integer(self.seq)), ("head", emit::text(self.head))]).into()
    }
}

impl ItemRow {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let path = reader.required("path", |cell| cell.string());
        let digest = reader.digest("digest");
        Some(Self { path: path?.into(), digest: digest? })
    }

    fn to_object(&self) -> Object<'static> {
        Object::from([("path", emit::text(&self.path)), ("digest", emit::text(self.digest))])
    }
}

impl AnchorRow {
    fn read(reader: &mut Reader<'_, '_>) -> Option<Self> {
        let item = ItemRow::read(reader);
        // A type nobody here knows may be one that others know.
        let anchor_type = reader.required("type", |cell| cell.string());
        let kind = reader.required("kind", |cell| cell.one_of(AnchorKind::from_name));
        let target = reader.digest("target");
        Some(Self {
            item: item?,
            anchor_type: anchor_type.and_then(AnchorType::from_name),
            kind: kind?,
            target: target?,
        })
    }

    fn to_value(&self) -> Value<'static> {
        let mut object = self.item.to_object();
        if let Some(anchor_type) = self.anchor_type {
            object.insert("type", anchor_type.as_str());
        }
        object.insert("kind", self.kind.as_str());
        object.insert("target", self.target.to_string());
        object.into()
    }
}

impl OperatorSeal {
    fn read(value: &Value<'_>, at: &At<'_>, defects: &mut Defects) -> Option<Self> {
        let Some((signed, body)) = Signed::read(value, OPERATOR_SEAL_TYPE, at, defects) else {
            defects.push(JsonCode::Type, at);
            return None;
        };
        let root_core = read_closed(body, &at.member("body"), defects, |reader| {
            Signed::skip_members(reader);
            reader.digest("root_core")
        });
        Some(Self { signed, root_core })
    }
}

/// The layers that are known, in order: a layer nobody knows declares nothing. Whether there is one is
/// a rule's to say.
fn read_layers(reader: &mut Reader<'_, '_>) -> Vec<ProvenanceLayer> {
    let layers = reader.optional("provenance_layers", |cell| {
        cell.list(MAX_ELEMENTS, |cell| Some(cell.one_of(ProvenanceLayer::from_name)))
    });
    let mut layers: Vec<_> = layers.flatten().unwrap_or_default().into_iter().flatten().collect();
    if layers.iter().zip(layers.iter().skip(1)).any(|(a, b)| a >= b) {
        reader.defect(JsonCode::Enum, "provenance_layers");
        layers.sort_unstable();
        layers.dedup();
    }
    layers
}

fn read_heads(reader: &mut Reader<'_, '_>) -> Option<Vec<DeclaredHead>> {
    let heads = reader.required("declared_heads", |cell| {
        cell.list(MAX_ELEMENTS, |cell| cell.object(DeclaredHead::read))
    })?;
    if heads.iter().zip(heads.iter().skip(1)).any(|(a, b)| a.seq >= b.seq) {
        reader.defect(JsonCode::Enum, "declared_heads");
        return None;
    }
    Some(heads)
}

/// One of the lists of files.
struct Rows<'v, 'a> {
    object: &'v Object<'v>,
    at: &'a At<'a>,
    name: &'static str,
    most: u64,
}

impl<'v> Rows<'v, '_> {
    /// The rows that can be read. A path that isn't above the one before it is [`JsonCode::Enum`].
    fn read<T>(
        &self,
        defects: &mut Defects,
        read: impl Fn(&mut Reader<'v, '_>) -> Option<T>,
        path: impl Fn(&T) -> &str,
    ) -> Option<Vec<T>> {
        let at = self.at.member(self.name);
        let Some(value) = self.object.get(self.name) else {
            defects.push(JsonCode::MissingField, &at);
            return None;
        };
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let rows = Cell::new(value, &at, defects).list(most, |cell| Some(cell.object(&read)))?;
        let mut last: Option<&str> = None;
        for (index, row) in rows.iter().enumerate() {
            let Some(path) = row.as_ref().map(&path) else { continue };
            if last.is_some_and(|last| last >= path) {
                defects.push(JsonCode::Enum, &at.element(index));
            }
            last = Some(path);
        }
        Some(rows.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests;
