//! Hair of characters: grows strands where joints, boxes, masks or painted attributes say, and writes hair files.

mod styles;
mod tail;

pub use styles::{HAIR_STYLES, HairStyle, hair_style};

use crate::deform::collide::{Distance, FieldCollider};
use crate::deform::sdf::{
    Axis, FieldBuffers, FieldFrame, FieldWords, Resolution, SdfBind, SdfError, SdfSettings,
    SignMethod,
};
use crate::deform::tangent_frames::compute_normals;
use crate::deform::{BindWatch, Par, Stopped};
use crate::geom::names::expected_joint;
use crate::geom::{
    Asset, Attribute, GrowBody, GrowError, GrowMaps, GrowSettings, Mesh, Selection, SelectionError,
    Warning, grow_watched,
};
use crate::io::gltf_write::{add_strands, add_strands_to, converted_glb, packed_glb};
use crate::io::tressfx::write_tfx_asset;
use crate::io::{CachedMesh, IoError, Surface, read_gltf_bytes, write_bytes};
use crate::play::Character;
use std::borrow::Cow;
use std::path::Path;

/// File extensions that [`write_hair`] supports.
pub const HAIR_ENDINGS: [&str; 6] = ["glb", "vrm", "tfx", "ply", "obj", "npz"];

/// Where hair grows on a character, and how.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GrowRequest {
    /// Meshes of the character.
    pub meshes: Selection,
    /// Scalar attribute: density, 0 to 1. It is multiplied with `joints`, `boxes` and `mask`.
    pub density: Option<String>,
    /// Scalar attribute: factor of the length.
    pub length: Option<String>,
    /// Joints: strands grow where the sum of their weights is above 0.5. Empty: everywhere.
    pub joints: Vec<String>,
    /// Boxes in scene space, each by two opposite corners in metres: strands grow inside one of them. Empty: everywhere.
    pub boxes: Vec<[[f32; 3]; 2]>,
    /// Density for each vertex of the selected meshes, 0 to 1, in their order: for example a mask output of a graph.
    pub mask: Option<Vec<f32>>,
    /// Comb direction.
    pub comb: Option<Comb>,
    /// Guide curves, in scene space; see [`GrowMaps::guides`].
    pub guides: Vec<Vec<[f32; 3]>>,
    /// Distance between strands and the character's meshes in metres. Near the root it is smaller: at most a quarter of
    /// the distance from the root along the strand. With `None`, strands may pass through the meshes; in a simulation,
    /// shape forces and collisions then work against each other.
    pub clearance: Option<f32>,
    /// All other settings.
    pub settings: GrowSettings,
}

/// Direction that strands are combed in, in scene axes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Comb {
    /// A vector attribute of the mesh.
    Attribute(String),
    /// One direction for all strands. A length below 1 bends them less.
    Direction([f32; 3]),
}

/// Error of [`grow_hair`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HairError {
    /// The character has no such mesh.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The attribute does not exist or has another type.
    #[error("{asset} has no {what} attribute '{name}'; {}", known_attributes(.known))]
    Attribute {
        /// The character.
        asset: String,
        /// "scalar" or "vector".
        what: &'static str,
        /// The requested attribute.
        name: String,
        /// Attributes of this type.
        known: Vec<String>,
    },
    /// The character has no such joint.
    #[error("{asset} has no joint '{name}'; expected {expected}")]
    Joint {
        /// The character.
        asset: String,
        /// The requested name.
        name: String,
        /// Names that exist.
        expected: String,
    },
    /// The mask has another number of entries than the meshes have vertices.
    #[error(
        "the mask has {found} numbers, expected one for each of the {expected} vertices of the meshes"
    )]
    Mask {
        /// Numbers of the mask.
        found: usize,
        /// Vertices of the selected meshes.
        expected: usize,
    },
    /// No vertex is left where strands may grow.
    #[error("strands grow nowhere: {0}")]
    Nowhere(String),
    /// The meshes have no area, or settings are out of range.
    #[error(transparent)]
    Grow(#[from] GrowError),
    /// The clearance is negative or not finite.
    #[error("found a clearance of {0} m, expected 0 or more")]
    Clearance(f32),
    /// The meshes have no distance field for the clearance.
    #[error("cannot keep strands outside the meshes: {0}")]
    Field(#[from] SdfError),
    /// Stopped by the watch.
    #[error("growing hair was stopped")]
    Stopped(#[from] Stopped),
}

fn known_attributes(names: &[String]) -> String {
    match names {
        [] => "known: none".into(),
        names => format!("known: {}", names.join(", ")),
    }
}

/// Grows strands on a character's meshes at rest. `watch` receives progress and can stop it.
///
/// # Errors
/// [`HairError`]: missing mesh, attribute or joint, a mask that does not fit, nothing to grow on, settings out of range, meshes without a distance
/// field, or stopped.
pub fn grow_hair(
    character: &Character,
    request: &GrowRequest,
    watch: &BindWatch<'_>,
) -> Result<Mesh, HairError> {
    let asset = &character.asset;
    if let Some(clearance) = request.clearance
        && !(clearance >= 0.0 && clearance.is_finite())
    {
        return Err(HairError::Clearance(clearance));
    }
    let mesh = asset.merged(&request.meshes)?;
    let density = density(&mesh, asset, request)?;
    let comb = comb(&mesh, asset, request.comb.as_ref())?;
    let mut maps = GrowMaps::default();
    maps.density = density.as_deref();
    maps.length = match &request.length {
        Some(name) => Some(scalar(&mesh, asset, name)?),
        None => None,
    };
    maps.comb = comb.as_deref();
    maps.guides = &request.guides;
    let normals = match &mesh.normals {
        Some(normals) => normals.clone(),
        None => compute_normals(&mesh),
    };
    let field = match request.clearance {
        Some(_) => {
            let body = asset.merged(&Selection::All)?;
            let field = watch.part(0.0, MEASURING, |watch| field_of(&body, &watch))?;
            Some(field)
        }
        None => None,
    };
    let shape = field
        .as_ref()
        .and_then(|f| FieldCollider::new(FieldWords::Grid(f.view())));
    let surface = shape.map(|shape| move |point| shape.distance_and_gradient(point));
    if let (Some(surface), Some(clearance)) = (&surface, request.clearance) {
        maps.body = Some(GrowBody::new(surface, clearance));
    }
    let hair = watch.part(MEASURING, 1.0, |watch| {
        let goes_on = |done| watch.step(done).is_ok();
        grow_watched(&mesh, &normals, &maps, &request.settings, &goes_on)
    })?;
    Ok(hair)
}

/// A scalar attribute of the meshes.
fn scalar<'a>(mesh: &'a Mesh, asset: &Asset, name: &str) -> Result<&'a [f32], HairError> {
    match mesh.attributes.get(name) {
        Some(Attribute::Scalar(values)) => Ok(values),
        _ => Err(missing(mesh, asset, "scalar", name)),
    }
}

fn missing(mesh: &Mesh, asset: &Asset, what: &'static str, name: &str) -> HairError {
    let fits = |a: &Attribute| match a {
        Attribute::Scalar(_) => what == "scalar",
        Attribute::Vec3(_) => what == "vector",
        _ => false,
    };
    let known = mesh.attributes.iter().filter(|(_, a)| fits(a));
    HairError::Attribute {
        asset: asset.name.clone(),
        what,
        name: name.to_owned(),
        known: known.map(|(n, _)| n.clone()).collect(),
    }
}

/// The comb direction of each vertex.
fn comb<'a>(
    mesh: &'a Mesh,
    asset: &Asset,
    comb: Option<&Comb>,
) -> Result<Option<Cow<'a, [[f32; 3]]>>, HairError> {
    Ok(match comb {
        None => None,
        Some(Comb::Direction(d)) => Some(Cow::Owned(vec![*d; mesh.vertex_count()])),
        Some(Comb::Attribute(name)) => match mesh.attributes.get(name) {
            Some(Attribute::Vec3(values)) => Some(Cow::Borrowed(values.as_slice())),
            _ => return Err(missing(mesh, asset, "vector", name)),
        },
    })
}

/// The density of each vertex: the product of all that limit it; `None` if nothing does.
fn density(
    mesh: &Mesh,
    asset: &Asset,
    request: &GrowRequest,
) -> Result<Option<Vec<f32>>, HairError> {
    let mut factors: Vec<(String, Vec<f32>)> = Vec::new();
    if let Some(name) = &request.density {
        let painted = scalar(mesh, asset, name)?.to_vec();
        factors.push((format!("the attribute '{name}' is 0"), painted));
    }
    if !request.joints.is_empty() {
        let why = format!(
            "no vertex has more than half of its weight on {}",
            request.joints.join(", ")
        );
        factors.push((why, of_joints(mesh, asset, &request.joints)?));
    }
    if !request.boxes.is_empty() {
        let inside = |p: &[f32; 3]| {
            let holds = |b: &[[f32; 3]; 2]| {
                (0..3).all(|c| p[c] >= b[0][c].min(b[1][c]) && p[c] <= b[0][c].max(b[1][c]))
            };
            f32::from(u8::from(request.boxes.iter().any(holds)))
        };
        let inside = mesh.positions.iter().map(inside).collect();
        factors.push(("no vertex is in a box".into(), inside));
    }
    if let Some(mask) = &request.mask {
        let (found, expected) = (mask.len(), mesh.vertex_count());
        if found != expected {
            return Err(HairError::Mask { found, expected });
        }
        factors.push(("the mask is 0".into(), mask.clone()));
    }
    let Some(mut out) = factors.first().map(|f| f.1.clone()) else {
        return Ok(None);
    };
    for (_, factor) in &factors[1..] {
        out.iter_mut().zip(factor).for_each(|(d, f)| *d *= f);
    }
    if out.iter().all(|d| *d <= 0.0) {
        let is_empty = |f: &&(String, Vec<f32>)| f.1.iter().all(|d| *d <= 0.0);
        let why = factors.iter().find(is_empty).map(|f| f.0.clone());
        let why =
            why.unwrap_or_else(|| "the joints, boxes and masks have no vertex in common".into());
        return Err(HairError::Nowhere(why));
    }
    Ok(Some(out))
}

/// 1 for vertices with more than half of their weight on the joints, otherwise 0.
fn of_joints(mesh: &Mesh, asset: &Asset, names: &[String]) -> Result<Vec<f32>, HairError> {
    let rig = &asset.rig;
    let known = || (0..rig.joints().len()).map(|j| rig.joint_name(j));
    let mut joints = Vec::new();
    for name in names {
        let same = known().zip(0_u32..).filter(|(n, _)| n == name);
        let before = joints.len();
        joints.extend(same.map(|(_, j)| j));
        if joints.len() == before {
            return Err(HairError::Joint {
                asset: asset.name.clone(),
                name: name.clone(),
                expected: expected_joint(name, known()),
            });
        }
    }
    let Some(influences) = &mesh.influences else {
        return Ok(vec![0.0; mesh.vertex_count()]);
    };
    let weight = |v: usize| -> f32 {
        let own = influences.row(v).filter(|i| joints.contains(&i.0));
        own.map(|i| i.1).sum()
    };
    let is_of_joints = |v| f32::from(u8::from(weight(v) > 0.5));
    Ok((0..mesh.vertex_count()).map(is_of_joints).collect())
}

/// Approximate share of the time for the distance field.
const MEASURING: f64 = 0.4;

/// Cells of the distance field along the longest side of the character.
const CELLS: u32 = 192;

/// The distance field of all meshes at rest.
fn field_of(body: &Mesh, watch: &BindWatch<'_>) -> Result<FieldBuffers, HairError> {
    let frame = FieldFrame::default();
    let settings = |sign| SdfSettings {
        resolution: Resolution::Cells {
            count: CELLS,
            along: Axis::Longest,
        },
        sign,
        ..SdfSettings::default()
    };
    let new = |sign| {
        watch.part(0.0, 0.5, |watch| {
            let (topology, rest) = (&body.topology, &body.positions);
            SdfBind::new_watched(topology, rest, &frame, settings(sign), Par::Rayon, &watch)
        })
    };
    let mut field = new(SignMethod::Pseudonormals)?;
    if !field.report().is_closed() {
        field = new(SignMethod::WindingNumber)?;
    }
    watch.step(0.5)?;
    let mut buffers = FieldBuffers::new(&field);
    buffers.build(&field, &body.positions, &frame, Par::Rayon);
    Ok(buffers)
}

/// Writes strands of a character. The file extension chooses the format:
///
/// | extension | content |
/// |---|---|
/// | `.glb` | the character, as [`converted_glb`] writes it, with the strands as lines that follow its joints |
/// | `.vrm` | the same; the character must be a VRM avatar |
/// | `.tfx` | TressFX strands, and a `.tfxbone` file with the joints |
/// | `.ply`, `.obj` | positions and edges |
/// | `.npz` | arrays |
///
/// Gives warnings for data that is not written.
///
/// # Errors
/// [`IoError`]; [`IoError::Unsupported`] for other extensions.
pub fn write_hair(
    path: &Path,
    character: &Character,
    hair: &Mesh,
) -> Result<Vec<Warning>, IoError> {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "tfx" => write_tfx_asset(path, hair, &character.asset.rig),
        "ply" => {
            crate::io::ply::write_ply(path, &[Surface::from(hair)], Default::default())?;
            Ok(Vec::new())
        }
        "obj" => {
            crate::io::obj::write_obj(path, &[Surface::from(hair)])?;
            Ok(Vec::new())
        }
        "npz" => {
            crate::io::write_npz(path, &CachedMesh::still(hair), &[0.0], &[])?;
            Ok(Vec::new())
        }
        "vrm" if !character.source.as_ref().is_some_and(|s| s.is_vrm()) => {
            Err(IoError::Unsupported {
                path: path.to_owned(),
                location: "file name".into(),
                feature: format!(
                    "a VRM avatar of {}, which has no VRM data",
                    character.path.display()
                ),
                help: "use .glb".into(),
            })
        }
        "glb" | "vrm" => write_with_character(path, character, hair),
        _ => Err(IoError::Unsupported {
            path: path.to_owned(),
            location: "file name".into(),
            feature: format!("the file extension '.{ending}'"),
            help: format!("use .{}", HAIR_ENDINGS.join(", .")),
        }),
    }
}

/// Writes a character with its hair. A GLB file stays as it is, except for the strands.
fn write_with_character(
    path: &Path,
    character: &Character,
    hair: &Mesh,
) -> Result<Vec<Warning>, IoError> {
    let (from, rig) = (&character.path, &character.asset.rig);
    let Some(source) = character.source.as_ref().filter(|s| s.is_document()) else {
        let mut asset = character.asset.clone();
        asset.strands.push(hair.clone());
        let (bytes, warnings) = converted_glb(from, &asset, character.source.as_ref())?;
        write_bytes(path, &bytes)?;
        return Ok(warnings);
    };
    let is_glb =
        |e: &std::ffi::OsStr| e.eq_ignore_ascii_case("glb") || e.eq_ignore_ascii_case("vrm");
    if from.extension().is_some_and(is_glb) {
        add_strands(from, source, rig, hair, path)?;
        return Ok(Vec::new());
    }
    let (bytes, warnings) = packed_glb(source)?;
    let packed = read_gltf_bytes(bytes.clone(), None, "packed.glb")?;
    add_strands_to(&bytes, from, &packed.document, rig, hair, path)?;
    Ok(warnings)
}
