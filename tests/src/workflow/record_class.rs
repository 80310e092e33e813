//! Section 11's record-class case: a downstream operation of class record, parameterised from a generated payload.
//!
//! The dialect's text is not public, so its sources are made up here. Each is `{id, class, parameters, request,
//! targets}`: a parameter comes from the case (`{name, case}`) or from another source's target (`{name, source}`),
//! the request names some of them, a target is `{pointer, admits}`.

use super::json::{Json, object, text};
use super::plan::{Plan, Try, facts, item, outcome};

/// How the generated payload comes to the record-class target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parameter {
    /// The request names the case parameter.
    Named,
    /// The case parameter is in the source's scope, and no request names it.
    Unnamed,
    /// It parameterises a source that admits it, from whose target the next one takes its parameter.
    Transitive,
}

impl Parameter {
    pub const ALL: [Self; 3] = [Self::Named, Self::Unnamed, Self::Transitive];
}

impl Plan {
    /// Two stages of which the second is record-class; its last target admits these classes, and every one of its
    /// instances meets this. Outputs state what they carry.
    pub fn record_class(parameter: Parameter, admits: &[&str], meets: Vec<Try>) -> Self {
        let mut plan = Self::two_stages();
        plan.stages[0].sources = Some(Json::List(vec![source(
            ("organisations", "generated"),
            vec![from_case("query", "/query")],
            &["query"],
            ("/organisations", &["generated"]),
        )]));
        let organisation = from_case("organisation", "/organisationId");
        let target = ("/people", admits);
        let people = |parameters, request: &[&str]| {
            source(("people", "record"), parameters, request, target)
        };
        plan.stages[1].sources = Some(Json::List(match parameter {
            Parameter::Named => vec![people(vec![organisation], &["organisation"])],
            Parameter::Unnamed => vec![people(vec![organisation], &[])],
            Parameter::Transitive => vec![
                source(
                    ("registry", "record"),
                    vec![organisation],
                    &["organisation"],
                    ("/registered", &["generated", "record"]),
                ),
                people(
                    vec![object([("name", text("number")), ("source", text("/registered"))])],
                    &["number"],
                ),
            ],
        }));
        plan.stages[1].instances = vec![meets];
        plan.stages[1].influence = (&["generated", "record"], true);
        plan
    }

    /// What a second stage's instance meets that goes on.
    pub fn two_people() -> Vec<Try> {
        let people = facts("people", ["p1", "p2"].map(item).to_vec());
        vec![Try::Evaluated(people, outcome("listed"))]
    }

    /// What one meets whose admission is refused before acquisition.
    pub fn refused_before_acquisition() -> Vec<Try> {
        vec![Try::Unbegun("failed", Some("admission-refused"))]
    }
}

fn source(
    (id, class): (&str, &str),
    parameters: Vec<Json>,
    request: &[&str],
    (pointer, admits): (&str, &[&str]),
) -> Json {
    let names = |names: &[&str]| Json::List(names.iter().map(|name| text(*name)).collect());
    let target = object([("admits", names(admits)), ("pointer", text(pointer))]);
    object([
        ("class", text(class)),
        ("id", text(id)),
        ("parameters", Json::List(parameters)),
        ("request", names(request)),
        ("targets", Json::List(vec![target])),
    ])
}

fn from_case(name: &str, pointer: &str) -> Json {
    object([("case", text(pointer)), ("name", text(name))])
}
