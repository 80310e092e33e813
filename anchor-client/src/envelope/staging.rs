//! Putting a bundle's files into a directory that isn't there yet.

use anchorlog_verifier::gad::container::Bundle;

use super::error::EnvelopeError;
use super::open::unreadable;
use crate::durable::StagedDirectory;

/// Copies the members of `bundle` that `wanted` names, byte for byte and one at a time.
pub(super) fn copy(
    bundle: &Bundle,
    bundle_path: &std::path::Path,
    wanted: impl Fn(&str) -> bool,
    staged: &mut StagedDirectory,
) -> Result<(), EnvelopeError> {
    for (path, _) in bundle.members().filter(|(path, _)| wanted(path)) {
        let mut reader =
            bundle.reader(path).map_err(|findings| unreadable(bundle_path, findings))?;
        staged.write(path, &mut reader)?;
    }
    Ok(())
}
