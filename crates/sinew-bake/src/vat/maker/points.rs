//! One texel a point instead of three a triangle: triangles that change, in smaller textures.
//!
//! Corners of triangles that have the same place and the same of all else that is baked are one *point*, with one texel in each texture of the frame.
//! A further texture, the *lookup*, has a texel for each corner of each frame, where [`crate::vat::maker::remesh`] has that of the corner itself: the number of the
//! corner's point in the frame. Vertices of the carrier stay corners, in their order. Hard edges and seams of texture coordinates stay, since corners on
//! their sides differ.
//!
//! Numbers are in three channels of 8 bits, the lowest in red ([`sinew_vat::manifest::Lookup`]). PNG of 8 bits is what every engine reads bit for bit
//! (browsers and Godot make 8 bits of 16, EXR is not read everywhere), and without alpha nothing is premultiplied. Whole numbers below 2^24 are also exact in single
//! precision. Where in the textures a point is follows from its number and the frame, by [`Layout`] as ever: so numbers stay small, whatever the size of
//! textures.

use crate::vat::maker::ends::ShownFrame;
use crate::vat::maker::plan::RemeshSettings;
use crate::vat::maker::remesh::{SlotContent, value_of_corner};
use sinew_geom::{Mesh, index32};
use sinew_vat::layout::{Layout, LayoutError};
use sinew_vat::lookup::{LOOKUP_BYTES, MOST_POINTS, lookup_texel};
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::{TextureSpec, encode_vertices};
use std::collections::HashMap;

/// Why a frame has no lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// More points than can be numbered.
    #[error("frame {frame} has {found} points; {MOST_POINTS} are allowed")]
    TooMany {
        /// Index of the frame.
        frame: usize,
        /// Its points.
        found: u64,
    },
    /// More points than the layout has room for.
    #[error("{found} points, the layout has room for {allowed}")]
    Room {
        /// Points of the frame.
        found: usize,
        /// Vertices of the layout.
        allowed: u32,
    },
    /// The points fit into no texture.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// The points of one frame, numbered by their first corner, in the order of the mesh's triangles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PointTable {
    /// Point of each corner, `3 * triangle + corner`.
    of_corner: Vec<u32>,
    /// First corner of each point.
    first_corner: Vec<u32>,
}

impl PointTable {
    /// Corners are one point where all numbers of `quantities` are equal (zeros of either sign are). `normals` are those of the corners of each triangle
    /// ([`crate::vat::maker::normals::corner_normals`]); they are not read unless [`Quantity::Normal`] is among the quantities.
    ///
    /// Cost: linear in corners and quantities.
    pub(crate) fn new(mesh: &Mesh, normals: &[[[f32; 3]; 3]], quantities: &[Quantity]) -> Self {
        let channels: Vec<(&Quantity, usize)> = quantities
            .iter()
            .flat_map(|q| (0..q.channels(mesh).unwrap_or(0)).map(move |c| (q, c)))
            .collect();
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut out = Self {
            of_corner: Vec::new(),
            first_corner: Vec::new(),
        };
        for (t, triangle) in mesh.topology.triangles().iter().enumerate() {
            for (k, vertex) in triangle.iter().enumerate() {
                let number = |&(quantity, channel): &(&Quantity, usize)| {
                    let value = match quantity {
                        Quantity::Normal => normals[t][k][channel],
                        other => other
                            .of_vertex(mesh, *vertex as usize, channel)
                            .unwrap_or(0.0),
                    };
                    // Of two zeros with different signs the positive one.
                    (value + 0.0).to_bits()
                };
                let key = channels.iter().map(number).collect();
                out.add(known.entry(key));
            }
        }
        out
    }

    fn add(&mut self, entry: std::collections::hash_map::Entry<'_, Vec<u32>, u32>) {
        let corner = self.of_corner.len() as u32;
        let point = *entry.or_insert_with(|| {
            self.first_corner.push(corner);
            self.first_corner.len() as u32 - 1
        });
        self.of_corner.push(point);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.first_corner.len()
    }

    /// Point of corner `k` of triangle `t`.
    pub(crate) fn of_corner(&self, t: usize, k: usize) -> u32 {
        self.of_corner[3 * t + k]
    }
}

/// The points that slots without a triangle collapse to, each once, in the order of the slots.
pub(crate) fn absent_points(slots: &[SlotContent]) -> Vec<[f32; 3]> {
    Absent::of(slots).points
}

/// Points of absent slots, and the number of each slot's.
struct Absent {
    points: Vec<[f32; 3]>,
    of_slot: Vec<u32>,
}

impl Absent {
    fn of(slots: &[SlotContent]) -> Self {
        let mut known: HashMap<[u32; 3], u32> = HashMap::new();
        let mut points = Vec::new();
        let number = |slot: &SlotContent| match slot {
            SlotContent::Triangle { .. } => 0,
            SlotContent::Absent { point } => {
                *known.entry(point.map(f32::to_bits)).or_insert_with(|| {
                    points.push(*point);
                    points.len() as u32 - 1
                })
            }
        };
        let of_slot = slots.iter().map(number).collect();
        Self { points, of_slot }
    }
}

/// Where the points of all frames are, from how many each has (those of absent slots included), with the sides that the settings allow.
///
/// # Errors
/// [`PointsError`] where a frame has too many, or they fit into no texture.
pub(crate) fn points_layout(
    points: &[u64],
    settings: &RemeshSettings,
) -> Result<Layout, PointsError> {
    let too_many = |(_, found): &(usize, &u64)| **found > u64::from(MOST_POINTS);
    if let Some((frame, found)) = points.iter().enumerate().find(too_many) {
        let found = *found;
        return Err(PointsError::TooMany { frame, found });
    }
    let most = points.iter().max().copied().unwrap_or(0);
    let most = u32::try_from(most).unwrap_or(MOST_POINTS);
    let frames = index32(points.len());
    let limit = settings.largest_side;
    let layout = Layout::fitting(most, frames, 1, limit)?;
    Ok(match settings.powers_of_two {
        true => layout.padded_to_powers_of_two(limit)?,
        false => layout,
    })
}

/// The texels of one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PointTexels {
    /// For each texture the bytes of all points, and zeros up to the room that there is.
    pub textures: Vec<Vec<u8>>,
    /// The lookup: [`LOOKUP_BYTES`] for each corner, `3 * slot + corner`.
    pub lookup: Vec<u8>,
}

/// Texels of a frame whose points are known; `room` is how many the layout has for them.
///
/// `shown` may be in other axes than the mesh of `table`: only which corners are one point is taken from there.
///
/// # Errors
/// [`PointsError::Room`] where they are more.
#[cfg(test)]
pub(crate) fn encode_points(
    shown: ShownFrame<'_>,
    table: &PointTable,
    textures: &[TextureSpec],
    room: u32,
) -> Result<PointTexels, PointsError> {
    encode_points_with(shown, table, textures, room, |_, _, _| None)
}

/// The same where textures hold numbers that no quantity of the mesh is: `own(quantity, corner, channel)` gives them, or `None` for all others.
/// A corner is a triangle of the mesh and which of its three, nothing for the points that absent slots collapse to.
///
/// # Errors
/// As [`encode_points`].
pub(crate) fn encode_points_with(
    shown: ShownFrame<'_>,
    table: &PointTable,
    textures: &[TextureSpec],
    room: u32,
    own: impl Fn(&Quantity, Option<(usize, usize)>, usize) -> Option<f32>,
) -> Result<PointTexels, PointsError> {
    let absent = Absent::of(shown.slots);
    let count = table.count() + absent.points.len();
    if count > room as usize {
        return Err(PointsError::Room {
            found: count,
            allowed: room,
        });
    }
    let value = |quantity: &Quantity, point: usize, channel: usize| {
        let first = table.first_corner.get(point).map(|c| *c as usize);
        if let Some(value) = own(quantity, first.map(|c| (c / 3, c % 3)), channel) {
            return value;
        }
        let slot = match table.first_corner.get(point) {
            Some(corner) => SlotContent::Triangle {
                triangle: corner / 3,
                turn: 0,
            },
            None => SlotContent::Absent {
                point: absent.points[point - table.count()],
            },
        };
        let k = table.first_corner.get(point).map_or(0, |c| c % 3) as usize;
        value_of_corner(
            shown.mesh,
            shown.normals,
            &[slot],
            quantity,
            (0, k),
            channel,
        )
    };
    let mut texels = encode_vertices(textures, count, value);
    for (bytes, spec) in texels.iter_mut().zip(textures) {
        bytes.resize(room as usize * spec.vertex_bytes(), 0);
    }
    Ok(PointTexels {
        textures: texels,
        lookup: lookup_of(shown.slots, table, &absent),
    })
}

fn lookup_of(slots: &[SlotContent], table: &PointTable, absent: &Absent) -> Vec<u8> {
    let mut out = Vec::with_capacity(slots.len() * 3 * LOOKUP_BYTES);
    for (slot, own) in slots.iter().zip(&absent.of_slot) {
        for k in 0..3 {
            let point = match slot {
                SlotContent::Triangle { triangle, turn } => {
                    table.of_corner(*triangle as usize, (k + *turn as usize) % 3)
                }
                SlotContent::Absent { .. } => table.count() as u32 + own,
            };
            out.extend(lookup_texel(point));
        }
    }
    out
}

#[cfg(test)]
#[path = "points_tests.rs"]
mod tests;
