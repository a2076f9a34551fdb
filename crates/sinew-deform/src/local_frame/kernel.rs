//! One vertex through a local map, and the loop over a block of them.

use super::{Frame, LaneReal, Local, LocalMap, high};
use crate::{MaskWeight, MeshView};
use fearless_simd::Simd;
use fearless_simd_macros::simd;
use std::ops::Range;

/// One vertex before.
#[derive(Clone, Copy, Debug, Default)]
pub struct VertexIn<R> {
    /// Position.
    pub position: [R; 3],
    /// Normal.
    pub normal: [R; 3],
    /// Tangent without its sign.
    pub tangent: [R; 3],
    /// Strength: weight times mask.
    pub weight: R,
}

/// One vertex after.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved<R> {
    /// Position.
    pub position: [R; 3],
    /// Unit normal, or what came in where there is no direction.
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

/// Where a point of strength `w` goes, and the columns of `I + w G` there.
#[inline(always)]
fn move_point<R: LaneReal, M: LocalMap<R>>(
    frame: &Frame<R>,
    map: &M,
    point: [R; 3],
    w: R,
) -> ([R; 3], [[R; 3]; 3]) {
    let local = times(&frame.local_from_scene, point);
    let local = std::array::from_fn(|c| local[c] + frame.offset[c]);
    let Local { offset, gradient } = map.at(local);
    let step = times(&frame.scene_from_local, offset);
    let position = std::array::from_fn(|c| {
        let moved = point[c] + w * step[c];
        // Zero times a number is zero for finite ones only.
        if moved * R::zero() == R::zero() {
            moved
        } else {
            point[c]
        }
    });
    let jacobian = std::array::from_fn(|c| {
        std::array::from_fn(|r| {
            let identity = if c == r { R::one() } else { R::zero() };
            identity + w * gradient[c][r]
        })
    });
    (position, jacobian)
}

/// The normal where the map has that Jacobian; `given` where `w` is zero.
#[inline(always)]
fn move_normal<R: LaneReal>(
    frame: &Frame<R>,
    &[a, b, c]: &[[R; 3]; 3],
    given: [R; 3],
    w: R,
) -> [R; 3] {
    let n = transposed_times(&frame.scene_from_local, given);
    let cofactor = [cross(b, c), cross(c, a), cross(a, b)];
    let n = transposed_times(&frame.local_from_scene, times(&cofactor, n));
    let n = unit(n, given);
    std::array::from_fn(|c| if w == R::zero() { given[c] } else { n[c] })
}

/// The tangent there, perpendicular to the moved normal; `given` where `w` is zero.
#[inline(always)]
fn move_tangent<R: LaneReal>(
    frame: &Frame<R>,
    jacobian: &[[R; 3]; 3],
    given: [R; 3],
    normal: [R; 3],
    w: R,
) -> [R; 3] {
    let t = times(&frame.local_from_scene, given);
    let t = times(&frame.scene_from_local, times(jacobian, t));
    let t = unit(t, given);
    let along = dot(t, normal);
    let t = unit(std::array::from_fn(|c| t[c] - along * normal[c]), t);
    std::array::from_fn(|c| if w == R::zero() { given[c] } else { t[c] })
}

/// Moves one vertex.
pub fn move_vertex<R: LaneReal, M: LocalMap<R>>(
    frame: &Frame<R>,
    map: &M,
    vertex: VertexIn<R>,
) -> Moved<R> {
    let w = vertex.weight;
    let (position, jacobian) = move_point(frame, map, vertex.position, w);
    let normal = move_normal(frame, &jacobian, vertex.normal, w);
    Moved {
        position,
        normal,
        tangent: move_tangent(frame, &jacobian, vertex.tangent, normal, w),
    }
}

/// Vertices a block: enough for two registers of the widest kind.
const BLOCK: usize = 32;

/// What a kernel writes, cut to its range.
pub(super) type Out<'a> = (
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 4]]>,
);

type Lanes = [f32; BLOCK];
type Lanes3 = [Lanes; 3];
const ZERO: Lanes3 = [[0.0; BLOCK]; 3];

/// Vertices side by side.
struct Block {
    position: Lanes3,
    /// Zero where there are none: tangents are perpendicular to nothing then.
    normal: Lanes3,
    tangent: Lanes3,
    weight: Lanes,
    jacobian: [Lanes3; 3],
}

/// What the kernel reads and writes of a range.
pub(super) struct Work<'a, 'b> {
    pub(super) weight: MaskWeight<'a>,
    pub(super) input: MeshView<'a>,
    /// Normals or tangents are wanted.
    pub(super) directions: bool,
    pub(super) range: Range<usize>,
    pub(super) out: Out<'b>,
}

/// The `f32` form of [`move_vertex`] over a range, compiled for each SIMD level. The same operations in the same
/// order whatever the level, hence the same bits. Each map has a copy of this function; what needs no map is in
/// functions that all of them call.
#[simd]
pub(super) fn run<S: Simd, M: LocalMap<f32>>(
    simd: S,
    frame: &Frame<f32>,
    map: &M,
    mut work: Work<'_, '_>,
) {
    let mut block = Block {
        position: ZERO,
        normal: ZERO,
        tangent: ZERO,
        weight: [0.0; BLOCK],
        jacobian: [ZERO; 3],
    };
    for start in work.range.clone().step_by(BLOCK) {
        let from = start..work.range.end.min(start + BLOCK);
        load(simd, &work, from.clone(), &mut block);
        let (frame, map) = (*frame, *map);
        let (p, w) = (&mut block.position, &block.weight);
        if work.directions {
            for i in 0..BLOCK {
                let (position, columns) = move_point(&frame, &map, lane(p, i), w[i]);
                put(p, i, position);
                for c in 0..3 {
                    put(&mut block.jacobian[c], i, columns[c]);
                }
            }
            move_directions(simd, &frame, &mut block, &mut work, from.clone());
        } else {
            for i in 0..BLOCK {
                let (position, _) = move_point(&frame, &map, lane(p, i), w[i]);
                put(p, i, position);
            }
        }
        store(simd, &block, &mut work, from);
    }
}

/// The positions and strengths of a block.
#[simd]
fn load<S: Simd>(_: S, work: &Work<'_, '_>, from: Range<usize>, block: &mut Block) {
    gather(&mut block.position, &work.input.positions[from.clone()]);
    for (w, v) in block.weight.iter_mut().zip(from) {
        *w = work.weight.at(v);
    }
}

/// Writes the positions of a block.
#[simd]
fn store<S: Simd>(_: S, block: &Block, work: &mut Work<'_, '_>, from: Range<usize>) {
    let start = work.range.start;
    if let Some(all) = &mut work.out.0 {
        scatter(
            &block.position,
            &mut all[from.start - start..from.end - start],
        );
    }
}

/// Moves the normals and tangents of a block.
#[simd]
fn move_directions<S: Simd>(
    _: S,
    frame: &Frame<f32>,
    block: &mut Block,
    work: &mut Work<'_, '_>,
    from: Range<usize>,
) {
    let to = from.start - work.range.start..from.end - work.range.start;
    let (n, t, w) = (&mut block.normal, &mut block.tangent, &block.weight);
    let frame = *frame;
    if let Some(all) = work.input.normals {
        gather(n, &all[from.clone()]);
    }
    if let (Some(all), Some(given)) = (&mut work.out.2, work.input.tangents) {
        let given = &given[from];
        gather(t, given);
        // One loop for both: neither waits for the divisions of the other.
        for i in 0..BLOCK {
            let jacobian = columns(&block.jacobian, i);
            let normal = move_normal(&frame, &jacobian, lane(n, i), w[i]);
            let tangent = move_tangent(&frame, &jacobian, lane(t, i), normal, w[i]);
            put(n, i, normal);
            put(t, i, tangent);
        }
        scatter(t, &mut all[to.clone()]);
        for (to, given) in all[to.clone()].iter_mut().zip(given) {
            to[3] = given[3];
        }
    } else {
        for i in 0..BLOCK {
            let normal = move_normal(&frame, &columns(&block.jacobian, i), lane(n, i), w[i]);
            put(n, i, normal);
        }
    }
    if let Some(all) = &mut work.out.1 {
        scatter(n, &mut all[to]);
    }
}

#[inline(always)]
fn lane(lanes: &Lanes3, i: usize) -> [f32; 3] {
    [lanes[0][i], lanes[1][i], lanes[2][i]]
}

#[inline(always)]
fn columns(lanes: &[Lanes3; 3], i: usize) -> [[f32; 3]; 3] {
    [lane(&lanes[0], i), lane(&lanes[1], i), lane(&lanes[2], i)]
}

#[inline(always)]
fn put(lanes: &mut Lanes3, i: usize, v: [f32; 3]) {
    for c in 0..3 {
        lanes[c][i] = v[c];
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
