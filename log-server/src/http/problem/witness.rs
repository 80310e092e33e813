//! What the checkpoint witness refuses, by code.

use axum::http::StatusCode;

/// Why a submission is not taken because of the checkpoint witness. The strings never change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WitnessCode {
    /// 400: not checkpoint lines of one trail in increasing order.
    Malformed,
    /// 403: the token's holder is not among the submitters.
    NotASubmitter,
    /// 403: nobody has registered the trail.
    NotRegistered,
    /// 403: the trail is registered to somebody else.
    OfAnother,
    /// 403: the log's trails of this name are the witness' own.
    ReservedTrail,
    /// 409: the witness holds another record for a line's sequence.
    Conflict,
    /// 409: the last line is below the latest one that is held.
    BelowHead,
    /// 409: the trail is retired.
    Retired,
    /// 413: a line longer than a checkpoint's.
    LineTooLong,
    /// 429: the submitter has as many trails as it may have.
    TooManyTrails,
    /// 503: nothing is signed now.
    Stopped,
}

impl WitnessCode {
    /// Returns the code's text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "witness.malformed-submission",
            Self::NotASubmitter => "witness.not-a-submitter",
            Self::NotRegistered => "witness.not-registered",
            Self::OfAnother => "witness.registered-to-another",
            Self::ReservedTrail => "witness.reserved-trail",
            Self::Conflict => "witness.conflict",
            Self::BelowHead => "witness.below-head",
            Self::Retired => "witness.retired",
            Self::LineTooLong => "witness.line-too-long",
            Self::TooManyTrails => "witness.too-many-trails",
            Self::Stopped => "server.witness-stopped",
        }
    }

    /// Returns the HTTP status.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::NotASubmitter | Self::NotRegistered | Self::OfAnother | Self::ReservedTrail => {
                StatusCode::FORBIDDEN
            }
            Self::Conflict | Self::BelowHead | Self::Retired => StatusCode::CONFLICT,
            Self::LineTooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooManyTrails => StatusCode::TOO_MANY_REQUESTS,
            Self::Stopped => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the title.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Malformed => "Malformed submission",
            Self::NotASubmitter => "Not a submitter",
            Self::NotRegistered => "Trail not registered",
            Self::OfAnother => "Trail of another submitter",
            Self::ReservedTrail => "Trail of the witness",
            Self::Conflict => "Another record is witnessed",
            Self::BelowHead => "Below the latest witnessed checkpoint",
            Self::Retired => "Trail retired",
            Self::LineTooLong => "Line too long",
            Self::TooManyTrails => "Too many trails",
            Self::Stopped => "Nothing is witnessed",
        }
    }

    /// The `reason` of a 409, as the gateway's specification spells it.
    #[must_use]
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Conflict => Some("conflict"),
            Self::BelowHead => Some("below-head"),
            Self::Retired => Some("retired"),
            _ => None,
        }
    }
}
