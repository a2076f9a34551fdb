//! The device side: one pass in which each vertex gathers from the triangles around it.

use super::bind::{NormalMode, TangentFramesBind, TangentMode, UvBind};
use super::groups::{Rows, index};
use crate::device_rows::{DEVICE_ROWS_WGSL, DeviceRows, RowSlices};
use crate::{DeviceConstant, DeviceNode, DevicePass, DeviceSetting, DeviceType};

/// `unit_or_zero`, `gram_schmidt`, `any_perpendicular`, `is_zero`.
pub(crate) const UNIT_WGSL: &str = include_str!("unit.wgsl");

/// What `corners.wgsl` reads, for nodes that say where vertices are.
pub(crate) struct DeviceCorners {
    /// Constants in the text.
    pub(crate) settings: [(&'static str, DeviceSetting); 2],
    /// Corners around each vertex, triangles, normals for vertices without area around them.
    pub(crate) constants: [DeviceConstant; 3],
}

/// What is the factor pair of a triangle without UV gradient.
const NO_GRADIENT: u32 = u32::MAX;

impl TangentFramesBind {
    /// For kernels that make normals of this surface. `None` where the mesh is too large.
    pub(crate) fn device_corners(&self) -> Option<DeviceCorners> {
        if self.topology.triangles().len() >= 1 << 29 {
            return None;
        }
        let corners = pack(&self.all_corners())?;
        let mode = self.config.normals;
        let is = |m| DeviceSetting::Bool(mode == m);
        Some(DeviceCorners {
            settings: [
                ("area_weighted", is(NormalMode::AreaWeighted)),
                ("fixed_point", is(NormalMode::FixedPoint)),
            ],
            constants: [
                DeviceConstant::new("corners", DeviceType::U32, &corners),
                DeviceConstant::new("triangles", DeviceType::Vec4U, &self.device_triangles()),
                DeviceConstant::new("rest_normals", DeviceType::Vec3F, &self.rest_normals),
            ],
        })
    }

    pub(super) fn device_node(&self) -> Option<DeviceNode> {
        let DeviceCorners {
            settings,
            constants,
        } = self.device_corners()?;
        let sums_tangents = self.config.tangents == TangentMode::Uv && self.uv.is_some();
        let mut node = DeviceNode {
            shared: vec![
                DEVICE_ROWS_WGSL,
                UNIT_WGSL,
                include_str!("corners.wgsl"),
                include_str!("mesh_surface.wgsl"),
            ],
            settings: settings.to_vec(),
            constants: constants.to_vec(),
            passes: vec![DevicePass::per_vertex("frames", include_str!("kernel.wgsl")).gathering()],
            ..DeviceNode::default()
        };
        node.settings
            .push(("sums_tangents", DeviceSetting::Bool(sums_tangents)));
        let edges: Vec<[u32; 2]> = self
            .group_of_vertex
            .iter()
            .map(|&g| self.reference[g as usize])
            .collect();
        let constant = DeviceConstant::new("reference_edges", DeviceType::Vec2U, &edges);
        node.constants.push(constant);
        self.push_normals(&mut node);
        self.push_tangents(&mut node)?;
        Some(node)
    }

    fn push_normals(&self, node: &mut DeviceNode) {
        let Some(local) = &self.local_normals else {
            node.shared.push(include_str!("normal_plain.wgsl"));
            return;
        };
        node.shared.push(include_str!("normal_authored.wgsl"));
        let constant = DeviceConstant::new("local_normals", DeviceType::Vec3F, local);
        node.constants.push(constant);
    }

    fn push_tangents(&self, node: &mut DeviceNode) -> Option<()> {
        if let Some(local) = &self.local_tangents {
            node.shared.push(include_str!("tangent_local.wgsl"));
            let constant = DeviceConstant::new("local_tangents", DeviceType::Vec4F, local);
            node.constants.push(constant);
            return Some(());
        }
        let Some(uv) = &self.uv else {
            node.shared.push(include_str!("tangent_edge.wgsl"));
            return Some(());
        };
        let u32s = |name, data: &[u32]| DeviceConstant::new(name, DeviceType::U32, data);
        node.constants.push(u32s("signs", &sign_bits(uv)));
        if self.config.tangents == TangentMode::Mikktspace {
            node.shared.push(include_str!("tangent_mikk.wgsl"));
            let corners = pack(&group_corners(uv))?;
            node.constants.push(u32s("group_corners", &corners));
        } else {
            node.shared.push(include_str!("tangent_uv.wgsl"));
        }
        Some(())
    }

    /// Corners and the factors of the direction of growing u.
    fn device_triangles(&self) -> Vec<[u32; 4]> {
        let factors = |t: usize| {
            let uv = self.uv.as_ref()?;
            uv.coefficients.get(t).map(|&f| pack_factors(f))
        };
        let triangles = self.topology.triangles().iter().enumerate();
        let mut out: Vec<[u32; 4]> = triangles
            .map(|(i, &[a, b, c])| [a, b, c, factors(i).unwrap_or(NO_GRADIENT)])
            .collect();
        if out.is_empty() {
            // The text names the array.
            out.push([0, 0, 0, NO_GRADIENT]);
        }
        out
    }

    /// For each vertex the corners of its group; bit 2 of those whose triangle counts for its tangent.
    fn all_corners(&self) -> Vec<Vec<u32>> {
        let counting = |v: usize| -> &[u32] {
            match &self.uv {
                Some(uv) if self.config.tangents == TangentMode::Uv => {
                    uv.rows.row(uv.row_of_vertex[v] as usize)
                }
                _ => &[],
            }
        };
        let of_vertex = |(v, &group): (usize, &u32)| {
            let counting = counting(v);
            let corners = self.normal_rows.row(group as usize).iter();
            corners
                .map(|c| word(*c, counting.binary_search(c).is_ok()))
                .collect()
        };
        self.group_of_vertex
            .iter()
            .enumerate()
            .map(of_vertex)
            .collect()
    }
}

/// A corner as kernels know it: one bit more between triangle and corner.
fn word(corner: u32, counts: bool) -> u32 {
    (corner >> 2) << 3 | u32::from(counts) << 2 | corner & 3
}

fn group_corners(uv: &UvBind) -> Vec<Vec<u32>> {
    let row = |rows: &Rows, r: u32| {
        rows.row(r as usize)
            .iter()
            .map(|&c| word(c, true))
            .collect()
    };
    let of_vertex = uv.row_of_vertex.iter();
    of_vertex.map(|&r| row(&uv.rows, r)).collect()
}

fn pack(lists: &[Vec<u32>]) -> Option<Vec<u32>> {
    let rows: Vec<RowSlices<'_>> = lists.iter().map(|l| (&l[..], &[][..])).collect();
    Some(DeviceRows::build(&rows, false)?.words)
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

/// The larger factor is 1 or -1: one bit for its sign, one for which it is. They replace the lowest two bits of the other.
fn pack_factors([a, b]: [f32; 2]) -> u32 {
    if a == 0.0 && b == 0.0 {
        return NO_GRADIENT;
    }
    let second = b.abs() > a.abs();
    let (one, other) = if second { (b, a) } else { (a, b) };
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
