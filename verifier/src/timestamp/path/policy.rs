//! Certificate policies of a path (RFC 5280 section 6.1).
//!
//! The verifier asks for no policy of its own: the initial set is `anyPolicy`, and nothing is
//! required or inhibited at the start. What is left is what certificates of the path ask of one
//! another. With that initial set the tree of section 6.1 matters only for whether it is empty, and
//! a tree is empty exactly when its lowest level is; so a level is all that is kept.

use anchorlog_proto::timestamp::ObjectIdentifier;

use super::super::certificate::{ANY_POLICY, Certificate};

/// Policies that are kept of one level. Certificates are short enough never to come near it, and
/// mappings can't multiply it.
const MAX_POLICIES: usize = 1024;

/// Whether policies hold along `certificates`: the one below the anchor first, the signer last.
pub(super) fn policies_hold<'a>(
    certificates: impl DoubleEndedIterator<Item = &'a Certificate> + ExactSizeIterator,
) -> bool {
    let mut state = State::new(certificates.len());
    let last = certificates.len();
    for (position, certificate) in (1..).zip(certificates) {
        if state.certificate(certificate, position == last).is_none() {
            return false;
        }
    }
    state.holds()
}

/// The state variables of section 6.1.2, as far as policies go.
struct State {
    /// The policies that the next certificate may state: the expected policy sets of the lowest
    /// level. None: the tree is empty.
    expected: Option<Vec<ObjectIdentifier>>,
    explicit_policy: u64,
    inhibit_any_policy: u64,
    policy_mapping: u64,
}

impl State {
    fn new(certificates: usize) -> Self {
        let never = u64::try_from(certificates).unwrap_or(u64::MAX).saturating_add(1);
        Self {
            expected: Some(vec![ANY_POLICY]),
            explicit_policy: never,
            inhibit_any_policy: never,
            policy_mapping: never,
        }
    }

    fn holds(&self) -> bool {
        self.explicit_policy > 0 || self.expected.is_some()
    }

    /// Sections 6.1.3 (d) to (f), then 6.1.4 or 6.1.5.
    fn certificate(&mut self, certificate: &Certificate, last: bool) -> Option<()> {
        let self_issued = certificate.is_self_issued();
        self.take_policies(certificate, !last && self_issued);
        if !self.holds() {
            return None;
        }
        let extensions = certificate.extensions();
        let constraints = extensions.policy_constraints;
        if last {
            // 6.1.5 (a) and (b).
            self.explicit_policy = self.explicit_policy.saturating_sub(1);
            if constraints.require_explicit_policy == Some(0) {
                self.explicit_policy = 0;
            }
            return Some(());
        }
        self.map(certificate)?;
        if !self_issued {
            for counter in
                [&mut self.explicit_policy, &mut self.policy_mapping, &mut self.inhibit_any_policy]
            {
                *counter = counter.saturating_sub(1);
            }
        }
        for (counter, stated) in [
            (&mut self.explicit_policy, constraints.require_explicit_policy),
            (&mut self.policy_mapping, constraints.inhibit_policy_mapping),
            (&mut self.inhibit_any_policy, extensions.inhibit_any_policy),
        ] {
            *counter = stated.map_or(*counter, |stated| stated.min(*counter));
        }
        Some(())
    }

    /// 6.1.3 (d) and (e).
    fn take_policies(&mut self, certificate: &Certificate, self_issued_issuer: bool) {
        let stated = certificate.extensions().policies.as_ref();
        let (Some(expected), Some(stated)) = (self.expected.take(), stated) else { return };
        let any_expected = expected.contains(&ANY_POLICY);
        let mut level: Vec<_> = stated
            .iter()
            .filter(|policy| **policy != ANY_POLICY)
            .filter(|policy| any_expected || expected.contains(policy))
            .copied()
            .collect();
        // 6.1.3 (d) (2): anyPolicy stands for everything expected, as long as it counts.
        if stated.contains(&ANY_POLICY) && (self.inhibit_any_policy > 0 || self_issued_issuer) {
            level.extend(expected);
        }
        self.expected = bounded(level);
    }

    /// 6.1.4 (a) and (b).
    fn map(&mut self, certificate: &Certificate) -> Option<()> {
        let mappings = &certificate.extensions().policy_mappings;
        if mappings.iter().any(|one| one.issuer == ANY_POLICY || one.subject == ANY_POLICY) {
            return None;
        }
        let Some(expected) = self.expected.take() else { return Some(()) };
        let any = expected.contains(&ANY_POLICY);
        let mapped = |policy: &ObjectIdentifier| mappings.iter().any(|one| one.issuer == *policy);
        let mut level: Vec<_> = expected.iter().filter(|policy| !mapped(policy)).copied().collect();
        if self.policy_mapping > 0 {
            let applies = |policy: &ObjectIdentifier| any || expected.contains(policy);
            let here = mappings.iter().filter(|one| applies(&one.issuer));
            level.extend(here.map(|one| one.subject));
        }
        self.expected = bounded(level);
        Some(())
    }
}

/// A level without repetitions; none if it is empty.
fn bounded(mut level: Vec<ObjectIdentifier>) -> Option<Vec<ObjectIdentifier>> {
    level.sort_unstable();
    level.dedup();
    level.truncate(MAX_POLICIES);
    (!level.is_empty()).then_some(level)
}
