//! Bakes of points against their sequence: played from the files alone.

use super::carrier::Fault;
use super::grid::Grid;
use super::judge::Judge;
use super::mode::{FrameJudge, JudgedFrame, JudgedMode};
use super::pairing::{Candidate, Pairing};
use super::rounding::{alone, rounding_of, single};
use super::{Verified, distance};
use crate::BakeError;
use crate::vat::maker::sprites::CORNER_UVS;
use crate::vat::mode::Particles;
use crate::vat::settings::VatSettings;
use sinew_geom::{Bounds, Mesh};
use sinew_vat::manifest::Manifest;
use sinew_vat::played::{PlayedParticles, position_in_gltf};
use sinew_vat::quantity::Quantity;

impl JudgedMode for Particles {
    fn triangles(&self, manifest: &Manifest) -> Option<Vec<[u32; 3]>> {
        let squares = (0..manifest.layout.vertices).map(|s| 4 * s);
        let halves = squares.flat_map(|b| [[b, b + 1, b + 2], [b, b + 2, b + 3]]);
        Some(halves.collect())
    }

    fn texel_of(&self, vertex: usize) -> Option<usize> {
        Some(vertex / 4)
    }

    fn carrier_fault(&self, carrier: &Mesh) -> Option<Fault> {
        other_corner(carrier)
    }

    fn must_blend(&self, _manifest: &Manifest) -> Option<&'static str> {
        Some("slots show one point after another")
    }

    fn has_texel_per_vertex(&self) -> bool {
        false
    }

    fn judge<'a>(&self, judge: &Judge<'a>) -> Result<Box<dyn FrameJudge + 'a>, BakeError> {
        let number = judge.source.number(0);
        let fault = |message: String| BakeError::Frame { number, message };
        let played = PlayedParticles::new(judge.animation);
        let played = played.ok_or_else(|| fault("no positions or sizes".into()))?;
        let manifest = judge.animation.manifest();
        let found = judge.carrier.positions.len();
        let expected = manifest.layout.vertices as usize * 4;
        if found != expected {
            let message = format!("a carrier of {found} vertices, expected {expected}");
            return Err(fault(message));
        }
        Ok(Box::new(PointJudge {
            played,
            manifest,
            settings: judge.settings,
        }))
    }
}

/// A bake of particles.
struct PointJudge<'a> {
    played: PlayedParticles<'a>,
    manifest: &'a Manifest,
    settings: &'a VatSettings,
}

impl FrameJudge for PointJudge<'_> {
    /// Finds every point of the frame again, by place and width.
    fn frame(&self, of: JudgedFrame<'_>) -> Result<Verified, BakeError> {
        let (frame, mesh) = (of.frame, of.mesh);
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
                position_in_gltf(self.manifest.space, middle),
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
        out.first_wrong = (out.lost + out.invented > 0).then_some(of.number);
        Ok(out)
    }

    fn carrier_faults(&self, judge: &Judge<'_>) -> Vec<Fault> {
        judge.floating_fault(4).into_iter().collect()
    }

    /// Of their squares, however they are turned.
    fn box_of(&self, mesh: &Mesh) -> Option<Bounds> {
        let corners = mesh.positions.iter().enumerate().flat_map(|(p, place)| {
            let half = self.settings.particles.width(mesh, p) * std::f32::consts::FRAC_1_SQRT_2;
            [-half, half].map(|half| place.map(|c| c + half))
        });
        sinew_geom::bounds(&corners.collect::<Vec<_>>())
    }
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
