//! The outermost points of many, to frame a camera on.
//!
//! 128 directions are spread over the sphere (a spiral with the golden angle), and the farthest point along each is kept.

/// Directions that are looked along. More of them frame tighter; with these a camera is at most 2 percent farther away.
const DIRECTIONS: usize = 128;
/// Radians between neighbours of a sunflower's seeds.
const GOLDEN_ANGLE: f32 = 2.399_963_2;

/// The space that a moving object fills: its bounds, and the farthest point along each of 128 directions. Frames are added one after
/// another; memory does not grow.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// Each with how far along its direction it is.
    farthest: Vec<([f32; 3], f32)>,
    bounds: Option<([f32; 3], [f32; 3])>,
}

/// Even over the ball.
fn direction(i: usize) -> [f32; 3] {
    let y = 1.0 - 2.0 * (i as f32 + 0.5) / DIRECTIONS as f32;
    let (sin, cos) = (GOLDEN_ANGLE * i as f32).sin_cos();
    let r = (1.0 - y * y).sqrt();
    [r * cos, y, r * sin]
}

impl Extent {
    /// Adds points, in metres. Points that are not finite are ignored. 128 dot products per point.
    pub fn add(&mut self, points: impl IntoIterator<Item = [f32; 3]>) {
        let directions: Vec<[f32; 3]> = (0..DIRECTIONS).map(direction).collect();
        for p in points {
            if !p.iter().all(|c| c.is_finite()) {
                continue;
            }
            if self.farthest.is_empty() {
                self.farthest = vec![(p, f32::NEG_INFINITY); DIRECTIONS];
            }
            let (lo, hi) = self.bounds.get_or_insert((p, p));
            for c in 0..3 {
                lo[c] = lo[c].min(p[c]);
                hi[c] = hi[c].max(p[c]);
            }
            for (d, best) in directions.iter().zip(&mut self.farthest) {
                let along = d[0] * p[0] + d[1] * p[1] + d[2] * p[2];
                if along > best.1 {
                    *best = (p, along);
                }
            }
        }
    }

    /// Lowest and highest corner of the bounding box; `None` before the first finite point.
    pub fn bounds(&self) -> Option<([f32; 3], [f32; 3])> {
        self.bounds
    }

    /// The points to frame, at most 128. [`crate::Camera::framing`] of them shows all points that were added, up to a rim thinner than its
    /// margin. Empty before the first point.
    pub fn points(&self) -> Vec<[f32; 3]> {
        let mut out: Vec<[f32; 3]> = self.farthest.iter().map(|f| f.0).collect();
        out.dedup();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Camera;

    /// Points of a lumpy ball.
    fn lumps() -> Vec<[f32; 3]> {
        let lump = |i: usize| {
            let a = i as f32 * 0.618;
            let b = i as f32 * 0.211;
            let r = 1.0 + 0.4 * (3.0 * a).sin() * (2.0 * b).cos();
            [
                r * a.cos() * b.sin(),
                2.0 * r * b.cos(),
                r * a.sin() * b.sin(),
            ]
        };
        (0..5000).map(lump).collect()
    }

    #[test]
    fn framing_the_extent_shows_everything_and_little_more() {
        let points = lumps();
        let mut extent = Extent::default();
        for frame in points.chunks(700) {
            extent.add(frame.iter().copied());
        }
        for yaw in [0.0_f32, 0.7, 2.0, 4.0] {
            let camera = Camera::framing(&extent.points(), yaw, 0.3, 1.5);
            let exact = Camera::framing(&points, yaw, 0.3, 1.5);
            for p in &points {
                let [x, y, _] = camera.project(*p, 1.5, 1.0).expect("before the camera");
                assert!(
                    (0.0..=1.5).contains(&x) && (0.0..=1.0).contains(&y),
                    "{p:?}"
                );
            }
            assert!((camera.distance / exact.distance - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn bounds_are_exact_and_nonsense_does_not_count() {
        let mut extent = Extent::default();
        assert_eq!(extent.bounds(), None);
        extent.add([
            [f32::NAN, 0.0, 0.0],
            [1.0, 2.0, 3.0],
            [f32::INFINITY; 3],
            [-1.0, 5.0, 0.0],
        ]);
        assert_eq!(extent.bounds(), Some(([-1.0, 2.0, 0.0], [1.0, 5.0, 3.0])));
        assert!(
            extent
                .points()
                .iter()
                .all(|p| p.iter().all(|c| c.is_finite()))
        );
    }
}
