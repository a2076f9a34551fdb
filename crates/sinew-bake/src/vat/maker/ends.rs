//! Texels of the end of a frame: where the triangles of a frame are when the next frame begins.
//!
//! Triangles of one frame have other neighbours than those that they become, so that surfaces come apart where frames are blended slot by slot.
//! A bake with ends ([`sinew_vat::manifest::Manifest::has_ends`]) has a second row for each frame instead: the same triangles, on the surface of the next frame
//! ([`crate::vat::maker::matching::frame_end`]). Blends go there, and the next frame takes over with triangles of its own.

use crate::vat::maker::matching::FrameEnd;
use crate::vat::maker::remesh::{SlotContent, value_of_corner};
use sinew_geom::{Bounds, Mesh};
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::{TextureSpec, encode_vertices};

/// One frame as slots show it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownFrame<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Normals of the corners of each triangle.
    pub normals: &'a [[[f32; 3]; 3]],
    /// What the slots show.
    pub slots: &'a [SlotContent],
}

/// Slots of a frame with those empty ones that show a new part of the next frame brought to the point that it grows from.
pub(crate) fn grow_from(
    slots: &[SlotContent],
    next: &[SlotContent],
    end: &FrameEnd,
) -> Vec<SlotContent> {
    let grown = |(slot, next): (&SlotContent, &SlotContent)| match slot {
        SlotContent::Absent { .. } => match grows(next, end) {
            Some(point) => SlotContent::Absent { point },
            None => *slot,
        },
        SlotContent::Triangle { .. } => *slot,
    };
    slots.iter().zip(next).map(grown).collect()
}

/// Where what a slot shows in the next frame grows from, if it is part of what appears.
fn grows(next: &SlotContent, end: &FrameEnd) -> Option<[f32; 3]> {
    let SlotContent::Triangle { triangle, .. } = next else {
        return None;
    };
    let appearing = &end.appearing;
    let found = appearing.binary_search_by_key(triangle, |a| a.triangle);
    found.ok().map(|at| appearing[at].point)
}

/// The texels of a frame's end, as [`crate::vat::maker::remesh::encode_frame`] gives those of the frame. Places outside of `bounds` (metres) are brought to its sides.
///
/// Texture coordinates stay what they are in the frame, since islands of the next one may be cut elsewhere; all else is what the next frame has where a
/// point lands.
pub(crate) fn encode_end(
    frame: ShownFrame<'_>,
    next: ShownFrame<'_>,
    end: &FrameEnd,
    textures: &[TextureSpec],
    bounds: &Bounds,
) -> Vec<Vec<u8>> {
    let value = |quantity: &Quantity, vertex: usize, channel: usize| {
        let corner = (vertex / 3, vertex % 3);
        let value = match frame.slots[corner.0] {
            SlotContent::Triangle { triangle, turn } => {
                let (t, k) = (triangle as usize, (corner.1 + turn as usize) % 3);
                value_at_end(frame.mesh, next.mesh, end, quantity, (t, k), channel)
            }
            SlotContent::Absent { .. } => {
                let slot = corner.0;
                let shown = if grows(&next.slots[slot], end).is_some() {
                    next
                } else {
                    frame
                };
                value_of_corner(
                    shown.mesh,
                    shown.normals,
                    shown.slots,
                    quantity,
                    corner,
                    channel,
                )
            }
        };
        match quantity {
            Quantity::Position => value.clamp(bounds.0[channel], bounds.1[channel]),
            _ => value,
        }
    };
    encode_vertices(textures, frame.slots.len() * 3, value)
}

fn value_at_end(
    mesh: &Mesh,
    next: &Mesh,
    end: &FrameEnd,
    quantity: &Quantity,
    (t, corner): (usize, usize),
    channel: usize,
) -> f32 {
    let v = mesh.topology.triangles()[t][corner] as usize;
    let own = || quantity.of_vertex(mesh, v, channel).unwrap_or(0.0);
    match quantity {
        Quantity::Position => end.points[v][channel],
        Quantity::Normal => end.normals[t][corner][channel],
        Quantity::Uv(_) => own(),
        _ => {
            let Some(landing) = end.landings[v] else {
                return own();
            };
            let corners = next.topology.triangles()[landing.triangle as usize];
            let there = corners.iter().zip(landing.weights).map(|(v, weight)| {
                let value = quantity.of_vertex(next, *v as usize, channel);
                value.map(|value| value * weight)
            });
            there.sum::<Option<f32>>().unwrap_or_else(own)
        }
    }
}
