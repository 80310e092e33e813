//! The claims on one place of a trail, wherever they are compared.

use anchorlog_proto::statement::Trail;

use super::problem::Problem;
use super::{App, read_failed};
use crate::index::{Claim, MAX_PAGE};

/// The entries that claim a place, in the order of the log, read as they are asked for.
///
/// In an open log anybody may claim a place as often as they like, to hide the one claim that matters behind
/// the others. So whoever stops at [`MAX_COMPARED`] of them must not say that they agree.
pub(super) fn claims<'a>(
    app: &'a App,
    trail: &'a Trail,
    sequence: u64,
) -> impl Iterator<Item = Result<Claim, Problem>> + use<'a> {
    let mut from = Some(0);
    let pages = core::iter::from_fn(move || {
        let page = app.log.claims(trail, sequence, from.take()?, MAX_PAGE);
        Some(page.map_err(|error| read_failed(&error)).map(|page| {
            from = page.next;
            page.items
        }))
    });
    pages.flat_map(|page| match page {
        Ok(claims) => claims.into_iter().map(Ok).collect(),
        Err(problem) => vec![Err(problem)],
    })
}

/// Claims on one place that are compared with one another: some milliseconds of work.
pub(super) const MAX_COMPARED: usize = 10_000;
