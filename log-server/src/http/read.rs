//! Reads of single things: an entry, a receipt, a proof, the log itself.

use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;

use super::problem::{Code, Problem, ProblemBody};
use super::query::{Query, number};
use super::receipt;
use super::wait::Wait;
use super::wire::{
    ConsistencyAnswer, EntrySchema, InclusionAnswer, LogInfo, ReceiptSchema, Software, StateSchema,
};
use super::{App, IMMUTABLE, VOLATILE, json, json_of, off_thread, read_failed};
use crate::clock::Clock;
use crate::error::Error;

/// The receipt of an entry, as far as it has grown.
#[utoipa::path(
    get,
    path = "/v1/receipts/{index}",
    tag = "read",
    params(
        ("index" = u64, Path, description = "Position in the log."),
        ("wait" = Option<StateSchema>, Query, description = "The state to wait for; `published` by default."),
        ("timeout" = Option<u64>, Query, description = "Seconds to wait at most, up to 60; 10 by default.", maximum = 60),
    ),
    responses(
        (status = 200, description = "The receipt.", body = ReceiptSchema),
        (status = 400, description = "An unusable parameter.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "The log is not that long.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn receipt(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let index = last_number(&uri, "index")?;
    let wait = Wait::read(&Query::read(uri.query(), &Wait::PARAMETERS)?)?;
    let grown = move |app: &App| grown_receipt(app, index, wait.state);
    let (mut body, reached) = off_thread(&app, grown).await?;
    if !reached.has(&app, wait.state) {
        wait.from(&app, index).await;
        (body, _) = off_thread(&app, grown).await?;
    }
    Ok(json(body, VOLATILE))
}

/// An entry: what it says and its leaf hash.
#[utoipa::path(
    get,
    path = "/v1/entries/{index}",
    tag = "read",
    params(("index" = u64, Path, description = "Position in the log.")),
    responses(
        (status = 200, description = "The entry.", body = EntrySchema),
        (status = 400, description = "The index isn't a number.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "The log is not that long.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn entry(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    let index = last_number(&uri, "index")?;
    let entry = off_thread(&app, move |app| app.log.entry(index).map_err(|e| read_failed(&e)));
    let entry = entry.await?.ok_or_else(|| no_entry(&app, index))?;
    let mut body = Vec::with_capacity(160 + entry.leaf_bytes().len());
    body.extend_from_slice(
        format!(r#"{{"index":{index},"leaf_hash":"{}","statement":"#, entry.leaf_hash()).as_bytes(),
    );
    body.extend_from_slice(entry.leaf_bytes());
    body.push(b'}');
    Ok(json(body, IMMUTABLE))
}

/// Proof that an entry is in the tree of some size.
#[utoipa::path(
    get,
    path = "/v1/proof/inclusion",
    tag = "read",
    params(
        ("index" = u64, Query, description = "The entry."),
        ("size" = Option<u64>, Query, description = "The tree: any size up to the present one, which is the default."),
    ),
    responses(
        (status = 200, description = "The proof.", body = InclusionAnswer),
        (status = 400, description = "A parameter is missing or unusable, or the entry isn't in a tree of that size.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "The log is not that long.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn inclusion(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let (index, stated) = {
        let query = Query::read(uri.query(), &["index", "size"])?;
        (query.required_number("index")?, query.number("size")?)
    };
    let published = app.log.snapshot().size();
    let size = match stated {
        Some(size) => published_size(&app, "size", size)?,
        None => published,
    };
    if index >= size.get() {
        if index >= published.get() && stated.is_none() {
            return Err(no_entry(&app, index));
        }
        let detail = format!("`index` is {index}, but a tree of size {size} has no such entry.");
        return Err(Problem::new(Code::BadParameter, detail));
    }
    let hashes = off_thread(&app, move |app| {
        app.log.inclusion_proof(index, size).map_err(|error| read_failed(&error))
    });
    let hashes = base64(&hashes.await?);
    let answer = InclusionAnswer { hashes, index, size: size.get() };
    Ok(json_of(&answer, if stated.is_some() { IMMUTABLE } else { VOLATILE }))
}

/// Proof that one tree is the beginning of another.
#[utoipa::path(
    get,
    path = "/v1/proof/consistency",
    tag = "read",
    params(
        ("from" = u64, Query, description = "The smaller tree."),
        ("to" = u64, Query, description = "The larger tree, at most the present one."),
    ),
    responses(
        (status = 200, description = "The proof.", body = ConsistencyAnswer),
        (status = 400, description = "A parameter is missing or unusable, or `from` is larger than `to`.", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "The log is not that long.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn consistency(
    State(app): State<Arc<App>>,
    uri: Uri,
) -> Result<Response, Problem> {
    let (from, to) = {
        let query = Query::read(uri.query(), &["from", "to"])?;
        (query.required_number("from")?, query.required_number("to")?)
    };
    if from > to {
        let detail = format!("`from` is {from} and `to` is {to}; the smaller tree comes first.");
        return Err(Problem::new(Code::BadParameter, detail));
    }
    let from = published_size(&app, "from", from)?;
    let to = published_size(&app, "to", to)?;
    let hashes = off_thread(&app, move |app| {
        app.log.consistency_proof(from, to).map_err(|error| read_failed(&error))
    });
    let hashes = base64(&hashes.await?);
    let answer = ConsistencyAnswer { from: from.get(), hashes, to: to.get() };
    Ok(json_of(&answer, IMMUTABLE))
}

/// The log: its name, its key and its size.
///
/// A first-time client learns here which key to compare with what the operator published elsewhere.
#[utoipa::path(
    get,
    path = "/v1/log",
    tag = "read",
    responses((status = 200, description = "The log.", body = LogInfo)),
)]
pub(super) async fn log_info(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    let info = LogInfo {
        origin: app.log.origin().as_str().to_owned(),
        size: app.log.snapshot().size().get(),
        software: Software { name: "anchorlog", version: env!("CARGO_PKG_VERSION") },
        vkey: app.log.key().to_string(),
        vkeys: app.log.keys().current().iter().map(ToString::to_string).collect(),
    };
    Ok(json_of(&info, VOLATILE))
}

/// What third parties have said about the checkpoint of a receipt.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Reached {
    anchored: bool,
    witnessed: bool,
}

impl Reached {
    /// Whether that is what was waited for. In a log without witnesses, `anchored` is more than `witnessed`.
    pub(super) fn has(self, app: &App, state: ReceiptState) -> bool {
        match state {
            ReceiptState::Published => true,
            ReceiptState::Witnessed if app.log.cosignatures().has_policy() => self.witnessed,
            ReceiptState::Witnessed | ReceiptState::Anchored => self.anchored,
        }
    }
}

/// The receipt of an entry as it is now, and what it has.
///
/// A checkpoint that is both witnessed and stamped is best; then one that is stamped, or the witnessed one
/// where that is `wanted`; then the newest, which only the log has signed.
pub(super) fn grown_receipt(
    app: &App,
    index: u64,
    wanted: ReceiptState,
) -> Result<(Vec<u8>, Reached), Problem> {
    let found = match countersigned_receipt(app, index, wanted) {
        Ok(found) => found,
        // What can't be read of third parties is no reason to withhold what the log itself says.
        Err(error) => {
            tracing::error!(%error, index, "a countersigned checkpoint can't be read");
            None
        }
    };
    let found = if found.is_some() {
        found
    } else {
        let own = app.log.receipt(index).map_err(|error| read_failed(&error))?;
        own.map(|receipt| (receipt, Reached::default()))
    };
    let (mut receipt, reached) = found.ok_or_else(|| no_entry(app, index))?;
    receipt.conflicts = receipt::conflicts(app, receipt.entry.statement())?;
    let body = receipt.to_json().map_err(|error| Problem::internal(&error))?;
    Ok((body, reached))
}

fn countersigned_receipt(
    app: &App,
    index: u64,
    wanted: ReceiptState,
) -> Result<Option<(Receipt, Reached)>, Error> {
    let (log, cosignatures) = (&app.log, app.log.cosignatures());
    let is_witnessed = |size| cosignatures.is_witnessed(size).unwrap_or(false);
    let now = Clock::system().unix_seconds();
    let has_policy = cosignatures.has_policy();
    let prefers = |size| !has_policy || is_witnessed(size);
    let stamped = log.checkpoints().anchored_preferring(index, now, prefers)?;
    let reached = stamped.as_ref().map(|stamped| Reached {
        anchored: true,
        witnessed: has_policy && is_witnessed(stamped.size),
    });
    let others = has_policy && wanted == ReceiptState::Witnessed;
    if reached.is_none_or(|reached| others && !reached.witnessed)
        && let Some(cosigned) = cosignatures.witnessed(index)?
        && let Some(receipt) = log.witnessed_receipt(index, &cosigned)?
    {
        return Ok(Some((receipt, Reached { anchored: false, witnessed: true })));
    }
    let (Some(stamped), Some(reached)) = (stamped, reached) else { return Ok(None) };
    Ok(log.anchored_receipt(index, stamped)?.map(|receipt| (receipt, reached)))
}

/// The number that ends the path.
pub(super) fn last_number(uri: &Uri, name: &str) -> Result<u64, Problem> {
    let (_, last) = uri.path().rsplit_once('/').unwrap_or_default();
    number(name, last)
}

/// A tree size that has been published.
pub(super) fn published_size(app: &App, name: &str, size: u64) -> Result<TreeSize, Problem> {
    let published = app.log.snapshot().size();
    TreeSize::new(size).ok().filter(|size| *size <= published).ok_or_else(|| {
        let detail = format!("`{name}` is {size}, but the log has {published} entries.");
        Problem::new(Code::NotFound, detail)
    })
}

fn no_entry(app: &App, index: u64) -> Problem {
    let published = app.log.snapshot().size();
    let detail =
        format!("There is no entry {index}: the log has {published} entries, counted from 0.");
    Problem::new(Code::NotFound, detail)
}

fn base64(hashes: &[Digest]) -> Vec<String> {
    hashes.iter().map(Digest::to_base64).collect()
}
