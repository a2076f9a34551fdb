//! Loops that end in the frame that they begin with. Programs export them so, since their own players stop there; a player that goes on with the
//! first frame would show it twice.

use crate::{BakeError, FrameRange, FrameSource};
use sinew_geom::Mesh;

/// How far vertices may be apart for two frames to be the same, as a share of the diagonal of the box.
const SAME: f32 = 1e-5;

/// Whether the last frame of a clip shows the first one again, and the one before it does not. Loads these three frames, so that it is for
/// sources whose frames are had in any order.
///
/// # Errors
/// [`BakeError`] where one of them cannot be had.
pub fn is_closed(source: &dyn FrameSource, clip: &FrameRange) -> Result<bool, BakeError> {
    if clip.count < 3 {
        return Ok(false);
    }
    let last = clip.first + clip.count - 1;
    let first = source.load(clip.first)?.mesh;
    Ok(is_same(&first, &source.load(last)?.mesh) && !is_same(&first, &source.load(last - 1)?.mesh))
}

fn is_same(a: &Mesh, b: &Mesh) -> bool {
    if a.topology.triangles() != b.topology.triangles() || a.positions.len() != b.positions.len() {
        return false;
    }
    let (low, high) = sinew_geom::bounds(&a.positions).unwrap_or_default();
    let diagonal = (0..3)
        .map(|c| (high[c] - low[c]).powi(2))
        .sum::<f32>()
        .sqrt();
    let apart =
        |(a, b): (&[f32; 3], &[f32; 3])| (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
    a.positions
        .iter()
        .zip(&b.positions)
        .map(apart)
        .all(|d| d <= SAME * diagonal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeshFrames;
    use sinew_testkit::meshes;

    /// A cube at these places along x.
    fn frames(places: &[f32]) -> MeshFrames {
        let at = |x: &f32| {
            let mut cube = meshes::cube();
            cube.positions.iter_mut().for_each(|p| p[0] += x);
            cube
        };
        MeshFrames::new("cube", places.iter().map(at).collect())
    }

    #[test]
    fn a_clip_is_closed_where_its_last_frame_is_its_first() {
        let closed = |places: &[f32], first: usize, count: usize| {
            let name = "clip".into();
            is_closed(&frames(places), &FrameRange { name, first, count }).expect("in memory")
        };
        assert!(closed(&[0.0, 1.0, 2.0, 0.0], 0, 4));
        assert!(closed(&[9.0, 0.0, 1.0, 1e-6, 9.0], 1, 3));
        assert!(!closed(&[0.0, 1.0, 2.0, 0.1], 0, 4), "somewhere else");
        assert!(!closed(&[0.0, 1.0, 0.0, 0.0], 0, 4), "still at its end");
        assert!(!closed(&[0.0, 0.0, 0.0], 0, 3), "still");
        assert!(!closed(&[0.0, 0.0], 0, 2));
    }
}
