//! One signature line of a note.

use core::fmt;
use core::str::FromStr;

use super::error::SignatureLineError;
use super::key::{KeyId, KeyName};
use crate::encoding;

/// How a signature line begins: U+2014 and a space.
const PREFIX: &str = "\u{2014} ";

/// A signature as a note carries it: by whom it says it is, and the bytes. Nothing is verified here, and
/// the algorithm may be one this crate doesn't know.
///
/// Text form is the line `— name base64(key ID ‖ signature)` without its newline.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct NoteSignature {
    name: KeyName,
    key_id: KeyId,
    bytes: Vec<u8>,
}

impl NoteSignature {
    /// Puts a signature together from its parts; a signature of no bytes is none.
    pub fn new(name: KeyName, key_id: KeyId, bytes: Vec<u8>) -> Result<Self, SignatureLineError> {
        if bytes.is_empty() {
            return Err(SignatureLineError::TooShort { bytes: key_id.as_bytes().len() });
        }
        Ok(Self { name, key_id, bytes })
    }

    /// The name of the key it says it is by.
    #[must_use]
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    /// The ID of the key it says it is by.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// What follows the key ID; for a cosignature that is the timestamp and the signature.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A signature whose bytes are known not to be empty.
    pub(crate) const fn from_parts(name: KeyName, key_id: KeyId, bytes: Vec<u8>) -> Self {
        Self { name, key_id, bytes }
    }

    /// Appends the line and its newline.
    pub(super) fn write_line(&self, out: &mut String) {
        let blob = [self.key_id.as_bytes(), self.bytes.as_slice()].concat();
        out.push_str(PREFIX);
        out.push_str(self.name.as_str());
        out.push(' ');
        encoding::base64_encode_into(&blob, out);
        out.push('\n');
    }
}

impl fmt::Display for NoteSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        self.write_line(&mut line);
        f.write_str(line.trim_end_matches('\n'))
    }
}

impl FromStr for NoteSignature {
    type Err = SignatureLineError;

    fn from_str(line: &str) -> Result<Self, SignatureLineError> {
        let (name, blob) = line
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.split_once(' '))
            .ok_or(SignatureLineError::Syntax)?;
        let name = KeyName::new(name).map_err(SignatureLineError::Name)?;
        let blob = encoding::base64_decode(blob).map_err(|_| SignatureLineError::Base64)?;
        match blob.split_first_chunk() {
            Some((key_id, bytes)) if !bytes.is_empty() => {
                Ok(Self { name, key_id: KeyId::from_bytes(*key_id), bytes: bytes.to_vec() })
            }
            _ => Err(SignatureLineError::TooShort { bytes: blob.len() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::KeyError;

    #[test]
    fn the_grammar_is_exact() {
        let line = "\u{2014} n AAECAwQ=";
        let signature: NoteSignature = line.parse().unwrap();
        assert_eq!(signature.name().as_str(), "n");
        assert_eq!(signature.key_id(), KeyId::from_bytes([0, 1, 2, 3]));
        assert_eq!(signature.bytes(), [4]);
        assert_eq!(signature.to_string(), line);

        for (line, error) in [
            ("", SignatureLineError::Syntax),
            ("\u{2014}", SignatureLineError::Syntax),
            ("\u{2014} n", SignatureLineError::Syntax),
            ("- n AAECAwQ=", SignatureLineError::Syntax),
            ("\u{2013} n AAECAwQ=", SignatureLineError::Syntax), // an en dash
            (" \u{2014} n AAECAwQ=", SignatureLineError::Syntax),
            ("\u{2014}\u{a0}n AAECAwQ=", SignatureLineError::Syntax),
            ("\u{2014}  n AAECAwQ=", SignatureLineError::Name(KeyError::Name)),
            ("\u{2014} a+b AAECAwQ=", SignatureLineError::Name(KeyError::Name)),
            ("\u{2014} n  AAECAwQ=", SignatureLineError::Base64),
            ("\u{2014} n AAECAwQ= ", SignatureLineError::Base64),
            ("\u{2014} n AAECAwQ", SignatureLineError::Base64),
            ("\u{2014} n AAECAwR=", SignatureLineError::Base64),
            ("\u{2014} n AAECAw-_", SignatureLineError::Base64),
            ("\u{2014} n ", SignatureLineError::TooShort { bytes: 0 }),
            ("\u{2014} n AAEC", SignatureLineError::TooShort { bytes: 3 }),
            ("\u{2014} n AAECAw==", SignatureLineError::TooShort { bytes: 4 }),
        ] {
            assert_eq!(line.parse::<NoteSignature>(), Err(error), "{line:?}");
        }
        let nothing =
            NoteSignature::new(KeyName::new("n").unwrap(), KeyId::from_bytes([0; 4]), vec![]);
        assert_eq!(nothing, Err(SignatureLineError::TooShort { bytes: 4 }));
    }
}
