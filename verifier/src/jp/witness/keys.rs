//! The keys that a reader trusts.

use std::collections::HashMap;

use anchorlog_proto::jp::witness::{KeyId, WitnessKey};

use super::MAX_KEYS;
use super::fault::Refusal;

/// At most [`MAX_KEYS`] keys, each held to the key rule. No key ever comes from a statement.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys {
    ordered: Vec<WitnessKey>,
    by_id: HashMap<KeyId, WitnessKey>,
}

impl TrustedKeys {
    /// Takes the keys, or refuses the first that the key rule refuses.
    pub fn new(keys: &[[u8; 32]]) -> Result<Self, Refusal> {
        if keys.len() > MAX_KEYS {
            return Err(Refusal::KeysOverBound { given: keys.len() });
        }
        let mut taken = Self::default();
        for (at, bytes) in keys.iter().enumerate() {
            let number = at.saturating_add(1);
            let key = WitnessKey::from_bytes(bytes)
                .map_err(|refusal| Refusal::Key { number, refusal })?;
            taken.ordered.push(key);
            taken.by_id.insert(key.id(), key);
        }
        Ok(taken)
    }

    /// The keys, in the order they were given.
    #[must_use]
    pub fn keys(&self) -> &[WitnessKey] {
        &self.ordered
    }

    pub(super) fn get(&self, id: KeyId) -> Option<&WitnessKey> {
        self.by_id.get(&id)
    }
}
