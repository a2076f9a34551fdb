//! Finds the regions of nodes from the rest mesh (key `fit`).

use super::binder::Binder;
use super::follow::BindOptions;
use super::value::Value;
use super::{BindError, InputBinding};
use crate::execute::Frame;
use crate::plan::{FitOf, ParameterSource, Plan, PlanNode, Source, Takes};
use sinew_deform::{NodeError, ParameterValue, Region, SetupNote};
use sinew_geom::names::expected_joint;
use sinew_geom::{Affine, Mat3, Mesh, Pose, Rig, Vec3, nearest_rotation};
use std::sync::Arc;

/// A side of a box is at least this share of its largest side: flat meshes have a region, too.
const THINNEST: f64 = 1e-3;

/// Output of the part of a graph that makes a mask.
const MASK: &str = "mask";

/// A box in a rotated frame.
struct Fitted {
    scene_from_box: Mat3<f64>,
    low: Vec3<f64>,
    high: Vec3<f64>,
}

impl Binder<'_> {
    /// Gives a node with `fit` its region.
    pub(super) fn fit_region(
        &self,
        node: &mut PlanNode,
        inputs: &[Option<Value>],
    ) -> Result<(), BindError> {
        let (Some(fit), Some(region)) = (node.fit.clone(), node.desc.fitted_region()) else {
            return Ok(());
        };
        let mesh = inputs.iter().flatten().find_map(|v| match v {
            Value::Mesh(m) => self.meshes.get(m.rest),
            _ => None,
        });
        let Some(mesh) = mesh else { return Ok(()) };
        let refused = |source| BindError::Node {
            location: fit.location.clone(),
            node: node.name.clone(),
            kind: node.desc.name,
            source: Box::new(source),
        };
        let source = |input: &usize| node.parameter_inputs.get(*input).copied();
        let found = match &fit.of {
            FitOf::Mesh => Fitted::new(mesh, Mat3::identity(), |_| true),
            FitOf::Mask(input) => {
                let weights = match source(input) {
                    Some(source) => self.mask_at_rest(source, mesh).map_err(refused)?,
                    None => Vec::new(),
                };
                let is_in = |v: usize| weights.get(v).is_some_and(|w| *w > 0.0);
                Fitted::new(mesh, Mat3::identity(), is_in)
            }
            FitOf::Joint(input, name) => {
                let rig = match source(input).map(|s| self.value(s)) {
                    Some(Value::Pose { input, .. }) => self.inputs.get(input),
                    _ => None,
                };
                let Some(InputBinding::Pose(rig)) = rig else {
                    return Ok(());
                };
                of_joint(mesh, rig, name).map_err(refused)?
            }
        };
        let Some(found) = found.map(|f| f.grown(fit.margin)) else {
            let what = match &fit.of {
                FitOf::Mesh => "a mesh without vertices".to_owned(),
                FitOf::Mask(_) => "a mask without a weight above 0".to_owned(),
                FitOf::Joint(_, name) => {
                    format!(
                        "joint '{name}', which no vertex of mesh '{}' follows",
                        mesh.name
                    )
                }
            };
            return Err(refused(wrong(what, "vertices to fit the region to")));
        };
        let note = found.note();
        found.write(region, node);
        if let Some(fit) = &mut node.fit {
            fit.found = Some(note);
        }
        Ok(())
    }

    /// The weights of a mask at time 0 in the rest pose.
    fn mask_at_rest(&self, source: Source, mesh: &Mesh) -> Result<Vec<f32>, NodeError> {
        let name = self.plan.source_name(source);
        let plan = Arc::new(self.plan.with_output(source));
        let names = self.plan.parameters().iter().map(|p| p.name.as_str());
        let parameters: Vec<(&str, ParameterValue)> =
            names.zip(self.parameters.iter().cloned()).collect();
        let options = BindOptions::from(self.par);
        let bound = super::binder::bind(plan, self.inputs, &parameters, &options);
        let graph = Arc::new(bound.map_err(|e| NodeError::Bind(Box::new(e)))?);
        let mut instance = graph.instance();
        let inputs = self.inputs.iter().enumerate();
        let poses: Vec<(usize, Pose)> = inputs
            .clone()
            .filter_map(|(i, input)| match input {
                InputBinding::Pose(rig) => Some((i, rig.rest_pose())),
                _ => None,
            })
            .collect();
        let poses: Vec<(usize, &Pose)> = poses.iter().map(|(i, pose)| (*i, pose)).collect();
        let positions: Vec<(usize, &[[f32; 3]])> = inputs
            .filter_map(|(i, input)| match input {
                InputBinding::AnimatedMesh(mesh) => Some((i, mesh.positions.as_slice())),
                _ => None,
            })
            .collect();
        let frame = Frame::at(0.0).poses(&poses).positions(&positions);
        instance.update(&frame, self.par).map_err(|e| {
            wrong(
                format!("mask '{name}', which needs data of a frame ({e})"),
                "a mask that needs nothing but the mesh and the rest pose",
            )
        })?;
        let weights = instance.float_output(MASK).unwrap_or_default();
        if weights.len() != mesh.vertex_count() {
            return Err(wrong(
                format!("mask '{name}' with {} weights", weights.len()),
                &format!("{}, one for each vertex of the mesh", mesh.vertex_count()),
            ));
        }
        Ok(weights.to_vec())
    }
}

fn wrong(found: String, expected: &str) -> NodeError {
    NodeError::Parameter {
        name: crate::check::FIT,
        found,
        expected: expected.to_owned(),
    }
}

/// The vertices with a weight for the joint, along its axes in the bind pose.
fn of_joint(mesh: &Mesh, rig: &Rig, name: &str) -> Result<Option<Fitted>, NodeError> {
    let joints = 0..rig.joints().len();
    // Several skins over one tree list a joint several times.
    let named: Vec<u32> = joints
        .clone()
        .filter(|j| rig.joint_name(*j) == name)
        .map(|j| j as u32)
        .collect();
    let Some(first) = named.first() else {
        let names: Vec<&str> = joints.map(|j| rig.joint_name(j)).collect();
        let expected = expected_joint(name, names.iter().copied());
        return Err(wrong(format!("joint '{name}'"), &expected));
    };
    let Some(influences) = &mesh.influences else {
        let found = format!(
            "joint '{name}', but mesh '{}' has no joint weights",
            mesh.name
        );
        return Err(wrong(found, "a skinned mesh"));
    };
    let bind = rig.joints()[*first as usize].joint_from_bind.inverse();
    let rotation = bind.map_or_else(Mat3::identity, |bind| nearest_rotation(&bind.linear));
    let is_in = |v: usize| {
        influences
            .row(v)
            .any(|(j, w)| w > 0.0 && named.contains(&j))
    };
    Ok(Fitted::new(mesh, rotation, is_in))
}

impl Fitted {
    /// The box of the chosen vertices in a frame with these axes; `None` without vertices.
    fn new(mesh: &Mesh, scene_from_box: Mat3<f64>, is_in: impl Fn(usize) -> bool) -> Option<Self> {
        let box_from_scene = scene_from_box.transpose();
        let chosen = mesh.positions.iter().enumerate().filter(|(v, _)| is_in(*v));
        let mut points = chosen.map(|(_, p)| box_from_scene * Vec3::from(p.map(f64::from)));
        let first = points.next()?;
        let (low, high) = points.fold((first, first), |(low, high), p| {
            (low.zip_map(&p, f64::min), high.zip_map(&p, f64::max))
        });
        Some(Self {
            scene_from_box,
            low,
            high,
        })
    }

    /// With a margin on all sides, and without flat sides.
    fn grown(self, margin: f64) -> Self {
        let thinnest = ((self.high - self.low).max() * THINNEST).max(1e-6);
        let more = (self.high - self.low).map(|side| margin.max(0.5 * (thinnest - side)));
        Self {
            low: self.low - more,
            high: self.high + more,
            ..self
        }
    }

    fn note(&self) -> SetupNote {
        let [w, h, d]: [f64; 3] = (self.high - self.low).into();
        let center = self.scene_from_box * (self.low + self.high) * 0.5;
        SetupNote {
            text: format!(
                "region fitted: {w:.4} x {h:.4} x {d:.4} m around ({:.4}, {:.4}, {:.4})",
                center.x, center.y, center.z
            ),
            values: vec![
                ("size_x", w),
                ("size_y", h),
                ("size_z", d),
                ("center_x", center.x),
                ("center_y", center.y),
                ("center_z", center.z),
            ],
        }
    }

    /// Sets the parameters of the region.
    fn write(&self, region: Region, node: &mut PlanNode) {
        let size = self.high - self.low;
        let mut origin = (self.low + self.high) * 0.5;
        let mut linear = self.scene_from_box;
        match region {
            Region::Axis => {
                let axis = match text_of(node, "axis") {
                    Some("x") => 0,
                    Some("z") => 2,
                    _ => 1,
                };
                origin[axis] = self.low[axis];
                set(node, "length", ParameterValue::Float(size[axis]));
            }
            Region::SizedBox => set(node, "size", ParameterValue::Vec3(size.into())),
            Region::UnitBox => linear *= Mat3::from_diagonal(&(size * 0.5)),
            Region::Frame => {}
        }
        let value = ParameterValue::Transform(Affine {
            linear,
            translation: self.scene_from_box * origin,
        });
        if let Some((_, placement)) = node.desc.placement() {
            set(node, placement.name, value);
        }
    }
}

fn text_of<'a>(node: &'a PlanNode, name: &str) -> Option<&'a str> {
    let index = node.desc.parameters.iter().position(|p| p.name == name)?;
    match &node.parameters[index] {
        ParameterSource::Constant(ParameterValue::Text(text)) => Some(text),
        _ => None,
    }
}

/// Sets a parameter, or what it is in the bind pose if it follows a joint.
fn set(node: &mut PlanNode, name: &str, value: ParameterValue) {
    let index = node.desc.parameters.iter().position(|p| p.name == name);
    let Some(source) = index.and_then(|i| node.parameters.get_mut(i)) else {
        return;
    };
    let value = ParameterSource::Constant(value);
    match source {
        ParameterSource::Linked(link) => {
            if let Takes::Joint { offset, .. } = &mut link.takes {
                **offset = value;
            }
        }
        other => *other = value,
    }
}

impl Plan {
    /// The part of the plan that one source needs, which is the only output.
    fn with_output(&self, source: Source) -> Self {
        let mut needed = vec![false; self.nodes.len()];
        let mut open = vec![source];
        while let Some(source) = open.pop() {
            if let Source::Node { node, .. } = source
                && !std::mem::replace(&mut needed[node], true)
            {
                let n = &self.nodes[node];
                open.extend(n.inputs.iter().flatten().chain(&n.parameter_inputs));
            }
        }
        let mut moved = vec![0; needed.len()];
        let mut count = 0;
        for (moved, needed) in moved.iter_mut().zip(&needed) {
            *moved = count;
            count += usize::from(*needed);
        }
        let place = |source: Source| match source {
            Source::Node { node, port } => Source::Node {
                node: moved[node],
                port,
            },
            input => input,
        };
        let mut out = self.clone();
        let mut keep = needed.iter();
        out.nodes.retain(|_| keep.next() == Some(&true));
        for node in &mut out.nodes {
            let inputs = node.inputs.iter_mut().flatten();
            inputs
                .chain(&mut node.parameter_inputs)
                .for_each(|s| *s = place(*s));
        }
        out.counts.clear();
        out.outputs = vec![crate::plan::OutputDecl {
            name: MASK.into(),
            source: place(source),
        }];
        out
    }
}
