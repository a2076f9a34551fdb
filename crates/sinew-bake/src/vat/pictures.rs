//! What a bake shows beside what it was made from, drawn on the processor: the same picture on every machine.

use super::job::mesh_of;
use super::mode::SeenPoint;
use super::plan::{Planned, VatPlan};
use super::records::TEXELS;
use super::textures::bytes_of;
use crate::BakeError;
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::sprites::CORNER_UVS;
use rayon::prelude::*;
use sinew_geom::vec3::length;
use sinew_geom::{Bounds, Image, Mesh};
use sinew_picture::{Background, Camera, MeshPicture, Picture};
use sinew_vat::lookup::{LOOKUP_BYTES, point_of_texel};
use sinew_vat::quantity::Quantity;

/// Pixels of a side.
const SIDE: usize = 300;

/// A frame as it was and as it is decoded.
pub(crate) struct Pair {
    pub(crate) frame: usize,
    pub(crate) source: Image,
    pub(crate) baked: Image,
}

/// What a bake shows, decoded from its texels.
pub(crate) trait ShownFrames: Sync {
    /// A frame as it was and as it is decoded.
    fn both(&self, frame: usize) -> Result<[Corners; 2], BakeError>;

    /// Where a vertex of the layout is in a frame as players see it, metres; `None` where no texture says so.
    fn place_of(&self, frame: usize, vertex: usize) -> Result<Option<[f32; 3]>, BakeError>;

    /// The piece of a vertex of the bake, where it is one of pieces.
    fn piece_of(&self, _vertex: usize) -> Option<usize> {
        None
    }
}

/// Draws some frames.
pub(crate) fn pairs(
    shown: &dyn ShownFrames,
    frames: &[usize],
    bounds: &Bounds,
) -> Result<Vec<Pair>, BakeError> {
    let draw = |&frame: &usize| {
        let [source, baked] = shown.both(frame)?;
        Ok(Pair {
            frame,
            source: picture(&source, bounds)?,
            baked: picture(&baked, bounds)?,
        })
    };
    frames.par_iter().map(draw).collect()
}

/// Of bakes with one texel a vertex.
pub(crate) struct ShownVertices<'a> {
    pub(crate) of: Planned<'a>,
    /// Its vertices are in the order of the texels.
    pub(crate) carrier: &'a Mesh,
}

impl ShownFrames for ShownVertices<'_> {
    fn both(&self, frame: usize) -> Result<[Corners; 2], BakeError> {
        let texels = Texels::read(self.of, self.carrier, frame)?;
        let (crease, has_colors) = (self.of.job.settings().crease(), texels.colors().is_some());
        let source = source_corners(&mesh_of(self.of.job, frame)?, crease, has_colors);
        Ok([source, texels.corners()])
    }

    fn place_of(&self, frame: usize, vertex: usize) -> Result<Option<[f32; 3]>, BakeError> {
        let texels = Texels::read(self.of, self.carrier, frame)?;
        Ok(texels.places().map(|texture| texels.place(texture, vertex)))
    }
}

/// A square for each point, towards the camera. Normals lean outwards at the corners, so that squares that overlap can be told apart.
pub(crate) fn squares(points: &[SeenPoint], camera: &Camera) -> Corners {
    let (right, up, towards) = (camera.right(), camera.up(), camera.backward());
    let mut out = Corners::default();
    for point in points {
        for corner in [0, 1, 2, 0, 2, 3] {
            let [u, v] = CORNER_UVS[corner];
            let (x, y) = (u - 0.5, 0.5 - v);
            let along = |k: usize| right[k] * x + up[k] * y;
            let place = |k| point.place[k] + along(k) * point.width;
            out.places.push(std::array::from_fn(place));
            let normal = std::array::from_fn(|k| towards[k] + along(k));
            out.normals.push(normal.map(|c: f32| c / length(normal)));
            out.colors.extend(point.color);
        }
    }
    out
}

/// Corners of triangles, three each, with what is seen of them.
#[derive(Default)]
pub(crate) struct Corners {
    pub(crate) places: Vec<[f32; 3]>,
    pub(crate) normals: Vec<[f32; 3]>,
    pub(crate) colors: Vec<[f32; 4]>,
}

pub(crate) fn source_corners(mesh: &Mesh, crease: f32, has_colors: bool) -> Corners {
    let mut out = Corners::default();
    let normals = corner_normals(&mesh.topology, &mesh.positions, crease);
    let colors = mesh.colors.first().filter(|_| has_colors);
    for (triangle, normals) in mesh.topology.triangles().iter().zip(normals) {
        for (vertex, normal) in triangle.iter().zip(normals) {
            out.places.push(mesh.positions[*vertex as usize]);
            out.normals.push(normal);
            out.colors.extend(colors.map(|c| c[*vertex as usize]));
        }
    }
    out
}

/// The texels of one frame.
struct Texels<'a> {
    plan: &'a VatPlan,
    carrier: &'a Mesh,
    bytes: Vec<u8>,
}

impl<'a> Texels<'a> {
    fn read(of: Planned<'a>, carrier: &'a Mesh, frame: usize) -> Result<Self, BakeError> {
        let bytes = sinew_io::read_bytes(&of.job.work.path(TEXELS, frame))?;
        Ok(Self {
            plan: of.plan,
            carrier,
            bytes,
        })
    }

    fn find(&self, wanted: impl Fn(&Quantity) -> bool) -> Option<usize> {
        let mut textures = self.plan.textures.iter();
        textures.position(|t| wanted(&t.quantity))
    }

    fn places(&self) -> Option<usize> {
        self.find(Quantity::is_position)
    }

    fn colors(&self) -> Option<usize> {
        self.find(|q| *q == Quantity::Color(0))
    }

    /// Numbers of a vertex, as players compute them.
    fn value<const N: usize>(&self, texture: usize, vertex: usize) -> [f32; N] {
        let spec = &self.plan.textures[texture];
        let begin = bytes_of(self.plan, texture);
        let at = usize::try_from(begin).unwrap_or(usize::MAX);
        let at = at.saturating_add(self.point(vertex) * spec.vertex_bytes());
        let bytes = self
            .bytes
            .get(at..at.saturating_add(spec.vertex_bytes()))
            .unwrap_or(&[]);
        std::array::from_fn(|k| spec.decode(bytes, k))
    }

    /// What has the texel of a vertex: itself, or the point that the lookup behind the textures says.
    fn point(&self, vertex: usize) -> usize {
        if self.plan.points().is_none() {
            return vertex;
        }
        let begin = bytes_of(self.plan, self.plan.textures.len());
        let at = usize::try_from(begin).unwrap_or(usize::MAX);
        let at = at.saturating_add(vertex * LOOKUP_BYTES);
        point_of_texel(self.bytes.get(at..).unwrap_or(&[])) as usize
    }

    fn place(&self, texture: usize, vertex: usize) -> [f32; 3] {
        let seen = self
            .plan
            .space
            .position_in_gltf(self.value(texture, vertex));
        match self.plan.textures[texture].quantity {
            Quantity::Offset => {
                let rest = self.carrier.positions.get(vertex).copied();
                let rest = rest.unwrap_or_default();
                std::array::from_fn(|k| rest[k] + seen[k])
            }
            _ => seen,
        }
    }

    fn corners(&self) -> Corners {
        let mut out = Corners::default();
        let Some(places) = self.places() else {
            return out;
        };
        let normals = self.find(|q| *q == Quantity::Normal);
        for triangle in self.carrier.topology.triangles() {
            let vertices = triangle.map(|v| v as usize);
            let corners = vertices.map(|v| self.place(places, v));
            // Those that are not there in this frame.
            if corners[0] == corners[1] && corners[1] == corners[2] {
                continue;
            }
            out.places.extend(corners);
            for vertex in vertices {
                let in_gltf = |t| self.plan.space.direction_in_gltf(self.value(t, vertex));
                out.normals.extend(normals.map(in_gltf));
                out.colors
                    .extend(self.colors().map(|t| self.value(t, vertex)));
            }
        }
        out
    }
}

fn picture(corners: &Corners, bounds: &Bounds) -> Result<Image, BakeError> {
    draw(corners, &camera_of(bounds), SIDE)
}

/// Sees all of a box, from the front, the side and above.
pub(crate) fn camera_of((low, high): &Bounds) -> Camera {
    Camera::framing(&Camera::corners(*low, *high), 0.6, 0.35, 1.0)
}

/// Draws loose triangles, flat.
pub(crate) fn flat(
    triangles: &[[[f32; 3]; 3]],
    camera: &Camera,
    side: usize,
) -> Result<Image, BakeError> {
    let places = triangles.iter().flatten().copied().collect();
    let corners = Corners {
        places,
        ..Corners::default()
    };
    draw(&corners, camera, side)
}

fn draw(corners: &Corners, camera: &Camera, side: usize) -> Result<Image, BakeError> {
    let count = corners.places.len();
    let triangles: Vec<[u32; 3]> = (0..count as u32 / 3)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    let mut picture = Picture::with_background(side, side, Background::STUDIO);
    let mut mesh = MeshPicture::new(&corners.places, &triangles);
    mesh.normals = (corners.normals.len() == count).then_some(&corners.normals[..]);
    mesh.colors = (corners.colors.len() == count).then_some(&corners.colors[..]);
    picture.draw_mesh(&mesh, camera)?;
    Ok(picture.resolve())
}
