//! Distances with eight lanes: one point against eight triangles, and one triangle against eight nodes.
//!
//! Seen from a point `c`, a triangle whose closest point is `q` lies behind the plane through `q` across `c - q`, as it is
//! convex. So `|c - q| + o . u`, with `u` the unit vector of `c - q`, is never more than its distance from `c + o`. That
//! bound costs three multiplications and is tight over a whole block of nodes; few triangles pass it.

use super::surface::{
    AXIS_X, AXIS_Y, Cluster, EDGE02, EDGE12, LENGTH, NORMAL, ORIGIN, Surface,
};
use super::tree::BoxBlock;
use super::triangle::{P, dot, sub};
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*, u32x8};

/// Three coordinates of eight things.
#[derive(Clone, Copy)]
pub(super) struct V3<S: Simd> {
    pub(super) x: f32x8<S>,
    pub(super) y: f32x8<S>,
    pub(super) z: f32x8<S>,
}

impl<S: Simd> V3<S> {
    #[inline(always)]
    pub(super) fn splat(simd: S, p: P) -> Self {
        Self {
            x: f32x8::splat(simd, p[0]),
            y: f32x8::splat(simd, p[1]),
            z: f32x8::splat(simd, p[2]),
        }
    }
    #[inline(always)]
    fn load(simd: S, cluster: &Cluster, at: usize) -> Self {
        Self {
            x: f32x8::load_array_ref(simd, &cluster.fields[at]),
            y: f32x8::load_array_ref(simd, &cluster.fields[at + 1]),
            z: f32x8::load_array_ref(simd, &cluster.fields[at + 2]),
        }
    }
    /// Field of one triangle, in all lanes.
    #[inline(always)]
    fn splat_lane(simd: S, cluster: &Cluster, at: usize, lane: usize) -> Self {
        Self::splat(simd, [0, 1, 2].map(|k| cluster.fields[at + k][lane]))
    }
    #[inline(always)]
    pub(super) fn dot(self, o: Self) -> f32x8<S> {
        self.x.mul_add(o.x, self.y.mul_add(o.y, self.z * o.z))
    }
    #[inline(always)]
    fn dot_add(self, o: Self, c: f32x8<S>) -> f32x8<S> {
        self.x
            .mul_add(o.x, self.y.mul_add(o.y, self.z.mul_add(o.z, c)))
    }
    #[inline(always)]
    pub(super) fn minus(self, o: Self) -> Self {
        Self {
            x: self.x - o.x,
            y: self.y - o.y,
            z: self.z - o.z,
        }
    }
    #[inline(always)]
    pub(super) fn cross(self, o: Self) -> Self {
        Self {
            x: self.y.mul_sub(o.z, self.z * o.y),
            y: self.z.mul_sub(o.x, self.x * o.z),
            z: self.x.mul_sub(o.y, self.y * o.x),
        }
    }
    #[inline(always)]
    fn scale(self, f: f32x8<S>) -> Self {
        Self {
            x: self.x * f,
            y: self.y * f,
            z: self.z * f,
        }
    }
    /// Sum of absolute values.
    #[inline(always)]
    fn taxi(self) -> f32x8<S> {
        self.x.abs() + self.y.abs() + self.z.abs()
    }
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
fn from_edge<S: Simd>(
    (x, y): V2<S>,
    [ux, uy, length]: [f32x8<S>; 3],
) -> (V2<S>, f32x8<S>) {
    let along = x.mul_add(ux, y * uy).max(0.0).min(length);
    ((x - along * ux, y - along * uy), along)
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
        let [a, b] = [EDGE02, EDGE12].map(|at| V3::load(simd, cluster, at));
        Self {
            length: f32x8::load_array_ref(simd, &cluster.fields[LENGTH]),
            edge02: [a.x, a.y, a.z],
            edge12: [b.x, b.y, b.z],
        }
    }
    #[inline(always)]
    fn splat(simd: S, cluster: &Cluster, lane: usize) -> Self {
        let [a, b] = [EDGE02, EDGE12].map(|at| V3::splat_lane(simd, cluster, at, lane));
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
        let right_of_02 = (x * ay - y * ax).simd_gt(0.0);
        let left_of_12 = ((x - self.length) * by - y * bx).simd_lt(0.0);
        y.simd_gt(0.0) & right_of_02 & left_of_12
    }
    /// Squared distance in the plane.
    #[inline(always)]
    fn square(&self, (x, y): V2<S>) -> f32x8<S> {
        let off01 = x - x.max(0.0).min(self.length);
        let (off02, _) = from_edge((x, y), self.edge02);
        let (off12, _) = from_edge((x - self.length, y), self.edge12);
        let nearest = off01.mul_add(off01, y * y).min(square(off02)).min(square(off12));
        let zero = nearest - nearest;
        self.contains((x, y)).select(zero, nearest)
    }
}

/// Distances of `p` to the triangles of a cluster.
#[inline(always)]
pub(super) fn from_point<S: Simd>(simd: S, cluster: &Cluster, p: P) -> FromPoint<S> {
    let rel = V3::splat(simd, p).minus(V3::load(simd, cluster, ORIGIN));
    let axes = [AXIS_X, AXIS_Y, NORMAL].map(|at| V3::load(simd, cluster, at));
    let (x, y, z) = (rel.dot(axes[0]), rel.dot(axes[1]), rel.dot(axes[2]));
    let plane = Plane::load(simd, cluster);
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
    let [ex, ey, n] = axes;
    let away = V3 {
        x: off.0.mul_add(ex.x, off.1.mul_add(ey.x, z * n.x)),
        y: off.0.mul_add(ex.y, off.1.mul_add(ey.y, z * n.y)),
        z: off.0.mul_add(ex.z, off.1.mul_add(ey.z, z * n.z)),
    };
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
    let at = V3::splat(simd, local);
    let [ex, ey, n] = [AXIS_X, AXIS_Y, NORMAL].map(|f| V3::splat_lane(simd, cluster, f, lane));
    let x = offsets.dot_add(ex, at.x);
    let y = offsets.dot_add(ey, at.y);
    let z = offsets.dot_add(n, at.z);
    let in_plane = Plane::splat(simd, cluster, lane).square((x, y));
    z.mul_add(z, in_plane)
}

/// Planes through the features of one triangle: value at the centre of a block, and slope.
struct FeaturePlanes {
    edges: [(f32, P); 3],
    corners: [(f32, P); 3],
}

impl FeaturePlanes {
    #[inline(always)]
    fn new(signs: &Signs<'_>, triangle: usize, center: P) -> (Self, P) {
        let (c, lane) = (triangle / 8, triangle % 8);
        let cluster = &signs.surface.clusters[c];
        let field = |at: usize| [0, 1, 2].map(|k| cluster.fields[at + k][lane]);
        let rel = sub(center, field(ORIGIN));
        let (ex, ey, n) = (field(AXIS_X), field(AXIS_Y), field(NORMAL));
        let local = [dot(rel, ex), dot(rel, ey), dot(rel, n)];
        let length = cluster.fields[LENGTH][lane];
        let [ux, uy, along] = field(EDGE02);
        let corner1 = [0, 1, 2].map(|k| rel[k] - ex[k] * length);
        let corner2 = [0, 1, 2].map(|k| rel[k] - (ex[k] * ux + ey[k] * uy) * along);
        let first = signs.surface.extras[c].first[lane] as usize;
        let surface = signs.surface;
        let edge = |k: usize| surface.edge_normals[signs.edges[triangle][(first + k) % 3] as usize];
        let corner =
            |k: usize| surface.class_normals[signs.classes[triangle][(first + k) % 3] as usize];
        let at = |n: P, rel: P| (dot(n, rel), n);
        let planes = Self {
            edges: [at(edge(0), rel), at(edge(1), corner1), at(edge(2), rel)],
            corners: [at(corner(0), rel), at(corner(1), corner1), at(corner(2), corner2)],
        };
        (planes, local)
    }
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
    offsets.dot_add(V3::splat(simd, slope), f32x8::splat(simd, at))
}

/// Which of eight nodes are behind the pseudonormal of the feature of `triangle` that they are nearest to.
#[inline(always)]
pub(super) fn behind<S: Simd>(
    simd: S,
    signs: &Signs<'_>,
    triangle: usize,
    center: P,
    offsets: V3<S>,
) -> mask32x8<S> {
    let (planes, local) = FeaturePlanes::new(signs, triangle, center);
    let (cluster, lane) = (&signs.surface.clusters[triangle / 8], triangle % 8);
    let at = V3::splat(simd, local);
    let [ex, ey, n] = [AXIS_X, AXIS_Y, NORMAL].map(|f| V3::splat_lane(simd, cluster, f, lane));
    let (x, y) = (offsets.dot_add(ex, at.x), offsets.dot_add(ey, at.y));
    let plane = Plane::splat(simd, cluster, lane);
    let along01 = x.max(0.0).min(plane.length);
    let (off02, along02) = from_edge((x, y), plane.edge02);
    let (off12, along12) = from_edge((x - plane.length, y), plane.edge12);
    let (square02, square12) = (square(off02), square(off12));
    let edge = |k: usize| plane_at(simd, planes.edges[k], offsets);
    let corner = |k: usize| plane_at(simd, planes.corners[k], offsets);
    let [c0, c1, c2] = [corner(0), corner(1), corner(2)];
    // Ends of an edge belong to its corners.
    let on01 = along01.simd_le(0.0).select(c0, along01.simd_ge(plane.length).select(c1, edge(0)));
    let on02 = along02.simd_le(0.0).select(c0, along02.simd_ge(plane.edge02[2]).select(c2, edge(2)));
    let on12 = along12.simd_le(0.0).select(c1, along12.simd_ge(plane.edge12[2]).select(c2, edge(1)));
    let square01 = (x - along01).mul_add(x - along01, y * y);
    let first = square01.simd_le(square02);
    let value = first.select(on01, on02);
    let value = square01.min(square02).simd_le(square12).select(value, on12);
    let face = offsets.dot_add(n, at.z);
    plane.contains((x, y)).select(face, value).simd_lt(0.0)
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
        let zero = from.square - from.square;
        let distance = from.square.sqrt();
        let far = distance.simd_gt(TOUCHING);
        let one = zero + 1.0;
        let inverse = far.select(one / distance.max(TOUCHING), zero);
        Self {
            distance: far.select(distance, zero),
            direction: from.away.scale(inverse),
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
}

impl<S: Simd> Limit<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, best: &Best) -> Self {
        let length = dot(best.away, best.away).sqrt().max(1e-6);
        let corner = best.away.map(|c| c.abs() + best.reach);
        let curve = 1.5 * best.reach * best.reach / length;
        Self {
            direction: V3::splat(simd, best.away.map(|c| c / length)),
            curved: f32x8::splat(simd, length + curve + SLACK),
            furthest: f32x8::splat(simd, dot(corner, corner).sqrt() + SLACK),
            reach: best.reach,
        }
    }

    /// Which triangles may be the nearest of some node of the block; `distance` bounds theirs from the centre.
    #[inline(always)]
    pub(super) fn keeps(&self, distance: f32x8<S>, direction: V3<S>) -> mask32x8<S> {
        let turned = direction.minus(self.direction).taxi();
        let spread = direction.taxi();
        let by_slope = (distance - turned * self.reach).simd_le(self.curved);
        let by_ball = (distance - spread * self.reach).simd_le(self.furthest);
        by_slope & by_ball
    }
}

/// Lane of the smallest value, and the value.
#[inline(always)]
pub(super) fn least<S: Simd>(values: f32x8<S>) -> (usize, f32) {
    let v = values.to_array();
    let mut best = 0;
    for lane in 1..8 {
        if v[lane] < v[best] {
            best = lane;
        }
    }
    (best, v[best])
}

/// Lanes 0 and 1 along x, then y, then z: offsets of a cube's corners from its centre, half a cell each.
#[inline(always)]
pub(super) fn corner_offsets<S: Simd>(simd: S) -> V3<S> {
    let pick = |bit: usize| {
        f32x8::load_array(
            simd,
            std::array::from_fn(|lane| if lane >> bit & 1 == 1 { 0.5 } else { -0.5 }),
        )
    };
    V3 {
        x: pick(0),
        y: pick(1),
        z: pick(2),
    }
}

/// The same number in all lanes.
#[inline(always)]
pub(super) fn splat_u32<S: Simd>(simd: S, v: u32) -> u32x8<S> {
    u32x8::splat(simd, v)
}
