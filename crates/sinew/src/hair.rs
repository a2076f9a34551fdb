//! Hair for characters: strands grown by painted attributes, and files of them.

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
use crate::io::{CachedMesh, FrameCache, FrameData, IoError, Surface};
use crate::play::Character;
use std::path::Path;

/// Endings of the files that [`write_hair`] writes.
pub const HAIR_ENDINGS: [&str; 5] = ["glb", "tfx", "ply", "obj", "npz"];

/// What strands grow on, and by which of its vertex attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrowRequest {
    /// Which meshes of the character.
    pub meshes: Selection,
    /// Scalar attribute: how dense, 0 to 1.
    pub density: Option<String>,
    /// Scalar attribute: factor of the length.
    pub length: Option<String>,
    /// Vector attribute: where strands are combed to.
    pub comb: Option<String>,
    /// How far from the character's meshes strands stay, in metres; from the root on it grows by a quarter of the way along the strand. `None`: they may lead through them, and then
    /// what restores their shape works against what keeps them out of the body.
    pub clearance: Option<f32>,
    /// All else.
    pub settings: GrowSettings,
}

/// Why no hair grew.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HairError {
    /// There is no such mesh.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// There is no such attribute, or it is of another sort.
    #[error("{asset} has no {what} attribute '{name}'; {}", known_attributes(.known))]
    Attribute {
        /// The character.
        asset: String,
        /// "scalar" or "vector".
        what: &'static str,
        /// What was asked for.
        name: String,
        /// Those of that sort.
        known: Vec<String>,
    },
    /// Nothing to grow on, or settings out of range.
    #[error(transparent)]
    Grow(#[from] GrowError),
    /// A clearance that is no distance.
    #[error("the clearance is {0} m, expected 0 or more")]
    Clearance(f32),
    /// The meshes have no distance field that strands could be kept out of.
    #[error("strands cannot be kept out of the meshes: {0}")]
    Field(#[from] SdfError),
    /// The watch stopped it.
    #[error("growing was stopped")]
    Stopped(#[from] Stopped),
}

fn known_attributes(names: &[String]) -> String {
    match names {
        [] => "it has none of that sort".to_owned(),
        names => format!("it has {}", names.join(", ")),
    }
}

/// Grows strands on a character's meshes at rest. `watch` follows it, and may stop it.
///
/// # Errors
/// [`HairError`]: no such mesh or attribute, nothing to grow on, settings out of range, meshes without a distance field, stopped.
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
    let maps = GrowMaps {
        density: scalar(&request.density)?,
        length: scalar(&request.length)?,
        comb,
    };
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

/// Share of the time that growing takes, roughly; the rest keeps strands out of the meshes.
const GROWING: f64 = 0.7;

/// Cells of the field that strands are kept out by, along the longest side of the character.
const CELLS: u32 = 192;
/// Rounds in which strands are brought out: what one leaves in a pocket, the next one finds.
const ROUNDS: usize = 8;

/// Turns segments of strands, root to tip, until all but their roots are out of the meshes; lengths stay.
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

/// Writes strands that grew on a character, in the format of the ending:
///
/// * `.glb`: the character's file with the strands in it, as lines that follow its joints. Where the character comes from
///   another format or is built in: its meshes at rest and the strands, without joints (a warning says so where it has some).
/// * `.tfx`: TressFX's format, with a `.tfxbone` file that names the joints beside it.
/// * `.ply`, `.obj`: places and edges. `.npz`: arrays.
///
/// Gives what was left out.
///
/// # Errors
/// [`IoError`]; [`IoError::Unsupported`] for other endings.
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
            crate::io::write_npz(path, &still(hair), &[0.0], &[])?;
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
            place: "ending of the name".into(),
            feature: format!("'.{ending}'"),
            help: format!("known are .{}", HAIR_ENDINGS.join(", .")),
        }),
    }
}

/// Writes the meshes of a character and its hair as they are at rest.
fn write_at_rest(path: &Path, character: &Character, hair: &Mesh) -> Result<Vec<Warning>, IoError> {
    let meshes = character.asset.meshes.iter().chain([hair]);
    let cache = FrameCache {
        meshes: meshes.map(still).collect(),
        times_secs: vec![0.0],
    };
    let mut warnings = write_glb(path, &cache, &GlbOptions::default())?;
    if !character.asset.rig.joints().is_empty() {
        warnings.push(Warning {
            code: "joints_left_out",
            message: format!(
                "{} has the character and its hair at rest, without joints: only a GLB file is written again with all that is in it. Hair that follows \
                 joints: give a .glb as the character, or write .tfx",
                path.display()
            ),
        });
    }
    Ok(warnings)
}

/// A mesh as it is at rest.
fn still(mesh: &Mesh) -> CachedMesh<'_> {
    CachedMesh {
        name: mesh.name.clone(),
        mesh,
        frames: vec![FrameData {
            positions: mesh.positions.clone(),
            ..FrameData::default()
        }],
    }
}
