//! What a sequence is.

use super::job::VatJob;
use super::mode::{self, check_quantities};
use super::plan::RetriangulatedPlan;
use super::records::ScanRecord;
use super::retriangulated::measured_retriangulated;
use super::settings::Mode;
use super::tearing::is_torn;
use crate::{BakeError, Watch};

/// What a sequence is taken as, and where its triangles are loose though they might have stayed the same, what frames cut otherwise than the first one:
/// a surface that is farther off than [`RetriangulatedPlan::unasked`] is taken only where it is asked for, or where nothing else can be.
pub(crate) fn chosen_mode(
    job: &VatJob,
    scans: &[ScanRecord],
    watch: &Watch<'_>,
) -> Result<(Mode, Option<RetriangulatedPlan>), BakeError> {
    let settings = job.settings();
    if let Some(mode) = settings.mode {
        return Ok((mode, None));
    }
    let mut mode = settings.convention.preferred(mode_of(job, scans));
    let is_fit = |mode: Mode| {
        let convention = &settings.convention;
        let fits = convention.check_sequence(settings, mode, job.frame_count());
        fits.is_ok() && check_quantities(mode::of(mode), &settings.textures_of(mode)).is_ok()
    };
    let far = |mode: Mode| {
        let is_torn = mode == Mode::Soft && is_torn(scans, false);
        let found = measured_retriangulated(job, (mode, is_torn), scans, watch)?;
        Ok::<_, BakeError>(found.filter(RetriangulatedPlan::is_far))
    };
    if mode == Mode::Rigid && is_fit(Mode::Soft) && far(Mode::Rigid)?.is_some() {
        // Vertices have one more in the middle of a quad, pieces have not.
        mode = Mode::Soft;
    }
    match mode == Mode::Soft && is_fit(Mode::Remesh) {
        true => Ok(match far(Mode::Soft)? {
            Some(retriangulated) => (Mode::Remesh, Some(retriangulated)),
            None => (Mode::Soft, None),
        }),
        false => Ok((mode, None)),
    }
}

/// By what was seen of all frames: points, pieces that keep their shape, triangles that stay the same, even though vertices are split along tears, or
/// triangles that change.
fn mode_of(job: &VatJob, scans: &[ScanRecord]) -> Mode {
    let mut modes = mode::ALL.into_iter();
    let found = modes.find(|m| mode::of(*m).takes(job, scans));
    found.unwrap_or(Mode::Remesh)
}
