//! What `tangent_frames` runs on the GPU: one pass in which each vertex gathers from the triangles around it.
//!
//! Two passes as on the CPU would write and read 24 bytes of terms per triangle, or 36 with tangents. Here each vertex computes the terms
//! of its corners itself: three times the arithmetic, but nothing is stored in between (bytes moved: `corners.wgsl`).
//!
//! A vertex reads its corners as a relation. If no vertices share corners, the entries are the ring of vertices around it (`ring`):
//! consecutive corners share an edge, so `n` corners of a closed fan need `n + 1` entries. Otherwise all three vertices of each corner are
//! listed. With UV tangents, each corner brings a word with the factors of the direction of growing `u`, packed by `pack_factors`: the
//! larger factor is 1 or -1, and the other one keeps all but its lowest two bits.

use super::bind::{NO_VERTEX, NormalMode, TangentFramesBind, TangentMode, UvBind};
use crate::{
    DeviceConstant, DeviceDomain, DeviceExtras, DeviceNode, DevicePadding, DevicePass,
    DeviceRelation, DeviceSetting, DeviceType,
};
use sinew_geom::index32;
use std::collections::BTreeSet;

/// `unit_or_zero`, `gram_schmidt`, `any_perpendicular`, `is_zero`.
pub(crate) const UNIT_WGSL: &str = include_str!("unit.wgsl");
/// What `corners.wgsl` reads, for nodes that say where vertices are.
pub(crate) struct DeviceCorners {
    /// Constants in the text.
    pub(crate) settings: [(&'static str, DeviceSetting); 3],
    /// Normals for vertices without area around them.
    pub(crate) rest_normals: DeviceConstant,
    /// Corners around each vertex: `around`.
    pub(crate) around: DeviceRelation,
}

/// What is the factor pair of a triangle without UV gradient.
const NO_GRADIENT: u32 = u32::MAX;

const NORMALS: &str = concat!(
    include_str!("no_factors.wgsl"),
    include_str!("corners.wgsl"),
    include_str!("normal_plain.wgsl"),
    include_str!("kernel.wgsl"),
    include_str!("normals.wgsl")
);
const NORMALS_AUTHORED: &str = concat!(
    include_str!("no_factors.wgsl"),
    include_str!("corners.wgsl"),
    include_str!("reference_edge.wgsl"),
    include_str!("normal_authored.wgsl"),
    include_str!("kernel.wgsl"),
    include_str!("normals.wgsl")
);

/// The text that makes tangents, too.
macro_rules! frames {
    ($factors:literal, $normal:literal, $tangent:literal) => {
        concat!(
            include_str!($factors),
            include_str!("corners.wgsl"),
            include_str!("reference_edge.wgsl"),
            include_str!($normal),
            include_str!($tangent),
            include_str!("kernel.wgsl"),
            include_str!("frames.wgsl")
        )
    };
}

impl TangentFramesBind {
    /// For kernels that make normals of this surface, whose vertices are `domain`.
    pub(crate) fn device_corners(&self, domain: DeviceDomain) -> DeviceCorners {
        let mode = self.config.normals;
        let is = |m| DeviceSetting::Bool(mode == m);
        let lists_own = self.shares_corners();
        DeviceCorners {
            settings: [
                ("area_weighted", is(NormalMode::AreaWeighted)),
                ("fixed_point", is(NormalMode::FixedPoint)),
                ("lists_own", DeviceSetting::Bool(lists_own)),
            ],
            rest_normals: DeviceConstant::new(
                "rest_normals",
                DeviceType::Vec3F,
                &self.rest_normals,
            ),
            around: self.around(domain, lists_own),
        }
    }

    pub(super) fn device_node(&self) -> DeviceNode {
        let corners = self.device_corners(DeviceDomain::Vertices);
        let mut node = DeviceNode {
            shared: vec![UNIT_WGSL, include_str!("mesh_surface.wgsl")],
            settings: corners.settings.to_vec(),
            constants: vec![corners.rest_normals],
            relations: vec![corners.around, self.reference_ends()],
            ..DeviceNode::default()
        };
        if let Some(local) = &self.local_normals {
            let constant = DeviceConstant::new("local_normals", DeviceType::Vec3F, local);
            node.constants.push(constant);
        }
        let authored = self.local_normals.is_some();
        let normals = if authored { NORMALS_AUTHORED } else { NORMALS };
        let frames = self.push_tangents(&mut node, authored);
        node.passes = vec![
            DevicePass::per_vertex("normals", normals).only_when("wants_mesh_tangents", false),
            DevicePass::per_vertex("frames", frames).only_when("wants_mesh_tangents", true),
        ];
        node
    }

    /// Adds what tangents read; gives the text.
    fn push_tangents(&self, node: &mut DeviceNode, authored: bool) -> &'static str {
        if let Some(local) = &self.local_tangents {
            let constant = DeviceConstant::new("local_tangents", DeviceType::Vec4F, local);
            node.constants.push(constant);
            return if authored {
                frames!(
                    "no_factors.wgsl",
                    "normal_authored.wgsl",
                    "tangent_local.wgsl"
                )
            } else {
                frames!("no_factors.wgsl", "normal_plain.wgsl", "tangent_local.wgsl")
            };
        }
        let Some(uv) = &self.uv else {
            return if authored {
                frames!(
                    "no_factors.wgsl",
                    "normal_authored.wgsl",
                    "tangent_edge.wgsl"
                )
            } else {
                frames!("no_factors.wgsl", "normal_plain.wgsl", "tangent_edge.wgsl")
            };
        };
        let signs = DeviceConstant::new("signs", DeviceType::U32, &sign_bits(uv));
        node.constants.push(signs);
        match (self.config.tangents == TangentMode::Mikktspace, authored) {
            (true, _) => {
                node.relations.push(self.mikk_groups(uv));
                if authored {
                    frames!(
                        "no_factors.wgsl",
                        "normal_authored.wgsl",
                        "tangent_mikk.wgsl"
                    )
                } else {
                    frames!("no_factors.wgsl", "normal_plain.wgsl", "tangent_mikk.wgsl")
                }
            }
            (false, true) => frames!("factors.wgsl", "normal_authored.wgsl", "tangent_uv.wgsl"),
            (false, false) => frames!("factors.wgsl", "normal_plain.wgsl", "tangent_uv.wgsl"),
        }
    }

    /// Whether corners of other vertices count for a vertex.
    fn shares_corners(&self) -> bool {
        let mut seen = vec![false; self.normal_rows.len()];
        self.group_of_vertex
            .iter()
            .any(|&g| std::mem::replace(&mut seen[g as usize], true))
    }

    /// For each vertex the corners of its group, as `corners.wgsl` reads them, and beside each the factors of the direction of growing u,
    /// where its triangle counts for the tangent.
    fn around(&self, domain: DeviceDomain, lists_own: bool) -> DeviceRelation {
        let mut factors = Vec::new();
        let corners_of = |v: usize| {
            let uv = self.uv.as_ref();
            let uv = uv.filter(|_| self.config.tangents == TangentMode::Uv);
            let counting = uv.map(|uv| (uv, uv.rows.row(uv.row_of_vertex[v] as usize)));
            let factors = |c: u32| match counting {
                Some((uv, counting)) if counting.binary_search(&c).is_ok() => factors_at(uv, c),
                _ => NO_GRADIENT,
            };
            let corners = self.normal_rows.row(self.group_of_vertex[v] as usize);
            corners
                .iter()
                .map(|&c| (self.turned(c), factors(c)))
                .collect::<Vec<_>>()
        };
        let rows = (0..self.group_of_vertex.len()).map(|v| {
            let corners = corners_of(v);
            if lists_own {
                factors.extend(corners.iter().map(|c| c.1));
                corners.iter().flat_map(|c| c.0).collect::<Vec<u32>>()
            } else {
                let own = index32(v);
                let row = ring(own, &corners);
                factors.extend(row.iter().map(|e| e.1));
                row.iter().map(|e| e.0).collect()
            }
        });
        let mut around = DeviceRelation::new("around", [domain; 2], rows);
        around.padding = DevicePadding::Last;
        around.padding_word = NO_GRADIENT;
        if lists_own {
            around.group = 3;
        }
        if self.uv.is_some() && self.config.tangents == TangentMode::Uv {
            around.extras = match lists_own {
                true => DeviceExtras::PerGroup(factors),
                false => DeviceExtras::PerEntry(factors),
            };
        }
        around
    }

    /// The vertices of a corner's triangle, the corner's own first.
    fn turned(&self, corner: u32) -> [u32; 3] {
        let mut t = self.topology.triangles()[(corner >> 2) as usize];
        t.rotate_left((corner & 3) as usize);
        t
    }

    /// For each vertex the ends of its reference edge, or nothing.
    fn reference_ends(&self) -> DeviceRelation {
        let ends = self.group_of_vertex.iter().map(|&g| {
            let ends = &self.reference[g as usize];
            if ends[0] == NO_VERTEX { &[][..] } else { ends }
        });
        DeviceRelation::new("reference", [DeviceDomain::Vertices; 2], ends)
    }

    /// For each vertex the corners of its tangent's group, with factors.
    fn mikk_groups(&self, uv: &UvBind) -> DeviceRelation {
        let row = |r: u32| uv.rows.row(r as usize);
        let rows = uv.row_of_vertex.iter().map(|&r| {
            let corners = row(r).iter();
            corners.flat_map(|&c| self.turned(c)).collect::<Vec<u32>>()
        });
        let mut group = DeviceRelation::new("group", [DeviceDomain::Vertices; 2], rows);
        group.group = 3;
        let words = uv.row_of_vertex.iter().flat_map(|&r| row(r));
        group.extras = DeviceExtras::PerGroup(words.map(|&c| factors_at(uv, c)).collect());
        group
    }
}

/// The vertices around `own`, and for each the factors of the corner that it ends. A corner begins with the entry before its end;
/// between corners of which none follows the other stands `own`, so that what is between has no area.
fn ring(own: u32, corners: &[([u32; 3], u32)]) -> Vec<(u32, u32)> {
    let mut ends: Vec<u32> = corners.iter().map(|c| c.0[2]).collect();
    ends.sort_unstable();
    let is_first = |i: &usize| ends.binary_search(&corners[*i].0[1]).is_err();
    // Those that follow no other come first, then what is closed.
    let (firsts, closed): (Vec<usize>, Vec<usize>) = (0..corners.len()).partition(is_first);
    let mut left: BTreeSet<(u32, usize)> =
        (0..corners.len()).map(|i| (corners[i].0[1], i)).collect();
    let mut out: Vec<(u32, u32)> = Vec::with_capacity(corners.len() + 1);
    for start in firsts.into_iter().chain(closed) {
        let mut follower = Some((corners[start].0[1], start)).filter(|c| left.contains(c));
        if let Some((begin, _)) = follower {
            if !out.is_empty() {
                out.push((own, NO_GRADIENT));
            }
            out.push((begin, NO_GRADIENT));
        }
        while let Some(corner) = follower {
            left.remove(&corner);
            let ([_, _, end], factors) = corners[corner.1];
            out.push((end, factors));
            follower = left
                .range((end, 0)..)
                .next()
                .copied()
                .filter(|c| c.0 == end);
        }
    }
    out
}

/// Factors of the edges from a corner, packed.
fn factors_at(uv: &UvBind, corner: u32) -> u32 {
    let Some(&[a, b]) = uv.coefficients.get((corner >> 2) as usize) else {
        return NO_GRADIENT;
    };
    // `a e01 + b e02` in edges from the next corner: `e01` is minus its second edge, `e02` the first less the second.
    let turned = match corner & 3 {
        0 => [a, b],
        1 => [b, -(a + b)],
        _ => [-(a + b), a],
    };
    pack_factors(turned)
}

/// One bit a vertex: its bitangent sign is negative.
fn sign_bits(uv: &UvBind) -> Vec<u32> {
    let mut out = vec![0; uv.row_of_vertex.len().div_ceil(32)];
    for (v, &row) in uv.row_of_vertex.iter().enumerate() {
        if uv.signs[row as usize] < 0.0 {
            out[v / 32] |= 1 << index32(v % 32);
        }
    }
    out
}

/// Scaled so that the larger factor is 1 or -1: one bit for its sign, one for which it is. They replace the lowest two bits of
/// the other.
fn pack_factors([a, b]: [f32; 2]) -> u32 {
    if a == 0.0 && b == 0.0 {
        return NO_GRADIENT;
    }
    let second = b.abs() > a.abs();
    let (one, other) = if second { (b, a) } else { (a, b) };
    let other = other / one.abs();
    other.to_bits() & !3 | u32::from(one < 0.0) << 1 | u32::from(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a kernel makes of a ring: the corners that have an area, sorted.
    fn corners_of(ring: &[(u32, u32)], own: u32) -> Vec<[u32; 3]> {
        let pairs = ring.windows(2).map(|w| [w[0].0, w[1].0, w[1].1]);
        let mut out: Vec<[u32; 3]> = pairs.filter(|p| p[0] != own && p[1] != own).collect();
        out.sort_unstable();
        out
    }

    #[test]
    fn rings_hold_every_corner_once() {
        let closed = [[1, 2], [3, 4], [2, 3], [4, 1]];
        let open = [[2, 3], [1, 2]];
        let apart = [[1, 2], [5, 6], [6, 7]];
        let fin = [[1, 2], [2, 3], [2, 4], [1, 2]];
        for (corners, entries) in [
            (&closed[..], 5),
            (&open, 3),
            (&apart, 6),
            (&fin, 7),
            (&[], 0),
        ] {
            let corners: Vec<([u32; 3], u32)> = corners
                .iter()
                .zip(10..)
                .map(|(&[a, b], f)| ([0, a, b], f))
                .collect();
            let ring = ring(0, &corners);
            assert_eq!(ring.len(), entries, "{ring:?}");
            let mut expected: Vec<[u32; 3]> =
                corners.iter().map(|&([_, a, b], f)| [a, b, f]).collect();
            expected.sort_unstable();
            assert_eq!(corners_of(&ring, 0), expected);
            let silent = ring.windows(2).filter(|w| w[0].0 == 0 || w[1].0 == 0);
            // Not counted are the entries at which nothing ends.
            assert!(silent.into_iter().all(|w| w[1].1 == NO_GRADIENT));
        }
    }

    #[test]
    fn factors_survive_packing() {
        for (factors, second) in [
            ([1.0, 0.3], false),
            ([-1.0, 0.3], false),
            ([1.0, -1.0], false),
            ([0.0, 1.0], true),
            ([-0.7, -1.0], true),
        ] {
            let packed = pack_factors(factors);
            assert_eq!(packed & 1 == 1, second, "{factors:?}");
            let one: f32 = if packed & 2 == 0 { 1.0 } else { -1.0 };
            let other = f32::from_bits(packed & !3);
            let back = if second { [other, one] } else { [one, other] };
            for (f, b) in factors.iter().zip(back) {
                assert!((f - b).abs() < 1e-6, "{factors:?} {back:?}");
            }
        }
        assert_eq!(pack_factors([0.0, 0.0]), NO_GRADIENT);
        assert_ne!(pack_factors([1.0, -1.0]), NO_GRADIENT);
    }
}
