//! Who is asked for a cosignature: the seam between the witnessing task and whatever speaks tlog-witness.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anchorlog_client::witness::Answer;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tlog_witness::AddCheckpoint;

/// A witness' answer to one checkpoint, on its way.
pub type Asking = Pin<Box<dyn Future<Output = Result<Answer, WitnessFailure>> + Send>>;

/// A witness, as the witnessing task knows it.
///
/// Contract: a cosignature that is handed out was verified over the checkpoint of the request under
/// [`Witness::key`]. The caller bounds the time and drops the future when it is over.
pub trait Witness: Send + Sync {
    /// Its key, of type 0x04.
    fn key(&self) -> &VerifierKey;

    /// Offers a checkpoint once.
    fn add_checkpoint(self: Arc<Self>, request: AddCheckpoint) -> Asking;
}

/// Why there is no cosignature.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{code}: {text}")]
pub struct WitnessFailure {
    /// A stable code, which everybody may see.
    pub code: Cow<'static, str>,
    /// What happened, for the operator of the log.
    pub text: String,
    /// Whether the same request can succeed a moment later.
    pub temporary: bool,
    /// How long the witness asked to be left alone.
    pub retry_after: Option<Duration>,
}

impl WitnessFailure {
    /// The witness did not answer in time.
    #[must_use]
    pub fn late(after: Duration) -> Self {
        let text = format!("no answer within {} ms", after.as_millis());
        Self { code: Cow::Borrowed(LATE), text, temporary: true, retry_after: None }
    }

    /// Something that asking again at once doesn't change.
    #[must_use]
    pub fn lasting(code: &'static str, text: impl Into<String>) -> Self {
        Self { code: Cow::Borrowed(code), text: text.into(), temporary: false, retry_after: None }
    }
}

/// Code of [`WitnessFailure::late`].
pub const LATE: &str = "WITNESS.LATE";

/// Code of a defect of the program, or of a log that can't prove its own consistency.
pub const INTERNAL: &str = "WITNESS.INTERNAL";

/// Code of a 409 that tells nothing, or what was said to the witness before.
pub const CONFLICT: &str = "WITNESS.CONFLICT";

/// Code of a refusal that has no sense: of a proof where there was none.
pub const REFUSED: &str = "WITNESS.REFUSED";
