//! Bakes with one texel a unique point: triangles that change, and triangles that stay the same and are blended.

use super::bakes::{Bake, clips_of_blobs, clips_of_drops, laid_out, manifest, of_drops, planned};
use crate::vat::maker::carrier::carrier_mesh;
use crate::vat::maker::ends::ShownFrame;
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::plan::RemeshSettings;
use crate::vat::maker::points::{PointTable, encode_points, points_layout};
use crate::vat::maker::remesh::slots_in_file_order;
use sinew_geom::Mesh;
use sinew_samples::{bending_blob, parting_drop};
use sinew_vat::lookup::LOOKUP_BYTES;
use sinew_vat::manifest::{Lookup, NamedClip, VERSION_WITH_LOOKUP};
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::texture_rows;
use std::error::Error;
use std::f32::consts::PI;

/// A drop that parts, in blocks padded to powers of two; players step.
pub(super) fn drop_points(name: &str) -> Result<Bake, Box<dyn Error>> {
    let settings = of_drops(TexelFormat::Unorm16, 512);
    bake(name, parting_drop(9), &settings, clips_of_drops())
}

/// A blob that bends, whose triangles stay the same, so that corners of two frames may be blended.
pub(super) fn blob_points(name: &str) -> Result<Bake, Box<dyn Error>> {
    let settings = of_drops(TexelFormat::TwoUnorm8, 4096);
    let mut bake = bake(name, bending_blob(8), &settings, clips_of_blobs())?;
    bake.manifest.can_blend = true;
    Ok(bake)
}

/// Such a bake of all textures of some settings, triangles in the order of the frames.
pub(super) fn bake(
    name: &str,
    frames: Vec<Mesh>,
    settings: &RemeshSettings,
    clips: Vec<NamedClip>,
) -> Result<Bake, Box<dyn Error>> {
    let (quantities, plan) = planned(&frames, settings)?;
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
        lookup: texture_rows(&plan.layout, LOOKUP_BYTES, |f| &lookups[f as usize]),
        carrier: carrier_mesh(name, plan.slots, &plan.bounds, &plan.layout),
        frames,
        is_painted: settings.textures.len() > 2,
    })
}
