//! EVALUATE on records that somebody with every key has changed: the input says what is done, what is changed
//! and what is put right again afterwards.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::chain::{Chain, checkpoint_digest, sign_body};
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::envelope::DeclaredHead;
use anchorlog_proto::gad::names::Role;
use anchorlog_proto::gad::plan::plan_hash;
use anchorlog_proto::json::{Object, ReadLimits, Value, canonical, parse};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::report::{Asked, Report};

use super::evaluation::examine;
use crate::gad_world::{
    Choose, Core, Files, Walk, diamond, envelop, key, pair, role_key, small_plan,
};

/// Choices out of a fuzzer's bytes; once they are used up, always 0.
struct Bytes<'b>(&'b [u8]);

impl Choose for Bytes<'_> {
    fn below(&mut self, limit: u64) -> u64 {
        let mut number = 0;
        let mut span = 1;
        while span < limit {
            let Some((byte, rest)) = self.0.split_first() else { break };
            self.0 = rest;
            number = number << 8 | u64::from(*byte);
            span = span.saturating_mul(256);
        }
        number % limit
    }
}

fn pick<'c, T>(choose: &mut Bytes<'_>, list: &'c [T]) -> &'c T {
    let at = choose.below(u64::try_from(list.len()).expect("short"));
    &list[usize::try_from(at).expect("an index")]
}

fn one_in(choose: &mut Bytes<'_>, n: u64) -> bool {
    choose.below(n) == n - 1
}

/// A record, changed and put right again, evaluated under one of several policies; its report.
pub fn evaluate(bytes: &[u8]) -> Report {
    let choose = &mut Bytes(bytes);
    let plans = [small_plan, pair, diamond];
    let mut walk = Walk::new(pick(choose, &plans)());
    // Half of the runs are legal, so that what is changed is all that is wrong.
    let legal = choose.below(2) == 0;
    for _ in 0..choose.below(40) {
        let before = legal.then(|| walk.clone());
        walk.step(choose);
        if let Some(before) = before.filter(|_| walk.forged || !walk.findings.is_empty()) {
            walk = before;
        }
    }
    let end = choose.below(4);
    match end {
        0 => walk.halt(),
        1 => walk.checkpoint(),
        _ => walk.end(),
    }
    let (usual, other) =
        if end == 1 { (Seal::Snapshot, Seal::Final) } else { (Seal::Final, Seal::Snapshot) };
    let seal = if one_in(choose, 16) { other } else { usual };
    let mut parts = Parts::of(&walk);
    for _ in 0..choose.below(4) {
        parts.change(choose);
    }
    if !one_in(choose, 8) {
        parts.rechain(!one_in(choose, 4));
    }
    let (mut files, predecessors, mut trusted) = parts.pack(seal, choose);
    for _ in 0..choose.below(4).saturating_sub(2) {
        spoil(&mut files, choose);
    }
    if one_in(choose, 6) {
        change_json(&mut trusted, choose);
    }
    let policy = match choose.below(5) {
        0 => None,
        _ => Some(trusted.as_slice()),
    };
    let asked = *pick(choose, &[Asked::Valid, Asked::Satisfied, Asked::Defensible, Asked::Gad4]);
    let limits = Limits::DEFAULT;
    let bundle = if one_in(choose, 6) {
        let inside = files
            .into_iter()
            .filter_map(|(path, bytes)| Some((path.strip_prefix("core/")?.to_owned(), bytes)));
        Bundle::in_memory(inside, Form::Core, &limits)
    } else {
        Bundle::in_memory(files, Form::Directory, &limits)
    };
    examine(&bundle, policy, &predecessors, asked)
}

/// A record in the parts that are changed.
struct Parts {
    plan: Value<'static>,
    /// The bodies of the entries, in order.
    bodies: Vec<Value<'static>>,
    /// h of each, as it will be written.
    heads: Vec<Digest>,
    lines: Vec<Vec<u8>>,
    /// Everything else below `core/`.
    others: Files,
    time: i64,
}

fn json(bytes: &[u8]) -> Value<'static> {
    parse(bytes, &ReadLimits::DEFAULT).expect("our own JSON").into_owned()
}

impl Parts {
    fn of(walk: &Walk) -> Self {
        let (files, _) = walk.record.core(Seal::Final);
        let others = files.into_iter().filter_map(|(path, bytes)| {
            let path = path.strip_prefix("core/")?;
            let own = ["manifest.json", "plan.json", "witness.jsonl"].contains(&path);
            (!own).then(|| (path.to_owned(), bytes))
        });
        let body = |line: &Vec<u8>| {
            let Value::Object(mut line) = json(line) else { unreachable!("an entry") };
            line.remove("body").expect("a body")
        };
        Self {
            plan: walk.record.plan.to_value(),
            bodies: walk.record.lines.iter().map(body).collect(),
            heads: (0..walk.record.next()).map(|seq| walk.record.head(seq)).collect(),
            lines: walk.record.lines.clone(),
            others: others.collect(),
            time: walk.record.time,
        }
    }

    fn hash(&self) -> Digest {
        plan_hash(&canonical(&self.plan))
    }

    fn change(&mut self, choose: &mut Bytes<'_>) {
        let count = u64::try_from(self.bodies.len()).expect("few");
        if count == 0 {
            return;
        }
        let at = usize::try_from(choose.below(count)).expect("an index");
        match choose.below(10) {
            0..=3 => mutate(&mut self.bodies[at], choose),
            4 => drop(self.bodies.remove(at)),
            5 => self.bodies.insert(at, self.bodies[at].clone()),
            6 => self.bodies.swap(at, usize::try_from(count - 1).expect("an index")),
            7 => mutate(&mut self.plan, choose),
            8 => {
                let path = pick(choose, &["operator.json", "artifacts/evidence"]);
                change_json(self.others.get_mut(*path).expect("it is there"), choose);
            }
            _ => {
                let mut claims = claims(&self.hash(), choose);
                if !one_in(choose, 3) {
                    mutate(&mut claims, choose);
                }
                self.others.insert("claims.json".to_owned(), canonical(&claims));
            }
        }
    }

    /// Links and signs everything anew; with `told`, numbers, the frozen plan and checkpoints are put right
    /// too.
    fn rechain(&mut self, told: bool) {
        let hash = self.hash();
        let mut chain = Chain::new();
        let mut heads: Vec<Digest> = Vec::new();
        let mut lines = Vec::new();
        for body in &self.bodies {
            let mut body = body.clone();
            if let (Value::Object(members), true) = (&mut body, told) {
                members.insert("seq", Value::try_from(chain.next_seq()).expect("small"));
                put_right(members, &self.plan, &hash, &heads);
            }
            if let Value::Object(members) = &mut body {
                sign(members, &hash);
            }
            let line = chain.append_body(&body);
            heads.push(line.h);
            lines.push(line.bytes);
        }
        (self.heads, self.lines) = (heads, lines);
    }

    fn pack(
        self,
        seal: Seal,
        choose: &mut Bytes<'_>,
    ) -> (Files, Vec<anchorlog_verifier::gad::rules::r1_envelope::Predecessor>, Vec<u8>) {
        let hash = self.hash();
        let mut files = self.others;
        files.insert("plan.json".to_owned(), canonical(&self.plan));
        files.insert("witness.jsonl".to_owned(), self.lines.concat());
        let version = if one_in(choose, 16) { "0.6" } else { "1.3" };
        let core = Core { files, spec_version: version.into(), seal };
        let head = self.heads.last().copied().unwrap_or_else(|| Digest::of(b""));
        let (files, root) = core.pack(self.lines.len(), head);
        let seq = u64::try_from(self.lines.len()).expect("few").saturating_sub(1);
        let declared = DeclaredHead { seq, head };
        let defended = envelop(files, root, hash, self.time, declared);
        (defended.files, defended.predecessors, defended.policy)
    }
}

/// The values that only follow from others.
fn put_right(body: &mut Object<'_>, plan: &Value<'_>, hash: &Digest, heads: &[Digest]) {
    let type_name = body.get("type").and_then(Value::as_str).map(str::to_owned);
    let Some(Value::Object(mut p)) = body.remove("p").map(Value::into_owned) else { return };
    match type_name.as_deref() {
        Some("freeze") => {
            p.insert("hash", hash.to_string());
            p.insert("plan", plan.clone().into_owned());
        }
        Some("checkpoint") => {
            let inner = p.remove("body").map(Value::into_owned);
            if let Some(Value::Object(mut inner)) = inner {
                let first = inner
                    .get("range")
                    .and_then(Value::as_array)
                    .and_then(|range| usize::try_from(range.first()?.as_integer()?).ok());
                let last = heads.len().saturating_sub(1);
                let first = first.unwrap_or(0).min(last);
                let number =
                    |at: usize| Value::try_from(u64::try_from(at).expect("few")).expect("small");
                inner.insert("range", vec![number(first), number(last)]);
                let over = heads.get(first..).unwrap_or_default();
                inner.insert(
                    "digest_over_range",
                    checkpoint_digest(over.iter().copied()).to_string(),
                );
                if let Some(head) = heads.last() {
                    inner.insert("head", head.to_string());
                }
                p.insert("body", inner);
            }
        }
        _ => {}
    }
    body.insert("p", p);
}

/// Signs the payload again, by the key it names.
fn sign(body: &mut Object<'static>, hash: &Digest) {
    let Some(Value::Object(p)) = body.get("p") else { return };
    let Some(Value::Object(inner)) = p.get("body") else { return };
    let named = inner.get("key_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let keys: Vec<SigningKey> = Role::ALL.iter().map(|role| role_key(*role)).collect();
    let Some(key) = keys.iter().find(|key| key.id().to_string() == named) else { return };
    let Some(type_name) = inner.get("type").and_then(Value::as_str).map(str::to_owned) else {
        return;
    };
    let signed = sign_body(&type_name, inner.clone(), hash, key).into_owned();
    body.insert("p", signed);
}

fn claims(hash: &Digest, choose: &mut Bytes<'_>) -> Value<'static> {
    let predicates = [
        ("gad/test_passed", "not_exercised", "node test"),
        ("gad/node_verified", "adequacy_of_tests", "node"),
        ("gad/scope_contained", "unmonitored_effects", "node"),
        ("gad/gate_authorized", "approver_competence", "node"),
        ("gad/succeeded_with_delta", "successor_adequacy", ""),
        ("gad/record_covered", "unrecorded_events", ""),
        ("gad/existed_by", "internal_timestamps", ""),
        ("gad/precedence_recorded", "external_time", ""),
        ("gad/precedence_bounded", "authorship_time", ""),
        ("gad/executor_said", "truth_of_text", "node"),
        ("judgment/x", "scope", ""),
    ];
    let mut list = Vec::new();
    for _ in 0..=choose.below(3) {
        let (predicate, aspect, about) = *pick(choose, &predicates);
        let ids = ["a", "b", "c", "d"];
        let node = about.contains("node").then(|| Value::from(*pick(choose, &ids)));
        let test = about.contains("test").then(|| Value::from("t"));
        let mut refs = Vec::new();
        for _ in 0..=choose.below(2) {
            refs.push(if one_in(choose, 3) {
                let target = *pick(choose, &["core_root", "chain_head", "plan_commitment"]);
                Object::from([("kind", Value::from("anchor")), ("target", target.into())])
            } else {
                let seq = Value::try_from(choose.below(30)).expect("small");
                Object::from([("kind", Value::from("entry")), ("seq", seq)])
            });
        }
        let class = *pick(choose, &["engine_observed", "proxy", "attested"]);
        let subject = Object::from([
            ("plan_hash", Value::from(hash.to_string())),
            ("node", node.unwrap_or(Value::Null)),
            ("test_id", test.unwrap_or(Value::Null)),
        ]);
        let gap = Object::from([("aspect", Value::from(aspect)), ("text", "t".into())]);
        let tuple = Object::from([
            ("predicate_id", Value::from(predicate)),
            ("subject_ref", subject.into()),
            ("evidence_refs", refs.into_iter().map(Value::from).collect::<Vec<_>>().into()),
            ("evidence_class", class.into()),
            ("noncoverage", vec![Value::from(gap)].into()),
            ("issuer_type", "machine".into()),
        ]);
        list.push(if one_in(choose, 3) {
            let mut tuple = tuple;
            tuple.insert("issuer_type", "human");
            sign_body("typed_claim", tuple, hash, &role_key(Role::Approver)).into_owned().into()
        } else {
            Value::from(tuple)
        });
    }
    Object::from([
        ("schema", Value::from("gad.claims/1")),
        ("registry", "gad.registry/1".into()),
        ("claims", list.into()),
    ])
    .into()
}

/// Bytes changed behind everybody's back.
fn spoil(files: &mut Files, choose: &mut Bytes<'_>) {
    let paths: Vec<String> = files.keys().cloned().collect();
    let path = pick(choose, &paths).clone();
    let Some(bytes) = files.get_mut(&path) else { return };
    match choose.below(6) {
        0 => drop(files.remove(&path)),
        1 => {
            let taken = files.remove(&path).unwrap_or_default();
            let names =
                ["x", "core/x", "core/artifacts/x", "anchors/x", "CORE/plan.json", "a/../b"];
            files.insert((*pick(choose, &names)).to_owned(), taken);
        }
        2 => {
            let at = choose.below(u64::try_from(bytes.len()).expect("short") + 1);
            bytes.truncate(usize::try_from(at).expect("an index"));
        }
        3 => change_json(bytes, choose),
        _ => {
            let at = choose.below(u64::try_from(bytes.len()).expect("short").max(1));
            let at = usize::try_from(at).expect("an index");
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(choose.below(256)).expect("a byte");
            }
        }
    }
}

/// Changes a document, if it is one, and writes it in canonical form.
fn change_json(bytes: &mut Vec<u8>, choose: &mut Bytes<'_>) {
    let Ok(value) = parse(bytes, &ReadLimits::DEFAULT) else { return };
    let mut value = value.into_owned();
    mutate(&mut value, choose);
    *bytes = canonical(&value);
}

/// Changes one thing somewhere in a value.
fn mutate(value: &mut Value<'static>, choose: &mut Bytes<'_>) {
    let taken = std::mem::replace(value, Value::Null);
    *value = match taken {
        Value::Object(object) if !object.is_empty() && !one_in(choose, 12) => {
            let mut members: Vec<(String, Value<'static>)> = object
                .into_owned()
                .iter()
                .map(|(name, value)| (name.to_owned(), value.clone().into_owned()))
                .collect();
            let at = choose.below(u64::try_from(members.len()).expect("few"));
            let at = usize::try_from(at).expect("an index");
            match choose.below(10) {
                0 => drop(members.remove(at)),
                1 => members
                    .push(((*pick(choose, &["ext", "x", "é", "class"])).to_owned(), any(choose))),
                _ => mutate(&mut members[at].1, choose),
            }
            let mut object = Object::new();
            for (name, value) in members {
                object.insert(name, value);
            }
            Value::Object(object)
        }
        Value::Array(mut elements) if !elements.is_empty() && !one_in(choose, 12) => {
            let at = choose.below(u64::try_from(elements.len()).expect("few"));
            let at = usize::try_from(at).expect("an index");
            match choose.below(8) {
                0 => drop(elements.remove(at)),
                1 => elements.insert(at, elements[at].clone()),
                2 => elements.push(any(choose)),
                3 => elements.swap(0, at),
                _ => mutate(&mut elements[at], choose),
            }
            Value::Array(elements)
        }
        Value::Integer(number) if !one_in(choose, 4) => {
            Value::Integer(number + i64::try_from(choose.below(5)).expect("small") - 2)
        }
        _ => any(choose),
    };
}

/// A value that stands somewhere in some object.
fn any(choose: &mut Bytes<'_>) -> Value<'static> {
    const WORDS: [&str; 40] = [
        "",
        "a",
        "b",
        "c",
        "d",
        "t",
        "u",
        "s1",
        "s2",
        "ghost",
        "pass",
        "fail",
        "proceed",
        "refuse",
        "completed",
        "crashed",
        "captured",
        "not_recorded",
        "partial",
        "isolated",
        "not_reached",
        "attested",
        "proxy",
        "engine_observed",
        "engine_capture",
        "attested_capture",
        "gated",
        "direct_observable",
        "worker_authored_proxy",
        "independently_replayable",
        "removal",
        "revision",
        "verdict_failed",
        "session_failed",
        "insufficient_bound_evidence",
        "2026-07-20T10:03:00Z",
        "artifacts/evidence",
        "../x",
        "src/",
        "gad.plan/1",
    ];
    match choose.below(12) {
        0 => Value::Null,
        1 => Value::Bool(one_in(choose, 2)),
        2 => Value::Integer(i64::try_from(choose.below(40)).expect("small") - 2),
        3 => Value::Integer(*pick(choose, &[(1 << 53) - 1, -((1 << 53) - 1), 86_401, 1001])),
        4 => Digest::of(pick(choose, &["evidence\n", "", "x"]).as_bytes()).to_string().into(),
        5 => {
            let roles = Role::ALL.iter().map(|role| role_key(*role).id().to_string());
            let mut ids: Vec<_> = roles.collect();
            ids.push(key("operator").id().to_string());
            pick(choose, &ids).clone().into()
        }
        6 => vec![any(choose)].into(),
        7 => Object::from([("node", any(choose)), ("test_id", any(choose))]).into(),
        8 => Value::Array(Vec::new()),
        _ => Value::from(*pick(choose, &WORDS)),
    }
}
