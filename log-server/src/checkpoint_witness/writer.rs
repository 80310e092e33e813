//! The one writer: signed, durable, marked, published, in this order and for one statement at a time.

use anchorlog_client::durable::DurableError;
use anchorlog_proto::jp::witness::{
    Mark, Registration, Unsigned, VerifiedStatement, WitnessSigner,
};
use tracing::error;

use super::book::Place;
use super::disk::Tape;
use super::error::Refusal;

/// The files that grow. Whoever holds it is the only one to sign.
pub(super) struct Writer {
    pub(super) signer: WitnessSigner,
    pub(super) statements: Box<dyn Tape>,
    pub(super) marks: Box<dyn Tape>,
    pub(super) registrations: Box<dyn Tape>,
    /// What is at the ends of the files is not known any more.
    pub(super) is_stopped: bool,
}

impl Writer {
    /// Signs a statement and keeps it: when this returns it is durable and marked, and nobody has heard of it.
    ///
    /// After an error that is no [`Refusal::OutOfSpace`] a statement of this index may be durable, so nothing
    /// more is signed, for any trail.
    pub(super) fn keep(&mut self, next: Unsigned) -> Result<(VerifiedStatement, Place), Refusal> {
        self.look()?;
        self.statements
            .reserve(ROOM)
            .and_then(|()| self.marks.reserve(ROOM))
            .map_err(|error| no_room(&error))?;
        // Taken back at the end alone: a panic in between stops as an error does.
        self.is_stopped = true;
        let statement = next.sign(&self.signer);
        let line = statement.to_line();
        let mark = Mark::of(&statement).to_line();
        let offset = self.write(&line, &mark).map_err(|error| {
            let (trail, index) = (next.checkpoint.trail, next.index);
            error!(%error, %trail, index, "stopping: a statement was signed and may not be kept");
            Refusal::Stopped
        })?;
        self.is_stopped = false;
        let length = u16::try_from(line.len()).map_err(|_| Refusal::Stopped)?;
        Ok((statement, Place { offset, length }))
    }

    /// Keeps a registration; when this returns it is durable.
    pub(super) fn register(&mut self, registration: &Registration) -> Result<(), Refusal> {
        self.look()?;
        let mut line = registration.to_line();
        line.push(b'\n');
        self.registrations.reserve(ROOM).map_err(|error| no_room(&error))?;
        self.is_stopped = true;
        let kept = self.registrations.append(&line).and_then(|_| self.registrations.sync());
        kept.map_err(|error| {
            error!(%error, trail = %registration.trail, "stopping: a registration may not be kept");
            Refusal::Stopped
        })?;
        self.is_stopped = false;
        Ok(())
    }

    /// Whether it may sign.
    pub(super) fn look(&self) -> Result<(), Refusal> {
        if self.is_stopped { Err(Refusal::Stopped) } else { Ok(()) }
    }

    fn write(&mut self, line: &str, mark: &str) -> Result<u64, DurableError> {
        let offset = self.statements.append(format!("{line}\n").as_bytes())?;
        self.statements.sync()?;
        self.marks.append(format!("{mark}\n").as_bytes())?;
        self.marks.sync()?;
        Ok(offset)
    }
}

/// Nothing is signed yet, so nothing has happened.
fn no_room(error: &DurableError) -> Refusal {
    error!(%error, "a statement is not signed, because there may be no room for it");
    if error.is_out_of_space() { Refusal::OutOfSpace } else { Refusal::Stopped }
}

/// Bytes that a line can have, newline included.
const ROOM: u64 = 8192;
