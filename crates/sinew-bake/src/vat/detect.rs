//! What a sequence is.

use super::job::VatJob;
use super::records::ScanRecord;
use super::rigid::is_rigid;
use super::settings::Mode;
use super::tearing::is_torn;

/// By what was seen of all frames: points, triangles that change, pieces that keep their shape, or triangles that
/// stay the same, even though vertices are split along tears.
pub(crate) fn mode_of(job: &VatJob, scans: &[ScanRecord]) -> Mode {
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
