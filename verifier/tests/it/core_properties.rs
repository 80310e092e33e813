//! Evaluation of random packs, against an oracle that works another way: a condition is true, false or unknown
//! as it is under every, no, or some assignment of what is unknown; and resolution is said with sets.

use std::collections::BTreeSet;

use anchorlog_verifier::jp::core::{Limits, Truth, evaluate};

use crate::jp_world::{exception, pack_text, rule};

/// splitmix64; the same numbers for the same seed.
pub struct Dice(pub u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    fn index(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(u64::try_from(limit).unwrap())).unwrap()
    }

    fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.index(all.len())]
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.index(at + 1));
        }
    }
}

/// A condition in which every unknown occurs once, so that assignments decide it exactly.
#[derive(Clone)]
enum Shape {
    Known(bool),
    Unknown(usize),
    All(Vec<Shape>),
    Any(Vec<Shape>),
    Not(Box<Shape>),
}

impl Shape {
    fn random(dice: &mut Dice, depth: u64, unknowns: &mut usize) -> Self {
        match if depth == 0 { dice.below(3) } else { dice.below(6) } {
            0 => Self::Known(true),
            1 => Self::Known(false),
            2 => {
                *unknowns += 1;
                Self::Unknown(*unknowns - 1)
            }
            3 => Self::Not(Box::new(Self::random(dice, depth - 1, unknowns))),
            kind => {
                let count = 1 + dice.below(3);
                let children =
                    (0..count).map(|_| Self::random(dice, depth - 1, unknowns)).collect();
                if kind == 4 { Self::All(children) } else { Self::Any(children) }
            }
        }
    }

    fn under(&self, assignment: u32) -> bool {
        match self {
            Self::Known(value) => *value,
            Self::Unknown(at) => assignment >> at & 1 == 1,
            Self::All(children) => children.iter().all(|child| child.under(assignment)),
            Self::Any(children) => children.iter().any(|child| child.under(assignment)),
            Self::Not(child) => !child.under(assignment),
        }
    }

    fn truth(&self, unknowns: usize) -> Truth {
        let all: BTreeSet<bool> = (0..1_u32 << unknowns).map(|one| self.under(one)).collect();
        match (all.contains(&true), all.contains(&false)) {
            (true, false) => Truth::True,
            (false, true) => Truth::False,
            _ => Truth::Unknown,
        }
    }

    fn json(&self) -> String {
        let list = |op: &str, children: &[Self]| {
            let children: Vec<_> = children.iter().map(Self::json).collect();
            format!(r#"{{"op":"{op}","conditions":[{}]}}"#, children.join(","))
        };
        match self {
            Self::Known(value) => format!(r#"{{"op":"literal","value":{value}}}"#),
            Self::Unknown(at) => {
                format!(r#"{{"op":"fact","path":"/none/{at}","operator":"equals","value":{at}}}"#)
            }
            Self::All(children) => list("all", children),
            Self::Any(children) => list("any", children),
            Self::Not(child) => format!(r#"{{"op":"not","condition":{}}}"#, child.json()),
        }
    }

    fn shuffle(&mut self, dice: &mut Dice) {
        match self {
            Self::All(children) | Self::Any(children) => {
                dice.shuffle(children);
                for child in children {
                    child.shuffle(dice);
                }
            }
            Self::Not(child) => child.shuffle(dice),
            Self::Known(_) | Self::Unknown(_) => {}
        }
    }
}

#[derive(Clone)]
pub struct One {
    pub id: String,
    shape: Shape,
    pub truth: Truth,
    /// The outcome of a rule, the effect of an exception.
    pub what: String,
    pub escalates: bool,
}

#[derive(Clone)]
pub struct World {
    pub rules: Vec<One>,
    pub exceptions: Vec<One>,
    fallback: bool,
}

impl World {
    pub fn random(dice: &mut Dice) -> Self {
        let make = |dice: &mut Dice, id: String, what: String| {
            let (shape, unknowns) = loop {
                let mut unknowns = 0;
                let shape = Shape::random(dice, 3, &mut unknowns);
                if unknowns <= 10 {
                    break (shape, unknowns);
                }
            };
            let truth = shape.truth(unknowns);
            One { id, shape, truth, what, escalates: dice.below(3) == 0 }
        };
        let count = 1 + dice.below(5);
        let rules: Vec<One> = (0..count)
            .map(|n| {
                let outcome = dice.one_of(&["yes", "yes", "no"]).to_owned();
                make(dice, format!("r{n}"), outcome)
            })
            .collect();
        let exceptions = (0..dice.below(4))
            .map(|n| {
                let effect = match dice.below(5) {
                    0 => "escalate".to_owned(),
                    1 | 2 => format!("force-outcome:{}", dice.one_of(&["yes", "no"])),
                    _ => format!("suppress-rule:r{}", dice.below(count)),
                };
                make(dice, format!("r{n}"), effect)
            })
            .collect();
        Self { rules, exceptions, fallback: dice.below(2) == 0 }
    }

    pub fn json(&self) -> String {
        let on = |one: &One| if one.escalates { "escalate" } else { "ignore" };
        let rules =
            self.rules.iter().map(|one| rule(&one.id, &one.shape.json(), &one.what, on(one)));
        let exceptions = self
            .exceptions
            .iter()
            .map(|one| exception(&one.id, &one.shape.json(), &one.what, on(one)));
        let rules: Vec<_> = rules.collect();
        let exceptions: Vec<_> = exceptions.collect();
        let more = if self.fallback { r#","fallbackOutcome":"review""# } else { "" };
        pack_text(&rules.join(","), &exceptions.join(","), more)
    }

    /// Disposition and credit, said with sets.
    pub fn expected(&self) -> String {
        let holds = |one: &&One| one.truth == Truth::True;
        let blocks = |one: &One| one.truth == Truth::Unknown && one.escalates;
        let ids = |all: &[&One]| {
            let ids: BTreeSet<&str> = all.iter().map(|one| one.id.as_str()).collect();
            ids.into_iter().collect::<Vec<_>>().join(" ")
        };
        let unresolved = |reasons: &BTreeSet<&str>| {
            let listed: Vec<_> = reasons.iter().copied().collect();
            let direct = reasons.contains("exception-escalation");
            let handoff = if direct { ", handoff requested by exception-escalation" } else { "" };
            format!("unresolved {}{handoff} / no outcome", listed.join(" "))
        };
        let effects: Vec<&One> = self.exceptions.iter().filter(holds).collect();
        let forced: BTreeSet<&str> =
            effects.iter().filter_map(|one| one.what.strip_prefix("force-outcome:")).collect();
        let mut reasons = BTreeSet::new();
        if self.exceptions.iter().any(blocks) {
            reasons.insert("unknown");
        }
        if effects.iter().any(|one| one.what == "escalate") {
            reasons.insert("exception-escalation");
        }
        if forced.len() > 1 {
            reasons.insert("conflict");
        }
        if !reasons.is_empty() {
            return unresolved(&reasons);
        }
        if let Some(outcome) = forced.first() {
            let by: Vec<&One> =
                effects.iter().filter(|one| one.what.starts_with("force")).copied().collect();
            return format!("outcome {outcome} / forcing-exception {}", ids(&by));
        }
        let suppressed: BTreeSet<&str> =
            effects.iter().filter_map(|one| one.what.strip_prefix("suppress-rule:")).collect();
        let left: Vec<&One> =
            self.rules.iter().filter(|one| !suppressed.contains(one.id.as_str())).collect();
        let true_ones: Vec<&One> = left.iter().filter(|one| holds(one)).copied().collect();
        let outcomes: BTreeSet<&str> = true_ones.iter().map(|one| one.what.as_str()).collect();
        if left.iter().any(|one| blocks(one)) {
            reasons.insert("unknown");
        }
        if outcomes.len() > 1 {
            reasons.insert("conflict");
        }
        match (reasons.is_empty(), outcomes.first(), self.fallback) {
            (false, ..) => unresolved(&reasons),
            (true, Some(outcome), _) => format!("outcome {outcome} / rule {}", ids(&true_ones)),
            (true, None, true) => "outcome review / fallback".to_owned(),
            (true, None, false) => unresolved(&BTreeSet::from(["no-match"])),
        }
    }
}

fn run(pack: &str, limits: &Limits) -> Result<String, &'static str> {
    evaluate(pack.as_bytes(), b"{}", None, &[], limits)
        .map(|evaluation| format!("{} / {}", evaluation.disposition, evaluation.credit))
        .map_err(|error| error.class().as_str())
}

#[test]
fn random_packs_evaluate_as_the_oracle_says_in_every_order() {
    let mut dice = Dice(28);
    let mut kinds = BTreeSet::new();
    for round in 0..600 {
        let world = World::random(&mut dice);
        let expected = world.expected();
        let pack = world.json();
        assert_eq!(run(&pack, &Limits::DEFAULT).as_ref(), Ok(&expected), "round {round}: {pack}");
        kinds.insert(expected.split(' ').next().unwrap().to_owned());
        kinds.insert(expected.rsplit(" / ").next().unwrap().split(' ').next().unwrap().to_owned());
        let mut shuffled = world.clone();
        dice.shuffle(&mut shuffled.rules);
        dice.shuffle(&mut shuffled.exceptions);
        for one in shuffled.rules.iter_mut().chain(&mut shuffled.exceptions) {
            one.shape.shuffle(&mut dice);
        }
        let shuffled = shuffled.json();
        assert_eq!(run(&shuffled, &Limits::DEFAULT), Ok(expected), "round {round}: {shuffled}");
        // Whether the work is too much doesn't depend on the order either.
        let tight = Limits { work: dice.below(60), ..Limits::DEFAULT };
        assert_eq!(run(&pack, &tight), run(&shuffled, &tight), "round {round}");
    }
    let all = ["fallback", "forcing-exception", "no", "outcome", "rule", "unresolved"];
    assert_eq!(kinds, all.map(ToOwned::to_owned).into(), "every end was met");
}
