#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use super::*;
use crate::gad::form::Defect;
use crate::json::{ReadLimits, parse};
use crate::signed_object::SigningKey;

fn row(seed: u8, roles: &[&str]) -> String {
    let key = SigningKey::from_seed(&[seed; 32]).public_key();
    format!(
        r#"{{"algorithm":"ed25519","custody_statement":"c","key_id":"{}","public_key":"{}","roles":{roles:?}}}"#,
        key.id(),
        key.to_base64()
    )
}

const NODE: &str = r#"{"B":1,"T":[{"spec":{"capture":"engine_capture","expect":{"exit_code":0},"kind":"command","observation_layers":["authenticated_engine_observation"],"replay":false,"run":"make test","signal_kind":"direct_observable"},"test_id":"t1"}],"c_min":"proxy","desc":"d","fence":{"allow":["src/"],"kind":"paths"},"node":"n1","risk":"normal"}"#;

/// A plan of these nodes, edges and principals.
fn plan(nodes: &[String], edges: &str, principals: &[String]) -> String {
    format!(
        r#"{{"D":{edges},"N":[{}],"authorized_principals":[{}],"meta":{{"clock_policy":{{"max_backstep_s":0,"max_future_skew_s":300}}}},"schema":"gad.plan/1"}}"#,
        nodes.join(","),
        principals.join(",")
    )
}

fn good() -> String {
    plan(&[NODE.to_owned()], "[]", &[row(1, &["engine"]), row(2, &["approver"])])
}

fn named(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| NODE.replace("n1", id)).collect()
}

fn graph(ids: &[&str], edges: &str) -> String {
    plan(&named(ids), edges, &[row(1, &["engine"])])
}

fn read_with(text: &str, limits: &Limits) -> (Option<Plan>, Vec<String>) {
    let value = parse(text.as_bytes(), &ReadLimits::DEFAULT.with_bytes(1 << 24)).unwrap();
    let mut defects = Defects::new();
    let plan = Plan::read(&value, limits, &mut defects);
    let shown = |defect: &Defect| format!("{} {}", defect.code.as_str(), defect.pointer);
    (plan, defects.list().iter().map(shown).collect())
}

fn read(text: &str) -> (Option<Plan>, Vec<String>) {
    read_with(text, &Limits::DEFAULT)
}

/// The defects of the good plan with one replacement, and the plan that came out.
fn changed(from: &str, to: &str) -> (Plan, Vec<String>) {
    let text = good();
    assert!(text.contains(from), "{from}");
    let (plan, defects) = read(&text.replacen(from, to, 1));
    (plan.unwrap(), defects)
}

#[test]
fn a_good_plan_has_no_defect_and_writes_back() {
    let text = good();
    let (plan, defects) = read(&text);
    assert_eq!(defects, [""; 0]);
    let plan = plan.unwrap();
    assert_eq!(String::from_utf8(canonical(&plan.to_value())).unwrap(), text);
    assert_eq!(plan.clock, Some(ClockPolicy { max_backstep_s: 0, max_future_skew_s: 300 }));
    let first = &plan.nodes[0].tests[0];
    assert_eq!(
        first.digest.to_string(),
        "sha256:7f199e5512cf3cf6946e559cf22d6173fd1483a175f027ab8ba889f2f3e77089"
    );
    assert_eq!(Test::new("t1", first.spec.clone()), *first);
    assert_eq!(plan_hash(text.as_bytes()), Domain::Plan.hash(&[text.as_bytes()]));
}

#[test]
fn extensions_are_hashed_with_their_specification() {
    let (plan, defects) = changed(r#""kind":"command""#, r#""ext":{"a":1},"kind":"command""#);
    assert_eq!(defects, [""; 0]);
    let test = &plan.nodes[0].tests[0];
    assert_ne!(test.digest, test_spec_digest(&test.spec.to_value()));
}

#[test]
fn another_schema_is_not_read() {
    let other = good().replace("gad.plan/1", "gad.plan/2").replace("\"B\":1", "\"B\":-1");
    assert_eq!(read(&other), (None, vec!["R1.PROFILE.UNSUPPORTED /schema".to_owned()]));
    assert_eq!(read("{}"), (None, vec!["J.MISSING_FIELD /schema".to_owned()]));
    assert_eq!(read("[]").1, ["J.TYPE "]);
}

#[test]
fn wrong_members_read_as_the_strictest_value() {
    for wrong in [r#""c_min":"best""#, r#""c_min":7"#] {
        let (plan, defects) = changed(r#""c_min":"proxy""#, wrong);
        assert_eq!(defects, ["PLAN.CMIN /N/0/c_min"]);
        assert_eq!(plan.nodes[0].c_min, EvidenceClass::EngineObserved);
    }
    let (plan, defects) = changed(r#""risk":"normal""#, r#""risk":"none""#);
    assert_eq!(defects, ["PLAN.RISK /N/0/risk"]);
    assert_eq!(plan.nodes[0].risk, Risk::Gated);
    for wrong in ["-1", "1001", "\"1\"", "null"] {
        let (plan, defects) = changed(r#""B":1"#, &format!(r#""B":{wrong}"#));
        assert_eq!(defects, ["PLAN.BOUND /N/0/B"], "{wrong}");
        assert_eq!(plan.nodes[0].retries, 0);
    }
    assert_eq!(changed(r#""B":1"#, r#""B":1000"#).1, [""; 0]);
    for member in ["c_min", "risk", "B", "fence", "T", "node", "desc"] {
        let (_, defects) = changed(&format!("\"{member}\":"), "\"zz\":");
        let code = match member {
            "c_min" => "PLAN.CMIN",
            "risk" => "PLAN.RISK",
            "B" => "PLAN.BOUND",
            "fence" => "PLAN.FENCE_FORM",
            "T" => "PLAN.TESTS_EMPTY",
            "node" => "PLAN.NODE_DUP",
            _ => "J.MISSING_FIELD",
        };
        assert_eq!(defects, [format!("{code} /N/0/{member}"), "J.UNKNOWN_FIELD /N/0/zz".into()]);
    }
}

#[test]
fn testimony_is_true_or_absent() {
    let with = |value: &str| changed(r#""B":1"#, &format!(r#""B":1,"testimony":{value}"#));
    let (plan, defects) = with("true");
    assert!(defects.is_empty() && plan.nodes[0].testimony);
    assert!(canonical(&plan.to_value()).windows(16).any(|part| part == b"\"testimony\":true"));
    let (plan, defects) = with("false");
    assert_eq!(defects, ["J.ENUM /N/0/testimony"]);
    assert!(!plan.nodes[0].testimony);
    assert_eq!(with("\"yes\"").1, ["J.TYPE /N/0/testimony"]);
}

#[test]
fn whatever_is_wrong_with_a_fence_is_its_form() {
    for (wrong, place) in [
        (r#"{"allow":["src/"],"ext":{},"kind":"paths"}"#, "/ext"),
        (r#"{"allow":["../"],"kind":"paths"}"#, "/allow/0"),
        (r#"{"allow":["a","a"],"kind":"paths"}"#, "/allow/1"),
        (r#"{"allow":["a",1],"kind":"paths"}"#, "/allow/1"),
        (r#"{"allow":{},"kind":"paths"}"#, "/allow"),
        (r#"{"allow":[],"kind":"globs"}"#, "/kind"),
        ("[]", ""),
        ("null", ""),
    ] {
        let (plan, defects) = changed(r#"{"allow":["src/"],"kind":"paths"}"#, wrong);
        assert_eq!(defects, [format!("PLAN.FENCE_FORM /N/0/fence{place}")], "{wrong}");
        // An extra member leaves the fence what it is.
        assert_eq!(plan.nodes[0].fence.admits("src/a"), place == "/ext");
    }
    assert_eq!(changed(r#"["src/"]"#, "[]").1, [""; 0]);
}

#[test]
fn ids_of_nodes_and_tests_are_unique() {
    let (plan, defects) = read(&graph(&["n1", "n2", "n1", "!", "n3"], "[]"));
    assert_eq!(defects, ["PLAN.NODE_DUP /N/2/node", "PLAN.NODE_DUP /N/3/node"]);
    let ids: Vec<_> = plan.unwrap().nodes.into_iter().map(|node| node.id).collect();
    assert_eq!(ids, ["n1".into(), "n2".into(), Box::<str>::from("n3")]);
    // Nodes don't share the ids of their tests.
    assert_eq!(read(&graph(&["n1", "n2"], "[]")).1, [""; 0]);

    let test = &NODE[NODE.find("{\"spec\"").unwrap()..NODE.find("],\"c_min\"").unwrap()];
    let (plan, defects) = changed(test, &format!("{test},{},{test},7", test.replace("t1", "-")));
    assert_eq!(
        defects,
        ["PLAN.TEST_DUP /N/0/T/1/test_id", "PLAN.TEST_DUP /N/0/T/2/test_id", "J.TYPE /N/0/T/3"]
    );
    assert_eq!(plan.nodes[0].tests.len(), 1);
}

#[test]
fn nothing_to_do_and_nothing_to_test() {
    let (plan, defects) = read(&graph(&[], "[]"));
    assert_eq!(defects, ["PLAN.EMPTY /N"]);
    assert!(plan.unwrap().nodes.is_empty());
    for wrong in [r#""T":[]"#, r#""T":{}"#] {
        let text = good();
        let start = text.find("\"T\":").unwrap();
        let end = text.find(",\"c_min\"").unwrap();
        let (plan, defects) = read(&text.replace(&text[start..end], wrong));
        assert_eq!(defects, ["PLAN.TESTS_EMPTY /N/0/T"]);
        assert!(plan.unwrap().nodes[0].tests.is_empty());
    }
    let (plan, defects) = read(&good().replace("\"N\":", "\"NN\":"));
    assert_eq!((plan, &*defects[0]), (None, "J.MISSING_FIELD /N"));
}

#[test]
fn a_specification_that_is_wrong_credits_least() {
    let spec = &NODE[NODE.find("{\"capture\"").unwrap()..NODE.find(",\"test_id\"").unwrap()];
    let wrong = r#"{"capture":1,"expect":{"exit_code":256,"ext":{}},"kind":"smell","observation_layers":["independently_replayable","authenticated_engine_observation"],"replay":"no","run":"","signal_kind":"hearsay"}"#;
    let (plan, defects) = changed(spec, wrong);
    assert_eq!(
        defects,
        [
            "J.ENUM /N/0/T/0/spec/kind",
            "J.ENUM /N/0/T/0/spec/run",
            "J.TYPE /N/0/T/0/spec/capture",
            "J.ENUM /N/0/T/0/spec/observation_layers",
            "J.ENUM /N/0/T/0/spec/signal_kind",
            "J.TYPE /N/0/T/0/spec/replay",
            "J.ENUM /N/0/T/0/spec/expect/exit_code",
            "J.UNKNOWN_FIELD /N/0/T/0/spec/expect/ext",
        ]
    );
    let test = &plan.nodes[0].tests[0];
    assert_eq!(test.spec.capture, Capture::AttestedCapture);
    assert_eq!(test.spec.signal, SignalKind::WorkerAuthoredProxy);
    assert!(test.spec.layers.is_empty() && !test.spec.replay);
    // The digest is that of what stands there.
    let stated = parse(wrong.as_bytes(), &ReadLimits::DEFAULT).unwrap();
    assert_eq!(test.digest, test_spec_digest(&stated));
    // A layer three times is a matter of form, not of limits.
    let layer = "\"authenticated_engine_observation\"";
    let (_, defects) = changed(layer, &format!("{layer},{layer},{layer}"));
    assert_eq!(defects, ["J.ENUM /N/0/T/0/spec/observation_layers"]);
}

#[test]
fn edges_stay_within_n_and_lead_nowhere_back() {
    let ids = ["n1", "n2", "n3"];
    let check = |edges: &str| {
        let (plan, defects) = read(&graph(&ids, edges));
        (plan.unwrap().edges.len(), defects.join(","))
    };
    assert_eq!(check(r#"[["n1","n2"],["n2","n3"],["n1","n3"]]"#), (3, String::new()));
    assert_eq!(
        check(r#"[["n1","n4"],["","n1"]]"#),
        (0, "PLAN.EDGE_DANGLING /D/0/1,PLAN.EDGE_DANGLING /D/1/0".into())
    );
    assert_eq!(check(r#"[["n1","n2"],["n1","n2"]]"#), (1, "J.ENUM /D/1".into()));
    assert_eq!(check(r#"[["n1","n1"]]"#), (1, "PLAN.CYCLE /D/0".into()));
    // The place is an edge of the cycle, by its position as stated.
    assert_eq!(
        check(r#"[["n0","n1"],["n1","n3"],["n2","n1"],["n1","n2"]]"#),
        (3, "PLAN.EDGE_DANGLING /D/0/0,PLAN.CYCLE /D/3".into())
    );
    assert_eq!(
        check(r#"[["n1"],["n1","n2","n3"],{},["n1",2]]"#),
        (0, "J.ENUM /D/0,J.ENUM /D/1,J.TYPE /D/2,J.TYPE /D/3/1".into())
    );
}

#[test]
fn keys_of_the_registry() {
    let keys = |rows: &[String]| {
        let (plan, defects) = read(&plan(&[NODE.to_owned()], "[]", rows));
        (plan.unwrap().principals, defects)
    };
    let engine = row(1, &["engine"]);
    for member in ["key_id", "algorithm", "public_key", "custody_statement"] {
        let broken = row(2, &["approver"]).replace(&format!("\"{member}\""), "\"zz\"");
        let (principals, defects) = keys(&[engine.clone(), broken]);
        assert_eq!(defects[0], format!("PLAN.KEY_INCOMPLETE /authorized_principals/1/{member}"));
        assert_eq!(principals.len(), if member == "custody_statement" { 2 } else { 1 });
    }
    let with = |from: &str, to: &str| {
        let broken = row(2, &["approver"]);
        assert!(broken.contains(from));
        keys(&[engine.clone(), broken.replace(from, to)])
    };
    let at = |code: &str, member: &str| format!("{code} /authorized_principals/1/{member}");
    let (principals, defects) = with("\"ed25519\"", "\"rsa\"");
    assert_eq!((principals.len(), defects), (1, vec![at("R1.ISSUER.ALG", "algorithm")]));
    let other = SigningKey::from_seed(&[3; 32]).id().to_string();
    let own = SigningKey::from_seed(&[2; 32]).id().to_string();
    let (principals, defects) = with(&own, &other);
    assert_eq!((principals.len(), defects), (1, vec![at("R1.ISSUER.KEY_ID", "key_id")]));
    assert_eq!(with("gadk1:", "gadk2:").1, [at("J.DIGEST_FORM", "key_id")]);
    assert_eq!(
        with("\"approver\"", "\"approver\",\"engine\",\"king\"").1,
        [at("J.ENUM", "roles/2")]
    );
    assert_eq!(with("[\"approver\"]", "[]").1, [at("J.ENUM", "roles")]);
    assert_eq!(with("\"roles\"", "\"party\":\"\",\"roles\"").1, [at("J.ENUM", "party")]);
    let long = format!("\"{}\"", "c".repeat(4097));
    let (principals, defects) = with("\"c\"", &long);
    assert_eq!(defects, [at("J.ENUM", "custody_statement")]);
    assert_eq!(&*principals[1].custody, "");
    assert_eq!(with("\"c\"", "\"\"").1, [""; 0]);
}

/// The neutral element: under it, R = identity and S = 0 fit every message to a lax verifier.
#[test]
fn a_key_that_proves_nothing_is_left_out() {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    let weak = format!(
        r#"{{"algorithm":"ed25519","custody_statement":"c","key_id":"{}","public_key":"{}","roles":["approver"]}}"#,
        SignerId::of_bytes(&bytes),
        crate::encoding::base64_encode(&bytes)
    );
    let (plan, defects) =
        read(&plan(&[NODE.to_owned()], "[]", &[row(1, &["engine"]), weak.clone(), weak]));
    assert_eq!(
        defects,
        [
            "R1.ISSUER.WEAK_KEY /authorized_principals/1/public_key",
            "R1.ISSUER.WEAK_KEY /authorized_principals/2/public_key",
            "PLAN.KEY_DUP /authorized_principals/2",
        ]
    );
    assert_eq!(plan.unwrap().principals.len(), 1);
}

#[test]
fn one_key_is_registered_once_and_not_for_both_sides() {
    let defects = |rows: &[String]| read(&plan(&[NODE.to_owned()], "[]", rows));
    let both = row(1, &["approver", "engine"]);
    assert_eq!(defects(&[both]).1, ["PLAN.ROLE_CONFLICT /authorized_principals/0"]);
    let (plan, found) =
        defects(&[row(1, &["engine"]), row(1, &["approver"]), row(1, &["approver"])]);
    assert_eq!(
        found,
        [
            "PLAN.KEY_DUP /authorized_principals/1",
            "PLAN.ROLE_CONFLICT /authorized_principals/1",
            "PLAN.KEY_DUP /authorized_principals/2",
        ]
    );
    // A repeated row doesn't hide what it gives its key.
    let principals = plan.unwrap().principals;
    assert_eq!(principals.len(), 1);
    assert_eq!(principals[0].roles, [Role::Approver, Role::Engine]);
    // One public key under two ids.
    let id = SigningKey::from_seed(&[1; 32]).id().to_string();
    let other = SigningKey::from_seed(&[9; 32]).id().to_string();
    let renamed = row(1, &["succession_authority"]).replace(&id, &other);
    assert_eq!(
        defects(&[row(1, &["engine"]), renamed]).1,
        [
            "R1.ISSUER.KEY_ID /authorized_principals/1/key_id",
            "PLAN.KEY_DUP /authorized_principals/1"
        ]
    );
}

#[test]
fn the_registry_can_sign_what_the_plan_asks_for() {
    let empty = "PLAN.REGISTRY_EMPTY /authorized_principals";
    let gated = NODE.replace("normal", "gated");
    let check = |node: &str, rows: &[String]| read(&plan(&[node.to_owned()], "[]", rows)).1;
    assert_eq!(check(NODE, &[]), [empty]);
    assert_eq!(check(NODE, &[row(2, &["approver"])]), [empty]);
    assert_eq!(check(NODE, &[row(1, &["engine"])]), [""; 0]);
    assert_eq!(check(&gated, &[row(1, &["engine"])]), [empty]);
    assert_eq!(check(&gated, &[row(1, &["engine"]), row(2, &["approver"])]), [""; 0]);
    let text = good();
    let start = text.find("\"authorized_principals\"").unwrap();
    let end = text.find("\"meta\"").unwrap();
    let absent = text.replace(&text[start..end], "");
    assert_eq!(read(&absent).1, ["J.MISSING_FIELD /authorized_principals", empty]);
}

#[test]
fn clocks_are_declared() {
    let clock = r#"{"max_backstep_s":0,"max_future_skew_s":300}"#;
    let undeclared = |place: &str| format!("R2.CLOCK.UNDECLARED /meta{place}");
    let (plan, defects) = changed(&format!("{{\"clock_policy\":{clock}}}"), r#"{"ext":{}}"#);
    assert_eq!((plan.clock, defects), (None, vec![undeclared("/clock_policy")]));
    let (plan, defects) = changed(clock, r#"{"max_backstep_s":0}"#);
    assert_eq!((plan.clock, defects), (None, vec![undeclared("/clock_policy/max_future_skew_s")]));
    let (plan, defects) = changed(clock, r#"{"max_backstep_s":86401,"max_future_skew_s":-1}"#);
    assert_eq!(plan.clock, None);
    assert_eq!(
        defects,
        ["J.ENUM /meta/clock_policy/max_backstep_s", "J.ENUM /meta/clock_policy/max_future_skew_s"]
    );
    assert_eq!(
        changed(clock, r#"{"ext":{},"max_backstep_s":86400,"max_future_skew_s":0}"#).1,
        ["J.UNKNOWN_FIELD /meta/clock_policy/ext"]
    );
    let (_, defects) = changed("\"meta\"", "\"ext\"");
    assert_eq!(defects, ["J.MISSING_FIELD /meta", &undeclared("")]);
}

#[test]
fn limits_of_a_plan() {
    let limited = |text: &str, set: fn(&mut Limits)| {
        let mut limits = Limits::DEFAULT;
        set(&mut limits);
        read_with(text, &limits).1
    };
    let text = graph(&["n1", "n2"], r#"[["n1","n2"]]"#);
    assert_eq!(limited(&text, |limits| limits.nodes = 2), [""; 0]);
    assert_eq!(limited(&text, |limits| limits.nodes = 1)[0], "IN.LIMIT_COUNT /N");
    assert_eq!(limited(&text, |limits| limits.edges = 0), ["IN.LIMIT_COUNT /D"]);
    assert_eq!(limited(&text, |limits| limits.tests = 0)[0], "IN.LIMIT_COUNT /N/0/T");
    assert_eq!(
        limited(&text, |limits| limits.principals = 0),
        ["IN.LIMIT_COUNT /authorized_principals"]
    );
    assert_eq!(limited(&text, |limits| limits.elements = 0)[0], "IN.LIMIT_COUNT /N/0/fence/allow");
}

/// A plan at its limits: ten thousand nodes, a hundred thousand edges, a thousand principals.
#[test]
fn the_largest_plan_takes_no_time() {
    let nodes: Vec<_> = (0..10_000).map(|node| NODE.replace("n1", &format!("n{node}"))).collect();
    let edges: Vec<_> = (0..100_000_u32)
        .map(|edge| (edge % 9_000, edge / 9_000 + 1))
        .map(|(from, step)| format!(r#"["n{from}","n{}"]"#, from + step * 83))
        .collect();
    let principals: Vec<_> = std::iter::once(row(1, &["engine"]))
        .chain((0..999).map(|_| row(2, &["approver"])))
        .collect();
    let text = plan(&nodes, &format!("[{}]", edges.join(",")), &principals);
    let start = std::time::Instant::now();
    let (plan, defects) = read(&text);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert_eq!(plan.unwrap().edges.len(), 100_000);
    assert_eq!(defects.len(), 998);
    assert!(defects.iter().all(|defect| defect.starts_with("PLAN.KEY_DUP")));
}
