//! Bakes with one texel a unique point: triangles that change, and triangles that stay the same and are blended.

use super::bakes::{Bake, clip, laid_out, manifest};
use crate::vat::maker::carrier::carrier_mesh;
use crate::vat::maker::ends::ShownFrame;
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::plan::{RemeshPlan, RemeshSettings};
use crate::vat::maker::points::{PointTable, encode_points, points_layout};
use crate::vat::maker::remesh::{scan_frame, slots_in_file_order};
use sinew_geom::Mesh;
use sinew_samples::{bending_blob, parting_drop};
use sinew_vat::layout::Layout;
use sinew_vat::lookup::LOOKUP_BYTES;
use sinew_vat::manifest::{Lookup, NamedClip, VERSION_WITH_LOOKUP};
use sinew_vat::playback::AtEnd;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::texture_row;
use std::error::Error;
use std::f32::consts::PI;

/// A drop that parts, in blocks padded to powers of two; players step.
pub(super) fn drop_points(name: &str) -> Result<Bake, Box<dyn Error>> {
    let settings = settings(TexelFormat::Unorm16, 512);
    let clips = vec![
        clip("part", 0, 9, AtEnd::Clamp),
        clip("late", 4, 5, AtEnd::Loop),
    ];
    bake(name, parting_drop(9), &settings, clips)
}

/// A blob that bends, whose triangles stay the same, so that corners of two frames may be blended.
pub(super) fn blob_points(name: &str) -> Result<Bake, Box<dyn Error>> {
    let settings = settings(TexelFormat::TwoUnorm8, 4096);
    let clips = vec![
        clip("sway", 0, 8, AtEnd::SeamlessLoop),
        clip("half", 2, 4, AtEnd::Loop),
        clip("once", 0, 5, AtEnd::Clamp),
    ];
    let mut bake = bake(name, bending_blob(8), &settings, clips)?;
    bake.manifest.can_blend = true;
    Ok(bake)
}

fn settings(format: TexelFormat, largest_side: u32) -> RemeshSettings {
    RemeshSettings {
        textures: vec![
            (Quantity::Position, format),
            (Quantity::Normal, TexelFormat::Unorm8),
        ],
        largest_side,
        powers_of_two: largest_side < 1024,
        has_ends: false,
    }
}

/// Such a bake of all textures of some settings, triangles in the order of the frames.
pub(super) fn bake(
    name: &str,
    frames: Vec<Mesh>,
    settings: &RemeshSettings,
    clips: Vec<NamedClip>,
) -> Result<Bake, Box<dyn Error>> {
    let quantities = settings.textures.iter().map(|t| t.0.clone());
    let quantities: Vec<Quantity> = quantities.collect();
    let scans = frames.iter().enumerate();
    let scans: Result<Vec<_>, _> = scans.map(|(f, m)| scan_frame(f, m, &quantities)).collect();
    let plan = RemeshPlan::new(&scans?, settings)?;
    let normals = frames
        .iter()
        .map(|m| corner_normals(&m.topology, &m.positions, PI));
    let normals: Vec<_> = normals.collect();
    let tables = frames.iter().zip(&normals);
    let tables: Vec<_> = tables
        .map(|(m, n)| PointTable::new(m, n, &quantities))
        .collect();
    // One more for slots that show nothing.
    let counts: Vec<u64> = tables.iter().map(|t| t.count() as u64 + 1).collect();
    let points = points_layout(&counts, settings)?;
    let (mut encoded, mut lookups) = (Vec::new(), Vec::new());
    for ((mesh, normals), table) in frames.iter().zip(&normals).zip(&tables) {
        let triangles = u32::try_from(mesh.topology.triangles().len())?;
        let slots = slots_in_file_order(triangles, plan.slots, mesh.positions[0]);
        let shown = ShownFrame {
            mesh,
            normals,
            slots: &slots,
        };
        let made = encode_points(shown, table, &plan.textures, points.vertices)?;
        encoded.push(made.textures);
        lookups.push(made.lookup);
    }
    let mut made = manifest(name, plan.layout, plan.bounds, &plan.textures, clips);
    made.version = VERSION_WITH_LOOKUP;
    made.lookup = Some(Lookup {
        file: format!("{name}_lookup.png"),
        points,
    });
    Ok(Bake {
        manifest: made,
        texels: laid_out(&points, &plan.textures, &encoded),
        lookup: lookup_rows(&plan.layout, &lookups),
        carrier: carrier_mesh(name, plan.slots, &plan.bounds, &plan.layout),
        frames,
        is_painted: false,
    })
}

fn lookup_rows(layout: &Layout, frames: &[Vec<u8>]) -> Vec<u8> {
    let (mut row, mut out) = (Vec::new(), Vec::new());
    for y in 0..layout.size[1] {
        let frame = |f: u32| frames[f as usize].as_slice();
        texture_row(layout, y, LOOKUP_BYTES, frame, &mut row);
        out.extend_from_slice(&row);
    }
    out
}
