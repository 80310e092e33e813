//! Other spellings and forms of the same.

use serde_json::json;

use super::Base;
use super::runs::minimal;
use crate::gad::case::Status;
use crate::gad::record::{Form, Record};

/// The bases of this file.
pub const ALL: &[Base] = &[
    (scalar, &[], &["R3.DISPATCH.SCALAR"]),
    (extended, &[], &["J.UNKNOWN_FIELD", "J.NAME_FORM"]),
    (directory, &[], &[]),
    (core_alone, &[], &["R1.ENV.MISSING"]),
];

/// A record of specification version 0.6 with its scalar spelling of dispatch.
#[must_use]
pub fn scalar() -> Record {
    let mut r = minimal();
    (r.base, r.clause) = ("scalar-dispatch", "S1 REG-29");
    r.why = "a record of version 0.6 names the node of a dispatch as a scalar";
    r.spec_version = "0.6";
    r.unset("d-s", "/nodes");
    r.set("d-s", "/node", "n");
    r
}

/// `ext` in every object that may hold it.
#[must_use]
pub fn extended() -> Record {
    let mut r = super::gates::claimed();
    (r.base, r.clause) = ("extended", "gad-formats 1 ext");
    r.why = "ext is hashed and signed with its object and never read, names of any script included";
    let ext = || json!({"vendor": {"ünïcode": [1, null, true]}, "n": -7});
    for entry in &mut r.entries {
        entry.p["ext"] = ext();
    }
    for pointer in ["", "/meta", "/N/0", "/N/0/T/0/spec", "/authorized_principals/0"] {
        r.plan(&format!("{pointer}/ext"), ext());
    }
    if let Some(operator) = &mut r.operator {
        operator["ext"] = ext();
    }
    r.claim("/ext", ext());
    r.claim("/claims/0/ext", ext());
    r.claim("/claims/7/body/ext", ext());
    r.manifest(move |manifest| manifest["ext"] = ext());
    r.envelope(move |envelope| envelope["ext"] = ext());
    r
}

/// The bundle as a directory.
#[must_use]
pub fn directory() -> Record {
    let mut r = minimal();
    (r.base, r.clause) = ("directory", "S2 bundle");
    r.why = "the same bundle as a directory";
    r.form = Form::Directory;
    r
}

/// A core without an envelope, as EXPORT checks it.
#[must_use]
pub fn core_alone() -> Record {
    let mut r = minimal();
    (r.base, r.clause) = ("core-alone", "A1 EXPORT");
    r.why = "a core alone: the envelope's half of R1 is not evaluated";
    r.form = Form::Core;
    r.status = Status::COMPLETED;
    r
}
