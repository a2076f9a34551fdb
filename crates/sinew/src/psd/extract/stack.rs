//! One frame of a graph as a function of the rest positions of one input.

use super::{ExtractError, Sculpt};
use crate::deform::{NodeKind, Par, Phase};
use crate::geom::Vec3;
use crate::graph::{Frame, InputType, Instance, OutputData};

/// Evaluates the graph and counts evaluations.
pub(super) struct Stack<'a, 'f> {
    instance: &'a mut Instance,
    frame: &'a Frame<'f>,
    input: String,
    output: String,
    par: Par,
    vertex_count: usize,
    /// Diagonal of the rest mesh's bounding box, metres.
    size: f64,
    single: Vec<[f32; 3]>,
    evaluations: usize,
}

/// In single precision.
pub(super) fn single(v: &Vec3<f64>) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

impl<'a, 'f> Stack<'a, 'f> {
    pub(super) fn new(
        instance: &'a mut Instance,
        frame: &'a Frame<'f>,
        sculpt: &Sculpt<'_>,
        par: Par,
    ) -> Result<Self, ExtractError> {
        let (output, mesh) = find_output(instance, sculpt.output)?;
        let input = input_of_mesh(instance, &output, mesh, sculpt.input)?;
        let program = instance.graph().program();
        let mut steps = program.steps(Phase::Update).iter();
        if let Some(step) = steps.find(|s| s.desc.kind == NodeKind::Solver) {
            return Err(ExtractError::State {
                node: step.name.clone(),
                kind: step.desc.name,
            });
        }
        let rest = program.meshes().get(mesh).map(|m| m.positions.as_slice());
        let rest = rest.unwrap_or_default();
        let diagonal = crate::geom::bounds(rest).map_or(0.0, |(lowest, highest)| {
            let along = |c: usize| f64::from(highest[c]) - f64::from(lowest[c]);
            Vec3::from_fn(|c, _| along(c)).norm()
        });
        Ok(Self {
            vertex_count: rest.len(),
            // A mesh of one point has no size; any step is valid.
            size: if diagonal > 0.0 { diagonal } else { 1.0 },
            instance,
            frame,
            input,
            output,
            par,
            single: Vec::new(),
            evaluations: 0,
        })
    }

    pub(super) fn input(&self) -> &str {
        &self.input
    }

    pub(super) fn size(&self) -> f64 {
        self.size
    }

    pub(super) fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The sculpt in double precision, after a check: one finite position per vertex.
    pub(super) fn check_sculpt(
        &self,
        positions: &[[f32; 3]],
    ) -> Result<Vec<Vec3<f64>>, ExtractError> {
        if positions.len() != self.vertex_count {
            return Err(ExtractError::Count {
                input: self.input.clone(),
                found: positions.len(),
                expected: self.vertex_count,
            });
        }
        let bad = |p: &[f32; 3]| p.iter().any(|c| !c.is_finite());
        if let Some(vertex) = positions.iter().position(bad) {
            let found = positions[vertex];
            return Err(ExtractError::NotFinite { vertex, found });
        }
        Ok(positions
            .iter()
            .map(|p| Vec3::from(p.map(f64::from)))
            .collect())
    }

    /// Output positions with `offsets` added to the rest positions.
    pub(super) fn evaluate(
        &mut self,
        offsets: &[Vec3<f64>],
    ) -> Result<Vec<Vec3<f64>>, ExtractError> {
        self.single.clear();
        self.single.extend(offsets.iter().map(single));
        self.instance.set_rest_offsets(&self.input, &self.single)?;
        self.instance.update(self.frame, self.par)?;
        self.evaluations += 1;
        let mesh = self.instance.mesh_output(&self.output);
        let positions = mesh.map(|m| m.positions).unwrap_or_default();
        let bad = |p: &[f32; 3]| p.iter().any(|c| !c.is_finite());
        if let Some(vertex) = positions.iter().position(bad) {
            return Err(ExtractError::OutputNotFinite {
                output: self.output.clone(),
                vertex,
            });
        }
        Ok(positions
            .iter()
            .map(|p| Vec3::from(p.map(f64::from)))
            .collect())
    }

    /// Residual to `goal`.
    pub(super) fn residual(
        &mut self,
        offsets: &[Vec3<f64>],
        goal: &[Vec3<f64>],
    ) -> Result<Vec<Vec3<f64>>, ExtractError> {
        let now = self.evaluate(offsets)?;
        Ok(goal.iter().zip(&now).map(|(g, p)| g - p).collect())
    }

    /// Response of the output to `x` around `offsets`: a central difference in which no vertex moves farther than
    /// `reach`.
    pub(super) fn derivative(
        &mut self,
        offsets: &[Vec3<f64>],
        x: &[Vec3<f64>],
        reach: f64,
    ) -> Result<Vec<Vec3<f64>>, ExtractError> {
        let longest = x.iter().map(Vec3::norm).fold(0.0, f64::max);
        if longest <= 0.0 {
            return Ok(vec![Vec3::zeros(); x.len()]);
        }
        let h = reach / longest;
        let moved =
            |h: f64| -> Vec<Vec3<f64>> { offsets.iter().zip(x).map(|(d, x)| d + x * h).collect() };
        let ahead = self.evaluate(&moved(h))?;
        let behind = self.evaluate(&moved(-h))?;
        Ok(ahead
            .iter()
            .zip(&behind)
            .map(|(a, b)| (a - b) / (2.0 * h))
            .collect())
    }

    /// Removes the offsets and evaluates the frame again.
    pub(super) fn clear(&mut self) -> Result<(), ExtractError> {
        let none = vec![Vec3::zeros(); self.vertex_count];
        self.evaluate(&none).map(|_| ())
    }
}

/// Name of a mesh output and its rest mesh, as an index into the program's meshes.
fn find_output(instance: &Instance, asked: Option<&str>) -> Result<(String, usize), ExtractError> {
    let outputs = instance.plan().outputs().iter();
    let places = instance.graph().program().outputs();
    let meshes: Vec<(&str, usize)> = outputs
        .zip(places)
        .filter_map(|(output, place)| match place {
            OutputData::Mesh { rest, .. } => Some((output.name.as_str(), *rest)),
            _ => None,
        })
        .collect();
    let found = meshes.iter().find(|m| asked.is_none_or(|a| a == m.0));
    match found {
        Some(&(name, rest)) => Ok((name.to_owned(), rest)),
        None => Err(ExtractError::NoOutput {
            asked: asked.map(str::to_owned),
            known: meshes.iter().map(|m| m.0.to_owned()).collect(),
        }),
    }
}

/// The mesh input of an output, which must be the requested one.
fn input_of_mesh(
    instance: &Instance,
    output: &str,
    mesh: usize,
    asked: Option<&str>,
) -> Result<String, ExtractError> {
    // The program has the meshes of the mesh inputs in input order.
    let inputs = instance.plan().inputs().iter();
    let mut meshes = inputs.filter(|i| i.ty == InputType::Mesh);
    let shows = meshes.nth(mesh).map(|i| i.name.clone()).unwrap_or_default();
    match asked {
        Some(input) if input != shows => Err(ExtractError::OtherInput {
            output: output.to_owned(),
            shows,
            input: input.to_owned(),
        }),
        _ => Ok(shows),
    }
}
