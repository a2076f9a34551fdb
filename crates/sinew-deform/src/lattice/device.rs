//! The lattice on the GPU: constants of its axes, and the control points of a frame.
//!
//! The CPU writes the displacements of all control points in scene space (for eased lattices along the axes of the box), as `f32`, 12 bytes
//! each. Points that a border rule adds beyond the ends are written too, as sums of real ones: the kernel adds up taps and has no special
//! cases at borders. One of three texts sums: `sum_near.wgsl` for at most four taps along each axis, `sum_many.wgsl` for more,
//! `sum_eased.wgsl` for eased lattices.

use super::basis::{AxisKind, AxisRule, stand_ins};
use super::bind::{Interpolation, LatticeBind, Outside};
use super::cage::{offset_in_scene, rounding_at_faces};
use super::cage_mesh::CageMesh;
use crate::{
    DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame, DeviceFrameData, DeviceNode,
    DevicePass, DeviceSetting, DeviceType, MASK_WEIGHT_WGSL, MaskWeight, UniformLayout,
};
use sinew_geom::{Affine, Mat3, PackedAffine, Real, Vec3};

crate::uniform_struct! {
    /// As in `lattice.wgsl`.
    #[derive(Default)]
    pub(super) struct Uniforms {
        unit_from_scene: PackedAffine,
        scene_from_unit: PackedAffine,
        falloff_distance: f32,
        weight: f32,
        mask_invert: u32,
        is_active: u32,
        along_box: u32,
        edge_x: f32,
        edge_y: f32,
        edge_z: f32,
        cage_motion: PackedAffine,
    }
}

/// Most taps an axis of `sum_near.wgsl`.
const NEAR: usize = 4;

/// An axis of the grid that the kernel reads: the control points and, beyond both ends, points that stand in for
/// what a border rule says. So no tap of the kernel is special.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GridAxis {
    pub(super) rule: AxisRule,
    /// Control points of the user.
    points: usize,
    /// Kind in the text.
    kind: u32,
    /// Control points that act on a vertex.
    pub(super) taps: usize,
    /// Added before a cell is looked up.
    pub(super) shift: f64,
    /// Points that stand in before the first one of the rule.
    pub(super) before: usize,
    /// All points.
    pub(super) len: usize,
    pub(super) last_cell: f64,
    /// First tap of a cell minus its index, in this grid.
    pub(super) base: f64,
}

impl GridAxis {
    fn new(rule: AxisRule, points: usize) -> Self {
        let (kind, taps, back, shift) = match rule.kind {
            AxisKind::One => (0, 1, 0, 0.0),
            AxisKind::Bernstein => (1, rule.points, 0, 0.0),
            AxisKind::Bspline(k) => (2, k, (k - 1) / 2, 0.5 * (k % 2) as f64),
            AxisKind::Cardinal(_) => (3, 4, 1, 0.0),
            AxisKind::Eased => (4, 2, 0, 0.0),
        };
        let at_end = if shift > 0.0 { 0.0 } else { 1.0 };
        let last_cell = (rule.high - at_end).max(0.0);
        let first_tap = (rule.low + shift).floor() - back as f64;
        let last_tap = last_cell.floor() - back as f64 + (taps - 1) as f64;
        let before = count(-first_tap);
        let after = count(last_tap + 1.0 - rule.points as f64);
        Self {
            rule,
            points,
            kind,
            taps,
            shift,
            before,
            len: before + rule.points + after,
            last_cell,
            base: before as f64 - back as f64,
        }
    }

    /// Points of the rule that the user's grid lacks at each end: a ring that never moves.
    pub(super) fn ring(&self) -> usize {
        usize::from(self.rule.points > self.points)
    }

    /// The user's points whose displacements make up that of a point of this grid, and how often each counts.
    fn sources(&self, at: usize) -> [(usize, f64); 2] {
        let (at, before) = (at as isize, self.before as isize);
        let last = self.rule.points as isize - 1;
        let ring = self.ring() as isize;
        stand_ins(at - before, last, self.rule.border).map(|(point, factor)| match usize::try_from(
            point - ring,
        ) {
            Ok(point) if point < self.points => (point, factor),
            _ => (0, 0.0),
        })
    }
}

fn count(n: f64) -> usize {
    n.max(0.0) as usize
}

pub(super) fn grid(bind: &LatticeBind) -> [GridAxis; 3] {
    [0, 1, 2].map(|a| GridAxis::new(bind.rules[a], bind.resolution[a]))
}

/// What the text calls the constants of an axis.
const NAMES: [[&str; 13]; 3] = [
    [
        "KIND_X",
        "TAPS_X",
        "POINTS_X",
        "BEFORE_X",
        "STRIDE_X",
        "SCALE_X",
        "OFFSET_X",
        "LOW_X",
        "HIGH_X",
        "SHIFT_X",
        "LAST_CELL_X",
        "BASE_X",
        "GOES_ON_X",
    ],
    [
        "KIND_Y",
        "TAPS_Y",
        "POINTS_Y",
        "BEFORE_Y",
        "STRIDE_Y",
        "SCALE_Y",
        "OFFSET_Y",
        "LOW_Y",
        "HIGH_Y",
        "SHIFT_Y",
        "LAST_CELL_Y",
        "BASE_Y",
        "GOES_ON_Y",
    ],
    [
        "KIND_Z",
        "TAPS_Z",
        "POINTS_Z",
        "BEFORE_Z",
        "STRIDE_Z",
        "SCALE_Z",
        "OFFSET_Z",
        "LOW_Z",
        "HIGH_Z",
        "SHIFT_Z",
        "LAST_CELL_Z",
        "BASE_Z",
        "GOES_ON_Z",
    ],
];

fn settings(bind: &LatticeBind, grid: &[GridAxis; 3]) -> Vec<(&'static str, DeviceSetting)> {
    let whole = |n: usize| DeviceSetting::U32(n as u32);
    let number = |n: f64| DeviceSetting::F32(n as f32);
    let outside = bind.config.outside;
    let tension = grid.iter().find_map(|a| match a.rule.kind {
        AxisKind::Cardinal(tension) => Some(tension),
        _ => None,
    });
    let most = grid.iter().map(|a| a.taps).max().unwrap_or(1);
    let mut settings = vec![
        (
            "STAYS_OUTSIDE",
            DeviceSetting::Bool(outside == Outside::None),
        ),
        (
            "FADES_OUTSIDE",
            DeviceSetting::Bool(outside == Outside::Falloff),
        ),
        ("TENSION", number(tension.unwrap_or(0.0))),
        ("MOST", whole(most)),
    ];
    for (axis, names) in grid.iter().zip(NAMES) {
        let values = [
            DeviceSetting::U32(axis.kind),
            whole(axis.taps),
            whole(axis.points),
            whole(axis.before + axis.ring()),
            whole(axis.len),
            number(axis.rule.scale),
            number(axis.rule.offset),
            number(axis.rule.low),
            number(axis.rule.high),
            number(axis.shift),
            number(axis.last_cell),
            number(axis.base),
            DeviceSetting::Bool(axis.rule.linear_outside),
        ];
        settings.extend(names.into_iter().zip(values));
    }
    settings
}

/// A lattice without control points: the mesh as it is.
fn identity() -> DeviceNode {
    DeviceNode {
        passes: vec![DevicePass::per_vertex(
            "lattice",
            include_str!("identity.wgsl"),
        )],
        ..DeviceNode::default()
    }
}

pub(super) fn node(bind: &LatticeBind) -> DeviceNode {
    if bind.is_identity() {
        return identity();
    }
    let grid = grid(bind);
    let sum = if bind.config.interpolation == Interpolation::CellEased {
        include_str!("sum_eased.wgsl")
    } else if grid.iter().all(|a| a.taps <= NEAR) {
        include_str!("sum_near.wgsl")
    } else {
        include_str!("sum_many.wgsl")
    };
    let (place, constants) = match &bind.rest_stu {
        Some(places) => (
            include_str!("place_rest.wgsl"),
            vec![DeviceConstant::new(
                "rest_places",
                DeviceType::Vec3F,
                places,
            )],
        ),
        None => (include_str!("place_current.wgsl"), vec![]),
    };
    let mut passes = vec![DevicePass::per_vertex(
        "lattice",
        include_str!("kernel.wgsl"),
    )];
    if bind.edge_count() > 0 {
        passes.push(
            DevicePass::per_vertex("cage", include_str!("cage.wgsl"))
                .over(DeviceDomain::Elements(bind.edge_count())),
        );
    }
    let offsets = DeviceArray {
        name: "offsets",
        ty: DeviceType::Vec3F,
        len: grid.iter().map(|a| a.len).product(),
        lasting: false,
    };
    let mut node = DeviceNode {
        shared: vec![MASK_WEIGHT_WGSL, include_str!("lattice.wgsl"), place, sum],
        settings: settings(bind, &grid),
        constants,
        uniforms: UniformLayout::of::<Uniforms>(),
        frame_arrays: vec![offsets],
        passes,
        ..DeviceNode::default()
    };
    if let Some(cage) = &bind.cage {
        follow_cage(&mut node, bind, cage, &grid);
    }
    node
}

/// Displacements come from a mesh: a pass of their own writes them.
fn follow_cage(node: &mut DeviceNode, bind: &LatticeBind, cage: &CageMesh, grid: &[GridAxis; 3]) {
    let mut offsets = vec![0_u32];
    let mut sources: Vec<[u32; 2]> = Vec::new();
    for_each_source(bind, grid, |end| {
        let Some((point, factor)) = end else {
            return offsets.push(sinew_geom::index32(sources.len()));
        };
        let entries = cage.entries_of(point).iter();
        sources.extend(entries.map(|(vertex, f)| [*vertex, (f * factor as f32).to_bits()]));
    });
    if sources.is_empty() {
        sources.push([0; 2]);
    }
    node.constants.extend([
        DeviceConstant::new("source_offsets", DeviceType::U32, &offsets),
        DeviceConstant::new("sources", DeviceType::Vec2U, &sources),
        DeviceConstant::new("cage_rest", DeviceType::Vec3F, &cage.rest),
    ]);
    node.settings
        .push(("CAGE_IN_SCENE", DeviceSetting::Bool(cage.in_scene)));
    node.scratch = std::mem::take(&mut node.frame_arrays);
    let len = node.scratch.iter().map(|a| a.len).sum();
    let first = DevicePass::per_vertex("control points", include_str!("control_points.wgsl"));
    let first = first.over(DeviceDomain::Elements(len)).gathering();
    let others = std::mem::take(&mut node.passes).into_iter();
    let others = others.map(DevicePass::gathering);
    node.passes = std::iter::once(first).chain(others).collect();
}

/// Calls `f` with the control points that make up each point of the kernel's grid, their factors, and `None` after each.
fn for_each_source(
    bind: &LatticeBind,
    [x, y, z]: &[GridAxis; 3],
    mut f: impl FnMut(Option<(usize, f64)>),
) {
    let [nx, ny, _] = bind.resolution;
    for at in 0..x.len * y.len * z.len {
        let (i, j, k) = (at % x.len, at / x.len % y.len, at / (x.len * y.len));
        for (k, by_z) in z.sources(k) {
            for (j, by_y) in y.sources(j) {
                for (i, by_x) in x.sources(i) {
                    let factor = by_x * by_y * by_z;
                    if factor != 0.0 {
                        f(Some((i + nx * (j + ny * k), factor)));
                    }
                }
            }
        }
        f(None);
    }
}

pub(super) fn write_frame(
    bind: &LatticeBind,
    frame: &DeviceFrame<'_>,
    data: &mut DeviceFrameData<'_>,
) {
    if bind.is_identity() {
        return;
    }
    let box_transform = frame.parameters.transform("rest_transform");
    let points = frame.parameters.points("points");
    let moved = bind.cage.is_some() || points.len() == bind.point_count();
    let unit_from_scene = bind.unit_from_scene(&box_transform);
    let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
    let eased = bind.config.interpolation == Interpolation::CellEased;
    let along_box = unit_from_scene.filter(|_| eased).map(|m| m.linear);
    let to_unit = unit_from_scene.unwrap_or_else(Affine::identity);
    let scene_from_unit = bind.scene_from_unit(&box_transform);
    let edge = f64::array3(rounding_at_faces(&to_unit, &scene_from_unit));
    data.set_uniforms(&Uniforms {
        unit_from_scene: to_unit.into(),
        scene_from_unit: scene_from_unit.into(),
        falloff_distance: frame.parameters.single("falloff_distance"),
        weight,
        mask_invert,
        is_active: u32::from(moved && unit_from_scene.is_some()),
        along_box: u32::from(along_box.is_some()),
        edge_x: edge[0],
        edge_y: edge[1],
        edge_z: edge[2],
        cage_motion: match &bind.cage {
            Some(cage) => cage.motion(&box_transform).into(),
            None => Affine::<f64>::identity().into(),
        },
    });
    if bind.cage.is_some() {
        return;
    }
    let out = data.array::<[f32; 3]>(0);
    if moved {
        write_offsets(bind, &box_transform, points, along_box, out);
    } else {
        out.fill([0.0; 3]);
    }
}

/// Displacements of all points of the kernel's grid.
pub(super) fn write_offsets(
    bind: &LatticeBind,
    box_transform: &Affine<f64>,
    points: &[[f64; 3]],
    along_box: Option<Mat3<f64>>,
    out: &mut [[f32; 3]],
) {
    let [nx, ny, _] = bind.resolution;
    let (mut at, mut sum) = (0, Vec3::zeros());
    for_each_source(bind, &grid(bind), |source| match source {
        Some((point, factor)) => {
            let index = [point % nx, point / nx % ny, point / (nx * ny)];
            sum += offset_in_scene(bind, box_transform, points, index) * factor;
        }
        None => {
            if let Some(out) = out.get_mut(at) {
                *out = sinew_geom::Real::array3(along_box.map_or(sum, |m| m * sum));
            }
            (at, sum) = (at + 1, Vec3::zeros());
        }
    });
}
