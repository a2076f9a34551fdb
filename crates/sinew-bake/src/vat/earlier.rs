//! Whose place a bake would take in a folder.

use super::job::name_of;
use super::settings::VatSettings;
use crate::report::sequence_in;
use crate::{BakeError, FrameSource};
use std::path::Path;

/// The report of a bake.
pub(crate) fn report_file(name: &str) -> String {
    format!("{name}.report.html")
}

/// The sequence whose bake of that name is in a folder, if there is one and it says so. That of another sequence is an error, unless the name was asked
/// for: names that differ may become one where files cannot have their characters, or on disks that know no capitals.
pub(crate) fn earlier(
    out: &Path,
    name: &str,
    sequence: &str,
    settings: &VatSettings,
) -> Result<Option<String>, BakeError> {
    let path = out.join(report_file(name));
    if !path.is_file() {
        return Ok(None);
    }
    let found = sequence_in(&sinew_io::read_text(&path)?);
    match found {
        Some(found) if found != sequence && settings.name.is_none() => Err(BakeError::OtherBake {
            path,
            found,
            sequence: sequence.into(),
        }),
        found => Ok(found),
    }
}

/// Whether a bake may be written into a folder, before anything is done for it.
///
/// # Errors
/// [`BakeError::OtherBake`]; [`BakeError::Io`] where what is there cannot be read.
pub(crate) fn check(
    source: &dyn FrameSource,
    settings: &VatSettings,
    out: &Path,
) -> Result<(), BakeError> {
    let sequence = source.name();
    earlier(out, &name_of(sequence, settings), sequence, settings).map(|_| ())
}
