//! What every command needs to know: where the record is, and whose key signs.

use std::path::PathBuf;

use anchorlog_proto::signed_object::SigningKey;

use crate::keys::read_signing_key;
use crate::record::{RecordError, Recorder};

use super::super::report::{Report, announce};

/// Which record.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Place {
    /// The directory of the record.
    #[arg(value_name = "RECORD")]
    pub(super) directory: PathBuf,
    /// The engine's private key: PKCS#8 PEM, readable by its owner alone.
    #[arg(long, value_name = "FILE", env = "ANCHORLOG_ENGINE_KEY")]
    pub(super) engine_key: Option<PathBuf>,
}

impl Place {
    /// Opens the record, and says what was found there.
    pub(super) fn open(&self, report: &mut Report) -> Result<Recorder, RecordError> {
        let recorder = self.give_key(Recorder::open(&self.directory)?)?;
        if recorder.cut() > 0 {
            report.member("cut_bytes", recorder.cut());
            announce(&format!(
                "{}: {} bytes of a line that was never acknowledged were cut off",
                self.directory.display(),
                recorder.cut()
            ));
        }
        Ok(recorder)
    }

    /// Gives the recorder the engine's key, where one was named.
    fn give_key(&self, recorder: Recorder) -> Result<Recorder, RecordError> {
        match self.engine()? {
            None => Ok(recorder),
            Some(key) => recorder.with_engine(key),
        }
    }

    /// The engine's key, where one was named.
    pub(super) fn engine(&self) -> Result<Option<SigningKey>, RecordError> {
        let path = self.engine_key.as_ref();
        Ok(path.map(|path| read_signing_key(path)).transpose()?)
    }
}
