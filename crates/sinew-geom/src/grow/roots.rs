//! Where strands grow: points spread evenly over the surface.
//!
//! Weighted sample elimination: C. Yuksel, *Sample Elimination for Generating Poisson Disk Sample Sets*, Computer Graphics Forum 34(2),
//! 2015.
//!
//! 1. Candidates: five random points for each root that is wanted. A triangle is drawn in proportion to its area times its largest density,
//!    then a uniform point in it. The point is accepted with its density divided by that largest one, which makes the density exact.
//! 2. Radius: half of the largest distance that the wanted number of points can keep, `r = sqrt(A / (2 sqrt(3) n))`, where `A` is the
//!    integral of density over the surface.
//! 3. Crowding of a candidate: the sum of `(1 - d / 2r)^8` over the others within `2r`. Distances `d` are straight lines in space. They are
//!    multiplied by the square root of the mean density of both, which spreads points farther where the density is low.
//! 4. The most crowded candidate goes, and its neighbours become less crowded, until the wanted number is left. A heap finds it; crowding
//!    only falls, thus an entry that is out of date is corrected when it comes to the top.
//!
//! We leave out the weight limiting of the paper. Neighbours come from hash grids, one for each level of density: one grid for all would
//! have cells as wide as the sparsest candidates reach, full of dense ones.
//!
//! Cost: O(n log n) for n roots. A density below 0.04 counts as 0.04 for distances, which bounds the number of neighbours. The order of
//! sums is fixed, thus a seed gives the same roots on every machine.

use super::random::Random;
use super::{GrowAmount, GrowError, GrowSettings, IN_ALL, MOST_IN_ALL, MOST_STRANDS};
use crate::{Mesh, Vec3};
use std::collections::HashMap;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::ops::RangeInclusive;

/// A place on the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Root {
    /// Vertices of its triangle.
    pub(super) corners: [u32; 3],
    /// How much each of them counts; they sum to one.
    pub(super) shares: [f32; 3],
    /// Numbers its stream of random numbers.
    pub(super) number: u64,
}

impl Root {
    /// A map's value here.
    pub(super) fn mean(&self, map: &[f32]) -> f32 {
        let corners = self.corners.into_iter().zip(self.shares);
        corners.map(|(v, s)| map[v as usize] * s).sum()
    }
    /// The same for pairs.
    pub(super) fn mean2(&self, map: &[[f32; 2]]) -> [f32; 2] {
        self.sum(map)
    }
    /// The same for vectors.
    pub(super) fn mean3(&self, map: &[[f32; 3]]) -> [f32; 3] {
        self.sum(map)
    }
    fn sum<const N: usize>(&self, map: &[[f32; N]]) -> [f32; N] {
        let [a, b, c] = self.corners.map(|v| map[v as usize]);
        let [wa, wb, wc] = self.shares;
        std::array::from_fn(|i| a[i] * wa + b[i] * wb + c[i] * wc)
    }
}

/// Candidates for each root that is wanted.
const CANDIDATES: usize = 5;
/// Where roots are this much sparser than at the densest place, distances grow no further: it bounds the search.
const LEAST_DENSITY: f64 = 0.04;
/// After so many candidates somebody is asked whether to stop.
pub(super) const AT_ONCE: usize = 4096;

/// Roots on the surface; as many as wanted. `step` takes the share that is done and fails where it should stop.
pub(super) fn scatter(
    mesh: &Mesh,
    density: Option<&[f32]>,
    settings: &GrowSettings,
    step: &dyn Fn(f64) -> Result<(), GrowError>,
) -> Result<Vec<Root>, GrowError> {
    let surface = Surface::new(mesh, density);
    if surface.weighted_area <= 0.0 {
        let masked = density.is_some();
        return Err(GrowError::NoSurface { masked });
    }
    let wanted = match settings.amount {
        GrowAmount::Strands(n) => n,
        GrowAmount::PerSquareMetre(d) => {
            let count = (surface.weighted_area * f64::from(d)).round();
            let fault = |expected| {
                Err(GrowError::Setting {
                    setting: "the density",
                    found: d.to_string(),
                    expected,
                })
            };
            if count > MOST_STRANDS as f64 {
                return fault("at most 4194304 strands in all");
            }
            if count * settings.vertices as f64 > MOST_IN_ALL as f64 {
                return fault(IN_ALL);
            }
            let count = count as usize;
            count.max(1)
        }
    };
    let mut random = Random::new(settings.seed, 0);
    let mut candidates = Vec::with_capacity(wanted.saturating_mul(CANDIDATES));
    for i in 0..wanted.saturating_mul(CANDIDATES) {
        if i % AT_ONCE == 0 {
            step(0.0)?;
        }
        candidates.push(surface.pick(&mut random));
    }
    let radius = (surface.weighted_area / (2.0 * 3_f64.sqrt() * wanted as f64)).sqrt();
    let kept = eliminate(&candidates, wanted, radius, step)?;
    let kept = candidates.iter().zip(kept).filter(|(_, kept)| *kept);
    let numbered = kept
        .zip(1..)
        .map(|((c, _), number)| Root { number, ..c.root });
    Ok(numbered.collect())
}

/// A place that may become a root.
struct Candidate {
    root: Root,
    at: Vec3<f64>,
    density: f64,
}

/// Triangles by area and density.
struct Surface<'a> {
    mesh: &'a Mesh,
    density: Option<&'a [f32]>,
    /// Triangles that have both.
    triangles: Vec<[u32; 3]>,
    /// Upper bounds of area times density, summed up to and with each triangle.
    bounds: Vec<f64>,
    /// The integral of density over the surface.
    weighted_area: f64,
}

impl<'a> Surface<'a> {
    fn new(mesh: &'a Mesh, density: Option<&'a [f32]>) -> Self {
        let mut this = Self {
            mesh,
            density,
            triangles: Vec::new(),
            bounds: Vec::new(),
            weighted_area: 0.0,
        };
        let mut sum = 0.0;
        for &t in mesh.topology.triangles() {
            let [a, b, c] = t.map(|v| this.point(v));
            let area = (b - a).cross(&(c - a)).norm() / 2.0;
            let at = t.map(|v| this.density_at(v));
            let bound = area * at.into_iter().fold(0.0, f64::max);
            if bound > 0.0 {
                sum += bound;
                this.triangles.push(t);
                this.bounds.push(sum);
                this.weighted_area += area * (at[0] + at[1] + at[2]) / 3.0;
            }
        }
        this
    }

    fn point(&self, v: u32) -> Vec3<f64> {
        Vec3::from(self.mesh.positions[v as usize].map(f64::from))
    }

    fn density_at(&self, v: u32) -> f64 {
        let map = self.density.map_or(1.0, |d| f64::from(d[v as usize]));
        map.clamp(0.0, 1.0)
    }

    /// A random place, as often as the density says.
    fn pick(&self, random: &mut Random) -> Candidate {
        let total = self.bounds.last().copied().unwrap_or(0.0);
        loop {
            let at = random.share() * total;
            let index = self.bounds.partition_point(|b| *b <= at);
            let corners = self.triangles[index.min(self.triangles.len() - 1)];
            // Uniform in the triangle.
            let (u, v) = (random.share().sqrt(), random.share());
            let shares = [1.0 - u, u * (1.0 - v), u * v];
            let densities = corners.map(|v| self.density_at(v));
            let density: f64 = densities.iter().zip(shares).map(|(d, s)| d * s).sum();
            let most = densities.into_iter().fold(0.0, f64::max);
            if random.share() * most >= density {
                continue;
            }
            let points = corners.map(|v| self.point(v));
            return Candidate {
                root: Root {
                    corners,
                    shares: shares.map(single),
                    number: 0,
                },
                at: points[0] * shares[0] + points[1] * shares[1] + points[2] * shares[2],
                density: density.max(LEAST_DENSITY),
            };
        }
    }
}

fn single(x: f64) -> f32 {
    x as f32
}

/// A candidate and how crowded it is; the most crowded first, of equals the later one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crowded(f64, u32);

impl Eq for Crowded {}
impl Ord for Crowded {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}
impl PartialOrd for Crowded {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Weighted sample elimination (Yuksel 2015): takes the most crowded candidate away until `wanted` are left; `radius` is
/// the largest possible distance of that many points at density one, halved. Tells which are kept.
fn eliminate(
    candidates: &[Candidate],
    wanted: usize,
    radius: f64,
    step: &dyn Fn(f64) -> Result<(), GrowError>,
) -> Result<Vec<bool>, GrowError> {
    // By cells as wide as anything reaches. Weights are summed in this order, too. It decides their last bits, and those decide ties: a
    // seed must keep its strands.
    let widest = reach(radius, LEAST_DENSITY, LEAST_DENSITY);
    let mut order: Vec<u32> = (0..candidates.len() as u32).collect();
    order.sort_by_cached_key(|i| {
        let [x, y, z] = cell_of(candidates[*i as usize].at, widest);
        [z, y, x]
    });
    let neighbours = Neighbours::new(candidates, &order, radius);
    let mut kept = vec![true; candidates.len()];
    let mut near = Vec::new();
    let mut crowd = vec![0.0; candidates.len()];
    for (done, &i) in order.iter().enumerate() {
        if done % AT_ONCE == 0 {
            step(0.4 * done as f64 / candidates.len() as f64)?;
        }
        let i = i as usize;
        kept[i] = false;
        neighbours.find(&candidates[i], &kept, &mut near);
        kept[i] = true;
        near.sort_unstable_by_key(|n| n.rank);
        crowd[i] = near.iter().map(|n| n.weight).sum();
    }
    let mut heap: BinaryHeap<Crowded> =
        crowd.iter().zip(0..).map(|(&w, i)| Crowded(w, i)).collect();
    let mut left = candidates.len();
    let surplus = left - wanted.min(left);
    while left > wanted
        && let Some(mut first) = heap.peek_mut()
    {
        let i = first.1 as usize;
        // Weights only fall: who is first by what it had may be so no longer, and goes down to where it belongs.
        if first.0 > crowd[i] {
            first.0 = crowd[i];
            continue;
        }
        PeekMut::pop(first);
        kept[i] = false;
        left -= 1;
        if left.is_multiple_of(AT_ONCE) {
            step(1.0 - 0.6 * (left - wanted) as f64 / surplus as f64)?;
        }
        neighbours.find(&candidates[i], &kept, &mut near);
        for neighbour in &near {
            crowd[neighbour.index as usize] -= neighbour.weight;
        }
    }
    Ok(kept)
}

/// Finds the candidates that crowd another one.
struct Neighbours {
    radius: f64,
    /// One for each level of density, with cells sized by the reach of its sparsest candidates: no search looks at more than a few cells,
    /// and those hold few candidates that are far away.
    grids: Vec<Grid>,
}

/// A candidate that crowds another one.
struct Neighbour {
    index: u32,
    /// Where it stands in the order in which weights are summed up.
    rank: u32,
    /// How much: more than 0.
    weight: f64,
}

/// Candidates of one grid have densities from one of these to the next.
const LEVELS: [f64; 4] = [
    LEAST_DENSITY,
    4.0 * LEAST_DENSITY,
    16.0 * LEAST_DENSITY,
    f64::INFINITY,
];

impl Neighbours {
    fn new(candidates: &[Candidate], order: &[u32], radius: f64) -> Self {
        let grid_of = |level: &[f64]| {
            let candidates = order.iter().zip(0..).map(|(&index, rank)| {
                let &Candidate { at, density, .. } = &candidates[index as usize];
                Member {
                    index,
                    rank,
                    at,
                    density,
                }
            });
            let is_in = |m: &Member| level[0] <= m.density && m.density < level[1];
            let members = candidates.filter(is_in);
            let least = members.clone().fold(f64::INFINITY, |d, m| d.min(m.density));
            let mut grid = Grid {
                least,
                // The way across what a search reaches: it meets two cells along each axis.
                cell: 2.0 * reach(radius, least, least),
                cells: HashMap::new(),
            };
            for member in members {
                let cell = cell_of(member.at, grid.cell);
                grid.cells.entry(cell).or_default().push(member);
            }
            grid
        };
        let grids = LEVELS.windows(2).map(grid_of);
        Self {
            radius,
            grids: grids.filter(|grid| !grid.cells.is_empty()).collect(),
        }
    }

    /// Fills `out` with all that crowd a candidate, of those that `kept` says.
    fn find(&self, this: &Candidate, kept: &[bool], out: &mut Vec<Neighbour>) {
        out.clear();
        for grid in &self.grids {
            // A hair more, for what is rounded.
            let reach = reach(self.radius, this.density, grid.least) * (1.0 + 1e-9);
            let low = cell_of(this.at.add_scalar(-reach), grid.cell);
            let high = cell_of(this.at.add_scalar(reach), grid.cell);
            let cells = cells_between(low, high).filter_map(|cell| grid.cells.get(&cell));
            for other in cells.flatten() {
                let is_near = (other.at - this.at).norm_squared() < reach * reach;
                if !is_near || !kept[other.index as usize] {
                    continue;
                }
                let weight = self.weight(this, other);
                if weight > 0.0 {
                    let &Member { index, rank, .. } = other;
                    out.push(Neighbour {
                        index,
                        rank,
                        weight,
                    });
                }
            }
        }
    }

    fn weight(&self, a: &Candidate, b: &Member) -> f64 {
        let stretch = ((a.density + b.density) / 2.0).sqrt();
        let near = 1.0 - (a.at - b.at).norm() * stretch / (2.0 * self.radius);
        near.max(0.0).powi(8)
    }
}

/// How far apart two candidates are that do not crowd each other.
fn reach(radius: f64, density: f64, other: f64) -> f64 {
    2.0 * radius / ((density + other) / 2.0).sqrt()
}

/// Candidates by the cubes of space that they are in.
struct Grid {
    /// The least density of all.
    least: f64,
    cell: f64,
    cells: HashMap<[i64; 3], Vec<Member>>,
}

/// A candidate of a grid: what a search reads, side by side.
struct Member {
    index: u32,
    rank: u32,
    at: Vec3<f64>,
    density: f64,
}

fn cell_of(p: Vec3<f64>, cell: f64) -> [i64; 3] {
    [p.x, p.y, p.z].map(|c| (c / cell).floor() as i64)
}

fn cells_between(low: [i64; 3], high: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    let [xs, ys, zs]: [RangeInclusive<i64>; 3] = std::array::from_fn(|c| low[c]..=high[c]);
    zs.flat_map(move |z| {
        let xs = xs.clone();
        ys.clone()
            .flat_map(move |y| xs.clone().map(move |x| [x, y, z]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places in a square, `density` of each by where it is.
    fn candidates(count: usize, density: impl Fn(f64) -> f64) -> Vec<Candidate> {
        let mut random = Random::new(5, 0);
        let candidate = |_| {
            let [x, z] = [random.share(), random.share()];
            let root = Root {
                corners: [0; 3],
                shares: [0.0; 3],
                number: 0,
            };
            let at = Vec3::new(x - 0.5, 0.0, z);
            let density = density(x).clamp(LEAST_DENSITY, 1.0);
            Candidate { root, at, density }
        };
        (0..count).map(candidate).collect()
    }

    /// The paper's algorithm, word by word: all pairs, and who is most crowded is looked for each time.
    fn all_pairs(candidates: &[Candidate], wanted: usize, radius: f64) -> Vec<bool> {
        let weight = |a: &Candidate, b: &Candidate| {
            let stretch = ((a.density + b.density) / 2.0).sqrt();
            let apart = (a.at - b.at).norm() * stretch;
            (1.0 - apart / (2.0 * radius)).max(0.0).powi(8)
        };
        let mut kept = vec![true; candidates.len()];
        for _ in wanted..candidates.len() {
            let crowd = |i: usize| -> f64 {
                let others = (0..candidates.len()).filter(|&o| o != i && kept[o]);
                others.map(|o| weight(&candidates[i], &candidates[o])).sum()
            };
            let left = (0..candidates.len()).filter(|&i| kept[i]);
            let most = left.max_by(|&a, &b| crowd(a).total_cmp(&crowd(b)));
            kept[most.expect("some are left")] = false;
        }
        kept
    }

    #[test]
    fn elimination_takes_those_away_that_all_pairs_say() {
        let densities: [fn(f64) -> f64; 4] = [|_| 1.0, |_| 0.05, |x| x * x, |x| x.round()];
        for density in densities {
            let candidates = candidates(150, density);
            for radius in [0.12, 0.4] {
                let found = eliminate(&candidates, 30, radius, &|_| Ok(()));
                assert_eq!(found, Ok(all_pairs(&candidates, 30, radius)), "{radius}");
            }
        }
    }

    #[test]
    fn a_search_reads_few_candidates_however_many_there_are() {
        let densities: [fn(f64) -> f64; 3] = [|_| 1.0, |_| 0.05, |x| x];
        for density in densities {
            let read = [2_000, 50_000].map(|count| {
                let candidates = candidates(count, density);
                let mean = candidates.iter().map(|c| c.density).sum::<f64>() / count as f64;
                let wanted = (count / CANDIDATES) as f64;
                let radius = (mean / (2.0 * 3_f64.sqrt() * wanted)).sqrt();
                let order: Vec<u32> = (0..count as u32).collect();
                let neighbours = Neighbours::new(&candidates, &order, radius);
                let cells = neighbours.grids.iter().flat_map(|g| g.cells.values());
                let squares = cells.map(|c| c.len() * c.len()).sum::<usize>();
                // Of the cell that a candidate is in, on average.
                squares as f64 / count as f64
            });
            assert!(read.iter().all(|&r| r < 100.0), "{read:?}");
        }
    }
}
