//! Frames in the space of the textures: prepared, matched and given normals in that of glTF, turned just before they are encoded.

use super::mode;
use super::plan::VatPlan;
use super::settings::Space;
use crate::BakeError;
use crate::vat::maker::ends::ShownFrame;
use crate::vat::maker::matching::FrameEnd;
use crate::vat::maker::remesh::SlotContent;
use sinew_geom::{Attribute, Mesh};
use sinew_io::obj::write_obj;
use sinew_io::{AtomicDir, Surface};
use sinew_vat::manifest::Manifest;
use sinew_vat::quantity::{Quantity, THICKNESS};

/// Puts a mesh into the space of the textures: places, and what these hold of tangents, velocities and thickness. Triangles stay as they are: a player's
/// carrier decides how their corners are counted.
pub(crate) fn place_mesh(plan: &VatPlan, mesh: &mut Mesh) {
    let space = plan.space;
    if space == Space::default() {
        return;
    }
    place_all(space, &mut mesh.positions);
    for tangent in mesh.tangents.iter_mut().flatten() {
        *tangent = space.tangent(*tangent);
    }
    for texture in &plan.textures {
        match &texture.quantity {
            Quantity::Velocity(name) => {
                if let Some(Attribute::Vec3(values)) = mesh.attributes.get_mut(name) {
                    place_all(space, values);
                }
            }
            Quantity::Thickness => {
                if let Some(Attribute::Scalar(values)) = mesh.attributes.get_mut(THICKNESS) {
                    let units = space.units_of(&texture.quantity);
                    values.iter_mut().for_each(|v| *v *= units);
                }
            }
            _ => {}
        }
    }
}

fn place_all(space: Space, values: &mut [[f32; 3]]) {
    for value in values {
        *value = space.position(*value);
    }
}

/// Normals in the space of the textures.
pub(crate) fn turn_normals<'a>(plan: &VatPlan, normals: impl Iterator<Item = &'a mut [f32; 3]>) {
    for normal in normals {
        *normal = plan.space.direction(*normal);
    }
}

/// A frame as slots show it, in the space of the textures.
pub(crate) struct PlacedFrame {
    mesh: Mesh,
    normals: Vec<[[f32; 3]; 3]>,
    slots: Vec<SlotContent>,
}

impl PlacedFrame {
    /// From one in the space of glTF.
    pub(crate) fn new(
        plan: &VatPlan,
        mesh: &Mesh,
        normals: &[[[f32; 3]; 3]],
        slots: &[SlotContent],
    ) -> Self {
        let mut out = Self {
            mesh: mesh.clone(),
            normals: normals.to_vec(),
            slots: slots.to_vec(),
        };
        place_mesh(plan, &mut out.mesh);
        turn_normals(plan, out.normals.iter_mut().flatten());
        for slot in &mut out.slots {
            if let SlotContent::Absent { point } = slot {
                *point = plan.space.position(*point);
            }
        }
        out
    }

    pub(crate) fn shown(&self) -> ShownFrame<'_> {
        ShownFrame {
            mesh: &self.mesh,
            normals: &self.normals,
            slots: &self.slots,
        }
    }
}

/// Puts the end of a frame into the space of the textures.
pub(crate) fn place_end(plan: &VatPlan, end: &mut FrameEnd) {
    place_all(plan.space, &mut end.points);
    turn_normals(plan, end.normals.iter_mut().flatten());
    for part in &mut end.appearing {
        part.point = plan.space.position(part.point);
    }
}

/// For Unity, which reads no GLB by itself: the carrier as OBJ, in the axes of glTF, of which Unity mirrors x as it does with GLB. It has the
/// texture coordinates that point at texels, and no others; squares of particles need others, too, and have no OBJ.
pub(crate) fn write_obj_carrier(
    folder: &mut AtomicDir,
    is_asked: bool,
    manifest: &Manifest,
    carrier: &Mesh,
) -> Result<(), BakeError> {
    let is_for_unity = manifest.space == Space::YUpLeftHanded;
    if !(is_asked || is_for_unity) || mode::of(manifest.mode).is_points() {
        return Ok(());
    }
    let surface = Surface {
        uvs: carrier.uvs.last().map(Vec::as_slice),
        colors: None,
        ..Surface::from(carrier)
    };
    let path = folder.stage(&format!("{}.obj", manifest.name))?;
    Ok(write_obj(&path, &[surface])?)
}
