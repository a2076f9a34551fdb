//! Control points that follow the vertices of a mesh.
//!
//! Each vertex of the mesh is matched with the control point at its rest position. Several vertices may be one control point (copies at
//! hard edges); the first one moves it. Control points inside the box may be without a vertex: their displacement is the mean of the three
//! linear interpolations between opposite faces, as for Blender's lattices with the option "Outside".

use super::bind::{LatticeBind, LatticeBindError};
use sinew_geom::{Affine, Real, Vec3};

/// How far from a control point, in cells, a vertex may be.
const REACH: f64 = 0.05;

/// Which vertices move the control points.
#[derive(Clone, Debug)]
pub(super) struct CageMesh {
    /// One offset more than control points, into `entries`.
    pub(super) offsets: Vec<u32>,
    /// Vertices and their factors.
    pub(super) entries: Vec<(u32, f32)>,
    /// Rest positions of all vertices, metres, scene space.
    pub(super) rest: Vec<[f32; 3]>,
    /// Whether the mesh is where it is in the scene. Otherwise it stands in the bind pose and the box carries it along.
    pub(super) in_scene: bool,
    /// From the scene to the space of the box, in setup.
    box_from_rest: Affine<f64>,
}

impl CageMesh {
    /// How the box has moved since setup.
    pub(super) fn motion(&self, box_transform: &Affine<f64>) -> Affine<f64> {
        *box_transform * self.box_from_rest
    }

    /// Vertices and factors of a control point.
    pub(super) fn entries_of(&self, point: usize) -> &[(u32, f32)] {
        &self.entries[self.offsets[point] as usize..self.offsets[point + 1] as usize]
    }

    /// Writes the displacements of all control points, metres in scene space. Does not allocate.
    pub(super) fn displacements(
        &self,
        box_transform: &Affine<f64>,
        positions: &[[f32; 3]],
        out: &mut [[f64; 3]],
    ) {
        let motion = self.motion(box_transform);
        let of = |&(vertex, factor): &(u32, f32)| {
            let now = f64::vec3(positions[vertex as usize]);
            let rest = f64::vec3(self.rest[vertex as usize]);
            let moved = match self.in_scene {
                true => now - motion.point(rest),
                false => motion.linear * (now - rest),
            };
            moved * f64::from(factor)
        };
        for (point, out) in out.iter_mut().enumerate() {
            let sum: Vec3<f64> = self.entries_of(point).iter().map(of).sum();
            *out = sum.into();
        }
    }
}

impl LatticeBind {
    /// Lets the vertices at these rest positions (scene space) move the control points. The box becomes the bounding box of the positions
    /// along the axes of `box_transform`; along an axis with one control point, it keeps its size.
    ///
    /// # Errors
    /// [`LatticeBindError`]: a vertex that is at no control point, an outer control point without a vertex, a flat box.
    pub(crate) fn follow_cage(
        mut self,
        positions: &[[f32; 3]],
        box_transform: &Affine<f64>,
        in_scene: bool,
    ) -> Result<Self, LatticeBindError> {
        let inverse = box_transform.inverse().filter(Affine::is_finite);
        let box_from_rest = inverse.ok_or(LatticeBindError::SingularTransform {
            determinant: box_transform.linear.determinant(),
        })?;
        let local: Vec<Vec3<f64>> = positions
            .iter()
            .map(|p| box_from_rest.point(f64::vec3(*p)))
            .collect();
        self.fit_box(&local)?;
        let vertex_of = self.match_vertices(&local, positions)?;
        let mut cage = CageMesh {
            offsets: vec![0],
            entries: Vec::new(),
            rest: positions.to_vec(),
            in_scene,
            box_from_rest,
        };
        for point in 0..self.point_count() {
            match vertex_of[point] {
                Some(vertex) => cage.entries.push((vertex, 1.0)),
                None => self.between_faces(point, &vertex_of, box_transform, &mut cage.entries)?,
            }
            cage.offsets.push(sinew_geom::index32(cage.entries.len()));
        }
        // Control points then come as displacements in the scene.
        self.config.points_in_world = true;
        self.config.points_are_offsets = true;
        self.cage = Some(cage);
        Ok(self)
    }

    /// Makes the box the bounding box of positions in its own space.
    fn fit_box(&mut self, local: &[Vec3<f64>]) -> Result<(), LatticeBindError> {
        let first = local.first().copied().unwrap_or_default();
        let low = local.iter().fold(first, |low, p| low.inf(p));
        let high = local.iter().fold(first, |high, p| high.sup(p));
        let mut corner = low;
        for a in 0..3 {
            if self.resolution[a] > 1 {
                self.config.size[a] = high[a] - low[a];
            } else {
                corner[a] = 0.5 * (low[a] + high[a] - self.config.size[a]);
            }
        }
        let size = self.config.size;
        let thinnest = 1e-6 * size.into_iter().fold(0.0, f64::max);
        if size.iter().any(|s| !s.is_finite() || *s <= thinnest) {
            return Err(LatticeBindError::Size { found: size });
        }
        self.cage_corner = Some(corner);
        Ok(())
    }

    /// The first vertex at each control point.
    fn match_vertices(
        &self,
        local: &[Vec3<f64>],
        positions: &[[f32; 3]],
    ) -> Result<Vec<Option<u32>>, LatticeBindError> {
        let mut vertex_of = vec![None; self.point_count()];
        let low = self.low_corner();
        for (vertex, p) in local.iter().enumerate() {
            let mut index = [0; 3];
            for a in 0..3 {
                let last = self.resolution[a].saturating_sub(1) as f64;
                let at = (p[a] - low[a]) / self.config.size[a];
                // One control point sits in the middle.
                let cells = if last > 0.0 { at * last } else { at - 0.5 };
                let nearest = cells.round().clamp(0.0, last);
                let off = (cells - nearest).abs();
                if off.is_nan() || off > REACH {
                    return Err(LatticeBindError::CageVertex {
                        vertex,
                        position: positions[vertex],
                        axis: ['x', 'y', 'z'][a],
                        cells,
                        resolution: self.resolution,
                    });
                }
                index[a] = nearest as usize;
            }
            vertex_of[self.point_at(index)].get_or_insert(sinew_geom::index32(vertex));
        }
        Ok(vertex_of)
    }

    fn point_at(&self, [i, j, k]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.resolution;
        i + nx * (j + ny * k)
    }

    /// Sources of an inner control point: the outer ones at both ends of its three rows.
    fn between_faces(
        &self,
        point: usize,
        vertex_of: &[Option<u32>],
        box_transform: &Affine<f64>,
        entries: &mut Vec<(u32, f32)>,
    ) -> Result<(), LatticeBindError> {
        let [nx, ny, _] = self.resolution;
        let index = [point % nx, point / nx % ny, point / (nx * ny)];
        for a in 0..3 {
            let last = self.resolution[a] - 1;
            let along = index[a] as f64 / last.max(1) as f64;
            for (end, factor) in [(0, 1.0 - along), (last, along)] {
                let mut outer = index;
                outer[a] = end;
                let found = vertex_of[self.point_at(outer)];
                let is_outer = (0..3).any(|a| index[a] == 0 || index[a] + 1 == self.resolution[a]);
                let Some(vertex) = found.filter(|_| !is_outer) else {
                    let missing = if is_outer { index } else { outer };
                    let rest = super::cage::rest_point(self, missing);
                    return Err(LatticeBindError::CagePoint {
                        index: missing,
                        position: f64::array3(box_transform.point(rest)),
                    });
                };
                entries.push((vertex, (factor / 3.0) as f32));
            }
        }
        Ok(())
    }
}
