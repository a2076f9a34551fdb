//! Bakes of pieces and particles against their sequence: played from the files alone.

use super::grid::Grid;
use super::pairing::{Candidate, Pairing};
use super::surface::SurfaceErrors;
use super::{Verified, distance};
use crate::BakeError;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::soft::SoftCarrier;
use crate::vat::rigid::{RigidCarrier, carried, played};
use crate::vat::settings::VatSettings;
use sinew_geom::Mesh;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::layout::Layout;
use sinew_vat::manifest::{Manifest, Mode};
use sinew_vat::playback::FrameBlend;
use sinew_vat::played::{PlayedParticles, PlayedPieces, PlayedPose, place_in_gltf};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::collections::HashMap;

/// What is played, and what it is held against.
pub(super) enum ShapeJudge<'a> {
    Pieces(Box<Pieces<'a>>),
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
            Mode::Rigid => {
                let pieces = Pieces::new(animation, carrier, first, settings)?;
                Some(Self::Pieces(Box::new(pieces)))
            }
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
            Self::Pieces(pieces) => Some(&pieces.own.soft),
            Self::Particles(_) => None,
        }
    }

    /// Normals that the carrier should have, of pieces.
    pub(super) fn normals(&self) -> Option<&[[f32; 3]]> {
        match self {
            Self::Pieces(pieces) => Some(&pieces.normals),
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
    /// The sequence's own first frame and pieces, and its normals.
    own: RigidCarrier,
    normals: Vec<[f32; 3]>,
}

/// What single precision may lose of a place, as a share of the farthest coordinate.
const ROUNDING: f64 = 1e-6;

/// What it may turn a normal by, radians: normals of the carrier, their pose and those of the frame.
const TURNED: f64 = 1e-4;

impl<'a> Pieces<'a> {
    fn new(
        animation: &'a VertexAnimation,
        carrier: &'a Mesh,
        first: &Mesh,
        settings: &VatSettings,
    ) -> Result<Self, String> {
        let manifest = animation.manifest();
        let own = RigidCarrier::new(first, settings).map_err(|e| e.to_string())?;
        let (found, expected) = (own.soft.vertex_count(), carrier.positions.len());
        if found != expected {
            return Err(format!(
                "a carrier of {found} vertices with this crease, the bake has {expected}"
            ));
        }
        Ok(Self {
            played: PlayedPieces::new(animation).ok_or("no positions or rotations")?,
            manifest,
            carrier,
            pieces: pieces_of(manifest, carrier)?,
            normals: own.soft.normals(first).map_err(|e| e.to_string())?,
            own,
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
        self.own.soft.adopt(&mut mesh).map_err(fault)?;
        let truth = self.own.soft.normals(&mesh).map_err(fault)?;
        let nearest = self.nearest_poses(&mesh, number)?;
        let poses: Vec<_> = (0..self.manifest.layout.vertices)
            .map(|piece| self.pose(piece, frame))
            .collect();
        let bent = self.bent(&mesh, &nearest);
        let mut out = Verified {
            promised_beyond: self.promised_beyond() + bent,
            surface,
            ..Verified::default()
        };
        let seen = |v: u32| {
            let pose = &poses[self.pieces[v as usize] as usize];
            single(pose.place(self.carrier.positions[v as usize]))
        };
        let corners = |t: usize| self.own.soft.triangles()[t].map(seen);
        out.surface.allowed += bent;
        out.surface
            .take((mesh.topology.triangles(), own), corners, number);
        for (v, truth) in (0_u32..).zip(&truth) {
            let source = self.own.soft.source_vertex(v as usize);
            let off = distance(seen(v), mesh.positions[source]);
            out.errors.position.add(frame, v, off);
            let pose = &poses[self.pieces[v as usize] as usize];
            let shown = self.carrier.normals.as_ref().map(|n| n[v as usize]);
            let shown = shown.map(|n| pose.turn(n.map(f64::from)));
            self.take_normal(&mut out, (frame, v), (shown, *truth), &nearest, number);
        }
        Ok(out)
    }

    /// The turn that comes nearest to the frame may leave normals of small triangles elsewhere: as far as that, and what rounding adds, normals may be off.
    fn take_normal(
        &self,
        out: &mut Verified,
        (frame, vertex): (u32, u32),
        (shown, truth): (Option<[f64; 3]>, [f32; 3]),
        nearest: &[PlayedPose],
        number: i64,
    ) {
        // Without an area there is no direction.
        let Some(shown) = shown.filter(|_| truth.iter().any(|c| *c != 0.0)) else {
            return;
        };
        let angle = angle_between(single(shown), truth);
        let own = self.normals[vertex as usize].map(f64::from);
        let nearest = &nearest[self.own.pieces.of_vertex(vertex as usize)];
        let kept = angle_between(single(nearest.turn(own)), truth);
        let allowed = kept + self.turn() + TURNED;
        out.errors.normal.add(frame, vertex, angle);
        let before = out.promised_normal.unwrap_or(0.0);
        out.promised_normal = Some(before.max(allowed));
        if angle.is_nan() || angle > allowed {
            out.normals_beyond += 1;
            out.first_wrong.get_or_insert(number);
        }
    }

    /// The poses that bring the first frame nearest, by the sequence alone.
    fn nearest_poses(&self, mesh: &Mesh, number: i64) -> Result<Vec<PlayedPose>, BakeError> {
        let poses = self.own.pieces.fit(&carried(&self.own.soft, mesh), &[]);
        let poses = poses.map_err(|source| BakeError::Pieces { number, source })?;
        let pivot = |piece| self.own.pieces.pivot(piece).map(f64::from);
        let poses = poses.iter().enumerate();
        Ok(poses.map(|(i, pose)| played(pose, pivot(i))).collect())
    }

    /// How far vertices are from there, metres: what bakes call rigid at most.
    fn bent(&self, mesh: &Mesh, nearest: &[PlayedPose]) -> f64 {
        let soft = &self.own.soft;
        let off = (0..soft.vertex_count()).map(|v| {
            let source = soft.source_vertex(v);
            let pose = &nearest[self.own.pieces.of_vertex(v)];
            distance(
                single(pose.place(soft.rest(source))),
                mesh.positions[source],
            )
        });
        off.fold(0.0, f64::max).min(f64::from(self.own.tolerance))
    }

    /// A quaternion whose four numbers are off by a step each turns by four times that at most, radians.
    fn turn(&self) -> f64 {
        4.0 * rounding_of(self.manifest, &Quantity::Rotation, 1.0)
    }

    /// What rounding of rotations takes places by, metres, and single precision.
    fn promised_beyond(&self) -> f64 {
        let arms = self.carrier.positions.iter().zip(&self.pieces);
        let pivot = |piece| single(self.pose(piece, 0).pivot);
        let longest = arms.map(|(place, piece)| distance(*place, pivot(*piece)));
        let units = f64::from(self.manifest.space.units_per_metre());
        let corners = self.manifest.bounds.0.iter().chain(&self.manifest.bounds.1);
        let farthest = f64::from(corners.fold(0.0_f32, |m, c| m.max(c.abs()))) / units;
        self.turn() * longest.fold(0.0, f64::max) + ROUNDING * farthest
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
