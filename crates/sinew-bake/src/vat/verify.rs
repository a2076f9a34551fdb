//! A bake against the sequence that it was made from.
//!
//! What players show is decoded from the files and compared with the frames, without anything that the bake left behind: triangles are
//! found again by where they are.

use super::quantities::{self, Difference, QuantityErrors};
use super::read::{read_animation, read_manifest};
use super::records::FrameErrors;
use super::settings::VatSettings;
use super::verify_shapes::ShapeJudge;
use crate::{BakeError, FrameSource, LoadOrder, Watch};
use rayon::prelude::*;
use serde::Serialize;
use sinew_geom::Mesh;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::derive::add_derived;
use sinew_vat::error::angle_between;
use sinew_vat::manifest::{Manifest, Mode};
use sinew_vat::normals::{ShadingGroups, corner_normals};
use sinew_vat::prepare::{PrepareSettings, prepare};
use sinew_vat::quantity::Quantity;
use sinew_vat::soft::{SoftCarrier, SoftError, triangles_like_first};
use sinew_vat::texel::TexelFormat;
use std::collections::HashMap;
use std::path::Path;

/// How a bake compares with its sequence.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verified {
    /// Frames that were compared.
    pub frames: usize,
    /// Triangles of the sequence that no triangle of the bake is at.
    pub lost: usize,
    /// Triangles that the bake shows and the sequence does not have.
    pub invented: usize,
    /// Distances and angles of all corners that were found again.
    #[serde(skip)]
    pub errors: FrameErrors,
    /// What else the bake holds: colours, texture coordinates, velocities, attributes.
    pub quantities: Vec<QuantityErrors>,
    /// Corners whose normal in a texture is farther from the frame's than its format allows.
    pub normals_beyond: usize,
    /// What the format promises for normals in a texture, radians; `None` where there are none.
    pub promised_normal: Option<f64>,
    /// The first frame in which triangles were lost or invented, or a normal was too far off, by its number.
    pub first_wrong: Option<i64>,
    /// What the format promises for each coordinate, metres: half a step of its codes.
    pub promised: [f64; 3],
    /// What rotations in texels, and pieces that are not quite rigid, may add to that, metres.
    pub promised_beyond: f64,
}

impl Verified {
    /// Takes those of a later frame.
    fn join(&mut self, later: &Self) {
        self.frames += 1;
        self.lost += later.lost;
        self.invented += later.invented;
        self.normals_beyond += later.normals_beyond;
        self.errors.join(&later.errors);
        for (all, one) in self.quantities.iter_mut().zip(&later.quantities) {
            all.join(one);
        }
        self.first_wrong = self.first_wrong.or(later.first_wrong);
    }

    /// Whether every triangle was found again, with numbers that are as near as the formats allow; places at most `tolerance` metres away.
    pub fn is_same(&self, tolerance: f64) -> bool {
        let is_near = |q: &QuantityErrors| q.beyond == 0;
        self.lost + self.invented + self.normals_beyond == 0
            && self.errors.position.largest <= tolerance
            && self.quantities.iter().all(is_near)
    }
}

/// Compares a bake with a sequence; `settings` are those that it was made with (preparation, crease).
///
/// # Errors
/// [`BakeError`] where either cannot be read, or has another number of frames.
pub fn verify(
    bake: &Path,
    source: &dyn FrameSource,
    settings: &VatSettings,
    watch: &Watch<'_>,
) -> Result<Verified, BakeError> {
    let animation = read_animation(bake)?;
    let carrier = carrier_of(bake)?;
    let (found, expected) = (
        source.frame_count(),
        animation.manifest().frame_count() as usize,
    );
    if found != expected {
        let message = format!("a sequence of {found} frames, the bake has {expected}");
        let path = bake.to_owned();
        return Err(BakeError::Json { path, message });
    }
    let judge = Judge::new(&animation, &carrier, source, settings)?;
    let stage = watch.stage("frames", found);
    let compare = |frame| {
        stage.go_on()?;
        let out = judge.frame(frame)?;
        stage.step();
        Ok(out)
    };
    let results: Vec<Verified> = match source.order() {
        LoadOrder::Any => (0..found)
            .into_par_iter()
            .map(compare)
            .collect::<Result<_, BakeError>>()?,
        LoadOrder::Rising => (0..found).map(compare).collect::<Result<_, BakeError>>()?,
    };
    let mut all = Verified {
        promised: judge.promised(),
        promised_beyond: judge
            .shapes
            .as_ref()
            .map_or(0.0, ShapeJudge::promised_beyond),
        promised_normal: judge.promised_normal,
        ..judge.nothing()
    };
    results.iter().for_each(|one| all.join(one));
    Ok(all)
}

/// The carrier, from its file.
fn carrier_of(bake: &Path) -> Result<Mesh, BakeError> {
    let (path, manifest) = read_manifest(bake)?;
    let path = path.with_file_name(&manifest.carrier);
    let mut meshes = sinew_io::read_any(&path)?.asset.meshes;
    if meshes.len() != 1 {
        let message = format!("{} meshes, expected one", meshes.len());
        return Err(BakeError::Json { path, message });
    }
    let mesh = meshes.swap_remove(0);
    let found = &mesh.positions;
    let has_all = found.len() == manifest.layout.vertices as usize;
    match has_all || !manifest.mode.has_texel_per_vertex() {
        true => Ok(mesh),
        false => Err(BakeError::Json {
            path,
            message: format!(
                "{} vertices, the manifest has {}",
                found.len(),
                manifest.layout.vertices
            ),
        }),
    }
}

struct Judge<'a> {
    animation: &'a VertexAnimation,
    /// What offsets are added to.
    carrier: &'a Mesh,
    source: &'a dyn FrameSource,
    settings: &'a VatSettings,
    places: usize,
    normals: Option<usize>,
    /// How far these may be off, radians.
    promised_normal: Option<f64>,
    /// Textures of what else is compared.
    others: Vec<usize>,
    /// Where triangles stay the same.
    soft: Option<SoftCarrier>,
    /// The first frame, where vertices are split along tears.
    torn: Option<Mesh>,
    /// Where texels are pieces or particles.
    shapes: Option<ShapeJudge<'a>>,
}

impl<'a> Judge<'a> {
    fn new(
        animation: &'a VertexAnimation,
        carrier: &'a Mesh,
        source: &'a dyn FrameSource,
        settings: &'a VatSettings,
    ) -> Result<Self, BakeError> {
        let manifest = animation.manifest();
        let mut judge = Self {
            animation,
            carrier,
            source,
            settings,
            // A manifest without places was refused when it was read.
            places: manifest.places().unwrap_or(0),
            normals: manifest.texture(&Quantity::Normal),
            promised_normal: promised_normal(manifest),
            others: match manifest.mode {
                Mode::Remesh | Mode::Soft => quantities::textures_of(manifest),
                // Texels of pieces and particles are no corners of triangles.
                Mode::Rigid | Mode::Particles => Vec::new(),
            },
            soft: None,
            torn: None,
            shapes: None,
        };
        if manifest.split_vertices.is_some() && manifest.mode == Mode::Soft {
            judge.torn = Some(judge.load(0)?);
        } else if manifest.mode == Mode::Soft {
            let first = judge.load(0)?;
            let carrier = SoftCarrier::new(&first, settings.crease());
            let (found, expected) = (carrier.vertex_count(), judge.carrier.positions.len());
            if found != expected {
                let message = format!(
                    "a carrier of {found} vertices with this crease, the bake has {expected}"
                );
                let number = source.number(0);
                return Err(BakeError::Frame { number, message });
            }
            judge.soft = Some(carrier);
        }
        if !manifest.mode.has_texel_per_vertex() {
            let (first, number) = (judge.load(0)?, source.number(0));
            let shapes = ShapeJudge::new(animation, carrier, &first, settings);
            judge.shapes = shapes.map_err(|message| BakeError::Frame { number, message })?;
        }
        Ok(judge)
    }

    fn load(&self, frame: usize) -> Result<Mesh, BakeError> {
        let number = self.source.number(frame);
        let loaded = self.source.load(frame)?;
        let is_points = self.animation.manifest().mode == Mode::Particles;
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
    fn promised(&self) -> [f64; 3] {
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
            #[expect(
                clippy::cast_possible_truncation,
                reason = "half a code: 0 or a number with an exponent that fits"
            )]
            let code = spec.format.half_step() as f32;
            spec.ranges[k].scale * code + half
        });
        let steps = manifest.space.place_in_gltf(steps);
        steps.map(|s| f64::from(s).abs())
    }

    /// What is known before a frame was looked at.
    fn nothing(&self) -> Verified {
        Verified {
            quantities: quantities::nothing_of(self.animation.manifest(), &self.others),
            ..Verified::default()
        }
    }

    /// How far the other quantities of a vertex of the bake are from those of a vertex of the source.
    fn differences<'b>(
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
            quantities::difference(spec, mesh, source, seen)
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more frames than the layout has"
    )]
    fn frame(&self, frame: usize) -> Result<Verified, BakeError> {
        let mut mesh = self.load(frame)?;
        let number = self.source.number(frame);
        if let Some(shapes) = &self.shapes {
            return shapes.frame(frame as u32, &mut mesh, number);
        }
        if let Some(first) = &self.torn {
            return self.torn_frame(first, frame as u32, &mesh, number);
        }
        match &self.soft {
            Some(carrier) => self.soft_frame(carrier, frame as u32, &mut mesh, number),
            None => Ok(self.remesh_frame(frame as u32, &mesh, number)),
        }
    }

    fn soft_frame(
        &self,
        carrier: &SoftCarrier,
        frame: u32,
        mesh: &mut Mesh,
        number: i64,
    ) -> Result<Verified, BakeError> {
        let fault = |source| BakeError::NotSoft { number, source };
        carrier.adopt(mesh).map_err(fault)?;
        let normals = carrier.normals(mesh).map_err(fault)?;
        let mut out = self.nothing();
        for (vertex, normal) in (0..self.animation.manifest().layout.vertices).zip(normals) {
            let source = carrier.source_vertex(vertex as usize);
            let truth = (mesh.positions[source], normal);
            self.compare(&mut out, (frame, vertex), truth, number);
            let differences = self.differences(mesh, source, vertex, frame);
            add_all(&mut out, differences, (frame, vertex), number);
        }
        Ok(out)
    }

    /// Every corner is looked at: vertices of the carrier may be at corners that the frame has apart.
    fn torn_frame(
        &self,
        first: &Mesh,
        frame: u32,
        mesh: &Mesh,
        number: i64,
    ) -> Result<Verified, BakeError> {
        let shown = self.carrier.topology.triangles();
        let fault = |source| BakeError::NotSoft { number, source };
        let (found, expected) = (first.topology.triangles().len(), shown.len());
        if found != expected {
            return Err(fault(SoftError::Triangles { found, expected }));
        }
        let topology = triangles_like_first(&first.topology, &mesh.topology);
        let topology = topology.map_err(fault)?;
        let rest = (&*first.topology, &first.positions[..]);
        let crease = self.settings.crease();
        let groups = ShadingGroups::with_edges_of(rest, &topology, &mesh.positions, crease);
        let normals = groups.corner_normals(&topology, &mesh.positions);
        let mut out = self.nothing();
        for (t, corners) in topology.triangles().iter().enumerate() {
            for k in 0..3 {
                let (vertex, source) = (shown[t][k], corners[k] as usize);
                let truth = (mesh.positions[source], normals[t][k]);
                self.compare(&mut out, (frame, vertex), truth, number);
                let differences = self.differences(mesh, source, vertex, frame);
                add_all(&mut out, differences, (frame, vertex), number);
            }
        }
        Ok(out)
    }

    /// Compares place and normal of a vertex of the carrier with what they should be.
    fn compare(
        &self,
        out: &mut Verified,
        (frame, vertex): (u32, u32),
        (place, normal): ([f32; 3], [f32; 3]),
        number: i64,
    ) {
        let spec = &self.animation.manifest().textures[self.places].spec;
        let rest = match spec.quantity {
            Quantity::Offset => self.carrier.positions[vertex as usize],
            _ => [0.0; 3],
        };
        let seen = self.vector(self.places, vertex, frame);
        let seen = std::array::from_fn(|k| rest[k] + seen[k]);
        let off = distance(seen, place);
        out.errors.position.add(frame, vertex, off);
        self.compare_normal(out, (frame, vertex), normal, number);
    }

    /// How far the normal of a vertex in its texture is from a direction, radians; `None` where either is none.
    fn normal_error(&self, (frame, vertex): (u32, u32), truth: [f32; 3]) -> Option<f64> {
        let has_direction = truth.iter().any(|c| *c != 0.0);
        let texture = self.normals.filter(|_| has_direction)?;
        Some(angle_between(self.vector(texture, vertex, frame), truth))
    }

    fn compare_normal(&self, out: &mut Verified, at: (u32, u32), truth: [f32; 3], number: i64) {
        let Some(angle) = self.normal_error(at, truth) else {
            return;
        };
        out.errors.normal.add(at.0, at.1, angle);
        if self.is_beyond(angle) {
            out.normals_beyond += 1;
            out.first_wrong.get_or_insert(number);
        }
    }

    fn is_beyond(&self, angle: f64) -> bool {
        self.promised_normal.is_some_and(|allowed| angle > allowed)
    }

    /// What a texture says of a vertex, back in the axes and unit of glTF.
    fn vector(&self, texture: usize, vertex: u32, frame: u32) -> [f32; 3] {
        let frame = frame * self.animation.manifest().frame_step();
        let found = std::array::from_fn(|k| self.animation.value(texture, vertex, frame, k));
        let space = self.animation.manifest().space;
        match Some(texture) == self.normals {
            true => space.direction_in_gltf(found),
            false => space.place_in_gltf(found),
        }
    }

    fn remesh_frame(&self, frame: u32, mesh: &Mesh, number: i64) -> Verified {
        let normals = corner_normals(&mesh.topology, &mesh.positions, self.settings.crease());
        let triangles = mesh.topology.triangles();
        let corners = |t: usize| triangles[t].map(|v| mesh.positions[v as usize]);
        let reach = self.promised().iter().sum::<f64>() * 1.01 + 1e-7 * self.size();
        let mut grid = Grid::new(reach, (0..triangles.len()).map(|t| middle(corners(t))));
        let mut out = self.nothing();
        for slot in 0..self.animation.manifest().layout.vertices / 3 {
            let shown = [0, 1, 2].map(|k| self.vector(self.places, 3 * slot + k, frame));
            if shown[0] == shown[1] && shown[1] == shown[2] {
                continue;
            }
            // Where triangles are nearer to each other than the codes tell apart, the one with the same colours and normals is the one.
            let fit = grid.take(middle(shown), |t| {
                let (off, turn) = best_turn(shown, corners(t), reach)?;
                let mut corners =
                    (0..3).map(|k| (3 * slot + k, triangles[t][(k as usize + turn) % 3]));
                let is_other = corners.any(|(vertex, source)| {
                    self.differences(mesh, source as usize, vertex, frame)
                        .any(|d| d.is_beyond)
                });
                let is_other = is_other
                    || (0..3).any(|k| {
                        let truth = normals[t][(k as usize + turn) % 3];
                        let angle = self.normal_error((frame, 3 * slot + k), truth);
                        angle.is_some_and(|angle| self.is_beyond(angle))
                    });
                Some(((is_other, off), turn))
            });
            let Some((t, turn)) = fit else {
                out.invented += 1;
                continue;
            };
            for (k, seen) in shown.into_iter().enumerate() {
                let (vertex, truth) = (3 * slot + k as u32, (k + turn) % 3);
                let off = distance(seen, corners(t)[truth]);
                out.errors.position.add(frame, vertex, off);
                // Which corner is which is not seen of smaller ones.
                if span(corners(t)) > 2.0 * reach {
                    self.compare_normal(&mut out, (frame, vertex), normals[t][truth], number);
                    let source = triangles[t][truth] as usize;
                    let differences = self.differences(mesh, source, vertex, frame);
                    add_all(&mut out, differences, (frame, vertex), number);
                }
            }
        }
        // Triangles that are smaller than a step of the codes may come out as points.
        out.lost = grid
            .left()
            .filter(|t| span(corners(*t)) > 2.0 * reach)
            .count();
        if out.lost + out.invented > 0 {
            out.first_wrong = Some(number);
        }
        out
    }

    fn size(&self) -> f64 {
        let manifest = self.animation.manifest();
        let (low, high) = manifest.bounds;
        distance(low, high) / f64::from(manifest.space.units_per_metre())
    }
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

/// Takes the other quantities of one corner.
fn add_all(
    out: &mut Verified,
    differences: impl Iterator<Item = Difference>,
    (frame, vertex): (u32, u32),
    number: i64,
) {
    for (known, found) in out.quantities.iter_mut().zip(differences) {
        known.errors.add(frame, vertex, found.error);
        known.allowed = known.allowed.max(found.allowed);
        if found.is_beyond {
            known.beyond += 1;
            known.first_wrong.get_or_insert(number);
        }
    }
}

pub(super) fn distance(a: [f32; 3], b: [f32; 3]) -> f64 {
    let squares = (0..3).map(|k| (f64::from(a[k]) - f64::from(b[k])).powi(2));
    squares.sum::<f64>().sqrt()
}

fn middle(corners: [[f32; 3]; 3]) -> [f64; 3] {
    std::array::from_fn(|k| corners.iter().map(|c| f64::from(c[k])).sum::<f64>() / 3.0)
}

/// Longest side.
fn span(corners: [[f32; 3]; 3]) -> f64 {
    let side = |k: usize| distance(corners[k], corners[(k + 1) % 3]);
    side(0).max(side(1)).max(side(2))
}

/// The turn that brings corners nearest to each other, with the greatest of their distances; `None` beyond `reach`.
fn best_turn(shown: [[f32; 3]; 3], truth: [[f32; 3]; 3], reach: f64) -> Option<(f64, usize)> {
    let off = |turn: usize| {
        let each = (0..3).map(|k| distance(shown[k], truth[(k + turn) % 3]));
        (each.fold(0.0, f64::max), turn)
    };
    let best = (0..3).map(off).min_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 <= reach).then_some(best)
}

/// Triangles by the cell that their middle is in.
pub(super) struct Grid {
    cell: f64,
    cells: HashMap<[i64; 3], Vec<usize>>,
    is_left: Vec<bool>,
}

impl Grid {
    pub(super) fn new(reach: f64, middles: impl Iterator<Item = [f64; 3]>) -> Self {
        let mut grid = Self {
            cell: reach.max(f64::MIN_POSITIVE),
            cells: HashMap::new(),
            is_left: Vec::new(),
        };
        for middle in middles {
            let (cell, t) = (grid.cell_of(middle), grid.is_left.len());
            grid.cells.entry(cell).or_default().push(t);
            grid.is_left.push(true);
        }
        grid
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates: all that is that far away shares a cell"
    )]
    fn cell_of(&self, at: [f64; 3]) -> [i64; 3] {
        at.map(|c| (c / self.cell).floor() as i64)
    }

    /// Takes the triangle that fits best, and its turn.
    pub(super) fn take(
        &mut self,
        at: [f64; 3],
        fit: impl Fn(usize) -> Option<((bool, f64), usize)>,
    ) -> Option<(usize, usize)> {
        let [x, y, z] = self.cell_of(at);
        let mut best: Option<((bool, f64), usize, usize)> = None;
        for (dx, dy, dz) in around() {
            let cell = [
                x.saturating_add(dx),
                y.saturating_add(dy),
                z.saturating_add(dz),
            ];
            for &t in self.cells.get(&cell).into_iter().flatten() {
                if self.is_left[t]
                    && let Some((off, turn)) = fit(t)
                    && best.is_none_or(|b| off < b.0)
                {
                    best = Some((off, t, turn));
                }
            }
        }
        let (_, t, turn) = best?;
        self.is_left[t] = false;
        Some((t, turn))
    }

    pub(super) fn left(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.is_left.iter().enumerate();
        all.filter(|(_, left)| **left).map(|(t, _)| t)
    }
}

fn around() -> impl Iterator<Item = (i64, i64, i64)> {
    (-1..=1).flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| (x, y, z))))
}
