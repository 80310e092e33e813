//! A progress bar where somebody can see it, and nothing where nobody can.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressStyle};

use super::report::Form;

/// A bar over bytes on standard error; hidden unless that is a terminal and text is wanted.
pub(super) fn bytes(total: u64, form: Form) -> ProgressBar {
    if form == Form::Json || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    let template = "{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    // The template is a constant; the default style would do as well.
    bar.set_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.set_message("hashing");
    bar
}

/// A bar over entries whose number comes to be known on the way; hidden as [`bytes`] is.
pub(super) fn entries(form: Form) -> ProgressBar {
    if form == Form::Json || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    let template = "[{bar:30}] {pos}/{len} entries {per_sec} {eta}";
    bar.set_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar
}
