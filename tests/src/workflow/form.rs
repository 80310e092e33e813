//! Small forms that a stage is made of, and the projection.

use super::json::{Json, number, object, text};
use super::plan::{Dialect, StagePlan};

/// A projection, or none where it fails.
pub(super) fn project(stage: &StagePlan, payload: &Json) -> Option<Json> {
    let mut case = object([]);
    for (from, to, value_type, required) in &stage.bindings {
        let value =
            if from.is_empty() { Some(payload) } else { payload.get(from.trim_start_matches('/')) };
        let Some(value) = value else {
            if *required {
                return None;
            }
            continue;
        };
        let fits = match value {
            Json::Null => *value_type == "null",
            Json::Bool(_) => *value_type == "boolean",
            Json::Number(_) => *value_type == "integer",
            Json::Text(_) => *value_type == "string",
            Json::List(_) => *value_type == "array",
            Json::Object(_) => *value_type == "object",
        };
        if !fits {
            return None;
        }
        let mut place = &mut case;
        for token in to.trim_start_matches('/').split('/') {
            if *place == Json::Null {
                *place = object([]);
            }
            place = place.at(token);
        }
        *place = value.clone();
    }
    Some(case)
}

/// What identifies a stage's dialect, in its document and in the reference.
pub(super) fn identity(stage: &StagePlan) -> Json {
    let named = |format: &str| {
        object([
            ("formatVersion", text(format)),
            ("id", text(format!("urn:dialect:{}", stage.id))),
            ("version", text("1.2.0")),
        ])
    };
    match stage.dialect {
        Dialect::Version2 => object([("version", number(2))]),
        Dialect::Version3 => object([("version", number(3))]),
        Dialect::Named2 => named("2.0.0"),
        Dialect::Named3 => named("3.0.0"),
    }
}

pub(super) fn bindings(stage: &StagePlan) -> Json {
    let binding = |(from, to, value_type, required): &(&str, &str, &str, bool)| {
        object([
            ("from", text(*from)),
            ("required", Json::Bool(*required)),
            ("to", text(*to)),
            ("type", text(*value_type)),
        ])
    };
    Json::List(stage.bindings.iter().map(binding).collect())
}

pub(super) fn relation(stage: &StagePlan) -> Json {
    let label = format!("relation-of-{}", stage.id);
    object([("direction", text("output-to-parent")), ("label", text(label))])
}

pub(super) fn pack_id(stage: &StagePlan) -> String {
    format!("https://example.invalid/packs/{}?a=1&b=2", stage.id)
}

pub(super) fn rule(kind: &str, outcome: Option<&str>) -> Json {
    let mut rule = object([("kind", text(kind))]);
    if let Some(outcome) = outcome {
        *rule.at("outcomeId") = text(outcome);
    }
    rule
}
