//! The device side: one pass in which each vertex gathers from the triangles around it.

use super::bind::{NO_VERTEX, NormalMode, TangentFramesBind, TangentMode, UvBind};
use super::groups::index;
use crate::{
    DeviceConstant, DeviceDomain, DeviceExtras, DeviceNode, DevicePass, DeviceRelation,
    DeviceSetting, DeviceType,
};

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

    /// For each vertex the corners of its group: the vertices of their triangles, from the corner on; its own left out unless
    /// `lists_own`. Beside each corner the factors of the direction of growing u, where its triangle counts for the
    /// tangent.
    fn around(&self, domain: DeviceDomain, lists_own: bool) -> DeviceRelation {
        let of_vertex = |v: usize| self.normal_rows.row(self.group_of_vertex[v] as usize);
        let first = usize::from(!lists_own);
        let rows = (0..self.group_of_vertex.len()).map(|v| {
            let corners = of_vertex(v).iter();
            corners
                .flat_map(|&c| self.turned(c)[first..].to_vec())
                .collect::<Vec<u32>>()
        });
        let mut around = DeviceRelation::new("around", [domain; 2], rows);
        around.group = if lists_own { 3 } else { 2 };
        if let Some(uv) = self
            .uv
            .as_ref()
            .filter(|_| self.config.tangents == TangentMode::Uv)
        {
            let words = (0..self.group_of_vertex.len()).flat_map(|v| {
                let counting = uv.rows.row(uv.row_of_vertex[v] as usize);
                of_vertex(v).iter().map(move |&c| {
                    let counts = counting.binary_search(&c).is_ok();
                    if counts {
                        factors_at(uv, c)
                    } else {
                        NO_GRADIENT
                    }
                })
            });
            around.extras = DeviceExtras::PerGroup(words.collect());
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
            out[v / 32] |= 1 << index(v % 32);
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
