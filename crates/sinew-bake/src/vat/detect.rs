//! What a sequence is.

use super::job::VatJob;
use super::records::ScanRecord;
use super::recut::{RecutPlan, measured_recut};
use super::rigid::is_rigid;
use super::settings::Mode;
use super::shapes::check_quantities;
use super::tearing::is_torn;
use crate::{BakeError, Watch};

/// What a sequence is taken as, and where its triangles are loose though they might have stayed the same, what frames cut otherwise than the first one:
/// a surface that is farther off than [`RecutPlan::unasked`] is taken only where it is asked for, or where nothing else can be.
pub(crate) fn chosen_mode(
    job: &VatJob,
    scans: &[ScanRecord],
    watch: &Watch<'_>,
) -> Result<(Mode, Option<RecutPlan>), BakeError> {
    let settings = job.settings();
    if let Some(mode) = settings.mode {
        return Ok((mode, None));
    }
    let mut mode = settings.convention.preferred(mode_of(job, scans));
    let is_fit = |mode: Mode| {
        let convention = settings.convention;
        let fits = convention.check_sequence(settings, mode, job.frame_count());
        fits.is_ok() && check_quantities(mode, &settings.textures_of(mode)).is_ok()
    };
    let far = |mode: Mode| {
        let is_torn = mode == Mode::Soft && is_torn(scans, false);
        let found = measured_recut(job, (mode, is_torn), scans, watch)?;
        Ok::<_, BakeError>(found.filter(RecutPlan::is_far))
    };
    if mode == Mode::Rigid && is_fit(Mode::Soft) && far(Mode::Rigid)?.is_some() {
        // Vertices have one more in the middle of a quad, pieces have not.
        mode = Mode::Soft;
    }
    match mode == Mode::Soft && is_fit(Mode::Remesh) {
        true => Ok(match far(Mode::Soft)? {
            Some(recut) => (Mode::Remesh, Some(recut)),
            None => (Mode::Soft, None),
        }),
        false => Ok((mode, None)),
    }
}

/// By what was seen of all frames: points, triangles that change, pieces that keep their shape, or triangles that
/// stay the same, even though vertices are split along tears.
fn mode_of(job: &VatJob, scans: &[ScanRecord]) -> Mode {
    let Some(first) = scans.first() else {
        return Mode::Remesh;
    };
    if scans.iter().all(|s| s.triangles == 0) && scans.iter().any(|s| s.vertices > 0) {
        return Mode::Particles;
    }
    let stays = scans.iter().all(|s| s.is_first_surface);
    match stays && first.triangles > 0 {
        true if is_rigid(job, scans) => Mode::Rigid,
        true => Mode::Soft,
        false if is_torn(scans, false) => Mode::Soft,
        false => Mode::Remesh,
    }
}
