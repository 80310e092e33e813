//! The text of a policy, line by line.

use std::collections::{HashMap, HashSet};

use super::error::{PolicyError, PolicyLineError};
use super::{
    Group, MAX_GROUPS, MAX_LOGS, MAX_NAME_BYTES, MAX_POLICY_BYTES, MAX_WITNESSES, Member,
    PolicyLog, PolicyName, PolicyWitness, Quorum, TlogPolicy,
};
use crate::checkpoint::parse_decimal;
use crate::cosignature::cosigner_from_note_key;
use crate::note::{KeyError, KeyId, KeyName, NotePublicKey, SignatureAlgorithm, VerifierKey};

/// The name that stands for no quorum at all.
const NONE: &[u8] = b"none";

/// Reads a whole policy.
pub(super) fn parse(text: &[u8]) -> Result<TlogPolicy, PolicyError> {
    if text.len() > MAX_POLICY_BYTES {
        return Err(PolicyError::TooLarge { bytes: text.len() });
    }
    // A text without lines lacks a quorum, not a newline.
    let Some((&last, body)) = text.split_last() else {
        return Err(PolicyError::NoQuorum);
    };
    if last != b'\n' {
        return Err(PolicyError::NoFinalNewline);
    }
    let mut builder = Builder::default();
    for (line, number) in body.split(|&byte| byte == b'\n').zip(1..) {
        builder.line(line).map_err(|reason| PolicyError::Line { line: number, reason })?;
    }
    let quorum = builder.quorum.ok_or(PolicyError::NoQuorum)?;
    let Builder { logs, witnesses, groups, .. } = builder;
    Ok(TlogPolicy { logs, witnesses, groups, quorum })
}

/// What the lines so far have defined.
#[derive(Default)]
struct Builder {
    logs: Vec<PolicyLog>,
    witnesses: Vec<PolicyWitness>,
    groups: Vec<Group>,
    quorum: Option<Quorum>,
    /// Witnesses and groups share one name space.
    names: HashMap<PolicyName, Member>,
    /// Who is a member of a group.
    members: HashSet<Member>,
    log_keys: SeenKeys,
    witness_keys: SeenKeys,
}

impl Builder {
    fn line(&mut self, line: &[u8]) -> Result<(), PolicyLineError> {
        let allowed = |byte: u8| matches!(byte, b'\t' | 0x20..=0x7e | 0x80..);
        if let Some(&byte) = line.iter().find(|&&byte| !allowed(byte)) {
            return Err(PolicyLineError::Byte { byte });
        }
        let mut words =
            line.split(|&byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
        let Some(keyword) = words.next() else { return Ok(()) };
        if keyword.starts_with(b"#") {
            return Ok(());
        }
        let words: Vec<&[u8]> = words.collect();
        match (keyword, words.as_slice()) {
            (b"log", &[key]) => self.log(key, None),
            (b"log", &[key, url]) => self.log(key, Some(url)),
            (b"witness", &[name, key]) => self.witness(name, key, None),
            (b"witness", &[name, key, url]) => self.witness(name, key, Some(url)),
            (b"group", &[name, threshold, ref members @ ..]) if !members.is_empty() => {
                self.group(name, threshold, members)
            }
            (b"quorum", &[name]) => self.quorum(name),
            (b"log" | b"witness" | b"group" | b"quorum", _) => Err(PolicyLineError::Words),
            _ => Err(PolicyLineError::Keyword),
        }
    }

    fn log(&mut self, key: &[u8], url: Option<&[u8]>) -> Result<(), PolicyLineError> {
        let key = parse_key(key)?;
        if key.algorithm() != SignatureAlgorithm::Ed25519 {
            return Err(PolicyLineError::KeyAlgorithm);
        }
        self.log_keys.insert(&key, PolicyLineError::DuplicateLog)?;
        if self.logs.len() == MAX_LOGS {
            return Err(PolicyLineError::TooManyLogs);
        }
        self.logs.push(PolicyLog { key, url: url.map(Box::from) });
        Ok(())
    }

    fn witness(
        &mut self,
        name: &[u8],
        key: &[u8],
        url: Option<&[u8]>,
    ) -> Result<(), PolicyLineError> {
        // A witness' key that is published as type 0x01 means the cosigner with that key.
        let key = cosigner_from_note_key(&parse_key(key)?);
        self.witness_keys.insert(&key, PolicyLineError::DuplicateWitness)?;
        if self.witnesses.len() == MAX_WITNESSES {
            return Err(PolicyLineError::TooManyWitnesses);
        }
        let name = self.define(name, Member::Witness(self.witnesses.len()))?;
        self.witnesses.push(PolicyWitness { name, key, url: url.map(Box::from) });
        Ok(())
    }

    fn group(
        &mut self,
        name: &[u8],
        threshold: &[u8],
        members: &[&[u8]],
    ) -> Result<(), PolicyLineError> {
        let threshold = parse_threshold(threshold, members.len())?;
        if self.groups.len() == MAX_GROUPS {
            return Err(PolicyLineError::TooManyGroups);
        }
        // Members first: a group is not a member of itself.
        let members = members.iter().map(|member| self.member(member)).collect::<Result<_, _>>()?;
        let name = self.define(name, Member::Group(self.groups.len()))?;
        self.groups.push(Group { name, threshold, members });
        Ok(())
    }

    fn quorum(&mut self, name: &[u8]) -> Result<(), PolicyLineError> {
        if self.quorum.is_some() {
            return Err(PolicyLineError::SecondQuorum);
        }
        self.quorum =
            Some(if name == NONE { Quorum::None } else { Quorum::Of(self.lookup(name)?) });
        Ok(())
    }

    fn define(&mut self, name: &[u8], member: Member) -> Result<PolicyName, PolicyLineError> {
        let name = parse_name(name)?;
        if self.names.insert(name.clone(), member).is_some() {
            return Err(PolicyLineError::DuplicateName { name });
        }
        Ok(name)
    }

    fn lookup(&self, name: &[u8]) -> Result<Member, PolicyLineError> {
        let name = parse_name(name)?;
        self.names.get(&name).copied().ok_or(PolicyLineError::UndefinedName { name })
    }

    fn member(&mut self, name: &[u8]) -> Result<Member, PolicyLineError> {
        let member = self.lookup(name)?;
        if !self.members.insert(member) {
            return Err(PolicyLineError::MemberTwice { name: parse_name(name)? });
        }
        Ok(member)
    }
}

/// The keys of all logs or of all witnesses.
#[derive(Default)]
struct SeenKeys {
    public_keys: HashSet<NotePublicKey>,
    identities: HashSet<(KeyName, KeyId)>,
}

impl SeenKeys {
    /// Whatever the name and the key ID, one public key is one party.
    fn insert(
        &mut self,
        key: &VerifierKey,
        duplicate: PolicyLineError,
    ) -> Result<(), PolicyLineError> {
        if !self.public_keys.insert(key.public_key().clone()) {
            return Err(duplicate);
        }
        if !self.identities.insert((key.name().clone(), key.key_id())) {
            return Err(PolicyLineError::AmbiguousKey);
        }
        Ok(())
    }
}

fn parse_key(word: &[u8]) -> Result<VerifierKey, PolicyLineError> {
    let text = str::from_utf8(word).map_err(|_| KeyError::Name)?;
    Ok(text.parse()?)
}

fn parse_name(word: &[u8]) -> Result<PolicyName, PolicyLineError> {
    if word == NONE {
        return Err(PolicyLineError::ReservedName);
    }
    if word.len() > MAX_NAME_BYTES {
        return Err(PolicyLineError::NameTooLong);
    }
    Ok(PolicyName(Box::from(word)))
}

fn parse_threshold(word: &[u8], members: usize) -> Result<usize, PolicyLineError> {
    match word {
        b"all" => Ok(members),
        b"any" => Ok(1),
        number => {
            let number = str::from_utf8(number).map_err(|_| PolicyLineError::ThresholdForm)?;
            let number = parse_decimal(number).map_err(|_| PolicyLineError::ThresholdForm)?;
            match usize::try_from(number) {
                Ok(threshold) if (1..=members).contains(&threshold) => Ok(threshold),
                _ => Err(PolicyLineError::ThresholdRange { members }),
            }
        }
    }
}
