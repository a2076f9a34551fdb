//! From passes to launches: which run in tiles, how large those are, and where a launch ends.
//!
//! One launch for everything saves launches and memory but computes the rings around each tile once more; many launches move
//! every array through memory. What is best depends on the size of the mesh, so candidates are compared by an estimate.

use super::group::{Group, PassText, find_stores, plain_groups};
use super::memory::{ArrayShape, Memory};
use super::nodes::NodeOnDevice;
use super::schedule::{Schedule, gathers, may_tile};
use super::tile_text::Tiling;
use super::tiles::{TileLimits, build};
use sinew_graph::{BoundGraph, Link};

/// What planning knows of graph and device.
pub(super) struct Planner<'a> {
    pub(super) graph: &'a BoundGraph,
    pub(super) nodes: &'a [NodeOnDevice],
    pub(super) shape: &'a dyn Fn(Memory) -> ArrayShape,
    pub(super) is_kept: &'a dyn Fn(Memory) -> bool,
    pub(super) most_bindings: usize,
    pub(super) limits: TileLimits,
    /// Characters that run together, about.
    pub(super) instances: usize,
    /// Whether launches may go over tiles.
    pub(super) tiles: bool,
}

/// Launches that a run of passes is cut into, at most.
const MOST_LAUNCHES: usize = 4;
/// Vertices that a tile may own.
const SIZES: [usize; 9] = [64, 96, 128, 192, 256, 384, 576, 1024, 1600];

impl Planner<'_> {
    /// All launches, in order.
    pub(super) fn groups(&self, passes: Vec<PassText>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut rest = passes.as_slice();
        while let Some(first) = rest.first() {
            let same = may_tile(first);
            let end = rest.iter().take_while(|p| may_tile(p) == same).count();
            let (run, after) = rest.split_at(end);
            let tiled = if same && self.tiles {
                self.tiled(run, after)
            } else {
                None
            };
            groups.extend(
                tiled.unwrap_or_else(|| plain_groups(run.to_vec(), self.nodes, self.most_bindings)),
            );
            rest = after;
        }
        find_stores(&mut groups, self.is_kept);
        for (launch, group) in groups.iter_mut().enumerate() {
            if let Some(tiling) = &mut group.tiling {
                tiling.launch = launch;
            }
        }
        groups
    }

    /// The cheapest way to take a run of passes through tiles.
    fn tiled(&self, run: &[PassText], after: &[PassText]) -> Option<Vec<Group>> {
        let all = self.schedules(&[run.to_vec()], after)?;
        if !all[0].joins_gathers(run, self.nodes) {
            return None;
        }
        let points = self.points(&all[0])?;
        let mut candidates = Vec::new();
        for cuts in self.cuts(run) {
            let parts = split(run, &cuts);
            let Some(schedules) = self.schedules(&parts, after) else {
                continue;
            };
            for size in SIZES {
                let cost: Option<f64> = schedules
                    .iter()
                    .map(|s| self.estimate(s, size, points.len()))
                    .sum();
                if let Some(cost) = cost {
                    candidates.push((cost, cuts.clone(), size));
                }
            }
        }
        if let Some((cuts, size)) = wished(run.len()) {
            candidates = vec![(0.0, cuts, size)];
        }
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The estimate knows nothing of how irregular the mesh is.
        let built = candidates
            .iter()
            .take(8)
            .find_map(|(_, cuts, size)| self.build(&split(run, cuts), after, points, *size));
        built
    }

    fn points(&self, schedule: &Schedule) -> Option<&[[f32; 3]]> {
        let step = &self.nodes[schedule.vertices.1].step;
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

    /// Microseconds of a launch on a large device, about. `None` where tiles do not fit.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
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
        if most * 1.15 * 32.0 > self.limits.bytes as f64 {
            return None;
        }
        let workgroup = if most > 1024.0 {
            512.0
        } else if most > 512.0 {
            256.0
        } else {
            128.0
        };
        let total = tiles as f64 * self.instances as f64;
        let at_once = 132.0
            * (2048.0_f64 / workgroup)
                .min(228e3 / (most * 32.0))
                .floor()
                .max(1.0);
        let waves = (total / at_once).ceil();
        let latency: f64 = rows
            .iter()
            .map(|r| 0.3 + 0.25 * (r / workgroup).ceil())
            .sum();
        let work: f64 = rows.iter().sum::<f64>() * total * 4.5e-6;
        Some(4.0 + (waves * latency).max(work))
    }
}

/// `SINEW_TILES=size:cut,cut` for experiments.
fn wished(len: usize) -> Option<(Vec<usize>, usize)> {
    let text = std::env::var("SINEW_TILES").ok()?;
    let (size, cuts) = text.split_once(':')?;
    let cuts = cuts.split(',').filter_map(|c| c.parse().ok());
    Some((cuts.filter(|&c| c < len).collect(), size.parse().ok()?))
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
