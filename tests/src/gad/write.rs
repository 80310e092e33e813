//! The suite as files: a directory per vector, the policies and trust directories they share, and an index.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use anchorlog_proto::Digest;
use serde_json::{Value as Json, json};

use super::case::Vector;
use super::record::Files;
use super::render::Bundle;

/// Every file of the suite, by its path.
#[must_use]
pub fn files(vectors: &[Vector]) -> Files {
    let mut files = Files::new();
    let mut policies: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    let mut index = String::from("name\tbase\tlevel\texpected\tmust_codes\n");
    for vector in vectors {
        let at = |name: &str| format!("{}/{name}", vector.name);
        let policy = vector.policy.as_ref().map(|bytes| {
            let name = policies.entry(bytes.clone()).or_insert_with(|| vector.name.clone());
            format!("../policies/{name}.json")
        });
        let (members, more) = &vector.inputs;
        let mut inputs = members.clone();
        inputs.insert("trust".into(), format!("../trust/{}", vector.trust.0).into());
        for (name, bytes) in &vector.trust.1 {
            files.insert(format!("trust/{}/{name}", vector.trust.0), bytes.clone());
        }
        files.extend(more.iter().map(|(name, bytes)| (at(name), bytes.clone())));
        let bundle = match &vector.bundle {
            Bundle::Tar(bytes) => {
                files.insert(at("bundle.tar"), bytes.clone());
                "bundle.tar"
            }
            Bundle::Directory(members) => {
                let under = |(path, bytes): (&String, &Vec<u8>)| {
                    (at(&format!("bundle/{path}")), bytes.clone())
                };
                files.extend(members.iter().map(under));
                "bundle"
            }
        };
        inputs.insert("bundle".into(), bundle.into());
        let document = json!({
            "name": vector.name, "base": vector.base, "level": vector.level.as_str(),
            "clause": vector.clause, "why": vector.why, "policy": policy, "inputs": inputs,
            "expected": vector.expected,
        });
        files.insert(at("vector.json"), pretty(&document));
        index.push_str(&line(vector));
    }
    let policies = policies.into_iter();
    files.extend(policies.map(|(bytes, name)| (format!("policies/{name}.json"), bytes)));
    files.insert("INDEX.tsv".into(), index.into_bytes());
    for (name, answer) in RUNNERS {
        files.insert(format!("runners/{name}"), format!("#!/bin/sh\n{answer}\n").into_bytes());
    }
    files
}

/// Replay runners that say the same of everything; every verdict they are asked about is a pass.
const RUNNERS: [(&str, &str); 3] = [
    ("agrees", r#"echo '{"exit_code":0,"result":"pass","schema":"gad.replay-result/1"}'"#),
    ("disagrees", r#"echo '{"exit_code":1,"result":"fail","schema":"gad.replay-result/1"}'"#),
    ("unavailable", "exit 1"),
];

fn pretty(document: &Json) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(document).expect("JSON");
    bytes.push(b'\n');
    bytes
}

fn line(vector: &Vector) -> String {
    let expected = &vector.expected;
    let valid = if expected["valid"] == true { "VALID" } else { "INVALID" };
    let defensible = match expected["defensible"].as_bool() {
        Some(true) => " DEFENSIBLE",
        Some(false) => " not-defensible",
        None => "",
    };
    let outcome = expected["outcome"].as_str().unwrap_or_default();
    let codes: Vec<_> =
        expected["must_codes"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    format!(
        "{}\t{}\t{}\t{valid} {outcome}{defensible}\t{}\n",
        vector.name,
        vector.base,
        vector.level.as_str(),
        codes.join(",")
    )
}

/// Writes the suite into `directory`, in the place of what was generated there before; `README.md` stays.
///
/// # Errors
/// What the file system says.
pub fn write(directory: &Path, files: &Files) -> io::Result<()> {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        }
    }
    for (name, bytes) in files {
        let path = directory.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, bytes)?;
        #[cfg(unix)]
        if name.starts_with("runners/") {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// What differs between `directory` and the suite as it is generated now, by path.
///
/// # Errors
/// What the file system says.
pub fn drift(directory: &Path, files: &Files) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    let mut there = BTreeMap::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(name) = path.strip_prefix(directory) {
                let name = name.to_string_lossy().into_owned();
                there.insert(name, Digest::of(&fs::read(&path)?));
            }
        }
    }
    there.remove("README.md");
    for (name, bytes) in files {
        match there.remove(name) {
            None => found.push(format!("{name} is missing")),
            Some(digest) if digest != Digest::of(bytes) => found.push(format!("{name} differs")),
            Some(_) => {}
        }
    }
    found.extend(there.into_keys().map(|name| format!("{name} is there and isn't generated")));
    Ok(found)
}
