//! Look-ups by digest, trail and submitter.

use super::*;

fn column(body: &Value, member: &str) -> Vec<Value> {
    body["entries"].as_array().unwrap().iter().map(|entry| entry[member].clone()).collect()
}

#[tokio::test]
async fn a_lookup_right_after_a_receipt_finds_the_entry() {
    let world = World::new().await;
    for number in 0..20 {
        world.post("/v1/entries", text(number)).await;
        let answer = world.get(&format!("/v1/lookup?digest={}", digest(number))).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(column(&answer.json(), "index"), [Value::from(number)]);
    }
}

#[tokio::test]
async fn a_lookup_lists_every_kind_and_can_be_narrowed() {
    let world = World::new().await;
    let kinds = [StatementKind::Policy, StatementKind::CoreRoot, StatementKind::Digest];
    for kind in kinds {
        let statement = Statement::new(kind, digest(1));
        world.post("/v1/entries", leaf(&entry(statement))).await;
    }
    world.post("/v1/entries", placed(1, "run", 3)).await;
    let body = world.get(&format!("/v1/lookup?digest={}", digest(1))).await.json();
    assert_eq!(column(&body, "index"), [0, 1, 2, 3]);
    assert_eq!(column(&body, "kind"), ["policy", "core_root", "digest", "digest"]);
    assert_eq!(column(&body, "trail")[2..], [Value::Null, "run".into()]);
    assert_eq!(column(&body, "sequence")[2..], [Value::Null, 3.into()]);
    assert_eq!(column(&body, "key_id"), [Value::Null, Value::Null, Value::Null, Value::Null]);
    assert_eq!(body["truncated"], false);
    let body = world.get(&format!("/v1/lookup?digest={}&kind=digest", digest(1))).await.json();
    assert_eq!(column(&body, "index"), [2, 3]);
    let body = world.get(&format!("/v1/lookup?digest={}", digest(2))).await.json();
    assert_eq!(body["entries"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn lookups_are_read_strictly() {
    let world = World::new().await;
    let good = digest(1);
    for (query, code) in [
        (String::new(), "request.missing-parameter"),
        ("kind=digest".to_owned(), "request.missing-parameter"),
        (format!("digest={}", good.to_hex()), "request.bad-parameter"),
        (format!("digest={}", good.to_string().to_uppercase()), "request.bad-parameter"),
        (format!("digest={good}&kind=Digest"), "request.bad-parameter"),
        (format!("digest={good}&limit=1"), "request.unknown-parameter"),
        (format!("digest={good}&digest={good}"), "request.malformed-query"),
    ] {
        world.get(&format!("/v1/lookup?{query}")).await.problem(400, code);
    }
    let escaped = format!("/v1/lookup?digest={}", good.to_string().replace(':', "%3A"));
    assert_eq!(world.get(&escaped).await.status, 200);
}

#[tokio::test]
async fn a_trail_is_listed_in_parts_with_its_conflicts() {
    let world = World::new().await;
    let trail = format!("sha256:{}", "ab".repeat(32));
    let path = format!("/v1/trails/{trail}");
    for (number, sequence) in [(1, 1), (2, 2), (3, 2), (4, 3), (5, 2)] {
        world.post("/v1/entries", text(100 + number)).await;
        world.post("/v1/entries", placed(number, &trail, sequence)).await;
    }
    let body = world.get(&path).await.json();
    assert_eq!(column(&body, "index"), [1, 3, 5, 7, 9]);
    assert_eq!(column(&body, "sequence"), [1, 2, 2, 3, 2]);
    assert_eq!(body["next"], Value::Null);
    let expected: Value = serde_json::from_str(r#"[{"indexes":[3,5,9],"sequence":2}]"#).unwrap();
    assert_eq!(body["conflicts"], expected);

    let first = world.get(&format!("{path}?limit=2")).await.json();
    assert_eq!(column(&first, "index"), [1, 3]);
    assert_eq!(first["conflicts"], expected, "a conflict shows wherever one of its entries does");
    let second = world.get(&format!("{path}?from={}&limit=2", first["next"])).await.json();
    assert_eq!(column(&second, "index"), [5, 7]);
    let last = world.get(&format!("{path}?from={}&limit=2", second["next"])).await.json();
    assert_eq!((column(&last, "index"), &last["next"]), (vec![9.into()], &Value::Null));
    let escaped = world.get(&path.replace(':', "%3a")).await.json();
    assert_eq!(escaped, body);
    let none = world.get("/v1/trails/nothing-here").await;
    assert_eq!((none.status, none.json()["entries"].clone()), (200, Value::Array(Vec::new())));
}

#[tokio::test]
async fn the_same_digest_twice_at_one_place_is_no_conflict() {
    let world = World::with(|config, _| config.access.keys = vec![submitter(1, 0, 0)]).await;
    let place = statement(1).in_trail("run".parse().unwrap(), Some(1));
    world.post("/v1/entries", leaf(&entry(place.clone()))).await;
    let signed = LogEntry::signed(place, &key(1)).unwrap();
    let receipt = world.post("/v1/entries", leaf(&signed)).await.json();
    assert_eq!((receipt["index"].as_u64(), receipt.get("conflicts")), (Some(1), None));
    let body = world.get("/v1/trails/run").await.json();
    assert_eq!(column(&body, "index"), [0, 1]);
    assert_eq!(body["conflicts"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn a_conflict_shows_however_many_agree_before_it() {
    let world = World::new().await;
    let agreeing = |numbers: core::ops::Range<u64>, sequence| {
        let signed = |number: u64| {
            let mut seed = [0; 32];
            seed[..8].copy_from_slice(&number.to_be_bytes());
            let place = statement(1).in_trail("run".parse().unwrap(), Some(sequence));
            LogEntry::signed(place, &SigningKey::from_seed(&seed)).unwrap()
        };
        numbers.map(signed).collect::<Vec<_>>()
    };
    world.commit(agreeing(0..1_500, 1)).await;
    let listed = world.get("/v1/trails/run?limit=1").await.json();
    assert_eq!(listed["conflicts"], Value::Array(Vec::new()));
    let receipt = world.post("/v1/entries", placed(2, "run", 1)).await.json();
    assert_eq!(receipt["conflicts"].as_array().unwrap().len(), 64);
    let receipt = world.get("/v1/receipts/0").await.json();
    assert_eq!(receipt["conflicts"], serde_json::json!([1_500]));
    let listed = world.get("/v1/trails/run?limit=1").await.json();
    assert_eq!(listed["conflicts"][0]["indexes"].as_array().unwrap().len(), 100);

    // More than are compared are not said to agree.
    world.commit(agreeing(0..10_000, 2)).await;
    let part = "/v1/trails/run?from=1501&limit=1";
    assert_eq!(world.get(part).await.json()["conflicts"], Value::Array(Vec::new()));
    world.commit(agreeing(10_000..10_001, 2)).await;
    assert_eq!(world.get(part).await.json()["conflicts"][0]["sequence"], 2);
}

#[tokio::test]
async fn what_a_key_has_signed_is_listed() {
    let keys =
        |config: &mut Config| config.access.keys = vec![submitter(1, 0, 0), submitter(2, 0, 0)];
    let world = World::with(|config, _| keys(config)).await;
    for (number, seed) in [(1, 1), (2, 2), (3, 1), (4, 1)] {
        let answer = world.post("/v1/entries", signed(number, seed)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let path = format!("/v1/submitters/{}", key(1).id());
    let body = world.get(&path).await.json();
    assert_eq!(column(&body, "index"), [0, 2, 3]);
    assert_eq!(column(&body, "key_id")[0], key(1).id().to_string());
    let part = world.get(&format!("{path}?from=1&limit=1")).await.json();
    assert_eq!(column(&part, "index"), [2]);
    let rest = world.get(&format!("{path}?from={}", part["next"])).await.json();
    assert_eq!((column(&rest, "index"), &rest["next"]), (vec![3.into()], &Value::Null));
    let none = world.get(&format!("/v1/submitters/{}", key(3).id())).await.json();
    assert_eq!(none["entries"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn lists_are_asked_for_strictly() {
    let world = World::new().await;
    for (path, code) in [
        ("/v1/trails/Upper", "request.bad-parameter"),
        ("/v1/trails/%zz", "request.bad-parameter"),
        ("/v1/trails/-x", "request.bad-parameter"),
        ("/v1/trails/x?limit=0", "request.bad-parameter"),
        ("/v1/trails/x?limit=1001", "request.bad-parameter"),
        ("/v1/trails/x?from=01", "request.bad-parameter"),
        ("/v1/trails/x?form=1", "request.unknown-parameter"),
        ("/v1/submitters/gadk1:ab", "request.bad-parameter"),
        ("/v1/submitters/x?limit=", "request.bad-parameter"),
    ] {
        world.get(path).await.problem(400, code);
    }
    let long = format!("/v1/trails/{}", "x".repeat(129));
    world.get(&long).await.problem(400, "request.bad-parameter");
    assert_eq!(world.get("/v1/trails/x?limit=1000").await.status, 200);
}
