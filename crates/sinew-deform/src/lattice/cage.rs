//! The control points of one frame, made ready for the kernels, and their drawing.

use super::bind::{Interpolation, LatticeBind};
use crate::Line;
use sinew_geom::{Affine, Real, Vec3};

/// The control points of one frame.
#[derive(Clone, Debug)]
pub(super) struct Cage<R: Real> {
    /// Displacements of the grid points, x fastest: metres along the scene's axes, or for the eased lattice
    /// fractions of the box along its own.
    pub(super) offsets: Vec<Vec3<R>>,
    pub(super) unit_from_scene: Affine<R>,
    pub(super) scene_from_unit: Affine<R>,
    pub(super) falloff_distance: R,
    /// From [`rounding_at_faces`].
    pub(super) edge: Vec3<R>,
    /// False where this frame's lattice moves nothing: no points, a flat box.
    pub(super) active: bool,
}

impl<R: Real> Cage<R> {
    /// Room for the grid of `bind`.
    pub(super) fn new(bind: &LatticeBind) -> Self {
        Self {
            offsets: vec![Vec3::zeros(); bind.rules.iter().map(|r| r.points).product()],
            unit_from_scene: Affine::identity(),
            scene_from_unit: Affine::identity(),
            falloff_distance: R::zero(),
            edge: Vec3::zeros(),
            active: false,
        }
    }

    /// Takes over a frame's box and control points. Does not allocate.
    pub(super) fn set(
        &mut self,
        bind: &LatticeBind,
        box_transform: &Affine<f64>,
        points: &[[f64; 3]],
        falloff_distance: f64,
    ) {
        self.active = false;
        let Some(unit_from_scene) = bind.unit_from_scene(box_transform) else {
            return;
        };
        if points.is_empty() || points.len() != bind.point_count() {
            return;
        }
        let scene_from_unit = bind.scene_from_unit(box_transform);
        self.edge = rounding_at_faces(&unit_from_scene, &scene_from_unit).map(R::from_double);
        self.unit_from_scene = unit_from_scene.cast();
        self.scene_from_unit = scene_from_unit.cast();
        self.falloff_distance = R::from_double(falloff_distance);
        self.active = true;
        let eased = bind.config.interpolation == Interpolation::CellEased;
        let ring = |a: usize| usize::from(bind.rules[a].points > bind.resolution[a]);
        let [nx, ny, nz] = bind.resolution;
        let [rx, ry, _] = [0, 1, 2].map(|a| bind.rules[a].points);
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let offset = offset_in_scene(bind, box_transform, points, [i, j, k]);
                    let offset = if eased {
                        unit_from_scene.linear * offset
                    } else {
                        offset
                    };
                    let slot = (i + ring(0)) + rx * ((j + ring(1)) + ry * (k + ring(2)));
                    if let Some(o) = self.offsets.get_mut(slot) {
                        *o = offset.map(R::from_double);
                    }
                }
            }
        }
    }
}

/// How far, in fractions of the box, single precision may bring a point of a face outside along each axis: points up to there are inside.
pub(super) fn rounding_at_faces(
    unit_from_scene: &Affine<f64>,
    scene_from_unit: &Affine<f64>,
) -> Vec3<f64> {
    const STEPS: f64 = 4.0 * (f32::EPSILON as f64 / 2.0);
    let reach =
        scene_from_unit.linear.abs() * Vec3::repeat(1.0) + scene_from_unit.translation.abs();
    let terms = unit_from_scene.linear.abs() * reach + unit_from_scene.translation.abs();
    terms * STEPS
}

/// Rest position of a grid point in the box transform's space. One point on an axis sits in the middle.
pub(super) fn rest_point(bind: &LatticeBind, index: [usize; 3]) -> Vec3<f64> {
    let along = |a: usize| match bind.resolution[a] {
        0 | 1 => 0.5,
        n => index[a] as f64 / (n - 1) as f64,
    };
    bind.low_corner() + Vec3::from_fn(|a, _| along(a) * bind.config.size[a])
}

pub(super) fn offset_in_scene(
    bind: &LatticeBind,
    box_transform: &Affine<f64>,
    points: &[[f64; 3]],
    index: [usize; 3],
) -> Vec3<f64> {
    let [nx, ny, _] = bind.resolution;
    let Some(&point) = points.get(index[0] + nx * (index[1] + ny * index[2])) else {
        return Vec3::zeros();
    };
    let point = Vec3::from(point);
    let rest = rest_point(bind, index);
    match (bind.config.points_in_world, bind.config.points_are_offsets) {
        (true, true) => point,
        (true, false) => point - box_transform.point(rest),
        (false, true) => box_transform.linear * point,
        (false, false) => box_transform.linear * (point - rest),
    }
}

/// Rest positions of the control points in the space of the box transform, x fastest, then y, then z. A single point on an axis is in the
/// middle.
pub fn rest_points(bind: &LatticeBind) -> Vec<[f64; 3]> {
    let [nx, ny, nz] = bind.resolution;
    let mut points = Vec::with_capacity(bind.point_count());
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                points.push(rest_point(bind, [i, j, k]).into());
            }
        }
    }
    points
}

/// Draws the deformed cage: every edge between neighbouring control points, [`LatticeBind::edge_count`] of them.
pub(crate) fn draw_cage(
    bind: &LatticeBind,
    box_transform: &Affine<f64>,
    points: &[[f64; 3]],
    lines: &mut [Line],
) {
    let points = if points.len() == bind.point_count() {
        points
    } else {
        &[]
    };
    let at = |index: [usize; 3]| {
        let rest = box_transform.point(rest_point(bind, index));
        f64::array3(rest + offset_in_scene(bind, box_transform, points, index))
    };
    let mut lines = lines.iter_mut();
    let [nx, ny, nz] = bind.resolution;
    for axis in 0..3 {
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let from = [i, j, k];
                    let mut to = from;
                    to[axis] += 1;
                    if to[axis] >= bind.resolution[axis] {
                        continue;
                    }
                    if let Some(line) = lines.next() {
                        *line = Line {
                            from: at(from),
                            to: at(to),
                            color: [1.0, 0.6, 0.1, 1.0],
                        };
                    }
                }
            }
        }
    }
}
