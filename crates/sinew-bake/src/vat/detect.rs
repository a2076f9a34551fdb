//! What a sequence is.

use super::records::ScanRecord;
use super::settings::Mode;

/// By what was seen of all frames: triangles that stay the same, or not.
pub(crate) fn mode_of(scans: &[ScanRecord]) -> Mode {
    let Some(first) = scans.first() else {
        return Mode::Remesh;
    };
    let stays = scans.iter().all(|s| s.is_first_surface);
    match stays && first.triangles > 0 {
        true => Mode::Soft,
        false => Mode::Remesh,
    }
}
