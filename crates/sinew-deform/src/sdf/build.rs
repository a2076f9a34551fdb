//! The field of a frame: coarse level, choice of bricks, values of bricks.
//!
//! 1. Positions go to the field's frame; the box of the mesh gives the grid. The boxes of the triangle clusters are refitted, and normals
//!    computed.
//! 2. Coarse level: each corner of each brick looks for its nearest triangle in the tree, starting from that of its neighbour.
//! 3. Bricks are chosen if a triangle may be within the band of one of their nodes. If there are more than fit into the memory, those that
//!    the surface passes through come first.
//! 4. Each chosen brick computes its 512 nodes (`brick.rs`).
//!
//! Every step gathers: a node reads triangles, and no triangle writes nodes. The result is the same bits for any number of threads. Nothing
//! is allocated.

use super::bind::SdfBind;
use super::brick::{Frame, Work, behind_nearest, fill};
use super::columns::{Columns, rim};
use super::field::{BRICK_CELLS, BRICK_VALUES, BrickValues, FieldView, GridShape, NO_BRICK};
use super::frame::FieldFrame;
use super::half::half_from;
use super::reach::FieldReach;
use super::settings::{SignMethod, Storage};
use super::simd::{Signs, from_point};
use super::surface::Surface;
use super::tree::CLUSTER;
use super::triangle::P;
use super::walk::{NearBox, nearest};
use super::winding::{Winding, is_inside};
use crate::simd_vector::V3;
use crate::{Par, for_each_chunk};
use fearless_simd::{Simd, prelude::*};
use fearless_simd_macros::simd;
use std::ops::Range;

/// Nodes of the coarse level in one task; each row starts from its neighbour's nearest triangle.
const COARSE_CHUNK: usize = 128;
/// Bricks in one task.
const BRICK_CHUNK: usize = 16;

/// Results of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuildReport {
    /// The grid of this frame.
    pub shape: GridShape,
    /// Bricks within the band of the surface.
    pub bricks_wanted: usize,
    /// Number of these that found no memory; the coarse level replaces them. Bricks on the surface are served first.
    pub bricks_left_out: usize,
    /// Vertices with NaN or infinity, or missing. Their triangles are left out.
    pub vertices_not_finite: usize,
    /// Whether cells are larger than in setup, because the mesh outgrew the memory for its box.
    pub cells_enlarged: bool,
}

#[derive(Clone, Debug)]
enum Pool {
    Single(Vec<[f32; BRICK_VALUES]>),
    Half(Vec<[u16; BRICK_VALUES]>),
}

/// What a brick is to the surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Near {
    #[default]
    No,
    Band,
    Surface,
}

/// How sides are found.
#[derive(Clone, Debug)]
enum Sides {
    Pseudonormals,
    /// Winding numbers of closed surfaces.
    Columns(Columns),
    /// Winding numbers of open ones.
    Tree(Winding),
}

/// A field and all memory for building it, for one character. Before the first [`Self::build`], everything is far outside.
#[derive(Clone, Debug)]
pub struct FieldBuffers {
    surface: Surface,
    sides: Sides,
    shape: GridShape,
    frame: FieldFrame,
    table: Vec<u32>,
    coarse: Vec<f32>,
    /// For each brick whether it is near, and the triangle nearest to its centre.
    near: Vec<(Near, u32)>,
    /// Brick of each slot.
    bricks: Vec<u32>,
    pool: Pool,
}

impl FieldBuffers {
    /// Buffers for fields of `bind`. Allocates.
    pub fn new(bind: &SdfBind) -> Self {
        let (entries, slots) = (bind.table_capacity(), bind.brick_capacity());
        let winding = bind.settings().sign == SignMethod::WindingNumber;
        Self {
            surface: Surface::new(bind),
            sides: match winding {
                false => Sides::Pseudonormals,
                true if rim(bind).is_empty() => Sides::Columns(Columns::new(bind)),
                true => Sides::Tree(Winding::new(bind)),
            },
            shape: GridShape {
                origin: [0.0; 3],
                cell: bind.cell(),
                bricks: [0; 3],
            },
            frame: FieldFrame::default(),
            table: vec![NO_BRICK; entries],
            coarse: vec![f32::INFINITY; entries],
            near: vec![(Near::No, 0); entries],
            bricks: vec![0; slots],
            pool: match bind.settings().storage {
                Storage::Single => Pool::Single(vec![[0.0; BRICK_VALUES]; slots]),
                Storage::Half => Pool::Half(vec![[0; BRICK_VALUES]; slots]),
            },
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let pool = match &self.pool {
            Pool::Single(v) => size_of_val(&**v),
            Pool::Half(v) => size_of_val(&**v),
        };
        let sides = match &self.sides {
            Sides::Pseudonormals => 0,
            Sides::Columns(columns) => columns.bytes(),
            Sides::Tree(winding) => winding.bytes(),
        };
        let lists = size_of_val(&*self.table)
            + size_of_val(&*self.coarse)
            + size_of_val(&*self.near)
            + size_of_val(&*self.bricks);
        self.surface.bytes() + sides + lists + pool
    }

    /// Builds the field of a mesh. `positions` are in scene space, one per vertex of `bind`, which must be the one that the buffers were
    /// made for. The result is the same bits for any number of threads.
    ///
    /// # Cost
    /// O(coarse nodes * log T + bricks) for `T` triangles; it does not allocate.
    pub fn build(
        &mut self,
        bind: &SdfBind,
        positions: &[[f32; 3]],
        field_from_scene: &FieldFrame,
        par: Par,
    ) -> BuildReport {
        let reach = &FieldReach::EVERYWHERE;
        self.build_within(bind, positions, field_from_scene, reach, par)
    }

    /// The same, without bricks out of `reach`: there the coarse level stands for them. Within, it is the same bits.
    pub fn build_within(
        &mut self,
        bind: &SdfBind,
        positions: &[[f32; 3]],
        field_from_scene: &FieldFrame,
        reach: &FieldReach,
        par: Par,
    ) -> BuildReport {
        let (bounds, vertices_not_finite) = self.surface.place(positions, field_from_scene);
        self.frame = *field_from_scene;
        self.shape = bind.shape(&bounds);
        self.surface.prepare(bind, &self.shape, par);
        match &mut self.sides {
            Sides::Pseudonormals => {}
            Sides::Columns(columns) => columns.prepare(&self.surface, &self.shape, par),
            Sides::Tree(winding) => winding.prepare(bind, &self.surface),
        }
        self.build_coarse(bind, par);
        BuildReport {
            vertices_not_finite,
            ..self.build_bricks(bind, reach, par)
        }
    }

    /// Bricks of the last mesh that are within reach; the field as a whole may have moved since.
    pub(super) fn build_bricks_again(
        &mut self,
        bind: &SdfBind,
        field_from_scene: &FieldFrame,
        reach: &FieldReach,
        par: Par,
    ) -> BuildReport {
        self.frame = *field_from_scene;
        self.build_bricks(bind, reach, par)
    }

    fn build_bricks(&mut self, bind: &SdfBind, reach: &FieldReach, par: Par) -> BuildReport {
        self.choose_bricks(bind, reach, par);
        self.tell_surface(bind);
        let (bricks_wanted, built) = self.assign();
        self.fill_bricks(bind, built, par);
        BuildReport {
            shape: self.shape,
            bricks_wanted,
            bricks_left_out: bricks_wanted - built,
            vertices_not_finite: 0,
            cells_enlarged: self.shape.cell > bind.cell(),
        }
    }

    /// The field of the last build.
    pub fn view(&self) -> FieldView<'_> {
        let count = |n: usize, all: usize| n.min(all);
        FieldView {
            shape: self.shape,
            table: &self.table[..count(self.shape.brick_count(), self.table.len())],
            coarse: &self.coarse[..count(self.shape.coarse_count(), self.coarse.len())],
            values: match &self.pool {
                Pool::Single(v) => BrickValues::Single(v),
                Pool::Half(v) => BrickValues::Half(v),
            },
            frame: self.frame,
        }
    }

    fn build_coarse(&mut self, bind: &SdfBind, par: Par) {
        let shape = self.shape;
        let frame = frame(bind, &self.surface, &self.sides);
        let count = shape.coarse_count().min(self.coarse.len());
        let out = &mut self.coarse[..count];
        for_each_chunk(par, count, COARSE_CHUNK, out, &|range, out: &mut [f32]| {
            dispatch!(simd => coarse_nodes(simd, &frame, &shape, range, out));
        });
    }

    fn choose_bricks(&mut self, bind: &SdfBind, reach: &FieldReach, par: Par) {
        let chooser = Chooser {
            reach: self.shape.in_cells(reach),
            frame: frame(bind, &self.surface, &self.sides),
            shape: self.shape,
            coarse: &self.coarse,
            band: bind.settings().band_cells,
        };
        let count = self.shape.brick_count().min(self.near.len());
        let out = &mut self.near[..count];
        for_each_chunk(par, count, COARSE_CHUNK, out, &|range, out: &mut [_]| {
            dispatch!(simd => choose(simd, &chooser, range, out));
        });
    }

    /// Where not all bricks find room: those count as on the surface, too, that another triangle than the nearest may run through.
    fn tell_surface(&mut self, bind: &SdfBind) {
        let count = self.shape.brick_count().min(self.near.len());
        let near = &mut self.near[..count];
        if near.iter().filter(|n| n.0 != Near::No).count() <= self.bricks.len() {
            return;
        }
        let chooser = Chooser {
            reach: [[0.0; 3]; 2],
            frame: frame(bind, &self.surface, &self.sides),
            shape: self.shape,
            coarse: &self.coarse,
            band: bind.settings().band_cells,
        };
        for (brick, near) in near.iter_mut().enumerate().filter(|n| n.1.0 == Near::Band) {
            let center = lattice_point(self.shape.brick_at(brick)).map(|c| c + HALF);
            if dispatch!(simd => reaches(simd, &chooser, center, 0.0)) {
                near.0 = Near::Surface;
            }
        }
    }

    /// Gives out slots: bricks on the surface first, then the others. Returns how many are wanted and have one.
    fn assign(&mut self) -> (usize, usize) {
        let count = self.shape.brick_count().min(self.near.len());
        self.table[..count].fill(NO_BRICK);
        let near = &self.near[..count];
        let wanted = near.iter().filter(|n| n.0 != Near::No).count();
        let mut built = 0;
        let everything_fits = wanted <= self.bricks.len();
        // Where all fit the order is that of space, which is kinder to caches.
        let passes: &[fn(Near) -> bool] = if everything_fits {
            &[|n| n != Near::No]
        } else {
            &[|n| n == Near::Surface, |n| n == Near::Band]
        };
        for wants in passes {
            for (brick, _) in near.iter().enumerate().filter(|(_, n)| wants(n.0)) {
                if let Some(slot) = self.bricks.get_mut(built) {
                    *slot = brick as u32;
                    self.table[brick] = built as u32;
                    built += 1;
                }
            }
        }
        (wanted, built)
    }

    fn fill_bricks(&mut self, bind: &SdfBind, built: usize, par: Par) {
        let filler = Filler {
            frame: frame(bind, &self.surface, &self.sides),
            shape: self.shape,
            near: &self.near,
            bricks: &self.bricks[..built],
        };
        match &mut self.pool {
            Pool::Single(pool) => filler.run(&mut pool[..built], par, &|v, out| *out = *v),
            Pool::Half(pool) => filler.run(&mut pool[..built], par, &|v, out| {
                *out = v.map(half_from);
            }),
        }
    }
}

fn frame<'a>(bind: &'a SdfBind, surface: &'a Surface, sides: &'a Sides) -> Frame<'a> {
    let (edges, classes) = bind.edges_and_classes();
    Frame {
        tree: &bind.tree,
        surface,
        signs: Signs {
            surface,
            edges,
            classes,
        },
        winding: match sides {
            Sides::Tree(winding) => Some(winding),
            _ => None,
        },
        columns: match sides {
            Sides::Columns(columns) => Some(columns),
            _ => None,
        },
        band: bind.settings().band_cells,
        is_closed: bind.report().is_closed(),
        triangle_count: bind.triangles.len(),
    }
}

#[inline(always)]
fn lattice_point([x, y, z]: [u32; 3]) -> P {
    let n = BRICK_CELLS as u32;
    [(x * n) as f32, (y * n) as f32, (z * n) as f32]
}

#[simd]
fn coarse_nodes<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    shape: &GridShape,
    range: Range<usize>,
    out: &mut [f32],
) {
    let mut seed = 0;
    let offsets = V3::all(simd, [0.0; 3]);
    for (index, out) in range.zip(out) {
        let p = lattice_point(shape.coarse_at(index));
        let near = nearest(simd, frame.tree, frame.surface, p, seed);
        seed = near.slot / CLUSTER;
        let slots = [near.slot as u32; 8];
        let inside = match (frame.columns, frame.winding) {
            (Some(columns), _) => columns.corner_inside(shape.coarse_at(index)),
            (_, Some(winding)) => is_inside(simd, frame, winding, p, offsets).test(0),
            _ => behind_nearest(simd, frame, &slots, p, offsets).test(0),
        };
        let distance = near.square.sqrt();
        *out = if inside { -distance } else { distance };
    }
}

struct Chooser<'a> {
    /// Lowest and highest corner, in cells from the grid's origin.
    reach: [P; 2],
    frame: Frame<'a>,
    shape: GridShape,
    coarse: &'a [f32],
    band: f32,
}

/// Half a brick's edge and half its diagonal.
const HALF: f32 = BRICK_CELLS as f32 / 2.0;
const RADIUS: f32 = HALF * 1.732_051;

#[simd]
fn choose<S: Simd>(simd: S, chooser: &Chooser<'_>, range: Range<usize>, out: &mut [(Near, u32)]) {
    let mut seed = 0;
    for (index, out) in range.zip(out) {
        let brick = chooser.shape.brick_at(index);
        *out = (Near::No, 0);
        let center = lattice_point(brick).map(|c| c + HALF);
        if chooser.is_out_of_reach(center) || chooser.is_far(brick) {
            continue;
        }
        let near = nearest(
            simd,
            chooser.frame.tree,
            chooser.frame.surface,
            center,
            seed,
        );
        seed = near.slot / CLUSTER;
        let distance = near.square.sqrt();
        let side = least_distance_of_box(distance, near.away);
        let in_band = (side <= chooser.band && chooser.is_box_near(near.slot / CLUSTER, center))
            || (distance <= RADIUS + chooser.band && reaches(simd, chooser, center, chooser.band));
        if in_band {
            let what = if side <= 0.0 {
                Near::Surface
            } else {
                Near::Band
            };
            *out = (what, near.slot as u32);
        }
    }
}

impl Chooser<'_> {
    fn is_out_of_reach(&self, center: P) -> bool {
        let [low, high] = self.reach;
        (0..3).any(|k| center[k] + HALF < low[k] || center[k] - HALF > high[k])
    }

    /// Whether a corner is so far that the whole brick is.
    fn is_far(&self, brick: [u32; 3]) -> bool {
        (0..8).any(|corner| {
            let at = std::array::from_fn(|k| brick[k] + (corner >> k & 1));
            self.coarse[self.shape.coarse_index(at)].abs() > 2.0 * RADIUS + self.band
        })
    }

    /// Whether the box of a cluster comes within the band of a brick.
    fn is_box_near(&self, cluster: usize, center: P) -> bool {
        let [low, high] = self.frame.surface.bounds_of(cluster);
        let gap = |k: usize| {
            let below = low[k] - (center[k] + HALF);
            below.max(center[k] - HALF - high[k]).max(0.0)
        };
        gap(0) * gap(0) + gap(1) * gap(1) + gap(2) * gap(2) <= self.band * self.band
    }
}

/// How near a brick can come to a triangle that has this distance and direction from its centre: no nearer than the
/// plane in front of it.
fn least_distance_of_box(distance: f32, away: P) -> f32 {
    if distance <= 0.0 {
        return 0.0;
    }
    distance - HALF * away.iter().map(|c| c.abs()).sum::<f32>() / distance
}

/// Whether some triangle is within `limit` (no more than the band) of the brick, as far as the plane in front of it tells.
#[inline(always)]
fn reaches<S: Simd>(simd: S, chooser: &Chooser<'_>, center: P, limit: f32) -> bool {
    let (tree, surface) = (chooser.frame.tree, chooser.frame.surface);
    let (low, high) = (center.map(|c| c - HALF), center.map(|c| c + HALF));
    let mut walk = NearBox::new(tree, low, high, chooser.band * chooser.band);
    while let Some(c) = walk.next(simd, tree, surface) {
        let from = from_point(simd, &surface.clusters[c], center);
        let squares = from.square.to_array();
        let found = (0..CLUSTER).any(|lane| {
            let away = from.away.lane(lane);
            least_distance_of_box(squares[lane].sqrt(), away) <= limit
        });
        if found {
            return true;
        }
    }
    false
}

struct Filler<'a> {
    frame: Frame<'a>,
    shape: GridShape,
    near: &'a [(Near, u32)],
    bricks: &'a [u32],
}

impl Filler<'_> {
    fn run<T: Send>(
        &self,
        pool: &mut [T],
        par: Par,
        put: &(impl Fn(&[f32; BRICK_VALUES], &mut T) + Sync),
    ) {
        let len = pool.len();
        for_each_chunk(par, len, BRICK_CHUNK, pool, &|range, out: &mut [T]| {
            dispatch!(simd => fill_range(simd, self, range, out, put));
        });
    }
}

#[simd]
fn fill_range<S: Simd, T>(
    simd: S,
    filler: &Filler<'_>,
    range: Range<usize>,
    out: &mut [T],
    put: &impl Fn(&[f32; BRICK_VALUES], &mut T),
) {
    let mut work = Work::new(simd);
    let mut values = [0.0; BRICK_VALUES];
    for (slot, out) in range.zip(out) {
        let brick = filler.bricks[slot] as usize;
        let low = lattice_point(filler.shape.brick_at(brick));
        let seed = filler.near[brick].1 as usize;
        fill(simd, &filler.frame, &mut work, low, seed, &mut values);
        put(&values, out);
    }
}

#[cfg(test)]
mod tests {
    use crate::sdf::tests::{cells, make_mesh};
    use crate::sdf::{SdfSettings, SignMethod, Storage};
    use sinew_testkit::meshes;

    /// So small that builds without optimisation make it at once: every kernel, both signs, both storages.
    #[test]
    fn a_small_ball_agrees_with_every_triangle() {
        let ball = meshes::sphere(8, 16);
        for sign in [SignMethod::Pseudonormals, SignMethod::WindingNumber] {
            for (storage, within) in [(Storage::Single, 1e-4), (Storage::Half, 4e-3)] {
                let settings = SdfSettings {
                    sign,
                    storage,
                    ..cells(12)
                };
                let d = make_mesh(&ball, settings).compare(5);
                assert_eq!(d.wrong_signs, 0, "{sign:?}, {storage:?}: {d:?}");
                assert!(d.in_band < within && d.inside > 100, "{d:?}");
            }
        }
    }
}
