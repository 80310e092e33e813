//! AuthorizedPrincipals(P): the registry of keys.

use std::collections::{BTreeMap, BTreeSet};

use super::Principal;
use crate::gad::code::{
    PLAN_KEY_DUP, PLAN_KEY_INCOMPLETE, PLAN_REGISTRY_EMPTY, PLAN_ROLE_CONFLICT, R1_ISSUER_ALG,
    R1_ISSUER_KEY_ID, R1_ISSUER_WEAK_KEY,
};
use crate::gad::form::{Cell, Reader};
use crate::gad::limits::{Limits, most};
use crate::gad::names::Role;
use crate::json::JsonCode;
use crate::signed_object::{PublicKey, SignerId};

/// The one algorithm of keys.
pub(in crate::gad) const ALGORITHM: &str = "ed25519";

/// The longest custody statement, in bytes.
pub(in crate::gad) const MAX_CUSTODY_BYTES: usize = 4096;

/// The longest name of a party, in bytes.
pub(in crate::gad) const MAX_PARTY_BYTES: usize = 256;

/// Reads the registry. Keys that can't be used are left out; of a key that is registered twice the first
/// row stays, with the roles of all.
pub(super) fn principals(
    reader: &mut Reader<'_, '_>,
    gated: bool,
    limits: &Limits,
) -> Vec<Principal> {
    const NAME: &str = "authorized_principals";
    let mut registry = Registry::default();
    let read = reader.required(NAME, |cell| {
        cell.list(most(limits.principals), |cell| {
            registry.add(cell, limits);
            Some(())
        })
    });
    // The registry of a plan that states none is empty; one that is no array has its own defect.
    let stated = read.is_some() || !reader.has(NAME);
    let lacks = |role| !registry.roles.contains(&role);
    if stated && (lacks(Role::Engine) || (gated && lacks(Role::Approver))) {
        reader.defect(PLAN_REGISTRY_EMPTY, NAME);
    }
    registry.principals
}

/// What the rows so far have registered.
#[derive(Default)]
struct Registry {
    principals: Vec<Principal>,
    /// Positions in `principals`.
    positions: BTreeMap<SignerId, usize>,
    /// As stated, whether or not they derive from their keys.
    ids: BTreeSet<SignerId>,
    /// The bytes of every key, usable or not, with what its rows say it may sign.
    keys: BTreeMap<[u8; 32], BTreeSet<Role>>,
    /// Every role that some row gives.
    roles: BTreeSet<Role>,
}

/// One row as far as it can be read.
struct Row {
    key_id: Option<SignerId>,
    key: Option<[u8; 32]>,
    roles: Vec<Role>,
    principal: Option<Principal>,
}

impl Registry {
    fn add(&mut self, mut cell: Cell<'_, '_>, limits: &Limits) {
        let Some(row) = cell.reborrow().object(|reader| Some(row(reader, limits))) else { return };
        let repeated_id = row.key_id.is_some_and(|id| !self.ids.insert(id));
        let repeated_key = row.key.is_some_and(|key| self.keys.contains_key(&key));
        if repeated_id || repeated_key {
            cell.reborrow().refuse::<()>(PLAN_KEY_DUP);
        }
        let conflict = |roles: &BTreeSet<Role>| {
            roles.contains(&Role::Engine) && roles.contains(&Role::Approver)
        };
        let stated: BTreeSet<Role> = row.roles.iter().copied().collect();
        let conflicts = match row.key {
            None => conflict(&stated),
            Some(key) => {
                let roles = self.keys.entry(key).or_default();
                let already = conflict(roles);
                roles.extend(&stated);
                !already && conflict(roles)
            }
        };
        if conflicts {
            cell.refuse::<()>(PLAN_ROLE_CONFLICT);
        }
        self.roles.extend(stated);
        if let Some(principal) = row.principal {
            self.register(principal);
        }
    }

    fn register(&mut self, principal: Principal) {
        let known = self.positions.get(&principal.key_id).copied();
        if let Some(first) = known.and_then(|position| self.principals.get_mut(position)) {
            first.roles.extend(principal.roles);
            first.roles.sort_unstable();
            first.roles.dedup();
        } else {
            self.positions.insert(principal.key_id, self.principals.len());
            self.principals.push(principal);
        }
    }
}

fn row(reader: &mut Reader<'_, '_>, limits: &Limits) -> Row {
    reader.allow_ext();
    let key_id = reader.declared("key_id", PLAN_KEY_INCOMPLETE, |cell| cell.key_id());
    let algorithm = reader.declared("algorithm", PLAN_KEY_INCOMPLETE, |cell| {
        cell.string_as(R1_ISSUER_ALG, |name| (name == ALGORITHM).then_some(()))
    });
    let key = reader.declared("public_key", PLAN_KEY_INCOMPLETE, |cell| cell.base64::<32>());
    let custody = reader.declared("custody_statement", PLAN_KEY_INCOMPLETE, |cell| {
        cell.text(0..=MAX_CUSTODY_BYTES)
    });
    let roles = reader.required("roles", |cell| roles(cell, limits));
    let party = reader.optional("party", |cell| cell.text(1..=MAX_PARTY_BYTES));

    let usable = key.and_then(|key| PublicKey::from_bytes(&key).ok());
    if key.is_some() && usable.is_none() {
        reader.defect(R1_ISSUER_WEAK_KEY, "public_key");
    }
    // The bytes have an id even where they are no key.
    let derives = match (key_id, key) {
        (Some(id), Some(key)) if id == SignerId::of_bytes(&key) => Some(id),
        (Some(_), Some(_)) => {
            reader.defect(R1_ISSUER_KEY_ID, "key_id");
            None
        }
        _ => None,
    };
    let principal = match (derives, usable, algorithm) {
        (Some(key_id), Some(key), Some(())) => Some(Principal {
            key_id,
            key,
            // Undisclosed custody credits least.
            custody: custody.unwrap_or_default().into(),
            roles: roles.clone().unwrap_or_default(),
            party: party.flatten().map(Into::into),
        }),
        _ => None,
    };
    Row { key_id, key, roles: roles.unwrap_or_default(), principal }
}

/// A set of roles, not empty.
fn roles(mut cell: Cell<'_, '_>, limits: &Limits) -> Option<Vec<Role>> {
    let roles = cell.reborrow().set(most(limits.elements), |cell| cell.one_of(Role::from_name))?;
    if roles.is_empty() { cell.refuse(JsonCode::Enum) } else { Some(roles) }
}
