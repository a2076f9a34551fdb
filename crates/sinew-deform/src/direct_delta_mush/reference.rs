//! Direct delta mush as the paper writes it, to be read beside it.
//!
//! `dense_moments` is the setup, in double precision and with dense matrices, for tests of a few hundred vertices: time grows with the
//! cube of the vertices. Rows are used where the paper has columns: `B = (I + lambda D^-1 L)^-p` has rows that sum to one, and so
//! has `C = (I + kappa D^-1 L)^-p`. `D^-1 L` is the identity less the weighted mean of the neighbours.
//!
//! [`motion`] is one vertex of one frame, generic over precision.

#[cfg(test)]
use super::SmoothingSettings;
use super::joints::{Frame, JointFrame};
use super::rotation::nearest_rotation;
use super::{Moments, PairMoments, Variant};
#[cfg(test)]
use crate::laplacian::{MeanOperator, class_positions};
use sinew_geom::nalgebra::Quaternion;
#[cfg(test)]
use sinew_geom::nalgebra::{DMatrix, Matrix4, Vector4};
use sinew_geom::{Affine, Mat3, Quat, Real, Vec3};
#[cfg(test)]
use sinew_geom::{Mesh, index32};

/// The moments of every point and joint, double precision. A point is a weld class: all vertices at one position.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) struct DenseMoments {
    /// Point of each vertex.
    pub class_of_vertex: Vec<u32>,
    /// Smoothed rest position of each point, scene space.
    pub centers: Vec<Vec3<f64>>,
    /// For each point one symmetric matrix a joint, about the point's centre: second moments, first moments in the last
    /// column, weight in the last corner.
    pub omega: Vec<Vec<Matrix4<f64>>>,
}

/// Moments of a mesh; every pair of point and joint, also those that are zero. Vertices without influences have no weight.
///
/// `omega_ij = (1 - alpha) sum_k b_ik w_kj [u_k u_k^T, u_k; u_k^T, 1] + alpha sum_k c_ik w_kj [p_i p_i^T, p_i; p_i^T, 1]`, where
/// `p_i = sum_k b_ik u_k`; then moved by `-p_i`, which leaves of the second term only its weight. The settings' tolerance is not used.
#[cfg(test)]
pub(crate) fn dense_moments(
    mesh: &Mesh,
    joint_count: usize,
    settings: &SmoothingSettings,
) -> DenseMoments {
    let (operator, weld, _) = MeanOperator::build(mesh, &settings.laplacian);
    let points = class_positions(&weld, &mesh.positions).into_iter();
    let points: Vec<Vec3<f64>> = points.map(Vec3::from).collect();
    let weights = class_weights(
        mesh,
        &weld.class_of_vertex,
        points.len(),
        joint_count,
        settings,
    );
    let laplacian = normalized_laplacian(&operator);
    let b = smoothing(&laplacian, settings.lambda, settings.iterations);
    let c = smoothing(&laplacian, settings.kappa, settings.iterations);
    let n = points.len();
    let centers: Vec<Vec3<f64>> = (0..n)
        .map(|i| (0..n).map(|k| points[k] * b[(i, k)]).sum())
        .collect();
    let pair = |i: usize, j: usize| {
        let mut psi = Matrix4::zeros();
        let mut weight = 0.0;
        for (k, u) in points.iter().enumerate() {
            let x: Vector4<f64> = (u - centers[i]).push(1.0);
            psi += x * x.transpose() * (b[(i, k)] * weights[(k, j)]);
            weight += c[(i, k)] * weights[(k, j)];
        }
        let mut omega = psi * (1.0 - settings.alpha);
        omega[(3, 3)] += settings.alpha * weight;
        omega
    };
    let omega = (0..n)
        .map(|i| (0..joint_count).map(|j| pair(i, j)).collect())
        .collect();
    DenseMoments {
        class_of_vertex: weld.class_of_vertex,
        centers,
        omega,
    }
}

/// `I` less the matrix of means.
#[cfg(test)]
fn normalized_laplacian(operator: &MeanOperator) -> DMatrix<f64> {
    let n = operator.class_count();
    let mut out = DMatrix::identity(n, n);
    for i in 0..n {
        for (k, weight) in operator.row(i) {
            out[(i, k as usize)] -= weight;
        }
    }
    out
}

/// `(I + strength * laplacian)^-iterations`.
#[cfg(test)]
fn smoothing(laplacian: &DMatrix<f64>, strength: f64, iterations: u32) -> DMatrix<f64> {
    let n = laplacian.nrows();
    let lu = (DMatrix::identity(n, n) + laplacian * strength).lu();
    let mut out = DMatrix::identity(n, n);
    for _ in 0..iterations {
        // Never singular: each row's diagonal outweighs the rest of it by one.
        lu.solve_mut(&mut out);
    }
    out
}

/// Weights of each point: the mean of those of its vertices.
#[cfg(test)]
fn class_weights(
    mesh: &Mesh,
    class_of_vertex: &[u32],
    class_count: usize,
    joint_count: usize,
    settings: &SmoothingSettings,
) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(class_count, joint_count);
    let Some(influences) = &mesh.influences else {
        return out;
    };
    let mut members = vec![0.0_f64; class_count];
    for (v, &class) in class_of_vertex.iter().enumerate() {
        let range = influences.offsets()[v] as usize..influences.offsets()[v + 1] as usize;
        let joints = &influences.joints()[range.clone()];
        let weights = &influences.weights()[range];
        let row = joints.iter().zip(weights);
        if settings.strongest_only {
            for (&joint, _) in row.take(1) {
                out[(class as usize, joint as usize)] += 1.0;
            }
        } else {
            let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
            for (&joint, &w) in row {
                out[(class as usize, joint as usize)] += f64::from(w) / sum;
            }
        }
        members[class as usize] += 1.0;
    }
    for (class, &count) in members.iter().enumerate() {
        out.row_mut(class).iter_mut().for_each(|w| *w /= count);
    }
    out
}

#[cfg(test)]
impl DenseMoments {
    /// In the form that setup leaves, about the middle of the centres: one row a vertex, strongest joint first, without the pairs whose
    /// weight is at most `tolerance`. What those held goes to the strongest joint.
    #[cfg(test)]
    pub(crate) fn to_moments(&self, tolerance: f64) -> Moments {
        let count = self.centers.len().max(1) as f64;
        let origin = self.centers.iter().sum::<Vec3<f64>>() / count;
        let mut out = Moments {
            offsets: vec![0],
            origin: origin.into(),
            ..Moments::default()
        };
        for &class in &self.class_of_vertex {
            let class = class as usize;
            for (joint, omega) in kept(&self.omega[class], tolerance) {
                let m = |r: usize, c: usize| omega[(r, c)] as f32;
                out.joints.push(joint);
                out.pairs.push(PairMoments {
                    second: [m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)],
                    first: [m(0, 3), m(1, 3), m(2, 3)],
                    weight: m(3, 3),
                });
            }
            out.offsets.push(index32(out.joints.len()));
            let center = self.centers[class] - origin;
            out.centers.push(center.map(|x| x as f32).into());
        }
        out
    }
}

/// Joints of a row by falling weight; the first has what the ones left out held.
#[cfg(test)]
fn kept(row: &[Matrix4<f64>], tolerance: f64) -> Vec<(u32, Matrix4<f64>)> {
    let mut all: Vec<(u32, Matrix4<f64>)> = (0..).zip(row.iter().copied()).collect();
    all.sort_by(|a, b| b.1[(3, 3)].total_cmp(&a.1[(3, 3)]).then(a.0.cmp(&b.0)));
    let cut = all.iter().position(|(_, m)| m[(3, 3)] <= tolerance);
    let rest = all.split_off(cut.unwrap_or(all.len()).max(1).min(all.len()));
    if let Some(first) = all.first_mut() {
        first.1 += rest.iter().map(|r| r.1).sum::<Matrix4<f64>>();
    }
    all
}

/// The moments of one vertex.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its joints, strongest first; at least one.
    pub joints: &'a [u32],
    /// Its moments, as many as joints.
    pub pairs: &'a [PairMoments],
    /// Its smoothed rest position, less [`Frame::origin`].
    pub center: [f32; 3],
    /// From `inverse_sizes`.
    pub inverse_size: f32,
}

/// For each vertex one over the trace of its second moments; zero where that is no more than rounding of the mesh's size.
pub(crate) fn inverse_sizes(moments: &Moments) -> Vec<f32> {
    let trace = |p: &PairMoments| f64::from(p.second[0] + p.second[3] + p.second[5]);
    let rows = 0..moments.vertex_count();
    let sizes: Vec<f64> = rows
        .map(|v| moments.row(v).1.iter().map(trace).sum())
        .collect();
    let spread = moments.centers.iter().map(|&c| f64::vec3(c).norm_squared());
    let largest = sizes.iter().copied().chain(spread).fold(0.0, f64::max);
    let least = (largest * NO_SIZE).max(1e-30);
    let inverse = |size: f64| {
        if size > least {
            (1.0 / size).to_single()
        } else {
            0.0
        }
    };
    sizes.into_iter().map(inverse).collect()
}

/// Second moments up to this share of the square of the mesh's size are none.
const NO_SIZE: f64 = 1e-13;

/// The deformed position, in scene space, of a vertex whose rest position is `rest`, in scene space.
///
/// # Panics
/// If the row has no joint, or one that is not in `frame`.
pub fn place<R: Real>(
    variant: Variant,
    row: &Row<'_>,
    frame: &Frame<R>,
    rest: Vec3<f64>,
) -> Vec3<f64> {
    let near = (rest - frame.origin).map(R::from_double);
    let placed = motion(variant, row, frame).point(near - R::vec3(row.center));
    placed.map(|x| x.to_double()) + frame.reference
}

/// The motion of a vertex: from rest space about its centre to posed space less [`Frame::reference`].
///
/// With `M_j` the joints' matrices, `S_j`, `x_j`, `w_j` the moments and `d_j = M_j center`, the paper's `Q - q p^T` is
/// `A = sum_j M_j S_j + d_j x_j^T`, and `q = sum_j M_j x_j + w_j d_j`. First moments sum to zero and weights to one, so that `d_j` may
/// count from that of the strongest joint, which keeps numbers small.
pub fn motion<R: Real>(variant: Variant, row: &Row<'_>, frame: &Frame<R>) -> Affine<R> {
    let center = R::vec3(row.center);
    let items = || {
        let joints = row.joints.iter().map(|&j| &frame.joints[j as usize]);
        joints.zip(row.pairs)
    };
    let strongest = &frame.joints[row.joints[0] as usize];
    let stretch: Mat3<R> = items()
        .map(|(j, pair)| j.stretch * R::from_single(pair.weight))
        .sum();
    let linear = match variant {
        Variant::V0 | Variant::V1 => turn_by_moments(variant, row, frame) * stretch,
        Variant::V2 | Variant::V4 => blended_rotation(items(), strongest) * stretch,
        Variant::V3 => items()
            .map(|(j, pair)| j.matrix.linear * R::from_single(pair.weight))
            .sum(),
    };
    let start = strongest.matrix.point(center);
    let shift = |(j, pair): (&JointFrame<R>, &PairMoments)| {
        let by_weight = (j.matrix.point(center) - start) * R::from_single(pair.weight);
        match variant {
            Variant::V4 => by_weight,
            _ => by_weight + j.matrix.linear * R::vec3(pair.first),
        }
    };
    Affine {
        linear,
        translation: start + items().map(shift).sum::<Vec3<R>>(),
    }
}

/// The same motion, from rest space less [`Frame::origin`]: what a virtual bone is to the vertices that follow it.
pub(crate) fn bone_motion<R: Real>(variant: Variant, row: &Row<'_>, frame: &Frame<R>) -> Affine<R> {
    let m = motion(variant, row, frame);
    Affine {
        linear: m.linear,
        translation: m.translation - m.linear * R::vec3(row.center),
    }
}

/// The motion of a vertex that follows virtual bones, from rest space less [`Frame::origin`] to posed space less
/// [`Frame::reference`]: the weighted sum of their motions. `rows` has a row a bone, `weights` bones and weights that sum to one.
#[cfg(test)]
pub(crate) fn two_layers<R: Real>(
    variant: Variant,
    rows: &[Row<'_>],
    weights: impl Iterator<Item = (u32, f32)>,
    frame: &Frame<R>,
) -> Affine<R> {
    let mut out = Affine {
        linear: Mat3::zeros(),
        translation: Vec3::zeros(),
    };
    for (bone, weight) in weights {
        let (m, w) = (
            bone_motion(variant, &rows[bone as usize], frame),
            R::from_single(weight),
        );
        out.linear += m.linear * w;
        out.translation += m.translation * w;
    }
    out
}

/// The rotation of variants v0 and v1, from the joints' rotations times their scales, and from where their whole matrices bring the centre:
/// where joints of a stretched chain meet, those agree. What scales all joints scales both.
fn turn_by_moments<R: Real>(variant: Variant, row: &Row<'_>, frame: &Frame<R>) -> Mat3<R> {
    let center = R::vec3(row.center);
    let strongest = &frame.joints[row.joints[0] as usize];
    let start = strongest.matrix.point(center);
    let (mut posed, mut rest) = (Mat3::zeros(), Mat3::zeros());
    for (&joint, pair) in row.joints.iter().zip(row.pairs) {
        let joint = &frame.joints[joint as usize];
        let second = symmetric(pair.second.map(R::from_single));
        let arm = joint.matrix.point(center) - start;
        posed += joint.turn * second * joint.scale + arm * R::vec3(pair.first).transpose();
        rest += second;
    }
    let scale = R::from_single(row.inverse_size);
    let pull = R::from_double(variant.pull());
    let posed = posed * (scale / strongest.scale) + strongest.turn * pull;
    if variant == Variant::V0 {
        return nearest_rotation(&posed);
    }
    let rest = rest * scale + Mat3::identity() * pull;
    let (x, y, z) = (posed.column(0), posed.column(1), posed.column(2));
    let cofactor = Mat3::from_columns(&[y.cross(&z), z.cross(&x), x.cross(&y)]);
    let turn = cofactor * rest;
    let length = turn.norm();
    if length > R::from_double(1e-12) {
        turn * (R::from_double(3.0).sqrt() / length)
    } else {
        strongest.turn
    }
}

fn symmetric<R: Real>([xx, xy, xz, yy, yz, zz]: [R; 6]) -> Mat3<R> {
    Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
}

/// The weighted sum of quaternions, each on the side of the strongest joint's.
fn blended_rotation<'a, R: Real>(
    items: impl Iterator<Item = (&'a JointFrame<R>, &'a PairMoments)>,
    strongest: &JointFrame<R>,
) -> Mat3<R> {
    let pivot = strongest.rotation.into_inner();
    let mut sum = Quaternion::from_parts(R::zero(), Vec3::zeros());
    for (j, pair) in items {
        let q = j.rotation.into_inner();
        let w = R::from_single(pair.weight);
        sum += q * if q.dot(&pivot) < R::zero() { -w } else { w };
    }
    let q = if sum.norm() > R::from_double(1e-12) {
        sum
    } else {
        pivot
    };
    Quat::from_quaternion(q).to_rotation_matrix().into_inner()
}

/// The rule of variant v5: linear skinning with the weights of the moments.
#[cfg(test)]
pub(crate) fn linear_motion<R: Real>(row: &Row<'_>, frame: &Frame<R>) -> Affine<R> {
    let center = R::vec3(row.center);
    let mut out = Affine {
        linear: Mat3::zeros(),
        translation: Vec3::zeros(),
    };
    for (&joint, pair) in row.joints.iter().zip(row.pairs) {
        let (m, w) = (
            &frame.joints[joint as usize].matrix,
            R::from_single(pair.weight),
        );
        out.linear += m.linear * w;
        out.translation += m.point(center) * w;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Influences, Topology};

    /// Two triangles that share an edge, the two far corners with a joint each.
    fn two_triangles() -> Mesh {
        let topology = Topology::new(4, vec![[0, 1, 2], [2, 1, 3]]).expect("valid");
        let points = vec![
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 0.5],
        ];
        let mut mesh = Mesh::new("two", topology, points);
        let rows: [&[(u32, f32)]; 4] =
            [&[(0, 1.0)], &[(0, 0.5), (1, 0.5)], &[(0, 1.0)], &[(1, 1.0)]];
        let influences = Influences::from_rows(rows.into_iter(), 2, 0).expect("valid");
        mesh.influences = Some(influences.0);
        mesh
    }

    fn settings(iterations: u32) -> SmoothingSettings {
        SmoothingSettings {
            iterations,
            ..SmoothingSettings::default()
        }
    }

    /// Worked by hand: with one step and `alpha` 0, `B` is the inverse of a matrix whose rows are 4 on the diagonal and -3 over the number
    /// of neighbours beside it.
    #[test]
    fn one_step_is_the_inverse_written_out() {
        let mesh = two_triangles();
        let mut settings = settings(1);
        settings.alpha = 0.0;
        let out = dense_moments(&mesh, 2, &settings);
        let neighbours: [&[usize]; 4] = [&[1, 2], &[0, 2, 3], &[0, 1, 3], &[1, 2]];
        for (i, around) in neighbours.into_iter().enumerate() {
            // (4 p_i - 3 mean p_k) is u_i again.
            let mean: Vec3<f64> = around.iter().map(|&k| out.centers[k]).sum();
            let back = out.centers[i] * 4.0 - mean * (3.0 / around.len() as f64);
            let u = Vec3::from(mesh.positions[i].map(f64::from));
            assert!((back - u).norm() < 1e-14, "point {i}: {back}");
            // The same for the weights of joint 0.
            let weight = |k: usize| out.omega[k][0][(3, 3)];
            let mean: f64 = around.iter().map(|&k| weight(k)).sum();
            let back = weight(i) * 4.0 - mean * (3.0 / around.len() as f64);
            assert!(
                (back - [1.0, 0.5, 1.0, 0.0][i]).abs() < 1e-14,
                "weight {i}: {back}"
            );
        }
    }

    #[test]
    fn rows_partition_unity_and_balance() {
        for iterations in [0, 1, 20] {
            let out = dense_moments(&two_triangles(), 2, &settings(iterations));
            for (i, row) in out.omega.iter().enumerate() {
                let sum: Matrix4<f64> = row.iter().sum();
                assert!(
                    (sum[(3, 3)] - 1.0).abs() < 1e-13,
                    "{iterations}, {i}: {sum}"
                );
                assert!(
                    sum.column(3).xyz().norm() < 1e-13,
                    "{iterations}, {i}: {sum}"
                );
            }
        }
    }

    #[test]
    fn without_steps_only_weights_are_left() {
        let mesh = two_triangles();
        let out = dense_moments(&mesh, 2, &settings(0));
        let mut expected = Matrix4::zeros();
        expected[(3, 3)] = 0.5;
        assert!(
            (out.omega[1][1] - expected).norm() < 1e-15,
            "{}",
            out.omega[1][1]
        );
        let moments = out.to_moments(0.0);
        assert_eq!(moments.offsets, [0, 1, 3, 4, 5]);
        assert_eq!(moments.joints, [0, 0, 1, 0, 1]);
    }

    /// After many steps every point of a part is at the part's mean, weighted by the number of its neighbours.
    #[test]
    fn many_steps_end_at_the_weighted_mean() {
        let out = dense_moments(&two_triangles(), 2, &settings(400));
        let mean = Vec3::new(5.0, 5.0, 1.0) / 10.0;
        for center in &out.centers {
            assert!((center - mean).norm() < 1e-9, "{center}");
        }
    }

    #[test]
    fn pairs_left_out_go_to_the_strongest() {
        let out = dense_moments(&two_triangles(), 2, &settings(20));
        let whole = out.to_moments(0.0);
        let pruned = out.to_moments(0.9);
        assert_eq!(pruned.pairs.len(), 4);
        for v in 0..4 {
            let sum = |m: &Moments| -> f32 { m.row(v).1.iter().map(|p| p.second[0]).sum() };
            assert!((sum(&whole) - sum(&pruned)).abs() < 1e-6, "vertex {v}");
            assert!((pruned.row(v).1[0].weight - 1.0).abs() < 1e-6, "vertex {v}");
        }
    }
}
