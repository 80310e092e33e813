//! Stages (RFC 0020 section 3).

use crate::Digest;
use crate::jp::dialect::DialectReference;
use crate::jp::fault::{self, Faults};
use crate::jp::id::Id;
use crate::jp::json::{Fields, Value};
use crate::jp::pointer::Pointer;

/// The most bindings of a dependent stage.
const MAX_CASE_BINDINGS: usize = 64;

/// A stage: which dialect runs under which pack, on what, and what comes out.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Stage {
    /// Its id.
    pub id: Id,
    /// The published dialect.
    pub dialect: DialectReference,
    /// Core id of the pack.
    pub pack_id: String,
    /// Digest of the pack's exact bytes.
    pub pack_digest: Digest,
    /// Where its cases come from.
    pub input: Input,
    /// How a selected record becomes a case; none for the root.
    pub case_bindings: Vec<CaseBinding>,
    /// What it offers.
    pub outputs: Outputs,
    /// How its outputs relate to their parent.
    pub relation: Relation,
    /// How its outputs are selected; present exactly when a stage consumes them.
    pub selection: Option<SelectionMode>,
}

/// Where a stage's cases come from.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these two")]
pub enum Input {
    /// The root case, once.
    Root,
    /// Each selected record of an earlier stage.
    From(Id),
}

/// One copy from a selected payload into a case.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct CaseBinding {
    /// Where in the payload.
    pub from: Pointer,
    /// Where in the fresh case; never the whole case.
    pub to: Pointer,
    /// What it has to be.
    pub value_type: ValueType,
    /// Whether it has to be there.
    pub required: bool,
}

/// The type of a bound value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these")]
pub enum ValueType {
    /// A string.
    String,
    /// An integer of the domain.
    Integer,
    /// A string that is a timestamp.
    Timestamp,
    /// A boolean.
    Boolean,
    /// An object.
    Object,
    /// An array.
    Array,
    /// Null.
    Null,
}

/// What a stage offers.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Outputs {
    /// Where in the prepared facts; never the whole of them.
    pub pointer: Pointer,
    /// How many records are there.
    pub cardinality: Cardinality,
}

/// How many records a stage's instance offers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these two")]
pub enum Cardinality {
    /// One object.
    One,
    /// An array of objects, which may be empty.
    Many,
}

/// How outputs are selected.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these two")]
pub enum SelectionMode {
    /// By a reviewer.
    Reviewer,
    /// By the recorded disposition.
    Disposition(Rule),
}

/// Which recorded dispositions select.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these three")]
pub enum Rule {
    /// This outcome.
    Outcome(String),
    /// Unresolved.
    Unresolved,
    /// Not applicable.
    NotApplicable,
}

/// A declared provenance relation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Relation {
    /// Its label.
    pub label: Id,
    /// Which way it points.
    pub direction: Direction,
}

/// Which way a relation points.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these two")]
pub enum Direction {
    /// `output-to-parent`
    OutputToParent,
    /// `parent-to-output`
    ParentToOutput,
}

impl Stage {
    pub(super) fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let id = fields.parsed("id", "is no id");
        let dialect = fields.required("dialect").and_then(|value| {
            DialectReference::read(value, &format!("{place}/dialect"), fields.faults())
        });
        let pack = fields
            .required("pack")
            .and_then(|value| pack(value, &format!("{place}/pack"), fields.faults()));
        let input = fields
            .required("input")
            .and_then(|value| input(value, &format!("{place}/input"), fields.faults()));
        let execution = fields.one_of("execution", |text| match text {
            "once" => Some(true),
            "each-selected-record" => Some(false),
            _ => None,
        });
        let case_bindings = case_bindings(&mut fields, place);
        let outputs = fields
            .required("outputs")
            .and_then(|value| outputs(value, &format!("{place}/outputs"), fields.faults()));
        let relation = fields
            .required("relation")
            .and_then(|value| Relation::read(value, &format!("{place}/relation"), fields.faults()));
        let selection = fields
            .optional("selection")
            .map(|value| selection(value, &format!("{place}/selection"), fields.faults()));
        let selection = match selection {
            None => Some(None),
            Some(read) => read.map(Some),
        };
        let (input, once) = (input?, execution?);
        let (input, case_bindings) = (input, case_bindings?);
        if (input == Input::Root) != once || (input == Input::Root) != case_bindings.is_empty() {
            return fields.wrong("input", "does not go with execution and caseBindings");
        }
        fields.finish()?;
        let (pack_id, pack_digest) = pack?;
        Some(Self {
            id: id?,
            dialect: dialect?,
            pack_id,
            pack_digest,
            input,
            case_bindings,
            outputs: outputs?,
            relation: relation?,
            selection: selection?,
        })
    }
}

impl CaseBinding {
    /// The RFC's object for it.
    #[must_use]
    pub fn to_value(&self) -> Value<'static> {
        Value::Object(crate::jp::json::Object::from([
            ("from", Value::from(self.from.as_str().to_owned())),
            ("required", Value::from(self.required)),
            ("to", Value::from(self.to.as_str().to_owned())),
            ("type", Value::from(self.value_type.as_str())),
        ]))
    }
}

impl ValueType {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Timestamp => "timestamp",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
            Self::Null => "null",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [
            Self::String,
            Self::Integer,
            Self::Timestamp,
            Self::Boolean,
            Self::Object,
            Self::Array,
            Self::Null,
        ]
        .into_iter()
        .find(|known| known.as_str() == name)
    }
}

impl Relation {
    pub(super) fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let label = fields.parsed("label", "is no id");
        let direction = fields.one_of("direction", |text| match text {
            "output-to-parent" => Some(Direction::OutputToParent),
            "parent-to-output" => Some(Direction::ParentToOutput),
            _ => None,
        });
        fields.finish()?;
        Some(Self { label: label?, direction: direction? })
    }
}

impl Rule {
    pub(super) fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let kind = fields.one_of("kind", |text| match text {
            "outcome" => Some(None),
            "unresolved" => Some(Some(Self::Unresolved)),
            "not-applicable" => Some(Some(Self::NotApplicable)),
            _ => None,
        });
        let rule = match kind? {
            Some(rule) => Some(rule),
            None => fields.text("outcomeId", 256).map(|id| Self::Outcome(id.to_owned())),
        };
        fields.finish()?;
        rule
    }
}

fn pack(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<(String, Digest)> {
    let mut fields = Fields::new(value, place, faults)?;
    let id = fields.text("id", 2048);
    let digest = fields.digest("digest");
    if id.is_some_and(|id| !is_absolute_uri(id)) {
        return fields.wrong("id", "is no absolute URI");
    }
    fields.finish()?;
    Some((id?.to_owned(), digest?))
}

/// A scheme and something after it, of printable ASCII (RFC 3986); what Core asks beyond that it asks of packs.
fn is_absolute_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut scheme = scheme.bytes();
    scheme.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && scheme.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !rest.is_empty()
        && rest.bytes().all(|byte| byte.is_ascii_graphic())
}

fn input(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Input> {
    let mut fields = Fields::new(value, place, faults)?;
    let input = if fields.optional("root").is_some() {
        if !fields.boolean("root")? {
            return fields.wrong("root", "is not true");
        }
        Input::Root
    } else {
        let from = fields.parsed("fromStage", "is no id");
        if !fields.boolean("selected")? {
            return fields.wrong("selected", "is not true");
        }
        Input::From(from?)
    };
    fields.finish()?;
    Some(input)
}

fn case_bindings(fields: &mut Fields<'_, '_, '_>, place: &str) -> Option<Vec<CaseBinding>> {
    let elements = fields.array("caseBindings")?;
    if elements.len() > MAX_CASE_BINDINGS {
        fields.note(fault::Rule::Count, "caseBindings", "has more than 64 elements");
    }
    let mut bindings: Vec<CaseBinding> = Vec::with_capacity(elements.len().min(MAX_CASE_BINDINGS));
    for (position, element) in elements.iter().enumerate() {
        let place = format!("{place}/caseBindings/{position}");
        let binding = case_binding(element, &place, fields.faults())?;
        if bindings.iter().any(|other| other.to.overlaps(&binding.to)) {
            fields
                .faults()
                .note(fault::Rule::Pointer, format_args!("{place}/to overlaps another one"));
            return None;
        }
        bindings.push(binding);
    }
    Some(bindings)
}

fn case_binding(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<CaseBinding> {
    let mut fields = Fields::new(value, place, faults)?;
    let from = pointer(&mut fields, "from");
    let to = pointer(&mut fields, "to");
    let value_type = fields.one_of("type", ValueType::from_name);
    let required = fields.boolean("required");
    let to = to?;
    if to.is_root() {
        fields.note(fault::Rule::Pointer, "to", "is empty");
        return None;
    }
    fields.finish()?;
    Some(CaseBinding { from: from?, to, value_type: value_type?, required: required? })
}

/// A member that is a pointer.
pub(super) fn pointer(fields: &mut Fields<'_, '_, '_>, name: &'static str) -> Option<Pointer> {
    let value = fields.required(name)?;
    let Some(text) = value.as_str() else { return fields.wrong(name, "is no string") };
    let place = format!("{}/{name}", fields.place());
    Pointer::read(text, &place, fields.faults())
}

fn outputs(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Outputs> {
    let mut fields = Fields::new(value, place, faults)?;
    let pointer = pointer(&mut fields, "pointer");
    let cardinality = fields.one_of("cardinality", |text| match text {
        "one" => Some(Cardinality::One),
        "many" => Some(Cardinality::Many),
        _ => None,
    });
    let pointer = pointer?;
    if pointer.is_root() {
        fields.note(fault::Rule::Pointer, "pointer", "is empty");
        return None;
    }
    fields.finish()?;
    Some(Outputs { pointer, cardinality: cardinality? })
}

fn selection(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<SelectionMode> {
    let mut fields = Fields::new(value, place, faults)?;
    let by_rule = fields.one_of("mode", |text| match text {
        "reviewer" => Some(false),
        "disposition" => Some(true),
        _ => None,
    });
    let mode = if by_rule? {
        let rule = fields.required("rule")?;
        SelectionMode::Disposition(Rule::read(rule, &format!("{place}/rule"), fields.faults())?)
    } else {
        SelectionMode::Reviewer
    };
    fields.finish()?;
    Some(mode)
}
