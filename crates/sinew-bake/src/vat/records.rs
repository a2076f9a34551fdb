//! What the steps leave for each other.

use crate::vat::maker::error::ErrorSum;
use crate::vat::maker::matching::SurfaceDistance;
use crate::vat::maker::middles::Quad;
use crate::vat::maker::prepare::PrepareReport;
use crate::vat::maker::rigid::PiecePose;
use crate::vat::maker::tearing::KeptEdges;
use crate::work::Kind;
use serde::{Deserialize, Serialize};
use sinew_geom::{Attribute, Mesh, MeshPart, Topology, index32};
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::Extent;
use std::collections::BTreeMap;

/// Prepared frames, and in front of each what was seen of it.
pub(crate) const FRAMES: Kind = Kind("frames", "frame");
/// What all frames are simplified by, where triangles stay the same: one record for all of them.
pub(crate) const COLLAPSES: Kind = Kind("frames", "collapse");
/// How a frame relates to the next one.
pub(crate) const MATCHES: Kind = Kind("frames", "match");
/// What the slots show.
pub(crate) const SLOTS: Kind = Kind("slots", "slots");
/// Vertices of the carrier of cloth that tears: one for each corner of the first frame's triangles.
pub(crate) const CARRIERS: Kind = Kind("slots", "carrier");
/// How pieces lie, quaternions next to those of the frame before.
pub(crate) const POSES: Kind = Kind("slots", "poses");
/// Numbers of points.
pub(crate) const NUMBERS: Kind = Kind("slots", "numbers");
/// Which point each slot shows.
pub(crate) const PARTICLES: Kind = Kind("slots", "particles");
/// Texels: bytes of one texture after the other. In their head that they are done, and how far they are from the frame.
pub(crate) const TEXELS: Kind = Kind("texels", "texels");

/// File of the plan in the work folder.
pub(super) const PLAN_FILE: &str = "plan.json";

/// All of them.
pub(crate) const KINDS: [Kind; 9] = [
    FRAMES, COLLAPSES, MATCHES, SLOTS, CARRIERS, POSES, NUMBERS, PARTICLES, TEXELS,
];

/// A mesh without joints and materials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshRecord {
    vertices: u32,
    triangles: Vec<[u32; 3]>,
    positions: Vec<[f32; 3]>,
    tangents: Option<Vec<[f32; 4]>>,
    uvs: Vec<Vec<[f32; 2]>>,
    colors: Vec<Vec<[f32; 4]>>,
    attributes: BTreeMap<String, AttributeRecord>,
    /// See [`Mesh::points`].
    points: Vec<u32>,
    /// Of each run of triangles, where they are not all of one: how many they are, and their material.
    materials: Vec<(u32, Option<u32>)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum AttributeRecord {
    Scalar(Vec<f32>),
    Vec2(Vec<[f32; 2]>),
    Vec3(Vec<[f32; 3]>),
    Vec4(Vec<[f32; 4]>),
}

impl From<&Mesh> for MeshRecord {
    fn from(mesh: &Mesh) -> Self {
        let attribute = |a: &Attribute| match a {
            Attribute::Scalar(v) => AttributeRecord::Scalar(v.clone()),
            Attribute::Vec2(v) => AttributeRecord::Vec2(v.clone()),
            Attribute::Vec3(v) => AttributeRecord::Vec3(v.clone()),
            Attribute::Vec4(v) => AttributeRecord::Vec4(v.clone()),
        };
        let attributes = mesh.attributes.iter();
        Self {
            vertices: index32(mesh.positions.len()),
            triangles: mesh.topology.triangles().to_vec(),
            positions: mesh.positions.clone(),
            tangents: mesh.tangents.clone(),
            uvs: mesh.uvs.clone(),
            colors: mesh.colors.clone(),
            attributes: attributes.map(|(n, a)| (n.clone(), attribute(a))).collect(),
            points: mesh.points.clone(),
            materials: material_runs(mesh),
        }
    }
}

impl From<MeshRecord> for Mesh {
    fn from(record: MeshRecord) -> Self {
        let attribute = |a| match a {
            AttributeRecord::Scalar(v) => Attribute::Scalar(v),
            AttributeRecord::Vec2(v) => Attribute::Vec2(v),
            AttributeRecord::Vec3(v) => Attribute::Vec3(v),
            AttributeRecord::Vec4(v) => Attribute::Vec4(v),
        };
        // Written from a topology, so that there is one.
        let topology = Topology::new(record.vertices, record.triangles).unwrap_or_default();
        let mut mesh = Self::new("", topology, record.positions);
        mesh.tangents = record.tangents;
        mesh.uvs = record.uvs;
        mesh.colors = record.colors;
        let attributes = record.attributes.into_iter();
        mesh.attributes = attributes.map(|(n, a)| (n, attribute(a))).collect();
        mesh.points = record.points;
        set_material_runs(&mut mesh, &record.materials);
        mesh
    }
}

/// The materials of a mesh's triangles, run behind run; nothing where its parts do not say that of all triangles, or have no materials.
fn material_runs(mesh: &Mesh) -> Vec<(u32, Option<u32>)> {
    let (mut out, mut end): (Vec<(u32, Option<u32>)>, usize) = (Vec::new(), 0);
    for part in &mesh.parts {
        if part.triangles.start != end {
            return Vec::new();
        }
        end = part.triangles.end;
        let (count, material) = (index32(part.triangles.len()), part.material.map(index32));
        match out.last_mut() {
            Some(last) if last.1 == material => last.0 += count,
            _ => out.push((count, material)),
        }
    }
    out.retain(|run| run.0 > 0);
    let says_something = out.iter().any(|run| run.1.is_some());
    match says_something && end == mesh.topology.triangles().len() {
        true => out,
        false => Vec::new(),
    }
}

/// Gives a mesh one part for each run, over all its vertices.
fn set_material_runs(mesh: &mut Mesh, runs: &[(u32, Option<u32>)]) {
    let mut start = 0;
    for (count, material) in runs {
        let end = start + *count as usize;
        mesh.parts.push(MeshPart {
            name: mesh.name.clone(),
            source_mesh: 0,
            material: material.map(|m| m as usize),
            vertices: 0..mesh.positions.len(),
            triangles: start..end,
            flat_shaded: false,
        });
        start = end;
    }
}

/// Gives a carrier the materials of the frame that it was made from, where it has that one's triangles.
pub(crate) fn keep_materials(carrier: &mut Mesh, first: &Mesh) {
    let same = carrier.topology.triangles().len() == first.topology.triangles().len();
    if same {
        set_material_runs(carrier, &material_runs(first));
    }
}

/// What was seen of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScanRecord {
    pub(crate) triangles: u32,
    pub(crate) vertices: u32,
    /// Whether the triangles are those of the first frame, or cut the same surface in another way.
    pub(crate) is_first_surface: bool,
    /// What the frame cuts into other triangles, where it has the first one's surface or may be one of cloth that tears.
    pub(crate) retriangulated: Option<RetriangulatedScan>,
    /// Which of the first frame's edges are still joined, where the triangles are others of the same number and may be those of cloth that tears.
    pub(crate) edges: Option<KeptEdges>,
    /// What the frame has of the quantities that may be baked; nothing where it has no triangle.
    pub(crate) extents: Vec<(Quantity, Extent)>,
    /// Whether triangles have the first frame's points of the file at their corners, but not its vertices: normals or texture coordinates split
    /// them otherwise.
    pub(crate) keeps_points: bool,
    /// How far reading moved vertices at most, metres: what single precision lost of the file's numbers.
    pub(crate) read_loss: f64,
    /// How far vertices are from the first frame, where both have as many; corners of cloth that tears.
    pub(crate) offset: Option<Extent>,
    /// What the frame has of the quantities of a bake of points, where it may be one; nothing where it has no point.
    pub(crate) points: Vec<(Quantity, Extent)>,
    /// How its pieces lie, where the bake may be one of pieces and the triangles are those of the first frame.
    pub(crate) pieces: Option<PieceScan>,
    /// How many unique points it has, where these may have texels.
    pub(crate) unique_points: Option<u32>,
    pub(crate) report: PrepareReport,
    /// How far simplification moved the surface, metres, both ways; nothing where it left the frame as it is.
    pub(crate) simplified: Option<SurfaceDistance>,
    /// Of which pieces simplification left nothing; nothing where it left the frame as it is.
    pub(crate) lost_pieces: Option<LostPieces>,
    /// Code and message of what the reader had to say.
    pub(crate) warnings: Vec<(String, String)>,
}

/// Pieces before simplification, and those of which nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LostPieces {
    pub(crate) before: u32,
    pub(crate) lost: u32,
}

/// How the pieces of a frame lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PieceScan {
    /// Empty where a vertex is farther from where its piece puts it than is allowed.
    pub(crate) poses: Vec<PiecePose>,
    pub(crate) count: u32,
    /// The piece with the largest residual.
    pub(crate) piece: u32,
    /// Distances of vertices from where their pieces put them, metres.
    pub(crate) residual: ErrorSum,
}

/// Texels of a frame are done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TexelRecord {
    /// Hash of their bytes.
    pub(crate) hash: String,
    /// How far they are from the frame.
    pub(crate) errors: FrameErrors,
}

/// What a bake loses.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct FrameErrors {
    /// Distances of corners, metres.
    pub position: ErrorSum,
    /// Angles between normals, radians.
    pub normal: ErrorSum,
    /// Of ends of frames that blends go to: distances of corners from where they land on the next frame's surface, metres. No samples where there are none.
    pub end_position: ErrorSum,
    /// Angles between normals there and those that the next frame has where they land, radians.
    pub end_normal: ErrorSum,
}

impl FrameErrors {
    /// Takes those of a later frame.
    pub(crate) fn join(&mut self, other: &Self) {
        self.position.join(&other.position);
        self.normal.join(&other.normal);
        self.end_position.join(&other.end_position);
        self.end_normal.join(&other.end_normal);
    }
}

/// What a frame cuts otherwise than the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RetriangulatedScan {
    /// Quads cut along the other diagonal, and how far that is from the first frame's, metres.
    pub(crate) quads: Vec<(Quad, f64)>,
    /// Other triangles that the first frame does not have.
    pub(crate) others: u32,
    /// How far these are from what the first frame has in their place, metres.
    pub(crate) off: f64,
}

impl RetriangulatedScan {
    /// How far vertices are from the first frame, if those in the middles of quads count, too. They go from the middle of the one diagonal in the first frame
    /// to that of the other one now; where a frame cuts as the first one does, the middle goes with its ends.
    pub(crate) fn with_middles(&self, mut out: Extent, first: &Mesh, mesh: &Mesh) -> Extent {
        for (quad, _) in &self.quads {
            let [a, b, c, d] = quad.around.map(|v| v as usize);
            out.take([0, 1, 2].map(|k| {
                let now = f32::midpoint(mesh.positions[b][k], mesh.positions[d][k]);
                now - f32::midpoint(first.positions[a][k], first.positions[c][k])
            }));
        }
        out
    }
}
