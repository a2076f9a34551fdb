//! Quantities that follow from a frame itself: how thick it is, and where texture coordinates run.

mod tangents;
mod thickness;

pub(crate) use tangents::vertex_tangents;
pub(crate) use thickness::vertex_thickness;

use sinew_geom::{Attribute, Mesh};
use sinew_vat::quantity::{Quantity, THICKNESS};

/// Adds to a mesh what these quantities need and it does not have: [`Quantity::Thickness`] as an attribute, [`Quantity::Tangent`]
/// as tangents, unless it has some. Tangents need the first set of texture coordinates; without it there are none.
///
/// `crease` (radians): edges that are sharper are hard. Cost: triangles times the logarithm of their number.
pub(crate) fn add_derived<'a>(
    mesh: &mut Mesh,
    quantities: impl IntoIterator<Item = &'a Quantity>,
    crease: f32,
) {
    for quantity in quantities {
        match quantity {
            Quantity::Thickness => {
                let values = vertex_thickness(&mesh.topology, &mesh.positions, crease);
                let attribute = Attribute::Scalar(values);
                mesh.attributes.insert(THICKNESS.into(), attribute);
            }
            Quantity::Tangent if mesh.tangents.is_none() => {
                mesh.tangents = vertex_tangents(mesh, crease);
            }
            _ => {}
        }
    }
}
