//! Sequences whose triangles change from frame to frame: three texels a triangle.
//!
//! A slot is a triangle of the carrier. In each frame it shows a triangle of that frame or nothing: three corners in one
//! point, to the bit, so that no rounding gives it an area.

use crate::layout::Layout;
use crate::normals::corner_normals;
use crate::quantity::Quantity;
use crate::texel::{Range, TexelFormat};
use serde::{Deserialize, Serialize};
use sinew_geom::Mesh;

/// What a slot shows in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SlotContent {
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

/// One texture of a bake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextureSpec {
    /// What it holds.
    pub quantity: Quantity,
    /// How a channel is stored.
    pub format: TexelFormat,
    /// From texel to value, one for each channel.
    pub ranges: Vec<Range>,
}

/// Least and most of each channel of a quantity over any number of frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// Lowest value of each channel.
    pub least: Vec<f32>,
    /// Highest value of each channel.
    pub most: Vec<f32>,
}

/// What a frame must be known by before anything is laid out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameScan {
    /// Triangles of the frame.
    pub triangles: u32,
    /// Least and most of each quantity, in the order asked for; `None` where the frame shows nothing.
    pub extents: Option<Vec<Extent>>,
}

/// Why a frame cannot be part of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A quantity that other frames have is missing.
    #[error("frame {frame} has no {quantity:?}, which is to be baked")]
    Missing {
        /// Index of the frame.
        frame: usize,
        /// What is missing.
        quantity: Quantity,
    },
    /// A quantity has another number of channels.
    #[error(
        "frame {frame} has {found} channels of {quantity:?}, the frames before have {expected}"
    )]
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

/// Looks at what one frame holds of `quantities`; only vertices of triangles count.
///
/// # Errors
/// [`FrameError::Missing`] where the mesh has triangles but not all quantities.
pub fn scan_frame(
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
        triangles: u32::try_from(triangles.len()).unwrap_or(u32::MAX),
        extents,
    })
}

fn extent_of(mesh: &Mesh, quantity: &Quantity, channel: usize) -> (f32, f32) {
    if *quantity == Quantity::Normal {
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
pub fn join_extents(
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
            for (a, b) in whole.least.iter_mut().zip(&part.least) {
                *a = a.min(*b);
            }
            for (a, b) in whole.most.iter_mut().zip(&part.most) {
                *a = a.max(*b);
            }
        }
    }
    Ok(all)
}

impl TextureSpec {
    /// For a quantity with that extent.
    pub fn new(quantity: Quantity, format: TexelFormat, extent: &Extent) -> Self {
        let channels = extent.least.iter().zip(&extent.most);
        let range = |(least, most): (&f32, &f32)| match &quantity {
            Quantity::Normal if format.is_float() => Range::RAW,
            Quantity::Normal => Range::DIRECTION,
            other => Range::covering(*least, *most, format, other.zero_is_exact()),
        };
        Self {
            ranges: channels.map(range).collect(),
            format,
            quantity,
        }
    }

    /// Bytes of one vertex.
    pub fn vertex_bytes(&self) -> usize {
        self.ranges.len() * self.format.bytes()
    }

    /// Value of one channel from the bytes of a vertex.
    pub fn decode(&self, vertex: &[u8], channel: usize) -> f32 {
        let size = self.format.bytes();
        let bytes = vertex.get(channel * size..).unwrap_or(&[]);
        let range = self.ranges.get(channel).copied().unwrap_or(Range::RAW);
        range.value(self.format.decode(bytes))
    }

    fn encode(&self, channel: usize, value: f32, out: &mut Vec<u8>) {
        let range = self.ranges.get(channel).copied().unwrap_or(Range::RAW);
        self.format.encode(range.texel(value), out);
    }
}

/// The texels of one frame: for each texture the bytes of all its vertices, `3 * slot + corner`.
///
/// `crease` as in [`corner_normals`]. Cost: linear in slots and textures, and the normals.
pub fn encode_frame(
    mesh: &Mesh,
    slots: &[SlotContent],
    textures: &[TextureSpec],
    crease: f32,
) -> Vec<Vec<u8>> {
    let wants_normals = textures.iter().any(|t| t.quantity == Quantity::Normal);
    let normals = match wants_normals {
        true => corner_normals(&mesh.topology, &mesh.positions, crease),
        false => Vec::new(),
    };
    textures
        .iter()
        .map(|texture| {
            let mut out = Vec::with_capacity(slots.len() * 3 * texture.vertex_bytes());
            for slot in slots {
                encode_slot(mesh, &normals, *slot, texture, &mut out);
            }
            out
        })
        .collect()
}

fn encode_slot(
    mesh: &Mesh,
    normals: &[[[f32; 3]; 3]],
    slot: SlotContent,
    texture: &TextureSpec,
    out: &mut Vec<u8>,
) {
    let quantity = &texture.quantity;
    for k in 0..3 {
        for channel in 0..texture.ranges.len() {
            let value = match slot {
                SlotContent::Triangle { triangle, turn } => {
                    let (t, corner) = (triangle as usize, (k + turn as usize) % 3);
                    match quantity {
                        Quantity::Normal => normals[t][corner][channel],
                        other => {
                            let v = mesh.topology.triangles()[t][corner] as usize;
                            other.of_vertex(mesh, v, channel).unwrap_or(0.0)
                        }
                    }
                }
                SlotContent::Absent { point } if *quantity == Quantity::Position => point[channel],
                SlotContent::Absent { .. } => quantity.where_absent(channel),
            };
            texture.encode(channel, value, out);
        }
    }
}

/// A frame's triangles in the order of the file, slots behind them at one point: what a bake without matching shows.
pub fn slots_in_file_order(triangles: u32, slots: u32, absent: [f32; 3]) -> Vec<SlotContent> {
    (0..slots)
        .map(|triangle| match triangle < triangles {
            true => SlotContent::Triangle { triangle, turn: 0 },
            false => SlotContent::Absent { point: absent },
        })
        .collect()
}

/// Puts the texels of frames together row by row: row `y` of a texture, `vertex_bytes` a texel, zeros where nothing is.
///
/// `frame` gives the bytes of a frame as [`encode_frame`] made them.
pub fn texture_row<'a>(
    layout: &Layout,
    y: u32,
    vertex_bytes: usize,
    frame: impl Fn(u32) -> &'a [u8],
    out: &mut Vec<u8>,
) {
    out.clear();
    out.resize(layout.size[0] as usize * vertex_bytes, 0);
    for piece in layout.row(y) {
        let bytes = frame(piece.frame);
        let from = piece.vertices.start as usize * vertex_bytes;
        let to = piece.vertices.end as usize * vertex_bytes;
        let at = piece.x as usize * vertex_bytes;
        if let Some(source) = bytes.get(from..to) {
            out[at..at + source.len()].copy_from_slice(source);
        }
    }
}

#[cfg(test)]
#[path = "remesh_tests.rs"]
mod tests;
