//! From looks to paints: uploads what a look needs, and measures the numbers that a map shows.

use super::actor::{Actor, drawn};
use super::look::{self, Look, Source};
use crate::exit::{Failure, Outcome};
use sinew::geom::{Mesh, Rig};
use sinew::gpu::Gpu;
use sinew::picture::ColorMap;
use sinew::render::{Materials, Paint, ValueScale};

/// Millimetres in a metre.
const MILLIMETRES: f32 = 1000.0;

/// Lowest and highest of all numbers seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) min: f32,
    pub(super) max: f32,
}

impl Default for Range {
    fn default() -> Self {
        Self {
            min: f32::INFINITY,
            max: f32::NEG_INFINITY,
        }
    }
}

impl Range {
    fn add(&mut self, values: &[f32]) {
        for &v in values.iter().filter(|v| v.is_finite()) {
            self.min = self.min.min(v);
            self.max = self.max.max(v);
        }
    }

    /// What a scale shows: never nothing.
    pub(super) fn ends(self, diverging: bool) -> [f32; 2] {
        if self.min > self.max {
            return [0.0, 1.0];
        }
        if diverging {
            let most = self.min.abs().max(self.max.abs());
            return [-most, most];
        }
        [self.min, self.max]
    }
}

/// The vertex that is farthest away, for the mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worst {
    pub(super) place: [f32; 3],
    pub(super) vertex: usize,
    pub(super) millimetres: f32,
}

/// Numbers of the frame that is shown: uploads them, and says what they are.
pub(super) struct Numbers<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) source: &'a Source,
    pub(super) rig: &'a Rig,
}

impl Numbers<'_> {
    /// Brings the numbers of each part to the device and adds them to `range`; for a difference gives the worst vertex.
    pub(super) fn prepare(
        &self,
        actor: &mut Actor,
        against: Option<&mut Actor>,
        range: &mut Range,
    ) -> Outcome<Option<Worst>> {
        match self.source {
            Source::Difference => {
                let Some(against) = against else {
                    return Ok(None);
                };
                actor.compare_with(against)?;
                return difference(actor, against, range).map(Some);
            }
            Source::Output(name) => {
                let values = actor.read_floats(name)?;
                let part = actor
                    .parts
                    .iter_mut()
                    .find(|p| p.rest.vertex_count() == values.len());
                let Some(part) = part else {
                    let found = values.len();
                    return Err(Failure::bind(format!(
                        "output '{name}' has {found} numbers, no mesh output has as many vertices"
                    )));
                };
                range.add(&values);
                drawn(part.surface.upload_values(self.gpu, &values))?;
            }
            Source::Weight(_) | Source::Attribute(..) if actor.is_painted => {}
            Source::Weight(_) | Source::Attribute(..) => {
                actor.is_painted = true;
                for part in &mut actor.parts {
                    let values = self.fixed_values(&part.rest)?;
                    range.add(&values);
                    drawn(part.surface.upload_values(self.gpu, &values))?;
                }
                if matches!(self.source, Source::Weight(_)) {
                    range.add(&[0.0, 1.0]);
                }
            }
        }
        Ok(None)
    }

    fn fixed_values(&self, mesh: &Mesh) -> Outcome<Vec<f32>> {
        match self.source {
            Source::Weight(name) => {
                let joint = look::joint(self.rig, name)?;
                Ok(look::weights_of(mesh, joint))
            }
            Source::Attribute(name, component) => look::attribute_values(mesh, name, *component),
            _ => Ok(vec![0.0; mesh.vertex_count()]),
        }
    }
}

/// Distances of all vertices to those of another stack.
fn difference(actor: &mut Actor, against: &mut Actor, range: &mut Range) -> Outcome<Worst> {
    let mut others: Vec<Vec<[f32; 3]>> = Vec::new();
    against.each_positions(|_, positions| others.push(positions.to_vec()))?;
    let mut worst = Worst {
        place: [0.0; 3],
        vertex: 0,
        millimetres: -1.0,
    };
    range.add(&[0.0]);
    actor.each_positions(|i, positions| {
        for (vertex, (a, b)) in positions.iter().zip(&others[i]).enumerate() {
            let squared: f32 = (0..3).map(|c| (a[c] - b[c]) * (a[c] - b[c])).sum();
            let millimetres = squared.sqrt() * MILLIMETRES;
            if millimetres > worst.millimetres {
                worst = Worst {
                    place: *a,
                    vertex,
                    millimetres,
                };
            }
        }
    })?;
    range.add(&[worst.millimetres]);
    Ok(worst)
}

/// The paint of a part; what it needs has been prepared.
pub(super) fn paint<'a>(
    look: &Look,
    part: &super::actor::Part,
    materials: Option<&'a Materials>,
    ends: [f32; 2],
    map: ColorMap,
) -> Outcome<Paint<'a>> {
    let scale = ValueScale {
        min: ends[0],
        max: ends[1],
        map,
    };
    Ok(match look {
        Look::Shaded if part.made_colors => Paint::Colors,
        Look::Shaded => match materials {
            Some(materials) => Paint::Material(materials),
            None if part.surface.has_colors() => Paint::Colors,
            None => Paint::CLAY,
        },
        Look::Clay | Look::Matcap => Paint::CLAY,
        Look::Normals => Paint::Normals,
        Look::Uv if part.surface.has_uvs() => Paint::Checker,
        Look::Uv => {
            return Err(Failure::usage(format!(
                "--look uv: mesh '{}' has no texture coordinates",
                part.rest.name
            )));
        }
        Look::Colors if part.surface.has_colors() => Paint::Colors,
        Look::Colors => {
            return Err(Failure::usage(format!(
                "--look colors: mesh '{}' has no colours",
                part.rest.name
            )));
        }
        Look::Weights => Paint::Colors,
        Look::Numbers(Source::Difference) => Paint::Distance {
            scale,
            factor: MILLIMETRES,
        },
        Look::Numbers(_) => Paint::Values(scale),
    })
}
