//! What the caller trusts: one tlog-policy, whole.
//!
//! A [`Trust`] is the only source of keys in this crate. Nothing that evidence carries is ever
//! added to it. It is one unit on purpose: logs, witnesses and quorum of one policy are not mixed
//! with those of another.

use anchorlog_proto::Digest;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tlog_policy::{Group, Member, PolicyWitness, Quorum, TlogPolicy};

use crate::codes::policy::{NO_LOGS, UNUSED_WITNESS, UNWITNESSED};
use crate::finding::Finding;
use crate::report::{PolicyContents, PolicyFacts, PolicyGroup, PolicyKey};

/// Role of a policy in findings.
pub const POLICY: &str = "policy";

/// Role of a single key in findings.
pub const VKEY: &str = "vkey";

/// A policy and the digest of the text it was read from.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Trust {
    /// The parsed policy.
    pub policy: TlogPolicy,
    /// SHA-256 of the policy text: two reports with this digest used the same policy.
    pub digest: Digest,
}

impl Trust {
    /// Reads a C2SP tlog-policy.
    ///
    /// The finding carries the format's own code: `POLICY.*`, a key's `NOTE.*`, or
    /// `LOG.WITNESS_DUP` for a witness key that is listed twice.
    pub fn from_policy(text: &[u8]) -> Result<Self, Finding> {
        match TlogPolicy::parse(text) {
            Ok(policy) => Ok(Self { policy, digest: Digest::of(text) }),
            Err(error) => Err(Finding::of_format(error.code(), &error)),
        }
    }

    /// The policy that trusts one log key and asks for no witness: the text `log <vkey>`, a
    /// newline, `quorum none`, a newline.
    pub fn from_vkey(vkey: &str) -> Result<Self, Finding> {
        let key: VerifierKey = match vkey.parse() {
            Ok(key) => key,
            Err(error) => {
                let error: anchorlog_proto::note::KeyError = error;
                return Err(Finding::of_format(error.code(), &error));
            }
        };
        Self::from_policy(format!("log {key}\nquorum none\n").as_bytes())
    }

    /// What a report says about the policy it was made under.
    #[must_use]
    pub fn facts(&self) -> PolicyFacts {
        PolicyFacts { digest: self.digest, quorum: quorum_text(&self.policy), contents: None }
    }

    /// The same with every log, witness and group.
    #[must_use]
    pub fn full_facts(&self) -> PolicyFacts {
        PolicyFacts { contents: Some(contents(&self.policy)), ..self.facts() }
    }

    /// What a policy leaves open though it is well-formed; notes only.
    #[must_use]
    pub fn remarks(&self) -> Vec<Finding> {
        let policy = &self.policy;
        let mut findings = Vec::new();
        if policy.logs().is_empty() {
            findings.push(Finding::new(NO_LOGS, "no log can satisfy this policy"));
        }
        let Quorum::Of(quorum) = policy.quorum() else {
            findings.push(Finding::new(UNWITNESSED, "a log's own signature is enough"));
            return findings;
        };
        let used = reached(policy, quorum);
        for (index, witness) in policy.witnesses().iter().enumerate() {
            if !used.contains(&Member::Witness(index)) {
                let detail = format!("the quorum never asks witness {}", witness.name());
                findings.push(Finding::new(UNUSED_WITNESS, detail));
            }
        }
        findings
    }
}

/// The quorum in words: `none`, a name, or a group's name with its threshold.
pub(crate) fn quorum_text(policy: &TlogPolicy) -> String {
    match policy.quorum() {
        Quorum::None => "none".to_owned(),
        Quorum::Of(Member::Group(index)) => policy
            .groups()
            .get(index)
            .map(|group| {
                let (name, members) = (group.name(), group.members().len());
                format!("{name}: {} of {members}", group.threshold())
            })
            .unwrap_or_default(),
        Quorum::Of(member) => name(policy, member),
    }
}

fn contents(policy: &TlogPolicy) -> PolicyContents {
    let key = |name: String, key: &VerifierKey, url: Option<&[u8]>| PolicyKey {
        name,
        vkey: key.to_string(),
        url: url.map(|url| url.escape_ascii().to_string()),
    };
    let logs = policy.logs().iter();
    let witnesses = policy.witnesses().iter();
    PolicyContents {
        logs: logs.map(|log| key(log.origin().to_string(), log.key(), log.url())).collect(),
        witnesses: witnesses
            .map(|witness| key(witness.name().to_string(), witness.key(), witness.url()))
            .collect(),
        groups: policy.groups().iter().map(|group| group_facts(policy, group)).collect(),
    }
}

fn group_facts(policy: &TlogPolicy, group: &Group) -> PolicyGroup {
    PolicyGroup {
        name: group.name().to_string(),
        threshold: u64::try_from(group.threshold()).unwrap_or(u64::MAX),
        members: group.members().iter().map(|&member| name(policy, member)).collect(),
    }
}

/// The name of a witness or a group.
fn name(policy: &TlogPolicy, member: Member) -> String {
    let name = match member {
        Member::Witness(index) => policy.witnesses().get(index).map(PolicyWitness::name),
        Member::Group(index) => policy.groups().get(index).map(Group::name),
    };
    name.map(ToString::to_string).unwrap_or_default()
}

/// The quorum and everything below it. Groups are defined after their members, so walking them
/// backwards meets every group before its members.
fn reached(policy: &TlogPolicy, quorum: Member) -> Vec<Member> {
    let mut reached = vec![quorum];
    for (index, group) in policy.groups().iter().enumerate().rev() {
        if reached.contains(&Member::Group(index)) {
            reached.extend(group.members());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "log log.example/gad+c0e67a31+AcDREHzWnPMwu79xv/AzePY+2HJaJJhOmLjvfBa+fms4\n";
    const W1: &str =
        "witness w1 witness1.example+7b0bebb9+BBFDovhb1X3AQmjKku6E/zMteS09Shjwi3adxaj0L2wi\n";
    const W2: &str =
        "witness w2 witness2.example+36b8a3de+BLDe3ZsKfb0uQk7zeEc7sP/D2YkFRo1vaIqnN2A/nyGa\n";

    fn remarks(text: &str) -> Vec<String> {
        let trust = Trust::from_policy(text.as_bytes()).unwrap();
        trust.remarks().iter().map(|finding| finding.code.to_string()).collect()
    }

    #[test]
    fn remarks_name_what_is_left_open() {
        let nested = "group a any w1\ngroup b all a w2\nquorum b\n";
        assert_eq!(remarks(&format!("{LOG}{W1}{W2}{nested}")), [""; 0]);
        assert_eq!(remarks(&format!("{LOG}{W1}{W2}quorum w1\n")), ["POLICY.UNUSED_WITNESS"]);
        assert_eq!(remarks(&format!("{LOG}quorum none\n")), ["POLICY.UNWITNESSED"]);
        assert_eq!(remarks("quorum none\n"), ["POLICY.NO_LOGS", "POLICY.UNWITNESSED"]);
    }

    #[test]
    fn quorums_have_words() {
        let words = |text: &str| quorum_text(&TlogPolicy::parse(text.as_bytes()).unwrap());
        assert_eq!(words("quorum none\n"), "none");
        assert_eq!(words(&format!("{W1}quorum w1\n")), "w1");
        assert_eq!(words(&format!("{W1}{W2}group g any w1 w2\nquorum g\n")), "g: 1 of 2");
    }

    #[test]
    fn one_witness_under_two_names_is_no_policy() {
        let text = format!("{LOG}{W1}{}quorum none\n", W1.replace("w1 ", "w2 "));
        let finding = Trust::from_policy(text.as_bytes()).unwrap_err();
        assert_eq!(finding.code.as_str(), "LOG.WITNESS_DUP");
        assert!(finding.detail.contains("line 3"), "{}", finding.detail);
    }

    #[test]
    fn a_key_is_a_policy() {
        let key = LOG.trim_start_matches("log ").trim_end();
        let trust = Trust::from_vkey(key).unwrap();
        assert_eq!(trust, Trust::from_policy(format!("{LOG}quorum none\n").as_bytes()).unwrap());
        let witness = W1.trim_start_matches("witness w1 ").trim_end();
        for (text, code) in [
            ("", "NOTE.KEY_SYNTAX"),
            (&format!("{key}\nquorum none"), "NOTE.KEY_BASE64"),
            (&key.replace("/gad", "/bad"), "NOTE.KEY_ID_MISMATCH"),
            (witness, "POLICY.KEY_ALGORITHM"),
        ] {
            assert_eq!(Trust::from_vkey(text).unwrap_err().code.as_str(), code, "{text}");
        }
    }
}
