//! Runs the simplifier until the number of faces is at most the target, and near it.

use super::keep::Pieces;
use super::wedges::Wedges;
use super::{Method, SimplifyReport};
use meshopt::{
    SimplifyOptions, SimplifyVertex, simplify_decoder, simplify_sloppy_decoder,
    simplify_with_attributes_and_locks_decoder, simplify_with_locks_decoder,
};
use sinew_geom::vec3::{area_vector, length};
use std::collections::BTreeSet;

/// How far below the target is near enough, as a share of it.
const TOLERANCE: f32 = 0.01;

/// Even triangles, at a small cost to accuracy.
const OPTIONS: SimplifyOptions = SimplifyOptions::RegularizeLight;

/// Runs on grids to try, each about a tenth of the cost of a run of collapses.
const SLOPPY_RUNS: u32 = 8;

/// How often faces are taken from the rest for pieces of which nothing is left: each time others may go.
const KEEPING_ROUNDS: usize = 8;

/// A result on the way, with the errors summed up to it.
#[derive(Clone)]
struct Stage {
    triangles: Vec<[u32; 3]>,
    error: f64,
}

impl Stage {
    fn faces(&self) -> usize {
        self.triangles.len()
    }
}

pub(super) struct Search<'a> {
    wedges: &'a Wedges,
    target: usize,
    runs: u32,
    sloppy_runs: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(wedges: &'a Wedges, target: usize) -> Self {
        Self {
            wedges,
            target,
            runs: 0,
            sloppy_runs: 0,
        }
    }

    /// Fewest faces that are near enough.
    fn enough(&self) -> usize {
        ((1.0 - f64::from(TOLERANCE)) * self.target as f64).ceil() as usize
    }

    /// The triangles to keep, of wedges; says in the report how they came about.
    pub(super) fn find(mut self, report: &mut SimplifyReport) -> Vec<[u32; 3]> {
        let (mut stage, mut method) = self.go_as_far_as_needed(self.start());
        // Pieces that are a point in this frame are in no run.
        let are_all = self.wedges.seen.len() == self.wedges.triangles.len();
        if method > Method::Unchanged || !are_all {
            let found;
            (stage, method, found) = self.keep_pieces(stage, method);
            (report.stand_ins, report.stand_in_share) = found;
        }
        report.method = method;
        report.runs = self.runs;
        report.sloppy_runs = self.sloppy_runs;
        report.error = stage.error * self.wedges.extent;
        stage.triangles
    }

    fn start(&self) -> Stage {
        Stage {
            triangles: self.wedges.triangles.clone(),
            error: 0.0,
        }
    }

    /// The triangles of a search that gives vanished pieces no faces.
    #[cfg(test)]
    pub(super) fn find_without_stand_ins(mut self) -> Vec<[u32; 3]> {
        self.go_as_far_as_needed(self.start()).0.triangles
    }

    /// Gives pieces of which nothing is left a few faces, which the others have to do without: half of all at most, the largest pieces first. Tells how many, and their
    /// share of the surface.
    fn keep_pieces(&mut self, from: Stage, method: Method) -> (Stage, Method, (usize, f64)) {
        let (wanted, pieces) = (self.target, Pieces::of(self.wedges));
        let (mut stage, mut method) = (from, method);
        if method == Method::Unchanged {
            // There is room: they stay as they are.
            for lost in pieces.lost(&stage.triangles) {
                if stage.faces() + lost.triangles.len() <= wanted {
                    stage.triangles.extend(&lost.triangles);
                }
            }
        }
        let (mut stand_ins, mut kept, mut area) = (Vec::new(), BTreeSet::new(), 0.0);
        for _ in 0..KEEPING_ROUNDS {
            let before = stand_ins.len();
            for lost in pieces.lost(&stage.triangles) {
                if kept.contains(&lost.root) {
                    continue;
                }
                let faces = pieces.stand_in(&lost);
                if !faces.is_empty() && stand_ins.len() + faces.len() <= wanted / 2 {
                    kept.insert(lost.root);
                    area += lost.area;
                    stand_ins.extend(faces);
                }
            }
            if stand_ins.len() == before {
                break;
            }
            self.target = wanted - stand_ins.len();
            let (fewer, how) = self.go_as_far_as_needed(stage);
            (stage, method) = (fewer, method.max(how));
        }
        self.target = wanted;
        stage.triangles.extend(stand_ins);
        let whole = pieces.whole_area();
        let share = if whole > 0.0 { area / whole } else { 0.0 };
        (stage, method, (kept.len(), share.min(1.0)))
    }

    fn go_as_far_as_needed(&mut self, start: Stage) -> (Stage, Method) {
        if start.faces() <= self.target {
            return (start, Method::Unchanged);
        }
        let mut stage = self.collapse(&start);
        if stage.faces() <= self.target {
            return (stage, Method::Collapses);
        }
        stage = self.permissive(stage);
        if stage.faces() <= self.target {
            return (stage, Method::Permissive);
        }
        let clustered = self.sloppy(&stage);
        // Few clusters fold a mesh to next to nothing; dropping faces is the lesser evil then.
        let useful = |c: &Stage| 2 * c.faces() >= self.target;
        match clustered.filter(useful) {
            Some(clustered) => (clustered, Method::Sloppy),
            None => (self.cut(stage), Method::Cut),
        }
    }

    /// Collapses down to the target; aims higher where that ends too low.
    fn collapse(&mut self, start: &Stage) -> Stage {
        let first = self.run(start, self.target, OPTIONS);
        if first.faces() >= self.enough() {
            return first;
        }
        let aim = (2 * self.target - first.faces()).min(start.faces());
        let mut second = self.run(start, aim, OPTIONS);
        if second.faces() > self.target {
            second = self.run(&second, self.target, OPTIONS);
        }
        let better = second.faces() <= self.target && second.faces() > first.faces();
        if better { second } else { first }
    }

    /// Seams give way, then loose parts.
    fn permissive(&mut self, stuck: Stage) -> Stage {
        let options = OPTIONS | SimplifyOptions::Permissive;
        let stage = self.run(&stuck, self.target, options);
        if stage.faces() <= self.target {
            return stage;
        }
        let pruned = self.run(&stage, self.target, options | SimplifyOptions::Prune);
        // A mesh in one part would vanish as a whole.
        if 2 * pruned.faces() >= self.target {
            pruned
        } else {
            stage
        }
    }

    /// One run. The target is counted in faces.
    fn run(&mut self, from: &Stage, target: usize, options: SimplifyOptions) -> Stage {
        self.runs += 1;
        let (indices, positions) = (from.triangles.as_flattened(), &self.wedges.positions);
        let target = 3 * target.min(from.faces());
        let mut error = 0.0;
        let locks = &self.wedges.locks;
        let found = if self.wedges.pose_count() > 0 {
            self.run_along(indices, target, options, &mut error)
        } else if locks.is_empty() {
            simplify_decoder(
                indices,
                positions,
                target,
                f32::MAX,
                options,
                Some(&mut error),
            )
        } else {
            let error = Some(&mut error);
            simplify_with_locks_decoder(indices, positions, locks, target, f32::MAX, options, error)
        };
        self.stage(&found, from.error + f64::from(error))
    }

    /// One run in which places in other frames count as much as those in this one: they are attributes that are to be kept.
    fn run_along(
        &self,
        indices: &[u32],
        target: usize,
        options: SimplifyOptions,
        error: &mut f32,
    ) -> Vec<u32> {
        let wedges = self.wedges;
        let weights = vec![1.0; 3 * wedges.pose_count()];
        let free = || vec![SimplifyVertex::None; wedges.positions.len()];
        let locks = match wedges.locks.is_empty() {
            true => free(),
            false => wedges.locks.clone(),
        };
        simplify_with_attributes_and_locks_decoder(
            indices,
            &wedges.positions,
            &wedges.motion,
            &weights,
            size_of_val(weights.as_slice()),
            &locks,
            target,
            f32::MAX,
            options,
            Some(error),
        )
    }

    /// The most faces, at most the target, that clusters on a grid leave; the size of the grid is found by halving.
    fn sloppy(&mut self, stuck: &Stage) -> Option<Stage> {
        let (mut low, mut high) = (0, stuck.faces());
        let mut aim = self.target;
        let mut best: Option<Stage> = None;
        for _ in 0..SLOPPY_RUNS {
            let found = self.run_sloppy(stuck, aim);
            if found.faces() > self.target {
                high = aim;
            } else {
                low = aim;
                let better = best.as_ref().is_none_or(|b| found.faces() > b.faces());
                best = if better { Some(found) } else { best };
            }
            let near = best.as_ref().is_some_and(|b| b.faces() >= self.enough());
            if near || high - low < 2 {
                break;
            }
            aim = low.midpoint(high);
        }
        best.filter(|b| b.faces() > 0)
    }

    fn run_sloppy(&mut self, from: &Stage, target: usize) -> Stage {
        self.sloppy_runs += 1;
        let indices = from.triangles.as_flattened();
        let mut error = 0.0;
        let positions = &self.wedges.positions;
        let target = 3 * target;
        let found = simplify_sloppy_decoder(indices, positions, target, f32::MAX, Some(&mut error));
        self.stage(&found, from.error + f64::from(error))
    }

    /// Keeps the largest faces, in their order.
    fn cut(&self, stage: Stage) -> Stage {
        let area = |t: &[u32; 3]| length(area_vector(self.wedges.corners(t)));
        let mut order: Vec<(usize, f64)> = stage.triangles.iter().map(area).enumerate().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.truncate(self.target);
        order.sort_by_key(|face| face.0);
        let triangles = order
            .into_iter()
            .map(|face| stage.triangles[face.0])
            .collect();
        Stage {
            triangles,
            error: stage.error,
        }
    }

    /// Faces of which two corners fall together do not count.
    fn stage(&self, indices: &[u32], error: f64) -> Stage {
        let place = |w: u32| self.wedges.place[w as usize];
        let proper = |t: &&[u32; 3]| {
            let [a, b, c] = t.map(place);
            a != b && b != c && c != a
        };
        let (triangles, _) = indices.as_chunks::<3>();
        Stage {
            triangles: triangles.iter().filter(proper).copied().collect(),
            error,
        }
    }
}
