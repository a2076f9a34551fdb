//! From looks to paints: uploads what a look needs, and measures the numbers that a map shows.

use super::actor::{Actor, Shown, drawn};
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
        // Nothing to tell apart, or nothing at all: zero is still the first colour.
        if self.min > self.max || (self.min == 0.0 && self.max == 0.0) {
            return [0.0, 1.0];
        }
        if self.min == self.max {
            let half = 0.5 * self.min.abs();
            return [self.min - half, self.max + half];
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
    /// The output it belongs to.
    pub(super) part: usize,
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
                return difference(actor, against, range);
            }
            Source::Output(name) => {
                let values = actor.read_floats(name)?;
                range.add(&values);
                let part = mesh_of(actor, name, values.len())?;
                part.has_numbers = true;
                drawn(part.surface.upload_values(self.gpu, &values))?;
            }
            Source::Weight(_) | Source::Attribute(..) if actor.is_painted => {}
            Source::Weight(_) | Source::Attribute(..) => {
                actor.is_painted = true;
                for part in &mut actor.parts {
                    let values = self.fixed_values(&part.rest, &part.joints.asset.rig)?;
                    range.add(&values);
                    part.has_numbers = true;
                    drawn(part.surface.upload_values(self.gpu, &values))?;
                }
                if matches!(self.source, Source::Weight(_)) {
                    range.add(&[0.0, 1.0]);
                }
            }
        }
        Ok(None)
    }

    fn fixed_values(&self, mesh: &Mesh, rig: &Rig) -> Outcome<Vec<f32>> {
        match self.source {
            Source::Weight(name) => {
                look::joint(self.rig, name)?;
                // A mesh of another file follows the joint of that name in its own rig.
                let joint = rig.find_joint(name).map(|j| j as u32);
                Ok(look::weights_of(mesh, joint))
            }
            Source::Attribute(name, component) => look::attribute_values(mesh, name, *component),
            _ => Ok(vec![0.0; mesh.vertex_count()]),
        }
    }
}

/// The mesh that a mask or values of `count` numbers belong to: the only one with as many vertices.
fn mesh_of<'a>(actor: &'a mut Actor, name: &str, count: usize) -> Outcome<&'a mut Shown> {
    let fits = |p: &Shown| p.rest.vertex_count() == count;
    let found = actor.parts.iter().filter(|p| fits(p)).count();
    if found > 1 {
        return Err(Failure::bind(format!(
            "output '{name}' has {count} numbers, and {found} mesh outputs have as many vertices, so the mesh is ambiguous"
        )));
    }
    actor.parts.iter_mut().find(|p| fits(p)).ok_or_else(|| {
        Failure::bind(format!(
            "output '{name}' has {count} numbers, but no mesh output has as many vertices"
        ))
    })
}

/// Distances of all vertices to those of another stack: where something is in focus, of those that are.
fn difference(actor: &mut Actor, against: &mut Actor, range: &mut Range) -> Outcome<Option<Worst>> {
    let matched = actor.matched(against)?;
    let mut others: Vec<Vec<[f32; 3]>> = Vec::new();
    against.each_positions(|_, positions| others.push(positions.to_vec()))?;
    let focused: Vec<Option<Vec<u32>>> = actor.parts.iter().map(|p| p.focused.clone()).collect();
    let mut worst: Option<Worst> = None;
    range.add(&[0.0]);
    actor.each_positions(|part, positions| {
        let mut take = |vertex: usize| {
            let (a, b) = (positions[vertex], others[matched[part]][vertex]);
            let squared: f32 = (0..3).map(|c| (a[c] - b[c]) * (a[c] - b[c])).sum();
            let millimetres = squared.sqrt() * MILLIMETRES;
            if worst.is_none_or(|w| millimetres > w.millimetres) {
                worst = Some(Worst {
                    place: a,
                    part,
                    vertex,
                    millimetres,
                });
            }
        };
        match &focused[part] {
            Some(vertices) => vertices.iter().for_each(|&v| take(v as usize)),
            None => (0..positions.len()).for_each(take),
        }
    })?;
    range.add(&worst.map_or([0.0], |w| [w.millimetres]));
    Ok(worst)
}

/// The paint of a part; what it needs has been prepared.
pub(super) fn paint<'a>(
    look: &Look,
    part: &Shown,
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
        Look::Numbers(_) if part.has_numbers => Paint::Values(scale),
        // Numbers of another mesh.
        Look::Numbers(_) => Paint::CLAY,
    })
}
