//! One vertex through a local map, and the loop over a block of them.

use super::{Frame, LaneReal, Local, LocalMap, high};
use crate::{MaskWeight, MeshView};
use fearless_simd::Simd;
use fearless_simd_macros::simd;
use std::ops::Range;

/// One vertex before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VertexIn<R> {
    /// Position.
    pub position: [R; 3],
    /// Normal.
    pub normal: [R; 3],
    /// Tangent without its sign.
    pub tangent: [R; 3],
    /// Strength: weight times mask.
    pub weight: R,
}

/// One vertex after the deformation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved<R> {
    /// Position.
    pub position: [R; 3],
    /// Unit normal; the incoming one if there is no direction.
    pub normal: [R; 3],
    /// Unit tangent, perpendicular to the normal where there is one.
    pub tangent: [R; 3],
}

#[inline(always)]
fn times<R: LaneReal>(columns: &[[R; 3]; 3], v: [R; 3]) -> [R; 3] {
    let row = |r: usize| columns[0][r] * v[0] + columns[1][r] * v[1] + columns[2][r] * v[2];
    [row(0), row(1), row(2)]
}

#[inline(always)]
fn transposed_times<R: LaneReal>(columns: &[[R; 3]; 3], v: [R; 3]) -> [R; 3] {
    [dot(columns[0], v), dot(columns[1], v), dot(columns[2], v)]
}

#[inline(always)]
fn dot<R: LaneReal>(a: [R; 3], b: [R; 3]) -> R {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross<R: LaneReal>(a: [R; 3], b: [R; 3]) -> [R; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Unit length, or `otherwise` where the length is zero or not finite. Scaled first: squares neither overflow nor
/// vanish.
#[inline(always)]
fn unit<R: LaneReal>(v: [R; 3], otherwise: [R; 3]) -> [R; 3] {
    let size = |a: R| high(a, -a);
    let largest = high(size(v[0]), high(size(v[1]), size(v[2])));
    let scale = R::one() / largest;
    let v = v.map(|c| c * scale);
    let length = dot(v, v);
    let inverse = R::one() / length.sqrt();
    // At least one component is 1 now, unless the vector was zero, tiny or not finite.
    let good = length > R::from_double(0.5) && length < R::from_double(4.0);
    std::array::from_fn(|c| if good { v[c] * inverse } else { otherwise[c] })
}

/// Moves one vertex; `NORMALS` and `TANGENTS` say which directions to compute.
#[inline(always)]
pub(crate) fn move_vertex<
    R: LaneReal,
    M: LocalMap<R>,
    const NORMALS: bool,
    const TANGENTS: bool,
>(
    frame: &Frame<R>,
    map: &M,
    vertex: VertexIn<R>,
) -> Moved<R> {
    let local = times(&frame.local_from_scene, vertex.position);
    let local = std::array::from_fn(|c| local[c] + frame.offset[c]);
    let Local { offset, gradient } = map.at(local);
    let w = vertex.weight;
    let step = times(&frame.scene_from_local, offset);
    let mut out = Moved {
        position: std::array::from_fn(|c| {
            let moved = vertex.position[c] + w * step[c];
            // Zero times a number is zero for finite ones only.
            if moved * R::zero() == R::zero() {
                moved
            } else {
                vertex.position[c]
            }
        }),
        normal: vertex.normal,
        tangent: vertex.tangent,
    };
    let jacobian: [[R; 3]; 3] = std::array::from_fn(|c| {
        std::array::from_fn(|r| {
            let identity = if c == r { R::one() } else { R::zero() };
            identity + w * gradient[c][r]
        })
    });
    let still = w == R::zero();
    if NORMALS {
        let n = transposed_times(&frame.scene_from_local, vertex.normal);
        let [a, b, c] = jacobian;
        let cofactor = [cross(b, c), cross(c, a), cross(a, b)];
        let n = transposed_times(&frame.local_from_scene, times(&cofactor, n));
        let n = unit(n, vertex.normal);
        out.normal = std::array::from_fn(|c| if still { vertex.normal[c] } else { n[c] });
    }
    if TANGENTS {
        let t = times(&frame.local_from_scene, vertex.tangent);
        let t = times(&frame.scene_from_local, times(&jacobian, t));
        let t = unit(t, vertex.tangent);
        let along = dot(t, out.normal);
        let t = unit(std::array::from_fn(|c| t[c] - along * out.normal[c]), t);
        out.tangent = std::array::from_fn(|c| if still { vertex.tangent[c] } else { t[c] });
    }
    out
}

/// Vertices a block: enough for two registers of the widest kind.
const BLOCK: usize = 32;

/// What a kernel writes, cut to its range.
pub(super) type Out<'a> = (
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 4]]>,
);

type Lanes3 = [[f32; BLOCK]; 3];

/// The `f32` form of [`move_vertex`] over a range, compiled for each SIMD level. The same operations in the same
/// order whatever the level, hence the same bits.
#[simd]
pub(super) fn run<S: Simd, M: LocalMap<f32>, const NORMALS: bool, const TANGENTS: bool>(
    _: S,
    frame: &Frame<f32>,
    map: &M,
    weight: &MaskWeight<'_>,
    input: &MeshView<'_>,
    range: Range<usize>,
    out: Out<'_>,
) {
    let (mut positions, mut normals, mut tangents) = out;
    let zero: Lanes3 = [[0.0; BLOCK]; 3];
    let (mut p, mut n, mut t, mut w) = (zero, zero, zero, [0.0_f32; BLOCK]);
    let mut start = range.start;
    while start < range.end {
        let len = BLOCK.min(range.end - start);
        let (from, to) = (start, start + len);
        gather(&mut p, &input.positions[from..to]);
        if let (true, Some(all)) = (NORMALS, input.normals) {
            gather(&mut n, &all[from..to]);
        }
        if let (true, Some(all)) = (TANGENTS, input.tangents) {
            gather(&mut t, &all[from..to]);
        }
        for (lane, v) in (from..to).enumerate() {
            w[lane] = weight.at(v);
        }
        let (frame, map) = (*frame, *map);
        for i in 0..BLOCK {
            let moved = move_vertex::<f32, M, NORMALS, TANGENTS>(
                &frame,
                &map,
                VertexIn {
                    position: [p[0][i], p[1][i], p[2][i]],
                    normal: [n[0][i], n[1][i], n[2][i]],
                    tangent: [t[0][i], t[1][i], t[2][i]],
                    weight: w[i],
                },
            );
            for c in 0..3 {
                p[c][i] = moved.position[c];
                n[c][i] = moved.normal[c];
                t[c][i] = moved.tangent[c];
            }
        }
        let at = from - range.start;
        if let Some(all) = &mut positions {
            scatter(&p, &mut all[at..at + len]);
        }
        if let (true, Some(all)) = (NORMALS, &mut normals) {
            scatter(&n, &mut all[at..at + len]);
        }
        if let (true, Some(all), Some(given)) = (TANGENTS, &mut tangents, input.tangents) {
            scatter(&t, &mut all[at..at + len]);
            for (to, given) in all[at..at + len].iter_mut().zip(&given[from..to]) {
                to[3] = given[3];
            }
        }
        start += len;
    }
}

#[inline(always)]
fn gather<const N: usize>(lanes: &mut Lanes3, from: &[[f32; N]]) {
    for (i, v) in from.iter().enumerate().take(BLOCK) {
        for c in 0..3 {
            lanes[c][i] = v[c];
        }
    }
}

#[inline(always)]
fn scatter<const N: usize>(lanes: &Lanes3, to: &mut [[f32; N]]) {
    for (i, v) in to.iter_mut().enumerate().take(BLOCK) {
        for c in 0..3 {
            v[c] = lanes[c][i];
        }
    }
}
