//! The lattice at one vertex, generic over precision: the reference for the fast kernels.

use super::basis::AxisBasis;
use super::bind::{Interpolation, LatticeBind, Outside};
use super::cage::Cage;
use sinew_geom::{Affine, Mat3, Real, Vec3};

/// Displacement of a point at full strength, in metres of scene space, and its derivative by the position in scene space.
#[derive(Clone, Copy, Debug)]
pub struct Displacement<R: Real> {
    /// What to add to the position.
    pub offset: Vec3<R>,
    /// Column `c` is the derivative of `offset` by scene coordinate `c`.
    pub gradient: Mat3<R>,
}

/// Weights of one vertex along the three axes; kept between vertices so as not to be cleared for each.
#[derive(Clone, Debug)]
pub(super) struct VertexBasis<R: Real> {
    axes: [AxisBasis<R>; 3],
    eased: [AxisBasis<R>; 3],
}

impl<R: Real> VertexBasis<R> {
    pub(super) fn new() -> Self {
        let axes = || [AxisBasis::new(), AxisBasis::new(), AxisBasis::new()];
        Self {
            axes: axes(),
            eased: axes(),
        }
    }
}

/// Displacement at lattice parameters `stu` (0 to 1 across the box); `None` where the lattice does not reach.
pub(super) fn displacement<R: Real>(
    bind: &LatticeBind,
    cage: &Cage<R>,
    basis: &mut VertexBasis<R>,
    stu: Vec3<R>,
) -> Option<Displacement<R>> {
    let (distance, direction) = distance_to_box(&cage.scene_from_unit.linear, stu);
    let is_beyond = |a: usize| stu[a] < -cage.edge[a] || stu[a] > R::one() + cage.edge[a];
    let (fade, slope) = match bind.config.outside {
        Outside::None if (0..3).any(is_beyond) => return None,
        Outside::Falloff => fade(distance, cage.falloff_distance),
        _ => (R::one(), R::zero()),
    };
    if fade == R::zero() {
        return None;
    }
    let (offset, by_stu) = interpolate(bind, cage, basis, stu);
    let by_stu = by_stu * fade + offset * (direction * slope).transpose();
    Some(Displacement {
        offset: offset * fade,
        gradient: by_stu * cage.unit_from_scene.linear,
    })
}

/// Sum over control points, and its derivative by `stu`.
fn interpolate<R: Real>(
    bind: &LatticeBind,
    cage: &Cage<R>,
    basis: &mut VertexBasis<R>,
    stu: Vec3<R>,
) -> (Vec3<R>, Mat3<R>) {
    for a in 0..3 {
        basis.axes[a].evaluate(&bind.rules[a], stu[a], false);
    }
    let [x, y, z] = &basis.axes;
    if bind.config.interpolation != Interpolation::CellEased {
        return tensor_sum(bind, cage, [x, y, z]);
    }
    for a in 0..3 {
        basis.eased[a].evaluate(&bind.rules[a], stu[a], true);
    }
    // Along its own direction a component is linear, across it eased. Components are the box's axes.
    let [ex, ey, ez] = &basis.eased;
    let sums = [[x, ey, ez], [ex, y, ez], [ex, ey, z]].map(|axes| tensor_sum(bind, cage, axes));
    let offset = Vec3::from_fn(|r, _| sums[r].0[r]);
    let gradient = Mat3::from_fn(|r, c| sums[r].1[(r, c)]);
    let linear = &cage.scene_from_unit.linear;
    (linear * offset, linear * gradient)
}

fn tensor_sum<R: Real>(
    bind: &LatticeBind,
    cage: &Cage<R>,
    [x, y, z]: [&AxisBasis<R>; 3],
) -> (Vec3<R>, Mat3<R>) {
    let [nx, ny] = [bind.rules[0].points, bind.rules[1].points];
    let mut sum = [Vec3::zeros(); 4];
    for k in 0..z.len {
        let mut plane = [Vec3::zeros(); 3];
        for j in 0..y.len {
            let first = x.start + nx * (y.start + j + ny * (z.start + k));
            let mut row = [Vec3::zeros(); 2];
            let points = cage.offsets.get(first..).unwrap_or(&[]);
            for ((p, &w), &d) in points.iter().zip(&x.w[..x.len]).zip(&x.d) {
                row[0] += p * w;
                row[1] += p * d;
            }
            plane[0] += row[0] * y.w[j];
            plane[1] += row[1] * y.w[j];
            plane[2] += row[0] * y.d[j];
        }
        sum[0] += plane[0] * z.w[k];
        sum[1] += plane[1] * z.w[k];
        sum[2] += plane[2] * z.w[k];
        sum[3] += plane[0] * z.d[k];
    }
    (sum[0], Mat3::from_columns(&sum[1..4]))
}

/// How far the point lies outside the box, metres in the scene, and the derivative of that by `stu`. In a sheared
/// box the way to it is along the box's axes.
fn distance_to_box<R: Real>(linear: &Mat3<R>, stu: Vec3<R>) -> (R, Vec3<R>) {
    let beyond = stu.map(|s| s - s.max(R::zero()).min(R::one()));
    let way = linear * beyond;
    let distance = way.norm();
    if distance <= R::zero() {
        return (distance, Vec3::zeros());
    }
    let by_stu = linear.transpose() * way / distance;
    let direction = by_stu.zip_map(&beyond, |g, b| if b == R::zero() { R::zero() } else { g });
    (distance, direction)
}

/// `1 - smoothstep(distance / reach)` and its derivative by distance.
fn fade<R: Real>(distance: R, reach: R) -> (R, R) {
    if distance <= R::zero() {
        return (R::one(), R::zero());
    }
    if distance >= reach {
        return (R::zero(), R::zero());
    }
    let n = R::from_double;
    let x = distance / reach;
    let slope = -n(6.0) * x * (R::one() - x) / reach;
    (R::one() - x * x * (n(3.0) - n(2.0) * x), slope)
}

/// A vertex: position, normal, tangent with bitangent sign.
pub(super) type Frame<R> = (Vec3<R>, Option<Vec3<R>>, Option<(Vec3<R>, R)>);

/// Adds `weight` times the displacement; carries the normal by the cofactor matrix and the tangent by the Jacobian.
pub(super) fn apply<R: Real>(
    displacement: &Displacement<R>,
    weight: R,
    (position, normal, tangent): Frame<R>,
) -> Frame<R> {
    let jacobian = Affine {
        linear: Mat3::identity() + displacement.gradient * weight,
        translation: Vec3::zeros(),
    };
    let direction = |from: Vec3<R>, to: Vec3<R>| {
        let squared = to.norm_squared();
        if squared > R::from_double(1e-30) && squared.is_finite() {
            to / squared.sqrt()
        } else {
            from
        }
    };
    let flips = jacobian.linear.determinant() < R::zero();
    (
        position + displacement.offset * weight,
        normal.map(|n| direction(n, jacobian.normal_matrix() * n)),
        tangent.map(|(t, sign)| {
            let t = direction(t, jacobian.linear * t);
            (t, if flips { -sign } else { sign })
        }),
    )
}
