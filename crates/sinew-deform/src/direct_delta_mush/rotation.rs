//! The rotation nearest to a matrix, also where the matrix mirrors, flattens or is zero.
//!
//! The rotation `R` with the largest `trace(R^T A)` is the orthogonal factor of `A`, with the smallest singular value's sign chosen
//! so that it turns and does not mirror.
//!
//! * [`nearest_rotation`], the truth: that trace is `q^T K q` for the quaternion `q` of `R` and a symmetric matrix `K` of four rows that
//!   is linear in `A` (Davenport 1968; Horn 1987). The eigenvector of the largest eigenvalue, by Jacobi's method, which needs no start and
//!   cannot fail.
//! * [`newton`], the fast way, for eight matrices side by side: Newton's method on rotations from one that is not far. With `B = R^T A`,
//!   `S = (B + B^T) / 2` and `g` the axial vector of `B - B^T`, the slope at `R` is `g` and the curvature `H = trace(S) I - S`; a step
//!   solves `(H + m I) w = g` and turns by the quaternion `(1, w / 2)`, normalised. The shift `m = (sqrt(h^2 + |g|^2) - h) / 2`,
//!   `h = g^T H g / |g|^2`, makes a turn about a principal axis come out at once, however far it is, and fades with the square of what is
//!   left. Steps end when they are small and `H` is positive, which holds at the largest value and at no other place where the slope is
//!   zero. Four steps do for starts within two radians where `A` does not mirror; what has not ended after [`MOST_STEPS`] takes the way
//!   above.

use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, prelude::*};
use sinew_geom::nalgebra::{Matrix4, Quaternion};
use sinew_geom::{Mat3, Quat, Real};

/// Steps of [`newton`], at most.
pub(super) const MOST_STEPS: usize = 6;
/// Sweeps of Jacobi's method; six are usual.
const MOST_SWEEPS: usize = 12;
/// Square of the last step's length.
const SMALL_STEP: f32 = 1e-6;

/// The rotation that maximises `trace(R^T a)`; if there are several, one of them. Zero, NaN and infinity give the identity.
///
/// Exact to rounding, by Jacobi's method on a 4x4 matrix; at most 12 sweeps. Does not allocate.
pub fn nearest_rotation<R: Real>(a: &Mat3<R>) -> Mat3<R> {
    let size = a.amax();
    if !(size > R::zero() && size.is_finite()) {
        return Mat3::identity();
    }
    let [x, y, z, w] = largest_eigenvector(davenport(&(a / size)));
    let q = Quat::from_quaternion(Quaternion::new(w, x, y, z));
    q.to_rotation_matrix().into_inner()
}

/// `K`, for quaternions as x y z w.
fn davenport<R: Real>(a: &Mat3<R>) -> Matrix4<R> {
    let m = |r: usize, c: usize| a[(r, c)];
    let axis = [m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)];
    let mut k = Matrix4::zeros();
    for r in 0..3 {
        for c in 0..3 {
            k[(r, c)] = m(r, c) + m(c, r);
        }
        k[(r, r)] -= a.trace();
        k[(r, 3)] = axis[r];
        k[(3, r)] = axis[r];
    }
    k[(3, 3)] = a.trace();
    k
}

/// Jacobi's method: pairs of rows and columns are turned until nothing is left beside the diagonal.
fn largest_eigenvector<R: Real>(mut k: Matrix4<R>) -> [R; 4] {
    let mut vectors = Matrix4::identity();
    for _ in 0..MOST_SWEEPS {
        let mut is_done = true;
        for (p, q) in [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)] {
            let off = k[(p, q)];
            if off.abs() <= R::default_epsilon() * R::from_double(0.25) {
                continue;
            }
            is_done = false;
            let two = R::from_double(2.0);
            let zeta = (k[(q, q)] - k[(p, p)]) / (two * off);
            let tangent = R::one().copysign(zeta) / (zeta.abs() + (zeta * zeta + R::one()).sqrt());
            let cosine = R::one() / (tangent * tangent + R::one()).sqrt();
            let turn = (cosine, cosine * tangent);
            turn_columns(&mut k, (p, q), turn);
            k.transpose_mut();
            turn_columns(&mut k, (p, q), turn);
            turn_columns(&mut vectors, (p, q), turn);
        }
        if is_done {
            break;
        }
    }
    let mut best = 0;
    for i in 1..4 {
        if k[(i, i)] > k[(best, best)] {
            best = i;
        }
    }
    vectors.column(best).into_owned().into()
}

fn turn_columns<R: Real>(m: &mut Matrix4<R>, (p, q): (usize, usize), (cosine, sine): (R, R)) {
    for r in 0..4 {
        let (a, b) = (m[(r, p)], m[(r, q)]);
        m[(r, p)] = a * cosine - b * sine;
        m[(r, q)] = a * sine + b * cosine;
    }
}

/// Eight matrices, by their columns.
pub(crate) type Columns<S> = [V3<S>; 3];

/// For each of eight matrices of size one or so the rotation nearest to it, from eight rotations.
#[inline(always)]
pub(crate) fn newton<S: Simd>(simd: S, a: Columns<S>, start: Columns<S>) -> Columns<S> {
    let mut rotation = start;
    let mut b = transposed_times(start, a);
    for _ in 0..MOST_STEPS {
        let (turn, ended) = step(simd, b);
        rotation = times(rotation, turn);
        if ended == 0xff {
            return rotation;
        }
        b = transposed_times(turn, b);
    }
    finish(simd, a, rotation, b)
}

/// One step: a turn, and in which lanes it was the last one, a bit each.
#[inline(always)]
fn step<S: Simd>(simd: S, b: Columns<S>) -> (Columns<S>, u32) {
    let half = f32x8::splat(simd, 0.5);
    let one = f32x8::splat(simd, 1.0);
    let tiny = f32x8::splat(simd, 1e-30);
    let zero = f32x8::splat(simd, 0.0);
    // Columns of B: b[c].r is row r, column c.
    let g = V3 {
        x: b[1].z - b[2].y,
        y: b[2].x - b[0].z,
        z: b[0].y - b[1].x,
    };
    let xx = b[1].y + b[2].z;
    let yy = b[0].x + b[2].z;
    let zz = b[0].x + b[1].y;
    let xy = (b[1].x + b[0].y) * -half;
    let xz = (b[2].x + b[0].z) * -half;
    let yz = (b[2].y + b[1].z) * -half;
    let gg = g.dot(g);
    let hg = V3 {
        x: xx.mul_add(g.x, xy.mul_add(g.y, xz * g.z)),
        y: xy.mul_add(g.x, yy.mul_add(g.y, yz * g.z)),
        z: xz.mul_add(g.x, yz.mul_add(g.y, zz * g.z)),
    };
    let h = g.dot(hg) / gg.max(tiny);
    let shift = (h.mul_add(h, gg).sqrt() - h) * half;
    // Whether H is positive: all leading minors are.
    let minor = xx.mul_sub(yy, xy * xy);
    let whole = xx.mul_add(
        yy.mul_sub(zz, yz * yz),
        xy.mul_add(yz.mul_sub(xz, xy * zz), xz * xy.mul_sub(yz, yy * xz)),
    );
    let positive = xx.simd_gt(zero) & minor.simd_gt(zero) & whole.simd_gt(zero);
    let (xx, yy, zz) = (xx + shift, yy + shift, zz + shift);
    // Cofactors of the symmetric matrix.
    let c_xx = yy.mul_sub(zz, yz * yz);
    let c_xy = yz.mul_sub(xz, xy * zz);
    let c_xz = xy.mul_sub(yz, yy * xz);
    let c_yy = xx.mul_sub(zz, xz * xz);
    let c_yz = xy.mul_sub(xz, xx * yz);
    let c_zz = xx.mul_sub(yy, xy * xy);
    let det = xx.mul_add(c_xx, xy.mul_add(c_xy, xz * c_xz));
    // Far from the goal it may be zero or negative: any step will do there, as long as it is finite.
    let small = f32x8::splat(simd, 1e-20);
    let factor = half / det.abs().max(small).copysign(det);
    // Half of w.
    let w = V3 {
        x: c_xx.mul_add(g.x, c_xy.mul_add(g.y, c_xz * g.z)) * factor,
        y: c_xy.mul_add(g.x, c_yy.mul_add(g.y, c_yz * g.z)) * factor,
        z: c_xz.mul_add(g.x, c_yz.mul_add(g.y, c_zz * g.z)) * factor,
    };
    let ww = w.dot(w);
    let ended = positive & ww.simd_lt(f32x8::splat(simd, SMALL_STEP * 0.25));
    // 2 / (1 + w^2), and the turn I (1 - c w^2) + c (w w^T + [w]).
    let c = (one + one) / (one + ww);
    let d = one - c * ww;
    let (cx, cy, cz) = (w.x * c, w.y * c, w.z * c);
    let turn = [
        V3 {
            x: cx.mul_add(w.x, d),
            y: cx.mul_add(w.y, cz),
            z: cx.mul_sub(w.z, cy),
        },
        V3 {
            x: cx.mul_sub(w.y, cz),
            y: cy.mul_add(w.y, d),
            z: cy.mul_add(w.z, cx),
        },
        V3 {
            x: cx.mul_add(w.z, cy),
            y: cy.mul_sub(w.z, cx),
            z: cz.mul_add(w.z, d),
        },
    ];
    (turn, bits(ended))
}

/// One bit a lane.
#[inline(always)]
fn bits<S: Simd>(mask: fearless_simd::mask32x8<S>) -> u32 {
    if mask.all_true() {
        return 0xff;
    }
    let mut out = 0;
    let lanes: [i32; 8] = mask.into();
    for (i, lane) in lanes.into_iter().enumerate() {
        out |= u32::from(lane != 0) << i;
    }
    out
}

/// Lanes whose steps have not ended take the slow way; few ever do.
#[inline(never)]
fn finish<S: Simd>(simd: S, a: Columns<S>, rotation: Columns<S>, b: Columns<S>) -> Columns<S> {
    let (turn, ended) = step(simd, b);
    let (mut out, from) = (to_lanes(times(rotation, turn)), to_lanes(a));
    for lane in (0..8).filter(|lane| ended >> lane & 1 == 0) {
        let m = Mat3::from_fn(|r, c| f64::from(from[c][r][lane]));
        let r = nearest_rotation(&m);
        for (c, column) in out.iter_mut().enumerate() {
            for (k, x) in column.iter_mut().enumerate() {
                x[lane] = r[(k, c)].to_single();
            }
        }
    }
    [
        V3::load_lanes(simd, &out[0]),
        V3::load_lanes(simd, &out[1]),
        V3::load_lanes(simd, &out[2]),
    ]
}

#[inline(always)]
fn to_lanes<S: Simd>(columns: Columns<S>) -> [[[f32; 8]; 3]; 3] {
    let mut out = [[[0.0; 8]; 3]; 3];
    for c in 0..3 {
        columns[c].store_lanes(&mut out[c]);
    }
    out
}

/// `m * n`.
#[inline(always)]
pub(super) fn times<S: Simd>(m: Columns<S>, n: Columns<S>) -> Columns<S> {
    [through(m, n[0]), through(m, n[1]), through(m, n[2])]
}

/// `m * v`.
#[inline(always)]
pub(super) fn through<S: Simd>(m: Columns<S>, v: V3<S>) -> V3<S> {
    m[0].scale_add(v.x, m[1].scale_add(v.y, m[2] * v.z))
}

/// `m^T * n`.
#[inline(always)]
fn transposed_times<S: Simd>(m: Columns<S>, n: Columns<S>) -> Columns<S> {
    [n[0].times(m), n[1].times(m), n[2].times(m)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::Vec3;
    use sinew_geom::nalgebra::SVD;

    /// Deterministic numbers in -1..1.
    fn noise(seed: &mut u32) -> f64 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(*seed >> 8) / f64::from(1_u32 << 23) - 1.0
    }

    fn rotation(seed: &mut u32, most: f64) -> Mat3<f64> {
        let axis = Vec3::from_fn(|_, _| noise(seed)).normalize();
        let turn = Quat::new(axis * (noise(seed) * most));
        turn.to_rotation_matrix().into_inner()
    }

    /// The rotation by another program's singular values, and the sum of the two that decide how well it is determined.
    fn truth(a: &Mat3<f64>) -> (Mat3<f64>, f64) {
        let svd = SVD::new(*a, true, true);
        let (mut u, vt) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
        let mut order = [0, 1, 2];
        order.sort_by(|&x, &y| svd.singular_values[y].total_cmp(&svd.singular_values[x]));
        let sign = (u * vt).determinant().signum();
        u.column_mut(order[2]).scale_mut(sign);
        let gap = svd.singular_values[order[1]] + sign * svd.singular_values[order[2]];
        (u * vt, gap)
    }

    fn eight(cases: &[(Mat3<f64>, Mat3<f64>)]) -> Vec<Mat3<f64>> {
        type Case = (Mat3<f64>, Mat3<f64>);
        let lane = |of: fn(&Case) -> Mat3<f64>| -> [[[f32; 8]; 3]; 3] {
            std::array::from_fn(|c| {
                std::array::from_fn(|r| {
                    std::array::from_fn(|i| of(&cases[i.min(cases.len() - 1)])[(r, c)].to_single())
                })
            })
        };
        let (a, start) = (lane(|c| c.0), lane(|c| c.1));
        let out = dispatch!(simd => {
            let load = |m: &[[[f32; 8]; 3]; 3]| [0, 1, 2].map(|c| V3::load_lanes(simd, &m[c]));
            to_lanes(newton(simd, load(&a), load(&start)))
        });
        (0..cases.len())
            .map(|i| Mat3::from_fn(|r, c| f64::from(out[c][r][i])))
            .collect()
    }

    fn check(name: &str, cases: &[(Mat3<f64>, Mat3<f64>)]) {
        for block in cases.chunks(8) {
            for ((a, _), fast) in block.iter().zip(eight(block)) {
                let (best, gap) = truth(a);
                let slow = nearest_rotation(a);
                let single = nearest_rotation::<f32>(&a.map(Real::to_single)).map(f64::from);
                for (r, sure, name_of) in [
                    (slow, 1e-9, "slow"),
                    (single, 1e-5, "single"),
                    (fast, 3e-6, "fast"),
                ] {
                    assert!(
                        (r.determinant() - 1.0).abs() < 1e-5,
                        "{name} {name_of}: {a} {r}"
                    );
                    let orthogonal = (r.transpose() * r - Mat3::identity()).norm();
                    assert!(orthogonal < 1e-5, "{name} {name_of}: {orthogonal:e}");
                    let lost = (best.transpose() * a).trace() - (r.transpose() * a).trace();
                    assert!(
                        lost < sure,
                        "{name} {name_of}: {lost:e} of the trace lost, {a}"
                    );
                    if gap > 1e-2 {
                        let off = (r - best).norm();
                        assert!(
                            off < 10.0 * sure / gap,
                            "{name} {name_of}: {off:e}, gap {gap}"
                        );
                    }
                }
            }
        }
    }

    /// A symmetric matrix of trace one with singular values in falling order, the last one times `last`.
    fn stretch(seed: &mut u32, middle: f64, last: f64) -> Mat3<f64> {
        let mut s = [1.0, middle * noise(seed).abs(), last * noise(seed).abs()];
        s[2] = s[2].min(s[1]);
        let v = rotation(seed, 3.0);
        v * Mat3::from_diagonal(&Vec3::from(s)) * v.transpose() / s.iter().sum::<f64>()
    }

    #[test]
    fn random_matrices() {
        let mut s = 5;
        let cases: Vec<_> = (0..4000)
            .map(|_| {
                let a = Mat3::from_fn(|_, _| noise(&mut s));
                (a / a.norm(), rotation(&mut s, 3.1))
            })
            .collect();
        check("random", &cases);
    }

    #[test]
    fn surfaces_edges_and_solids() {
        let mut s = 6;
        for (name, middle, last) in [
            ("solid", 1.0, 1.0),
            ("surface", 1.0, 0.05),
            ("flat", 1.0, 0.0),
            ("strip", 1e-3, 1e-6),
            ("line", 0.0, 0.0),
        ] {
            let cases: Vec<_> = (0..800)
                .map(|_| {
                    let start = rotation(&mut s, 3.1);
                    let turned = start * rotation(&mut s, 2.0);
                    (turned * stretch(&mut s, middle, last), start)
                })
                .collect();
            check(name, &cases);
        }
    }

    #[test]
    fn mirrored_equal_and_half_turned() {
        let mut s = 7;
        let mut cases = Vec::new();
        for k in 0..800 {
            let start = rotation(&mut s, 3.1);
            let mut a = start * rotation(&mut s, 1.0) * stretch(&mut s, 1.0, 0.5);
            match k % 4 {
                // A mirror.
                0 => a = -a,
                // Equal singular values.
                1 => a = start * rotation(&mut s, 1.0) / 3.0,
                // Exactly half a turn away, about any axis.
                2 => {
                    let axis = Vec3::from_fn(|_, _| noise(&mut s)).normalize();
                    let half = axis * axis.transpose() * 2.0 - Mat3::identity();
                    a = start * half * stretch(&mut s, 1.0, 0.5);
                }
                // About one of the axes.
                _ => a = start * Mat3::from_diagonal(&Vec3::new(-0.5, -0.3, 0.2)),
            }
            cases.push((a, start));
        }
        check("awkward", &cases);
    }

    #[test]
    fn nothing_gives_a_rotation_and_what_is_not_finite_too() {
        let start = rotation(&mut 9, 3.0);
        for a in [Mat3::zeros(), Mat3::repeat(f64::NAN), Mat3::repeat(1e-30)] {
            for r in [nearest_rotation(&a), eight(&[(a, start)])[0]] {
                assert!((r.determinant() - 1.0).abs() < 1e-5, "{a}: {r}");
            }
        }
        // A small pull towards a rotation is enough to get it.
        let pulled = eight(&[(start * 1e-4, Mat3::identity())])[0];
        assert!((pulled - start).norm() < 1e-5, "{pulled}");
    }

    /// What the fast kernel is for: near starts take few steps.
    #[test]
    fn near_starts_end_by_themselves() {
        let mut s = 8;
        for _ in 0..500 {
            let start = rotation(&mut s, 3.1);
            let turned = start * rotation(&mut s, 1.5);
            let a = turned * stretch(&mut s, 1.0, 0.1) + start * 1e-4;
            let mut b: [[[f32; 8]; 3]; 3] = [[[0.0; 8]; 3]; 3];
            let product = start.transpose() * a;
            for (c, column) in b.iter_mut().enumerate() {
                for (r, x) in column.iter_mut().enumerate() {
                    *x = [product[(r, c)].to_single(); 8];
                }
            }
            let steps = dispatch!(simd => {
                let mut at = [0, 1, 2].map(|c| V3::load_lanes(simd, &b[c]));
                let mut steps = 0;
                loop {
                    let (turn, ended) = step(simd, at);
                    steps += 1;
                    if ended == 0xff || steps > 20 {
                        break steps;
                    }
                    at = transposed_times(turn, at);
                }
            });
            assert!(steps <= 5, "{steps} steps");
        }
    }
}
