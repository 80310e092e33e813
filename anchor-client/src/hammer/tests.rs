//! What is refused before a single byte is sent, and the arithmetic of rates.

use super::*;

fn options(path: Option<&str>) -> HammerOptions {
    HammerOptions {
        connections: 1,
        duration: Duration::from_millis(10),
        warmup: Duration::ZERO,
        batch: None,
        path: path.map(str::to_owned),
        sample: 0,
    }
}

fn target(log: &str, path: Option<&str>) -> Result<Target, HammerError> {
    Target::of(&log.parse().unwrap(), &options(path))
}

#[test]
fn requests_go_below_the_logs_address() {
    let found = target("http://log.example/prefix", None).unwrap();
    assert_eq!((found.host.as_str(), found.port), ("log.example", 80));
    assert_eq!(
        (found.authority.as_str(), found.path.as_str()),
        ("log.example:80", "/prefix/v1/entries")
    );
    let found = target("http://[::1]:7390", Some("/bare?x=1")).unwrap();
    assert_eq!((found.host.as_str(), found.authority.as_str()), ("::1", "[::1]:7390"));
    assert_eq!(found.path, "/bare?x=1");
}

#[test]
fn what_cannot_be_sent_is_refused() {
    assert!(matches!(target("https://log.example", None), Err(HammerError::Scheme { .. })));
    for path in ["bare", "", "/a b", "/a\r\nX: y"] {
        assert!(matches!(target("http://log.example", Some(path)), Err(HammerError::Path { .. })));
    }
}

#[tokio::test]
async fn limits_and_missing_servers_are_named() {
    let log: LogUrl = "http://127.0.0.1:1".parse().unwrap();
    for connections in [0, MAX_CONNECTIONS + 1] {
        let options = HammerOptions { connections, ..options(None) };
        let error = run(&log, &options).await.unwrap_err();
        assert!(matches!(error, HammerError::Connections { .. }), "{error}");
    }
    let error = run(&log, &options(None)).await.unwrap_err();
    assert!(matches!(error, HammerError::Connect { .. }), "{error}");
}

#[test]
fn rates_are_counts_over_time() {
    assert!((per_second(3000, Duration::from_secs(2)) - 1500.0).abs() < 1e-9);
    assert!(per_second(1, Duration::ZERO).abs() < 1e-9);
    let large = per_second(1 << 40, Duration::from_secs(1));
    assert!((large / 2_f64.powi(40) - 1.0).abs() < 1e-4);
}
