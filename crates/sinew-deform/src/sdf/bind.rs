//! Setup: topology, an order of triangles that keeps neighbours together, and the size of all buffers.
//!
//! 1. Vertices at equal rest positions are one point. Triangles are sorted by halving their box across its longest side, again and again,
//!    until eight are
//!    left: a cluster. Eight clusters make a box, eight boxes the next one.
//! 2. Doubled triangles of double-sided exports are reduced to the first of each pair; a closed surface that faces inward is reversed.
//! 3. Edges and corners of points, for pseudonormals.
//! 4. The cell size, from the settings and the rest mesh; it stays the same in all frames.
//! 5. Memory: the coarse level is built once to count bricks, and the count is multiplied by [`SdfSettings::spare_bricks`].

use super::build::FieldBuffers;
use super::field::{BRICK_CELLS, GridShape};
use super::frame::FieldFrame;
use super::orient::{first_of_pairs, volume_six};
use super::settings::{Axis, FieldBox, Resolution, SdfError, SdfSettings, Storage};
use super::tree::{CLUSTER, TreeShape};
use crate::{BindWatch, Par};
use sinew_geom::{CornerFans, Topology, WeldMap};
use std::collections::HashMap;

/// Bounds that are this near a whole number of cells (a box of 64 cells, say) count as there, so that neither rounding nor the device
/// decides about the shape of the grid; padding may be as much less.
pub(super) const LEAN: f32 = 1.0 / 64.0;

/// Properties of the surface, with vertices at equal positions as one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceReport {
    /// Triangles of the mesh.
    pub triangles: usize,
    /// Triangles that name a point twice. They count for distances, but not for signs.
    pub collapsed_triangles: usize,
    /// Edges between two triangles with the same orientation.
    pub closed_edges: usize,
    /// Edges with one triangle.
    pub open_edges: usize,
    /// Edges with three or more triangles, or with two of opposite orientation.
    pub non_manifold_edges: usize,
    /// Triangles that were left out, because each has a partner with the same points that faces the other way.
    pub doubled_triangles: usize,
    /// Whether the surface is closed and faces inward. Its triangles are then used with reversed winding.
    pub is_turned: bool,
}

impl SurfaceReport {
    /// Whether pseudonormals give the right sign everywhere, if the surface does not intersect itself.
    pub fn is_closed(&self) -> bool {
        self.open_edges == 0 && self.non_manifold_edges == 0 && self.closed_edges > 0
    }
}

/// Setup of a field. Immutable; all instances share it. Triangles are numbered in an order of their own.
#[derive(Clone, Debug)]
pub struct SdfBind {
    settings: SdfSettings,
    report: SurfaceReport,
    vertex_count: usize,
    pub(super) triangles: Vec<[u32; 3]>,
    classes: Vec<[u32; 3]>,
    edges: Vec<[u32; 3]>,
    edge_offsets: Vec<u32>,
    edge_triangles: Vec<u32>,
    fans: CornerFans,
    pub(super) tree: TreeShape,
    cell: f32,
    table_capacity: usize,
    brick_capacity: usize,
}

impl SdfBind {
    /// Reads the topology and the rest positions (scene space, one per vertex), and decides the cell size and the memory. It builds the
    /// coarse part of the field once to count bricks, which takes about the time of one frame.
    ///
    /// # Errors
    /// [`SdfError`]: settings out of range, no triangles, positions that do not fit or are not finite, a grid that is too large.
    pub fn new(
        topology: &Topology,
        rest: &[[f32; 3]],
        field_from_scene: &FieldFrame,
        settings: SdfSettings,
    ) -> Result<Self, SdfError> {
        let watch = BindWatch::NONE;
        Self::new_watched(topology, rest, field_from_scene, settings, Par::Seq, &watch)
    }

    /// As [`Self::new`], on threads, with progress and cancellation between its parts. The result is the same for any number of threads.
    ///
    /// # Errors
    /// As [`Self::new`]; [`SdfError::Stopped`].
    pub fn new_watched(
        topology: &Topology,
        rest: &[[f32; 3]],
        field_from_scene: &FieldFrame,
        settings: SdfSettings,
        par: Par,
        watch: &BindWatch<'_>,
    ) -> Result<Self, SdfError> {
        settings.check()?;
        check_mesh(topology, rest)?;
        watch.step(0.0)?;
        let weld = WeldMap::by_position(rest, 0.0);
        let class_of = |v: u32| weld.class_of_vertex[v as usize];
        let all = topology.triangles();
        let mut original = spatial_order(topology, rest);
        watch.step(0.25)?;
        let in_file: Vec<[u32; 3]> = all.iter().map(|t| t.map(class_of)).collect();
        if let Some(keep) = first_of_pairs(&in_file) {
            let kept = in_file.iter().zip(&keep).filter(|(_, keep)| **keep);
            let kept: Vec<[u32; 3]> = kept.map(|(t, _)| *t).collect();
            // Of which half are first may vary over the mesh; then both stay.
            if Edges::new(&kept).report.non_manifold_edges == 0 {
                original.retain(|&t| keep[t as usize]);
            }
        }
        let mut triangles: Vec<[u32; 3]> = original.iter().map(|&t| all[t as usize]).collect();
        let of_points = |t: &[u32; 3]| t.map(class_of);
        let mut classes: Vec<[u32; 3]> = triangles.iter().map(of_points).collect();
        let mut edges = Edges::new(&classes);
        let is_turned = edges.report.is_closed() && volume_six(&triangles, rest) < 0.0;
        if is_turned {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
            classes = triangles.iter().map(of_points).collect();
            edges = Edges::new(&classes);
        }
        watch.step(0.5)?;
        let mut this = Self {
            settings,
            report: SurfaceReport {
                doubled_triangles: all.len() - triangles.len(),
                is_turned,
                ..edges.report
            },
            vertex_count: rest.len(),
            fans: fans(&classes, weld.class_count()),
            tree: TreeShape::new(triangles.len()),
            triangles,
            classes,
            edges: edges.of_triangle,
            edge_offsets: edges.offsets,
            edge_triangles: edges.triangles,
            cell: 0.0,
            table_capacity: 0,
            brick_capacity: 0,
        };
        watch.step(0.6)?;
        this.size(rest, field_from_scene, par)?;
        Ok(this)
    }

    fn size(&mut self, rest: &[[f32; 3]], frame: &FieldFrame, par: Par) -> Result<(), SdfError> {
        let bounds = Bounds::of(rest.iter().map(|&p| frame.point_from_scene(p)));
        self.cell = cell_size(&self.settings, &bounds)?;
        let bounds = match self.settings.field_box {
            FieldBox::Tight => bounds,
            FieldBox::Fixed { low, high } => Bounds { low, high },
        };
        let found = estimate(self.bricks_across(&bounds, self.cell));
        // Moving meshes stretch their box: arms that go up double one side and halve none.
        let spare = match self.settings.field_box {
            FieldBox::Tight => 4.0,
            FieldBox::Fixed { .. } => 1.0,
        };
        let entries = (found * spare).ceil();
        self.check_bytes(entries * 12.0)?;
        self.table_capacity = entries as usize;
        let mut buffers = FieldBuffers::new(self);
        let wanted = buffers.build(self, rest, frame, par).bricks_wanted;
        let bricks = (wanted as f64 * f64::from(self.settings.spare_bricks)).ceil();
        let bytes = match self.settings.storage {
            Storage::Single => 2048.0,
            Storage::Half => 1024.0,
        };
        self.check_bytes(entries * 12.0 + bricks * bytes)?;
        self.brick_capacity = (bricks as usize).min(self.table_capacity);
        Ok(())
    }

    fn check_bytes(&self, found: f64) -> Result<(), SdfError> {
        let allowed = self.settings.max_bytes;
        if found <= allowed as f64 {
            return Ok(());
        }
        let found = found as usize;
        Err(SdfError::TooLarge { found, allowed })
    }

    /// Bricks along each axis that hold a box and its padding at a cell size; not cut to what fits.
    fn bricks_across(&self, bounds: &Bounds, cell: f32) -> [f64; 3] {
        std::array::from_fn(|k| {
            let extent = bounds.high[k] - bounds.low[k];
            let cells = (extent / cell - LEAN).ceil().clamp(0.0, 1e9) as u32;
            // One more for the origin, which is moved down to a whole cell.
            let cells = cells + 2 * self.padding() + 1;
            f64::from(cells.div_ceil(BRICK_CELLS as u32))
        })
    }

    /// Whole cells of padding.
    pub(super) fn padding(&self) -> u32 {
        self.settings.padding_cells.ceil().min(1e9) as u32
    }

    /// The grid of a frame: around `bounds` (field frame) or fixed. Where a mesh outgrew the room, its cells are larger.
    pub(super) fn shape(&self, bounds: &Bounds) -> GridShape {
        let bounds = match self.settings.field_box {
            FieldBox::Tight => *bounds,
            FieldBox::Fixed { low, high } => Bounds { low, high },
        };
        let mut cell = self.cell;
        let mut across = self.bricks_across(&bounds, cell);
        // Ends: the smallest possible grid is one brick.
        while estimate(across) > self.table_capacity.max(8) as f64 && cell < 1e30 {
            cell *= 1.1;
            across = self.bricks_across(&bounds, cell);
        }
        let padding = self.padding() as f32;
        GridShape {
            origin: (bounds.low).map(|l| ((l / cell + LEAN).floor() - padding) * cell),
            cell,
            bricks: across.map(|b| b as u32),
        }
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &SdfSettings {
        &self.settings
    }
    /// Properties of the surface.
    pub fn report(&self) -> SurfaceReport {
        self.report
    }
    /// Number of positions that a build needs.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let per_triangle = size_of::<[u32; 3]>() * 3 + size_of::<u32>();
        self.triangles.len() * per_triangle
            + size_of_val(&*self.edge_offsets)
            + size_of_val(&*self.edge_triangles)
    }
    /// Edge length of a cell, in units of the field's frame.
    pub fn cell(&self) -> f32 {
        self.cell
    }
    /// Bricks that buffers have room for.
    pub(crate) fn brick_capacity(&self) -> usize {
        self.brick_capacity
    }
    /// Entries of the brick table that buffers have room for; the coarse level has as many.
    pub(crate) fn table_capacity(&self) -> usize {
        self.table_capacity
    }
    /// Edges of a triangle, from corner k to the next.
    pub(super) fn edges_of(&self, triangle: usize) -> [u32; 3] {
        self.edges[triangle]
    }
    /// Both, for the kernels.
    pub(super) fn edges_and_classes(&self) -> (&[[u32; 3]], &[[u32; 3]]) {
        (&self.edges, &self.classes)
    }
    pub(super) fn edge_count(&self) -> usize {
        self.edge_offsets.len() - 1
    }
    /// Triangles at an edge, collapsed ones left out.
    pub(super) fn triangles_of_edge(&self, edge: u32) -> &[u32] {
        let e = edge as usize;
        &self.edge_triangles[self.edge_offsets[e] as usize..self.edge_offsets[e + 1] as usize]
    }
    /// Points that the corners are.
    pub(super) fn classes_of(&self, triangle: usize) -> [u32; 3] {
        self.classes[triangle]
    }
    pub(super) fn class_count(&self) -> usize {
        self.fans.offsets.len() - 1
    }
    /// Corners (`3 * triangle + corner`) at a point, those of collapsed triangles left out.
    pub(super) fn corners_of_class(&self, class: u32) -> &[u32] {
        self.fans.corners_of(class as usize)
    }
}

/// Brick-table entries for that many bricks an axis; the coarse level's nodes are more, so they count.
fn estimate(across: [f64; 3]) -> f64 {
    across.iter().map(|b| b + 1.0).product()
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: [f32; 3],
    pub(super) high: [f32; 3],
}

impl Bounds {
    /// Points that are not finite are left out; no point at all gives the origin.
    pub(super) fn of(points: impl Iterator<Item = [f32; 3]>) -> Self {
        let mut low = [f32::INFINITY; 3];
        let mut high = [f32::NEG_INFINITY; 3];
        for p in points.filter(|p| p.iter().all(|c| c.is_finite())) {
            for k in 0..3 {
                low[k] = low[k].min(p[k]);
                high[k] = high[k].max(p[k]);
            }
        }
        if low[0] <= high[0] {
            Self { low, high }
        } else {
            Self {
                low: [0.0; 3],
                high: [0.0; 3],
            }
        }
    }
}

fn check_mesh(topology: &Topology, rest: &[[f32; 3]]) -> Result<(), SdfError> {
    if topology.triangles().is_empty() {
        return Err(SdfError::EmptyMesh);
    }
    if rest.len() != topology.vertex_count() {
        return Err(SdfError::PositionCount {
            found: rest.len(),
            expected: topology.vertex_count(),
        });
    }
    let bad = rest.iter().position(|p| !p.iter().all(|c| c.is_finite()));
    bad.map_or(Ok(()), |vertex| Err(SdfError::NotFinite { vertex }))
}

fn cell_size(settings: &SdfSettings, bounds: &Bounds) -> Result<f32, SdfError> {
    let Resolution::Cells { count, along } = settings.resolution else {
        let Resolution::CellSize(cell) = settings.resolution else {
            return Err(SdfError::NoExtent);
        };
        return Ok(cell);
    };
    let extent: [f32; 3] = std::array::from_fn(|k| bounds.high[k] - bounds.low[k]);
    let length = match along {
        Axis::X => extent[0],
        Axis::Y => extent[1],
        Axis::Z => extent[2],
        Axis::Longest => extent[0].max(extent[1]).max(extent[2]),
    };
    let cell = length / count as f32;
    if cell > 1e-30 && cell.is_finite() {
        Ok(cell)
    } else {
        Err(SdfError::NoExtent)
    }
}

/// Triangles in an order that puts neighbours in space together: eight in a row, eight such rows, and so on.
fn spatial_order(topology: &Topology, rest: &[[f32; 3]]) -> Vec<u32> {
    let center =
        |t: &[u32; 3]| [0, 1, 2].map(|k| t.iter().map(|&v| rest[v as usize][k]).sum::<f32>() / 3.0);
    let centers: Vec<[f32; 3]> = topology.triangles().iter().map(center).collect();
    let mut order: Vec<u32> = (0..centers.len() as u32).collect();
    halve(&mut order, &centers);
    order
}

/// Cuts across the longest side again and again, each time where a whole number of clusters (of boxes, of blocks of
/// them) is on one side, so that what the tree puts together is compact.
fn halve(order: &mut [u32], centers: &[[f32; 3]]) {
    let len = order.len();
    if len <= CLUSTER {
        order.sort_unstable();
        return;
    }
    let mut unit = CLUSTER;
    while unit * CLUSTER < len {
        unit *= CLUSTER;
    }
    let left = len.div_ceil(unit).div_ceil(2) * unit;
    let bounds = Bounds::of(order.iter().map(|&i| centers[i as usize]));
    let side = |k: usize| bounds.high[k] - bounds.low[k];
    let axis = (1..3).fold(0, |best, k| if side(k) > side(best) { k } else { best });
    let along = |i: &u32| centers[*i as usize][axis];
    order.select_nth_unstable_by(left, |a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
    let (low, high) = order.split_at_mut(left);
    halve(low, centers);
    halve(high, centers);
}

pub(super) fn is_collapsed([a, b, c]: [u32; 3]) -> bool {
    a == b || b == c || c == a
}

struct Edges {
    of_triangle: Vec<[u32; 3]>,
    offsets: Vec<u32>,
    triangles: Vec<u32>,
    report: SurfaceReport,
}

impl Edges {
    fn new(classes: &[[u32; 3]]) -> Self {
        let mut number: HashMap<(u32, u32), u32> = HashMap::with_capacity(classes.len() * 2);
        let of_triangle: Vec<[u32; 3]> = (classes.iter())
            .map(|t| {
                [0, 1, 2].map(|k| {
                    let (a, b) = (t[k], t[(k + 1) % 3]);
                    let next = number.len() as u32;
                    *number.entry((a.min(b), a.max(b))).or_insert(next)
                })
            })
            .collect();
        let count = number.len();
        let mut offsets = vec![0_u32; count + 1];
        // Uses of an edge in rising and in falling direction.
        let mut uses = vec![[0_u32; 2]; count];
        let live = || {
            classes
                .iter()
                .zip(&of_triangle)
                .enumerate()
                .filter(|(_, (t, _))| !is_collapsed(**t))
        };
        for (_, (t, edges)) in live() {
            for k in 0..3 {
                offsets[edges[k] as usize + 1] += 1;
                uses[edges[k] as usize][usize::from(t[k] > t[(k + 1) % 3])] += 1;
            }
        }
        for e in 0..count {
            offsets[e + 1] += offsets[e];
        }
        let mut cursor = offsets.clone();
        let mut triangles = vec![0; offsets[count] as usize];
        for (t, (_, edges)) in live() {
            for &e in edges {
                triangles[cursor[e as usize] as usize] = t as u32;
                cursor[e as usize] += 1;
            }
        }
        Self {
            report: report(classes, &uses),
            of_triangle,
            offsets,
            triangles,
        }
    }
}

fn report(classes: &[[u32; 3]], uses: &[[u32; 2]]) -> SurfaceReport {
    let count = |f: fn(&[u32; 2]) -> bool| uses.iter().filter(|u| f(u)).count();
    let closed_edges = count(|u| *u == [1, 1]);
    let open_edges = count(|u| u[0] + u[1] == 1);
    SurfaceReport {
        triangles: classes.len(),
        collapsed_triangles: classes.iter().filter(|t| is_collapsed(**t)).count(),
        closed_edges,
        open_edges,
        non_manifold_edges: count(|u| u[0] + u[1] > 1) - closed_edges,
        ..SurfaceReport::default()
    }
}

/// Corners around each point.
fn fans(classes: &[[u32; 3]], class_count: usize) -> CornerFans {
    let corners = || {
        let live = classes
            .iter()
            .enumerate()
            .filter(|(_, t)| !is_collapsed(**t));
        live.flat_map(|(t, c)| (0..3).map(move |k| (3 * t + k, c[k] as usize)))
    };
    let mut offsets = vec![0_u32; class_count + 1];
    corners().for_each(|(_, c)| offsets[c + 1] += 1);
    for c in 0..class_count {
        offsets[c + 1] += offsets[c];
    }
    let mut cursor = offsets.clone();
    let mut list = vec![0; offsets[class_count] as usize];
    for (corner, c) in corners() {
        list[cursor[c] as usize] = corner as u32;
        cursor[c] += 1;
    }
    CornerFans {
        offsets,
        corners: list,
    }
}

// Clusters are what lanes hold.
const _: () = assert!(CLUSTER == 8, "a cluster fills one vector");
