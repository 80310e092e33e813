//! The witness' own keys.

use std::path::Path;

#[cfg(feature = "ml-dsa")]
use anchorlog_proto::cosignature::ml_dsa::MlDsaCosigner;
use anchorlog_proto::cosignature::{self, CosignatureError, CosignerKey};
use anchorlog_proto::note::{KeyName, NoteSignature, SignedNote, VerifierKey};

use super::WitnessError;
#[cfg(feature = "ml-dsa")]
use crate::keys::{KeyFileError, write_secret};
use crate::keys::{KeyOrigin, LogKey, read_note_key, read_secret};

/// What a witness cosigns with.
#[derive(Debug)]
pub struct Cosigner {
    ed25519: CosignerKey,
    #[cfg(feature = "ml-dsa")]
    ml_dsa: Option<MlDsaCosigner>,
}

impl Cosigner {
    /// A witness with this key (type 0x04).
    #[must_use]
    pub fn new(ed25519: CosignerKey) -> Self {
        Self {
            ed25519,
            #[cfg(feature = "ml-dsa")]
            ml_dsa: None,
        }
    }

    /// The same witness with a key of type 0x06 beside, which it cosigns with, too.
    #[cfg(feature = "ml-dsa")]
    #[must_use]
    pub fn with_ml_dsa(self, key: MlDsaCosigner) -> Self {
        Self { ml_dsa: Some(key), ..self }
    }

    /// The same witness with the key of type 0x06 in this file, which is made if it isn't there. It holds the
    /// text form `PRIVATE+KEY+name+keyid+base64`, under the name of the witness.
    #[cfg(feature = "ml-dsa")]
    pub fn with_ml_dsa_file(self, path: &Path) -> Result<Self, WitnessError> {
        let name = self.key().name().clone();
        let key = match read_secret(path, LONGEST_KEY) {
            Err(error) if error.is_not_found() => {
                let mut seed = zeroize::Zeroizing::new([0; 32]);
                getrandom::fill(seed.as_mut_slice()).map_err(|_| KeyFileError::Random)?;
                let key = MlDsaCosigner::from_seed(name, &seed);
                let mut text = key.to_skey();
                text.push('\n');
                write_secret(path, &text).map_err(KeyFileError::from)?;
                return Ok(self.with_ml_dsa(key));
            }
            text => text?.trim_end_matches('\n').parse::<MlDsaCosigner>(),
        };
        let refused = |source| KeyFileError::NoteKey { path: path.into(), source };
        let key = key.map_err(refused)?;
        let actual = key.verifier_key().name().clone();
        if actual != name {
            return Err(WitnessError::OtherName { actual, expected: name });
        }
        Ok(self.with_ml_dsa(key))
    }

    /// Reads the key file, or makes a new key and its file if there is none.
    ///
    /// The file is PKCS#8 PEM, or a key in the form of Go's `note` package as other witnesses keep theirs;
    /// the latter says its name, which must then be `name`. Both are readable by their owner alone.
    pub fn load_or_create(path: &Path, name: &KeyName) -> Result<(Self, KeyOrigin), WitnessError> {
        let text = match read_secret(path, LONGEST_KEY) {
            Err(error) if error.is_not_found() => {
                let key = LogKey::generate()?;
                key.write_new(path)?;
                return Ok((Self::new(key.cosigner(name)), KeyOrigin::Created));
            }
            text => text?,
        };
        let key = if text.starts_with(NOTE_KEY) {
            let (actual, key) = read_note_key(path)?;
            if actual != *name {
                return Err(WitnessError::OtherName { actual, expected: name.clone() });
            }
            key
        } else {
            LogKey::load(path)?
        };
        Ok((Self::new(key.cosigner(name)), KeyOrigin::Found))
    }

    /// The public key, of type 0x04: what a log's policy names.
    #[must_use]
    pub const fn key(&self) -> &VerifierKey {
        self.ed25519.verifier_key()
    }

    /// Every public key it cosigns with.
    #[must_use]
    pub fn keys(&self) -> Vec<VerifierKey> {
        let keys = vec![self.key().clone()];
        #[cfg(feature = "ml-dsa")]
        let keys = keys
            .into_iter()
            .chain(self.ml_dsa.iter().map(|key| key.verifier_key().clone()))
            .collect();
        keys
    }

    /// Cosigns, with every key that can.
    pub(super) fn cosign(
        &self,
        text: &str,
        unix_seconds: u64,
    ) -> Result<Vec<NoteSignature>, CosignatureError> {
        let lines = vec![self.ed25519.cosign(text, unix_seconds)?];
        #[cfg(feature = "ml-dsa")]
        let lines = match self.ml_dsa.as_ref().map(|key| key.cosign(text, unix_seconds)) {
            // That type doesn't cover extension lines; the other one does.
            None | Some(Err(CosignatureError::Extensions)) => lines,
            Some(line) => lines.into_iter().chain([line?]).collect(),
        };
        Ok(lines)
    }

    /// The latest time of a valid cosignature of ours on this note.
    pub(super) fn time_of_own(&self, note: &SignedNote) -> Option<u64> {
        let keys = self.keys();
        // Each line on its own: a forged one beside it doesn't make ours disappear.
        let lines = note.signatures().iter();
        lines
            .flat_map(|line| keys.iter().map(move |key| (key, line)))
            .filter_map(|(key, line)| cosignature::verify(key, note.text(), line).ok())
            .max()
    }
}

const NOTE_KEY: &str = "PRIVATE+KEY+";

/// Bytes of the longest key file read; ours have about 120.
const LONGEST_KEY: usize = 8192;
