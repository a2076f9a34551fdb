//! Distances with eight lanes: one point against eight triangles, and one triangle against eight nodes.
//!
//! Seen from a point `c`, a triangle whose closest point is `q` lies behind the plane through `q` across `c - q`, as it is
//! convex. So `|c - q| + o . u`, with `u` the unit vector of `c - q`, is never more than its distance from `c + o`. That
//! bound costs three multiplications and is tight over a whole block of nodes; few triangles pass it.

use super::surface::{AXIS_X, AXIS_Y, Cluster, EDGE02, EDGE12, LENGTH, NORMAL, ORIGIN, Surface};
use super::tree::BoxBlock;
use super::triangle::{P, add_scaled, dot, scaled, sub};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*, u32x8};

/// Three fields of the triangles of a cluster.
#[inline(always)]
fn load<S: Simd>(simd: S, cluster: &Cluster, at: usize) -> V3<S> {
    V3 {
        x: f32x8::load_array_ref(simd, &cluster.fields[at]),
        y: f32x8::load_array_ref(simd, &cluster.fields[at + 1]),
        z: f32x8::load_array_ref(simd, &cluster.fields[at + 2]),
    }
}

/// Those of one triangle, in all lanes.
#[inline(always)]
fn splat_lane<S: Simd>(simd: S, cluster: &Cluster, at: usize, lane: usize) -> V3<S> {
    V3::all(simd, field(cluster, at, lane))
}

/// One point and eight triangles.
#[derive(Clone, Copy)]
pub(super) struct FromPoint<S: Simd> {
    /// Squared distances.
    pub(super) square: f32x8<S>,
    /// The point in the frames of the triangles.
    pub(super) local: V3<S>,
    /// From the closest points to the point.
    pub(super) away: V3<S>,
}

/// A vector of the plane of a triangle.
type V2<S> = (f32x8<S>, f32x8<S>);

#[inline(always)]
fn square<S: Simd>((x, y): V2<S>) -> f32x8<S> {
    x.mul_add(x, y * y)
}

/// From the closest point of an edge through the origin to `(x, y)`; and the place along it.
#[inline(always)]
fn from_edge<S: Simd>((x, y): V2<S>, [ux, uy, length]: [f32x8<S>; 3]) -> (V2<S>, f32x8<S>) {
    let along = x.mul_add(ux, y * uy).max(0.0).min(length);
    let back = -along;
    ((back.mul_add(ux, x), back.mul_add(uy, y)), along)
}

/// How far `(x, y)` is past the ends of an edge through the origin, and how far to its right.
#[inline(always)]
fn beside_edge<S: Simd>((x, y): V2<S>, [ux, uy, length]: [f32x8<S>; 3]) -> V2<S> {
    let along = x.mul_add(ux, y * uy);
    (along - along.max(0.0).min(length), x.mul_sub(uy, y * ux))
}

/// The plane of a triangle.
struct Plane<S: Simd> {
    length: f32x8<S>,
    edge02: [f32x8<S>; 3],
    edge12: [f32x8<S>; 3],
}

impl<S: Simd> Plane<S> {
    #[inline(always)]
    fn load(simd: S, cluster: &Cluster) -> Self {
        let a = load(simd, cluster, EDGE02);
        let b = load(simd, cluster, EDGE12);
        Self {
            length: f32x8::load_array_ref(simd, &cluster.fields[LENGTH]),
            edge02: [a.x, a.y, a.z],
            edge12: [b.x, b.y, b.z],
        }
    }
    #[inline(always)]
    fn splat(simd: S, cluster: &Cluster, lane: usize) -> Self {
        let a = splat_lane(simd, cluster, EDGE02, lane);
        let b = splat_lane(simd, cluster, EDGE12, lane);
        Self {
            length: f32x8::splat(simd, cluster.fields[LENGTH][lane]),
            edge02: [a.x, a.y, a.z],
            edge12: [b.x, b.y, b.z],
        }
    }
    /// Strictly inside all edges; never, where the triangle has no area.
    #[inline(always)]
    fn contains(&self, (x, y): V2<S>) -> mask32x8<S> {
        let [ax, ay, _] = self.edge02;
        let [bx, by, _] = self.edge12;
        let right_of_02 = x.mul_sub(ay, y * ax).simd_gt(0.0);
        let left_of_12 = (x - self.length).mul_sub(by, y * bx).simd_lt(0.0);
        y.simd_gt(0.0) & right_of_02 & left_of_12
    }
    /// Squared distance in the plane.
    #[inline(always)]
    fn square(&self, (x, y): V2<S>) -> f32x8<S> {
        let past01 = x - x.max(0.0).min(self.length);
        let (past02, right_of_02) = beside_edge((x, y), self.edge02);
        let (past12, right_of_12) = beside_edge((x - self.length, y), self.edge12);
        let nearest = square((past01, y))
            .min(square((past02, right_of_02)))
            .min(square((past12, right_of_12)));
        let zero = f32x8::splat(nearest.simd, 0.0);
        let inside = y.simd_gt(0.0) & right_of_02.simd_gt(0.0) & right_of_12.simd_lt(0.0);
        inside.select(zero, nearest)
    }
}

/// Distances of `p` to the triangles of a cluster.
#[inline(always)]
pub(super) fn from_point<S: Simd>(simd: S, cluster: &Cluster, p: P) -> FromPoint<S> {
    let rel = V3::all(simd, p) - load(simd, cluster, ORIGIN);
    let ex = load(simd, cluster, AXIS_X);
    let ey = load(simd, cluster, AXIS_Y);
    let n = load(simd, cluster, NORMAL);
    closest(simd, rel, [ex, ey, n], &Plane::load(simd, cluster))
}

/// Distances of eight points around `p` to one triangle.
#[inline(always)]
pub(super) fn from_points<S: Simd>(
    simd: S,
    cluster: &Cluster,
    lane: usize,
    p: P,
    offsets: V3<S>,
) -> FromPoint<S> {
    let rel = offsets + V3::all(simd, sub(p, field(cluster, ORIGIN, lane)));
    let ex = splat_lane(simd, cluster, AXIS_X, lane);
    let ey = splat_lane(simd, cluster, AXIS_Y, lane);
    let n = splat_lane(simd, cluster, NORMAL, lane);
    closest(simd, rel, [ex, ey, n], &Plane::splat(simd, cluster, lane))
}

/// From what is closest to points that are at `rel` from corners 0.
#[inline(always)]
fn closest<S: Simd>(
    simd: S,
    rel: V3<S>,
    [ex, ey, n]: [V3<S>; 3],
    plane: &Plane<S>,
) -> FromPoint<S> {
    let (x, y, z) = (rel.dot(ex), rel.dot(ey), rel.dot(n));
    let off01 = (x - x.max(0.0).min(plane.length), y);
    let (off02, _) = from_edge((x, y), plane.edge02);
    let (off12, _) = from_edge((x - plane.length, y), plane.edge12);
    let first = square(off01).simd_le(square(off02));
    let off = (
        first.select(off01.0, off02.0),
        first.select(off01.1, off02.1),
    );
    let first = square(off).simd_le(square(off12));
    let zero = f32x8::splat(simd, 0.0);
    let inside = plane.contains((x, y));
    let off = (
        inside.select(zero, first.select(off.0, off12.0)),
        inside.select(zero, first.select(off.1, off12.1)),
    );
    let away = ex.scale_add(off.0, ey.scale_add(off.1, n * z));
    FromPoint {
        square: z.mul_add(z, square(off)),
        local: V3 { x, y, z },
        away,
    }
}

/// Squared distances of eight nodes to one triangle; `local` is the block's centre in the triangle's frame.
#[inline(always)]
pub(super) fn from_nodes<S: Simd>(
    simd: S,
    cluster: &Cluster,
    lane: usize,
    local: P,
    offsets: V3<S>,
) -> f32x8<S> {
    let at = V3::all(simd, local);
    let ex = splat_lane(simd, cluster, AXIS_X, lane);
    let ey = splat_lane(simd, cluster, AXIS_Y, lane);
    let n = splat_lane(simd, cluster, NORMAL, lane);
    let x = offsets.dot_add(ex, at.x);
    let y = offsets.dot_add(ey, at.y);
    let z = offsets.dot_add(n, at.z);
    let in_plane = Plane::splat(simd, cluster, lane).square((x, y));
    z.mul_add(z, in_plane)
}

/// A field of one triangle.
#[inline(always)]
pub(super) fn field(cluster: &Cluster, at: usize, lane: usize) -> P {
    let f = &cluster.fields;
    [f[at][lane], f[at + 1][lane], f[at + 2][lane]]
}

/// A point in the frame of a triangle.
#[inline(always)]
pub(super) fn local_point(cluster: &Cluster, lane: usize, p: P) -> P {
    let rel = sub(p, field(cluster, ORIGIN, lane));
    [
        dot(rel, field(cluster, AXIS_X, lane)),
        dot(rel, field(cluster, AXIS_Y, lane)),
        dot(rel, field(cluster, NORMAL, lane)),
    ]
}

/// Planes through the features of one triangle: value at the centre of a block, and slope. Corners 0, 1 and 2, then the
/// edges 0-1, 1-2 and 2-0.
#[inline(always)]
fn feature_planes(signs: &Signs<'_>, triangle: usize, center: P) -> [(f32, P); 6] {
    let (c, lane) = (triangle / 8, triangle % 8);
    let surface = signs.surface;
    let cluster = &surface.clusters[c];
    let rel = sub(center, field(cluster, ORIGIN, lane));
    let ex = field(cluster, AXIS_X, lane);
    let ey = field(cluster, AXIS_Y, lane);
    let [ux, uy, along] = field(cluster, EDGE02, lane);
    let corner1 = add_scaled(rel, ex, -cluster.fields[LENGTH][lane]);
    let corner2 = add_scaled(add_scaled(rel, ex, -ux * along), ey, -uy * along);
    let first = surface.extras[c].first[lane] as usize;
    let (k0, k1, k2) = (first % 3, (first + 1) % 3, (first + 2) % 3);
    let (edges, classes) = (signs.edges[triangle], signs.classes[triangle]);
    [
        plane(&surface.class_normals, classes[k0], rel),
        plane(&surface.class_normals, classes[k1], corner1),
        plane(&surface.class_normals, classes[k2], corner2),
        plane(&surface.edge_normals, edges[k0], rel),
        plane(&surface.edge_normals, edges[k1], corner1),
        plane(&surface.edge_normals, edges[k2], rel),
    ]
}

#[inline(always)]
fn plane(normals: &[P], index: u32, rel: P) -> (f32, P) {
    let n = normals[index as usize];
    (dot(n, rel), n)
}

/// What signs by pseudonormals read.
#[derive(Clone, Copy)]
pub(super) struct Signs<'a> {
    pub(super) surface: &'a Surface,
    pub(super) edges: &'a [[u32; 3]],
    pub(super) classes: &'a [[u32; 3]],
}

#[inline(always)]
fn plane_at<S: Simd>(simd: S, (at, slope): (f32, P), offsets: V3<S>) -> f32x8<S> {
    offsets.dot_add(V3::all(simd, slope), f32x8::splat(simd, at))
}

/// Which of the wanted nodes are behind the pseudonormal of the feature of `triangle` that they are nearest to.
#[inline(always)]
pub(super) fn behind<S: Simd>(
    simd: S,
    signs: &Signs<'_>,
    triangle: usize,
    center: P,
    offsets: V3<S>,
    wanted: mask32x8<S>,
) -> mask32x8<S> {
    let (cluster, lane) = (&signs.surface.clusters[triangle / 8], triangle % 8);
    let at = V3::all(simd, local_point(cluster, lane, center));
    let ex = splat_lane(simd, cluster, AXIS_X, lane);
    let ey = splat_lane(simd, cluster, AXIS_Y, lane);
    let n = splat_lane(simd, cluster, NORMAL, lane);
    let (x, y) = (offsets.dot_add(ex, at.x), offsets.dot_add(ey, at.y));
    let plane = Plane::splat(simd, cluster, lane);
    let behind_face = offsets.dot_add(n, at.z).simd_lt(0.0);
    let over_face = plane.contains((x, y));
    if !(wanted & !over_face).any_true() {
        return behind_face;
    }
    let planes = feature_planes(signs, triangle, center);
    let along01 = x.max(0.0).min(plane.length);
    let (off02, along02) = from_edge((x, y), plane.edge02);
    let (off12, along12) = from_edge((x - plane.length, y), plane.edge12);
    let (square02, square12) = (square(off02), square(off12));
    let c0 = plane_at(simd, planes[0], offsets);
    let c1 = plane_at(simd, planes[1], offsets);
    let c2 = plane_at(simd, planes[2], offsets);
    let e01 = plane_at(simd, planes[3], offsets);
    let e12 = plane_at(simd, planes[4], offsets);
    let e20 = plane_at(simd, planes[5], offsets);
    // Ends of an edge belong to its corners.
    let on01 = along01
        .simd_le(0.0)
        .select(c0, along01.simd_ge(plane.length).select(c1, e01));
    let on02 = along02
        .simd_le(0.0)
        .select(c0, along02.simd_ge(plane.edge02[2]).select(c2, e20));
    let on12 = along12
        .simd_le(0.0)
        .select(c1, along12.simd_ge(plane.edge12[2]).select(c2, e12));
    let square01 = (x - along01).mul_add(x - along01, y * y);
    let first = square01.simd_le(square02);
    let value = first.select(on01, on02);
    let value = square01.min(square02).simd_le(square12).select(value, on12);
    (over_face & behind_face) | (!over_face & value.simd_lt(0.0))
}

/// Squared distances between eight boxes and one.
#[inline(always)]
pub(super) fn box_squares<S: Simd>(simd: S, boxes: &BoxBlock, low: P, high: P) -> f32x8<S> {
    let zero = f32x8::splat(simd, 0.0);
    let mut sum = zero;
    for k in 0..3 {
        let below = f32x8::load_array_ref(simd, &boxes[k]) - high[k];
        let above = f32x8::splat(simd, low[k]) - f32x8::load_array_ref(simd, &boxes[k + 3]);
        let gap = below.max(above).max(zero);
        sum = gap.mul_add(gap, sum);
    }
    sum
}

/// What is known of eight triangles at the centre of a block: enough to bound their distances around it.
#[derive(Clone, Copy)]
pub(super) struct Bound<S: Simd> {
    pub(super) distance: f32x8<S>,
    pub(super) direction: V3<S>,
}

/// Closer than this (cells) a direction is rounding noise; the bound is then zero everywhere.
const TOUCHING: f32 = 0.05;
/// Roundings of bounds, in cells. More than enough: bricks see distances of some ten cells.
pub(super) const SLACK: f32 = 1e-3;

impl<S: Simd> Bound<S> {
    #[inline(always)]
    pub(super) fn new(from: &FromPoint<S>) -> Self {
        let zero = f32x8::splat(from.square.simd, 0.0);
        let distance = from.square.sqrt();
        let far = distance.simd_gt(TOUCHING);
        let one = zero + 1.0;
        let inverse = far.select(one / distance.max(TOUCHING), zero);
        Self {
            distance: far.select(distance, zero),
            direction: from.away * inverse,
        }
    }

    /// At the offset.
    #[inline(always)]
    pub(super) fn at(&self, offset: V3<S>) -> f32x8<S> {
        self.direction.dot_add(offset, self.distance)
    }
}

/// The best that is known at the centre of a block of nodes: from a point of the surface to the centre.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    pub(super) away: P,
    /// Nodes reach that far from the centre along each axis.
    pub(super) reach: f32,
}

/// [`Best`], ready for lanes.
#[derive(Clone, Copy)]
pub(super) struct Limit<S: Simd> {
    direction: V3<S>,
    /// Distance plus what the curvature of the ball around the known point adds.
    curved: f32x8<S>,
    /// Distance from the known point to the furthest node.
    furthest: f32x8<S>,
    reach: f32,
    /// Whether the known point is so near that the ball around it bounds better than its slope.
    near: bool,
}

impl<S: Simd> Limit<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, best: &Best) -> Self {
        let length = dot(best.away, best.away).sqrt().max(1e-6);
        let [x, y, z] = best.away;
        let r = best.reach;
        let corner = [x.abs() + r, y.abs() + r, z.abs() + r];
        let curve = 1.5 * best.reach * best.reach / length;
        Self {
            direction: V3::all(simd, scaled(best.away, 1.0 / length)),
            curved: f32x8::splat(simd, length + curve + SLACK),
            furthest: f32x8::splat(simd, dot(corner, corner).sqrt() + SLACK),
            reach: best.reach,
            near: length < best.reach,
        }
    }

    /// Which triangles may be the nearest of some node of the block; `distance` bounds theirs from the centre.
    #[inline(always)]
    pub(super) fn keeps(&self, distance: f32x8<S>, direction: V3<S>) -> mask32x8<S> {
        if self.near {
            return (distance - direction.taxi() * self.reach).simd_le(self.furthest);
        }
        let turned = (direction - self.direction).taxi();
        (distance - turned * self.reach).simd_le(self.curved)
    }
}

/// Lane of the smallest value, and the value.
#[inline(always)]
pub(super) fn least<S: Simd>(values: f32x8<S>) -> (usize, f32) {
    let [a, b, c, d, e, f, g, h] = values.to_array();
    // Halves of halves wait less for each other than a chain does.
    let value = (a.min(b).min(c.min(d))).min(e.min(f).min(g.min(h)));
    let lanes = values.simd_eq(value).to_bitmask() as u32;
    (lanes.trailing_zeros().min(7) as usize, value)
}

/// Lanes 0 and 1 along x, then y, then z: offsets of a cube's corners from its centre, half a cell each.
#[inline(always)]
pub(super) fn corner_offsets<S: Simd>(simd: S) -> V3<S> {
    const H: f32 = 0.5;
    V3 {
        x: f32x8::load_array(simd, [-H, H, -H, H, -H, H, -H, H]),
        y: f32x8::load_array(simd, [-H, -H, H, H, -H, -H, H, H]),
        z: f32x8::load_array(simd, [-H, -H, -H, -H, H, H, H, H]),
    }
}

/// The same number in all lanes.
#[inline(always)]
pub(super) fn splat_u32<S: Simd>(simd: S, v: u32) -> u32x8<S> {
    u32x8::splat(simd, v)
}
