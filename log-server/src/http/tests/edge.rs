//! What holds for every path: methods, ids, CORS, unknown paths, health, overload.

use super::*;

/// One path per read route, with content behind it after two statements.
const READS: [&str; 15] = [
    "/v1/receipts/0",
    "/v1/entries/0",
    "/v1/lookup?digest=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "/v1/trails/run",
    "/v1/submitters/gadk1:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "/v1/proof/inclusion?index=0",
    "/v1/proof/consistency?from=1&to=2",
    "/v1/log",
    "/checkpoint",
    "/tile/0/000.p/2",
    "/tile/entries/000.p/2",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
];

const WRITES: [&str; 2] = ["/v1/entries", "/v1/entries:batch"];

#[tokio::test]
async fn head_is_get_without_its_body() {
    let world = World::new().await;
    world.fill(2).await;
    for path in READS {
        let get = world.get(path).await;
        assert_eq!(get.status, 200, "{path}: {}", get.text());
        assert!(!get.body.is_empty());
        let head = world.send(request(Method::HEAD, path, &[], "")).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        for name in [
            "content-type",
            "cache-control",
            "access-control-allow-origin",
            "x-content-type-options",
        ] {
            assert_eq!(head.header(name), get.header(name), "{path}: {name}");
        }
        assert_eq!(get.header("access-control-allow-origin"), Some("*"), "{path}");
    }
    let missing = world.send(request(Method::HEAD, "/v1/entries/7", &[], "")).await;
    assert_eq!((missing.status, missing.body.len()), (404, 0));
    assert_eq!(missing.header("content-type"), Some("application/problem+json"));
}

#[tokio::test]
async fn options_tell_the_methods_and_browsers_may_read_only() {
    let world = World::new().await;
    let preflight = [("origin", "https://a.example"), ("access-control-request-method", "GET")];
    for path in READS {
        let answer = world.send(request(Method::OPTIONS, path, &preflight, "")).await;
        assert_eq!((answer.status, answer.body.len()), (204, 0), "{path}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET, HEAD"));
    }
    for path in WRITES {
        let answer = world.send(request(Method::OPTIONS, path, &preflight, "")).await;
        assert_eq!(answer.status, 204, "{path}");
        assert_eq!(answer.header("allow"), Some("POST, OPTIONS"));
        assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control")));
    }
}

#[tokio::test]
async fn other_methods_are_refused_with_those_there_are() {
    let world = World::new().await;
    for path in READS {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
            let answer = world.send(request(method, path, &[], "")).await;
            answer.problem(405, "request.method-not-allowed");
            assert_eq!(answer.header("allow"), Some("GET,HEAD,OPTIONS"), "{path}");
        }
    }
    for path in WRITES {
        let answer = world.get(path).await;
        answer.problem(405, "request.method-not-allowed");
        assert_eq!(answer.header("allow"), Some("POST,OPTIONS"), "{path}");
    }
}

#[tokio::test]
async fn unknown_paths_and_parameters_are_refused() {
    let world = World::new().await;
    world.fill(2).await;
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/entries/",
        "/v2/entries",
        "/checkpoint/",
        "//checkpoint",
        "/v1/entries:batch/",
    ] {
        world.get(path).await.problem(404, "request.unknown-path");
    }
    for path in READS {
        let separator = if path.contains('?') { '&' } else { '?' };
        let answer = world.get(&format!("{path}{separator}nonsense=1")).await;
        answer.problem(400, "request.unknown-parameter");
    }
}

#[tokio::test]
async fn a_request_keeps_its_id() {
    let world = World::new().await;
    let with = |id: &str| request(Method::GET, "/v1/entries/9", &[("x-request-id", id)], "");
    let answer = world.send(with("trace-7.a_B")).await;
    assert_eq!(answer.header("x-request-id"), Some("trace-7.a_B"));
    answer.problem(404, "log.not-found");
    let first = world.send(with("not {plain}")).await;
    let second = world.send(with("not {plain}")).await;
    assert_ne!(first.header("x-request-id"), Some("not {plain}"));
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
}

#[tokio::test]
async fn health_follows_the_server() {
    let world = World::new().await;
    assert_eq!(world.get("/healthz").await.json()["status"], "ok");
    assert_eq!(world.get("/readyz").await.json()["status"], "ready");
    world.stop.send(true).unwrap();
    assert_eq!(world.get("/healthz").await.status, 200);
    let answer = world.get("/readyz").await;
    answer.problem(503, "server.stopping");
    assert!(answer.header("retry-after").is_some());
}

#[tokio::test]
async fn metrics_come_in_both_formats_or_not_at_all() {
    let world = World::new().await;
    let plain = world.get("/metrics").await;
    assert_eq!(plain.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let accept = [("accept", "application/openmetrics-text; version=1.0.0")];
    let open = world.send(request(Method::GET, "/metrics", &accept, "")).await;
    assert!(open.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    assert!(open.text().ends_with("# EOF\n"));
    let world = World::with(|config, _| config.telemetry.metrics = false).await;
    world.get("/metrics").await.problem(404, "request.unknown-path");
}

#[tokio::test]
async fn the_labels_of_the_metrics_are_bounded() {
    let world = World::new().await;
    world.get("/v1/entries/123456").await;
    world.get("/v1/trails/some-trail").await;
    world.get("/some/strange/path").await;
    let metrics = world.get("/metrics").await;
    let text = metrics.text();
    assert!(text.contains("route=\"/v1/entries/{index}\",status=\"4xx\""), "{text}");
    assert!(text.contains("route=\"unmatched\",status=\"4xx\""), "{text}");
    for absent in ["123456", "some-trail", "strange"] {
        assert!(!text.contains(absent), "{absent}");
    }
}

#[tokio::test]
async fn more_requests_than_allowed_are_turned_away_but_health_is_not() {
    let world = World::with(|config, _| config.http.max_requests = 1).await;
    let waiting = world.post("/v1/entries?wait=anchored&timeout=60", text(1));
    let meanwhile = async {
        while world.size() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let answer = world.get("/checkpoint").await;
        answer.problem(503, "server.overloaded");
        assert_eq!(answer.header("retry-after"), Some("1"));
        for path in ["/healthz", "/readyz", "/metrics"] {
            assert_eq!(world.get(path).await.status, 200, "{path}");
        }
        world.stop.send(true).unwrap();
    };
    let (answer, ()) = tokio::join!(waiting, meanwhile);
    assert_eq!(answer.status, 200);
    assert_eq!(world.get("/checkpoint").await.status, 200, "the place is free again");
}
