//! Fields at the ports of a node: which there are, their margins and frictions, and their placements in the last frame.

use super::field::FieldCollider;
use super::motion::Rigid;
use super::placed::{Collider, Contact};
use crate::sdf::FieldWords;
use crate::{
    AttributeEffect, BindContext, InputValue, Inputs, MeshEffect, NodeError, ParameterDesc,
    PortDesc, PortType,
};
use arrayvec::ArrayVec;
use sinew_geom::Quat;

/// Most colliders of one hair.
pub(crate) const MAX_COLLIDERS: usize = 8;

/// The ports of all colliders: a list in documents.
pub(crate) const PORTS: [PortDesc; MAX_COLLIDERS] = [
    PortDesc::optional(
        "colliders",
        PortType::Field,
        "Fields that the strands stay out of: one link, or a list of up to eight.",
    )
    .first_of_list(7),
    port("colliders_2"),
    port("colliders_3"),
    port("colliders_4"),
    port("colliders_5"),
    port("colliders_6"),
    port("colliders_7"),
    port("colliders_8"),
];

const fn port(name: &'static str) -> PortDesc {
    PortDesc::optional(
        name,
        PortType::Field,
        "Another field. You can write it as an item of the list `colliders` instead.",
    )
}

/// The strands that come out: moved, with tangents made anew.
pub(crate) const fn strands_output(doc: &'static str) -> PortDesc {
    PortDesc {
        effect: Some(MeshEffect {
            from: "strands",
            positions: AttributeEffect::Recompute,
            normals: AttributeEffect::Keep,
            tangents: AttributeEffect::Recompute,
            colors: AttributeEffect::Keep,
        }),
        ..PortDesc::output("strands", PortType::Mesh, doc)
    }
}

/// Distance that is kept from each collider.
pub(crate) const MARGINS: ParameterDesc = ParameterDesc::floats(
    "margins",
    "Distance in metres that strands keep from each collider: one number for all, or one for each. Empty means 0. Near the root it grows from the skin.",
);
/// Of nodes that remember the frame before.
pub(crate) const RESET: ParameterDesc = ParameterDesc::bool(
    "reset",
    false,
    "Forgets all earlier frames while this is true, as the first frame does. Use it at cuts and teleports.",
)
.in_update();
/// Friction on each collider.
pub(crate) const FRICTIONS: ParameterDesc = ParameterDesc::floats(
    "frictions",
    "Friction coefficient of each collider: one number for all, or one for each. Empty means 0.2.",
);

/// Margin and friction by port; those of ports without a link are not read.
pub(crate) type Contacts = [(f32, f32); MAX_COLLIDERS];

/// How many colliders have a link.
pub(crate) fn linked(context: &BindContext<'_>) -> usize {
    PORTS.iter().filter(|p| context.is_linked(p.name)).count()
}

/// Reads [`MARGINS`] and [`FRICTIONS`].
pub(crate) fn contacts(context: &BindContext<'_>) -> Result<Contacts, NodeError> {
    let margins = by_collider(context, MARGINS.name, 0.0)?;
    let frictions = by_collider(context, FRICTIONS.name, 0.2)?;
    Ok(std::array::from_fn(|i| (margins[i], frictions[i])))
}

/// Numbers of 0 or more by port, from a list that has one for all or one for each linked collider.
pub(crate) fn by_collider(
    context: &BindContext<'_>,
    name: &'static str,
    otherwise: f32,
) -> Result<[f32; MAX_COLLIDERS], NodeError> {
    let linked = linked(context);
    let given = context.parameters.floats(name);
    let fits = given.len() <= 1 || given.len() == linked;
    let bad = given.iter().find(|v| !v.is_finite() || **v < 0.0);
    if let (true, None) = (fits, bad) {
        let one = |i: usize| {
            let given = given.get(i).or(given.first());
            given.map_or(otherwise, |v| *v as f32)
        };
        return Ok(std::array::from_fn(one));
    }
    Err(NodeError::Parameter {
        name,
        found: match bad {
            Some(v) => v.to_string(),
            None => format!("{} numbers", given.len()),
        },
        expected: match bad {
            Some(_) => "numbers of 0 or more".into(),
            None => {
                format!("no number, one for all colliders, or one for each collider ({linked})")
            }
        },
    })
}

/// The fields of a frame, by port.
pub(crate) type Fields<'a> = ArrayVec<(usize, FieldCollider<'a>), MAX_COLLIDERS>;

/// The fields that are linked and hold something. `first`: ports before those of colliders.
pub(crate) fn fields<'a>(inputs: &Inputs<'a>, first: usize) -> Fields<'a> {
    let values = inputs.values.iter().skip(first).enumerate();
    values
        .filter_map(|(i, value)| match value {
            Some(InputValue::Field(words)) => {
                Some((i, FieldCollider::new(FieldWords::read(words))?))
            }
            _ => None,
        })
        .take(MAX_COLLIDERS)
        .collect()
}

/// Where colliders were in the frame before, by port: state of whoever collides with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placements(pub(crate) [Rigid<f32>; MAX_COLLIDERS]);

impl Default for Placements {
    fn default() -> Self {
        Self([Rigid::identity(); MAX_COLLIDERS])
    }
}

impl Placements {
    /// Bytes of a saved state.
    pub(crate) const BYTES: usize = MAX_COLLIDERS * 7 * 4;

    /// Takes over where the fields are now.
    pub(crate) fn follow(&mut self, fields: &Fields<'_>) {
        for (i, field) in fields {
            self.0[*i] = field.placement();
        }
    }

    /// The fields as they move from there, and the contacts with them.
    pub(crate) fn colliders<'a>(
        &self,
        fields: &'a Fields<'a>,
        contacts: &Contacts,
    ) -> (
        ArrayVec<Collider<'a>, MAX_COLLIDERS>,
        ArrayVec<Contact, MAX_COLLIDERS>,
    ) {
        let colliders = fields.iter().map(|(i, f)| f.moving(self.0[*i])).collect();
        let contact = |(collider, (i, _)): (usize, &(usize, FieldCollider<'_>))| {
            let (margin, friction) = contacts[*i];
            Contact {
                collider,
                margin,
                friction,
            }
        };
        let contacts = fields.iter().enumerate().map(contact).collect();
        (colliders, contacts)
    }

    /// As bytes, little endian: a rotation and a translation each.
    pub(crate) fn save(&self) -> impl Iterator<Item = u8> + '_ {
        let numbers = self.0.iter().flat_map(|p| {
            let turn = p.rotation.coords.iter().copied();
            turn.chain(p.translation.iter().copied())
                .collect::<ArrayVec<f32, 7>>()
        });
        numbers.flat_map(f32::to_le_bytes)
    }

    /// From the bytes of [`Self::save`]; `None` where they hold no motions.
    pub(crate) fn read(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let mut out = Self::default();
        let (numbers, _) = bytes.as_chunks::<4>();
        for (out, numbers) in out.0.iter_mut().zip(numbers.as_chunks::<7>().0) {
            let [x, y, z, w, rest @ ..] = numbers.map(f32::from_le_bytes);
            let rotation = sinew_geom::nalgebra::Quaternion::new(w, x, y, z);
            out.rotation = Quat::new_unchecked(rotation);
            out.translation = rest.into();
            let is_unit = (rotation.norm() - 1.0).abs() < 1e-3;
            if !(out.is_finite() && is_unit) {
                return None;
            }
        }
        Some(out)
    }
}
