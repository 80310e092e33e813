//! Getting anchors: from transparency logs and from time-stamping authorities.

use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::AnchorType;
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::receipt::ReceiptState;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind, Trail};
use anchorlog_proto::timestamp::Imprint;

use super::anchor::{AnchorForm, CheckedAnchor, Targets, statement_kind};
use super::error::EnvelopeError;
use super::needs::{Need, NeedError, Offer};
use crate::error::ClientError;
use crate::log::{Accepted, Log};
use crate::log_client::Wait;
use crate::outbox::Outbox;
use crate::receipt_store::ReceiptStore;
use crate::stamp::{Authority, Stamper};
use crate::state::StateDir;
use crate::submit::{queue, send};

/// Who is asked, and how patiently.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Sources {
    /// The logs.
    pub logs: Vec<Log>,
    /// The authorities, with how they are asked; every quorum is over each value.
    pub authorities: Option<(Stamper, Vec<Authority>)>,
    /// Where statements lie until they have receipts, and the receipts after that.
    pub state: StateDir,
    /// How far each log's receipt has to grow.
    pub wait: ReceiptState,
    /// How long to wait for it.
    pub patience: Duration,
}

impl Sources {
    /// Who can be asked.
    #[must_use]
    pub fn offer(&self) -> Offer {
        let operators = self.authorities.iter().flat_map(|(_, all)| all).map(Authority::operator);
        Offer {
            logs: self.logs.len(),
            operators: operators.collect::<std::collections::BTreeSet<_>>().len(),
        }
    }

    /// Gets what is needed over these values: from each log a receipt of everything, from the authorities
    /// a token over each value. Everything or nothing: what a log has taken it gives again.
    ///
    /// Statements are of the plan's trail, and go through the outbox like all others: they are durable
    /// before they are sent.
    pub async fn fetch(
        &self,
        needs: &[Need],
        targets: &Targets,
    ) -> Result<Vec<CheckedAnchor>, ClientError> {
        let mut values = Vec::new();
        for need in needs {
            let of_kind = targets.of(need.kind);
            if of_kind.is_empty() {
                return Err(EnvelopeError::from(NeedError::NoHeads).into());
            }
            values.extend(of_kind.into_iter().map(|value| (need, value)));
        }
        let by = |wanted: AnchorType| {
            values
                .iter()
                .filter(move |(need, _)| need.types.contains(&wanted))
                .map(|(need, value)| (need.kind, *value))
                .collect::<Vec<_>>()
        };
        let mut anchors = Vec::new();
        for log in &self.logs {
            anchors.extend(self.ask_log(log, &by(AnchorType::Tlog), targets).await?);
        }
        anchors.extend(self.ask_authorities(&by(AnchorType::Rfc3161), targets).await?);
        Ok(anchors)
    }

    async fn ask_log(
        &self,
        log: &Log,
        values: &[(AnchorKind, Digest)],
        targets: &Targets,
    ) -> Result<Vec<CheckedAnchor>, ClientError> {
        let statements: Vec<_> =
            values.iter().map(|(kind, value)| (statement_kind(*kind), *value)).collect();
        let receipts = self.submit(log, &statements, targets.plan_hash).await?;
        let mut anchors = Vec::with_capacity(values.len());
        for ((kind, _), accepted) in values.iter().zip(receipts) {
            if accepted.receipt.state < self.wait {
                return Err(EnvelopeError::NotYet {
                    log: log.address().to_string(),
                    kind: *kind,
                    wanted: self.wait,
                    reached: accepted.receipt.state,
                }
                .into());
            }
            let anchor = CheckedAnchor::check(*kind, AnchorForm::Log, &accepted.json, targets);
            let name = || log.address().to_string();
            anchors.push(anchor.map_err(|source| EnvelopeError::Anchor {
                name: name(),
                source: Box::new(source),
            })?);
        }
        Ok(anchors)
    }

    /// Submits statements of a plan to one log, and gives their receipts in their order, as far as they
    /// have grown when the time is up.
    pub async fn submit(
        &self,
        log: &Log,
        statements: &[(StatementKind, Digest)],
        plan_hash: Digest,
    ) -> Result<Vec<Accepted>, ClientError> {
        if statements.is_empty() {
            return Ok(Vec::new());
        }
        let entries: Vec<LogEntry> =
            statements.iter().filter_map(|(kind, value)| entry(*kind, *value, plan_hash)).collect();
        let deadline = Instant::now() + self.patience;
        let outbox = Outbox::new(self.state.clone(), log.address().clone());
        let queued = queue(&outbox, &entries)?;
        let store = ReceiptStore::State { state: self.state.clone(), log: log.address().clone() };
        let sent = send(log, &outbox, queued, &store, self.wait_until(deadline)).await;
        if let Some(error) = sent.error {
            return Err(error);
        }
        let mut receipts = Vec::with_capacity(entries.len());
        for kept in sent.kept {
            let mut accepted = kept.accepted;
            // One call waits no longer than a log lets anybody wait.
            while accepted.receipt.state < self.wait && Instant::now() < deadline {
                // One that answers at once without having got there isn't asked again at once.
                tokio::time::sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now())))
                    .await;
                let wait = self.wait_until(deadline);
                accepted = log.receipt(accepted.receipt.index, wait).await?;
            }
            receipts.push(accepted);
        }
        Ok(receipts)
    }

    fn wait_until(&self, deadline: Instant) -> Wait {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = left.clamp(Duration::from_secs(1), MAX_WAIT);
        Wait { state: self.wait, timeout }
    }

    async fn ask_authorities(
        &self,
        values: &[(AnchorKind, Digest)],
        targets: &Targets,
    ) -> Result<Vec<CheckedAnchor>, ClientError> {
        let Some((stamper, authorities)) = &self.authorities else { return Ok(Vec::new()) };
        let mut anchors = Vec::new();
        for (kind, value) in values {
            let outcome = stamper.stamp(&Imprint::of_digest(value), authorities).await;
            if !outcome.is_quorum() {
                let reached = outcome.operators().len();
                let failures = outcome.outcomes.into_iter().filter_map(|one| {
                    let who = one.authority.operator().to_owned();
                    one.result.err().map(|error| (who, error))
                });
                return Err(EnvelopeError::Stamps {
                    imprint: outcome.imprint,
                    needed: outcome.quorum,
                    reached,
                    failures: failures.collect(),
                }
                .into());
            }
            for (authority, stamp) in outcome.stamps() {
                let form = AnchorForm::Response;
                let anchor = CheckedAnchor::check(*kind, form, &stamp.response, targets);
                let name = || authority.url().to_string();
                anchors.push(anchor.map_err(|source| EnvelopeError::Anchor {
                    name: name(),
                    source: Box::new(source),
                })?);
            }
        }
        Ok(anchors)
    }
}

/// The statement about a value, in the trail of its plan. Its leaf is far below any limit, so that it is
/// always there.
fn entry(kind: StatementKind, value: Digest, plan_hash: Digest) -> Option<LogEntry> {
    let trail: Trail = plan_hash.to_string().parse().ok()?;
    LogEntry::unsigned(Statement::new(kind, value).in_trail(trail, None)).ok()
}

/// The longest one call may wait, by the log's interface.
const MAX_WAIT: Duration = Duration::from_mins(1);

const PAUSE: Duration = Duration::from_millis(200);
