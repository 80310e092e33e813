//! One output: its envelope in version 2, and the disposition of the case that was evaluated for it.

use super::contributors::{ContributorKind, Contributors, ContributorsError};
use crate::digest::Digest;
use crate::jp::canon::canon;
use crate::jp::core_pack::{CoreId, Disposition};
use crate::jp::fault::{Faults, Rule};
use crate::jp::json::{Fields, Value};
use crate::jp::workflow::Lineage;

/// An output of a stage.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// SHA-256 of the canonical envelope: the record's identity.
    pub digest: Digest,
    /// Digest of the payload.
    pub payload: Digest,
    /// The envelope's contributors; `None` where the member is absent.
    pub contributors: Option<Contributors>,
    /// The envelope's lineage.
    pub lineage: Lineage,
    /// The recorded disposition.
    pub disposition: Disposition,
}

impl Output {
    /// Reads `{disposition, envelope}`, which stands at `place`.
    pub(super) fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let disposition = fields.required("disposition");
        let envelope = fields.required("envelope");
        fields.finish()?;
        let envelope = Envelope::read(envelope?, &format!("{place}/envelope"), faults);
        let disposition = Disposition::read(disposition?, &format!("{place}/disposition"), faults);
        let Envelope { digest, payload, contributors, lineage } = envelope?;
        Some(Self { digest, payload, contributors, lineage, disposition: disposition? })
    }
}

/// An output envelope of version 2: that of RFC 0020 section 5 with the conditional `contributors`.
struct Envelope {
    digest: Digest,
    payload: Digest,
    contributors: Option<Contributors>,
    lineage: Lineage,
}

impl Envelope {
    fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        // Its size was looked at before, and a number without a canonical form noted by the reader.
        let bytes = canon(value).ok()?;
        let mut fields = Fields::new(value, place, faults)?;
        let version = fields.version("outputRecordVersion", 2);
        let payload = fields.digest("payloadDigest");
        let lineage = fields.required("lineage");
        let listed = fields.optional("contributors");
        let closed = fields.finish();
        let contributors = match listed {
            Some(value) => contributors(value, &format!("{place}/contributors"), faults).map(Some),
            None => Some(None),
        };
        let lineage = lineage.and_then(|value| {
            let mut own = Faults::new();
            let read = Lineage::read(value, &mut own);
            faults.merge(own, place);
            read
        });
        version.and(closed)?;
        Some(Self {
            digest: Digest::of(&bytes),
            payload: payload?,
            contributors: contributors?,
            lineage: lineage?,
        })
    }
}

fn contributors(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Contributors> {
    let Some(elements) = value.as_array() else {
        faults.note(Rule::Form, format_args!("{place} is no array"));
        return None;
    };
    let mut members = Vec::with_capacity(elements.len());
    for (at, element) in elements.iter().enumerate() {
        let mut fields = Fields::new(element, format_args!("{place}/{at}"), faults)?;
        let kind: Option<ContributorKind> = fields.parsed("kind", "is no kind of contributor");
        let id: Option<CoreId> = fields.parsed("id", "is no local identifier");
        fields.finish()?;
        members.push((kind?, id?));
    }
    match Contributors::from_ordered(members) {
        Ok(contributors) => Some(contributors),
        Err(error) => {
            let rule = match error {
                ContributorsError::TooMany => Rule::Count,
                ContributorsError::Order { .. } => Rule::Order,
                _ => Rule::Form,
            };
            faults.note(rule, format_args!("{place}: {error}"));
            None
        }
    }
}
