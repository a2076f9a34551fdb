//! Setup of the modes in which points of the driver move a vertex: `points`, `rbf` and `cage`.
//!
//! All three end in the same form. A vertex has a weight `w_i` and a gradient `g_i` for some points `q_i` of the driver. With the
//! displacements `d_i = q_i' - q_i`, the kernels sum `s = Σ w_i d_i` and `G = Σ d_i g_iᵀ`, which are both zero at rest. Weights and
//! gradients are computed in double precision.

use super::bind::{WrapBind, WrapError};
use super::bvh::Bvh;
use super::{WrapConfig, WrapMode, cage::Cage, nearest, rbf::Rbf};
use crate::{BindWatch, Par, for_each_chunk};
use serde::{Deserialize, Serialize};
use sinew_geom::nalgebra::{Matrix4, Vector4};
use sinew_geom::{Mesh, Real, Vec3, WeldMap, index32};
use std::sync::Mutex;

/// Vertices that a kernel works on side by side.
pub(super) const LANES: usize = 8;

/// Most points of a driver in mode `rbf`: setup solves a dense system of that size.
const MOST_RBF: usize = 1024;

/// Most points of a driver in mode `cage`.
const MOST_CAGE: usize = 4096;

/// Most bytes of weights and gradients.
const MOST_BYTES: usize = 1 << 30;

/// Bytes of a weight and its gradient.
const BYTES: usize = 16;

/// Weights and gradients of all vertices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PointBind {
    /// Points that move a vertex.
    pub(super) count: usize,
    /// Driver vertices: `count` for each vertex in mode `points`, otherwise the same `count` for all.
    pub(super) points: Vec<u32>,
    /// Weights of eight vertices: block by block, in each block one element for each point.
    pub(super) weights: Vec<[f32; LANES]>,
    /// Gradients, x, y and z, in the same order.
    pub(super) gradients: Vec<[[f32; LANES]; 3]>,
    /// The position, metres, about which the map of each vertex is linear.
    pub(super) origins: Vec<[f32; 3]>,
    /// Mode `points`: moments of the rest points about the origin, divided by their trace: xx, xy, xz, yy, yz, zz.
    pub(super) moments: Vec<[f32; 6]>,
    /// Driver at rest, metres, one position for each of its vertices.
    #[serde(skip)]
    pub(super) rest: Vec<[f32; 3]>,
}

/// Weight and gradient of one point for one vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub(super) weight: f64,
    /// By the position of the vertex, 1/m.
    pub(super) gradient: Vec3<f64>,
}

/// Vertices closer than this share of the driver's size are one point: copies at seams and hard edges, and poles.
const SAME: f32 = 1e-6;

/// The same for mode `rbf`, where points that almost coincide would get huge weights of opposite signs.
const SAME_RBF: f32 = 1e-4;

/// Which vertices of a driver are the same point.
pub(super) fn weld(driver: &Mesh, mode: WrapMode) -> WeldMap {
    let share = match mode {
        WrapMode::Rbf => SAME_RBF,
        _ => SAME,
    };
    WeldMap::by_position(&driver.positions, share * driver.diagonal())
}

/// Points of the driver without copies at the same position: the first vertex of each.
pub(super) struct DriverPoints {
    pub(super) vertices: Vec<u32>,
    pub(super) positions: Vec<Vec3<f64>>,
}

impl DriverPoints {
    pub(super) fn new(
        driver: &Mesh,
        mode: WrapMode,
        is_used: impl Fn(u32) -> bool,
    ) -> Result<Self, WrapError> {
        let weld = weld(driver, mode);
        let vertices: Vec<u32> = (0_u32..)
            .zip(&weld.first_vertex)
            .filter(|(class, _)| is_used(*class))
            .map(|(_, v)| *v)
            .collect();
        let at = |v: &u32| f64::vec3(driver.positions[*v as usize]);
        let positions: Vec<_> = vertices.iter().map(at).collect();
        match positions.is_empty() {
            true => Err(WrapError::NoPoints),
            false => Ok(Self {
                vertices,
                positions,
            }),
        }
    }

    /// A tree in which each point is a triangle of no size.
    fn tree(&self) -> Bvh {
        let corners = self.positions.iter().map(|p| [*p; 3]).collect();
        Bvh::build(corners, (0..index32(self.positions.len())).collect())
    }
}

impl PointBind {
    /// Weights of each vertex of `mesh`, and its strength by distance, 0 to 1.
    pub(super) fn new(
        mesh: &Mesh,
        driver: &Mesh,
        config: &WrapConfig,
        par: Par,
        watch: &BindWatch<'_>,
    ) -> Result<(Self, Vec<f32>), WrapError> {
        WrapBind::check_lengths(mesh, driver)?;
        let (mut this, strength) = match config.mode {
            WrapMode::Rbf => dense_rbf(mesh, driver, config, par, watch)?,
            WrapMode::Cage => dense_cage(mesh, driver, config, par, watch)?,
            _ => {
                let points = DriverPoints::new(driver, config.mode, |_| true)?;
                nearest::bind(mesh, &points, &points.tree(), config, watch)?
            }
        };
        this.rest.clone_from(&driver.positions);
        Ok((this, strength))
    }

    /// Memory for `vertices` vertices with `count` points each.
    pub(super) fn zeros(vertices: usize, count: usize) -> Self {
        let rows = vertices.div_ceil(LANES) * count;
        Self {
            count,
            weights: vec![[0.0; LANES]; rows],
            gradients: vec![[[0.0; LANES]; 3]; rows],
            ..Self::default()
        }
    }

    /// Whether the arrays have the lengths that setup gives them, and all indices are in range.
    pub(super) fn fits(&self, mode: WrapMode, vertices: usize, driver: usize) -> bool {
        let rows = vertices.div_ceil(LANES).checked_mul(self.count);
        let (points, moments) = match mode {
            WrapMode::Points => (vertices.checked_mul(self.count), vertices),
            _ => (Some(self.count), 0),
        };
        Some(self.weights.len()) == rows
            && Some(self.gradients.len()) == rows
            && Some(self.points.len()) == points
            && self.points.iter().all(|p| (*p as usize) < driver)
            && self.origins.len() == vertices
            && self.moments.len() == moments
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.weights[..])
            + size_of_val(&self.gradients[..])
            + size_of_val(&self.points[..])
            + size_of_val(&self.origins[..])
            + size_of_val(&self.moments[..])
            + size_of_val(&self.rest[..])
    }

    /// Whether all vertices have the same points.
    pub(super) fn is_dense(&self) -> bool {
        self.moments.is_empty()
    }

    /// Driver vertices of the points of a vertex.
    pub(super) fn points_of(&self, v: usize) -> &[u32] {
        match self.is_dense() {
            true => &self.points,
            false => &self.points[v * self.count..][..self.count],
        }
    }

    /// Weight and gradient of each point of a vertex.
    pub(super) fn shares_of(&self, v: usize) -> impl Iterator<Item = (f32, [f32; 3])> {
        let (block, lane) = (v / LANES, v % LANES);
        let rows = block * self.count..(block + 1) * self.count;
        let weights = self.weights[rows.clone()].iter();
        weights
            .zip(&self.gradients[rows])
            .map(move |(w, g)| (w[lane], g.map(|g| g[lane])))
    }

    /// Writes what moves a vertex.
    pub(super) fn set(&mut self, v: usize, shares: &[Share]) {
        let (block, lane) = (v / LANES, v % LANES);
        let rows = block * self.count..(block + 1) * self.count;
        let weights = self.weights[rows.clone()].iter_mut();
        for ((w, g), share) in weights.zip(&mut self.gradients[rows]).zip(shares) {
            put(w, g, lane, share);
        }
    }
}

fn put(w: &mut [f32; LANES], g: &mut [[f32; LANES]; 3], lane: usize, share: &Share) {
    w[lane] = share.weight.to_single();
    for (row, c) in g.iter_mut().zip(&share.gradient) {
        row[lane] = c.to_single();
    }
}

/// Refuses drivers of too many points, before anything is allocated for them.
fn check_size(
    mode: &'static str,
    points: usize,
    most: usize,
    vertices: usize,
) -> Result<(), WrapError> {
    let bytes = vertices.saturating_mul(points).saturating_mul(BYTES);
    if points > most || bytes > MOST_BYTES {
        return Err(WrapError::TooLarge {
            mode,
            points,
            vertices,
            megabytes: bytes >> 20,
            most: most.min(MOST_BYTES / BYTES / vertices.max(1)),
        });
    }
    Ok(())
}

fn dense_rbf(
    mesh: &Mesh,
    driver: &Mesh,
    config: &WrapConfig,
    par: Par,
    watch: &BindWatch<'_>,
) -> Result<(PointBind, Vec<f32>), WrapError> {
    let points = DriverPoints::new(driver, config.mode, |_| true)?;
    check_size(
        "rbf",
        points.positions.len(),
        MOST_RBF,
        mesh.positions.len(),
    )?;
    let tree = points.tree();
    let distance = |p| tree.nearest(p, 1, f64::INFINITY, |_| true);
    let strength = strengths(mesh, config, |p| distance(p).first().map(|h| h.square));
    let rbf = Rbf::new(&points.positions)?;
    watch.step(0.25)?;
    let fill = |block: &[Vec3<f64>], out: &mut [Vec<Share>]| rbf.shares(block, out);
    Ok((dense(mesh, &points, par, watch, &fill)?, strength))
}

fn dense_cage(
    mesh: &Mesh,
    driver: &Mesh,
    config: &WrapConfig,
    par: Par,
    watch: &BindWatch<'_>,
) -> Result<(PointBind, Vec<f32>), WrapError> {
    let weld = weld(driver, config.mode);
    let mut is_used = vec![false; weld.class_count()];
    for v in driver.topology.triangles().as_flattened() {
        is_used[weld.class_of_vertex[*v as usize] as usize] = true;
    }
    let points = DriverPoints::new(driver, config.mode, |class| is_used[class as usize])?;
    check_size(
        "cage",
        points.positions.len(),
        MOST_CAGE,
        mesh.positions.len(),
    )?;
    let cage = Cage::new(driver, &points)?;
    let tree = cage.tree();
    let distance = |p| tree.nearest(p, 1, f64::INFINITY, |_| true);
    let strength = strengths(mesh, config, |p| distance(p).first().map(|h| h.square));
    let fill = |block: &[Vec3<f64>], out: &mut [Vec<Share>]| {
        let mut scratch = cage.new_scratch();
        for (p, out) in block.iter().zip(out) {
            cage.shares(*p, &mut scratch, out);
        }
    };
    Ok((dense(mesh, &points, par, watch, &fill)?, strength))
}

/// Strength of each vertex by its squared distance from the driver; 0 beyond the limit.
fn strengths(
    mesh: &Mesh,
    config: &WrapConfig,
    square: impl Fn(Vec3<f64>) -> Option<f64>,
) -> Vec<f32> {
    let limit = match config.max_distance > 0.0 {
        true => f64::from(config.max_distance),
        false => f64::INFINITY,
    };
    let of = |p: &[f32; 3]| {
        let distance = square(f64::vec3(*p)).map(f64::sqrt);
        config.strength(distance.filter(|d| *d <= limit))
    };
    mesh.positions.iter().map(of).collect()
}

/// Fills the shares of up to eight vertices.
type Fill<'a> = &'a (dyn Fn(&[Vec3<f64>], &mut [Vec<Share>]) + Sync);

/// The weights of one block of eight vertices, to write.
struct Block<'a> {
    weights: &'a mut [[f32; LANES]],
    gradients: &'a mut [[[f32; LANES]; 3]],
}

/// All vertices hang on all points.
fn dense(
    mesh: &Mesh,
    points: &DriverPoints,
    par: Par,
    watch: &BindWatch<'_>,
    fill: Fill<'_>,
) -> Result<PointBind, WrapError> {
    let count = points.positions.len();
    let mut this = PointBind::zeros(mesh.positions.len(), count);
    this.points.clone_from(&points.vertices);
    this.origins.clone_from(&mesh.positions);
    let weights = this.weights.chunks_exact_mut(count);
    let mut blocks: Vec<Block<'_>> = weights
        .zip(this.gradients.chunks_exact_mut(count))
        .map(|(weights, gradients)| Block { weights, gradients })
        .collect();
    let total = blocks.len().max(1) as f64;
    let progress = Mutex::new((0_usize, Ok(())));
    for_each_chunk(par, blocks.len(), 4, &mut blocks[..], &|range, blocks| {
        {
            let mut progress = progress.lock().unwrap_or_else(|e| e.into_inner());
            if progress.1.is_ok() {
                progress.1 = watch.step(0.25 + 0.75 * progress.0 as f64 / total);
            }
            progress.0 += blocks.len();
            if progress.1.is_err() {
                return;
            }
        }
        for (b, block) in range.zip(blocks) {
            let all = mesh.positions.len();
            let vertices = &mesh.positions[b * LANES..all.min((b + 1) * LANES)];
            let at: Vec<Vec3<f64>> = vertices.iter().map(|p| f64::vec3(*p)).collect();
            let mut shares = vec![vec![Share::default(); count]; at.len()];
            fill(&at, &mut shares);
            for (lane, (p, shares)) in at.iter().zip(&mut shares).enumerate() {
                reproduce_affine_maps(&points.positions, *p, shares);
                let rows = block.weights.iter_mut().zip(block.gradients.iter_mut());
                for ((w, g), share) in rows.zip(shares.iter()) {
                    put(w, g, lane, share);
                }
            }
        }
    });
    progress.into_inner().unwrap_or_else(|e| e.into_inner()).1?;
    Ok(this)
}

/// Takes rounding out of shares that reproduce affine maps: the smallest change after which weights sum to 1 and the weighted points to
/// `p`, and gradients likewise to zero and the identity. In directions that the points do not span, nothing changes.
fn reproduce_affine_maps(points: &[Vec3<f64>], p: Vec3<f64>, shares: &mut [Share]) {
    let far = points.iter().map(|q| (q - p).norm_squared());
    let scale = far.fold(0.0, f64::max).sqrt();
    if scale <= 0.0 {
        return;
    }
    let row = |q: &Vec3<f64>| {
        let x = (q - p) / scale;
        Vector4::new(1.0, x.x, x.y, x.z)
    };
    let mut gram = Matrix4::zeros();
    // Residuals, by column: of the weights, and of each coordinate of the gradients.
    let mut missing = Matrix4::zeros();
    missing[(0, 0)] = 1.0;
    for c in 0..3 {
        missing[(c + 1, c + 1)] = 1.0 / scale;
    }
    for (q, share) in points.iter().zip(shares.iter()) {
        let x = row(q);
        gram += x * x.transpose();
        let g = share.gradient;
        missing -= x * Vector4::new(share.weight, g.x, g.y, g.z).transpose();
    }
    let size = gram.trace();
    let Ok(inverse) = gram.pseudo_inverse(1e-12 * size) else {
        return;
    };
    let change = inverse * missing;
    for (q, share) in points.iter().zip(shares) {
        let more = change.transpose() * row(q);
        share.weight += more[0];
        share.gradient += Vec3::new(more[1], more[2], more[3]);
    }
}
