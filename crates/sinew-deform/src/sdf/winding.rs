//! Generalised winding numbers (Jacobson et al. 2013) for eight nodes at a time: triangles near by exactly, clusters far
//! away by their first moment (Barill et al., "Fast Winding Numbers for Soups and Clouds", 2018).

use super::bind::SdfBind;
use super::brick::Frame;
use super::simd::field;
use super::surface::{AXIS_X, AXIS_Y, Cluster, EDGE02, LENGTH, ORIGIN, Surface};
use super::tree::CLUSTER;
use super::triangle::{P, add_scaled, cross, dot, scaled, sub};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};

/// A set of triangles is far where it is this many of its radii away (Barill et al. recommend 2); at that the sum is
/// right to some percent, and a half is asked for.
const FAR: f32 = 2.3;

/// First moment of a set of triangles.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    /// Mean of the triangles' centres, weighted by area.
    center: P,
    area: f32,
    /// Sum of area times normal.
    normal: P,
    /// Squared radius around the centre that holds every corner.
    radius: f32,
}

/// Moments of clusters and of all boxes above them.
#[derive(Clone, Debug)]
pub(super) struct Winding {
    clusters: Vec<Moment>,
    blocks: Vec<Moment>,
}

/// Corners 0, 1 and 2 of a triangle.
#[inline(always)]
fn corners(cluster: &Cluster, lane: usize) -> [P; 3] {
    let a = field(cluster, ORIGIN, lane);
    let x = field(cluster, AXIS_X, lane);
    let y = field(cluster, AXIS_Y, lane);
    let [ux, uy, length] = field(cluster, EDGE02, lane);
    let b = add_scaled(a, x, cluster.fields[LENGTH][lane]);
    let c = add_scaled(add_scaled(a, x, ux * length), y, uy * length);
    [a, b, c]
}

impl Winding {
    pub(super) fn new(bind: &SdfBind) -> Self {
        Self {
            clusters: vec![Moment::default(); bind.tree.clusters],
            blocks: vec![Moment::default(); bind.tree.blocks],
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.clusters) + size_of_val(&*self.blocks)
    }

    /// Moments of the frame. Linear time.
    pub(super) fn prepare(&mut self, bind: &SdfBind, surface: &Surface) {
        let count = bind.triangles.len();
        for (c, moment) in self.clusters.iter_mut().enumerate() {
            let lanes = (count - c * CLUSTER).min(CLUSTER);
            *moment = of_cluster(&surface.clusters[c], lanes);
        }
        let mut below: &[Moment] = &self.clusters;
        let mut rest: &mut [Moment] = &mut self.blocks;
        for level in 0..bind.tree.levels.len() {
            let first = bind.tree.levels[level];
            let end = bind
                .tree
                .levels
                .get(level + 1)
                .copied()
                .unwrap_or(bind.tree.blocks);
            let (mine, others) = rest.split_at_mut(end - first);
            for (moment, children) in mine.iter_mut().zip(below.chunks(CLUSTER)) {
                *moment = of_children(children);
            }
            (below, rest) = (mine, others);
        }
    }
}

fn of_cluster(cluster: &Cluster, lanes: usize) -> Moment {
    let mut moment = Moment::default();
    for lane in 0..lanes {
        let [a, b, c] = corners(cluster, lane);
        let normal = scaled(cross(sub(b, a), sub(c, a)), 0.5);
        let area = dot(normal, normal).sqrt();
        let center = scaled(add_scaled(add_scaled(a, b, 1.0), c, 1.0), 1.0 / 3.0);
        moment.center = add_scaled(moment.center, center, area);
        moment.normal = add_scaled(moment.normal, normal, 1.0);
        moment.area += area;
    }
    moment.center = scaled(moment.center, 1.0 / moment.area.max(f32::MIN_POSITIVE));
    for lane in 0..lanes {
        for p in corners(cluster, lane) {
            let off = sub(p, moment.center);
            moment.radius = moment.radius.max(dot(off, off).sqrt());
        }
    }
    moment
}

fn of_children(children: &[Moment]) -> Moment {
    let mut moment = Moment::default();
    for m in children {
        moment.center = add_scaled(moment.center, m.center, m.area);
        moment.normal = add_scaled(moment.normal, m.normal, 1.0);
        moment.area += m.area;
    }
    moment.center = scaled(moment.center, 1.0 / moment.area.max(f32::MIN_POSITIVE));
    for m in children {
        let off = sub(m.center, moment.center);
        moment.radius = moment.radius.max(dot(off, off).sqrt() + m.radius);
    }
    moment
}

/// Levels of the tree times the children that wait at each.
const STACK: usize = 96;

/// Which of eight nodes have a winding number above a half.
#[inline(always)]
pub(super) fn is_inside<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    winding: &Winding,
    center: P,
    offsets: V3<S>,
) -> mask32x8<S> {
    // Twice the solid angle would be 8 pi for a closed surface; atan2 gives half of it.
    let mut half_angles = f32x8::splat(simd, 0.0);
    let mut stack = [(0_u32, 0_u32); STACK];
    stack[0] = (frame.tree.levels.len() as u32, 0);
    let mut len = 1;
    while len > 0 {
        len -= 1;
        let (level, node) = stack[len];
        let moment = match level.checked_sub(1) {
            None => &winding.clusters[node as usize],
            Some(l) => &winding.blocks[frame.tree.levels[l as usize] + node as usize],
        };
        let off = sub(moment.center, center);
        // The group reaches 0.9 cells from its centre.
        if dot(off, off).sqrt() > FAR * (moment.radius + 0.9) {
            half_angles += dipole(simd, moment, off, offsets);
        } else if let Some(l) = level.checked_sub(1) {
            let below = children(frame, l as usize, node as usize);
            for child in below {
                stack[len] = (l, child as u32);
                len += 1;
            }
        } else {
            let first = node as usize * CLUSTER;
            for triangle in first..(first + CLUSTER).min(frame.triangle_count) {
                let cluster = &frame.surface.clusters[node as usize];
                let corners = corners(cluster, triangle - first);
                let [a, b, c] = corners;
                let seen = [sub(a, center), sub(b, center), sub(c, center)];
                half_angles += half_angle(simd, seen, offsets);
            }
        }
    }
    // Half of the half: a winding number of one is 2 pi here.
    half_angles.simd_gt(std::f32::consts::PI)
}

/// Children of a block: blocks of the level below, or clusters.
#[inline(always)]
fn children(frame: &Frame<'_>, level: usize, node: usize) -> std::ops::Range<usize> {
    let count = match level.checked_sub(1) {
        None => frame.tree.clusters,
        Some(below) => frame.tree.levels[level] - frame.tree.levels[below],
    };
    node * CLUSTER..(node * CLUSTER + CLUSTER).min(count)
}

/// Half the solid angle of all triangles of a moment as one dipole.
#[inline(always)]
fn dipole<S: Simd>(simd: S, moment: &Moment, off: P, offsets: V3<S>) -> f32x8<S> {
    let to = V3::all(simd, off) - offsets;
    let square = to.dot(to);
    let cube = square * square.sqrt();
    to.dot(V3::all(simd, moment.normal)) * 0.5 / cube
}

/// Half the solid angle of a triangle, exactly (Van Oosterom and Strackee 1983).
#[inline(always)]
fn half_angle<S: Simd>(simd: S, corners: [P; 3], offsets: V3<S>) -> f32x8<S> {
    let a = V3::all(simd, corners[0]) - offsets;
    let b = V3::all(simd, corners[1]) - offsets;
    let c = V3::all(simd, corners[2]) - offsets;
    let (la, lb, lc) = (a.dot(a).sqrt(), b.dot(b).sqrt(), c.dot(c).sqrt());
    let volume = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    atan2(volume, denominator)
}

/// To 1e-4: a winding number is asked whether it exceeds a half.
#[inline(always)]
fn atan2<S: Simd>(y: f32x8<S>, x: f32x8<S>) -> f32x8<S> {
    let (ay, ax) = (y.abs(), x.abs());
    let t = ay.min(ax) / ay.max(ax).max(f32::MIN_POSITIVE);
    let s = t * t;
    let p = s * 0.020_835_1 - 0.085_133;
    let p = p * s + 0.180_141;
    let p = p * s - 0.330_299_5;
    let a = (p * s + 0.999_866) * t;
    let zero = f32x8::splat(s.simd, 0.0);
    let a = ay
        .simd_gt(ax)
        .select(zero + std::f32::consts::FRAC_PI_2 - a, a);
    let a = x.simd_lt(0.0).select(zero + std::f32::consts::PI - a, a);
    y.simd_lt(0.0).select(zero - a, a)
}
