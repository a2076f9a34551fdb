//! The carrier mesh and the facts of the manifest: what players rely on beside the textures.

use super::judge::Judge;
use crate::FrameSource;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::floating::{FloatingFault, check_floating};
use crate::vat::maker::sprites::CORNER_UVS;
use serde::Serialize;
use sinew_geom::{Bounds, Mesh, index32};
use sinew_vat::manifest::{Manifest, Mode};

/// Share of the box's diagonal that places of the carrier and the box itself may be off: what conversions between spaces and units lose.
const TOLERANCE: f64 = 1e-5;

/// How far normals of the carrier may be turned, radians: what single precision loses, and writers that make them unit again.
const TURNED: f64 = 5e-5;

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
    let triangles = match manifest.mode {
        Mode::Remesh => {
            let slots = manifest.layout.vertices / 3;
            let expected = (0..slots).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
            first_other(carrier, &expected.collect::<Vec<_>>())
        }
        Mode::Particles => {
            let squares = (0..manifest.layout.vertices).map(|s| 4 * s);
            let halves = squares.flat_map(|b| [[b, b + 1, b + 2], [b, b + 2, b + 3]]);
            first_other(carrier, &halves.collect::<Vec<_>>())
        }
        // Their triangles are the sequence's.
        Mode::Soft | Mode::Rigid => None,
    };
    let corners = match manifest.mode {
        Mode::Particles => other_corner(carrier),
        _ => None,
    };
    let all = [
        triangles,
        other_texel(manifest, carrier),
        corners,
        no_blend(manifest),
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
        let texel = match manifest.mode {
            Mode::Remesh | Mode::Soft => Some(vertex),
            Mode::Particles => Some(vertex / 4),
            Mode::Rigid => None,
        };
        let expected = match texel {
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

fn other_corner(carrier: &Mesh) -> Option<Fault> {
    let uvs = carrier.uvs.first()?;
    uvs.iter().enumerate().find_map(|(vertex, found)| {
        let expected = CORNER_UVS[vertex % 4];
        let is_near = (0..2).all(|k| (found[k] - expected[k]).abs() < 1e-3);
        (!is_near).then_some(Fault::Corner {
            vertex,
            found: *found,
            expected,
        })
    })
}

/// The first vertex whose normal is not the first frame's. Where that has no area there is no direction.
fn other_normal(carrier: &Mesh, expected: &[[f32; 3]]) -> Option<Fault> {
    let Some(normals) = &carrier.normals else {
        return Some(Fault::NoNormals);
    };
    let both = normals.iter().zip(expected).enumerate();
    let mut known = both.filter(|(_, (_, expected))| expected.iter().any(|c| *c != 0.0));
    known.find_map(|(vertex, (found, expected))| {
        let is_near = angle_between(*found, *expected) <= TURNED;
        (!is_near).then_some(Fault::Normal {
            vertex,
            found: *found,
            expected: *expected,
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

fn no_blend(manifest: &Manifest) -> Option<Fault> {
    let why = match manifest.mode {
        Mode::Soft => "triangles stay the same",
        Mode::Particles => "slots show one point after another",
        Mode::Remesh if manifest.has_ends => "frames have ends to go to (`has_ends`)",
        // Bakes that step are made, too.
        Mode::Remesh | Mode::Rigid => return None,
    };
    (!manifest.can_blend).then_some(Fault::CannotBlend { why })
}

impl Judge<'_> {
    /// What is wrong with the carrier beside what [`faults_of_files`] tells.
    pub(super) fn carrier_faults(&self) -> Vec<Fault> {
        let manifest = self.animation.manifest();
        let corners = match manifest.mode {
            Mode::Remesh => 3,
            Mode::Particles => 4,
            Mode::Soft | Mode::Rigid => return self.kept_faults(),
        };
        let floating = check_floating(self.carrier, &self.bounds(), corners);
        let floating = floating.err().map(Fault::from);
        let blends = match manifest.mode {
            Mode::Remesh => self.other_blends(),
            _ => None,
        };
        [floating, blends].into_iter().flatten().collect()
    }

    /// Whether loose triangles without ends blend is a choice, which settings tell.
    fn other_blends(&self) -> Option<Fault> {
        let manifest = self.animation.manifest();
        let why = match (manifest.can_blend, manifest.has_ends) {
            (true, false) if !self.settings.is_matched() => {
                "slots show unrelated triangles in that order, so that players have to step"
            }
            (true, false) if self.settings.has_ends() => {
                "frames have no ends to go to (`has_ends`), which closed in-betweens need"
            }
            _ => return None,
        };
        Some(Fault::Blends { why })
    }

    /// Of carriers that are the first frame.
    fn kept_faults(&self) -> Vec<Fault> {
        if let Some(first) = &self.torn {
            return self.torn_fault(first).into_iter().collect();
        }
        let shapes = self.shapes.as_ref().and_then(|s| s.carrier());
        let Some(soft) = self.soft.as_ref().or(shapes) else {
            return Vec::new();
        };
        let triangles = first_other(self.carrier, soft.triangles());
        let expected = |v: usize| soft.rest(soft.source_vertex(v));
        let vertices = 0..soft.vertex_count().min(self.carrier.positions.len());
        let place = self.other_place(vertices.map(|v| (v, expected(v))));
        let normal = self.shapes.as_ref().and_then(|s| s.normals());
        let normal = normal.and_then(|expected| other_normal(self.carrier, expected));
        [triangles, place, normal].into_iter().flatten().collect()
    }

    /// Vertices of cloth that tears are told by its corners.
    fn torn_fault(&self, first: &Mesh) -> Option<Fault> {
        let (shown, own) = (
            self.carrier.topology.triangles(),
            first.topology.triangles(),
        );
        if shown.len() != own.len() {
            let (found, expected) = (shown.len(), own.len());
            return Some(Fault::Triangles { found, expected });
        }
        let corners = shown.iter().flatten().zip(own.iter().flatten());
        self.other_place(corners.map(|(v, o)| (*v as usize, first.positions[*o as usize])))
    }

    fn other_place(&self, mut expected: impl Iterator<Item = (usize, [f32; 3])>) -> Option<Fault> {
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
    pub(super) fn outside(&self, mesh: &Mesh, number: i64) -> Option<Fault> {
        let is_points = self.animation.manifest().mode == Mode::Particles;
        let found = match is_points {
            true => self.box_of_squares(mesh)?,
            false => {
                let used = mesh.topology.triangles().iter().flatten();
                let used: Vec<[f32; 3]> = used.map(|v| mesh.positions[*v as usize]).collect();
                sinew_geom::bounds(&used)?
            }
        };
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

    fn box_of_squares(&self, mesh: &Mesh) -> Option<Bounds> {
        let corners = mesh.positions.iter().enumerate().flat_map(|(p, place)| {
            let half = self.settings.particles.width(mesh, p) * std::f32::consts::FRAC_1_SQRT_2;
            [-half, half].map(|half| place.map(|c| c + half))
        });
        sinew_geom::bounds(&corners.collect::<Vec<_>>())
    }
}
