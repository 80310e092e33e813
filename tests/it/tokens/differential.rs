//! docs/differential.md is true.

use std::fs;

use anchorlog_tests::differential::{Comparison, UNEXPLAINED};

#[test]
fn the_page_of_the_differential_is_what_a_new_run_gives() {
    let Some(comparison) = Comparison::run().unwrap() else {
        let required = std::env::var_os("ANCHORLOG_REQUIRE_PEERS").is_some_and(|it| it == "1");
        assert!(!required, "ANCHORLOG_REQUIRE_PEERS=1, but there is no openssl");
        println!("skipped: there is no openssl");
        return;
    };
    assert_eq!(comparison.our_mistakes(), [""; 0]);
    let page = fs::read_to_string("../docs/differential.md").unwrap();
    assert!(!page.contains(UNEXPLAINED));
    if !comparison.is_about(&page) {
        println!("the page is about another version of OpenSSL: not compared");
        return;
    }
    let new = comparison.page();
    let differs = page.lines().zip(new.lines()).find(|(old, new)| old != new);
    assert!(
        page == new,
        "first difference: {differs:#?}\nwrite it again (its first lines say how), and look at what has changed"
    );
}
