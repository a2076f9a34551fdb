//! From a distance field to a finished mesh: weights, colours, texture charts, seams, morph target.

use crate::SampleError;
use crate::field::{Field, V};
use crate::nets::Surface;
use sinew_geom::{Influences, Mesh, MorphTarget, Topology};

/// Influences below this are dropped.
const LEAST_WEIGHT: f64 = 0.004;
/// Influences kept a vertex.
const MOST_INFLUENCES: usize = 8;

/// A texture chart: the surface around a chain of points, unrolled. `u` runs around, `v` along.
pub(crate) struct Chart {
    /// Joints whose triangles belong to it.
    pub(crate) joints: Vec<usize>,
    /// The chain.
    pub(crate) chain: Vec<V>,
    /// Direction from the chain to the middle of the chart; the seam is on the other side.
    pub(crate) front: V,
    /// Lower left corner and size in the texture.
    pub(crate) place: [f64; 4],
}

impl Chart {
    /// (turn -0.5..0.5, way along the chain 0..1) of a point.
    fn unroll(&self, p: V) -> [f64; 2] {
        let total: f64 = self.chain.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
        let (mut best, mut before) = ((f64::INFINITY, 0.0, V::zeros(), V::x()), 0.0);
        for w in self.chain.windows(2) {
            let span = w[1] - w[0];
            let length = span.norm();
            let along = ((p - w[0]).dot(&span) / (length * length)).clamp(0.0, 1.0);
            let off = p - w[0] - span * along;
            if off.norm() < best.0 {
                best = (off.norm(), before + along * length, off, span / length);
            }
            before += length;
        }
        let (_, way, off, axis) = best;
        let front = (self.front - axis * axis.dot(&self.front)).normalize();
        let angle = off.dot(&axis.cross(&front)).atan2(off.dot(&front));
        [angle / std::f64::consts::TAU, way / total]
    }
}

/// What one field-made character is.
pub(crate) struct Sculpt<'a> {
    pub(crate) name: &'a str,
    pub(crate) field: Field,
    pub(crate) joint_count: usize,
    pub(crate) charts: Vec<Chart>,
    /// Rounds of weight smoothing, and how much (0..1) each takes at a point.
    pub(crate) weight_rounds: usize,
    pub(crate) weight_rate: &'a dyn Fn(V) -> f64,
    /// Linear base colour from point, normal and nearest joint.
    pub(crate) color: &'a dyn Fn(V, V, usize) -> [f64; 3],
    /// Name and displacement (from point and normal) of the morph target.
    pub(crate) morph: (&'a str, &'a dyn Fn(V, V) -> V),
}

impl Sculpt<'_> {
    /// Finishes a surface of `self.field`.
    pub(crate) fn mesh(&self, surface: &Surface) -> Result<Mesh, SampleError> {
        let labels: Vec<usize> = surface
            .points
            .iter()
            .map(|&p| self.field.nearest_joint(p).1)
            .collect();
        let normals = area_normals(&surface.points, &surface.triangles);
        let rows = self.weights(surface, &labels);
        let split = self.split(surface, &labels);
        let source = |v: usize| split.source[v];
        let count = split.source.len();
        let mut mesh = Mesh::new(
            self.name,
            Topology::new(count as u32, split.triangles)?,
            (0..count)
                .map(|v| single(surface.points[source(v)]))
                .collect(),
        );
        mesh.normals = Some((0..count).map(|v| single(normals[source(v)])).collect());
        mesh.uvs = vec![split.uvs];
        let color = |v: usize| {
            let s = source(v);
            let [r, g, b] = (self.color)(surface.points[s], normals[s], labels[s]);
            [r as f32, g as f32, b as f32, 1.0]
        };
        mesh.colors = vec![(0..count).map(color).collect()];
        let rows = split.source.iter().map(|&s| rows[s].as_slice());
        mesh.influences = Some(Influences::from_rows(rows, self.joint_count, 0)?.0);
        let moved = |v: usize| {
            let s = source(v);
            (self.morph.1)(surface.points[s], normals[s])
        };
        mesh.morph_targets = vec![morph_target(self.morph.0, &mesh, &moved)];
        Ok(mesh)
    }

    /// Joint weights: the nearest joint's label, spread over the surface by diffusion. Diffusion follows the
    /// surface, so nothing leaks from finger to finger or from leg to leg.
    fn weights(&self, surface: &Surface, labels: &[usize]) -> Vec<Vec<(u32, f32)>> {
        let neighbours = surface.neighbours();
        let mut rows: Vec<Vec<f64>> = labels
            .iter()
            .map(|&l| {
                let mut row = vec![0.0; self.joint_count];
                row[l] = 1.0;
                row
            })
            .collect();
        for _ in 0..self.weight_rounds {
            let old = rows.clone();
            for (i, row) in rows.iter_mut().enumerate() {
                let rate = (self.weight_rate)(surface.points[i]);
                let ring = &neighbours[i];
                for (j, w) in row.iter_mut().enumerate() {
                    let mean: f64 = ring.iter().map(|&n| old[n as usize][j]).sum::<f64>()
                        / ring.len().max(1) as f64;
                    *w += (mean - *w) * rate;
                }
            }
        }
        rows.iter()
            .map(|row| {
                let mut kept: Vec<(u32, f32)> = (0_u32..)
                    .zip(row)
                    .filter(|(_, w)| **w > LEAST_WEIGHT)
                    .map(|(j, &w)| (j, w as f32))
                    .collect();
                kept.sort_by(|a, b| b.1.total_cmp(&a.1));
                kept.truncate(MOST_INFLUENCES);
                let sum: f32 = kept.iter().map(|k| k.1).sum();
                kept.iter_mut().for_each(|k| k.1 /= sum);
                kept
            })
            .collect()
    }

    /// Gives every triangle its chart and splits vertices where charts or the two sides of a seam meet.
    fn split(&self, surface: &Surface, labels: &[usize]) -> Split {
        let chart_of = |joint: usize| {
            self.charts
                .iter()
                .position(|c| c.joints.contains(&joint))
                .unwrap_or(0)
        };
        let mut out = Split::default();
        // Copies made so far of each source vertex: (chart, side of the seam, new index).
        let mut copies: Vec<Vec<(usize, bool, u32)>> = vec![Vec::new(); surface.points.len()];
        for t in &surface.triangles {
            let corners = t.map(|v| v as usize);
            // Most corners decide, the first one where all differ.
            let charts = corners.map(|v| chart_of(labels[v]));
            let chart = if charts[1] == charts[2] {
                charts[1]
            } else {
                charts[0]
            };
            let c = &self.charts[chart];
            let turns = corners.map(|v| c.unroll(surface.points[v]));
            let across = turns.iter().any(|t| t[0] > 0.25) && turns.iter().any(|t| t[0] < -0.25);
            let mut new = [0; 3];
            for k in 0..3 {
                let wrapped = across && turns[k][0] < -0.25;
                let found = copies[corners[k]]
                    .iter()
                    .find(|f| f.0 == chart && f.1 == wrapped);
                new[k] = match found {
                    Some(f) => f.2,
                    None => {
                        let id = out.source.len() as u32;
                        copies[corners[k]].push((chart, wrapped, id));
                        out.source.push(corners[k]);
                        // A little room is left for corners beyond the seam.
                        let turn = turns[k][0] + f64::from(u8::from(wrapped));
                        let u = c.place[0] + c.place[2] * ((turn + 0.5) / 1.25);
                        let v = c.place[1] + c.place[3] * (0.02 + 0.96 * turns[k][1]);
                        out.uvs.push([u as f32, v as f32]);
                        id
                    }
                };
            }
            out.triangles.push(new);
        }
        out
    }
}

#[derive(Default)]
struct Split {
    source: Vec<usize>,
    uvs: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
}

/// Rounds to storage precision.
pub(crate) fn single(p: V) -> [f32; 3] {
    [p.x as f32, p.y as f32, p.z as f32]
}

/// A sparse target with normal deltas, from a displacement of each vertex.
pub(crate) fn morph_target(name: &str, mesh: &Mesh, moved: &dyn Fn(usize) -> V) -> MorphTarget {
    let deltas: Vec<V> = (0..mesh.vertex_count()).map(moved).collect();
    let triangles = mesh.topology.triangles();
    let weld = sinew_geom::WeldMap::by_position(&mesh.positions, 0.0);
    let class = |i: usize| weld.class_of_vertex[i] as usize;
    let welded: Vec<[u32; 3]> = triangles
        .iter()
        .map(|t| t.map(|v| weld.class_of_vertex[v as usize]))
        .collect();
    let normals = |weight: f64| {
        let points: Vec<V> = weld
            .first_vertex
            .iter()
            .map(|&v| {
                let v = v as usize;
                V::from_iterator(mesh.positions[v].map(f64::from)) + deltas[v] * weight
            })
            .collect();
        area_normals(&points, &welded)
    };
    let (before, after) = (normals(0.0), normals(1.0));
    let mut out = MorphTarget {
        name: name.to_owned(),
        ..MorphTarget::default()
    };
    for (v, d) in deltas.iter().enumerate() {
        let turned = after[class(v)] - before[class(v)];
        if d.norm() > 1e-6 || turned.norm() > 1e-4 {
            out.vertices.push(v as u32);
            out.positions.push(single(*d));
            out.normals.push(single(turned));
        }
    }
    out
}

/// Area-weighted unit normals of a welded surface.
fn area_normals(points: &[V], triangles: &[[u32; 3]]) -> Vec<V> {
    let mut sum = vec![V::zeros(); points.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| points[v as usize]);
        let n = (b - a).cross(&(c - a));
        for v in t {
            sum[*v as usize] += n;
        }
    }
    sum.iter()
        .map(|n| n.try_normalize(1e-300).unwrap_or(V::y()))
        .collect()
}
