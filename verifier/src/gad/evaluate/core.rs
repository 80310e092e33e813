//! The core: its documents, its witness, and the rules over both.

use std::io::{Read, empty};
use std::mem;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::claims::Claims;
use anchorlog_proto::gad::core_manifest::{CoreManifest, Seal, root_core};
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::plan::Plan;

use crate::codes::gad::Affect;
use crate::codes::gad::plan::{CYCLE, EDGE_DANGLING, EMPTY, NODE_DUP};
use crate::gad::artifacts::{MemberFacts, Survey};
use crate::gad::container::{Bundle, read_failure};
use crate::gad::finding::{Findings, WITNESS};
use crate::gad::independence::no_operator_record;
use crate::gad::policy::PolicyContext;
use crate::gad::replay::{NoReplay, ReplayRule};
use crate::gad::rules::{R2, r1_manifest};
use crate::gad::trace::check_delta;
use crate::gad::watch::Watch;
use crate::gad::witness::{
    Artifacts, Stated, WitnessContext, WitnessError, WitnessSummary, read_witness,
};
use crate::gad::{Event, PlanIndex, RecordFacts};

use super::documents::{Document, Reading, hash_of_plan};
use super::envelope::Stop;
use super::{Request, RequestError, Tracer};

/// The documents of a core, as far as they could be read.
pub(super) struct Documents {
    pub(super) manifest: Option<CoreManifest>,
    pub(super) root_core: Option<Digest>,
    plan: Option<Document<Plan>>,
    pub(super) operator: Option<Operator>,
    pub(super) claims: Option<Claims>,
    has_claims: bool,
}

/// Everything the rules found out about a core.
pub(super) struct Core {
    pub(super) facts: RecordFacts,
    pub(super) plan: Option<Arc<PlanIndex>>,
    /// What its witness came to; its heads and times are in `facts`.
    pub(super) summary: Option<WitnessSummary>,
    pub(super) watch: Option<Watch>,
    /// The first artifact that no digest names, by its path.
    pub(super) unbound: Option<String>,
    /// Rules that weren't looked at.
    pub(super) not_evaluated: Vec<Affect>,
}

const PLAN: &str = "core/plan.json";
const OPERATOR: &str = "core/operator.json";
const CLAIMS: &str = "core/claims.json";

/// Step 2: the documents of the core. `Err` when the container fails underneath.
pub(super) fn documents(
    bundle: &Bundle,
    request: &Request<'_>,
    findings: &mut Findings,
) -> Result<Documents, Stop> {
    let limits = &request.limits;
    let reading = |path, owner| Reading { path, owner, limits };
    let mut documents = Documents {
        manifest: None,
        root_core: None,
        plan: None,
        operator: None,
        claims: None,
        has_claims: false,
    };
    if bundle.contains(r1_manifest::MANIFEST) {
        let manifest = reading(r1_manifest::MANIFEST, &[Affect::R1])
            .member(bundle, CoreManifest::read, findings)
            .ok_or(Stop::Container)?;
        documents.root_core = manifest.canonical.as_deref().map(root_core);
        documents.manifest = manifest.content;
    }
    if documents.manifest.is_none() {
        documents.root_core = None;
        r1_manifest::missing(findings);
    }
    if bundle.contains(PLAN) {
        let plan = reading(PLAN, &[Affect::R2])
            .member(bundle, Plan::read, findings)
            .ok_or(Stop::Container)?;
        documents.plan = Some(plan);
    }
    if bundle.contains(OPERATOR) {
        let operator = reading(OPERATOR, &[Affect::R1])
            .member(bundle, |value, _, defects| Operator::read(value, defects), findings)
            .ok_or(Stop::Container)?;
        documents.operator = operator.content;
    } else {
        findings.push(no_operator_record());
    }
    if bundle.contains(CLAIMS) {
        documents.has_claims = true;
        let claims = reading(CLAIMS, &[Affect::R9])
            .member(bundle, Claims::read, findings)
            .ok_or(Stop::Container)?;
        documents.claims = claims.content;
    }
    Ok(documents)
}

/// Step 3: R1 to R8 and what R9 needs, while the witness goes by once.
pub(super) fn rules(
    bundle: &Bundle,
    documents: &Documents,
    survey: &mut Survey,
    policy: &PolicyContext,
    request: &Request<'_>,
    tracer: Option<&mut Tracer<'_>>,
    findings: &mut Findings,
) -> Result<Core, Stop> {
    let plan_hash = documents.plan.as_ref().and_then(hash_of_plan);
    let mut core = Core {
        facts: RecordFacts {
            root_core: documents.root_core,
            plan_hash,
            claims_bounded: documents.claims.as_ref().is_some_and(claims_bounded),
            ..RecordFacts::default()
        },
        plan: None,
        summary: None,
        watch: None,
        unbound: None,
        not_evaluated: Vec::new(),
    };
    let Some(manifest) = &documents.manifest else {
        core.not_evaluated = Affect::RECORD.to_vec();
        return Ok(core);
    };
    if let Some(root) = documents.root_core {
        r1_manifest::check_root(root, request.expect_root_core, findings);
    }
    let artifacts = Artifacts::new(r1_manifest::artifacts(manifest, survey));
    let plan = documents.plan.as_ref().and_then(|plan| plan.content.clone());
    if let (Some(plan), Some(hash)) = (plan, plan_hash) {
        artifacts.bind(&plan.to_value());
        core.facts.max_future_skew_s = plan.clock.map_or(0, |clock| clock.max_future_skew_s);
        core.plan = Some(Arc::new(PlanIndex::new(plan, hash)));
    }
    let unwalkable = [EMPTY, NODE_DUP, CYCLE, EDGE_DANGLING];
    let walkable = core.plan.is_some() && !unwalkable.iter().any(|code| findings.has(*code));
    let replay = ReplayRule::new(
        policy.policy().replay.clone(),
        documents.root_core,
        request.replay.clone().unwrap_or_else(|| Arc::new(NoReplay)),
    );
    let mut watching = match &core.plan {
        None => Watching::Nothing,
        Some(plan) if walkable => {
            Watching::All(Box::new(Watch::new(Arc::clone(plan), &manifest.spec_version, replay)))
        }
        Some(plan) => Watching::Precedence(R2::new(plan)),
    };
    let mut summary = read(
        bundle,
        &WitnessContext {
            plan: core.plan.as_deref(),
            stated: Some(Stated::from(manifest)),
            artifacts: &artifacts,
            limits: &request.limits,
            threads: request.threads,
            batch_bytes: WitnessContext::BATCH_BYTES,
        },
        &mut watching,
        request,
        policy.given(),
        tracer,
        findings,
    )?;
    if bundle.contains(WITNESS) {
        survey.add(WITNESS, MemberFacts::hashed(summary.digest));
    }
    r1_manifest::check_members(bundle, manifest, survey, findings);
    let unbound = artifacts.unbound();
    core.unbound = unbound.first().map(|path| format!("core/{path}"));
    r1_manifest::unbound(unbound, findings);
    let snapshot = manifest.seal == Seal::Snapshot;
    core.not_evaluated = watching.finish(&summary, snapshot, findings);
    if documents.has_claims && documents.claims.is_none() {
        core.not_evaluated.push(Affect::R9);
    }
    // 40 bytes an entry, wanted here and nowhere else.
    core.facts.heads = mem::take(&mut summary.heads);
    core.facts.latest = mem::take(&mut summary.latest);
    core.facts.end_time = summary.end_time;
    core.facts.first_dispatch = summary.first_dispatch;
    core.summary = Some(summary);
    core.watch = watching.into_watch();
    Ok(core)
}

/// The rules that can watch this witness.
enum Watching {
    /// The plan can't be read.
    Nothing,
    /// The plan is no plan to walk through: only the order of its freeze is looked at.
    Precedence(R2),
    /// All of them.
    All(Box<Watch>),
}

impl Watching {
    fn observe(&mut self, event: &Event<'_>, findings: &mut Findings) {
        match self {
            Self::Nothing => {}
            Self::Precedence(rule) => rule.observe(event, findings),
            Self::All(watch) => watch.observe(event, findings),
        }
    }

    /// Ends the watching, and says which rules weren't looked at.
    fn finish(
        &mut self,
        summary: &WitnessSummary,
        snapshot: bool,
        findings: &mut Findings,
    ) -> Vec<Affect> {
        let (_, after_plan) = Affect::RECORD.split_at(2);
        match self {
            Self::Nothing => {
                let (_, after_integrity) = Affect::RECORD.split_at(1);
                after_integrity.to_vec()
            }
            Self::Precedence(rule) => {
                rule.finish(findings);
                after_plan.to_vec()
            }
            Self::All(watch) if summary.unreadable.is_some() => {
                watch.precedence().finish(findings);
                let mut rules = after_plan.to_vec();
                rules.retain(|rule| *rule != Affect::R9);
                rules
            }
            Self::All(watch) => {
                watch.finish(snapshot, summary.coverage(), findings);
                Vec::new()
            }
        }
    }

    fn into_watch(self) -> Option<Watch> {
        match self {
            Self::All(watch) => Some(*watch),
            Self::Nothing | Self::Precedence(_) => None,
        }
    }
}

fn read(
    bundle: &Bundle,
    context: &WitnessContext<'_>,
    watching: &mut Watching,
    request: &Request<'_>,
    under_policy: bool,
    mut tracer: Option<&mut Tracer<'_>>,
    findings: &mut Findings,
) -> Result<WitnessSummary, Stop> {
    let source: Box<dyn Read + Send + '_> = if bundle.contains(WITNESS) {
        let reader = bundle.reader(WITNESS).map_err(|faults| {
            findings.append(faults);
            Stop::Container
        })?;
        Box::new(reader)
    } else {
        // Its absence is a finding of the manifest; an empty chain is one of the chain.
        Box::new(empty())
    };
    let mut other_successor = None;
    let mut superseded = false;
    let mut observer = |event: &Event<'_>, findings: &mut Findings| {
        watching.observe(event, findings);
        if let (Some(tracer), Watching::All(watch)) = (tracer.as_deref_mut(), &*watching) {
            tracer(watch.machine(), event);
        }
        if let (Some(successor), Some(plan), Some(Payload::PlanSuperseded(end))) =
            (request.successor, context.plan, event.payload())
        {
            if successor.hash == end.successor {
                // A record ends once: each of its ends would cost two plans.
                if !mem::replace(&mut superseded, true) {
                    check_delta(plan, &successor.plan, event, under_policy, findings);
                }
            } else {
                let error =
                    RequestError::Successor { expected: end.successor, actual: successor.hash };
                other_successor.get_or_insert(error);
            }
        }
    };
    let read = read_witness(source, context, &mut observer, findings);
    match (read, other_successor) {
        (Ok(_), Some(error)) => Err(Stop::Request(error)),
        (Ok(summary), None) => Ok(summary),
        (Err(WitnessError::Limit), _) => Err(Stop::Container),
        (Err(WitnessError::Io(error)), _) => {
            findings.push(read_failure(WITNESS, &error));
            Err(Stop::Container)
        }
    }
}

/// The predicate of bounded precedence.
const PRECEDENCE_BOUNDED: &str = "gad/precedence_bounded";

fn claims_bounded(claims: &Claims) -> bool {
    claims.claims.iter().flatten().any(|claim| &*claim.predicate == PRECEDENCE_BOUNDED)
}
