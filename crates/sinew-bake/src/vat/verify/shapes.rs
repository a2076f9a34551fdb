//! Bakes of pieces and particles against their sequence: played from the files alone.

use super::grid::Grid;
use super::pairing::{Candidate, Pairing};
use super::surface::SurfaceErrors;
use super::{Verified, distance};
use crate::BakeError;
use crate::vat::rigid::RigidCarrier;
use crate::vat::settings::VatSettings;
use sinew_geom::Mesh;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::error::angle_between;
use sinew_vat::layout::Layout;
use sinew_vat::manifest::{Manifest, Mode};
use sinew_vat::playback::FrameBlend;
use sinew_vat::played::{PlayedParticles, PlayedPieces, PlayedPose, place_in_gltf};
use sinew_vat::quantity::Quantity;
use sinew_vat::soft::SoftCarrier;
use sinew_vat::texel::TexelFormat;
use std::collections::HashMap;

/// What is played, and what it is held against.
pub(super) enum ShapeJudge<'a> {
    Pieces(Pieces<'a>),
    Particles(Particles<'a>),
}

impl<'a> ShapeJudge<'a> {
    /// `None` for bakes whose vertices have texels of their own.
    pub(super) fn new(
        animation: &'a VertexAnimation,
        carrier: &'a Mesh,
        first: &Mesh,
        settings: &'a VatSettings,
    ) -> Result<Option<Self>, String> {
        Ok(match animation.manifest().mode {
            Mode::Remesh | Mode::Soft => None,
            Mode::Rigid => Some(Self::Pieces(Pieces::new(
                animation, carrier, first, settings,
            )?)),
            Mode::Particles => {
                let played = PlayedParticles::new(animation).ok_or("no positions or sizes")?;
                let manifest = animation.manifest();
                let found = carrier.positions.len();
                let expected = manifest.layout.vertices as usize * 4;
                if found != expected {
                    return Err(format!(
                        "a carrier of {found} vertices, expected {expected}"
                    ));
                }
                Some(Self::Particles(Particles {
                    played,
                    manifest,
                    settings,
                }))
            }
        })
    }

    pub(super) fn frame(
        &self,
        frame: u32,
        mesh: &Mesh,
        number: i64,
        surface: SurfaceErrors,
    ) -> Result<Verified, BakeError> {
        match self {
            Self::Pieces(pieces) => pieces.frame(frame, mesh, number, surface),
            Self::Particles(particles) => Ok(particles.frame(frame, mesh, number)),
        }
    }

    /// The first frame as the carrier should have it, of pieces.
    pub(super) fn carrier(&self) -> Option<&SoftCarrier> {
        match self {
            Self::Pieces(pieces) => Some(&pieces.soft),
            Self::Particles(_) => None,
        }
    }

    /// What comes to half a step of each coordinate, metres.
    pub(super) fn promised_beyond(&self) -> f64 {
        match self {
            Self::Pieces(pieces) => pieces.promised_beyond(),
            Self::Particles(_) => 0.0,
        }
    }
}

fn alone(frame: u32) -> FrameBlend {
    FrameBlend {
        frame,
        next: frame,
        weight: 0.0,
    }
}

/// How far rounding takes numbers of a quantity that are `largest` at most, all in the unit of glTF: half a step of its codes; halves have eleven
/// bits.
fn rounding_of(manifest: &Manifest, quantity: &Quantity, largest: f64) -> f64 {
    let texture = manifest
        .texture(quantity)
        .map(|t| &manifest.textures[t].spec);
    texture.map_or(0.0, |spec| match spec.format {
        TexelFormat::Half => largest / 2048.0,
        format => {
            let scales = spec.ranges.iter().map(|r| f64::from(r.scale));
            let units = f64::from(manifest.space.units_of(quantity));
            scales.fold(0.0, f64::max) * format.half_step() / units
        }
    })
}

/// A bake of pieces.
pub(super) struct Pieces<'a> {
    played: PlayedPieces<'a>,
    manifest: &'a Manifest,
    carrier: &'a Mesh,
    /// Piece of each vertex of the carrier, from its texture coordinates.
    pieces: Vec<u32>,
    soft: SoftCarrier,
    tolerance: f64,
}

impl<'a> Pieces<'a> {
    fn new(
        animation: &'a VertexAnimation,
        carrier: &'a Mesh,
        first: &Mesh,
        settings: &VatSettings,
    ) -> Result<Self, String> {
        let manifest = animation.manifest();
        let soft = SoftCarrier::new(first, settings.crease());
        let (found, expected) = (soft.vertex_count(), carrier.positions.len());
        if found != expected {
            return Err(format!(
                "a carrier of {found} vertices with this crease, the bake has {expected}"
            ));
        }
        let own = RigidCarrier::new(first, settings).map_err(|e| e.to_string())?;
        Ok(Self {
            played: PlayedPieces::new(animation).ok_or("no positions or rotations")?,
            manifest,
            carrier,
            pieces: pieces_of(manifest, carrier)?,
            soft,
            tolerance: f64::from(own.tolerance),
        })
    }

    /// How a piece lies, in metres and in the axes of glTF, as the carrier is.
    fn pose(&self, piece: u32, frame: u32) -> PlayedPose {
        let pose = self.played.pose(piece, alone(frame));
        pose.in_gltf(self.manifest.space)
    }

    fn frame(
        &self,
        frame: u32,
        own: &Mesh,
        number: i64,
        surface: SurfaceErrors,
    ) -> Result<Verified, BakeError> {
        let fault = |source| BakeError::NotSoft { number, source };
        let mut mesh = own.clone();
        self.soft.adopt(&mut mesh).map_err(fault)?;
        let truth = self.soft.normals(&mesh).map_err(fault)?;
        let poses: Vec<_> = (0..self.manifest.layout.vertices)
            .map(|piece| self.pose(piece, frame))
            .collect();
        let mut out = Verified {
            surface,
            ..Verified::default()
        };
        let seen = |v: u32| {
            let pose = &poses[self.pieces[v as usize] as usize];
            single(pose.place(self.carrier.positions[v as usize]))
        };
        let corners = |t: usize| self.soft.triangles()[t].map(seen);
        out.surface
            .take((mesh.topology.triangles(), own), corners, number);
        for (v, (place, piece)) in (0_u32..).zip(self.carrier.positions.iter().zip(&self.pieces)) {
            let pose = &poses[*piece as usize];
            let source = self.soft.source_vertex(v as usize);
            let seen = single(pose.place(*place));
            out.errors
                .position
                .add(frame, v, distance(seen, mesh.positions[source]));
            if let Some(normals) = &self.carrier.normals {
                let normal = single(pose.turn(normals[v as usize].map(f64::from)));
                let angle = angle_between(normal, truth[v as usize]);
                out.errors.normal.add(frame, v, angle);
            }
        }
        Ok(out)
    }

    /// A quaternion whose four numbers are off by a step each turns by four times that at most; and what bakes call rigid.
    fn promised_beyond(&self) -> f64 {
        let turn = 4.0 * rounding_of(self.manifest, &Quantity::Rotation, 1.0);
        let arms = self.carrier.positions.iter().zip(&self.pieces);
        let pivot = |piece| single(self.pose(piece, 0).pivot);
        let longest = arms.map(|(place, piece)| distance(*place, pivot(*piece)));
        turn * longest.fold(0.0, f64::max) + self.tolerance
    }
}

/// Piece of each vertex of a carrier, from its texture coordinates.
pub(in crate::vat) fn pieces_of(manifest: &Manifest, carrier: &Mesh) -> Result<Vec<u32>, String> {
    let uvs = carrier.uvs.get(manifest.uv_set as usize);
    let uvs = uvs.ok_or("no texture coordinates that point at texels")?;
    let texels = texels_of(&manifest.layout);
    let piece = |uv: &[f32; 2]| {
        let at = [0, 1].map(|k| (uv[k] * manifest.layout.size[k] as f32).floor());
        texels.get(&at.map(f32::to_bits)).copied()
    };
    let pieces: Option<Vec<u32>> = uvs.iter().map(piece).collect();
    Ok(pieces.ok_or("texture coordinates that point at no piece")?)
}

/// What has a texel, by where that is in the first frame; keys are bits of whole numbers.
fn texels_of(layout: &Layout) -> HashMap<[u32; 2], u32> {
    let of = |v| layout.texel(v, 0).map(|t| (t as f32).to_bits());
    (0..layout.vertices).map(|v| (of(v), v)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "frames are single precision"
)]
fn single(v: [f64; 3]) -> [f32; 3] {
    v.map(|c| c as f32)
}

/// A bake of particles.
pub(super) struct Particles<'a> {
    played: PlayedParticles<'a>,
    manifest: &'a Manifest,
    settings: &'a VatSettings,
}

impl Particles<'_> {
    /// Finds every point of the frame again, by place and width.
    fn frame(&self, frame: u32, mesh: &Mesh, number: i64) -> Verified {
        let extent = self.manifest.bounds.0.iter().chain(&self.manifest.bounds.1);
        let units = f64::from(self.manifest.space.units_per_metre());
        let farthest = f64::from(extent.fold(0.0_f32, |m, c| m.max(c.abs()))) / units;
        let reach =
            rounding_of(self.manifest, &Quantity::Position, farthest) * 3.0_f64.sqrt() * 1.01
                + 1e-6 * farthest;
        let width = |p: usize| f64::from(self.settings.particles.width(mesh, p));
        let widest = (0..mesh.positions.len()).map(width).fold(0.0, f64::max);
        let step = rounding_of(self.manifest, &Quantity::Size, widest) * 1.01 + 1e-7;
        let places = mesh.positions.iter().map(|p| p.map(f64::from));
        let grid = Grid::new(reach, places);
        let mut out = Verified::default();
        let slots = (0..self.manifest.layout.vertices).map(|slot| {
            let (middle, size) = self.played.sprite(slot, alone(frame));
            (
                slot,
                place_in_gltf(self.manifest.space, middle),
                size / units,
            )
        });
        let shown: Vec<_> = slots.filter(|(_, _, size)| *size > 0.0).collect();
        let fits = |(_, middle, size): &(u32, [f64; 3], f64)| {
            let each = grid.near(*middle).map(|p| Candidate {
                item: p,
                off: distance(single(*middle), mesh.positions[p]),
                turn: 0,
                is_other: false,
            });
            let fits = each.filter(|c| c.off <= reach && (size - width(c.item)).abs() <= step);
            fits.collect()
        };
        // Points that are thinner than a step may come out as none.
        let is_missed = |p: usize| width(p) > step;
        let pairing = Pairing::new(
            shown.iter().map(fits).collect(),
            mesh.positions.len(),
            is_missed,
        );
        for (i, (slot, _, _)) in shown.iter().enumerate() {
            match pairing.of(i) {
                Some(found) => out.errors.position.add(frame, *slot, found.off),
                None => out.invented += 1,
            }
        }
        out.lost = pairing.left().filter(|p| is_missed(*p)).count();
        out.first_wrong = (out.lost + out.invented > 0).then_some(number);
        out
    }
}
