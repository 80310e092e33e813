//! The codes of forms: `J.*`, and those that a table names in their place.

use crate::json::JsonCode;

/// What is wrong with the form of an object.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum FormCode {
    /// The strict form itself.
    Json(JsonCode),
    /// A rule of one object, by its stable code. Only the tables of this module's formats make one.
    #[non_exhaustive]
    Rule(&'static str),
}

impl FormCode {
    /// The stable code towards users.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json(code) => code.as_str(),
            Self::Rule(code) => code,
        }
    }
}

impl From<JsonCode> for FormCode {
    fn from(code: JsonCode) -> Self {
        Self::Json(code)
    }
}

/// Declares the rules' codes that reading raises.
macro_rules! rules {
    ($($(#[$meta:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$meta])* pub const $name: FormCode = FormCode::Rule($code);)*

        /// Every rule's code that reading can raise, by name.
        pub const RULES: &[FormCode] = &[$($name),*];
    };
}

rules! {
    /// A credential isn't one key and its id, or isn't the signer's.
    ATT_FORM = "ATT.FORM";
    /// A member of the operator record is absent.
    IND_OPERATOR_MISSING = "IND.OPERATOR_MISSING";
    /// B isn't an integer from 0 to 1000.
    PLAN_BOUND = "PLAN.BOUND";
    /// c_min isn't a class.
    PLAN_CMIN = "PLAN.CMIN";
    /// D has a cycle, an edge from a node to itself included.
    PLAN_CYCLE = "PLAN.CYCLE";
    /// An edge names a node that N doesn't have.
    PLAN_EDGE_DANGLING = "PLAN.EDGE_DANGLING";
    /// N is empty.
    PLAN_EMPTY = "PLAN.EMPTY";
    /// A fence isn't an allowlist of paths without repeats.
    PLAN_FENCE_FORM = "PLAN.FENCE_FORM";
    /// A key id or a public key is registered twice.
    PLAN_KEY_DUP = "PLAN.KEY_DUP";
    /// Key id, algorithm, public key or custody statement of a registered key is absent.
    PLAN_KEY_INCOMPLETE = "PLAN.KEY_INCOMPLETE";
    /// A node id is absent, malformed or repeated.
    PLAN_NODE_DUP = "PLAN.NODE_DUP";
    /// No engine key is registered, or a node is gated and no approver is.
    PLAN_REGISTRY_EMPTY = "PLAN.REGISTRY_EMPTY";
    /// risk isn't a risk.
    PLAN_RISK = "PLAN.RISK";
    /// One public key is an engine's and an approver's.
    PLAN_ROLE_CONFLICT = "PLAN.ROLE_CONFLICT";
    /// A node has no done-test.
    PLAN_TESTS_EMPTY = "PLAN.TESTS_EMPTY";
    /// A test id is absent, malformed or repeated in its node.
    PLAN_TEST_DUP = "PLAN.TEST_DUP";
    /// The overlap policy or the coverage scheme of checkpoints is unknown.
    R1_CKPT_POLICY = "R1.CKPT.POLICY";
    /// A registered key's algorithm isn't ed25519.
    R1_ISSUER_ALG = "R1.ISSUER.ALG";
    /// A registered key's id doesn't derive from the key.
    R1_ISSUER_KEY_ID = "R1.ISSUER.KEY_ID";
    /// A public key is of small order, or not the canonical encoding of a point.
    R1_ISSUER_WEAK_KEY = "R1.ISSUER.WEAK_KEY";
    /// M_core lists a path twice.
    R1_MANIFEST_DUP = "R1.MANIFEST.DUP";
    /// The chain is keyed, which carries no public claim.
    R1_PROFILE_KEYED = "R1.PROFILE.KEYED";
    /// A schema, a version or an algorithm isn't one that is read here.
    R1_PROFILE_UNSUPPORTED = "R1.PROFILE.UNSUPPORTED";
    /// The plan declares no clock policy, or not all of it.
    R2_CLOCK_UNDECLARED = "R2.CLOCK.UNDECLARED";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_none_is_one_of_the_strict_form() {
        let codes: Vec<_> = RULES.iter().map(|code| code.as_str()).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        assert!(JsonCode::ALL.iter().all(|code| !codes.contains(&code.as_str())));
        assert_eq!(FormCode::from(JsonCode::Type).as_str(), "J.TYPE");
    }
}
