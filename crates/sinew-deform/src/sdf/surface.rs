//! The mesh of one frame, in cells from the origin of the grid, in the form that the kernels read.
//!
//! Eight triangles make a cluster, stored number by number. A triangle has an origin, two axes in its plane, a normal and its edges, which
//! makes the distance of a point a problem in two dimensions. Triangles with a corner that is not finite are moved far away.

use super::bind::{Bounds, SdfBind};
use super::field::GridShape;
use super::frame::FieldFrame;
use super::tree::{BoxBlock, CLUSTER, NO_BOXES, refit};
use super::triangle::{LocalTriangle, P, add_scaled, unit};
use crate::{Par, for_each_chunk};
use std::ops::Range;

/// Numbers of a triangle that distances need.
pub(super) const FIELDS: usize = 19;
pub(super) const ORIGIN: usize = 0;
pub(super) const AXIS_X: usize = 3;
pub(super) const AXIS_Y: usize = 6;
pub(super) const NORMAL: usize = 9;
pub(super) const LENGTH: usize = 12;
pub(super) const EDGE02: usize = 13;
pub(super) const EDGE12: usize = 16;

/// Eight triangles side by side; behind the end of the mesh the last one repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cluster {
    pub(super) fields: [[f32; 8]; FIELDS],
}

/// What else is known of eight triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterExtra {
    pub(super) first: [u8; 8],
    angles: [[f32; 3]; 8],
    flat: [bool; 8],
    bounds: [P; 2],
}

/// Triangles with a corner that is no number go here, in cells: further than any grid reaches.
const FAR: f32 = 1e7;
/// Clusters, edges or points in one task.
const CHUNK: usize = 256;

/// The frame's mesh.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    /// Positions in the field's frame, then in cells.
    points: Vec<P>,
    pub(super) clusters: Vec<Cluster>,
    pub(super) extras: Vec<ClusterExtra>,
    pub(super) blocks: Vec<BoxBlock>,
    pub(super) face_normals: Vec<P>,
    pub(super) edge_normals: Vec<P>,
    pub(super) class_normals: Vec<P>,
}

impl Surface {
    pub(super) fn new(bind: &SdfBind) -> Self {
        let n = bind.tree.clusters;
        Self {
            points: vec![[0.0; 3]; bind.vertex_count()],
            clusters: vec![
                Cluster {
                    fields: [[0.0; 8]; FIELDS]
                };
                n
            ],
            extras: vec![
                ClusterExtra {
                    first: [0; 8],
                    angles: [[0.0; 3]; 8],
                    flat: [false; 8],
                    bounds: [[0.0; 3]; 2],
                };
                n
            ],
            blocks: vec![NO_BOXES; bind.tree.blocks],
            face_normals: vec![[0.0; 3]; bind.triangles.len()],
            edge_normals: vec![[0.0; 3]; bind.edge_count()],
            class_normals: vec![[0.0; 3]; bind.class_count()],
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.points)
            + size_of_val(&*self.clusters)
            + size_of_val(&*self.extras)
            + size_of_val(&*self.blocks)
            + size_of_val(&*self.face_normals)
            + size_of_val(&*self.edge_normals)
            + size_of_val(&*self.class_normals)
    }

    /// Lowest and highest coordinates of a cluster, in cells.
    pub(super) fn bounds_of(&self, cluster: usize) -> [P; 2] {
        self.extras[cluster].bounds
    }

    /// A point in cells; where it is no number, a corner of the grid.
    pub(super) fn point(&self, vertex: usize) -> P {
        let p = self.points[vertex];
        if p.iter().all(|c| c.abs() <= FAR) {
            p
        } else {
            [0.0; 3]
        }
    }

    /// Takes positions into the field's frame; missing ones are no numbers. Returns their box and how many are none.
    pub(super) fn place(&mut self, positions: &[P], frame: &FieldFrame) -> (Bounds, usize) {
        let given = positions
            .iter()
            .copied()
            .chain(std::iter::repeat([f32::NAN; 3]));
        for (point, p) in self.points.iter_mut().zip(given) {
            *point = frame.point_from_scene(p);
        }
        let bad = self.points.iter().filter(|p| !is_finite(p)).count();
        (Bounds::of(self.points.iter().copied()), bad)
    }

    /// Everything that distances and signs need.
    pub(super) fn prepare(&mut self, bind: &SdfBind, shape: &GridShape, par: Par) {
        let inverse = 1.0 / shape.cell;
        for p in &mut self.points {
            *p = std::array::from_fn(|k| (p[k] - shape.origin[k]) * inverse);
        }
        let points = &self.points;
        let outputs = (&mut self.clusters[..], &mut self.extras[..]);
        for_each_chunk(par, bind.tree.clusters, CHUNK, outputs, &|range, out| {
            fill_clusters(bind, points, range, out);
        });
        let boxes = self.extras.iter().map(|e| e.bounds);
        refit(&bind.tree, boxes, &mut self.blocks);
        self.prepare_normals(bind, par);
    }

    fn prepare_normals(&mut self, bind: &SdfBind, par: Par) {
        let (clusters, extras) = (&self.clusters, &self.extras);
        let faces = &mut self.face_normals[..];
        for (t, normal) in faces.iter_mut().enumerate() {
            let own = [0, 1, 2].map(|k| clusters[t / CLUSTER].fields[NORMAL + k][t % CLUSTER]);
            *normal = if extras[t / CLUSTER].flat[t % CLUSTER] {
                mean_of_neighbours(bind, clusters, extras, t)
            } else {
                own
            };
        }
        let faces = &self.face_normals[..];
        let edges = &mut self.edge_normals[..];
        let count = edges.len();
        for_each_chunk(par, count, 4 * CHUNK, edges, &|range, out: &mut [P]| {
            for (e, normal) in range.zip(out) {
                let around = bind.triangles_of_edge(e as u32).iter();
                *normal = around.fold([0.0; 3], |s, &t| add_scaled(s, faces[t as usize], 1.0));
            }
        });
        let classes = &mut self.class_normals[..];
        let count = classes.len();
        for_each_chunk(par, count, 4 * CHUNK, classes, &|range, out: &mut [P]| {
            for (class, normal) in range.zip(out) {
                let fan = bind.corners_of_class(class as u32).iter();
                *normal = fan.fold([0.0; 3], |s, &corner| {
                    let (t, k) = (corner as usize / 3, corner as usize % 3);
                    add_scaled(s, faces[t], corner_angle(extras, t, k))
                });
            }
        });
    }
}

fn is_finite(p: &P) -> bool {
    p.iter().all(|c| c.is_finite())
}

/// Angle at corner `k` of the mesh's triangle.
fn corner_angle(extras: &[ClusterExtra], triangle: usize, k: usize) -> f32 {
    let (extra, lane) = (&extras[triangle / CLUSTER], triangle % CLUSTER);
    extra.angles[lane][(k + 3 - extra.first[lane] as usize) % 3]
}

/// A triangle without area stands for its neighbours, so that the surface has no gap in signs.
fn mean_of_neighbours(
    bind: &SdfBind,
    clusters: &[Cluster],
    extras: &[ClusterExtra],
    triangle: usize,
) -> P {
    let around = bind.edges_of(triangle).into_iter();
    let around = around
        .flat_map(|e| bind.triangles_of_edge(e))
        .map(|&t| t as usize);
    let sound = around.filter(|t| !extras[t / CLUSTER].flat[t % CLUSTER]);
    unit(sound.fold([0.0; 3], |s, t| {
        let n = [0, 1, 2].map(|k| clusters[t / CLUSTER].fields[NORMAL + k][t % CLUSTER]);
        add_scaled(s, n, 1.0)
    }))
}

fn fill_clusters(
    bind: &SdfBind,
    points: &[P],
    range: Range<usize>,
    (clusters, extras): (&mut [Cluster], &mut [ClusterExtra]),
) {
    let last = bind.triangles.len() - 1;
    for ((c, cluster), extra) in range.zip(clusters).zip(extras) {
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for lane in 0..CLUSTER {
            let triangle = bind.triangles[(c * CLUSTER + lane).min(last)];
            let corners = corners_of(points, triangle);
            for p in corners {
                for k in 0..3 {
                    bounds[0][k] = bounds[0][k].min(p[k]);
                    bounds[1][k] = bounds[1][k].max(p[k]);
                }
            }
            let local = LocalTriangle::new(corners);
            put(cluster, lane, &local);
            extra.first[lane] = local.first;
            extra.angles[lane] = local.angles;
            extra.flat[lane] = local.is_flat();
        }
        extra.bounds = bounds;
    }
}

fn corners_of(points: &[P], triangle: [u32; 3]) -> [P; 3] {
    let corners = triangle.map(|v| points[v as usize]);
    // Beyond that squares are no longer finite.
    let good = |p: &P| p.iter().all(|c| c.abs() <= FAR);
    if corners.iter().all(good) {
        corners
    } else {
        [[FAR; 3]; 3]
    }
}

fn put(cluster: &mut Cluster, lane: usize, t: &LocalTriangle) {
    let groups = [
        (ORIGIN, t.origin),
        (AXIS_X, t.axes[0]),
        (AXIS_Y, t.axes[1]),
        (NORMAL, t.axes[2]),
        (EDGE02, t.edge02),
        (EDGE12, t.edge12),
    ];
    for (at, values) in groups {
        for (k, value) in values.into_iter().enumerate() {
            cluster.fields[at + k][lane] = value;
        }
    }
    cluster.fields[LENGTH][lane] = t.length;
}
