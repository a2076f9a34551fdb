//! Hair pushes itself apart where it is denser than at rest: a mane keeps its body.
//!
//! Each guide vertex takes up a volume. At rest all volumes together fill the space that the hair is in once: [`HairVolume::new`] adds up
//! lengths of hair on a grid, and the volume of a vertex is its length over that of the densest node nearby. No node has more than the density
//! one then. During a frame, volumes are added up every few steps. Density above one is a pressure, and hair accelerates down its
//! slope in these steps.
//!
//! Vertices are taken where they will be at the end of these steps. A pressure that is late by a time `t` makes waves of frequency `f` grow
//! by `2 pi^2 f^2 t` per second; one that is early damps them.
//!
//! Volumes go to 27 nodes, by quadratic splines, and slopes are those of the same splines. Pressure then is a force that has an energy, the same
//! push goes back as forth, and it is continuous, so that hair comes to rest. The grid holds whole numbers: sums do not depend on their
//! order. It repeats. Parts of the hair share nodes only if they are as far apart as the grid is wide: roots and twice the longest strand.

use super::HairBind;
use super::detail::fade;
use super::followers::root_spacing;
use super::state::{CHUNK, Drive, Kept};
use crate::collide::PerStrand;
use crate::{Par, for_each_chunk};
use sinew_geom::{Real, Vec3};
use std::sync::atomic::{AtomicU32, Ordering};

/// What the grid holds for the volume of one cell.
pub(super) const ONE: f32 = 65_536.0;
/// Hair pushes no harder than where it is denser than at rest by this.
pub(super) const MOST: f32 = 2.0;
/// Longest time between two sums, seconds.
const INTERVAL: f64 = 1.0 / 120.0;
/// Cells that a wave of pressure goes in that time at most: faster ones grow.
pub(super) const COURANT: f64 = 0.5;
/// Spaces between roots to a cell.
const SPACES: f64 = 2.0;
/// Nodes along an axis at most.
const MOST_NODES: f64 = 160.0;
const STANDARD_GRAVITY: f32 = 9.80665;

/// Volumes of guide vertices, and the grid that they are added up on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HairVolume {
    /// Edge of a cell, metres.
    pub(super) cell: f32,
    /// Nodes along each axis.
    pub(super) nodes: u32,
    /// Of each guide vertex, in cells.
    pub(super) volumes: Vec<f32>,
}

/// Sums at nodes.
#[derive(Debug, Default)]
pub(crate) struct Grid(Vec<AtomicU32>);

impl Clone for Grid {
    fn clone(&self) -> Self {
        let copy = |n: &AtomicU32| AtomicU32::new(n.load(Ordering::Relaxed));
        Self(self.0.iter().map(copy).collect())
    }
}

impl Grid {
    pub(super) fn new(volume: &HairVolume) -> Self {
        let nodes = (volume.nodes as usize).pow(3);
        Self((0..nodes).map(|_| AtomicU32::default()).collect())
    }
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
    fn clear(&mut self) {
        for node in &mut self.0 {
            *node.get_mut() = 0;
        }
    }
}

/// Steps that follow one another, between two sums.
pub(super) struct Stretch<R> {
    /// Shares of the frame at which they begin and end.
    pub(super) span: [R; 2],
    /// Their time, seconds.
    pub(super) secs: f64,
    /// Of [`HairSettings`](super::HairSettings).
    pub(super) detail: f32,
    pub(super) par: Par,
}

impl HairVolume {
    /// `None` for strands without length, and for less than two.
    pub(super) fn new(bind: &HairBind) -> Option<Self> {
        let lengths = || bind.reaches.iter().map(|&l| f64::from(l));
        let segments = bind.guide_vertex_count() - bind.guide_count();
        let segment = lengths().sum::<f64>() / segments.max(1) as f64;
        let spacing = root_spacing(&bind.roots)?;
        let (low, high) = sinew_geom::bounds(&bind.roots)?;
        let wide = (f64::vec3(high) - f64::vec3(low)).norm() + 2.0 * lengths().fold(0.0, f64::max);
        let cell = (SPACES * spacing).max(segment).max(wide / MOST_NODES);
        if !(segment > 0.0 && cell.is_finite()) {
            return None;
        }
        let (mut places, mut volumes) = (Vec::new(), Vec::new());
        for (guide, root) in bind.roots.iter().enumerate() {
            let vertices = bind.guide_vertices(guide);
            for (i, v) in vertices.iter().enumerate() {
                places.push(f32::array3(f32::vec3(*root) + f32::vec3(v.offset)));
                let next = vertices.get(i + 1).map_or(0.0, |v| v.length);
                volumes.push((v.length + next) / cell as f32);
            }
        }
        let mut out = Self {
            cell: cell as f32,
            nodes: (wide / cell).ceil() as u32 + 3,
            volumes,
        };
        let grid = Grid::new(&out);
        for (&at, &length) in places.iter().zip(&out.volumes) {
            out.add(&grid, at, length);
        }
        let densest = |at: &[f32; 3]| {
            let mut densest = 1e-3_f32;
            out.for_each_node(&grid, *at, |node, _, _| {
                densest = densest.max(density_of(node))
            });
            densest
        };
        let pairs = out.volumes.iter().zip(&places);
        out.volumes = pairs.map(|(length, at)| length / densest(at)).collect();
        Some(out)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.volumes.as_slice())
    }

    /// Steps between two sums.
    pub(super) fn steps(step_secs: f64) -> usize {
        ((INTERVAL / step_secs + 1e-3) as usize).max(1)
    }

    /// Acceleration for a slope of one in a cell, m/s^2, where sums are that long apart.
    pub(super) fn acceleration(&self, strength: f32, secs: f64) -> f32 {
        let most = COURANT * COURANT * f64::from(self.cell) / (secs * secs);
        push_of(strength).clamp(0.0, most as f32)
    }

    /// How hard each guide vertex is pushed in the next steps, m/s^2, along the axes of the root at their end.
    pub(super) fn push<R: Real>(
        &self,
        bind: &HairBind,
        (strength, stretch): (f32, &Stretch<R>),
        (drives, kept): (&[Drive<R>], &[Kept<R>]),
        (grid, pushes): (&mut Grid, &mut [Vec3<R>]),
    ) {
        grid.clear();
        let offsets = bind.offsets.as_slice();
        let [begin, end] = stretch.span;
        let secs = R::from_double(stretch.secs);
        let (count, par) = (bind.guide_count(), stretch.par);
        let sums = &*grid;
        for_each_chunk(
            par,
            count,
            CHUNK,
            PerStrand {
                offsets,
                items: &mut *pushes,
            },
            &|range, mut out| {
                for (i, guide) in range.enumerate() {
                    // Guides that are shown stand for those that are hidden.
                    let shown_from = bind.shown_from[bind.guides[guide] as usize];
                    let share = fade(stretch.detail, shown_from) / stretch.detail.max(1e-6);
                    if share <= 0.0 {
                        continue;
                    }
                    let (drive, vertices) = (&drives[guide], bind.guide_range(guide));
                    let scales = drive.scales;
                    let scale = |t: R| scales[0] + (scales[1] - scales[0]) * t;
                    let (now, then) = (scale(begin), scale(end));
                    let at = drive.motion.at(end);
                    let volume = then.to_single().powi(3) * share;
                    let mut x = Vec3::zeros();
                    let pairs = kept[vertices.clone()].iter().zip(out.strand(i));
                    for ((kept, place), v) in pairs.zip(vertices) {
                        let bound = &bind.vertices[v];
                        if bound.mass == 0.0 {
                            x = R::vec3(bound.offset) * now;
                        } else {
                            x += kept.turned(Vec3::x()) * (R::from_single(bound.length) * now);
                        }
                        *place = at.point(x + kept.velocity * secs);
                        self.add(sums, R::array3(*place), self.volumes[v] * volume);
                    }
                }
            },
        );
        let factor = -self.acceleration(strength, stretch.secs);
        for_each_chunk(
            par,
            count,
            CHUNK,
            PerStrand {
                offsets,
                items: pushes,
            },
            &|range, mut out| {
                for (i, guide) in range.enumerate() {
                    let back = drives[guide].motion.at(end).rotation.conjugate();
                    for push in out.strand(i) {
                        let slope = self.slope(sums, R::array3(*push));
                        *push = back * R::vec3(slope.map(|s| s * factor));
                    }
                }
            },
        );
    }

    /// Adds a volume, in cells, at a position.
    pub(super) fn add(&self, grid: &Grid, at: [f32; 3], volume: f32) {
        self.for_each_node(grid, at, |node, [x, y, z], _| {
            let part = volume * x * y * z;
            node.fetch_add((part * ONE + 0.5) as u32, Ordering::Relaxed);
        });
    }

    /// Density over that at rest.
    #[cfg(test)]
    pub(super) fn density(&self, grid: &Grid, at: [f32; 3]) -> f32 {
        let mut sum = 0.0;
        self.for_each_node(grid, at, |node, [x, y, z], _| {
            sum += density_of(node) * x * y * z;
        });
        sum
    }

    /// Slope of the pressure, for each cell.
    pub(super) fn slope(&self, grid: &Grid, at: [f32; 3]) -> [f32; 3] {
        let mut sum = [0.0; 3];
        self.for_each_node(grid, at, |node, [x, y, z], [dx, dy, dz]| {
            let pressure = (density_of(node) - 1.0).clamp(0.0, MOST);
            sum[0] += pressure * dx * y * z;
            sum[1] += pressure * x * dy * z;
            sum[2] += pressure * x * y * dz;
        });
        sum
    }

    /// The 27 nodes around a position: the weight of each and the slope of that along each axis.
    #[inline(always)]
    fn for_each_node(
        &self,
        grid: &Grid,
        at: [f32; 3],
        mut take: impl FnMut(&AtomicU32, [f32; 3], [f32; 3]),
    ) {
        let cells = at.map(|x| x / self.cell);
        if !cells.iter().all(|c| c.is_finite()) {
            return;
        }
        let middle = cells.map(|c| (c + 0.5).floor());
        let off = [0, 1, 2].map(|k| cells[k] - middle[k]);
        let [weights, slopes] = [off.map(spline), off.map(spline_slope)];
        let nodes = self.nodes as i32;
        let wrapped = middle.map(|m| {
            let first = (m as i32).saturating_sub(1).rem_euclid(nodes);
            [0, 1, 2].map(|k| if first + k < nodes { first + k } else { first + k - nodes } as usize)
        });
        let nodes = nodes as usize;
        for z in 0..3 {
            for y in 0..3 {
                let row = (wrapped[2][z] * nodes + wrapped[1][y]) * nodes;
                for x in 0..3 {
                    let along = |from: &[[f32; 3]; 3]| [from[0][x], from[1][y], from[2][z]];
                    take(
                        &grid.0[row + wrapped[0][x]],
                        along(&weights),
                        along(&slopes),
                    );
                }
            }
        }
    }
}

/// Acceleration for a slope of one in a cell, m/s^2.
pub(super) fn push_of(strength: f32) -> f32 {
    strength * STANDARD_GRAVITY
}

fn density_of(node: &AtomicU32) -> f32 {
    node.load(Ordering::Relaxed) as f32 / ONE
}

/// Weights of three nodes, from a position off the middle one.
fn spline(off: f32) -> [f32; 3] {
    let (low, high) = (0.5 - off, 0.5 + off);
    [0.5 * low * low, 0.75 - off * off, 0.5 * high * high]
}

fn spline_slope(off: f32) -> [f32; 3] {
    [off - 0.5, -2.0 * off, off + 0.5]
}
