//! Sequences whose triangles change from frame to frame: three texels a triangle.
//!
//! A slot is a triangle of the carrier. In each frame it shows a triangle of that frame or nothing: three corners in one
//! point, to the bit, so that no rounding gives it an area.

use crate::vat::maker::matching::Slot;
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, index32};
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::{Extent, TextureSpec, encode_vertices};

/// What a slot shows in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum SlotContent {
    /// A triangle of the frame; corner `k` of the slot is its corner `(k + turn) % 3`.
    Triangle {
        /// Index in the frame's mesh.
        triangle: u32,
        /// 0, 1 or 2.
        turn: u8,
    },
    /// Nothing: all corners are here (metres), nearby for players that blend frames.
    Absent {
        /// Where the corners are.
        point: [f32; 3],
    },
}

impl SlotContent {
    /// The triangle of the frame that a corner of the slot shows, and which of its corners that is.
    pub(crate) fn corner(&self, k: usize) -> Option<(usize, usize)> {
        match *self {
            Self::Triangle { triangle, turn } => Some((triangle as usize, (k + turn as usize) % 3)),
            Self::Absent { .. } => None,
        }
    }
}

/// What a frame must be known by before anything is laid out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FrameScan {
    /// Triangles of the frame.
    pub triangles: u32,
    /// Least and most of each quantity, in the order asked for; `None` where the frame shows nothing.
    pub extents: Option<Vec<Extent>>,
}

/// Why a frame cannot be part of a sequence; which one is in `frame`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A quantity that other frames have is missing.
    #[error("no {quantity}, which is to be baked")]
    Missing {
        /// Index of the frame.
        frame: usize,
        /// What is missing.
        quantity: Quantity,
    },
    /// A quantity has another number of channels.
    #[error("{found} channels of {quantity}, the frames before have {expected}")]
    Channels {
        /// Index of the frame.
        frame: usize,
        /// Of what.
        quantity: Quantity,
        /// Channels here.
        found: usize,
        /// Channels of the first frame that shows something.
        expected: usize,
    },
}

impl FrameError {
    /// Index of the frame.
    pub fn frame(&self) -> usize {
        match self {
            Self::Missing { frame, .. } | Self::Channels { frame, .. } => *frame,
        }
    }
}

/// Looks at what one frame holds of `quantities`; only vertices of triangles count.
///
/// # Errors
/// [`FrameError::Missing`] where the mesh has triangles but not all quantities.
pub(crate) fn scan_frame(
    frame: usize,
    mesh: &Mesh,
    quantities: &[Quantity],
) -> Result<FrameScan, FrameError> {
    let triangles = mesh.topology.triangles();
    let scan = |quantity: &Quantity| {
        let channels = quantity.channels(mesh).ok_or_else(|| FrameError::Missing {
            frame,
            quantity: quantity.clone(),
        })?;
        let of_channel = |channel| extent_of(mesh, quantity, channel);
        let (least, most) = (0..channels).map(of_channel).unzip();
        Ok(Extent { least, most })
    };
    let extents = match triangles.is_empty() {
        true => None,
        false => Some(quantities.iter().map(scan).collect::<Result<_, _>>()?),
    };
    Ok(FrameScan {
        triangles: index32(triangles.len()),
        extents,
    })
}

fn extent_of(mesh: &Mesh, quantity: &Quantity, channel: usize) -> (f32, f32) {
    if matches!(
        quantity,
        Quantity::Normal | Quantity::Rotation | Quantity::Tangent
    ) {
        return (-1.0, 1.0);
    }
    let vertices = mesh.topology.triangles().iter().flatten();
    let values = vertices.filter_map(|v| quantity.of_vertex(mesh, *v as usize, channel));
    values.fold((f32::MAX, f32::MIN), |(low, high), v| {
        (low.min(v), high.max(v))
    })
}

/// Extents of all frames together, `None` where no frame shows anything.
///
/// # Errors
/// [`FrameError::Channels`] where frames do not agree on the number of channels.
pub(crate) fn join_extents(
    scans: &[FrameScan],
    quantities: &[Quantity],
) -> Result<Option<Vec<Extent>>, FrameError> {
    let mut all: Option<Vec<Extent>> = None;
    for (frame, scan) in scans.iter().enumerate() {
        let Some(extents) = &scan.extents else {
            continue;
        };
        let Some(all) = &mut all else {
            all = Some(extents.clone());
            continue;
        };
        for ((whole, part), quantity) in all.iter_mut().zip(extents).zip(quantities) {
            if whole.least.len() != part.least.len() {
                return Err(FrameError::Channels {
                    frame,
                    quantity: quantity.clone(),
                    found: part.least.len(),
                    expected: whole.least.len(),
                });
            }
            whole.join(part);
        }
    }
    Ok(all)
}

/// The texels of one frame: for each texture the bytes of all its vertices, `3 * slot + corner`.
///
/// `crease` as in [`crate::vat::maker::normals::corner_normals`]. Cost: linear in slots and textures, and the normals.
#[cfg(test)]
pub(crate) fn encode_frame(
    mesh: &Mesh,
    slots: &[SlotContent],
    textures: &[TextureSpec],
    crease: f32,
) -> Vec<Vec<u8>> {
    let wants_normals = textures.iter().any(|t| t.quantity == Quantity::Normal);
    let normals = match wants_normals {
        true => crate::vat::maker::normals::corner_normals(&mesh.topology, &mesh.positions, crease),
        false => Vec::new(),
    };
    encode_frame_with(mesh, slots, textures, &normals)
}

/// The same with normals that are known: those of [`crate::vat::maker::normals::corner_normals`] for this mesh, or none where no texture holds any.
pub(crate) fn encode_frame_with(
    mesh: &Mesh,
    slots: &[SlotContent],
    textures: &[TextureSpec],
    normals: &[[[f32; 3]; 3]],
) -> Vec<Vec<u8>> {
    let value = |quantity: &Quantity, vertex: usize, channel: usize| {
        let corner = (vertex / 3, vertex % 3);
        value_of_corner(mesh, normals, slots, quantity, corner, channel)
    };
    encode_vertices(textures, slots.len() * 3, value)
}

pub(crate) fn value_of_corner(
    mesh: &Mesh,
    normals: &[[[f32; 3]; 3]],
    slots: &[SlotContent],
    quantity: &Quantity,
    (slot, k): (usize, usize),
    channel: usize,
) -> f32 {
    if let Some((t, corner)) = slots[slot].corner(k) {
        let v = mesh.topology.triangles()[t][corner] as usize;
        return match quantity {
            Quantity::Normal => normals[t][corner][channel],
            other => other.of_vertex(mesh, v, channel).unwrap_or(0.0),
        };
    }
    match slots[slot] {
        SlotContent::Absent { point } if *quantity == Quantity::Position => point[channel],
        _ => quantity.where_absent(channel),
    }
}

/// What slots show, from pairs of triangles put together ([`crate::vat::maker::matching::SlotChain`]). Slots that are not used stay where
/// they were in `before` (the contents of the frame before, if there is one), otherwise at `elsewhere`: so nothing streaks through the
/// picture where an engine draws motion.
pub(crate) fn slots_by_matching(
    row: &[Slot],
    before: Option<&[SlotContent]>,
    elsewhere: [f32; 3],
) -> Vec<SlotContent> {
    let at_rest = |slot: usize| match before.and_then(|b| b.get(slot)) {
        Some(SlotContent::Absent { point }) => *point,
        _ => elsewhere,
    };
    row.iter()
        .enumerate()
        .map(|(i, slot)| match *slot {
            Slot::Live { triangle, turn } => SlotContent::Triangle { triangle, turn },
            Slot::Dying(point) | Slot::Born(point) => SlotContent::Absent { point },
            Slot::Unused => SlotContent::Absent { point: at_rest(i) },
        })
        .collect()
}

/// A frame's triangles in the order of the file, slots behind them at one point: what a bake without matching shows.
pub(crate) fn slots_in_file_order(
    triangles: u32,
    slots: u32,
    absent: [f32; 3],
) -> Vec<SlotContent> {
    (0..slots)
        .map(|triangle| match triangle < triangles {
            true => SlotContent::Triangle { triangle, turn: 0 },
            false => SlotContent::Absent { point: absent },
        })
        .collect()
}

#[cfg(test)]
#[path = "remesh_tests.rs"]
mod tests;
