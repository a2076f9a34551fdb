//! Which neighbours make the frame of each point.
//!
//! A frame is a normal, the sum of the cross products of the edges around the point, and a tangent, one edge or a sum of edges. Only frames
//! that stay well defined are used: setup tests the area and the sine between both, on the smoothed rest mesh.
//!
//! 1. Each point takes its own frame on the smoothed mesh if that is healthy.
//! 2. Others borrow that of the nearest point along edges (breadth first).
//! 3. In a piece without any healthy frame, because smoothing shrinks it to nothing, frames come from the mesh before smoothing.
//! 4. Pieces without any triangle borrow from the vertex before or after them in the file; a mesh without any frame uses the axes of the
//!    scene.
//!
//! The neighbour that gives the tangent is the one farthest off the normal, chosen once; of nearly equal ones the first, which keeps the
//! choice independent of rounding.

use super::reference::vectors;
use crate::laplacian::{Layout, offsets_fit};
use serde::{Deserialize, Serialize};
use sinew_geom::{CornerFans, Mesh, OneRings, Vec3, WeldMap, index32};
use std::collections::VecDeque;

/// What the frame of a point consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameKind {
    /// Normal of all triangles around the point, tangent to a fixed neighbour.
    #[default]
    AllNeighbours,
    /// Normal and tangent from two neighbours, as in the paper.
    TwoEdges,
    /// Normal of all triangles around the point, tangent along growing u.
    Uv,
}

impl FrameKind {
    /// From the word used in documents.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "all_neighbours" => Some(Self::AllNeighbours),
            "two_edges" => Some(Self::TwoEdges),
            "uv" => Some(Self::Uv),
            _ => None,
        }
    }
}

/// Recipe of the frame of one slot.
#[derive(Clone, Copy, Debug)]
pub struct Fan<'a> {
    /// Slots: the point itself (or the one whose frame it borrows), the end of the tangent, then a strip. The normal is the sum of the
    /// cross products of the edges to consecutive entries of the strip. The point itself as an entry separates two strips. A single entry
    /// means the axes of the scene.
    pub entries: &'a [u32],
    /// Factors of the edges to the entries, whose sum is the tangent. Empty if the tangent is one edge.
    pub factors: &'a [f32],
}

/// The fans of all slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fans {
    offsets: Vec<u32>,
    entries: Vec<u32>,
    factors: Vec<f32>,
    /// Slots, rising, whose frames come from the mesh before smoothing.
    unsmoothed: Vec<u32>,
}

impl Fans {
    /// Fan of slot `s`.
    ///
    /// # Panics
    /// If there is no slot `s`.
    #[inline(always)]
    pub fn fan(&self, s: usize) -> Fan<'_> {
        let range = self.offsets[s] as usize..self.offsets[s + 1] as usize;
        Fan {
            entries: &self.entries[range.clone()],
            factors: self.factors.get(range).unwrap_or_default(),
        }
    }

    /// Entries of `N` slots from `first` on, and how many each of them has, where all have the same number and no
    /// factors.
    #[inline(always)]
    pub(super) fn even_block<const N: usize>(&self, first: usize) -> Option<(&[u32], usize)> {
        let offsets = self.offsets.get(first..=first + N)?;
        let length = offsets[1] - offsets[0];
        let mut differs = 0;
        for pair in offsets.windows(2) {
            differs |= (pair[1] - pair[0]) ^ length;
        }
        let entries = self.entries.get(offsets[0] as usize..offsets[N] as usize)?;
        (differs == 0 && length > 0 && self.factors.is_empty())
            .then_some((entries, length as usize))
    }

    /// Slots, rising, whose frames come from the mesh before smoothing: smoothing shrinks their part to nothing.
    pub(crate) fn unsmoothed(&self) -> &[u32] {
        &self.unsmoothed
    }

    /// Whether the frame of slot `s` comes from the mesh before smoothing.
    pub(super) fn is_unsmoothed(&self, s: usize) -> bool {
        self.unsmoothed.binary_search(&index32(s)).is_ok()
    }

    pub(super) fn bytes(&self) -> usize {
        let numbers = [&self.offsets, &self.entries, &self.unsmoothed];
        4 * (numbers.iter().map(|v| v.len()).sum::<usize>() + self.factors.len())
    }

    pub(super) fn is_valid(&self, slots: usize) -> bool {
        self.offsets.len() == slots + 1
            && offsets_fit(&self.offsets, self.entries.len())
            && self.entries.iter().all(|&s| (s as usize) < slots)
            && self.unsmoothed.iter().all(|&s| (s as usize) < slots)
            && (self.factors.is_empty() || self.factors.len() == self.entries.len())
    }

    fn push(&mut self, fan: &OwnFan) {
        self.entries.extend_from_slice(&fan.entries);
        self.factors.extend_from_slice(&fan.factors);
        self.offsets.push(index32(self.entries.len()));
    }
}

#[derive(Clone, Debug, Default)]
struct OwnFan {
    entries: Vec<u32>,
    factors: Vec<f32>,
}

/// Whose frame a slot takes, and whether that comes from the mesh before smoothing.
type Donor = Option<(u32, bool)>;

/// Everything that fans are made from.
pub(super) struct FanBuilder<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) uvs: &'a [[f32; 2]],
    pub(super) weld: &'a WeldMap,
    pub(super) rings: &'a OneRings,
    pub(super) layout: &'a Layout,
    pub(super) rest: &'a [Vec3<f64>],
    pub(super) smooth: &'a [Vec3<f64>],
    pub(super) kind: FrameKind,
}

/// Smallest area vector, as a fraction of the summed squares of the edges, and smallest sine between tangent and
/// normal of a frame that is used.
const HEALTHY: f64 = 1e-4;
/// Smallest height of the fan over the length of the detail. Rounding rotates a frame by about 2^-22 of the mesh's size over its own; times
/// the detail, that stays below a few millionths of the mesh. The position of the mesh does not count: otherwise a frame would be given up
/// in one location and kept in another.
const NOISE: f64 = 0.05;
/// Relative difference up to which two neighbours are equally far off the normal.
const TIE: f64 = 3e-5;
/// Smallest sine between the two edges of [`FrameKind::TwoEdges`] that is taken without looking further.
const OPEN: f64 = 0.1;

impl FanBuilder<'_> {
    pub(super) fn build(&self) -> Fans {
        let smoothed = self.own_fans(self.smooth);
        let mut donors: Vec<Donor> = (0..smoothed.len())
            .map(|s| smoothed[s].as_ref().map(|_| (index32(s), false)))
            .collect();
        self.spread(&mut donors);
        let unsmoothed = self.own_fans(self.rest);
        for (slot, fan) in unsmoothed.iter().enumerate() {
            if donors[slot].is_none() && fan.is_some() {
                donors[slot] = Some((index32(slot), true));
            }
        }
        self.spread(&mut donors);
        let slots: Vec<usize> = (0..self.rings.len()).map(|c| self.slot(c)).collect();
        fill(&mut donors, slots.iter().copied());
        fill(&mut donors, slots.iter().rev().copied());
        let mut fans = Fans {
            offsets: vec![0],
            ..Fans::default()
        };
        for (slot, donor) in donors.into_iter().enumerate() {
            let fan = donor.and_then(|(d, before)| {
                let all = if before { &unsmoothed } else { &smoothed };
                all[d as usize].as_ref()
            });
            match fan {
                Some(fan) => fans.push(fan),
                None => fans.push(&OwnFan {
                    entries: vec![index32(slot)],
                    factors: vec![0.0; usize::from(self.kind == FrameKind::Uv)],
                }),
            }
            if donor.is_some_and(|d| d.1) {
                fans.unsmoothed.push(index32(slot));
            }
        }
        fans
    }

    fn own_fans(&self, points: &[Vec3<f64>]) -> Vec<Option<OwnFan>> {
        let corners = CornerFans::build(&self.mesh.topology, self.weld);
        let view = PointsView {
            builder: self,
            corners: &corners,
            points,
        };
        let mut own: Vec<Option<OwnFan>> = vec![None; points.len()];
        for c in 0..self.rings.len() {
            own[self.slot(c)] = view.own_fan(c);
        }
        own
    }

    fn slot(&self, class: usize) -> usize {
        self.layout.slot_of_vertex()[self.weld.first_vertex[class] as usize] as usize
    }

    fn ring(&self, class: usize) -> Vec<u32> {
        let slots = self.rings.row(class).iter();
        slots.map(|&n| index32(self.slot(n as usize))).collect()
    }

    fn closed(&self, class: usize) -> bool {
        self.rings.is_manifold[class] && !self.rings.is_border[class]
    }

    /// Gives slots without a frame that of the nearest along edges.
    fn spread(&self, donors: &mut [Donor]) {
        let mut queue: VecDeque<usize> = (0..self.rings.len())
            .filter(|&c| donors[self.slot(c)].is_some())
            .collect();
        while let Some(c) = queue.pop_front() {
            let from = donors[self.slot(c)];
            for &n in self.rings.row(c) {
                let slot = self.slot(n as usize);
                if donors[slot].is_none() {
                    donors[slot] = from;
                    queue.push_back(n as usize);
                }
            }
        }
    }
}

/// Frames made from one set of points: smoothed or not.
struct PointsView<'a> {
    builder: &'a FanBuilder<'a>,
    corners: &'a CornerFans,
    points: &'a [Vec3<f64>],
}

impl PointsView<'_> {
    /// The fan of a class, unless its frame is unusable.
    fn own_fan(&self, class: usize) -> Option<OwnFan> {
        let own = self.builder.slot(class);
        let ring = self.builder.ring(class);
        if ring.len() < 2 {
            return None;
        }
        let fan = if self.builder.kind == FrameKind::TwoEdges {
            let [a, b] = self.two_edges(own, &ring, self.builder.closed(class))?;
            OwnFan {
                entries: vec![index32(own), a, a, b],
                factors: Vec::new(),
            }
        } else {
            self.whole_fan(class, own, ring)
        };
        self.is_healthy(&fan).then_some(fan)
    }

    fn is_healthy(&self, fan: &OwnFan) -> bool {
        let v = vectors(
            &Fan {
                entries: &fan.entries,
                factors: &fan.factors,
            },
            self.points,
        );
        let base = self.points[fan.entries[0] as usize];
        let size: f64 = fan.entries[2..]
            .iter()
            .map(|&n| (self.points[n as usize] - base).norm_squared())
            .sum();
        let area = v.normal.norm();
        let own = fan.entries[0] as usize;
        let detail = (self.builder.rest[own] - self.builder.smooth[own]).norm();
        // The absolute bound keeps squares of it within single precision.
        area > HEALTHY * size
            && area > 1e-15
            && area > NOISE * detail * size.sqrt()
            && v.normal.cross(&v.edge).norm() > HEALTHY * area * v.edge.norm()
    }

    /// The two neighbours of the documented construction, in the order of the ring.
    fn two_edges(&self, own: usize, ring: &[u32], closed: bool) -> Option<[u32; 2]> {
        let p = self.points[own];
        let count = if closed { ring.len() } else { ring.len() - 1 };
        let mut best = (0.0, None);
        for k in 0..count {
            let pair = [ring[k], ring[(k + 1) % ring.len()]];
            let [a, b] = pair.map(|n| self.points[n as usize] - p);
            let sine = a.cross(&b).norm() / (a.norm() * b.norm()).max(f64::MIN_POSITIVE);
            if sine >= OPEN {
                return Some(pair);
            }
            if sine > best.0 {
                best = (sine, Some(pair));
            }
        }
        best.1
    }

    fn whole_fan(&self, class: usize, own: usize, ring: Vec<u32>) -> OwnFan {
        let mut strip = ring.clone();
        if self.builder.closed(class) {
            strip.push(ring[0]);
        } else if !self.builder.rings.is_manifold[class] {
            strip.clear();
            for (b, c, ..) in self.faces(class) {
                strip.extend_from_slice(&[b, c, index32(own)]);
            }
        }
        let mut fan = OwnFan {
            entries: vec![index32(own), ring[0]],
            factors: Vec::new(),
        };
        fan.entries.extend_from_slice(&strip);
        fan.entries[1] = self.farthest_off_normal(&fan, &ring);
        if self.builder.kind == FrameKind::Uv {
            fan.factors = self.uv_factors(class, &fan);
        }
        fan
    }

    fn farthest_off_normal(&self, fan: &OwnFan, ring: &[u32]) -> u32 {
        let v = vectors(
            &Fan {
                entries: &fan.entries,
                factors: &[],
            },
            self.points,
        );
        let base = self.points[fan.entries[0] as usize];
        let mut best = (0.0, ring[0]);
        for &n in ring {
            let off = (self.points[n as usize] - base).cross(&v.normal).norm();
            // Of neighbours that are as far the first: rounding must not choose.
            if off > best.0 * (1.0 + TIE) {
                best = (off, n);
            }
        }
        best.1
    }

    /// Triangles around a class, those with three different corners: the two other slots and the three UVs.
    fn faces(&self, class: usize) -> impl Iterator<Item = (u32, u32, [u32; 3])> + '_ {
        self.corners.corners_of(class).iter().filter_map(|&corner| {
            let (t, k) = (corner as usize / 3, corner as usize % 3);
            let t = self.builder.mesh.topology.triangles()[t];
            let t = [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
            let [a, b, c] = t.map(|v| self.builder.layout.slot_of_vertex()[v as usize]);
            (a != b && b != c && c != a).then_some((b, c, t))
        })
    }

    /// Factors of the edges whose sum points along growing u.
    fn uv_factors(&self, class: usize, fan: &OwnFan) -> Vec<f32> {
        let mut factors = vec![0.0_f64; fan.entries.len()];
        let base = self.points[fan.entries[0] as usize];
        let place = |n: u32| fan.entries[2..].iter().position(|&e| e == n).map(|i| i + 2);
        for (b, c, vertices) in self.faces(class) {
            let uv = vertices.map(|v| self.builder.uvs[v as usize].map(f64::from));
            let (s1, t1) = (uv[1][0] - uv[0][0], uv[1][1] - uv[0][1]);
            let (s2, t2) = (uv[2][0] - uv[0][0], uv[2][1] - uv[0][1]);
            let sign = (s1 * t2 - t1 * s2).signum();
            let (fb, fc) = (sign * t2, -sign * t1);
            let edge = |n: u32| self.points[n as usize] - base;
            let length = (edge(b) * fb + edge(c) * fc).norm();
            let healthy = s1 * t2 - t1 * s2 != 0.0 && length.is_finite() && length > 0.0;
            if let (true, Some(b), Some(c)) = (healthy, place(b), place(c)) {
                factors[b] += fb / length;
                factors[c] += fc / length;
            }
        }
        let mut out: Vec<f32> = factors.iter().map(|&f| f as f32).collect();
        let usable = self.is_healthy(&OwnFan {
            entries: fan.entries.clone(),
            factors: out.clone(),
        });
        if !usable || out.iter().any(|f| !f.is_finite()) {
            out.fill(0.0);
            out[1] = 1.0;
        }
        out
    }
}

/// Gives each slot without a donor that of the one before it.
fn fill(donor: &mut [Donor], slots: impl Iterator<Item = usize>) {
    let mut last = None;
    for slot in slots {
        match donor[slot] {
            Some(d) => last = Some(d),
            None => donor[slot] = last,
        }
    }
}
