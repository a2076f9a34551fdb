//! The fast kernel: joints are blended with their four-wide rows, then eight vertices go side by side through
//! the rest. Bound by the loads of the palette, not by memory.

use super::bind::{Rows, many_row};
use super::lanes::{V3, transpose8x4};
use super::reference::NO_LENGTH;
use fearless_simd::{Simd, f32x4, f32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::{Influences, PackedAffine};

/// A joint's rigid motion as the kernel reads it; quaternions as x y z w.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PackedMotion {
    pub(crate) real: [f32; 4],
    pub(crate) dual: [f32; 4],
}

/// What one frame's joints look like to the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameJoints<'a> {
    /// For the linear part.
    pub(crate) linear: Option<&'a [PackedAffine]>,
    /// For the dual-quaternion part.
    pub(crate) motions: Option<&'a [PackedMotion]>,
    /// Where any joint is stretched.
    pub(crate) stretch: Option<&'a [PackedAffine]>,
    /// How much of the dual-quaternion part, where both are there.
    pub(crate) blend: f32,
    /// The same for each vertex.
    pub(crate) mask: Option<&'a [f32]>,
}

/// A run of vertices.
#[derive(Debug)]
pub(crate) struct Run<'a, 'b> {
    pub(crate) start: usize,
    pub(crate) positions: &'a [[f32; 3]],
    pub(crate) normals: Option<&'a [[f32; 3]]>,
    pub(crate) tangents: Option<&'a [[f32; 4]]>,
    pub(crate) out_positions: Option<&'b mut [[f32; 3]]>,
    pub(crate) out_normals: Option<&'b mut [[f32; 3]]>,
    pub(crate) out_tangents: Option<&'b mut [[f32; 4]]>,
}

/// Skins a run.
#[inline(always)]
pub(crate) fn skin_run<S: Simd>(simd: S, rows: &Rows, joints: FrameJoints<'_>, run: Run<'_, '_>) {
    match rows {
        Rows::One(r) => run_rows(simd, One(r), joints, run),
        Rows::Four(r) => run_rows(simd, Four(r), joints, run),
        Rows::Many(r) => run_rows(simd, Many(r), joints, run),
    }
}

trait RowSource: Copy {
    fn row(&self, v: usize) -> (&[u32], &[f32]);
}
#[derive(Clone, Copy)]
struct One<'a>(&'a [u32]);
#[derive(Clone, Copy)]
struct Four<'a>(&'a [([u32; 4], [f32; 4])]);
#[derive(Clone, Copy)]
struct Many<'a>(&'a Influences);
impl RowSource for One<'_> {
    #[inline(always)]
    fn row(&self, v: usize) -> (&[u32], &[f32]) {
        (std::slice::from_ref(&self.0[v]), &[1.0])
    }
}
impl RowSource for Four<'_> {
    #[inline(always)]
    fn row(&self, v: usize) -> (&[u32], &[f32]) {
        let (j, w) = &self.0[v];
        (j, w)
    }
}
impl RowSource for Many<'_> {
    #[inline(always)]
    fn row(&self, v: usize) -> (&[u32], &[f32]) {
        many_row(self.0, v)
    }
}

#[simd]
fn run_rows<S: Simd, R: RowSource>(simd: S, rows: R, joints: FrameJoints<'_>, run: Run<'_, '_>) {
    let count = run.positions.len();
    let (blocks, tail) = run.positions.as_chunks::<8>();
    let normals = run.normals.filter(|_| run.out_normals.is_some());
    let tangents = run.tangents.filter(|_| run.out_tangents.is_some());
    let (mut op, mut on, mut ot) = (run.out_positions, run.out_normals, run.out_tangents);
    for (b, p) in blocks.iter().enumerate() {
        let at = b * 8;
        let v = Vertices {
            p: V3::load(simd, p),
            n: match normals.and_then(|n| n[at..].first_chunk()) {
                Some(n) => V3::load(simd, n),
                None => V3::splat(simd, 0.0),
            },
            t: match tangents.and_then(|t| t[at..].first_chunk()) {
                Some(t) => load_tangents(simd, t),
                None => [f32x8::splat(simd, 0.0); 4],
            },
        };
        let first = run.start + at;
        let v = skin_block(
            simd,
            rows,
            joints,
            first,
            first + 7,
            normals.is_some(),
            tangents.is_some(),
            v,
        );
        if let Some(out) = op.as_mut().and_then(|o| o[at..].first_chunk_mut()) {
            v.p.store(out);
        }
        if normals.is_some()
            && let Some(out) = on.as_mut().and_then(|o| o[at..].first_chunk_mut())
        {
            v.n.store(out);
        }
        if tangents.is_some()
            && let Some(out) = ot.as_mut().and_then(|o| o[at..].first_chunk_mut())
        {
            store_tangents(v.t, out);
        }
    }
    if tail.is_empty() {
        return;
    }
    // The last few once more as a full block of copies.
    let at = count - tail.len();
    let v = Vertices {
        p: V3::load(simd, &padded(tail)),
        n: V3::load(simd, &normals.map_or([[0.0; 3]; 8], |n| padded(&n[at..]))),
        t: load_tangents(simd, &tangents.map_or([[0.0; 4]; 8], |t| padded(&t[at..]))),
    };
    let (first, last) = (run.start + at, run.start + count - 1);
    let v = skin_block(
        simd,
        rows,
        joints,
        first,
        last,
        normals.is_some(),
        tangents.is_some(),
        v,
    );
    let mut three = [[0.0; 3]; 8];
    if let Some(out) = op {
        v.p.store(&mut three);
        out[at..count].copy_from_slice(&three[..tail.len()]);
    }
    if let Some(out) = on.filter(|_| normals.is_some()) {
        v.n.store(&mut three);
        out[at..count].copy_from_slice(&three[..tail.len()]);
    }
    if let Some(out) = ot.filter(|_| tangents.is_some()) {
        let mut four = [[0.0; 4]; 8];
        store_tangents(v.t, &mut four);
        out[at..count].copy_from_slice(&four[..tail.len()]);
    }
}

/// The given elements, the first one repeated behind them.
#[inline(always)]
fn padded<const N: usize>(given: &[[f32; N]]) -> [[f32; N]; 8] {
    let mut out = [given[0]; 8];
    let n = given.len().min(8);
    out[..n].copy_from_slice(&given[..n]);
    out
}

#[inline(always)]
fn load_tangents<S: Simd>(simd: S, t: &[[f32; 4]; 8]) -> [f32x8<S>; 4] {
    transpose8x4(
        [
            f32x4::load_array(simd, t[0]),
            f32x4::load_array(simd, t[1]),
            f32x4::load_array(simd, t[2]),
            f32x4::load_array(simd, t[3]),
        ],
        [
            f32x4::load_array(simd, t[4]),
            f32x4::load_array(simd, t[5]),
            f32x4::load_array(simd, t[6]),
            f32x4::load_array(simd, t[7]),
        ],
    )
}

#[inline(always)]
fn store_tangents<S: Simd>(t: [f32x8<S>; 4], out: &mut [[f32; 4]; 8]) {
    let ((x0, x1), (y0, y1)) = (t[0].split(), t[1].split());
    let ((z0, z1), (w0, w1)) = (t[2].split(), t[3].split());
    let low = super::lanes::transpose4([x0, y0, z0, w0]);
    let high = super::lanes::transpose4([x1, y1, z1, w1]);
    for k in 0..4 {
        low[k].store_array(&mut out[k]);
        high[k].store_array(&mut out[k + 4]);
    }
}

#[derive(Clone, Copy)]
struct Vertices<S: Simd> {
    p: V3<S>,
    n: V3<S>,
    /// Direction and sign.
    t: [f32x8<S>; 4],
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "inlined away")]
fn skin_block<S: Simd, R: RowSource>(
    simd: S,
    rows: R,
    joints: FrameJoints<'_>,
    first: usize,
    last: usize,
    normals: bool,
    tangents: bool,
    v: Vertices<S>,
) -> Vertices<S> {
    let mut linear = v;
    if let Some(palette) = joints.linear {
        let a = blend_affine(simd, rows, first, last, palette);
        linear = apply_affine(simd, a, normals, tangents, v);
    }
    let Some(motions) = joints.motions else {
        return linear;
    };
    let mut out = v;
    if let Some(stretch) = joints.stretch {
        let a = blend_affine(simd, rows, first, last, stretch);
        out = apply_affine(simd, a, normals, tangents, v);
    }
    let q = blend_motion(simd, rows, first, last, motions);
    out = apply_motion(simd, q, normals, tangents, out);
    if joints.linear.is_none() {
        return out;
    }
    let mut factor = [0.0; 8];
    for (i, f) in factor.iter_mut().enumerate() {
        let m = joints.mask.map_or(1.0, |m| m[(first + i).min(last)]);
        *f = (joints.blend * m).clamp(0.0, 1.0);
    }
    mix(simd, linear, out, f32x8::load_array(simd, factor))
}

type Rows3<S> = [f32x4<S>; 3];

#[inline(always)]
fn blend_one<S: Simd, R: RowSource>(
    simd: S,
    rows: R,
    v: usize,
    palette: &[PackedAffine],
) -> Rows3<S> {
    let (joints, weights) = rows.row(v);
    let m = &palette[joints[0] as usize].rows;
    let w = f32x4::splat(simd, weights[0]);
    let mut a = f32x4::load_array(simd, m[0]) * w;
    let mut b = f32x4::load_array(simd, m[1]) * w;
    let mut c = f32x4::load_array(simd, m[2]) * w;
    for k in 1..joints.len().min(weights.len()) {
        let m = &palette[joints[k] as usize].rows;
        let w = f32x4::splat(simd, weights[k]);
        a = f32x4::load_array(simd, m[0]).mul_add(w, a);
        b = f32x4::load_array(simd, m[1]).mul_add(w, b);
        c = f32x4::load_array(simd, m[2]).mul_add(w, c);
    }
    [a, b, c]
}

/// Blended matrices of eight vertices: rows of four, the translation last.
#[inline(always)]
fn blend_affine<S: Simd, R: RowSource>(
    simd: S,
    rows: R,
    first: usize,
    last: usize,
    palette: &[PackedAffine],
) -> [[f32x8<S>; 4]; 3] {
    let a = blend_one(simd, rows, first.min(last), palette);
    let b = blend_one(simd, rows, (first + 1).min(last), palette);
    let c = blend_one(simd, rows, (first + 2).min(last), palette);
    let d = blend_one(simd, rows, (first + 3).min(last), palette);
    let e = blend_one(simd, rows, (first + 4).min(last), palette);
    let f = blend_one(simd, rows, (first + 5).min(last), palette);
    let g = blend_one(simd, rows, (first + 6).min(last), palette);
    let h = blend_one(simd, rows, (first + 7).min(last), palette);
    [
        transpose8x4([a[0], b[0], c[0], d[0]], [e[0], f[0], g[0], h[0]]),
        transpose8x4([a[1], b[1], c[1], d[1]], [e[1], f[1], g[1], h[1]]),
        transpose8x4([a[2], b[2], c[2], d[2]], [e[2], f[2], g[2], h[2]]),
    ]
}

#[inline(always)]
fn apply_affine<S: Simd>(
    simd: S,
    m: [[f32x8<S>; 4]; 3],
    normals: bool,
    tangents: bool,
    v: Vertices<S>,
) -> Vertices<S> {
    let [x, y, z] = m;
    let (a, b, c) = (V3::of(x), V3::of(y), V3::of(z));
    let mut out = v;
    out.p = V3 {
        x: a.dot_add(v.p, x[3]),
        y: b.dot_add(v.p, y[3]),
        z: c.dot_add(v.p, z[3]),
    };
    if !normals && !tangents {
        return out;
    }
    // Rows of the cofactor matrix are cross products of the rows.
    let bc = b.cross(c);
    let mirrors = a.dot(bc).simd_lt(f32x8::splat(simd, 0.0));
    if normals {
        let n = V3 {
            x: bc.dot(v.n),
            y: c.cross(a).dot(v.n),
            z: a.cross(b).dot(v.n),
        };
        let one = f32x8::splat(simd, 1.0);
        out.n = direction(simd, n, mirrors.select(-one, one), v.n);
    }
    if tangents {
        let t = V3::of(v.t);
        let moved = V3 {
            x: a.dot(t),
            y: b.dot(t),
            z: c.dot(t),
        };
        let d = direction(simd, moved, f32x8::splat(simd, 1.0), t);
        out.t = [d.x, d.y, d.z, mirrors.select(-v.t[3], v.t[3])];
    }
    out
}

/// `sign * v / |v|`, or `rest` where `v` has no length.
#[inline(always)]
fn direction<S: Simd>(simd: S, v: V3<S>, sign: f32x8<S>, rest: V3<S>) -> V3<S> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the limit is representable"
    )]
    let limit = f32x8::splat(simd, NO_LENGTH as f32);
    let squared = v.dot(v);
    let good = squared.simd_gt(limit);
    let inverse = sign / squared.max(limit).sqrt();
    let unit = v.scale(inverse);
    V3 {
        x: good.select(unit.x, rest.x),
        y: good.select(unit.y, rest.y),
        z: good.select(unit.z, rest.z),
    }
}

#[inline(always)]
fn blend_motion_one<S: Simd, R: RowSource>(
    simd: S,
    rows: R,
    v: usize,
    motions: &[PackedMotion],
) -> [f32x4<S>; 2] {
    let (joints, weights) = rows.row(v);
    let q = &motions[joints[0] as usize];
    let pivot = f32x4::load_array(simd, q.real);
    let w = f32x4::splat(simd, weights[0]);
    let mut real = pivot * w;
    let mut dual = f32x4::load_array(simd, q.dual) * w;
    let zero = f32x4::splat(simd, 0.0);
    for k in 1..joints.len().min(weights.len()) {
        let q = &motions[joints[k] as usize];
        let r = f32x4::load_array(simd, q.real);
        let m = r * pivot;
        let m = m + m.slide::<2>(m);
        // Plus zero: minus zero must not count as negative.
        let dot = m + m.slide::<1>(m) + zero;
        let w = f32x4::splat(simd, weights[k]).copysign(dot);
        real = r.mul_add(w, real);
        dual = f32x4::load_array(simd, q.dual).mul_add(w, dual);
    }
    [real, dual]
}

/// Blended real and dual parts of eight vertices, x y z w.
#[inline(always)]
fn blend_motion<S: Simd, R: RowSource>(
    simd: S,
    rows: R,
    first: usize,
    last: usize,
    motions: &[PackedMotion],
) -> [[f32x8<S>; 4]; 2] {
    let a = blend_motion_one(simd, rows, first.min(last), motions);
    let b = blend_motion_one(simd, rows, (first + 1).min(last), motions);
    let c = blend_motion_one(simd, rows, (first + 2).min(last), motions);
    let d = blend_motion_one(simd, rows, (first + 3).min(last), motions);
    let e = blend_motion_one(simd, rows, (first + 4).min(last), motions);
    let f = blend_motion_one(simd, rows, (first + 5).min(last), motions);
    let g = blend_motion_one(simd, rows, (first + 6).min(last), motions);
    let h = blend_motion_one(simd, rows, (first + 7).min(last), motions);
    [
        transpose8x4([a[0], b[0], c[0], d[0]], [e[0], f[0], g[0], h[0]]),
        transpose8x4([a[1], b[1], c[1], d[1]], [e[1], f[1], g[1], h[1]]),
    ]
}

#[inline(always)]
fn apply_motion<S: Simd>(
    simd: S,
    [real, dual]: [[f32x8<S>; 4]; 2],
    normals: bool,
    tangents: bool,
    v: Vertices<S>,
) -> Vertices<S> {
    let (r, d) = (V3::of(real), V3::of(dual));
    let squared = r.dot(r) + real[3] * real[3];
    // Never zero: the strongest joint's part is not cancelled by any other.
    let twice = f32x8::splat(simd, 2.0) / squared.max(f32x8::splat(simd, 1e-30));
    let t = d.scale(real[3]).minus(r.scale(dual[3]));
    let cross = r.cross(d);
    let t = V3 {
        x: t.x + cross.x,
        y: t.y + cross.y,
        z: t.z + cross.z,
    };
    let mut out = v;
    out.p = t.scale_add(twice, rotate(r, real[3], twice, v.p));
    if normals {
        out.n = rotate(r, real[3], twice, v.n);
    }
    if tangents {
        let t = rotate(r, real[3], twice, V3::of(v.t));
        out.t = [t.x, t.y, t.z, v.t[3]];
    }
    out
}

/// `v + twice r x (r x v + w v)`.
#[inline(always)]
fn rotate<S: Simd>(r: V3<S>, w: f32x8<S>, twice: f32x8<S>, v: V3<S>) -> V3<S> {
    let inner = v.scale_add(w, r.cross(v));
    r.cross(inner).scale_add(twice, v)
}

#[inline(always)]
fn lerp<S: Simd>(a: V3<S>, b: V3<S>, factor: f32x8<S>) -> V3<S> {
    b.minus(a).scale_add(factor, a)
}

#[inline(always)]
fn mix<S: Simd>(simd: S, a: Vertices<S>, b: Vertices<S>, factor: f32x8<S>) -> Vertices<S> {
    let one = f32x8::splat(simd, 1.0);
    let (ta, tb) = (V3::of(a.t), V3::of(b.t));
    let t = direction(simd, lerp(ta, tb, factor), one, ta);
    let second = factor.simd_gt(f32x8::splat(simd, 0.5));
    Vertices {
        p: lerp(a.p, b.p, factor),
        n: direction(simd, lerp(a.n, b.n, factor), one, a.n),
        t: [t.x, t.y, t.z, second.select(b.t[3], a.t[3])],
    }
}
