//! What a run does: its stages, what each instance meets, who selects.

use super::json::{Json, number, object, text};

/// A run to generate.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which installation: bindings, profiles and releases differ, the workflow does not.
    pub installation: &'static str,
    pub stages: Vec<StagePlan>,
    pub max_records: u32,
    pub max_instances: u32,
    pub max_attempts: u32,
    pub root_case: Json,
    /// The export version; 2 has no audit bytes.
    pub export_version: u32,
}

#[derive(Clone, Debug)]
pub struct StagePlan {
    pub id: &'static str,
    pub from: Option<&'static str>,
    /// from, to, type, required.
    pub bindings: Vec<(&'static str, &'static str, &'static str, bool)>,
    pub pointer: &'static str,
    pub many: bool,
    pub dialect: Dialect,
    /// Whether a binding document is needed.
    pub bound: bool,
    pub select: Select,
    /// What the instances meet, in order; the last one repeats.
    pub instances: Vec<Vec<Try>>,
    /// The sources of the dialect, which is made up; by default one that has no parameters.
    pub sources: Option<Json>,
    /// What its outputs state to carry: classes, and whether there is generated influence.
    pub influence: (&'static [&'static str], bool),
    /// The revision of its selection.
    pub revision: u32,
    /// What the ids of its instances end in: a retry after consumption is a new instance of a new branch.
    pub suffix: &'static str,
    /// Which instances are recorded as over the bound, whatever the order of instances says.
    pub over: Option<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    Version2,
    Version3,
    Named2,
    Named3,
}

/// How a stage's outputs are selected.
#[derive(Clone, Debug)]
pub enum Select {
    /// It is terminal.
    Terminal,
    /// A reviewer takes these positions.
    Reviewer(Vec<usize>),
    /// The disposition of this kind, with this outcome.
    Rule(&'static str, Option<&'static str>),
    /// Nobody has.
    NotYet,
    /// A reviewer took these, and the admission was refused as over a bound.
    Refused(Vec<usize>),
}

/// One attempt.
#[derive(Clone, Debug)]
pub enum Try {
    /// Evaluated with these facts to a disposition of this kind.
    Evaluated(Json, Json),
    /// Failed for this reason, before or after a preparation.
    Failed(&'static str),
    /// Evaluated, with facts that offer nothing valid.
    OutputInvalid(Json),
    /// Ended with a Core error.
    EvaluationError,
    Interrupted,
    /// Interrupted before there was anything to export.
    Nothing,
    Cancelled,
    /// Ended like this before anything was acquired, with this failure: no attempt, and its case is retained.
    Unbegun(&'static str, Option<&'static str>),
}

pub fn outcome(id: &str) -> Json {
    object([
        ("handoff", object([("state", text("none"))])),
        ("kind", text("outcome")),
        ("outcomeId", text(id)),
        ("reasons", Json::List(vec![])),
    ])
}

pub fn unresolved() -> Json {
    object([
        ("handoff", object([("state", text("none"))])),
        ("kind", text("unresolved")),
        ("reasons", Json::List(vec![text("unknown")])),
    ])
}

pub fn not_applicable() -> Json {
    object([
        ("handoff", object([("state", text("none"))])),
        ("kind", text("not-applicable")),
        ("reasons", Json::List(vec![text("not-applicable")])),
    ])
}

/// `{name: [elements]}`
pub fn facts(name: &str, elements: Vec<Json>) -> Json {
    object([(name, Json::List(elements))])
}

pub fn item(id: &str) -> Json {
    object([("id", text(id)), ("name", text(format!("name of {id}")))])
}

impl Plan {
    /// Section 11: three organisations, the first and third selected, two people and none.
    pub fn two_stages() -> Self {
        let organisations = facts("organisations", ["o1", "o2", "o3"].map(item).to_vec());
        let people = facts("people", ["p1", "p2"].map(item).to_vec());
        let evaluated = |facts| vec![Try::Evaluated(facts, outcome("listed"))];
        Self {
            installation: "one",
            stages: vec![
                StagePlan {
                    id: "organisations",
                    from: None,
                    bindings: vec![],
                    pointer: "/organisations",
                    many: true,
                    dialect: Dialect::Version3,
                    bound: true,
                    select: Select::Reviewer(vec![0, 2]),
                    instances: vec![evaluated(organisations)],
                    sources: None,
                    influence: (&["generated"], true),
                    revision: 1,
                    suffix: "",
                    over: None,
                },
                StagePlan {
                    id: "people",
                    from: Some("organisations"),
                    bindings: vec![("/id", "/organisationId", "string", true)],
                    pointer: "/people",
                    many: true,
                    dialect: Dialect::Version3,
                    bound: true,
                    select: Select::Terminal,
                    instances: vec![evaluated(people), evaluated(facts("people", vec![]))],
                    sources: None,
                    influence: (&["generated"], true),
                    revision: 1,
                    suffix: "",
                    over: None,
                },
            ],
            max_records: 100,
            max_instances: 100,
            max_attempts: 3,
            root_case: object([("query", text("who"))]),
            export_version: 5,
        }
    }

    /// The same workflow at another installation.
    pub fn second_installation() -> Self {
        Self { installation: "two", ..Self::two_stages() }
    }

    /// One-output cases, selected by their dispositions.
    pub fn disposition(kind: &'static str, outcome_id: Option<&'static str>) -> Self {
        let mut plan = Self::two_stages();
        let one = |id: &str, disposition: Json| {
            vec![Try::Evaluated(object([("verdict", item(id))]), disposition)]
        };
        let judged = StagePlan {
            id: "judged",
            pointer: "/verdict",
            many: false,
            select: Select::Rule(kind, outcome_id),
            instances: vec![
                one("v1", outcome("go")),
                one("v2", unresolved()),
                one("v3", outcome("stop")),
                one("v4", not_applicable()),
                vec![Try::EvaluationError],
            ],
            ..plan.stages[1].clone()
        };
        let five = ["a", "b", "c", "d", "e"].map(item).to_vec();
        plan.stages[0].instances =
            vec![vec![Try::Evaluated(facts("organisations", five), outcome("x"))]];
        plan.stages[0].select = Select::Reviewer(vec![0, 1, 2, 3, 4]);
        plan.stages[1].from = Some("judged");
        plan.stages.insert(1, judged);
        plan
    }

    /// Nobody has selected: the second stage is blocked.
    pub fn no_selection() -> Self {
        let mut plan = Self::two_stages();
        plan.stages[0].select = Select::NotYet;
        plan
    }

    /// An empty selection, which is explicit: the second stage is closed without instances.
    pub fn empty_selection() -> Self {
        let mut plan = Self::two_stages();
        plan.stages[0].select = Select::Reviewer(vec![]);
        plan
    }

    /// As many children as the limit has, or one more, which is refused.
    pub fn fan_out(over: bool) -> Self {
        let mut plan = Self::two_stages();
        plan.max_instances = 3;
        if over {
            plan.stages[0].select = Select::Refused(vec![0, 1, 2]);
        }
        plan
    }

    /// Two siblings of six outputs when ten records are left for the stage.
    pub fn record_bound() -> Self {
        let mut plan = Self::two_stages();
        let six: Vec<Json> = ["a", "b", "c", "d", "e", "f"].map(item).to_vec();
        plan.stages[1].instances =
            vec![vec![Try::Evaluated(facts("people", six), outcome("listed"))]];
        plan.max_records = 10;
        plan
    }

    /// Missing and null optional values; a required one that is missing or mistyped fails its projection.
    pub fn missing_and_null() -> Self {
        let mut plan = Self::two_stages();
        let with = |id: &str, extra: &[(&str, Json)]| {
            let mut item = item(id);
            for (name, value) in extra {
                *item.at(name) = value.clone();
            }
            item
        };
        let mut nameless = object([("name", text("no id"))]);
        *nameless.at("note") = Json::Null;
        let offered = vec![
            with("o1", &[("note", Json::Null)]),
            with("o2", &[]),
            nameless,
            with("o4", &[("note", text("not null"))]),
        ];
        plan.stages[0].instances =
            vec![vec![Try::Evaluated(facts("organisations", offered), outcome("listed"))]];
        plan.stages[0].select = Select::Reviewer(vec![0, 1, 2, 3]);
        plan.stages[1].bindings.push(("/note", "/extra/note", "null", false));
        plan
    }

    /// Equal payloads are distinct records.
    pub fn duplicates() -> Self {
        let mut plan = Self::two_stages();
        let twins = facts("organisations", vec![item("o"), item("o"), item("o")]);
        plan.stages[0].instances = vec![vec![Try::Evaluated(twins, outcome("listed"))]];
        plan
    }

    /// `-0`, escapes and names beyond ASCII, through a container copy.
    pub fn literals() -> Self {
        let mut plan = Self::two_stages();
        let mut odd = item("<o&>\u{2028}\"\\\u{1}é\u{1f602}");
        *odd.at("n") = number("-0");
        *odd.at("\u{fffd}") = Json::List(vec![number("0"), Json::Bool(false)]);
        *odd.at("\u{1f602}") = object([("<", number("-9007199254740991"))]);
        let offered = facts("organisations", vec![odd.clone(), item("o2"), odd]);
        plan.stages[0].instances = vec![vec![Try::Evaluated(offered, outcome("listed"))]];
        plan.stages[1].bindings.push(("", "/whole", "object", true));
        plan.stages[1].bindings.push(("/n", "/n/0", "integer", false));
        plan.root_case = object([("query", text("<who>")), ("zero", number("-0"))]);
        plan
    }

    /// Every way not to succeed, and retries before that.
    pub fn unsuccessful() -> Self {
        let mut plan = Self::two_stages();
        let ids: Vec<String> = (1..=9).map(|number| format!("o{number}")).collect();
        let offered = ids.iter().map(|id| item(id)).collect();
        plan.stages[0].instances =
            vec![vec![Try::Evaluated(facts("organisations", offered), outcome("listed"))]];
        plan.stages[0].select = Select::Reviewer((0..9).collect());
        let people = || Try::Evaluated(facts("people", vec![item("p")]), outcome("listed"));
        plan.stages[1].instances = vec![
            vec![Try::Interrupted, Try::Failed("acquisition-failed"), people()],
            vec![Try::EvaluationError, Try::Nothing, people()],
            vec![Try::Failed("admission-refused")],
            vec![Try::Failed("preparation-failed")],
            vec![Try::EvaluationError],
            vec![Try::OutputInvalid(object([("people", Json::Null)]))],
            vec![Try::Interrupted],
            vec![Try::Cancelled],
            vec![],
        ];
        plan
    }

    /// The same answers in another order, and in another order within one of them.
    pub fn reordered() -> Self {
        let mut plan = Self::two_stages();
        let mut tagged = item("o2");
        *tagged.at("tags") = Json::List(vec![text("b"), text("a")]);
        let offered = facts("organisations", vec![item("o3"), tagged, item("o1")]);
        plan.stages[0].instances = vec![vec![Try::Evaluated(offered, outcome("listed"))]];
        plan
    }

    /// All children are reserved, and then the run is interrupted before anything is acquired.
    pub fn stopped_after_admission() -> Self {
        let mut plan = Self::two_stages();
        plan.stages[1].instances = vec![vec![Try::Unbegun("interrupted", None)]];
        plan
    }

    /// The named formats.
    pub fn named() -> Self {
        let mut plan = Self::two_stages();
        plan.stages[0].dialect = Dialect::Named3;
        plan.stages[1].dialect = Dialect::Named2;
        plan.stages[1].bound = false;
        plan
    }

    /// Integer version 2, exported without audit bytes.
    pub fn legacy() -> Self {
        let mut plan = Self::two_stages();
        plan.stages[0].dialect = Dialect::Version2;
        plan.export_version = 2;
        plan
    }
}
