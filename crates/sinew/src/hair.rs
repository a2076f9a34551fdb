//! Hair of characters: grows strands from painted attributes, and writes hair files.

use crate::deform::collide::{
    CollideJob, CollideScratch, CollideSettings, Collider, Contact, FieldCollider,
};
use crate::deform::sdf::{
    Axis, FieldBuffers, FieldFrame, FieldWords, Resolution, SdfBind, SdfError, SdfSettings,
    SignMethod,
};
use crate::deform::tangent_frames::compute_normals;
use crate::deform::{BindWatch, Par, Stopped};
use crate::geom::{
    Attribute, GrowError, GrowMaps, GrowSettings, Mesh, Selection, SelectionError, Warning,
    grow_watched,
};
use crate::io::gltf_write::{GlbOptions, add_strands, write_glb};
use crate::io::tressfx::write_tfx_asset;
use crate::io::{CachedMesh, FrameCache, IoError, Surface};
use crate::play::Character;
use std::path::Path;

/// File extensions that [`write_hair`] supports.
pub const HAIR_ENDINGS: [&str; 5] = ["glb", "tfx", "ply", "obj", "npz"];

/// Meshes and vertex attributes to grow hair from.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GrowRequest {
    /// Meshes of the character.
    pub meshes: Selection,
    /// Scalar attribute: density, 0 to 1.
    pub density: Option<String>,
    /// Scalar attribute: factor of the length.
    pub length: Option<String>,
    /// Vector attribute: comb direction.
    pub comb: Option<String>,
    /// Distance between strands and the character's meshes in metres. Near the root it is smaller: at most a quarter of
    /// the distance from the root along the strand. With `None`, strands may pass through the meshes; in a simulation,
    /// shape forces and collisions then work against each other.
    pub clearance: Option<f32>,
    /// All other settings.
    pub settings: GrowSettings,
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
/// [`HairError`]: missing mesh or attribute, nothing to grow on, settings out of range, meshes without a distance
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
    let missing = |what, name: &str, is_of_that_sort: fn(&Attribute) -> bool| {
        let of_that_sort = mesh.attributes.iter().filter(|(_, a)| is_of_that_sort(a));
        HairError::Attribute {
            asset: asset.name.clone(),
            what,
            name: name.to_owned(),
            known: of_that_sort.map(|(n, _)| n.clone()).collect(),
        }
    };
    let scalar = |name: &Option<String>| match name.as_deref() {
        None => Ok(None),
        Some(name) => match mesh.attributes.get(name) {
            Some(Attribute::Scalar(values)) => Ok(Some(values.as_slice())),
            _ => {
                let is_scalar = |a: &Attribute| matches!(a, Attribute::Scalar(_));
                Err(missing("scalar", name, is_scalar))
            }
        },
    };
    let comb = match request.comb.as_deref() {
        None => None,
        Some(name) => match mesh.attributes.get(name) {
            Some(Attribute::Vec3(values)) => Some(values.as_slice()),
            _ => {
                let is_vector = |a: &Attribute| matches!(a, Attribute::Vec3(_));
                return Err(missing("vector", name, is_vector));
            }
        },
    };
    let mut maps = GrowMaps::default();
    maps.density = scalar(&request.density)?;
    maps.length = scalar(&request.length)?;
    maps.comb = comb;
    let normals = match &mesh.normals {
        Some(normals) => normals.clone(),
        None => compute_normals(&mesh),
    };
    let mut hair = watch.part(0.0, GROWING, |watch| {
        let goes_on = |done| watch.step(done).is_ok();
        grow_watched(&mesh, &normals, &maps, &request.settings, &goes_on)
    })?;
    if let Some(clearance) = request.clearance {
        let body = asset.merged(&Selection::All)?;
        watch.part(GROWING, 1.0, |watch| {
            keep_out(&body, clearance, &mut hair, &watch)
        })?;
    }
    Ok(hair)
}

/// Approximate share of the time for growing. The rest moves strands out of the meshes.
const GROWING: f64 = 0.7;

/// Cells of the distance field along the longest side of the character.
const CELLS: u32 = 192;
/// Iterations of collision. Each one resolves contacts that the previous one creates.
const ROUNDS: usize = 8;

/// Rotates strand segments from root to tip until all points except roots are outside the meshes. Segment lengths stay.
fn keep_out(
    body: &Mesh,
    clearance: f32,
    hair: &mut Mesh,
    watch: &BindWatch<'_>,
) -> Result<(), HairError> {
    let Some(strands) = hair.topology.strands() else {
        return Ok(());
    };
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
        watch.part(0.0, 0.3, |watch| {
            let (topology, rest) = (&body.topology, &body.positions);
            SdfBind::new_watched(topology, rest, &frame, settings(sign), Par::Rayon, &watch)
        })
    };
    let mut field = new(SignMethod::Pseudonormals)?;
    if !field.report().is_closed() {
        field = new(SignMethod::WindingNumber)?;
    }
    watch.step(0.3)?;
    let mut buffers = FieldBuffers::new(&field);
    buffers.build(&field, &body.positions, &frame, Par::Rayon);
    let Some(shape) = FieldCollider::new(FieldWords::Grid(buffers.view())) else {
        return Ok(());
    };
    watch.step(0.6)?;
    let contacts = [Contact {
        collider: 0,
        margin: clearance,
        friction: 0.0,
    }];
    CollideJob {
        strands,
        settings: &CollideSettings {
            exempt: 1,
            iterations: ROUNDS,
        },
        colliders: &[Collider::still(&shape)],
        contacts: &contacts,
        previous: None,
        positions: &mut hair.positions,
        scratch: &mut CollideScratch::new(strands, contacts.len()),
        par: Par::Rayon,
    }
    .run();
    Ok(())
}

/// Writes strands of a character. The file extension chooses the format:
///
/// | extension | content |
/// |---|---|
/// | `.glb`, character from a GLB file | this file with the strands as lines that follow its joints |
/// | `.glb`, other characters | meshes at rest and strands, without joints (with a warning if the character has joints) |
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
        "glb" => {
            let is_glb = |e: &std::ffi::OsStr| e.eq_ignore_ascii_case("glb");
            let from_glb = character.path.extension().is_some_and(is_glb);
            if let (Some(source), true) = (&character.source, from_glb) {
                add_strands(&character.path, source, &character.asset.rig, hair, path)?;
                return Ok(Vec::new());
            }
            write_at_rest(path, character, hair)
        }
        _ => Err(IoError::Unsupported {
            path: path.to_owned(),
            location: "file name".into(),
            feature: format!("the file extension '.{ending}'"),
            help: format!("use .{}", HAIR_ENDINGS.join(", .")),
        }),
    }
}

/// Writes the meshes and hair of a character at rest.
fn write_at_rest(path: &Path, character: &Character, hair: &Mesh) -> Result<Vec<Warning>, IoError> {
    let meshes = character.asset.meshes.iter().chain([hair]);
    let cache = FrameCache {
        meshes: meshes.map(CachedMesh::still).collect(),
        times_secs: vec![0.0],
    };
    let mut warnings = write_glb(path, &cache, &GlbOptions::default())?.warnings;
    if !character.asset.rig.joints().is_empty() {
        warnings.push(Warning {
            code: "joints_left_out",
            message: format!(
                "{} contains the character and its hair at rest, without joints, because the character is not from a GLB file. \
                 For hair that follows joints, use a .glb character or write .tfx",
                path.display()
            ),
        });
    }
    Ok(warnings)
}
