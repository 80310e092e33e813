//! Witnessing: having the newest checkpoint cosigned by witnesses, again and again.
//!
//! What it is: the other half of step 6 in the life of an entry. One task beside the log offers the newest
//! checkpoint to every witness of its policy (C2SP tlog-witness), with the consistency proof from whatever
//! that witness knows, and stores the cosignatures, verified, the moment the policy's quorum has cosigned.
//! A witness is what keeps a log from showing different trees to different people, so what a witness says
//! against the log is an alarm ([`AlarmCause`]): from then on nothing more is called witnessed.
//!
//! What it never does: hold up the log. Nothing of steps 1 to 5 waits for this task; a witness that is down,
//! slow or lying is asked again later, and where no quorum cosigns, the log goes on and says so
//! ([`Status`], metrics, `/readyz`).
//!
//! ```text
//! newest checkpoint ──▶ own line alone ──▶ witness, witness, … ──▶ verified lines ──▶ durable
//!                        + proof from                │                                   │
//!                        what it knows             alarm                       receipts, /checkpoint
//! ```
//!
//! Who cosigns is behind the trait [`Witness`], so that tests can script it.

mod alarm;
mod allowance;
mod offer;
mod options;
mod remote;
mod setup;
mod status;
mod task;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod witness;

pub use alarm::{Alarm, AlarmCause};
pub use options::{NamedWitness, Options};
pub use remote::Remote;
pub use setup::{SetupError, Witnesses, check, options, witnesses};
pub use status::{Status, WitnessStatus};
pub use task::Witnessing;
pub use witness::{Asking, CONFLICT, INTERNAL, LATE, REFUSED, Witness, WitnessFailure};
