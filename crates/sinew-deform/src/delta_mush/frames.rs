//! Which neighbours make the frame of each point.

use super::reference::vectors;
use crate::laplacian::{Layout, index32, offsets_fit};
use serde::{Deserialize, Serialize};
use sinew_geom::{CornerFans, Mesh, OneRings, Vec3, WeldMap};
use std::collections::VecDeque;

/// What the detail turns with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameKind {
    /// Normal of all triangles around the point, tangent to a fixed neighbour.
    #[default]
    AllNeighbours,
    /// Normal and tangent from two neighbours.
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

/// What the frame of one slot is made of.
#[derive(Clone, Copy, Debug)]
pub struct Fan<'a> {
    /// Slots: the point itself (or the one whose frame it borrows), the tangent's end, then a strip: the normal is
    /// the sum of the cross products of the edges to consecutive entries. The point itself as an entry separates
    /// two strips. A single entry means: the scene's axes.
    pub entries: &'a [u32],
    /// Factors of the edges to the entries that sum to the tangent; empty where the tangent is one edge.
    pub factors: &'a [f32],
}

/// The fans of all slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fans {
    offsets: Vec<u32>,
    entries: Vec<u32>,
    factors: Vec<f32>,
}

impl Fans {
    /// Fan of slot `s`.
    #[inline(always)]
    pub fn fan(&self, s: usize) -> Fan<'_> {
        let range = self.offsets[s] as usize..self.offsets[s + 1] as usize;
        Fan {
            entries: &self.entries[range.clone()],
            factors: self.factors.get(range).unwrap_or_default(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        4 * (self.offsets.len() + self.entries.len() + self.factors.len())
    }

    pub(super) fn is_valid(&self, slots: usize) -> bool {
        self.offsets.len() == slots + 1
            && offsets_fit(&self.offsets, self.entries.len())
            && self.entries.iter().all(|&s| (s as usize) < slots)
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

/// Everything that fans are made from.
pub(super) struct FanBuilder<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) uvs: &'a [[f32; 2]],
    pub(super) weld: &'a WeldMap,
    pub(super) rings: &'a OneRings,
    pub(super) layout: &'a Layout,
    pub(super) smooth: &'a [Vec3<f64>],
    pub(super) kind: FrameKind,
}

/// Smallest area vector, as a fraction of the summed squares of the edges, and smallest sine between tangent and
/// normal of a frame that is used.
const HEALTHY: f64 = 1e-4;
/// Smallest sine between the two edges of [`FrameKind::TwoEdges`] that is taken without looking further.
const OPEN: f64 = 0.1;

impl FanBuilder<'_> {
    pub(super) fn build(&self) -> Fans {
        let corners = CornerFans::build(&self.mesh.topology, self.weld);
        let mut own: Vec<Option<OwnFan>> = vec![None; self.smooth.len()];
        for c in 0..self.rings.len() {
            own[self.slot(c)] = self.own_fan(c, &corners);
        }
        let donors = self.donors(&own);
        let mut fans = Fans {
            offsets: vec![0],
            ..Fans::default()
        };
        for (slot, donor) in donors.into_iter().enumerate() {
            match donor.and_then(|d| own[d as usize].as_ref()) {
                Some(fan) => fans.push(fan),
                None => fans.push(&OwnFan {
                    entries: vec![index32(slot)],
                    factors: vec![0.0; usize::from(self.kind == FrameKind::Uv)],
                }),
            }
        }
        fans
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

    /// The fan of a class, unless its frame is unusable.
    fn own_fan(&self, class: usize, corners: &CornerFans) -> Option<OwnFan> {
        let own = self.slot(class);
        let ring = self.ring(class);
        if ring.len() < 2 {
            return None;
        }
        let fan = if self.kind == FrameKind::TwoEdges {
            let [a, b] = self.two_edges(own, &ring, self.closed(class))?;
            OwnFan {
                entries: vec![index32(own), a, a, b],
                factors: Vec::new(),
            }
        } else {
            self.whole_fan(class, own, ring, corners)
        };
        self.is_healthy(&fan).then_some(fan)
    }

    fn is_healthy(&self, fan: &OwnFan) -> bool {
        let v = vectors(
            &Fan {
                entries: &fan.entries,
                factors: &fan.factors,
            },
            self.smooth,
        );
        let base = self.smooth[fan.entries[0] as usize];
        let size: f64 = fan.entries[2..]
            .iter()
            .map(|&n| (self.smooth[n as usize] - base).norm_squared())
            .sum();
        let area = v.normal.norm();
        // The absolute bound keeps squares of it within single precision.
        area > HEALTHY * size
            && area > 1e-15
            && v.normal.cross(&v.edge).norm() > HEALTHY * area * v.edge.norm()
    }

    /// The two neighbours of the documented construction, in the order of the ring.
    fn two_edges(&self, own: usize, ring: &[u32], closed: bool) -> Option<[u32; 2]> {
        let p = self.smooth[own];
        let count = if closed { ring.len() } else { ring.len() - 1 };
        let mut best = (0.0, None);
        for k in 0..count {
            let pair = [ring[k], ring[(k + 1) % ring.len()]];
            let [a, b] = pair.map(|n| self.smooth[n as usize] - p);
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

    fn whole_fan(
        &self,
        class: usize,
        own: usize,
        ring: Vec<u32>,
        corners: &CornerFans,
    ) -> OwnFan {
        let mut strip = ring.clone();
        if self.closed(class) {
            strip.push(ring[0]);
        } else if !self.rings.is_manifold[class] {
            strip.clear();
            for (b, c, ..) in self.faces(class, corners) {
                strip.extend_from_slice(&[b, c, index32(own)]);
            }
        }
        let mut fan = OwnFan {
            entries: vec![index32(own), ring[0]],
            factors: Vec::new(),
        };
        fan.entries.extend_from_slice(&strip);
        fan.entries[1] = self.farthest_off_normal(&fan, &ring);
        if self.kind == FrameKind::Uv {
            fan.factors = self.uv_factors(class, &fan, corners);
        }
        fan
    }

    fn farthest_off_normal(&self, fan: &OwnFan, ring: &[u32]) -> u32 {
        let v = vectors(
            &Fan {
                entries: &fan.entries,
                factors: &[],
            },
            self.smooth,
        );
        let base = self.smooth[fan.entries[0] as usize];
        let mut best = (-1.0, ring[0]);
        for &n in ring {
            let off = (self.smooth[n as usize] - base).cross(&v.normal).norm();
            if off > best.0 {
                best = (off, n);
            }
        }
        best.1
    }

    /// Triangles around a class, those with three different corners: the two other slots and the three UVs.
    fn faces<'b>(
        &'b self,
        class: usize,
        corners: &'b CornerFans,
    ) -> impl Iterator<Item = (u32, u32, [u32; 3])> + 'b {
        corners.corners_of(class).iter().filter_map(|&corner| {
            let (t, k) = (corner as usize / 3, corner as usize % 3);
            let t = self.mesh.topology.triangles()[t];
            let t = [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
            let [a, b, c] = t.map(|v| self.layout.slot_of_vertex()[v as usize]);
            (a != b && b != c && c != a).then_some((b, c, t))
        })
    }

    /// Factors of the edges whose sum points along growing u.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "kernels work in single precision"
    )]
    fn uv_factors(&self, class: usize, fan: &OwnFan, corners: &CornerFans) -> Vec<f32> {
        let mut factors = vec![0.0_f64; fan.entries.len()];
        let base = self.smooth[fan.entries[0] as usize];
        let place = |n: u32| fan.entries[2..].iter().position(|&e| e == n).map(|i| i + 2);
        for (b, c, vertices) in self.faces(class, corners) {
            let uv = vertices.map(|v| self.uvs[v as usize].map(f64::from));
            let (s1, t1) = (uv[1][0] - uv[0][0], uv[1][1] - uv[0][1]);
            let (s2, t2) = (uv[2][0] - uv[0][0], uv[2][1] - uv[0][1]);
            let sign = (s1 * t2 - t1 * s2).signum();
            let (fb, fc) = (sign * t2, -sign * t1);
            let edge = |n: u32| self.smooth[n as usize] - base;
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

    /// For each slot the one whose frame it takes: itself, or the nearest along edges, or the one before it.
    fn donors(&self, own: &[Option<OwnFan>]) -> Vec<Option<u32>> {
        let mut donor: Vec<Option<u32>> = own
            .iter()
            .enumerate()
            .map(|(s, fan)| fan.is_some().then_some(index32(s)))
            .collect();
        let mut queue: VecDeque<usize> = (0..self.rings.len())
            .filter(|&c| donor[self.slot(c)].is_some())
            .collect();
        while let Some(c) = queue.pop_front() {
            let from = donor[self.slot(c)];
            for &n in self.rings.row(c) {
                let slot = self.slot(n as usize);
                if donor[slot].is_none() {
                    donor[slot] = from;
                    queue.push_back(n as usize);
                }
            }
        }
        let slots: Vec<usize> = (0..self.rings.len()).map(|c| self.slot(c)).collect();
        fill(&mut donor, slots.iter().copied());
        fill(&mut donor, slots.iter().rev().copied());
        donor
    }
}

/// Gives each slot without a donor that of the one before it.
fn fill(donor: &mut [Option<u32>], slots: impl Iterator<Item = usize>) {
    let mut last = None;
    for slot in slots {
        match donor[slot] {
            Some(d) => last = Some(d),
            None => donor[slot] = last,
        }
    }
}
