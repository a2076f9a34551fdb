//! The fast kernel: eight vertices side by side.

mod motions;

use super::blocks::{Block, Blocks, LANES};
use super::rotation::{Columns, newton, through, times};
use super::variant::{Reads, Storage, Variant};
use crate::lanes::{load8x4_at, store8x4_at, transpose8x4};
use crate::simd_vector::V3;
use crate::skin::{Matrices, Vertices, apply_affine_lanes};
use fearless_simd::{Simd, f32x4, f32x8, i32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::PackedAffine;

/// What one frame's joints look like to the kernel: rest positions less an origin, posed ones less a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameJoints<'a> {
    /// Skinning matrices.
    pub(crate) matrices: &'a [PackedAffine],
    /// Their rotations, x y z w.
    pub(crate) rotations: &'a [[f32; 4]],
    /// Where any joint is stretched: rotations as matrices, and what those leave of the matrices.
    pub(crate) stretched: Option<Stretched<'a>>,
    /// What is taken from rest positions.
    pub(crate) origin: [f32; 3],
    /// What is added to posed positions.
    pub(crate) reference: [f32; 3],
}

/// Rotations and stretches of all joints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretched<'a> {
    pub(crate) turns: &'a [PackedAffine],
    pub(crate) stretch: &'a [PackedAffine],
}

/// A run of vertices that starts at a block.
#[derive(Debug)]
pub(crate) struct Run<'a, 'b> {
    pub(crate) start: usize,
    pub(crate) positions: &'a [[f32; 3]],
    pub(crate) normals: Option<&'a [[f32; 3]]>,
    pub(crate) tangents: Option<&'a [[f32; 4]]>,
    pub(crate) out_positions: Option<&'b mut [[f32; 3]]>,
    /// Only with normals.
    pub(crate) out_normals: Option<&'b mut [[f32; 3]]>,
    /// Only with tangents.
    pub(crate) out_tangents: Option<&'b mut [[f32; 4]]>,
}

/// What is done with the motions of vertices.
#[derive(Debug)]
pub(crate) enum Work<'a, 'b> {
    /// They move a run.
    Move(Run<'a, 'b>),
    /// They are written down, from vertex `start` on, with which a block begins.
    Motions {
        start: usize,
        out: &'b mut [PackedAffine],
    },
}

/// Works with the motions of vertices.
#[inline(always)]
pub(crate) fn run<S: Simd>(
    simd: S,
    variant: Variant,
    blocks: &Blocks,
    joints: &FrameJoints<'_>,
    work: Work<'_, '_>,
) {
    match (variant, blocks.storage) {
        (Variant::V0, Storage::Full) => {
            run_rule::<S, ByMoments<false, Full>>(simd, blocks, joints, work)
        }
        (Variant::V0, Storage::Quantized) => {
            run_rule::<S, ByMoments<false, Quantized>>(simd, blocks, joints, work);
        }
        (Variant::V1, Storage::Full) => {
            run_rule::<S, ByMoments<true, Full>>(simd, blocks, joints, work)
        }
        (Variant::V1, Storage::Quantized) => {
            run_rule::<S, ByMoments<true, Quantized>>(simd, blocks, joints, work);
        }
        (Variant::V2, Storage::Full) => {
            run_rule::<S, ByQuaternions<Full>>(simd, blocks, joints, work)
        }
        (Variant::V2, Storage::Quantized) => {
            run_rule::<S, ByQuaternions<Quantized>>(simd, blocks, joints, work);
        }
        (Variant::V3, Storage::Full) => run_rule::<S, ByMatrices<Full>>(simd, blocks, joints, work),
        (Variant::V3, Storage::Quantized) => {
            run_rule::<S, ByMatrices<Quantized>>(simd, blocks, joints, work);
        }
        (Variant::V4, _) => run_rule::<S, ByWeights>(simd, blocks, joints, work),
    }
}

#[inline(always)]
fn run_rule<S: Simd, R: Rule>(
    simd: S,
    blocks: &Blocks,
    joints: &FrameJoints<'_>,
    work: Work<'_, '_>,
) {
    match work {
        Work::Move(run) => run_blocks::<S, R>(simd, blocks, joints, run),
        Work::Motions { start, out } => {
            motions::run_motions::<S, R>(simd, blocks, joints, start, out);
        }
    }
}

/// The motion of eight vertices, from rest space about their centres.
#[derive(Clone, Copy)]
struct Motion<S: Simd> {
    linear: Columns<S>,
    translation: V3<S>,
    /// Whether `linear` only turns.
    is_rotation: bool,
}

/// A way to make motions.
trait Rule {
    fn motion<S: Simd>(simd: S, block: Block<'_>, joints: &FrameJoints<'_>) -> Motion<S>;
}

#[simd]
fn run_blocks<S: Simd, R: Rule>(
    simd: S,
    blocks: &Blocks,
    joints: &FrameJoints<'_>,
    run: Run<'_, '_>,
) {
    let Run {
        start,
        positions,
        normals,
        tangents,
        mut out_positions,
        mut out_normals,
        mut out_tangents,
    } = run;
    let origin = splat3(simd, joints.origin);
    let reference = splat3(simd, joints.reference);
    for at in (0..positions.len()).step_by(LANES) {
        let block = blocks.block((start + at) / LANES);
        let motion = R::motion(simd, block, joints);
        let center = center_of(simd, block);
        let rest = V3::load_at(simd, positions, at) - origin - center;
        if let Some(out) = &mut out_positions {
            let moved = through(motion.linear, rest) + motion.translation;
            (moved + reference).store_at(out, at);
        }
        let turned = [out_normals.is_some(), out_tangents.is_some()];
        if turned == [false; 2] {
            continue;
        }
        let normal = normals.map_or(V3::splat(simd, 0.0), |n| V3::load_at(simd, n, at));
        let zero = [f32x8::splat(simd, 0.0); 4];
        let tangent = tangents.map_or(zero, |t| load8x4_at(simd, t, at));
        let (normal, tangent) = turn_frame(simd, &motion, normal, tangent);
        if let Some(out) = &mut out_normals {
            normal.store_at(out, at);
        }
        if let Some(out) = &mut out_tangents {
            store8x4_at(tangent, out, at);
        }
    }
}

#[inline(always)]
fn turn_frame<S: Simd>(
    simd: S,
    motion: &Motion<S>,
    normal: V3<S>,
    tangent: [f32x8<S>; 4],
) -> (V3<S>, [f32x8<S>; 4]) {
    if motion.is_rotation {
        let t = through(motion.linear, V3::of(tangent));
        return (through(motion.linear, normal), [t.x, t.y, t.z, tangent[3]]);
    }
    let [a, b, c] = motion.linear;
    let zero = f32x8::splat(simd, 0.0);
    let rows = [
        [a.x, b.x, c.x, zero],
        [a.y, b.y, c.y, zero],
        [a.z, b.z, c.z, zero],
    ];
    let v = Vertices {
        p: V3::splat(simd, 0.0),
        n: normal,
        t: tangent,
    };
    let v = apply_affine_lanes::<S, true, true>(simd, rows, v);
    (v.n, v.t)
}

#[inline(always)]
fn splat3<S: Simd>(simd: S, v: [f32; 3]) -> V3<S> {
    V3 {
        x: f32x8::splat(simd, v[0]),
        y: f32x8::splat(simd, v[1]),
        z: f32x8::splat(simd, v[2]),
    }
}

#[inline(always)]
fn center_of<S: Simd>(simd: S, block: Block<'_>) -> V3<S> {
    V3 {
        x: f32x8::load_array_ref(simd, &block.center[0]),
        y: f32x8::load_array_ref(simd, &block.center[1]),
        z: f32x8::load_array_ref(simd, &block.center[2]),
    }
}

/// A joint's matrix in every lane: three rows of four.
#[inline(always)]
fn splat_matrix<S: Simd>(simd: S, m: &PackedAffine) -> Matrices<S> {
    let mut out = [[f32x8::splat(simd, 0.0); 4]; 3];
    for (row, from) in out.iter_mut().zip(&m.rows) {
        for (x, &from) in row.iter_mut().zip(from) {
            *x = f32x8::splat(simd, from);
        }
    }
    out
}

/// Matrices of eight joints.
#[inline(always)]
fn gather_matrices<S: Simd>(simd: S, j: &[u32; LANES], of: &[PackedAffine]) -> Matrices<S> {
    if all_same(j) {
        return splat_matrix(simd, &of[j[0] as usize]);
    }
    let mut out = [[f32x8::splat(simd, 0.0); 4]; 3];
    for (r, row) in out.iter_mut().enumerate() {
        *row = transpose8x4(
            [
                f32x4::load_array(simd, of[j[0] as usize].rows[r]),
                f32x4::load_array(simd, of[j[1] as usize].rows[r]),
                f32x4::load_array(simd, of[j[2] as usize].rows[r]),
                f32x4::load_array(simd, of[j[3] as usize].rows[r]),
            ],
            [
                f32x4::load_array(simd, of[j[4] as usize].rows[r]),
                f32x4::load_array(simd, of[j[5] as usize].rows[r]),
                f32x4::load_array(simd, of[j[6] as usize].rows[r]),
                f32x4::load_array(simd, of[j[7] as usize].rows[r]),
            ],
        );
    }
    out
}

/// Rotations of eight joints.
#[inline(always)]
fn gather_rotations<S: Simd>(simd: S, j: &[u32; LANES], of: &[[f32; 4]]) -> [f32x8<S>; 4] {
    transpose8x4(
        [
            f32x4::load_array(simd, of[j[0] as usize]),
            f32x4::load_array(simd, of[j[1] as usize]),
            f32x4::load_array(simd, of[j[2] as usize]),
            f32x4::load_array(simd, of[j[3] as usize]),
        ],
        [
            f32x4::load_array(simd, of[j[4] as usize]),
            f32x4::load_array(simd, of[j[5] as usize]),
            f32x4::load_array(simd, of[j[6] as usize]),
            f32x4::load_array(simd, of[j[7] as usize]),
        ],
    )
}

#[inline(always)]
fn all_same(j: &[u32; LANES]) -> bool {
    let same = (j[0] ^ j[1]) | (j[0] ^ j[2]) | (j[0] ^ j[3]) | (j[0] ^ j[4]);
    same | (j[0] ^ j[5]) | (j[0] ^ j[6]) | (j[0] ^ j[7]) == 0
}

/// Rows of a matrix.
#[inline(always)]
fn rows_of<S: Simd>(m: Matrices<S>) -> [V3<S>; 3] {
    [V3::of(m[0]), V3::of(m[1]), V3::of(m[2])]
}

/// Columns of the linear part.
#[inline(always)]
fn columns_of<S: Simd>([x, y, z]: Matrices<S>) -> Columns<S> {
    [
        V3 {
            x: x[0],
            y: y[0],
            z: z[0],
        },
        V3 {
            x: x[1],
            y: y[1],
            z: z[1],
        },
        V3 {
            x: x[2],
            y: y[2],
            z: z[2],
        },
    ]
}

/// A point through a matrix.
#[inline(always)]
fn point<S: Simd>(m: Matrices<S>, p: V3<S>) -> V3<S> {
    V3 {
        x: V3::of(m[0]).dot_add(p, m[0][3]),
        y: V3::of(m[1]).dot_add(p, m[1][3]),
        z: V3::of(m[2]).dot_add(p, m[2][3]),
    }
}

/// Where the numbers of a pair come from.
trait Source {
    /// Second moments, where they are stored.
    fn second<S: Simd>(simd: S, block: Block<'_>, k: usize) -> [f32x8<S>; 6];
    /// First moments, behind `before` other numbers.
    fn first<S: Simd>(simd: S, block: Block<'_>, k: usize, reads: Reads) -> V3<S>;
    /// The weight.
    fn weight<S: Simd>(simd: S, block: Block<'_>, k: usize, reads: Reads) -> f32x8<S>;
}

/// Single precision.
struct Full;
/// Halves of words.
struct Quantized;

#[inline(always)]
fn number<S: Simd>(simd: S, block: Block<'_>, at: usize) -> f32x8<S> {
    f32x8::load_array_ref(simd, &block.numbers[at])
}

impl Source for Full {
    #[inline(always)]
    fn second<S: Simd>(simd: S, block: Block<'_>, k: usize) -> [f32x8<S>; 6] {
        let at = k * 10;
        [
            number(simd, block, at),
            number(simd, block, at + 1),
            number(simd, block, at + 2),
            number(simd, block, at + 3),
            number(simd, block, at + 4),
            number(simd, block, at + 5),
        ]
    }
    #[inline(always)]
    fn first<S: Simd>(simd: S, block: Block<'_>, k: usize, reads: Reads) -> V3<S> {
        let at = (k + 1) * reads.floats() - 4;
        V3 {
            x: number(simd, block, at),
            y: number(simd, block, at + 1),
            z: number(simd, block, at + 2),
        }
    }
    #[inline(always)]
    fn weight<S: Simd>(simd: S, block: Block<'_>, k: usize, reads: Reads) -> f32x8<S> {
        number(simd, block, (k + 1) * reads.floats() - 1)
    }
}

/// The lower halves of eight words, 65,536 times too large.
#[inline(always)]
fn low<S: Simd>(word: i32x8<S>) -> f32x8<S> {
    (word << 16_u32).to_float()
}

/// The upper halves of eight words, 65,536 times too large.
#[inline(always)]
fn high<S: Simd>(word: i32x8<S>) -> f32x8<S> {
    (word & i32x8::splat(word.simd, -65_536)).to_float()
}

/// A scale for halves that are 65,536 times too large.
#[inline(always)]
fn scale_of<S: Simd>(simd: S, block: Block<'_>, which: usize) -> f32x8<S> {
    let scale = match block.scales {
        Some(scales) => f32x8::load_array_ref(simd, &scales[which]),
        None => f32x8::splat(simd, 0.0),
    };
    scale * f32x8::splat(simd, 1.0 / 65_536.0)
}

#[inline(always)]
fn word<S: Simd>(simd: S, block: Block<'_>, at: usize) -> i32x8<S> {
    i32x8::load_array_ref(simd, &block.halves[at])
}

impl Source for Quantized {
    #[inline(always)]
    fn second<S: Simd>(simd: S, block: Block<'_>, k: usize) -> [f32x8<S>; 6] {
        let at = k * Reads::Moments.half_words();
        let scale = scale_of(simd, block, 0);
        let (a, b) = (word(simd, block, at), word(simd, block, at + 1));
        let c = word(simd, block, at + 2);
        [
            low(a) * scale,
            high(a) * scale,
            low(b) * scale,
            high(b) * scale,
            low(c) * scale,
            high(c) * scale,
        ]
    }
    #[inline(always)]
    fn first<S: Simd>(simd: S, block: Block<'_>, k: usize, reads: Reads) -> V3<S> {
        let at = (k + 1) * reads.half_words() - 2;
        let scale = scale_of(simd, block, 1);
        let (a, b) = (word(simd, block, at), word(simd, block, at + 1));
        V3 {
            x: low(a) * scale,
            y: high(a) * scale,
            z: low(b) * scale,
        }
    }
    #[inline(always)]
    fn weight<S: Simd>(simd: S, block: Block<'_>, k: usize, _: Reads) -> f32x8<S> {
        number(simd, block, k)
    }
}

/// Variants v0 and, with `COFACTOR`, v1.
struct ByMoments<const COFACTOR: bool, P>(std::marker::PhantomData<P>);

/// Sums over the joints of a block.
#[derive(Clone, Copy)]
struct Sums<S: Simd> {
    /// `A`, by columns.
    posed: Columns<S>,
    /// Second moments.
    rest: [f32x8<S>; 6],
    /// Translation, less that of the strongest joint.
    shift: V3<S>,
}

impl<const COFACTOR: bool, P: Source> ByMoments<COFACTOR, P> {
    /// `start`: where the strongest joints bring the centres.
    #[inline(always)]
    fn sums<S: Simd>(
        simd: S,
        block: Block<'_>,
        joints: &FrameJoints<'_>,
        center: V3<S>,
        start: V3<S>,
    ) -> Sums<S> {
        let zero = f32x8::splat(simd, 0.0);
        let none = V3::splat(simd, 0.0);
        let mut sums = Sums {
            posed: [none; 3],
            rest: [zero; 6],
            shift: none,
        };
        for (k, &joint) in block.joints.iter().enumerate() {
            let m = splat_matrix(simd, &joints.matrices[joint as usize]);
            let s = P::second(simd, block, k);
            let first = P::first(simd, block, k, Reads::Moments);
            let weight = P::weight(simd, block, k, Reads::Moments);
            let arm = point(m, center) - start;
            let mut rows = rows_of(m);
            sums.shift = first.times(rows) + arm.scale_add(weight, sums.shift);
            if let Some(stretched) = joints.stretched {
                rows = rows_of(splat_matrix(simd, &stretched.turns[joint as usize]));
            }
            let columns = [
                V3 {
                    x: s[0],
                    y: s[1],
                    z: s[2],
                },
                V3 {
                    x: s[1],
                    y: s[3],
                    z: s[4],
                },
                V3 {
                    x: s[2],
                    y: s[4],
                    z: s[5],
                },
            ];
            let along = [first.x, first.y, first.z];
            for c in 0..3 {
                let sum = arm.scale_add(along[c], sums.posed[c]);
                sums.posed[c] = V3 {
                    x: rows[0].dot_add(columns[c], sum.x),
                    y: rows[1].dot_add(columns[c], sum.y),
                    z: rows[2].dot_add(columns[c], sum.z),
                };
            }
            if COFACTOR {
                for (sum, s) in sums.rest.iter_mut().zip(s) {
                    *sum += s;
                }
            }
        }
        sums
    }
}

impl<const COFACTOR: bool, P: Source> Rule for ByMoments<COFACTOR, P> {
    #[inline(always)]
    fn motion<S: Simd>(simd: S, block: Block<'_>, joints: &FrameJoints<'_>) -> Motion<S> {
        let center = center_of(simd, block);
        let own = gather_matrices(simd, block.strongest, joints.matrices);
        let start = point(own, center);
        let sums = Self::sums(simd, block, joints, center, start);
        let turn = match joints.stretched {
            None => columns_of(own),
            Some(stretched) => columns_of(gather_matrices(simd, block.strongest, stretched.turns)),
        };
        let scale = f32x8::load_array_ref(simd, &block.center[3]);
        let variant = if COFACTOR { Variant::V1 } else { Variant::V0 };
        let pull = f32x8::splat(simd, pull_of(variant));
        let mut posed = sums.posed;
        for c in 0..3 {
            posed[c] = posed[c] * scale;
            posed[c] = turn[c].scale_add(pull, posed[c]);
        }
        let turn = if COFACTOR {
            by_cofactor(simd, posed, sums.rest, scale, pull, turn)
        } else {
            newton(simd, posed, turn)
        };
        let linear = match joints.stretched {
            Some(stretched) => times(
                turn,
                blend_stretch::<S, P>(simd, block, stretched, Reads::Moments),
            ),
            None => turn,
        };
        Motion {
            linear,
            translation: start + sums.shift,
            is_rotation: !COFACTOR && joints.stretched.is_none(),
        }
    }
}

#[inline(always)]
fn pull_of(variant: Variant) -> f32 {
    variant.pull() as f32
}

/// `cof(A) S`, of the length of a rotation.
#[inline(always)]
fn by_cofactor<S: Simd>(
    simd: S,
    [x, y, z]: Columns<S>,
    rest: [f32x8<S>; 6],
    scale: f32x8<S>,
    pull: f32x8<S>,
    otherwise: Columns<S>,
) -> Columns<S> {
    let cofactor = [y.cross(z), z.cross(x), x.cross(y)];
    let mut r = rest;
    for part in &mut r {
        *part *= scale;
    }
    let rest = [
        V3 {
            x: r[0] + pull,
            y: r[1],
            z: r[2],
        },
        V3 {
            x: r[1],
            y: r[3] + pull,
            z: r[4],
        },
        V3 {
            x: r[2],
            y: r[4],
            z: r[5] + pull,
        },
    ];
    let turn = times(cofactor, rest);
    let squared = turn[0].dot(turn[0]) + turn[1].dot(turn[1]) + turn[2].dot(turn[2]);
    let limit = f32x8::splat(simd, 1e-24);
    let good = squared.simd_gt(limit);
    let factor = (f32x8::splat(simd, 3.0) / squared.max(limit)).sqrt();
    [
        (turn[0] * factor).or(good, otherwise[0]),
        (turn[1] * factor).or(good, otherwise[1]),
        (turn[2] * factor).or(good, otherwise[2]),
    ]
}

/// Blended stretches, by columns.
#[inline(always)]
fn blend_stretch<S: Simd, P: Source>(
    simd: S,
    block: Block<'_>,
    stretched: Stretched<'_>,
    reads: Reads,
) -> Columns<S> {
    let none = V3::splat(simd, 0.0);
    let mut sum = [none; 3];
    for (k, &joint) in block.joints.iter().enumerate() {
        let weight = P::weight(simd, block, k, reads);
        let columns = columns_of(splat_matrix(simd, &stretched.stretch[joint as usize]));
        for c in 0..3 {
            sum[c] = columns[c].scale_add(weight, sum[c]);
        }
    }
    sum
}

/// Translation of variants v2 and v3, and with `FIRST` off of v4.
#[inline(always)]
fn translation<S: Simd, P: Source, const FIRST: bool>(
    simd: S,
    block: Block<'_>,
    joints: &FrameJoints<'_>,
    reads: Reads,
) -> V3<S> {
    let center = center_of(simd, block);
    let own = gather_matrices(simd, block.strongest, joints.matrices);
    let start = point(own, center);
    let mut shift = V3::splat(simd, 0.0);
    for (k, &joint) in block.joints.iter().enumerate() {
        let m = splat_matrix(simd, &joints.matrices[joint as usize]);
        let weight = P::weight(simd, block, k, reads);
        let arm = point(m, center) - start;
        shift = arm.scale_add(weight, shift);
        if FIRST {
            let first = P::first(simd, block, k, reads);
            shift = first.times(rows_of(m)) + shift;
        }
    }
    start + shift
}

/// The weighted sum of quaternions, each on the side of the strongest joint's, as a rotation by columns.
#[inline(always)]
fn blend_rotations<S: Simd, P: Source>(
    simd: S,
    block: Block<'_>,
    joints: &FrameJoints<'_>,
    reads: Reads,
) -> Columns<S> {
    let zero = f32x8::splat(simd, 0.0);
    let pivot = gather_rotations(simd, block.strongest, joints.rotations);
    let mut sum = [zero; 4];
    for (k, &joint) in block.joints.iter().enumerate() {
        let weight = P::weight(simd, block, k, reads);
        let [x, y, z, w] = joints.rotations[joint as usize];
        let q = [
            f32x8::splat(simd, x),
            f32x8::splat(simd, y),
            f32x8::splat(simd, z),
            f32x8::splat(simd, w),
        ];
        let dot = q[0].mul_add(pivot[0], q[1] * pivot[1]);
        let dot = q[2].mul_add(pivot[2], q[3].mul_add(pivot[3], dot));
        let weight = dot.simd_lt(zero).select(-weight, weight);
        for i in 0..4 {
            sum[i] = q[i].mul_add(weight, sum[i]);
        }
    }
    rotation_of(simd, sum)
}

/// Of a quaternion of any length above zero.
#[inline(always)]
fn rotation_of<S: Simd>(simd: S, [x, y, z, w]: [f32x8<S>; 4]) -> Columns<S> {
    let one = f32x8::splat(simd, 1.0);
    let squared = x.mul_add(x, y.mul_add(y, z.mul_add(z, w * w)));
    // Never zero: the strongest joint's part is not cancelled by any other.
    let twice = f32x8::splat(simd, 2.0) / squared.max(f32x8::splat(simd, 1e-30));
    let (tx, ty, tz) = (x * twice, y * twice, z * twice);
    let (wx, wy, wz) = (w * tx, w * ty, w * tz);
    [
        V3 {
            x: one - y.mul_add(ty, z * tz),
            y: x.mul_add(ty, wz),
            z: x.mul_sub(tz, wy),
        },
        V3 {
            x: x.mul_sub(ty, wz),
            y: one - x.mul_add(tx, z * tz),
            z: y.mul_add(tz, wx),
        },
        V3 {
            x: x.mul_add(tz, wy),
            y: y.mul_sub(tz, wx),
            z: one - x.mul_add(tx, y * ty),
        },
    ]
}

/// Variant v2.
struct ByQuaternions<P>(std::marker::PhantomData<P>);

impl<P: Source> Rule for ByQuaternions<P> {
    #[inline(always)]
    fn motion<S: Simd>(simd: S, block: Block<'_>, joints: &FrameJoints<'_>) -> Motion<S> {
        let turn = blend_rotations::<S, P>(simd, block, joints, Reads::First);
        let translation = translation::<S, P, true>(simd, block, joints, Reads::First);
        with_stretch::<S, P>(simd, block, joints, turn, translation, Reads::First)
    }
}

/// Variant v4.
struct ByWeights;

impl Rule for ByWeights {
    #[inline(always)]
    fn motion<S: Simd>(simd: S, block: Block<'_>, joints: &FrameJoints<'_>) -> Motion<S> {
        let turn = blend_rotations::<S, Full>(simd, block, joints, Reads::Weight);
        let translation = translation::<S, Full, false>(simd, block, joints, Reads::Weight);
        with_stretch::<S, Full>(simd, block, joints, turn, translation, Reads::Weight)
    }
}

#[inline(always)]
fn with_stretch<S: Simd, P: Source>(
    simd: S,
    block: Block<'_>,
    joints: &FrameJoints<'_>,
    turn: Columns<S>,
    translation: V3<S>,
    reads: Reads,
) -> Motion<S> {
    let linear = match joints.stretched {
        Some(stretched) => times(turn, blend_stretch::<S, P>(simd, block, stretched, reads)),
        None => turn,
    };
    Motion {
        linear,
        translation,
        is_rotation: joints.stretched.is_none(),
    }
}

/// Variant v3.
struct ByMatrices<P>(std::marker::PhantomData<P>);

impl<P: Source> Rule for ByMatrices<P> {
    #[inline(always)]
    fn motion<S: Simd>(simd: S, block: Block<'_>, joints: &FrameJoints<'_>) -> Motion<S> {
        let mut linear = [V3::splat(simd, 0.0); 3];
        for (k, &joint) in block.joints.iter().enumerate() {
            let weight = P::weight(simd, block, k, Reads::First);
            let columns = columns_of(splat_matrix(simd, &joints.matrices[joint as usize]));
            for c in 0..3 {
                linear[c] = columns[c].scale_add(weight, linear[c]);
            }
        }
        Motion {
            linear,
            translation: translation::<S, P, true>(simd, block, joints, Reads::First),
            is_rotation: false,
        }
    }
}
