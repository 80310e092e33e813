//! Trust entries: each is one unit of roots, window, policies and accuracy.

use crate::forge::draft::{List, entry};
use crate::forge::token::{OTHER_POLICY, POLICY, accuracy};
use crate::forge::world::{GEN_TIME, OPERATOR, YEAR};

const OTHER: &str = "other";

pub(super) fn add(list: &mut List<'_>) {
    sound(list);
    windows(list);
    rules(list);
}

fn sound(list: &mut List<'_>) {
    list.holds(
        "window-closed",
        "the window is the one second of genTime: a closed interval",
        |d| {
            d.trust().window_start = Some(GEN_TIME);
            d.trust().window_end = Some(GEN_TIME);
        },
    );
    list.holds("trust-second-entry", "the second entry has the right root", |d| {
        let other = entry(OTHER, &d.world.other_root);
        d.given.trust.insert(0, other);
    });
    list.holds(
        "trust-same-root-later",
        "two entries with one root; the window of the second is right",
        |d| {
            let mut early = entry(OTHER, &d.root);
            early.window_end = Some(GEN_TIME - YEAR);
            d.trust().window_start = Some(GEN_TIME - YEAR + 1);
            d.given.trust.insert(0, early);
        },
    );
    list.holds(
        "policy-accepted",
        "the entry accepts two policies, of which this is the second",
        |d| {
            d.trust().policies = vec![OTHER_POLICY, POLICY];
        },
    );
    list.holds("accuracy-as-wide-as-allowed", "1 s where 1 s is allowed", |d| {
        d.trust().max_accuracy_s = Some(1);
    });
    list.holds("accuracy-under-the-limit", "999 ms and 999 µs where 1 s is allowed", |d| {
        d.trust().max_accuracy_s = Some(1);
        d.token.info.accuracy = accuracy(None, Some(999), Some(999));
    });
    list.holds("accuracy-empty-under-the-limit", "an accuracy without parts is one of zero", |d| {
        d.trust().max_accuracy_s = Some(1);
        d.token.info.accuracy = accuracy(None, None, None);
    });
    list.holds("root-of-both-purposes", "the root is known for another purpose too", |d| {
        let root = d.root.certificate.clone();
        d.given.other_roots.push(root);
    });
    list.holds(
        "time-ahead-by-the-skew",
        "genTime is ahead of the clock by the skew to the second",
        |d| {
            d.given.at = GEN_TIME - i64::from(d.given.skew_s);
        },
    );
}

fn windows(list: &mut List<'_>) {
    let reason = "window.outside";
    list.fails("window-ended", reason, "the window ended a second before genTime", |d| {
        d.trust().window_end = Some(GEN_TIME - 1);
    });
    list.fails("window-not-begun", reason, "the window begins a second after genTime", |d| {
        d.trust().window_start = Some(GEN_TIME + 1);
    });
    list.fails(
        "window-borrowed",
        reason,
        "the window of another operator's entry would fit, its root not (TOB-SIGSTORE-11)",
        |d| {
            d.trust().window_end = Some(GEN_TIME - YEAR);
            let mut other = entry(OTHER, &d.world.other_root);
            other.window_start = Some(GEN_TIME - 1);
            other.window_end = Some(GEN_TIME + 1);
            d.given.trust.push(other);
        },
    );
    list.fails("window-borrowed-from-first", reason, "the same, the fitting window first", |d| {
        d.trust().window_end = Some(GEN_TIME - YEAR);
        let other = entry(OTHER, &d.world.other_root);
        d.given.trust.insert(0, other);
    });
    list.fails(
        "window-gap",
        reason,
        "two windows of one operator, and genTime between them",
        |d| {
            let mut late = entry(OPERATOR, &d.root);
            late.window_start = Some(GEN_TIME + 10);
            d.trust().window_end = Some(GEN_TIME - 10);
            d.given.trust.push(late);
        },
    );
}

fn rules(list: &mut List<'_>) {
    let policy = "policy.not-accepted";
    list.fails("policy-not-accepted", policy, "the entry accepts another policy alone", |d| {
        d.trust().policies = vec![OTHER_POLICY];
    });
    list.fails(
        "policy-longer",
        policy,
        "the policy accepted is the token's with one more arc",
        |d| {
            d.trust().policies = vec!["1.3.6.1.4.1.32473.3161.1.1"];
        },
    );
    list.fails("policy-borrowed", policy, "another operator's entry accepts the policy", |d| {
        d.trust().policies = vec![OTHER_POLICY];
        let mut other = entry(OTHER, &d.world.other_root);
        other.policies = vec![POLICY];
        d.given.trust.push(other);
    });
    list.fails(
        "accuracy-required",
        "accuracy.absent",
        "the entry has a limit and the token says nothing",
        |d| {
            d.trust().max_accuracy_s = Some(1);
            d.token.info.accuracy = Vec::new();
        },
    );
    list.fails("accuracy-wide", "accuracy.wide", "1 s and 1 µs where 1 s is allowed", |d| {
        d.trust().max_accuracy_s = Some(1);
        d.token.info.accuracy = accuracy(Some(1), None, Some(1));
    });
    list.fails(
        "accuracy-huge",
        "accuracy.wide",
        "2^32 - 1 seconds: no overflow makes it small",
        |d| {
            d.trust().max_accuracy_s = Some(1);
            d.token.info.accuracy = accuracy(Some(u32::MAX.into()), None, None);
        },
    );
    list.fails(
        "accuracy-borrowed",
        "accuracy.wide",
        "another operator's entry would allow it",
        |d| {
            d.trust().max_accuracy_s = Some(1);
            d.token.info.accuracy = accuracy(Some(60), None, None);
            let mut other = entry(OTHER, &d.world.other_root);
            other.max_accuracy_s = Some(100);
            d.given.trust.push(other);
        },
    );
    list.fails(
        "root-of-another-purpose",
        "root.purpose",
        "the root is known for another purpose alone",
        |d| {
            let other = entry(OTHER, &d.world.other_root);
            let root = d.root.certificate.clone();
            d.given.trust = vec![other];
            d.given.other_roots = vec![root];
        },
    );
    list.fails("time-future", "time.future", "genTime is an hour ahead of the clock", |d| {
        d.given.at = GEN_TIME - 3600;
    });
    list.fails(
        "time-past-the-skew",
        "time.future",
        "genTime is a second more ahead than the skew",
        |d| {
            d.given.at = GEN_TIME - i64::from(d.given.skew_s) - 1;
        },
    );
}
