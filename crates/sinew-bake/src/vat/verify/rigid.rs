//! Bakes of pieces against their sequence: played from the files alone.

use super::carrier::Fault;
use super::judge::Judge;
use super::mode::{FrameJudge, JudgedFrame, JudgedMode};
use super::rounding::{alone, rounding_of, single};
use super::{Verified, distance};
use crate::BakeError;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::soft::SoftCarrier;
use crate::vat::mode::{Rigid, RigidCarrier, carried, played};
use sinew_geom::Mesh;
use sinew_vat::layout::Layout;
use sinew_vat::manifest::Manifest;
use sinew_vat::played::{PlayedPieces, PlayedPose};
use sinew_vat::quantity::Quantity;
use std::collections::HashMap;

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

/// How far normals of the carrier may be turned, radians: what single precision loses, and writers that make them unit again.
const TURNED_IN_FILES: f64 = 5e-5;

/// What single precision may lose of a place, as a share of the farthest coordinate.
const ROUNDING: f64 = 1e-6;

/// What it may turn a normal by, radians: normals of the carrier, their pose and those of the frame.
const TURNED: f64 = 1e-4;

impl JudgedMode for Rigid {
    fn texel_of(&self, _vertex: usize) -> Option<usize> {
        None
    }

    fn has_texel_per_vertex(&self) -> bool {
        false
    }

    fn judge<'a>(&self, judge: &Judge<'a>) -> Result<Box<dyn FrameJudge + 'a>, BakeError> {
        let (first, number) = (judge.load(0)?, judge.source.number(0));
        judge.check_carrier(&SoftCarrier::new(&first, judge.settings.crease()))?;
        let pieces = Pieces::new(judge, &first);
        let pieces = pieces.map_err(|message| BakeError::Frame { number, message })?;
        Ok(Box::new(pieces))
    }
}

impl FrameJudge for Pieces<'_> {
    fn frame(&self, of: JudgedFrame<'_>) -> Result<Verified, BakeError> {
        let (frame, number) = (of.frame, of.number);
        let mut mesh = of.mesh.clone();
        let soft = &self.own.soft;
        soft.adopt(&mut mesh).map_err(|e| of.not_soft(e))?;
        let truth = soft.normals(&mesh).map_err(|e| of.not_soft(e))?;
        let nearest = self.nearest_poses(&mesh, number)?;
        let poses: Vec<_> = (0..self.manifest.layout.vertices)
            .map(|piece| self.pose(piece, frame))
            .collect();
        let bent = self.bent(&mesh, &nearest);
        let mut out = Verified {
            promised_beyond: self.promised_beyond() + bent,
            surface: self.nothing(of.judge).surface,
            ..Verified::default()
        };
        let seen = |v: u32| {
            let pose = &poses[self.pieces[v as usize] as usize];
            single(pose.place(self.carrier.positions[v as usize]))
        };
        let corners = |t: usize| self.own.soft.triangles()[t].map(seen);
        out.surface.allowed += bent;
        let triangles = mesh.topology.triangles();
        out.surface.take((triangles, of.mesh), corners, number);
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

    fn carrier_faults(&self, judge: &Judge<'_>) -> Vec<Fault> {
        let mut out = judge.kept_faults(&self.own.soft);
        out.extend(other_normal(self.carrier, &self.normals));
        out
    }

    fn nothing(&self, judge: &Judge<'_>) -> Verified {
        judge.nothing(self.promised_beyond())
    }
}

impl<'a> Pieces<'a> {
    fn new(judge: &Judge<'a>, first: &Mesh) -> Result<Self, String> {
        let (animation, carrier) = (judge.animation, judge.carrier);
        let manifest = animation.manifest();
        let own = RigidCarrier::new(first, judge.settings).map_err(|e| e.to_string())?;
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

/// The first vertex whose normal is not the first frame's. Where that has no area there is no direction.
fn other_normal(carrier: &Mesh, expected: &[[f32; 3]]) -> Option<Fault> {
    let Some(normals) = &carrier.normals else {
        return Some(Fault::NoNormals);
    };
    let both = normals.iter().zip(expected).enumerate();
    let mut known = both.filter(|(_, (_, expected))| expected.iter().any(|c| *c != 0.0));
    known.find_map(|(vertex, (found, expected))| {
        let is_near = angle_between(*found, *expected) <= TURNED_IN_FILES;
        (!is_near).then_some(Fault::Normal {
            vertex,
            found: *found,
            expected: *expected,
        })
    })
}
