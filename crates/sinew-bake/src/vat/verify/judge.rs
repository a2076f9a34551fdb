//! What a bake is held against, and what is the same for all modes.

use super::mode::{FrameJudge, JudgedFrame};
use super::surface::SurfaceErrors;
use super::{Verified, distance};
use crate::vat::maker::derive::add_derived;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::middles::Quad;
use crate::vat::maker::prepare::{PrepareSettings, prepare};
use crate::vat::maker::soft::SoftCarrier;
use crate::vat::mode;
use crate::vat::quantities::{self, Difference};
use crate::vat::settings::VatSettings;
use crate::{BakeError, FrameSource};
use sinew_geom::{Bounds, Mesh};
use sinew_vat::animation::VertexAnimation;
use sinew_vat::manifest::Manifest;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Judge<'a> {
    pub(super) animation: &'a VertexAnimation,
    /// What offsets are added to.
    pub(super) carrier: &'a Mesh,
    pub(super) source: &'a dyn FrameSource,
    pub(super) settings: &'a VatSettings,
    pub(super) places: usize,
    pub(super) normals: Option<usize>,
    /// How far these may be off, radians.
    pub(super) promised_normal: Option<f64>,
    /// Textures of what else is compared.
    pub(super) others: Vec<usize>,
    /// Bits of the farthest that reading moved a vertex: those of larger numbers are larger.
    read_loss: AtomicU64,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        animation: &'a VertexAnimation,
        carrier: &'a Mesh,
        source: &'a dyn FrameSource,
        settings: &'a VatSettings,
    ) -> Self {
        let manifest = animation.manifest();
        Self {
            animation,
            carrier,
            source,
            settings,
            // A manifest without places was refused when it was read.
            places: manifest.positions().unwrap_or(0),
            normals: manifest.texture(&Quantity::Normal),
            promised_normal: promised_normal(manifest),
            // Texels of pieces and particles are no corners of triangles.
            others: match mode::of(manifest.mode).has_texel_per_vertex() {
                true => quantities::textures_of(manifest),
                false => Vec::new(),
            },
            read_loss: AtomicU64::new(0),
        }
    }

    /// The carrier of the bake is that of the first frame, as these settings make it.
    pub(super) fn check_carrier(&self, carrier: &SoftCarrier) -> Result<(), BakeError> {
        let (wanted, found) = (carrier.vertex_count(), self.carrier.positions.len());
        match wanted == found {
            true => Ok(()),
            false => Err(BakeError::OtherCarrier {
                number: self.source.number(0),
                wanted,
                found,
            }),
        }
    }

    pub(super) fn read_loss(&self) -> f64 {
        f64::from_bits(self.read_loss.load(Ordering::Relaxed))
    }

    pub(super) fn load(&self, frame: usize) -> Result<Mesh, BakeError> {
        let number = self.source.number(frame);
        let loaded = self.source.load(frame)?;
        self.read_loss
            .fetch_max(loaded.read_loss.max(0.0).to_bits(), Ordering::Relaxed);
        let is_points = mode::of(self.animation.manifest().mode).is_points();
        let prepared = match is_points {
            true => prepare(&loaded.mesh, &PrepareSettings::default()),
            false => prepare(&loaded.mesh, &self.settings.prepare),
        };
        let prepared = prepared.map_err(|source| BakeError::Prepare { number, source })?;
        let mut mesh = prepared.0;
        let textures = self.animation.manifest().textures.iter();
        let asked = textures.map(|t| &t.spec.quantity);
        add_derived(&mut mesh, asked, self.settings.crease());
        Ok(mesh)
    }

    /// Half a step of the codes of each coordinate, metres, in the axes of glTF; of halves the step where they are largest.
    pub(super) fn promised(&self) -> [f64; 3] {
        let manifest = self.animation.manifest();
        let (low, high) = manifest.bounds;
        let spec = &manifest.textures[self.places].spec;
        let steps = std::array::from_fn(|k| {
            let farthest = match spec.quantity {
                Quantity::Offset => high[k] - low[k],
                _ => low[k].abs().max(high[k].abs()),
            };
            let half = match spec.format {
                TexelFormat::Half => farthest / 2048.0,
                _ => 0.0,
            };
            let code = spec.format.half_step() as f32;
            spec.ranges[k].scale * code + half
        });
        let steps = manifest.space.position_in_gltf(steps);
        steps.map(|s| f64::from(s).abs())
    }

    /// Loose triangles of the carrier.
    pub(super) fn slots(&self) -> u32 {
        self.animation.manifest().layout.vertices / 3
    }

    /// The box of the bake, metres, in the axes of glTF.
    pub(super) fn bounds(&self) -> Bounds {
        let manifest = self.animation.manifest();
        let ends = [manifest.bounds.0, manifest.bounds.1];
        let [a, b] = ends.map(|end| manifest.space.position_in_gltf(end));
        let side = |pick: fn(f32, f32) -> f32| std::array::from_fn(|k| pick(a[k], b[k]));
        (side(f32::min), side(f32::max))
    }

    /// Corners of a slot in a frame of the layout, metres, in the axes of glTF.
    pub(super) fn slot_in_row(&self, slot: u32, row: u32) -> [[f32; 3]; 3] {
        [0, 1, 2].map(|k| self.vector_in_row(self.places, 3 * slot + k, row))
    }

    /// What is known before a frame was looked at; `beyond` is what comes to half a step of each coordinate, metres.
    pub(super) fn nothing(&self, beyond: f64) -> Verified {
        Verified {
            quantities: quantities::nothing_of(self.animation.manifest(), &self.others),
            promised: self.promised(),
            promised_beyond: beyond,
            rounding: self.rounding(),
            promised_normal: self.promised_normal,
            surface: SurfaceErrors::nothing(self, beyond),
            ..Verified::default()
        }
    }

    /// How far the other quantities of a vertex of the bake are from those of a vertex of the source.
    pub(super) fn differences<'b>(
        &'b self,
        mesh: &'b Mesh,
        source: usize,
        vertex: u32,
        frame: u32,
    ) -> impl Iterator<Item = Difference> + 'b {
        let row = frame * self.animation.manifest().frame_step();
        self.others.iter().map(move |&texture| {
            let spec = &self.animation.manifest().textures[texture].spec;
            let seen = |channel| self.animation.value(texture, vertex, row, channel);
            let space = self.animation.manifest().space;
            quantities::difference(spec, space, mesh, source, seen)
        })
    }

    /// Judges a frame; `next` is the one that its blends go to, where there is one.
    pub(super) fn frame(
        &self,
        frames: &dyn FrameJudge,
        frame: usize,
        mesh: &Mesh,
        next: Option<(usize, &Mesh)>,
    ) -> Result<Verified, BakeError> {
        let of = JudgedFrame {
            judge: self,
            frame: frame as u32,
            mesh,
            number: self.source.number(frame),
            next: next.map(|(next, mesh)| (next as u32, mesh)),
        };
        let mut out = frames.frame(of)?;
        out.faults.extend(self.outside(frames, mesh, of.number));
        Ok(out)
    }

    /// How far the normal of a vertex in its texture is from a direction, radians; `None` where either is none.
    pub(super) fn normal_error(&self, (frame, vertex): (u32, u32), truth: [f32; 3]) -> Option<f64> {
        let has_direction = truth.iter().any(|c| *c != 0.0);
        let texture = self.normals.filter(|_| has_direction)?;
        Some(angle_between(self.vector(texture, vertex, frame), truth))
    }

    /// The normal of a vertex in a frame of the layout; `None` where the bake has none.
    pub(super) fn normal_in_row(&self, vertex: u32, row: u32) -> Option<[f32; 3]> {
        Some(self.vector_in_row(self.normals?, vertex, row))
    }

    pub(super) fn is_beyond(&self, angle: f64) -> bool {
        self.promised_normal.is_some_and(|allowed| angle > allowed)
    }

    /// What a texture says of a vertex, back in the axes and unit of glTF.
    pub(super) fn vector(&self, texture: usize, vertex: u32, frame: u32) -> [f32; 3] {
        let row = frame * self.animation.manifest().frame_step();
        self.vector_in_row(texture, vertex, row)
    }

    /// The same for a frame of the layout, of which every other one may be an end.
    fn vector_in_row(&self, texture: usize, vertex: u32, row: u32) -> [f32; 3] {
        let found = std::array::from_fn(|k| self.animation.value(texture, vertex, row, k));
        let space = self.animation.manifest().space;
        match Some(texture) == self.normals {
            true => space.direction_in_gltf(found),
            false => space.position_in_gltf(found),
        }
    }

    /// What single precision may lose of a place that is stored in the unit of the textures and brought back, metres: a unit in the last place of the largest
    /// coordinate each for the unit, the texel, its range and the way back.
    pub(super) fn rounding(&self) -> f64 {
        let (low, high) = self.bounds();
        let farthest = std::array::from_fn(|k| low[k].abs().max(high[k].abs()));
        4.0 * f64::from(f32::EPSILON) * distance(farthest, [0.0; 3])
    }

    /// The same of a place that was found on a surface, metres: twice as much, and at least 2e-6 of the box's diagonal.
    pub(super) fn rounding_on_surfaces(&self) -> f64 {
        (2e-6 * self.size()).max(2.0 * self.rounding())
    }

    pub(super) fn size(&self) -> f64 {
        let manifest = self.animation.manifest();
        let (low, high) = manifest.bounds;
        distance(low, high) / f64::from(manifest.space.units_per_metre())
    }
}

/// The quads that have a vertex in their middle, as the manifest says.
pub(super) fn quads_of(manifest: &Manifest, first: &Mesh) -> Result<Vec<Quad>, String> {
    let (pairs, rest) = manifest.middles.as_chunks::<2>();
    if !rest.is_empty() {
        let found = manifest.middles.len();
        return Err(format!(
            "`middles` has {found} numbers, expected pairs of triangles"
        ));
    }
    let mut seen = HashSet::new();
    let quad = |pair: &[u32; 2]| {
        let quad =
            Quad::new(&first.topology, *pair).filter(|_| pair.iter().all(|t| seen.insert(*t)));
        quad.ok_or_else(|| format!("`middles` has {pair:?}, expected two triangles of the first frame that share an edge, the lesser number first, each once"))
    };
    pairs.iter().map(quad).collect()
}

/// How far rounding turns unit vectors in the texture of normals, radians: by half a step of each code, halves by a bit of eleven; all by what single
/// precision loses.
fn promised_normal(manifest: &Manifest) -> Option<f64> {
    let spec = &manifest.textures[manifest.texture(&Quantity::Normal)?].spec;
    let steps = spec.ranges.iter().map(|range| match spec.format {
        TexelFormat::Half => 1.0 / 2048.0,
        format => f64::from(range.scale) * format.half_step(),
    });
    let off = steps.map(|s| s * s).sum::<f64>().sqrt();
    Some(off.min(1.0).asin() * 1.001 + 1e-5)
}
