//! RFC 3161 tokens over an anchored value, and over a log's checkpoint.

use anchorlog_proto::gad::envelope::{AnchorRow, AnchorType};
use anchorlog_proto::gad::policy::TimeSource;
use anchorlog_proto::timestamp::{Imprint, TimestampError, TimestampResponse, Token};

use crate::codes::gad::Affect;
use crate::codes::timestamp::PARSE;
use crate::gad::finding::{Findings, GadFinding, Where};
use crate::gad::policy::PolicyContext;
use crate::timestamp::{
    Expected, StatedIssuer, TokenFailure, VerifiedToken, stated_issuer, verify_token,
};

use super::{Anchor, AnchorInput, TrustedTime, tlog};

/// Judges the file of an rfc3161 anchor: `.tsr` is a response, `.tst` a token.
pub(super) fn examine(
    anchor: &mut Anchor<'_>,
    bytes: &[u8],
    input: &AnchorInput<'_>,
    findings: &mut Findings,
) {
    let place = anchor.place();
    let Some(form) = Form::of(&anchor.row.item.path) else {
        findings.push(
            GadFinding::new(PARSE, place)
                .affecting(&[Affect::Defensible])
                .expected("a file named .tsr or .tst"),
        );
        return anchor.fail(findings);
    };
    let (token, refused) = match form.token(bytes) {
        Ok(found) => found,
        Err(error) => {
            findings.push(finding(&error.into(), place));
            return anchor.fail(findings);
        }
    };
    let imprint = Imprint::of_digest(&anchor.row.target);
    match judge(token, &imprint, refused, input.policy) {
        Verdict::Unknown => anchor.unsupported("an authority the policy does not know", findings),
        Verdict::Fails(failure) => {
            findings.push(finding(&failure, place));
            anchor.fail(findings);
        }
        Verdict::Holds(verified) => {
            anchor.operator = Some(verified.operator().into());
            anchor.time = trusted_time(&verified, input.policy);
        }
    }
}

/// What becomes of one token.
pub(super) enum Verdict {
    /// The policy doesn't know its authority; nothing else of it was looked at.
    Unknown,
    /// It says it is of an authority of the policy, or of nobody, and doesn't hold.
    Fails(Box<TokenFailure>),
    /// It holds.
    Holds(Box<VerifiedToken>),
}

/// Judges a token, its issuer first. `refused` is what its response says against it.
pub(super) fn judge(
    token: &[u8],
    imprint: &Imprint,
    refused: Option<TimestampError>,
    policy: &PolicyContext,
) -> Verdict {
    let (trust, supplied, rules) = (policy.tsa(), policy.supplied(), policy.rules());
    let read = match Token::parse(token) {
        Ok(read) => read,
        // Bytes that are no token name no issuer.
        Err(error) => return Verdict::Fails(Box::new(refused.unwrap_or(error).into())),
    };
    if stated_issuer(&read, trust, supplied, rules) == StatedIssuer::Unknown {
        return Verdict::Unknown;
    }
    if let Some(error) = refused {
        return Verdict::Fails(Box::new(error.into()));
    }
    match verify_token(token, &Expected::over(imprint.clone()), trust, supplied, rules) {
        Ok(verified) => Verdict::Holds(Box::new(verified)),
        Err(failure) => Verdict::Fails(Box::new(failure)),
    }
}

/// The time of a verified token, if the policy takes time from tokens.
pub(super) fn trusted_time(token: &VerifiedToken, policy: &PolicyContext) -> Option<TrustedTime> {
    if !policy.policy().time_sources.contains(&TimeSource::Rfc3161) {
        return None;
    }
    let accuracy = token.accuracy().map_or(0, |accuracy| accuracy.microseconds());
    let accuracy_us = i64::try_from(accuracy).unwrap_or(i64::MAX);
    Some(TrustedTime { time: token.gen_time(), accuracy_us })
}

/// A token's failure as a finding: it fails DEFENSIBLE.
pub(super) fn finding(failure: &TokenFailure, place: Where) -> GadFinding {
    let finding = GadFinding::new(failure.code(), place).affecting(&[Affect::Defensible]);
    match failure {
        TokenFailure::Imprint { expected, actual } => finding.expected(expected).actual(actual),
        _ => finding.actual(format_args!("{}: {failure}", failure.reason())),
    }
}

/// The two forms of file.
#[derive(Clone, Copy)]
enum Form {
    Response,
    Token,
}

impl Form {
    fn of(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        match extension {
            "tsr" => Some(Self::Response),
            "tst" => Some(Self::Token),
            _ => None,
        }
    }

    /// The token in a file, and what the response around it says against it.
    fn token(self, bytes: &[u8]) -> Result<(&[u8], Option<TimestampError>), TimestampError> {
        match self {
            Self::Token => Ok((bytes, None)),
            Self::Response => {
                let response = TimestampResponse::parse(bytes)?;
                match (response.token, response.granted()) {
                    (Some(token), granted) => Ok((token, granted.err())),
                    (None, granted) => granted.map(|token| (token, None)),
                }
            }
        }
    }
}

/// Whether a token of this anchor holds more certificates than allowed (`IN.LIMIT_COUNT`, which ends the
/// evaluation), as far as it can be told. Tokens never hold more than 32, whatever the limit.
pub(super) fn too_many_certificates(row: &AnchorRow, bytes: &[u8], limit: u64) -> bool {
    let over = |token: &[u8]| match Token::parse(token) {
        Ok(read) => u64::try_from(read.certificates.len()).unwrap_or(u64::MAX) > limit,
        Err(error) => matches!(error, TimestampError::Count { what: "certificates", .. }),
    };
    match row.anchor_type {
        Some(AnchorType::Rfc3161) => Form::of(&row.item.path)
            .and_then(|form| form.token(bytes).ok())
            .is_some_and(|(token, _)| over(token)),
        Some(AnchorType::Tlog) => tlog::tokens(bytes).iter().any(|token| over(token)),
        None => false,
    }
}
