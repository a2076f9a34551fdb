//! The bakes: between them all arrangements, both kinds of places, blending and stepping, and the formats of the files.

use super::painted::{painted_blob, painted_drop, painted_points};
use super::points::{blob_points, drop_points};
use super::tumble::{boxes_bake, sparks_bake};
use crate::vat::maker::carrier::{carrier_mesh, texel_centers};
use crate::vat::maker::plan::{RemeshPlan, RemeshSettings};
use crate::vat::maker::remesh::{encode_frame, scan_frame, slots_in_file_order};
use crate::vat::maker::soft::SoftCarrier;
use sinew_geom::{Bounds, Mesh, Topology};
use sinew_samples::{bending_blob, parting_drop};
use sinew_vat::animation::VertexAnimation;
use sinew_vat::layout::Layout;
use sinew_vat::manifest::{Manifest, Mode, NamedClip, Space, TextureFile};
use sinew_vat::playback::AtEnd;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::{Extent, TextureSpec, texture_rows};
use std::error::Error;
use std::f32::consts::PI;

/// Frames a second: a power of two, so that moments are exact in single precision.
const RATE: f32 = 8.0;

/// A bake and what it was made of.
pub(super) struct Bake {
    pub(super) manifest: Manifest,
    pub(super) texels: Vec<Vec<u8>>,
    /// Texels of the lookup, where there is one.
    pub(super) lookup: Vec<u8>,
    pub(super) carrier: Mesh,
    pub(super) frames: Vec<Mesh>,
    /// Whether it has what `painted` makes.
    pub(super) is_painted: bool,
}

impl Bake {
    pub(super) fn animation(&self) -> Result<VertexAnimation, Box<dyn Error>> {
        Ok(VertexAnimation::with_lookup(
            self.manifest.clone(),
            self.texels.clone(),
            self.lookup.clone(),
        )?)
    }
}

pub(super) fn all() -> Result<Vec<Bake>, Box<dyn Error>> {
    use TexelFormat::{Float, Half, TwoUnorm8, Unorm8, Unorm16};
    let gltf = Space::default();
    let (unity, unreal) = (Space::YUpLeftHanded, Space::ZUpLeftHandedCentimeters);
    Ok(vec![
        remesh("drop_16", parting_drop(9), &of_drops(Unorm16, 8192))?,
        remesh("drop_two_8", parting_drop(9), &of_drops(TwoUnorm8, 512))?,
        blob("blob_half", Half, Quantity::Offset, true)?,
        blob("blob_float", Float, Quantity::Position, false)?,
        blob("blob_8", Unorm8, Quantity::Offset, false)?,
        boxes_bake("boxes_16", Unorm16, gltf)?,
        boxes_bake("boxes_two_8", TwoUnorm8, gltf)?,
        boxes_bake("boxes_unity", Unorm16, unity)?,
        boxes_bake("boxes_unreal", TwoUnorm8, unreal)?,
        sparks_bake("sparks_16", Unorm16, gltf)?,
        sparks_bake("sparks_two_8", TwoUnorm8, gltf)?,
        sparks_bake("sparks_unity", TwoUnorm8, unity)?,
        sparks_bake("sparks_unreal", Unorm16, unreal)?,
        painted_blob("painted_blob", false)?,
        painted_blob("painted_ends", true)?,
        painted_drop("painted_drop")?,
        painted_points("painted_points")?,
        drop_points("drop_points")?,
        blob_points("blob_points")?,
    ])
}

pub(super) fn clip(name: &str, first: u32, count: u32, at_end: AtEnd) -> NamedClip {
    NamedClip::new(name, first, count, RATE, at_end)
}

pub(super) fn clips_of_drops() -> Vec<NamedClip> {
    vec![
        clip("part", 0, 9, AtEnd::Clamp),
        clip("late", 4, 5, AtEnd::Loop),
    ]
}

pub(super) fn clips_of_blobs() -> Vec<NamedClip> {
    vec![
        clip("sway", 0, 8, AtEnd::SeamlessLoop),
        clip("half", 2, 4, AtEnd::Loop),
        clip("once", 0, 5, AtEnd::Clamp),
    ]
}

fn files(name: &str, spec: &TextureSpec) -> Vec<String> {
    let holds = match &spec.quantity {
        place if place.is_position() => "position".to_owned(),
        other => other.file_name(),
    };
    let ending = if spec.format.is_float() { "exr" } else { "png" };
    match spec.format {
        TexelFormat::TwoUnorm8 => (1..=2)
            .map(|i| format!("{name}_{holds}_{i}.{ending}"))
            .collect(),
        _ => vec![format!("{name}_{holds}.{ending}")],
    }
}

pub(super) fn manifest(
    name: &str,
    layout: Layout,
    bounds: Bounds,
    specs: &[TextureSpec],
    clips: Vec<NamedClip>,
) -> Manifest {
    let texture = |spec: &TextureSpec| TextureFile {
        spec: spec.clone(),
        files: files(name, spec),
    };
    let textures = specs.iter().map(texture).collect();
    Manifest::new(name, Mode::Remesh, layout, bounds, textures, clips)
}

/// The bytes of frames put into the rows of each texture.
pub(super) fn laid_out(
    layout: &Layout,
    specs: &[TextureSpec],
    frames: &[Vec<Vec<u8>>],
) -> Vec<Vec<u8>> {
    let texture = |(index, spec): (usize, &TextureSpec)| {
        let frame = |f: u32| frames[f as usize][index].as_slice();
        texture_rows(layout, spec.vertex_bytes(), frame)
    };
    specs.iter().enumerate().map(texture).collect()
}

/// Triangles that change; small textures are padded to powers of two.
pub(super) fn of_drops(places: TexelFormat, largest_side: u32) -> RemeshSettings {
    RemeshSettings {
        textures: vec![
            (Quantity::Position, places),
            (Quantity::Normal, TexelFormat::Unorm8),
        ],
        largest_side,
        powers_of_two: largest_side < 1024,
        has_ends: false,
    }
}

/// The quantities of the settings, and the plan that a scan of these frames gives.
pub(super) fn planned(
    frames: &[Mesh],
    settings: &RemeshSettings,
) -> Result<(Vec<Quantity>, RemeshPlan), Box<dyn Error>> {
    let quantities: Vec<_> = settings.textures.iter().map(|t| t.0.clone()).collect();
    let scans = frames.iter().enumerate();
    let scans: Result<Vec<_>, _> = scans.map(|(f, m)| scan_frame(f, m, &quantities)).collect();
    let plan = RemeshPlan::new(&scans?, settings)?;
    Ok((quantities, plan))
}

/// Triangles that change; stepped.
pub(super) fn remesh(
    name: &str,
    frames: Vec<Mesh>,
    settings: &RemeshSettings,
) -> Result<Bake, Box<dyn Error>> {
    let (_, plan) = planned(&frames, settings)?;
    let encode = |mesh: &Mesh| {
        let triangles = mesh.topology.triangles().len() as u32;
        let slots = slots_in_file_order(triangles, plan.slots, mesh.positions[0]);
        encode_frame(mesh, &slots, &plan.textures, PI)
    };
    let encoded: Vec<_> = frames.iter().map(encode).collect();
    let clips = clips_of_drops();
    Ok(Bake {
        manifest: manifest(name, plan.layout, plan.bounds, &plan.textures, clips),
        texels: laid_out(&plan.layout, &plan.textures, &encoded),
        lookup: Vec::new(),
        carrier: carrier_mesh(name, plan.slots, &plan.bounds, &plan.layout),
        frames,
        is_painted: settings.textures.len() > 2,
    })
}

fn blob(
    name: &str,
    format: TexelFormat,
    quantity: Quantity,
    is_columns: bool,
) -> Result<Bake, Box<dyn Error>> {
    let frames = bending_blob(8);
    let source = SoftCarrier::new(&frames[0], PI);
    let (count, frame_count) = (source.vertex_count() as u32, frames.len() as u32);
    let layout = match is_columns {
        true => Layout::columns(count, frame_count, 1)?,
        false => Layout::fitting(count, frame_count, 1, 2048)?,
    };
    let normal_format = match format {
        TexelFormat::Unorm8 => TexelFormat::TwoUnorm8,
        other => other,
    };
    let (places, unit) = (
        extent(&source, &frames, &quantity),
        Extent::between(-1.0, 1.0, 3),
    );
    let specs = [
        TextureSpec::new(quantity, format, &places),
        TextureSpec::new(Quantity::Normal, normal_format, &unit),
    ];
    soft(name, frames.clone(), &frames, &layout, &specs)
}

/// Triangles that stay the same; blended to the next of the frames that are stored, or to the end of the same one.
pub(super) fn soft(
    name: &str,
    frames: Vec<Mesh>,
    stored: &[Mesh],
    layout: &Layout,
    specs: &[TextureSpec],
) -> Result<Bake, Box<dyn Error>> {
    let source = SoftCarrier::new(&frames[0], PI);
    let encoded = stored.iter().map(|f| source.encode_frame(f, specs));
    let encoded: Result<Vec<_>, _> = encoded.collect();
    let all: Vec<_> = frames.iter().flat_map(|f| f.positions.clone()).collect();
    let bounds = sinew_geom::bounds(&all).ok_or("no vertices")?;
    let mut made = manifest(name, *layout, bounds, specs, clips_of_blobs());
    (made.mode, made.can_blend) = (Mode::Soft, true);
    made.has_ends = stored.len() > frames.len();
    Ok(Bake {
        manifest: made,
        texels: laid_out(layout, specs, &encoded?),
        lookup: Vec::new(),
        carrier: soft_carrier(name, &source, &frames[0], layout)?,
        frames,
        is_painted: specs.len() > 2,
    })
}

pub(super) fn extent(source: &SoftCarrier, frames: &[Mesh], quantity: &Quantity) -> Extent {
    let mut out = Extent::nothing(3);
    for frame in frames {
        for v in 0..frame.positions.len() {
            out.take(match quantity {
                Quantity::Offset => source.offset(frame, v),
                _ => frame.positions[v],
            });
        }
    }
    out
}

fn soft_carrier(
    name: &str,
    source: &SoftCarrier,
    first: &Mesh,
    layout: &Layout,
) -> Result<Mesh, Box<dyn Error>> {
    let place = |v: usize| first.positions[source.source_vertex(v)];
    let positions: Vec<_> = (0..source.vertex_count()).map(place).collect();
    let topology = Topology::new(layout.vertices, source.triangles().to_vec())?;
    let mut mesh = Mesh::new(name, topology, positions);
    mesh.normals = Some(vec![[0.0, 1.0, 0.0]; source.vertex_count()]);
    mesh.uvs = vec![texel_centers(layout.vertices, layout)];
    Ok(mesh)
}
