//! What the deformer looks like: its axis, its limits, its widest section.

use super::published::{Bezier, cross_ratios};
use super::{Mode, SquashStretch};
use crate::Line;
use crate::local_frame::{LaneReal, LocalDeformer, LocalMap, MapVisitor, Placement};
use sinew_geom::{Affine, Real, Vec3};

/// One line for the axis, six for each of three planes.
pub(super) const LINES: usize = 1 + 3 * 6;

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

/// Displaced height of a point on the axis.
struct HeightOf(f64);

impl<R: LaneReal> MapVisitor<R> for HeightOf {
    type Output = f64;
    fn visit<M: LocalMap<R>>(self, map: M) -> f64 {
        let z = R::from_double(self.0);
        self.0 + map.at([R::zero(), R::zero(), z]).offset[2].to_double()
    }
}

/// Writes [`LINES`] segments, fewer where `out` is shorter.
pub(super) fn draw(settings: &SquashStretch, placement: &Placement, size: f64, out: &mut [Line]) {
    let scene = placement.scene_from_canonical();
    let region = settings.region();
    let moved = |z: f64| settings.with_map::<f64, _>(HeightOf(z));
    // The widest section is where the curve reaches 1/2: the inverse curve has the mirrored bias.
    let bias = match settings.mode {
        Mode::Even => 0.5,
        Mode::Published => settings.axis_bias.clamp(0.0, 1.0),
        Mode::VolumePreserving => settings.axis_bias.clamp(0.05, 0.95),
    };
    let (widest, _) = Bezier::<f64>::new(1.0 - bias).at(0.5);
    let middle = region.low + widest * (region.high - region.low);
    let [wide_x, wide_y] = cross_ratios(settings.stretch.max(1e-4), settings.cross_bias);
    let mut lines = Lines { out, next: 0 };
    lines.add(&scene, [0.0; 3], [0.0, 0.0, settings.length], BLUE);
    let [end_x, end_y] = match settings.mode {
        Mode::Even => [wide_x, wide_y],
        Mode::VolumePreserving | Mode::Published => [1.0, 1.0],
    };
    for (z, sx, sy) in [
        (region.low, end_x, end_y),
        (region.high, end_x, end_y),
        (middle, wide_x, wide_y),
    ] {
        lines.plane(&scene, moved(z), sx * size, sy * size);
    }
}

struct Lines<'a> {
    out: &'a mut [Line],
    next: usize,
}

impl Lines<'_> {
    fn add(&mut self, scene: &Affine<f64>, from: [f64; 3], to: [f64; 3], color: [f32; 4]) {
        let at = |p: [f64; 3]| f64::array3(scene.point(Vec3::from(p)));
        if let Some(line) = self.out.get_mut(self.next) {
            *line = Line {
                from: at(from),
                to: at(to),
                color,
            };
        }
        self.next += 1;
    }

    fn plane(&mut self, scene: &Affine<f64>, z: f64, sx: f64, sy: f64) {
        let corners = [[-sx, sy, z], [sx, sy, z], [sx, -sy, z], [-sx, -sy, z]];
        for c in 0..4 {
            self.add(scene, corners[c], corners[(c + 1) % 4], BLUE);
        }
        self.add(scene, [0.0, 0.0, z], [sx, 0.0, z], RED);
        self.add(scene, [0.0, 0.0, z], [0.0, sy, z], GREEN);
    }
}
