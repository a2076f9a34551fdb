//! The carrier mesh and the facts of the manifest: what players rely on beside the textures.

use super::judge::Judge;
use super::mode::FrameJudge;
use crate::FrameSource;
use crate::vat::maker::floating::{FloatingFault, check_floating};
use crate::vat::maker::soft::SoftCarrier;
use crate::vat::mode;
use serde::Serialize;
use sinew_geom::{Mesh, index32};
use sinew_vat::manifest::Manifest;

/// Share of the box's diagonal that places of the carrier and the box itself may be off: what conversions between spaces and units lose.
const TOLERANCE: f64 = 1e-5;

/// Texels that texture coordinates may be away from the centre of theirs: single precision loses less in the widest texture.
const OFF_CENTER: f64 = 0.05;

/// What is wrong with the carrier mesh or the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The carrier has more or fewer triangles than it should have.
    #[error("the carrier has {found} triangles, expected {expected}")]
    Triangles {
        /// In its file.
        found: usize,
        /// For this bake and this sequence.
        expected: usize,
    },
    /// A triangle of the carrier is another one.
    #[error("triangle {triangle} of the carrier has vertices {found:?}, expected {expected:?}")]
    Triangle {
        /// The first one.
        triangle: usize,
        /// Its vertices.
        found: [u32; 3],
        /// What they should be.
        expected: [u32; 3],
    },
    /// The set of texture coordinates that should point at texels is not there.
    #[error("the carrier has no texture coordinates {set}, which should point at texels")]
    NoTexels {
        /// Its number.
        set: u32,
    },
    /// A vertex points elsewhere than at the centre of its texel in the first frame.
    #[error(
        "vertex {vertex} of the carrier points at texel ({}, {}), expected the centre of its own, ({}, {})",
        .found[0], .found[1], .expected[0], .expected[1]
    )]
    Texel {
        /// The first one.
        vertex: usize,
        /// Where its texture coordinates are, in texels.
        found: [f64; 2],
        /// Where they should be.
        expected: [f64; 2],
    },
    /// Texture coordinates 0 of a particle's square do not say which corner a vertex is.
    #[error(
        "texture coordinates 0 of vertex {vertex} of the carrier are {found:?}, expected {expected:?}"
    )]
    Corner {
        /// The first one.
        vertex: usize,
        /// What they are.
        found: [f32; 2],
        /// What they should be.
        expected: [f32; 2],
    },
    /// A vertex is not where the first frame has it.
    #[error(
        "vertex {vertex} of the carrier is at {found:?}, expected {expected:?} as in the first frame"
    )]
    Place {
        /// The first one.
        vertex: usize,
        /// In its file, metres.
        found: [f32; 3],
        /// In the first frame, metres.
        expected: [f32; 3],
    },
    /// The carrier of pieces, whose normals players turn, has none.
    #[error("the carrier has no normals")]
    NoNormals,
    /// A vertex of the carrier of pieces has another normal than in the first frame.
    #[error(
        "the normal of vertex {vertex} of the carrier is {found:?}, expected {expected:?} as in the first frame"
    )]
    Normal {
        /// The first one.
        vertex: usize,
        /// In its file.
        found: [f32; 3],
        /// In the first frame.
        expected: [f32; 3],
    },
    /// The carrier of loose shapes is not what engines need.
    #[error("the carrier: {what}")]
    Floating {
        /// What is wrong.
        what: String,
    },
    /// The manifest says that frames cannot be blended, and they can.
    #[error("`can_blend` is false: {why}")]
    CannotBlend {
        /// Why they can.
        why: &'static str,
    },
    /// The manifest says that frames can be blended, and nothing is there to blend to.
    #[error("`can_blend` is true: {why}")]
    Blends {
        /// Why they cannot.
        why: &'static str,
    },
    /// A clip of the manifest has other frames.
    #[error(
        "`clips` has {} frames from {} on in place {place}, expected {} from {} on",
        .found[1], .found[0], .expected[1], .expected[0]
    )]
    Clip {
        /// Its place in the list.
        place: usize,
        /// Its first frame and their number.
        found: [usize; 2],
        /// What they should be.
        expected: [usize; 2],
    },
    /// The manifest has more or fewer clips.
    #[error("`clips` has {found}, expected {expected}")]
    Clips {
        /// In the manifest.
        found: usize,
        /// Of the sequence.
        expected: usize,
    },
    /// A frame leaves the box of the manifest.
    #[error(
        "frame {number} reaches {found:?}, outside of `bounds` ({low:?} to {high:?} in the axes of the frames, metres)"
    )]
    Outside {
        /// The frame.
        number: i64,
        /// A corner of its box that is outside.
        found: [f32; 3],
        /// Lowest corner of the manifest's box.
        low: [f32; 3],
        /// Highest corner.
        high: [f32; 3],
    },
}

impl From<FloatingFault> for Fault {
    fn from(fault: FloatingFault) -> Self {
        let what = fault.to_string();
        Self::Floating { what }
    }
}

/// What can be told before a frame was loaded; the first thing that is wrong with triangles and the first with texture coordinates.
pub(super) fn faults_of_files(
    manifest: &Manifest,
    carrier: &Mesh,
    source: &dyn FrameSource,
) -> Vec<Fault> {
    let mode = mode::of(manifest.mode);
    let expected = mode.triangles(manifest);
    let can_blend = mode.must_blend(manifest).filter(|_| !manifest.can_blend);
    let all = [
        expected.and_then(|expected| first_other(carrier, &expected)),
        other_texel(manifest, carrier),
        mode.carrier_fault(carrier),
        can_blend.map(|why| Fault::CannotBlend { why }),
        other_clip(manifest, source),
    ];
    all.into_iter().flatten().collect()
}

fn first_other(carrier: &Mesh, expected: &[[u32; 3]]) -> Option<Fault> {
    let found = carrier.topology.triangles();
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Some(Fault::Triangles { found, expected });
    }
    let triangle = found.iter().zip(expected).position(|(a, b)| a != b)?;
    Some(Fault::Triangle {
        triangle,
        found: found[triangle],
        expected: expected[triangle],
    })
}

/// The first vertex that does not point at the centre of its texel. Which piece a vertex belongs to is only known later: it must be the centre of one.
fn other_texel(manifest: &Manifest, carrier: &Mesh) -> Option<Fault> {
    let Some(uvs) = carrier.uvs.get(manifest.uv_set as usize) else {
        let set = manifest.uv_set;
        return Some(Fault::NoTexels { set });
    };
    let layout = &manifest.layout;
    let size = layout.size.map(f64::from);
    uvs.iter().enumerate().find_map(|(vertex, uv)| {
        let found = [0, 1].map(|k| f64::from(uv[k]) * size[k]);
        let expected = match mode::of(manifest.mode).texel_of(vertex) {
            Some(texel) => {
                let texel = index32(texel);
                layout.texel(texel, 0).map(|t| f64::from(t) + 0.5)
            }
            None => found.map(|f| f.floor() + 0.5),
        };
        let is_near = (0..2).all(|k| (found[k] - expected[k]).abs() <= OFF_CENTER);
        (!is_near).then_some(Fault::Texel {
            vertex,
            found,
            expected,
        })
    })
}

/// The first clip of which the frames are others than the sequence's; names are what people want.
fn other_clip(manifest: &Manifest, source: &dyn FrameSource) -> Option<Fault> {
    let clips = source.clips();
    let mut expected: Vec<[usize; 2]> = clips.iter().map(|c| [c.first, c.count]).collect();
    if expected.is_empty() {
        expected.push([0, source.frame_count()]);
    }
    let found = manifest.clips.iter().map(|c| &c.frames);
    let found: Vec<[usize; 2]> = found
        .map(|c| [c.first as usize, c.count as usize])
        .collect();
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Some(Fault::Clips { found, expected });
    }
    let place = found.iter().zip(&expected).position(|(a, b)| a != b)?;
    Some(Fault::Clip {
        place,
        found: found[place],
        expected: expected[place],
    })
}

impl Judge<'_> {
    /// Whether the carrier has other triangles than `soft`, or is elsewhere.
    pub(super) fn kept_faults(&self, soft: &SoftCarrier) -> Vec<Fault> {
        let triangles = first_other(self.carrier, soft.triangles());
        let expected = |v: usize| soft.rest(soft.source_vertex(v));
        let vertices = 0..soft.vertex_count().min(self.carrier.positions.len());
        let place = self.other_place(vertices.map(|v| (v, expected(v))));
        triangles.into_iter().chain(place).collect()
    }

    /// Whether loose shapes of so many corners fill the box and part from each other, as engines need it.
    pub(super) fn floating_fault(&self, corners: usize) -> Option<Fault> {
        let found = check_floating(self.carrier, &self.bounds(), corners);
        found.err().map(Fault::from)
    }

    pub(super) fn other_place(
        &self,
        mut expected: impl Iterator<Item = (usize, [f32; 3])>,
    ) -> Option<Fault> {
        let allowed = TOLERANCE * self.size();
        expected.find_map(|(vertex, expected)| {
            let found = self.carrier.positions[vertex];
            let is_near = super::distance(found, expected) <= allowed;
            (!is_near).then_some(Fault::Place {
                vertex,
                found,
                expected,
            })
        })
    }

    /// Whether a frame leaves the box; of particles their squares do, however they are turned.
    pub(super) fn outside(
        &self,
        frames: &dyn FrameJudge,
        mesh: &Mesh,
        number: i64,
    ) -> Option<Fault> {
        let found = frames.box_of(mesh)?;
        let (low, high) = self.bounds();
        let farthest = low.iter().chain(&high).fold(0.0_f32, |m, c| m.max(c.abs()));
        let allowed = TOLERANCE * self.size() + 1e-6 * f64::from(farthest);
        let below = (0..3).any(|k| f64::from(low[k]) - f64::from(found.0[k]) > allowed);
        let above = (0..3).any(|k| f64::from(found.1[k]) - f64::from(high[k]) > allowed);
        let found = if below { found.0 } else { found.1 };
        (below || above).then_some(Fault::Outside {
            number,
            found,
            low,
            high,
        })
    }
}
