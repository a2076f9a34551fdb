//! Strands against the mesh itself, in double precision: no field has a say in it.

use super::Scene;
use sinew::geom::{Mesh, Strands};
use sinew_testkit::MeshTruth;

type P = [f64; 3];

/// No distance is looked for farther than this, in metres.
const FAR: f64 = 0.05;

/// How deep strands are in a mesh, in metres.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Depths {
    /// Deepest vertex or sample of a segment, without the first two vertices; zero where all is outside.
    pub(crate) guides: f64,
    pub(crate) followers: f64,
    /// Vertices of followers that are deeper than the limit.
    pub(crate) deep: usize,
    /// Farthest root of a follower from the mesh, either side.
    pub(crate) roots: f64,
}

impl Depths {
    pub(crate) fn add(&mut self, other: &Self) {
        self.guides = self.guides.max(other.guides);
        self.followers = self.followers.max(other.followers);
        self.roots = self.roots.max(other.roots);
        self.deep += other.deep;
    }
}

impl Scene {
    /// Strands of this scene in a mesh of triangles as it is in the same frame. Vertices deeper than `limit` metres are counted.
    pub(crate) fn depths(&self, hair: &[[f32; 3]], body: &[[f32; 3]], limit: f64) -> Depths {
        let truth = MeshTruth::new(body, self.body.topology.triangles());
        assert!(truth.is_closed(), "inside and outside are told apart");
        let strands = self.hair.topology.strands().expect("strands");
        let count = strands.len();
        // Two threads or more, each with every n-th strand.
        let each = |of: usize, from: usize| {
            let mut out = Depths::default();
            (from..count)
                .step_by(of)
                .for_each(|s| of_strand(&truth, strands, s, hair, limit, &mut out));
            out
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut all = Depths::default();
        std::thread::scope(|scope| {
            let parts: Vec<_> = (0..threads)
                .map(|k| scope.spawn(move || (each)(threads, k)))
                .collect();
            for part in parts {
                all.add(&part.join().expect("no panic"));
            }
        });
        all
    }
}

/// Walks along the samples of a strand. A ball around a point that no triangle reaches into is on one side of the mesh, so that the
/// side is asked for only where a sample lies in no such ball, and is deep if it is inside.
fn of_strand(
    truth: &MeshTruth,
    strands: &Strands,
    strand: usize,
    hair: &[[f32; 3]],
    limit: f64,
    out: &mut Depths,
) {
    let range = strands.range(strand);
    let points: Vec<P> = hair[range].iter().map(|p| p.map(f64::from)).collect();
    let is_guide = strands.is_guide(strand);
    if !is_guide {
        out.roots = out.roots.max(truth.distance(points[0], FAR));
    }
    let mut known: Option<(P, f64, bool)> = None;
    for v in 2..points.len() {
        let from = if v == 2 { 0.0 } else { 0.75 };
        for t in [0.75, 0.5, 0.25, 0.0].into_iter().filter(|t| *t <= from) {
            let p = [0, 1, 2].map(|c| points[v - 1][c] * t + points[v][c] * (1.0 - t));
            let near = truth.distance(p, FAR);
            let deepest = if is_guide { out.guides } else { out.followers };
            let is_inside = match known {
                Some((q, reach, side)) if apart(p, q) < reach.max(near) => Some(side),
                _ if near > deepest.min(limit) => Some(truth.winding(p) > 0.5),
                _ => None,
            };
            known = is_inside.map(|side| (p, near, side));
            if is_inside == Some(true) {
                let deepest = if is_guide {
                    &mut out.guides
                } else {
                    &mut out.followers
                };
                *deepest = deepest.max(near);
                out.deep += usize::from(!is_guide && t == 0.0 && near > limit);
            }
        }
    }
}

fn apart(a: P, b: P) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// A strand through a cube: as deep as its middle, wherever samples of it lie.
#[test]
fn depth_is_that_of_the_deepest_sample() {
    let mut cube: Mesh = sinew_testkit::meshes::cube();
    // Half of it is no farther than what is looked for.
    for p in &mut cube.positions {
        *p = p.map(|c| c * 0.04);
    }
    let (low, high) = cube.bounds().expect("vertices");
    let truth = MeshTruth::new(&cube.positions, cube.topology.triangles());
    let middle = [0, 1, 2].map(|k| 0.5 * (low[k] + high[k]));
    let side = high[0] - low[0];
    let strands = Strands::new([9]).expect("valid");
    let place = |i: i8| {
        let along = middle[1] + side * 0.25 * f32::from(i);
        [middle[0] + 0.2 * side, along, middle[2]]
    };
    let hair: Vec<[f32; 3]> = (-4..=4).map(place).collect();
    let mut out = Depths::default();
    of_strand(&truth, &strands, 0, &hair, 1e-3, &mut out);
    let expected = f64::from(0.3 * side);
    assert!((out.guides - expected).abs() < 1e-6, "{out:?} {expected}");
}
