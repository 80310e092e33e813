//! Section 9's reader with scripted verifiers.

use std::sync::Arc;

use anchorlog_proto::jp::json::Value;
use anchorlog_proto::jp::workflow::{Class, Influence};
use anchorlog_verifier::workflow::plug::{
    ExpansionOutcome, ExpansionRequest, ExpansionVerifier, InfluenceOutcome, InfluenceRequest,
    InfluenceVerifier, Kind, KindRequest, PreparationOutcome, PreparationRequest,
    PreparationVerifier,
};
use anchorlog_verifier::workflow::{Answer, Expectations, Memory, Plugs, examine, read_workflow};

use super::expect;
use crate::workflow_world::json::Json;
use crate::workflow_world::{Bundle, Plan, generate, honest};

/// Three verifiers that agree unless they are told otherwise.
#[derive(Clone, Debug)]
pub struct Scripted {
    kind: Kind,
    preparation: Option<PreparationOutcome>,
    expansion: ExpansionOutcome,
    influence: Option<InfluenceOutcome>,
}

impl Scripted {
    pub const fn agreeing() -> Self {
        Self {
            kind: Kind::Read,
            preparation: None,
            expansion: ExpansionOutcome::Agrees,
            influence: None,
        }
    }

    pub fn plugs(&self) -> Plugs {
        let one = Arc::new(self.clone());
        Plugs { preparation: Some(one.clone()), expansion: Some(one.clone()), influence: Some(one) }
    }
}

impl PreparationVerifier for Scripted {
    fn reads(&self, _: &KindRequest) -> Kind {
        self.kind
    }

    fn verify(&self, request: &PreparationRequest) -> PreparationOutcome {
        assert!(request.require_binding || request.audit.is_none());
        self.preparation.clone().unwrap_or_else(|| {
            let bounds = anchorlog_proto::jp::json::Bounds::FOREIGN;
            let value = anchorlog_proto::jp::json::read(&request.preparation, &bounds).unwrap();
            let facts = value.get("facts").unwrap().clone().into_owned();
            PreparationOutcome::Agrees { facts, lineage: Value::Array(vec![]) }
        })
    }
}

impl ExpansionVerifier for Scripted {
    fn verify(&self, request: &ExpansionRequest) -> ExpansionOutcome {
        assert!(request.files > 20 && request.bytes > 1000);
        self.expansion.clone()
    }
}

impl InfluenceVerifier for Scripted {
    fn verify(&self, request: &InfluenceRequest) -> InfluenceOutcome {
        let generated = Influence { classes: vec![Class::Generated], generated_influence: true };
        // A child inherits what was computed for its parent.
        assert_eq!(request.parent, (request.stage != "organisations").then(|| generated.clone()));
        self.influence
            .clone()
            .unwrap_or_else(|| InfluenceOutcome::Agrees(vec![generated; request.outputs]))
    }
}

pub fn answered(bundle: &Bundle, plugs: &Plugs) -> Result<String, String> {
    let answer = read_workflow(&Memory(bundle.files.clone()), &expect(bundle), plugs);
    answer
        .map(|answer| String::from_utf8(answer.to_json()).unwrap())
        .map_err(|error| error.to_string())
}

#[test]
fn a_reading_needs_all_three() {
    let bundle = generate(&Plan::two_stages(), &honest);
    let unread = "{\"refusal\":\"kind-unread\",\"result\":\"refusal\"}\n";
    assert_eq!(answered(&bundle, &Plugs::default()), Ok(unread.to_owned()));
    let all = Scripted::agreeing().plugs();
    for missing in [
        Plugs { preparation: None, ..all.clone() },
        Plugs { expansion: None, ..all.clone() },
        Plugs { influence: None, ..all.clone() },
    ] {
        assert_eq!(answered(&bundle, &missing), Ok(unread.to_owned()));
    }
    let report = answered(&bundle, &all).unwrap();
    let expected = format!(
        "{{\"authentication\":\"not-established\",\"completion\":\"complete\",\"consistency\":\"agrees\",\"counts\":{{\"instances\":3,\"outputs\":5,\"selections\":1,\"stages\":2}},\"dispositions\":\"not-replayed\",\"executionDigest\":\"{}\",\"preparations\":\"agree\",\"result\":\"reading\",\"workflowDigest\":\"{}\"}}\n",
        bundle.execution, bundle.workflow
    );
    assert_eq!(report, expected);
    assert!(report.len() <= 4096);
    let partial = generate(&Plan::no_selection(), &honest);
    assert!(answered(&partial, &all).unwrap().contains("\"completion\":\"partial\""));
    // The form comes before the kind.
    let mut bundle = bundle;
    bundle.reseal(|bytes| bytes.push(b' '));
    let malformed = "{\"refusal\":\"input-malformed\",\"result\":\"refusal\"}\n";
    assert_eq!(answered(&bundle, &Plugs::default()), Ok(malformed.to_owned()));
}

#[test]
fn what_a_plug_says_is_what_comes_of_it() {
    let bundle = generate(&Plan::two_stages(), &honest);
    let with = |change: &dyn Fn(&mut Scripted)| {
        let mut scripted = Scripted::agreeing();
        change(&mut scripted);
        answered(&bundle, &scripted.plugs())
    };
    let refusal = |code: &str| Ok(format!("{{\"refusal\":\"{code}\",\"result\":\"refusal\"}}\n"));
    let finding = |code: &str| Ok(format!("{{\"finding\":\"{code}\",\"result\":\"finding\"}}\n"));
    let why = || "because".to_owned();
    assert_eq!(with(&|plug| plug.kind = Kind::Unread), refusal("kind-unread"));
    assert!(with(&|plug| plug.kind = Kind::NoAnswer).is_err());
    let refused = PreparationOutcome::Refusal("receipt-unsigned".to_owned());
    assert_eq!(with(&|plug| plug.preparation = Some(refused.clone())), refusal("receipt-unsigned"));
    let found = PreparationOutcome::Finding(why());
    assert_eq!(
        with(&|plug| plug.preparation = Some(found.clone())),
        finding("preparation-mismatch")
    );
    let other = PreparationOutcome::Agrees { facts: Value::Null, lineage: Value::Null };
    assert_eq!(
        with(&|plug| plug.preparation = Some(other.clone())),
        finding("preparation-mismatch")
    );
    assert!(with(&|plug| plug.preparation = Some(PreparationOutcome::NoAnswer)).is_err());
    let expansion = ExpansionOutcome::Finding(why());
    assert_eq!(with(&|plug| plug.expansion = expansion.clone()), finding("stage-binding-mismatch"));
    assert!(with(&|plug| plug.expansion = ExpansionOutcome::NoAnswer).is_err());
    let influence = InfluenceOutcome::Finding(why());
    assert_eq!(
        with(&|plug| plug.influence = Some(influence.clone())),
        finding("influence-mismatch")
    );
    assert!(with(&|plug| plug.influence = Some(InfluenceOutcome::NoAnswer)).is_err());
    assert!(with(&|plug| plug.influence = Some(InfluenceOutcome::Agrees(vec![]))).is_err());
    // Influence that a record launders.
    let laundered = generate(&Plan::two_stages(), &|point, json| {
        if point.what == "record" && point.stage == "people" {
            *json.at("lineage").at("influence").at("generatedInfluence") = Json::Bool(false);
        }
    });
    let answer = answered(&laundered, &Scripted::agreeing().plugs());
    assert_eq!(answer, finding("output-mismatch"));
}

#[test]
fn exits_are_those_of_the_rfc() {
    let bundle = generate(&Plan::two_stages(), &honest);
    let files = Memory(bundle.files.clone());
    let answer = read_workflow(&files, &expect(&bundle), &Scripted::agreeing().plugs()).unwrap();
    assert!(matches!(answer, Answer::Reading(_)));
    assert_eq!(answer.exit_code(), 0);
    assert_eq!(Answer::Refusal("x".to_owned()).exit_code(), 1);
    assert!(read_workflow(&files, &Expectations::default(), &Plugs::default()).is_err());
    assert!(examine(&Memory::default(), &expect(&bundle), &Plugs::default()).is_err());
}
