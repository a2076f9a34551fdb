//! Where strands grow: places on the surface, spread evenly.

use super::random::Random;
use super::{GrowAmount, GrowError, GrowSettings, IN_ALL, MOST_IN_ALL, MOST_STRANDS};
use crate::{Mesh, Vec3};
use std::collections::{BinaryHeap, HashMap};

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

/// Roots on the surface; as many as wanted.
pub(super) fn scatter(
    mesh: &Mesh,
    density: Option<&[f32]>,
    settings: &GrowSettings,
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
    let candidates: Vec<Candidate> = (0..wanted.saturating_mul(CANDIDATES))
        .map(|_| surface.pick(&mut random))
        .collect();
    let radius = (surface.weighted_area / (2.0 * 3_f64.sqrt() * wanted as f64)).sqrt();
    let kept = eliminate(&candidates, wanted, radius);
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
fn eliminate(candidates: &[Candidate], wanted: usize, radius: f64) -> Vec<bool> {
    let grid = Grid::new(candidates, 2.0 * radius / LEAST_DENSITY.sqrt());
    let weight = |a: &Candidate, b: &Candidate| {
        let stretch = ((a.density + b.density) / 2.0).sqrt();
        let near = 1.0 - (a.at - b.at).norm() * stretch / (2.0 * radius);
        near.max(0.0).powi(8)
    };
    let mut crowd: Vec<f64> = candidates
        .iter()
        .zip(0..)
        .map(|(c, i)| {
            let others = grid.near(c.at).filter(|&o| o != i);
            others.map(|o| weight(c, &candidates[o as usize])).sum()
        })
        .collect();
    let mut heap: BinaryHeap<Crowded> =
        crowd.iter().zip(0..).map(|(&w, i)| Crowded(w, i)).collect();
    let mut kept = vec![true; candidates.len()];
    let mut left = candidates.len();
    while left > wanted
        && let Some(Crowded(found, index)) = heap.pop()
    {
        let i = index as usize;
        // Entries stay in the heap when their weight falls.
        if !kept[i] || found > crowd[i] {
            continue;
        }
        kept[i] = false;
        left -= 1;
        for o in grid.near(candidates[i].at) {
            let other = o as usize;
            let less = weight(&candidates[i], &candidates[other]);
            if kept[other] && less > 0.0 {
                crowd[other] -= less;
                heap.push(Crowded(crowd[other], o));
            }
        }
    }
    kept
}

/// Candidates by the cubes of space that they are in.
struct Grid {
    cell: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl Grid {
    fn new(candidates: &[Candidate], cell: f64) -> Self {
        let mut this = Self {
            cell,
            cells: HashMap::new(),
        };
        for (c, i) in candidates.iter().zip(0..) {
            this.cells.entry(this.cell_of(c.at)).or_default().push(i);
        }
        this
    }

    fn cell_of(&self, p: Vec3<f64>) -> [i64; 3] {
        [p.x, p.y, p.z].map(|c| (c / self.cell).floor() as i64)
    }

    /// All that may be nearer than a cell.
    fn near(&self, p: Vec3<f64>) -> impl Iterator<Item = u32> + '_ {
        let [x, y, z] = self.cell_of(p);
        let around = (0..27_i64).map(move |i| [x + i % 3 - 1, y + i / 3 % 3 - 1, z + i / 9 - 1]);
        around
            .filter_map(|cell| self.cells.get(&cell))
            .flatten()
            .copied()
    }
}
