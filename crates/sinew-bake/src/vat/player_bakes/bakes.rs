//! The bakes: between them all arrangements, positions and offsets, blending and stepping, and the formats of the files.

use super::painted::{painted_blob, painted_drop, painted_points};
use super::tumble::{boxes, sparks};
use crate::vat::tests::fixture::{choice, mesh_in};
use crate::vat::{
    Mode, Points, Space, TriangleOrder, VatJob, VatPlan, VatSettings, assemble, plan,
    read_animation, read_manifest, scan, texels,
};
use crate::{BakeError, Chunk, MeshFrames, Watch};
use sinew_geom::Mesh;
use sinew_samples::{bending_blob, parting_drop};
use sinew_vat::animation::VertexAnimation;
use sinew_vat::layout::Layout;
use sinew_vat::manifest::{Manifest, NamedClip};
use sinew_vat::playback::AtEnd;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::path::{Path, PathBuf};

/// Frames a second: a power of two, so that moments are exact in single precision.
const RATE: f32 = 8.0;

/// The folder of all bakes, and the name of one.
pub(super) type At<'a> = (&'a Path, &'a str);

/// A bake and what it was made of.
pub(super) struct Bake {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
    pub(super) carrier: Mesh,
    pub(super) frames: Vec<Mesh>,
}

impl Bake {
    /// Bakes frames into a folder of that name; `change` may put texels elsewhere and change what they are made from.
    pub(super) fn new(
        (root, name): At<'_>,
        frames: Vec<Mesh>,
        settings: &VatSettings,
        clips: Vec<NamedClip>,
        change: impl Fn(&VatJob, &mut VatPlan) -> Result<(), BakeError>,
    ) -> Result<Self, BakeError> {
        let (work, folder) = (tempfile::tempdir().expect("a folder"), root.join(name));
        let source = MeshFrames::new(name, frames.clone());
        let job = VatJob::begin(work.path(), &source, settings)?;
        scan(&job, &source, Chunk::ALL, &Watch::NOBODY)?;
        let mut planned = plan(&job, &Watch::NOBODY)?;
        change(&job, &mut planned)?;
        planned.write(&job)?;
        texels(&job, Chunk::ALL, &Watch::NOBODY)?;
        assemble(&job, &folder, &Watch::NOBODY)?;
        let (_, mut manifest) = read_manifest(&folder)?;
        manifest.clips = clips;
        Ok(Self {
            carrier: mesh_in(&folder.join(&manifest.carrier)),
            folder,
            manifest,
            frames,
        })
    }

    pub(super) fn animation(&self) -> Result<VertexAnimation, BakeError> {
        read_animation(&self.folder)
    }
}

/// Texels stay where the plan puts them.
pub(super) fn unchanged(_job: &VatJob, _plan: &mut VatPlan) -> Result<(), BakeError> {
    Ok(())
}

/// Frames of a vertex below each other: an arrangement of OpenVAT, which manifests may name, too.
pub(super) fn in_columns(_job: &VatJob, plan: &mut VatPlan) -> Result<(), BakeError> {
    plan.layout = Layout::columns(plan.layout.vertices, plan.layout.frames, 1)?;
    Ok(())
}

pub(super) fn all(root: &Path) -> Result<Vec<Bake>, BakeError> {
    use TexelFormat::{Float, Half, TwoUnorm8, Unorm8, Unorm16};
    let at = |name| (root, name);
    let gltf = Space::default();
    let (unity, unreal) = (Space::YUpLeftHanded, Space::ZUpLeftHandedCentimeters);
    let (drops, blobs) = (|| parting_drop(9), || bending_blob(8));
    let half = of_blobs((Quantity::Offset, Half), Half);
    let float = of_blobs((Quantity::Position, Float), Float);
    let offsets_8 = of_blobs((Quantity::Offset, Unorm8), TwoUnorm8);
    // Triangles of the blob stay the same, so that corners of two frames may be blended.
    let two_8 = unique(of_drops(TwoUnorm8, 4096));
    let mut blob_points = blob(at("blob_points"), blobs(), &two_8, unchanged)?;
    blob_points.manifest.can_blend = true;
    Ok(vec![
        drop(at("drop_16"), drops(), &of_drops(Unorm16, 8192))?,
        drop(at("drop_two_8"), drops(), &of_drops(TwoUnorm8, 512))?,
        blob(at("blob_half"), blobs(), &half, in_columns)?,
        blob(at("blob_float"), blobs(), &float, unchanged)?,
        blob(at("blob_8"), blobs(), &offsets_8, unchanged)?,
        boxes(at("boxes_16"), Unorm16, gltf)?,
        boxes(at("boxes_two_8"), TwoUnorm8, gltf)?,
        boxes(at("boxes_unity"), Unorm16, unity)?,
        boxes(at("boxes_unreal"), TwoUnorm8, unreal)?,
        sparks(at("sparks_16"), Unorm16, gltf)?,
        sparks(at("sparks_two_8"), TwoUnorm8, gltf)?,
        sparks(at("sparks_unity"), TwoUnorm8, unity)?,
        sparks(at("sparks_unreal"), Unorm16, unreal)?,
        painted_blob(at("painted_blob"), false)?,
        painted_blob(at("painted_ends"), true)?,
        painted_drop(at("painted_drop"))?,
        painted_points(at("painted_points"))?,
        drop(at("drop_points"), drops(), &unique(of_drops(Unorm16, 512)))?,
        blob_points,
    ])
}

/// Triangles that change; players step.
pub(super) fn drop(
    at: At<'_>,
    frames: Vec<Mesh>,
    settings: &VatSettings,
) -> Result<Bake, BakeError> {
    let clips = vec![
        clip("part", 0, 9, AtEnd::Clamp),
        clip("late", 4, 5, AtEnd::Loop),
    ];
    Bake::new(at, frames, settings, clips, unchanged)
}

/// Triangles that stay the same; players blend.
pub(super) fn blob(
    at: At<'_>,
    frames: Vec<Mesh>,
    settings: &VatSettings,
    change: impl Fn(&VatJob, &mut VatPlan) -> Result<(), BakeError>,
) -> Result<Bake, BakeError> {
    let clips = vec![
        clip("sway", 0, 8, AtEnd::SeamlessLoop),
        clip("half", 2, 4, AtEnd::Loop),
        clip("once", 0, 5, AtEnd::Clamp),
    ];
    Bake::new(at, frames, settings, clips, change)
}

pub(super) fn clip(name: &str, first: u32, count: u32, at_end: AtEnd) -> NamedClip {
    NamedClip::new(name, first, count, RATE, at_end)
}

pub(super) fn settings(
    mode: Mode,
    crease_degrees: f32,
    textures: impl IntoIterator<Item = (Quantity, TexelFormat)>,
) -> VatSettings {
    let textures = textures.into_iter();
    VatSettings {
        mode: Some(mode),
        textures: textures.map(|(q, f)| choice(q, f)).collect(),
        frames_per_second: RATE,
        crease_degrees,
        ..VatSettings::default()
    }
}

/// Triangles that change, stepped; small textures are padded to powers of two.
pub(super) fn of_drops(places: TexelFormat, largest_side: u32) -> VatSettings {
    let textures = [
        (Quantity::Position, places),
        (Quantity::Normal, TexelFormat::Unorm8),
    ];
    VatSettings {
        order: TriangleOrder::File,
        largest_side,
        powers_of_two: largest_side < 1024,
        ..settings(Mode::Remesh, 180.0, textures)
    }
}

/// Triangles that stay the same, blended to the next frame.
pub(super) fn of_blobs(place: (Quantity, TexelFormat), normal: TexelFormat) -> VatSettings {
    settings(Mode::Soft, 180.0, [place, (Quantity::Normal, normal)])
}

/// One texel a unique point.
pub(super) fn unique(settings: VatSettings) -> VatSettings {
    VatSettings {
        points: Points::Unique,
        ..settings
    }
}
