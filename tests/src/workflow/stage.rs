//! The run itself: stage by stage, instance by instance.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;

use super::attempt::Tried;
use super::form::{bindings, identity, pack_id, project, rule};
use super::json::{Json, digest, number, object, optional, text};
use super::plan::{Dialect, Plan, Select, StagePlan, Try};
use super::{Bundle, EXECUTION, Point, Tamper, closed_set, nullable, workflow};

pub(super) struct World<'p> {
    pub(super) plan: &'p Plan,
    tamper: Tamper<'p>,
    files: BTreeMap<String, Vec<u8>>,
    pub(super) workflow: Digest,
    workflow_bytes: Vec<u8>,
    runtime: Digest,
    pub(super) root_case: Digest,
    pub(super) frozen: Vec<Frozen>,
    instances: Vec<Json>,
    sets: Vec<Json>,
    selections: Vec<Json>,
    /// By stage: each record with its payload, and the disposition of its case.
    offered: Vec<Vec<(Digest, Json, Json)>>,
    /// By stage: the selection and what it selects; none when the stage's consumers are blocked.
    selected: Vec<Option<(Digest, Vec<Digest>)>>,
    blocked: Vec<bool>,
}

#[derive(Clone)]
pub(super) struct Frozen {
    pub(super) published: Digest,
    pub(super) binding: Option<Digest>,
    pub(super) bound: Digest,
    pub(super) pack: Digest,
    pub(super) release: Digest,
    pub(super) release_json: Json,
}

impl<'p> World<'p> {
    pub(super) fn new(plan: &'p Plan, tamper: Tamper<'p>) -> Self {
        let mut world = Self {
            plan,
            tamper,
            files: BTreeMap::new(),
            workflow: Digest::of(b""),
            workflow_bytes: Vec::new(),
            runtime: Digest::of(format!("runtime of {}", plan.installation).as_bytes()),
            root_case: Digest::of(b""),
            frozen: Vec::new(),
            instances: Vec::new(),
            sets: Vec::new(),
            selections: Vec::new(),
            offered: Vec::new(),
            selected: Vec::new(),
            blocked: Vec::new(),
        };
        let frozen: Vec<Frozen> = plan.stages.iter().map(|stage| world.freeze(stage)).collect();
        world.frozen = frozen;
        let published: Vec<Digest> = world.frozen.iter().map(|frozen| frozen.published).collect();
        let packs: Vec<Digest> = world.frozen.iter().map(|frozen| frozen.pack).collect();
        let mut document = workflow(plan, &published, &packs);
        world.touch("workflow", "", 0, 0, &mut document);
        world.workflow_bytes = document.canon();
        world.workflow = Digest::of(&world.workflow_bytes);
        world.root_case = world.put("root-case.json", plan.root_case.literal());
        world
    }

    pub(super) fn run(&mut self) {
        for at in 0..self.plan.stages.len() {
            self.stage(at);
        }
    }

    pub(super) fn finish(mut self) -> Bundle {
        let frozen = self.plan.stages.iter().zip(&self.frozen).map(|(stage, frozen)| {
            object([
                ("bindingDocumentDigest", optional(frozen.binding)),
                ("boundDialectDigest", digest(frozen.bound)),
                ("packDigest", digest(frozen.pack)),
                ("publishedDialectDigest", digest(frozen.published)),
                ("releaseDigest", digest(frozen.release)),
                ("runtimeDigest", digest(self.runtime)),
                ("stage", text(stage.id)),
            ])
        });
        let mut record = object([
            ("execution", text(EXECUTION)),
            ("executionVersion", number(1)),
            ("frozen", Json::List(frozen.collect())),
            ("instances", Json::List(self.instances.clone())),
            ("outputSets", Json::List(self.sets.clone())),
            ("rootCaseDigest", digest(self.root_case)),
            ("selections", Json::List(self.selections.clone())),
            ("workflowDigest", digest(self.workflow)),
        ]);
        self.touch("execution", "", 0, 0, &mut record);
        let execution = self.put("execution.json", record.canon());
        self.put("execution.sha256", format!("{execution}\n").into_bytes());
        let bytes = self.workflow_bytes.clone();
        self.put("workflow.json", bytes);
        self.put("workflow.sha256", format!("{}\n", self.workflow).into_bytes());
        self.put("README.md", b"Generated.\n".to_vec());
        let trust = object([("keys", Json::List(vec![text("public-test-key")]))]);
        self.put("trust.json", trust.literal());
        let mut report = self.report(execution).literal();
        report.push(b'\n');
        self.put("expected-report.json", report);
        Bundle { files: self.files, workflow: self.workflow, execution, runtime: self.runtime }
    }

    /// The report that section 9's reader has to give, counted from what was written.
    fn report(&self, execution: Digest) -> Json {
        let completed = |instance: &Json| {
            let state = instance.get("state");
            state == Some(&text("completed")) || state == Some(&text("completed-zero"))
        };
        let stages = self.plan.stages.iter().zip(&self.selections);
        let selected = |(stage, selection): (&StagePlan, &Json)| {
            matches!(stage.select, Select::Terminal) || *selection != Json::Null
        };
        let complete = self.instances.iter().all(completed)
            && !self.blocked.contains(&true)
            && stages.into_iter().all(selected);
        let selections = self.selections.iter().filter(|pin| **pin != Json::Null).count();
        object([
            ("authentication", text("not-established")),
            ("completion", text(if complete { "complete" } else { "partial" })),
            ("consistency", text("agrees")),
            (
                "counts",
                object([
                    ("instances", number(self.instances.len())),
                    ("outputs", number(self.offered.iter().map(Vec::len).sum::<usize>())),
                    ("selections", number(selections)),
                    ("stages", number(self.plan.stages.len())),
                ]),
            ),
            ("dispositions", text("not-replayed")),
            ("executionDigest", digest(execution)),
            ("preparations", text("agree")),
            ("result", text("reading")),
            ("workflowDigest", digest(self.workflow)),
        ])
    }

    pub(super) fn touch(
        &self,
        what: &str,
        stage: &str,
        instance: usize,
        index: usize,
        json: &mut Json,
    ) {
        (self.tamper)(Point { what, stage, instance, index }, json);
    }

    pub(super) fn put(&mut self, path: &str, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        self.files.insert(path.to_owned(), bytes);
        digest
    }

    fn freeze(&mut self, stage: &StagePlan) -> Frozen {
        let folder = format!("stages/{}", stage.id);
        let mut pack = object([("id", text(pack_id(stage)))]);
        self.touch("pack", stage.id, 0, 0, &mut pack);
        // As somebody wrote it: a pack's digest is of its exact bytes.
        let pack_text = String::from_utf8(pack.canon()).unwrap().replacen('{', "{\n  ", 1) + "\n";
        let pack = self.put(&format!("{folder}/pack.json"), pack_text.clone().into_bytes());
        let mut dialect = identity(stage);
        if let Dialect::Named2 | Dialect::Named3 = stage.dialect {
            *dialect.at("title") = text("a <made-up> dialect");
        }
        let sources = stage.sources.clone();
        *dialect.at("sources") = sources.unwrap_or_else(|| Json::List(vec![text(stage.id)]));
        self.touch("dialect", stage.id, 0, 0, &mut dialect);
        let published = self.put(&format!("{folder}/dialect.json"), dialect.canon());
        let mut bound = dialect.clone();
        let binding = stage.bound.then(|| {
            let mut binding =
                object([("dialect", digest(published)), ("profile", text(self.plan.installation))]);
            self.touch("binding", stage.id, 0, 0, &mut binding);
            *bound.at("bound") = text(self.plan.installation);
            self.put(&format!("{folder}/binding.json"), binding.canon())
        });
        if stage.dialect == Dialect::Version2 && stage.bound {
            *bound.at("provider") = text("");
            *bound.at("facts") = Json::Null;
            *bound.at("evidence") = Json::Null;
        }
        self.touch("bound", stage.id, 0, 0, &mut bound);
        let bound_digest = self.put(&format!("{folder}/bound-dialect.json"), bound.canon());
        let profiles = object([("installation", text(self.plan.installation))]);
        self.put(&format!("{folder}/profiles.json"), profiles.canon());
        let mut release = object([
            ("id", text(format!("release-{}-{}", stage.id, self.plan.installation))),
            ("inputMapping", bound),
            ("pack", text(pack_text)),
            ("packDigest", digest(pack)),
            ("runtimeDigest", digest(self.runtime)),
            ("title", text("<a & b>")),
        ]);
        self.touch("release", stage.id, 0, 0, &mut release);
        let release_bytes = release.literal();
        // Retained as somebody may have written it: with white space. The digest is of another form.
        let mut retained = release_bytes.clone();
        retained.push(b'\n');
        self.put(&format!("{folder}/release.json"), retained);
        Frozen {
            published,
            binding,
            bound: bound_digest,
            pack,
            release: Digest::of(&release_bytes),
            release_json: release,
        }
    }

    fn stage(&mut self, at: usize) {
        let stage = self.plan.stages[at].clone();
        let upstream = stage
            .from
            .map(|from| self.plan.stages.iter().position(|other| other.id == from).unwrap());
        let parents: Option<Vec<Option<(Digest, Digest)>>> = match upstream {
            None => Some(vec![None]),
            Some(upstream) => self.selected[upstream].clone().map(|(selection, records)| {
                records.into_iter().map(|record| Some((selection, record))).collect()
            }),
        };
        let blocked = parents.is_none();
        let mut offered = Vec::new();
        let mut tripped = false;
        for (ordinal, parent) in parents.unwrap_or_default().into_iter().enumerate() {
            self.instance(at, &stage, ordinal, parent, upstream, &mut offered, &mut tripped);
        }
        let records: Vec<Digest> = offered.iter().map(|(record, ..)| *record).collect();
        let mut set = closed_set(self.workflow, stage.id, &records);
        self.touch("set", stage.id, 0, 0, &mut set);
        let set_digest = self.put(&format!("sets/{}.json", stage.id), set.canon());
        self.sets.push(object([
            ("records", set.get("records").unwrap().clone()),
            ("stage", text(stage.id)),
            ("status", text(if blocked { "blocked" } else { "closed" })),
        ]));
        self.offered.push(offered);
        self.blocked.push(blocked);
        self.select(at, &stage, set_digest, blocked);
    }

    fn select(&mut self, at: usize, stage: &StagePlan, set: Digest, blocked: bool) {
        let offered = &self.offered[at];
        let pick = |positions: &[usize]| -> Vec<Digest> {
            positions.iter().map(|position| offered[*position].0).collect()
        };
        let (records, refused) = match &stage.select {
            _ if blocked => (None, false),
            Select::Terminal | Select::NotYet => (None, false),
            Select::Reviewer(positions) => (Some(pick(positions)), false),
            Select::Refused(positions) => (Some(pick(positions)), true),
            Select::Rule(kind, outcome) => {
                let satisfies = |disposition: &Json| {
                    disposition.get("kind") == Some(&text(*kind))
                        && disposition.get("outcomeId") == outcome.map(text).as_ref()
                };
                let chosen = offered.iter().filter(|(_, _, disposition)| satisfies(disposition));
                (Some(chosen.map(|(record, ..)| *record).collect()), false)
            }
        };
        let Some(records) = records else {
            self.selections.push(Json::Null);
            self.selected.push(None);
            return;
        };
        let mut selection = object([
            ("execution", text(EXECUTION)),
            ("outputSetDigest", digest(set)),
            ("revision", number(stage.revision)),
            ("selected", Json::List(records.iter().copied().map(digest).collect())),
            ("selectionVersion", number(1)),
            ("upstreamStage", text(stage.id)),
            ("workflowDigest", digest(self.workflow)),
        ]);
        if let Select::Rule(kind, outcome) = &stage.select {
            *selection.at("mode") = text("disposition");
            *selection.at("rule") = rule(kind, *outcome);
        } else {
            *selection.at("mode") = text("reviewer");
            *selection.at("review") = object([
                ("actor", text("reviewer-1")),
                ("assertion", text("seen & <chosen>")),
                ("at", text("2026-10-15T00:00:00Z")),
            ]);
        }
        if refused {
            *selection.at("refusal") = text("limit-exceeded");
        }
        self.touch("selection", stage.id, 0, 0, &mut selection);
        let path = format!("selections/{}/{}.json", stage.id, stage.revision);
        let pin = self.put(&path, selection.canon());
        self.selections.push(digest(pin));
        self.selected.push((!refused).then_some((pin, records)));
    }

    #[allow(clippy::too_many_arguments, reason = "everything that an instance comes from")]
    fn instance(
        &mut self,
        at: usize,
        stage: &StagePlan,
        ordinal: usize,
        parent: Option<(Digest, Digest)>,
        upstream: Option<usize>,
        offered: &mut Vec<(Digest, Json, Json)>,
        tripped: &mut bool,
    ) {
        let id = format!("{}-{}{}", stage.id, ordinal + 1, stage.suffix);
        let case = match (parent, upstream) {
            (Some((_, record)), Some(upstream)) => {
                let all = &self.offered[upstream];
                let payload = all.iter().find(|(own, ..)| *own == record).unwrap().1.clone();
                project(stage, &payload)
            }
            _ => Some(self.plan.root_case.clone()),
        };
        let input = match parent {
            None => self.root_case,
            Some((selection, record)) => Digest::of(
                &object([
                    ("caseBindings", bindings(stage)),
                    ("parentRecord", digest(record)),
                    ("selectionDigest", digest(selection)),
                ])
                .canon(),
            ),
        };
        let tries = stage.instances.get(ordinal).or(stage.instances.last()).unwrap().clone();
        let unbegun = match tries.as_slice() {
            [] => Some(("cancelled", None)),
            [Try::Unbegun(state, failure)] => Some((*state, *failure)),
            _ => None,
        };
        let begun = case.is_some() && unbegun.is_none();
        let case_digest = case.filter(|_| !tries.is_empty()).map(|mut case| {
            self.touch("case", stage.id, ordinal, 0, &mut case);
            self.put(&format!("instances/{id}/case.json"), case.literal())
        });
        let mut attempts = Vec::new();
        let (mut state, mut failure) =
            if begun { ("", None) } else { ("failed", Some("projection-invalid")) };
        if let Some(unbegun) = unbegun {
            (state, failure) = unbegun;
        }
        for (number, attempt) in tries.iter().enumerate().take(if begun { usize::MAX } else { 0 }) {
            let mut tried = self.attempt(at, stage, ordinal, &id, number, attempt);
            let offers = tried.outputs.as_ref().map_or(0, Vec::len);
            *tripped |= offered.len() + offers > self.plan.max_records as usize;
            if stage.over.as_ref().map_or(*tripped, |over| over.contains(&ordinal)) {
                (tried.state, tried.failure, tried.outputs) =
                    ("failed", Some("limit-exceeded"), None);
                *tried.json.at("state") = text("failed");
                *tried.json.at("failure") = text("limit-exceeded");
            }
            for (index, payload) in tried.outputs.iter().flatten().enumerate() {
                let pins = (tried.preparation.unwrap(), tried.audit.unwrap(), case_digest.unwrap());
                let record = self.output(at, stage, ordinal, &id, index, payload, parent, pins);
                offered.push((record, payload.clone(), tried.disposition.clone()));
            }
            (state, failure) = (tried.state, tried.failure);
            attempts.push(tried.json);
        }
        self.instances.push(object([
            ("attempts", Json::List(attempts)),
            ("caseDigest", optional(case_digest)),
            ("failure", nullable(failure)),
            ("id", text(id)),
            ("inputDigest", digest(input)),
            ("parentRecord", optional(parent.map(|(_, record)| record))),
            ("selectionDigest", optional(parent.map(|(selection, _)| selection))),
            ("stage", text(stage.id)),
            ("state", text(state)),
        ]));
    }
}
