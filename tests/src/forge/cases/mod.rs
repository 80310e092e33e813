//! The cases, by the rule they are about.

mod algorithms;
mod algorithms_sound;
mod attributes;
mod encodings;
mod forms_sound;
mod info;
mod paths;
mod paths_sound;
mod responses;
mod revocations;
mod revocations_unknown;
mod signatures;
mod signers;
mod structure;
mod trust;

use super::draft::List;

/// Adds all cases.
pub(super) fn add(list: &mut List<'_>) {
    algorithms_sound::add(list);
    forms_sound::add(list);
    responses::add(list);
    structure::add(list);
    info::add(list);
    attributes::add(list);
    algorithms::add(list);
    signatures::add(list);
    signers::add(list);
    paths_sound::add(list);
    paths::add(list);
    trust::add(list);
    revocations::add(list);
    revocations_unknown::add(list);
    encodings::add(list);
}
