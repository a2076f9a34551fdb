//! Whether triangles that share a point go on sharing it: what keeps a surface closed on its way.

use super::distance;
use super::grid::Grid;
use sinew_geom::Mesh;
use std::collections::{BTreeMap, BTreeSet};

type Bits = [u32; 3];

/// Where corners go, by where they are.
#[derive(Default)]
pub(super) struct Parting {
    ends: BTreeMap<Bits, BTreeSet<Bits>>,
}

impl Parting {
    /// Takes a corner that is at `now` and goes to `end`, as textures say.
    pub(super) fn add(&mut self, now: [f32; 3], end: [f32; 3]) {
        let ends = self.ends.entry(bits(now)).or_default();
        ends.insert(bits(end));
    }

    /// How many points have corners that part. Points of the frame that are nearer to each other than `reach` may be at one place in the textures, and go
    /// to as many places as they are.
    pub(super) fn points_that_part(&self, mesh: &Mesh, reach: f64) -> u64 {
        let many: Vec<_> = self.ends.iter().filter(|e| e.1.len() > 1).collect();
        if many.is_empty() {
            return 0;
        }
        let grid = Grid::new(reach, mesh.positions.iter().map(|p| p.map(f64::from)));
        let parts = |now: &Bits, ends: &BTreeSet<Bits>| {
            let now = now.map(f32::from_bits);
            let near = grid.near(now.map(f64::from)).map(|v| mesh.positions[v]);
            let near = near.filter(|p| distance(*p, now) <= reach).map(bits);
            ends.len() > near.collect::<BTreeSet<_>>().len().max(1)
        };
        many.iter().filter(|e| parts(e.0, e.1)).count() as u64
    }
}

/// Zero has two forms.
fn bits(place: [f32; 3]) -> Bits {
    place.map(|c| (c + 0.0).to_bits())
}
