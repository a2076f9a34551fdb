//! From passes to launches: which passes run in tiles, how large the tiles are, and where a launch ends.
//!
//! One launch for everything saves launches and memory traffic, but recomputes the rings around each tile. Many launches move
//! every array through memory. The best choice depends on the size of the mesh: candidates are compared by an estimate.

use super::group::{Group, PassText, find_stores, plain_groups};
use super::memory::{ArrayShape, Memory};
use super::nodes::NodeOnDevice;
use super::schedule::{Schedule, gathers, may_tile};
use super::tile_text::Tiling;
use super::tiles::{TileLimits, build, workgroup};
use sinew_graph::{BoundGraph, Link};

/// How passes are grouped into launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchStyle {
    /// Chooses by adapter, mesh size and number of characters.
    #[default]
    Auto,
    /// Short kernels that compile fast, without tiles: for software adapters.
    Compact,
    /// No tiles; with several characters, an invocation processes two.
    Plain,
    /// Tiles wherever passes allow them.
    Tiled,
}

/// Facts about graph and adapter for planning.
pub(super) struct Planner<'a> {
    pub(super) graph: &'a BoundGraph,
    pub(super) nodes: &'a [NodeOnDevice],
    pub(super) shape: &'a dyn Fn(Memory) -> ArrayShape,
    pub(super) is_kept: &'a dyn Fn(Memory) -> bool,
    pub(super) most_bindings: usize,
    pub(super) limits: TileLimits,
    /// Characters that run together.
    pub(super) instances: usize,
    pub(super) style: LaunchStyle,
}

/// A way to take a run of passes through tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Where a new launch begins.
    cuts: Vec<usize>,
    /// Vertices that a tile owns.
    size: usize,
}

/// Choices for each run of passes, the best first; none where plain launches are better.
pub(super) type Choices = Vec<Vec<Choice>>;

/// Launches that a run of passes is cut into, at most.
const MOST_LAUNCHES: usize = 3;
/// Vertices that a tile may own.
const SIZES: [usize; 10] = [48, 64, 96, 128, 192, 256, 400, 576, 784, 1024];

/// Passes that may run in tiles, or that may not, as far as they follow one another.
fn runs(passes: &[PassText]) -> impl Iterator<Item = (usize, &[PassText])> {
    let mut start = 0;
    passes
        .chunk_by(|a, b| may_tile(a) == may_tile(b))
        .map(move |run| {
            start += run.len();
            (start, run)
        })
}

impl Planner<'_> {
    /// What to try, without building any of it.
    pub(super) fn choices(&self, passes: &[PassText]) -> Choices {
        let choices = |(end, run): (usize, &[PassText])| {
            let tiled =
                may_tile(&run[0]) && matches!(self.style, LaunchStyle::Auto | LaunchStyle::Tiled);
            if tiled {
                self.of_run(run, &passes[end..])
            } else {
                Vec::new()
            }
        };
        runs(passes).map(choices).collect()
    }

    /// All launches, in order.
    pub(super) fn groups(&self, passes: &[PassText], choices: &Choices) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        // Plain runs one behind another share launches.
        let mut plain: Vec<PassText> = Vec::new();
        let flush = |plain: &mut Vec<PassText>, groups: &mut Vec<Group>| {
            let passes = std::mem::take(plain);
            groups.extend(plain_groups(passes, self.nodes, self.most_bindings));
        };
        for ((end, run), choices) in runs(passes).zip(choices) {
            let after = &passes[end..];
            // The estimate knows nothing of how irregular the mesh is.
            let tiled = choices.iter().find_map(|c| {
                let points = self.points(run)?;
                self.build(&split(run, &c.cuts), after, points, c.size)
            });
            match tiled {
                Some(tiled) => {
                    flush(&mut plain, &mut groups);
                    groups.extend(tiled);
                }
                None => plain.extend_from_slice(run),
            }
        }
        flush(&mut plain, &mut groups);
        find_stores(&mut groups, self.is_kept);
        for (launch, group) in groups.iter_mut().enumerate() {
            if let Some(tiling) = &mut group.tiling {
                tiling.launch = launch;
            }
        }
        groups
    }

    fn of_run(&self, run: &[PassText], after: &[PassText]) -> Vec<Choice> {
        let Some(all) = self.schedules(&[run.to_vec()], after) else {
            return Vec::new();
        };
        let Some(points) = self.points(run).filter(|p| !p.is_empty()) else {
            return Vec::new();
        };
        if !all[0].joins_gathers(run, self.nodes) {
            return Vec::new();
        }
        let mut candidates = Vec::new();
        for cuts in self.cuts(run) {
            let Some(schedules) = self.schedules(&split(run, &cuts), after) else {
                continue;
            };
            for size in SIZES {
                let estimates = schedules
                    .iter()
                    .map(|s| self.estimate(s, size, points.len()));
                if let Some(cost) = estimates.sum::<Option<f64>>() {
                    let cuts = cuts.clone();
                    candidates.push((cost, Choice { cuts, size }));
                }
            }
        }
        if self.style == LaunchStyle::Auto {
            let plain = self.plain_cost(run, points.len());
            candidates.retain(|c| c.0 < plain);
        }
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        candidates.into_iter().take(8).map(|c| c.1).collect()
    }

    /// Microseconds that plain launches take on a large device, about.
    fn plain_cost(&self, run: &[PassText], vertices: usize) -> f64 {
        let launches = plain_groups(run.to_vec(), self.nodes, self.most_bindings).len();
        launches as f64 * (4.0 + 12e-6 * (vertices * self.instances) as f64)
    }

    /// Where the vertices are at rest that tiles are made of: those of the first node's first mesh.
    fn points(&self, run: &[PassText]) -> Option<&[[f32; 3]]> {
        let step = &self.nodes[run.first()?.node].step;
        let mesh = step.links.iter().flatten().find_map(|link| match link {
            Link::Mesh(mesh) => Some(*mesh),
            _ => None,
        })?;
        Some(&self.graph.program().meshes().get(mesh)?.positions)
    }

    /// Places to cut a run at: none, or in front of passes that read neighbours, so that the parts read about equally far.
    fn cuts(&self, run: &[PassText]) -> Vec<Vec<usize>> {
        let reads = |i: &usize| !gathers(&run[*i], self.nodes).is_empty();
        let around: Vec<usize> = (0..run.len()).filter(reads).collect();
        let mut out = vec![Vec::new()];
        for parts in 2..=MOST_LAUNCHES.min(around.len()) {
            for shift in 0..3 {
                let at = |k: usize| {
                    let place = around.len() * k / parts + shift;
                    around.get(place.saturating_sub(1)).copied()
                };
                let cuts: Option<Vec<usize>> = (1..parts).map(at).collect();
                let rising = |c: &Vec<usize>| c[0] > 0 && c.windows(2).all(|w| w[0] < w[1]);
                out.extend(cuts.filter(rising));
            }
        }
        out
    }

    fn schedules(&self, parts: &[Vec<PassText>], after: &[PassText]) -> Option<Vec<Schedule>> {
        let groups = self.with_stores(parts, after);
        let schedule = |g: &Group| Schedule::new(&g.passes, self.nodes, &g.stores, self.shape);
        groups[..parts.len()].iter().map(schedule).collect()
    }

    fn with_stores(&self, parts: &[Vec<PassText>], after: &[PassText]) -> Vec<Group> {
        let mut groups: Vec<Group> = parts.iter().cloned().map(Group::new).collect();
        groups.push(Group::new(after.to_vec()));
        find_stores(&mut groups, self.is_kept);
        groups
    }

    fn build(
        &self,
        parts: &[Vec<PassText>],
        after: &[PassText],
        points: &[[f32; 3]],
        size: usize,
    ) -> Option<Vec<Group>> {
        let mut out = Vec::new();
        let mut groups = self.with_stores(parts, after);
        groups.truncate(parts.len());
        for mut group in groups {
            let schedule = Schedule::new(&group.passes, self.nodes, &group.stores, self.shape)?;
            if !schedule.joins_gathers(&group.passes, self.nodes) {
                // Nothing is shared from pass to pass.
                out.extend(plain_groups(group.passes, self.nodes, self.most_bindings));
                continue;
            }
            let tiles = build(&schedule, self.nodes, points, size, self.limits)?;
            group.tiling = Some(Tiling {
                schedule,
                tiles,
                launch: 0,
            });
            if group.bound(self.nodes).len() > self.most_bindings {
                return None;
            }
            out.push(group);
        }
        Some(out)
    }

    /// Microseconds of a launch on a large device, about: fitted to an H200 with meshes of 10 thousand to 10 million vertices. `None`
    /// where tiles do not fit.
    fn estimate(&self, schedule: &Schedule, size: usize, vertices: usize) -> Option<f64> {
        let side = (size.min(vertices) as f64).sqrt();
        let tiles = vertices.div_ceil(size);
        let mut ring = 0;
        let mut rows: Vec<f64> = Vec::new();
        for stage in schedule.stages.iter().rev() {
            let wide = if tiles == 1 { 0 } else { ring };
            rows.push((side + 2.0 * f64::from(wide)).powi(2));
            let mut leads = stage.relations.iter().map(|&r| schedule.relations[r]);
            if leads.any(|r| r.from == r.to) {
                ring += 1;
            }
        }
        let most = (side + 2.0 * f64::from(ring)).powi(2);
        // Two arrays of points, as smoothing has; irregular meshes need more.
        if most * 1.06 * 32.0 > self.limits.bytes as f64 {
            return None;
        }
        let workgroup = f64::from(workgroup(most as usize, self.limits));
        // As many threads as registers and memory allow at once on 132 processors.
        let total = tiles as f64 * self.instances as f64;
        let waves = (total * workgroup / (132.0 * 1024.0)).ceil();
        // The first stage and loads read memory.
        let loads = rows.last().map_or(0.0, |r| (r / workgroup).ceil());
        let turns = rows.iter().map(|r| (r / workgroup).ceil()).sum::<f64>() + 0.5 * loads;
        // One after another, workgroups wait for memory rather than for themselves.
        let turn = if waves > 1.0 {
            1.25
        } else {
            0.2 + 0.6 * workgroup / 1024.0
        };
        Some(5.0 + waves * turns * turn)
    }
}

fn split(run: &[PassText], cuts: &[usize]) -> Vec<Vec<PassText>> {
    let mut out = Vec::new();
    let mut start = 0;
    for &end in cuts.iter().chain([&run.len()]) {
        out.push(run[start..end].to_vec());
        start = end;
    }
    out
}
