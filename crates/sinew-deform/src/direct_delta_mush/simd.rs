//! The fast kernel: one frame of direct delta mush, eight vertices side by side.
//!
//! A block is eight consecutive vertices with one list of joints (`blocks.rs`): each joint is read once and spread over all lanes, and only
//! the moments differ from lane to lane. For the joints `j` of a block, with their skinning matrices `M_j`, setup left for each vertex,
//! about its smoothed rest position `c`: a weight `w_j`, first moments `f_j` and second moments `S_j` (symmetric, six numbers).
//!
//! 1. `s = M_k c`: where the strongest joint `k` brings the centre. All else is summed relative to it, so that single precision is kept far
//!    from the origin; `arm_j = M_j c - s` is small for neighbouring joints.
//! 2. Over all joints: `t = sum w_j arm_j + L_j f_j` and `A = sum L_j S_j + arm_j f_j^T`, with `L_j` the linear part of `M_j`. `s + t` is
//!    where the smoothed rest position goes, `A` how its neighbourhood turned.
//! 3. The rotation: the one nearest to `A` by Newton's method from the strongest joint's rotation (v0; `rotation.rs`), or cofactors of `A`
//!    (v1). A small multiple of the strongest joint's rotation is added to `A` first, so that flat neighbourhoods still have a rotation.
//!    The cheaper variants skip `A`: blended quaternions (v2, v4), blended matrices (v3). `Variant` says what each of them reads.
//! 4. `p' = R (p - c) + s + t`. Where joints are stretched, moments see their rotations only, and the blended stretch is applied before
//!    `R`.
//!
//! Rest positions come less an origin, posed ones less a reference (the double precision ends before this file). Cost: all moments are read
//! once a frame, 10 floats for each pair of vertex and joint (5.5 words quantised), which is what bounds the speed on large meshes.

use super::blocks::{Block, Blocks, LANES};
use super::rotation::{Columns, newton, through, times};
use super::variant::{Reads, Storage, Variant};
use crate::lanes::{load8x4, store8x4, transpose8x4};
use crate::simd_vector::V3;
use crate::skin::{Frames, Matrices, Run, move_frames, move_point};
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
    /// Where any joint is stretched: rotations times scales as matrices, and what rotations leave of the joints' matrices.
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

/// Moves a run of vertices; or, where there are `matrices`, writes down the motions of all from the block of the run on,
/// as far as there is room: from rest space less the origin to posed space less the reference.
#[inline(always)]
pub(crate) fn run<S: Simd>(
    simd: S,
    variant: Variant,
    blocks: &Blocks,
    joints: &FrameJoints<'_>,
    run: Run<'_, '_>,
    matrices: Option<&mut [PackedAffine]>,
) {
    match variant {
        Variant::V0 => run_blocks::<S, ByMoments<false>>(simd, blocks, joints, run, matrices),
        Variant::V1 => run_blocks::<S, ByMoments<true>>(simd, blocks, joints, run, matrices),
        Variant::V2 => run_blocks::<S, ByQuaternions<true>>(simd, blocks, joints, run, matrices),
        Variant::V3 => run_blocks::<S, ByMatrices>(simd, blocks, joints, run, matrices),
        Variant::V4 => run_blocks::<S, ByQuaternions<false>>(simd, blocks, joints, run, matrices),
    }
}

#[simd]
fn run_blocks<S: Simd, R: Rule>(
    simd: S,
    blocks: &Blocks,
    joints: &FrameJoints<'_>,
    run: Run<'_, '_>,
    matrices: Option<&mut [PackedAffine]>,
) {
    let Run {
        block: first,
        positions,
        normals,
        tangents,
        mut out_positions,
        mut out_normals,
        mut out_tangents,
    } = run;
    let mut matrices = matrices.map(|m| m.chunks_mut(LANES));
    let count = matrices.as_ref().map_or(positions.len(), |m| m.len());
    let zero = [f32x8::splat(simd, 0.0); 4];
    for b in 0..count {
        let block = blocks.block(first + b);
        let center = center_of(simd, block);
        let motion = R::motion(simd, blocks.storage, block, joints, center);
        if let Some(out) = &mut out_positions {
            let rest = V3::load(simd, &positions[b]);
            let rest = rest - splat3(simd, joints.origin) - center;
            let moved = through(motion.linear, rest) + motion.translation;
            (moved + splat3(simd, joints.reference)).store(&mut out[b]);
        }
        if let (Some(tangents), Some(out)) = (tangents, &mut out_tangents) {
            let n = match normals {
                Some(normals) => V3::load(simd, &normals[b]),
                None => V3::of(zero),
            };
            let t = load8x4(simd, &tangents[b]);
            let (n, t) = turn_frames::<S, true>(simd, &motion, (n, t));
            store8x4(t, &mut out[b]);
            if let Some(out) = &mut out_normals {
                n.store(&mut out[b]);
            }
        } else if let (Some(normals), Some(out)) = (normals, &mut out_normals) {
            let n = V3::load(simd, &normals[b]);
            let (n, _) = turn_frames::<S, false>(simd, &motion, (n, zero));
            n.store(&mut out[b]);
        }
        if let Some(out) = matrices.as_mut().and_then(Iterator::next) {
            write_matrices(&motion, center, out);
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

/// A way to make motions, about centres of a block's vertices.
trait Rule {
    fn motion<S: Simd>(
        simd: S,
        storage: Storage,
        block: Block<'_>,
        joints: &FrameJoints<'_>,
        center: V3<S>,
    ) -> Motion<S>;
}

#[inline(always)]
fn turn_frames<S: Simd, const TANGENTS: bool>(
    simd: S,
    motion: &Motion<S>,
    (n, t): Frames<S>,
) -> Frames<S> {
    if motion.is_rotation {
        let turned = through(motion.linear, V3::of(t));
        let t = [turned.x, turned.y, turned.z, t[3]];
        return (through(motion.linear, n), t);
    }
    let [a, b, c] = motion.linear;
    let zero = f32x8::splat(simd, 0.0);
    let rows = [
        [a.x, b.x, c.x, zero],
        [a.y, b.y, c.y, zero],
        [a.z, b.z, c.z, zero],
    ];
    move_frames::<S, TANGENTS>(simd, &rows, (n, t))
}

#[inline(always)]
fn write_matrices<S: Simd>(motion: &Motion<S>, center: V3<S>, out: &mut [PackedAffine]) {
    let linear = motion.linear;
    let at_origin = motion.translation - through(linear, center);
    let mut columns = [[[0.0; LANES]; 3]; 4];
    linear[0].store_lanes(&mut columns[0]);
    linear[1].store_lanes(&mut columns[1]);
    linear[2].store_lanes(&mut columns[2]);
    at_origin.store_lanes(&mut columns[3]);
    for (lane, out) in out.iter_mut().enumerate() {
        for (r, row) in out.rows.iter_mut().enumerate() {
            *row = columns.map(|column| column[r][lane]);
        }
    }
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

/// Where the moments of a pair come from.
trait Source {
    /// Second moments.
    fn second<S: Simd>(simd: S, block: Block<'_>, k: usize) -> [f32x8<S>; 6];
    /// First moments.
    fn first<S: Simd>(simd: S, block: Block<'_>, k: usize, reads: Reads) -> V3<S>;
}

/// Single precision.
struct Full;
/// Halves of words.
struct Quantized;

#[inline(always)]
fn weight<S: Simd>(simd: S, block: Block<'_>, k: usize) -> f32x8<S> {
    f32x8::load_array_ref(simd, &block.numbers[(k + 1) * block.stride - 1])
}

impl Source for Full {
    #[inline(always)]
    fn second<S: Simd>(simd: S, block: Block<'_>, k: usize) -> [f32x8<S>; 6] {
        let pair = &block.numbers.as_chunks::<10>().0[k];
        [
            f32x8::load_array_ref(simd, &pair[0]),
            f32x8::load_array_ref(simd, &pair[1]),
            f32x8::load_array_ref(simd, &pair[2]),
            f32x8::load_array_ref(simd, &pair[3]),
            f32x8::load_array_ref(simd, &pair[4]),
            f32x8::load_array_ref(simd, &pair[5]),
        ]
    }
    #[inline(always)]
    fn first<S: Simd>(simd: S, block: Block<'_>, k: usize, reads: Reads) -> V3<S> {
        let at = (k + 1) * reads.floats() - 4;
        let first = &block.numbers[at..at + 3];
        V3 {
            x: f32x8::load_array_ref(simd, &first[0]),
            y: f32x8::load_array_ref(simd, &first[1]),
            z: f32x8::load_array_ref(simd, &first[2]),
        }
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
}

/// Variants v0 and, with `COFACTOR`, v1.
struct ByMoments<const COFACTOR: bool>;

impl<const COFACTOR: bool> Rule for ByMoments<COFACTOR> {
    #[inline(always)]
    fn motion<S: Simd>(
        simd: S,
        storage: Storage,
        block: Block<'_>,
        joints: &FrameJoints<'_>,
        center: V3<S>,
    ) -> Motion<S> {
        let own = gather_matrices(simd, block.strongest, joints.matrices);
        // Where the strongest joints bring the centres.
        let start = move_point(&own, center);
        let sums = match storage {
            Storage::Full => sums::<S, Full, COFACTOR>(simd, block, joints, (center, start)),
            Storage::Quantized => {
                sums::<S, Quantized, COFACTOR>(simd, block, joints, (center, start))
            }
        };
        let size = f32x8::load_array_ref(simd, &block.center[3]);
        let mut scale = size;
        let own = match joints.stretched {
            None => columns_of(own),
            Some(stretched) => {
                let scaled = gather_matrices(simd, block.strongest, stretched.turns);
                let inverse = scaled[0][3];
                scale *= inverse;
                columns_of(scaled).map(|column| column * inverse)
            }
        };
        let variant = if COFACTOR { Variant::V1 } else { Variant::V0 };
        let pull = f32x8::splat(simd, variant.pull() as f32);
        let mut posed = sums.posed;
        for c in 0..3 {
            posed[c] = own[c].scale_add(pull, posed[c] * scale);
        }
        let turn = if COFACTOR {
            by_cofactor(simd, posed, sums.rest, size, pull, own)
        } else {
            newton(simd, posed, own)
        };
        Motion {
            linear: with_stretch(simd, block, joints, turn),
            translation: start + sums.shift,
            is_rotation: !COFACTOR && joints.stretched.is_none(),
        }
    }
}

/// Variants v2 and, with `FIRST` off, v4.
struct ByQuaternions<const FIRST: bool>;

impl<const FIRST: bool> Rule for ByQuaternions<FIRST> {
    #[inline(always)]
    fn motion<S: Simd>(
        simd: S,
        storage: Storage,
        block: Block<'_>,
        joints: &FrameJoints<'_>,
        center: V3<S>,
    ) -> Motion<S> {
        let turn = blend_rotations(simd, block, joints);
        let translation = match storage {
            Storage::Quantized if FIRST => {
                translation::<S, Quantized, FIRST>(simd, block, joints, center)
            }
            _ => translation::<S, Full, FIRST>(simd, block, joints, center),
        };
        Motion {
            linear: with_stretch(simd, block, joints, turn),
            translation,
            is_rotation: joints.stretched.is_none(),
        }
    }
}

/// Variant v3.
struct ByMatrices;

impl Rule for ByMatrices {
    #[inline(always)]
    fn motion<S: Simd>(
        simd: S,
        storage: Storage,
        block: Block<'_>,
        joints: &FrameJoints<'_>,
        center: V3<S>,
    ) -> Motion<S> {
        Motion {
            linear: blend_columns(simd, block, joints.matrices),
            translation: match storage {
                Storage::Full => translation::<S, Full, true>(simd, block, joints, center),
                Storage::Quantized => {
                    translation::<S, Quantized, true>(simd, block, joints, center)
                }
            },
            is_rotation: false,
        }
    }
}

#[inline(always)]
fn with_stretch<S: Simd>(
    simd: S,
    block: Block<'_>,
    joints: &FrameJoints<'_>,
    turn: Columns<S>,
) -> Columns<S> {
    match joints.stretched {
        Some(stretched) => times(turn, blend_columns(simd, block, stretched.stretch)),
        None => turn,
    }
}

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

#[inline(always)]
fn sums<S: Simd, P: Source, const COFACTOR: bool>(
    simd: S,
    block: Block<'_>,
    joints: &FrameJoints<'_>,
    (center, start): (V3<S>, V3<S>),
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
        let weight = weight(simd, block, k);
        let arm = move_point(&m, center) - start;
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

/// The weighted sum of matrices, by columns.
#[inline(always)]
fn blend_columns<S: Simd>(simd: S, block: Block<'_>, of: &[PackedAffine]) -> Columns<S> {
    let mut sum = [V3::splat(simd, 0.0); 3];
    for (k, &joint) in block.joints.iter().enumerate() {
        let weight = weight(simd, block, k);
        let columns = columns_of(splat_matrix(simd, &of[joint as usize]));
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
    center: V3<S>,
) -> V3<S> {
    let own = gather_matrices(simd, block.strongest, joints.matrices);
    let start = move_point(&own, center);
    let mut shift = V3::splat(simd, 0.0);
    for (k, &joint) in block.joints.iter().enumerate() {
        let m = splat_matrix(simd, &joints.matrices[joint as usize]);
        let arm = move_point(&m, center) - start;
        shift = arm.scale_add(weight(simd, block, k), shift);
        if FIRST {
            let first = P::first(simd, block, k, Reads::First);
            shift = first.times(rows_of(m)) + shift;
        }
    }
    start + shift
}

/// The weighted sum of quaternions, each on the side of the strongest joint's, as a rotation by columns.
#[inline(always)]
fn blend_rotations<S: Simd>(simd: S, block: Block<'_>, joints: &FrameJoints<'_>) -> Columns<S> {
    let zero = f32x8::splat(simd, 0.0);
    let pivot = gather_rotations(simd, block.strongest, joints.rotations);
    let mut sum = [zero; 4];
    for (k, &joint) in block.joints.iter().enumerate() {
        let weight = weight(simd, block, k);
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
