//! Reading a pack: the carrier, then the structure that the schema of Core describes.

use std::collections::BTreeSet;

use super::condition::{Condition, Order, Pointer, Test};
use super::decimal::Decimal;
use super::disposition::Reason;
use super::formats::{
    is_date_time, is_extension_name, is_full_date, is_pack_version, is_pointer, is_uri,
};
use super::members::{At, Read};
use super::pack::{
    Effect, EvidenceRequirement, Exception, OnUnknown, Pack, PackError, PackLimits, PackRule, Rule,
    SPEC_VERSION,
};
use super::resolve;
use crate::jp::fault::Phase;
use crate::jp::json::{Bounds, Numbers, Value, read};

impl PackLimits {
    /// The same limits as the JSON reader's bounds.
    #[must_use]
    pub const fn bounds(&self) -> Bounds {
        Bounds {
            bytes: self.bytes,
            levels: self.levels,
            members: usize::MAX,
            elements: usize::MAX,
            string: self.string,
            number: self.number,
            numbers: Numbers::Any,
        }
    }
}

impl Pack {
    /// Reads a pack and checks everything that makes it a semantically conforming document.
    ///
    /// # Errors
    ///
    /// The first rule that is broken: limits and carrier, then structure in the order of the schema's
    /// members, then references.
    pub fn read(bytes: &[u8], limits: &PackLimits) -> Result<Self, PackError> {
        let root = read(bytes, &limits.bounds()).map_err(|fault| {
            let is_limit = matches!(fault.rule.phase(), Phase::Bounds | Phase::Counts);
            let rule = if is_limit { PackRule::Limit } else { PackRule::Carrier };
            PackError { rule, pointer: String::new(), carrier: Some(fault) }
        })?;
        Self::from_value(&root)
    }

    /// The same of a value that is read already.
    pub fn from_value(root: &Value<'_>) -> Result<Self, PackError> {
        let mut named = BTreeSet::new();
        let pack = structure(At::root(root), &mut named)?;
        resolve::check(&pack, At::root(root), &named)?;
        Ok(pack)
    }
}

/// Names of extensions that have a value somewhere.
pub(super) type Named<'v> = BTreeSet<&'v str>;

fn structure<'v>(root: At<'_, 'v, '_>, named: &mut Named<'v>) -> Read<Pack> {
    root.closed(&[
        "specVersion",
        "id",
        "version",
        "title",
        "description",
        "decision",
        "applicability",
        "evidenceRequirements",
        "sources",
        "outcomes",
        "rules",
        "exceptions",
        "fallbackOutcome",
        "escalation",
        "metadata",
        "extensions",
    ])?;
    root.required("specVersion", |at| at.form(|text| text == SPEC_VERSION, PackRule::SpecVersion))?;
    let id = root.required("id", |at| at.form(is_uri, PackRule::Uri))?.into();
    let version =
        root.required("version", |at| at.form(is_pack_version, PackRule::PackVersion))?.into();
    root.required("title", |at| at.text())?;
    root.optional("description", |at| at.text())?;
    root.required("decision", |at| {
        at.closed(&["intent", "question", "extensions"])?;
        at.required("intent", |at| at.text())?;
        at.required("question", |at| at.text())?;
        extensions(at, named)
    })?;
    let applicability = root.optional("applicability", condition)?;
    let evidence = list(root, "evidenceRequirements", |at| evidence_requirement(at, named))?;
    let sources = list(root, "sources", |at| source(at, named))?;
    let outcomes = root.required("outcomes", |at| {
        let outcomes = at.each(|at| outcome(at, named))?;
        if outcomes.len() < 2 { Err(at.refuse(PackRule::Arity)) } else { Ok(outcomes) }
    })?;
    let rules = root.required("rules", |at| {
        let rules = at.each(|at| rule(at, named))?;
        if rules.is_empty() { Err(at.refuse(PackRule::Arity)) } else { Ok(rules) }
    })?;
    let exceptions = list(root, "exceptions", |at| exception(at, named))?;
    let fallback = root.optional("fallbackOutcome", |at| at.local_id())?;
    let triggers = root.optional("escalation", |at| escalation(at, named))?;
    let required = root.optional("metadata", |at| metadata(at, named))?;
    extensions(root, named)?;
    Ok(Pack {
        id,
        version,
        applicability,
        evidence,
        sources,
        outcomes,
        rules,
        exceptions,
        fallback,
        triggers,
        required_extensions: required.unwrap_or_default(),
    })
}

/// An array that may be absent.
fn list<'v, 'a, T>(
    root: At<'_, 'v, 'a>,
    name: &str,
    read: impl FnMut(At<'_, 'v, 'a>) -> Read<T>,
) -> Read<Vec<T>> {
    Ok(root.optional(name, |at| at.each(read))?.unwrap_or_default())
}

fn evidence_requirement<'v>(
    at: At<'_, 'v, '_>,
    named: &mut Named<'v>,
) -> Read<EvidenceRequirement> {
    at.closed(&["id", "description", "required", "kind", "extensions"])?;
    let id = at.required("id", |at| at.local_id())?;
    at.required("description", |at| at.text())?;
    let required = at.required("required", |at| at.boolean())?;
    at.optional("kind", |at| known(at, &["document", "fact", "measurement", "attestation"]))?;
    extensions(at, named)?;
    Ok(EvidenceRequirement { id, required })
}

fn source<'v>(at: At<'_, 'v, '_>, named: &mut Named<'v>) -> Read<super::CoreId> {
    at.closed(&[
        "id",
        "title",
        "publisher",
        "publishedAt",
        "locator",
        "citation",
        "rights",
        "extensions",
    ])?;
    let id = at.required("id", |at| at.local_id())?;
    at.required("title", |at| at.text())?;
    at.optional("publisher", |at| at.text())?;
    at.optional("publishedAt", |at| at.form(is_full_date, PackRule::Date))?;
    at.required("locator", |at| {
        at.closed(&["kind", "value"])?;
        at.required("kind", |at| known(at, &["uri", "repository", "path", "other"]))?;
        at.required("value", |at| at.text())
    })?;
    at.optional("citation", |at| {
        at.closed(&["location", "excerpt"])?;
        at.required("location", |at| at.text())?;
        at.required("excerpt", |at| at.text())
    })?;
    at.optional("rights", |at| at.text())?;
    extensions(at, named)?;
    Ok(id)
}

fn outcome<'v>(at: At<'_, 'v, '_>, named: &mut Named<'v>) -> Read<super::CoreId> {
    at.closed(&["id", "label", "description", "extensions"])?;
    let id = at.required("id", |at| at.local_id())?;
    at.required("label", |at| at.text())?;
    at.optional("description", |at| at.text())?;
    extensions(at, named)?;
    Ok(id)
}

fn rule<'v>(at: At<'_, 'v, '_>, named: &mut Named<'v>) -> Read<Rule> {
    at.closed(&[
        "id",
        "description",
        "when",
        "outcome",
        "onUnknown",
        "evidenceRequirementRefs",
        "sourceRefs",
        "rationale",
        "extensions",
    ])?;
    let id = at.required("id", |at| at.local_id())?;
    at.required("description", |at| at.text())?;
    let when = at.required("when", condition)?;
    let outcome = at.required("outcome", |at| at.local_id())?;
    let on_unknown = at.required("onUnknown", on_unknown)?;
    at.optional("evidenceRequirementRefs", |at| at.distinct(|at| at.local_id()))?;
    at.optional("sourceRefs", |at| at.distinct(|at| at.local_id()))?;
    at.optional("rationale", |at| at.text())?;
    extensions(at, named)?;
    Ok(Rule { id, when, outcome, on_unknown })
}

fn exception<'v>(at: At<'_, 'v, '_>, named: &mut Named<'v>) -> Read<Exception> {
    at.closed(&[
        "id",
        "description",
        "when",
        "effect",
        "targetRule",
        "outcome",
        "onUnknown",
        "sourceRefs",
        "extensions",
    ])?;
    let id = at.required("id", |at| at.local_id())?;
    at.required("description", |at| at.text())?;
    let when = at.required("when", condition)?;
    let word =
        at.required("effect", |at| known(at, &["suppress-rule", "force-outcome", "escalate"]))?;
    let target = at.optional("targetRule", |at| at.local_id())?;
    let outcome = at.optional("outcome", |at| at.local_id())?;
    let effect = match (word, target, outcome) {
        ("suppress-rule", Some(target), None) => Effect::SuppressRule(target),
        ("force-outcome", None, Some(outcome)) => Effect::ForceOutcome(outcome),
        ("escalate", None, None) => Effect::Escalate,
        ("suppress-rule", None, _) | ("force-outcome" | "escalate", Some(_), _) => {
            return Err(at.refuse_member("targetRule", PackRule::ExceptionShape));
        }
        _ => return Err(at.refuse_member("outcome", PackRule::ExceptionShape)),
    };
    let on_unknown = at.required("onUnknown", on_unknown)?;
    at.optional("sourceRefs", |at| at.distinct(|at| at.local_id()))?;
    extensions(at, named)?;
    Ok(Exception { id, when, effect, on_unknown })
}

fn escalation<'v>(at: At<'_, 'v, '_>, named: &mut Named<'v>) -> Read<BTreeSet<Reason>> {
    at.closed(&["triggers", "target", "message", "extensions"])?;
    let triggers = at.required("triggers", |at| {
        let triggers = at.distinct(|at| {
            let reason = at.string()?.parse().ok().filter(|reason: &Reason| reason.is_trigger());
            reason.ok_or_else(|| at.refuse(PackRule::Trigger))
        })?;
        if triggers.is_empty() { Err(at.refuse(PackRule::Trigger)) } else { Ok(triggers) }
    })?;
    at.required("target", |at| {
        at.closed(&["kind", "name"])?;
        at.required("kind", |at| known(at, &["human-role", "queue", "system"]))?;
        at.required("name", |at| at.text())
    })?;
    at.optional("message", |at| at.text())?;
    extensions(at, named)?;
    Ok(triggers.into_iter().collect())
}

fn metadata<'v>(at: At<'_, 'v, '_>, named: &mut Named<'v>) -> Read<Vec<Box<str>>> {
    at.closed(&["authors", "createdAt", "license", "requiredExtensions", "reviews", "extensions"])?;
    at.optional("authors", |at| {
        let authors = at.distinct(|at| at.text())?;
        if authors.is_empty() { Err(at.refuse(PackRule::Arity)) } else { Ok(()) }
    })?;
    at.optional("createdAt", |at| at.form(is_date_time, PackRule::DateTime))?;
    at.optional("license", |at| at.text())?;
    let required = at.optional("requiredExtensions", |at| {
        at.distinct(|at| at.form(is_extension_name, PackRule::ExtensionName).map(Into::into))
    })?;
    at.optional("reviews", |at| at.each(review))?;
    extensions(at, named)?;
    Ok(required.unwrap_or_default())
}

fn review(at: At<'_, '_, '_>) -> Read<()> {
    at.closed(&["reviewer", "reviewedAt", "disposition", "note"])?;
    at.required("reviewer", |at| at.text())?;
    at.required("reviewedAt", |at| at.form(is_date_time, PackRule::DateTime))?;
    at.required("disposition", |at| known(at, &["approved", "changes-requested", "rejected"]))?;
    at.optional("note", |at| at.text())?;
    Ok(())
}

/// The extensions of an object, whose values are anything.
fn extensions<'v>(owner: At<'_, 'v, '_>, named: &mut Named<'v>) -> Read<()> {
    let Some(value) = owner.value.get("extensions") else { return Ok(()) };
    let object = value.as_object();
    let object = object.ok_or_else(|| owner.refuse_member("extensions", PackRule::Type))?;
    for (name, _) in object.iter() {
        if !is_extension_name(name) {
            return owner
                .optional("extensions", |at| Err(at.refuse_member(name, PackRule::ExtensionName)))
                .map(|_: Option<()>| ());
        }
        named.insert(name);
    }
    Ok(())
}

fn condition(at: At<'_, '_, '_>) -> Read<Condition> {
    if at.value.as_object().is_none() {
        return Err(at.refuse(PackRule::Type));
    }
    let op = at.required("op", |at| at.string())?;
    match op {
        "literal" => {
            at.closed(&["op", "value"])?;
            at.required("value", |at| at.boolean()).map(Condition::Literal)
        }
        "all" | "any" => {
            at.closed(&["op", "conditions"])?;
            let children = at.required("conditions", |at| {
                let children = at.each(condition)?;
                if children.is_empty() { Err(at.refuse(PackRule::Arity)) } else { Ok(children) }
            })?;
            let node = if op == "all" { Condition::All } else { Condition::Any };
            Ok(node(children))
        }
        "not" => {
            at.closed(&["op", "condition"])?;
            at.required("condition", condition).map(|child| Condition::Not(Box::new(child)))
        }
        "fact" => fact(at),
        "evidence-present" => {
            at.closed(&["op", "evidenceRequirement"])?;
            at.required("evidenceRequirement", |at| at.local_id()).map(Condition::EvidencePresent)
        }
        _ => Err(at.refuse_member("op", PackRule::Condition)),
    }
}

fn fact(at: At<'_, '_, '_>) -> Read<Condition> {
    at.closed(&["op", "path", "operator", "value"])?;
    let path = at.required("path", |at| {
        let text = at.form(is_pointer, PackRule::FactPath)?;
        Pointer::parse(text).ok_or_else(|| at.refuse(PackRule::FactPath))
    })?;
    let operator = at.required("operator", |at| at.string())?;
    let ordered = |order: Order| {
        at.required("value", |at| match at.value.as_str() {
            Some(text) if Decimal::parse(text).is_some() => Ok(Test::Ordered(order, text.into())),
            _ => Err(at.refuse(PackRule::DecimalOperand)),
        })
    };
    let owned = || at.required("value", |at| Ok(at.value.clone().into_owned()));
    let test = match operator {
        "equals" => Test::Equals(owned()?),
        "not-equals" => Test::NotEquals(owned()?),
        "greater-than" => ordered(Order::Greater)?,
        "greater-than-or-equal" => ordered(Order::GreaterOrEqual)?,
        "less-than" => ordered(Order::Less)?,
        "less-than-or-equal" => ordered(Order::LessOrEqual)?,
        "in" => at.required("value", |at| match at.value.as_array() {
            Some(all) if !all.is_empty() => {
                Ok(Test::In(all.iter().map(|one| one.clone().into_owned()).collect()))
            }
            _ => Err(at.refuse(PackRule::InOperand)),
        })?,
        _ => return Err(at.refuse_member("operator", PackRule::Condition)),
    };
    Ok(Condition::Fact { path, test })
}

fn on_unknown(at: At<'_, '_, '_>) -> Read<OnUnknown> {
    at.word(|word| match word {
        "ignore" => Some(OnUnknown::Ignore),
        "escalate" => Some(OnUnknown::Escalate),
        _ => None,
    })
}

/// One of these words.
fn known<'v>(at: At<'_, 'v, '_>, words: &[&str]) -> Read<&'v str> {
    let text = at.string()?;
    if words.contains(&text) { Ok(text) } else { Err(at.refuse(PackRule::Type)) }
}
