//! The committed description, and whether real answers are what it says.

use std::collections::BTreeSet;

use anchorlog_proto::jp::witness::{AuditCheckpoint, TrailId};

use super::*;

fn description() -> Value {
    serde_json::from_str(super::super::openapi::text()).unwrap()
}

#[test]
fn the_committed_description_is_the_generated_one() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi/log-server.json");
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        committed == super::super::openapi::text(),
        "{file} is not what the handlers say; run\n\
         cargo run --bin log-server -- openapi --out log-server/openapi/log-server.json"
    );
}

#[test]
fn every_route_is_known_and_described() {
    let described: BTreeSet<String> =
        description()["paths"].as_object().unwrap().keys().cloned().collect();
    let known: BTreeSet<String> = routes::ALL
        .into_iter()
        .filter(|route| *route != routes::UNMATCHED)
        .map(|route| route.replace("{*", "{"))
        .collect();
    assert_eq!(described, known);
}

#[test]
fn every_operation_has_its_words() {
    for (path, item) in description()["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(operation["summary"].is_string(), "{method} {path}");
            assert_eq!(operation["tags"].as_array().unwrap().len(), 1, "{method} {path}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let text = response["description"].as_str().unwrap();
                assert!(!text.is_empty(), "{method} {path} {status}");
                if status.starts_with(['4', '5']) {
                    let content =
                        &response["content"]["application/problem+json"]["schema"]["$ref"];
                    assert_eq!(content, "#/components/schemas/Problem", "{method} {path} {status}");
                }
            }
        }
    }
}

#[tokio::test]
async fn real_answers_are_what_the_description_says() {
    let keys = |config: &mut Config, _: &mut LogOptions| {
        config.access.keys = vec![submitter(1, 0, 0)];
        config.anchoring.interval = crate::config::Span::from_millis(1);
    };
    let world = World::stamped(keys, &[Scripted::new("a", [])]).await;
    let document = description();
    let check = |name: &str, answer: &Answer| {
        let schema = &document["components"]["schemas"][name];
        assert!(schema.is_object(), "there is no schema {name}");
        if let Err(fault) = conforms(&document, schema, &answer.json(), name) {
            panic!("{fault}\n{}", answer.text());
        }
    };
    check("Receipt", &world.post("/v1/entries", placed(1, "run", 1)).await);
    check("Receipt", &world.get("/v1/receipts/0?wait=anchored").await);
    check("Receipt", &world.post("/v1/entries", placed(2, "run", 1)).await);
    check("Receipt", &world.post("/v1/entries", signed(3, 1)).await);
    check("BatchReceipt", &world.post("/v1/entries:batch", batch(&[text(4), text(5)])).await);
    let line = AuditCheckpoint::new(TrailId::from_bytes([1; 16]), 1, digest(1)).unwrap().to_line();
    let lines = [("content-type", "application/jsonl")];
    let lines = |line: &str| {
        world.send(request(Method::POST, "/v1/trails:checkpoints", &lines, format!("{line}\n")))
    };
    check("BatchReceipt", &lines(&line).await);
    let other = line.replace(&digest(1).to_string(), &digest(2).to_string());
    check("Problem", &lines(&other).await);
    check("Receipt", &world.get("/v1/receipts/0").await);
    check("Receipt", &world.get("/v1/receipts/2").await);
    check("Entry", &world.get("/v1/entries/1").await);
    check("Entry", &world.get("/v1/entries/2").await);
    check("LookupAnswer", &world.get(&format!("/v1/lookup?digest={}", digest(2))).await);
    check("TrailAnswer", &world.get("/v1/trails/run?limit=1").await);
    check("SubmitterAnswer", &world.get(&format!("/v1/submitters/{}", key(1).id())).await);
    check("InclusionAnswer", &world.get("/v1/proof/inclusion?index=1").await);
    check("ConsistencyAnswer", &world.get("/v1/proof/consistency?from=1&to=4").await);
    check("LogInfo", &world.get("/v1/log").await);
    check("HealthAnswer", &world.get("/healthz").await);
    check("HealthAnswer", &world.get("/readyz").await);
    check("CheckpointsAnswer", &world.get("/v1/checkpoints").await);
    check("CountersignedCheckpoint", &world.get("/v1/checkpoints/1").await);
    check("Problem", &world.get("/v1/entries/99").await);
    check("Problem", &world.post("/v1/entries:batch", batch(&[text(6), "1".to_owned()])).await);
    let served = world.get("/openapi.json").await;
    assert_eq!(served.json(), document);
}

#[test]
fn the_checker_notices_what_does_not_conform() {
    let document = description();
    let schema = &document["components"]["schemas"]["HealthAnswer"];
    let check = |text: &str| conforms(&document, schema, &serde_json::from_str(text).unwrap(), "");
    check(r#"{"status":"ok"}"#).unwrap();
    check("{}").unwrap_err();
    check(r#"{"status":1}"#).unwrap_err();
    check(r#"{"status":"ok","more":1}"#).unwrap_err();
}

/// Whether a value conforms to a schema, as far as the description uses JSON Schema.
fn conforms(document: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        return conforms(document, target, value, at);
    }
    for union in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[union].as_array() {
            let results = choices.iter().map(|choice| conforms(document, choice, value, at));
            let faults: Vec<_> = results.filter_map(Result::err).collect();
            let fits = faults.len() < choices.len();
            return if fits { Ok(()) } else { Err(faults.join("\n")) };
        }
    }
    let actual = match value {
        Value::Array(_) => "array",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
        Value::Number(_) => "integer",
        Value::Object(_) => "object",
        Value::String(_) => "string",
    };
    let allowed = match &schema["type"] {
        Value::String(one) => one == actual,
        Value::Array(several) => several.iter().any(|one| one == actual),
        _ => false,
    };
    if !allowed {
        return Err(format!("{at} is {actual}, but must be {}", schema["type"]));
    }
    match value {
        Value::Object(members) => {
            for required in schema["required"].as_array().into_iter().flatten() {
                if !members.contains_key(required.as_str().unwrap()) {
                    return Err(format!("{at} has no {required}"));
                }
            }
            for (name, member) in members {
                let property = &schema["properties"][name];
                if property.is_null() {
                    return Err(format!("{at}.{name} is not described"));
                }
                conforms(document, property, member, &format!("{at}.{name}"))?;
            }
        }
        Value::Array(items) => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            if u64::try_from(items.len()).unwrap() < least {
                return Err(format!("{at} has fewer than {least} items"));
            }
            for (position, item) in items.iter().enumerate() {
                conforms(document, &schema["items"], item, &format!("{at}[{position}]"))?;
            }
        }
        Value::String(text) => {
            if let Some(values) = schema["enum"].as_array()
                && !values.iter().any(|allowed| allowed == text)
            {
                return Err(format!("{at} is {text}, which is not among {values:?}"));
            }
        }
        _ => {}
    }
    Ok(())
}
