//! Setup: binds nodes in order, runs the constant ones, plans the rest.

use super::buffers::{Arrays, Buffers, ConstantArrays};
use super::frame::{Wanted, wanted};
use super::layout::{
    Array, ArrayPlace, Attribute, Element, Layout, MeshValue, PendingOutput, PendingStep, Value,
    attributes_read, effects,
};
use super::{BindError, InputBinding, Instance, ParameterError, Step, find_parameter};
use crate::cache::Saved;
use crate::keyed::assign;
use crate::plan::{InputType, ParameterSource, Plan, PlanNode, Source};
use crate::value::check_value;
use arrayvec::ArrayVec;
use sinew_deform::{
    AttributeEffect, AttributeRead, BindContext, BindInput, BoundNode, InputValue, Inputs, Line,
    MAX_PORTS, MadeAttribute, MeshEffect, MeshView, MeshViewMut, NodeError, NodeKind, OutputValue,
    Outputs, Par, ParameterValue, Parameters, PortType, ReadLog, UpdateContext, find_node,
};
use sinew_geom::{Mesh, Rig};
use std::sync::Arc;

/// What setup did, for people.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// Nodes that ran once: name, kind.
    pub(crate) in_setup: Vec<(String, &'static str)>,
    /// Steps: name, kind, bytes of setup results, bytes of scratch, whether the binder added it.
    pub(crate) steps: Vec<(String, &'static str, usize, usize, bool)>,
    /// Steps that nobody needs.
    pub(crate) dropped: Vec<String>,
}

struct Binder<'a> {
    plan: &'a Plan,
    par: Par,
    saved: Option<&'a Saved>,
    rigs: Vec<Option<Arc<Rig>>>,
    constants: Vec<Arc<Mesh>>,
    arrays: ConstantArrays,
    layout: Layout,
    input_values: Vec<Value>,
    /// Values of each node's outputs.
    values: Vec<Vec<Value>>,
    pending: Vec<PendingStep>,
    bound: Vec<(PlanNode, Box<dyn BoundNode>, Vec<ParameterValue>)>,
    parameters: Vec<ParameterValue>,
    report: Report,
    /// Normals and tangents made for positions before.
    frames: Vec<Frames>,
}

/// Normals and tangents that were made for some positions, so that they are made once.
#[derive(Clone, Copy)]
struct Frames {
    positions: Option<Attribute>,
    with_tangents: bool,
    attributes: [Option<Attribute>; 2],
    stale: [bool; 2],
}

pub(super) fn bind(
    plan: Arc<Plan>,
    inputs: &[InputBinding],
    parameters: &[(&str, ParameterValue)],
    par: Par,
    saved: Option<&Saved>,
) -> Result<Instance, BindError> {
    let (values, overridden) = initial_parameters(&plan, parameters)?;
    let mut b = Binder {
        plan: &plan,
        par,
        saved,
        rigs: Vec::new(),
        constants: Vec::new(),
        arrays: ConstantArrays::default(),
        layout: Layout::default(),
        input_values: Vec::new(),
        values: Vec::new(),
        pending: Vec::new(),
        bound: Vec::new(),
        parameters: values,
        report: Report::default(),
        frames: Vec::new(),
    };
    b.bind_inputs(inputs)?;
    for node in plan.nodes() {
        let values = b.bind_node(node)?;
        b.values.push(values);
    }
    let mut outputs: Vec<Value> = plan.outputs().iter().map(|o| b.value(o.source)).collect();
    for value in &mut outputs {
        if let Value::Mesh(m) = value {
            // Tangents only where the mesh has some.
            let wants = [true, m.attributes[2].is_some()];
            *m = b.refreshed(*m, wants)?;
        }
    }
    let value_inputs = plan.inputs().iter().map(|i| vec![0.0; i.count]).collect();
    let wanted = wanted(&plan, inputs);
    Ok(b.finish(&outputs, value_inputs, wanted, overridden, plan.clone()))
}

fn initial_parameters(
    plan: &Plan,
    given: &[(&str, ParameterValue)],
) -> Result<(Vec<ParameterValue>, Vec<bool>), ParameterError> {
    let mut values: Vec<ParameterValue> = plan
        .parameters()
        .iter()
        .map(|p| p.default.clone())
        .collect();
    let mut overridden = vec![false; values.len()];
    for (name, value) in given {
        let index = find_parameter(plan, name)?;
        let ty = plan.parameters()[index].ty;
        check_value(ty, value).map_err(|message| ParameterError::Value {
            name: (*name).to_owned(),
            message,
        })?;
        values[index] = value.clone();
        overridden[index] = true;
    }
    Ok((values, overridden))
}

impl Binder<'_> {
    fn bind_inputs(&mut self, inputs: &[InputBinding]) -> Result<(), BindError> {
        let declared = self.plan.inputs();
        if inputs.len() != declared.len() {
            return Err(BindError::InputCount {
                found: inputs.len(),
                expected: declared.len(),
            });
        }
        for (i, (binding, decl)) in inputs.iter().zip(declared).enumerate() {
            let mut rig = None;
            let value = match (binding, decl.ty) {
                (InputBinding::Mesh(mesh), InputType::Mesh) => {
                    mesh.check().map_err(|source| BindError::Mesh {
                        name: decl.name.clone(),
                        source,
                    })?;
                    self.constants.push(mesh.clone());
                    Value::Mesh(whole_mesh(self.constants.len() - 1, mesh))
                }
                (InputBinding::Pose(r), InputType::Pose) => {
                    rig = Some(r.clone());
                    Value::Pose(i)
                }
                (InputBinding::Values, InputType::Values) => Value::Values(Array {
                    place: ArrayPlace::Input(i),
                    len: decl.count,
                }),
                _ => {
                    return Err(BindError::InputType {
                        name: decl.name.clone(),
                        expected: decl.ty.port_type().as_str(),
                    });
                }
            };
            self.rigs.push(rig);
            self.input_values.push(value);
        }
        Ok(())
    }

    fn value(&self, source: Source) -> Value {
        match source {
            Source::Input(i) => self.input_values[i],
            Source::Node { node, port } => self.values[node][port],
        }
    }

    fn node_parameters(&self, node: &PlanNode) -> Vec<ParameterValue> {
        node.parameters
            .iter()
            .map(|source| match source {
                ParameterSource::Constant(v) => v.clone(),
                ParameterSource::Parameter(p) => self.parameters[*p].clone(),
                ParameterSource::Keyed(k) => {
                    let mut out = k.values[0].clone();
                    k.sample(0.0, &mut out);
                    out
                }
            })
            .collect()
    }

    fn bind_node(&mut self, node: &PlanNode) -> Result<Vec<Value>, BindError> {
        let inputs: Vec<Option<Value>> = node
            .inputs
            .iter()
            .map(|s| s.map(|s| self.value(s)))
            .collect();
        self.bind_with(node, inputs)
    }

    fn bind_with(
        &mut self,
        node: &PlanNode,
        mut inputs: Vec<Option<Value>>,
    ) -> Result<Vec<Value>, BindError> {
        self.check_masks(node, &inputs)?;
        self.refresh_reads(node, &mut inputs)?;
        let parameters = self.node_parameters(node);
        let bound = self.call_bind(node, &inputs, &parameters)?;
        if node.runs_in_setup {
            self.report
                .in_setup
                .push((node.name.clone(), node.desc.name));
            return self.run_in_setup(node, &inputs, &parameters, bound.as_ref());
        }
        let (values, outputs) = self.plan_outputs(node, &inputs, bound.as_ref());
        self.pending.push(PendingStep {
            inputs,
            ports: node.desc.inputs,
            reads: Vec::new(),
            outputs,
            always: node.desc.kind == NodeKind::Solver,
        });
        self.bound.push((node.clone(), bound, parameters));
        Ok(values)
    }

    /// A mask belongs to the vertices it was made for: those of the node's first mesh.
    fn check_masks(&self, node: &PlanNode, inputs: &[Option<Value>]) -> Result<(), BindError> {
        let expected = self.first_vertex_count(inputs);
        for (value, port) in inputs.iter().zip(node.desc.inputs) {
            if let Some(Value::Mask(a)) = value
                && a.len != expected
            {
                let message = format!(
                    "the mask has {} values, the mesh has {expected} vertices; make the mask from the same mesh",
                    a.len
                );
                let source = NodeError::Input {
                    port: port.name,
                    message,
                };
                return Err(refused(node, source));
            }
        }
        Ok(())
    }

    fn call_bind(
        &self,
        node: &PlanNode,
        inputs: &[Option<Value>],
        parameters: &[ParameterValue],
    ) -> Result<Box<dyn BoundNode>, BindError> {
        let bind_inputs: Vec<Option<BindInput<'_>>> = inputs
            .iter()
            .map(|i| {
                Some(match i.as_ref()? {
                    Value::Mesh(m) => BindInput::Mesh(&self.constants[m.rest]),
                    Value::Pose(i) => BindInput::Pose(self.rigs[*i].as_deref()?),
                    Value::Mask(a) => BindInput::Mask(match a.place {
                        ArrayPlace::Constant(c) => Some(&self.arrays.floats[c]),
                        _ => None,
                    }),
                    Value::Values(a) => BindInput::Values(a.len),
                    Value::Lines(a) => BindInput::Lines(a.len),
                })
            })
            .collect();
        let log = ReadLog::new();
        let context = BindContext {
            inputs: &bind_inputs,
            ports: node.desc.inputs,
            parameters: Parameters {
                descs: node.desc.parameters,
                values: parameters,
                log: &log,
            },
        };
        let blob = self.saved.and_then(|s| s.blobs.get(&node.name));
        let result = match (blob, node.desc.restore) {
            (Some(blob), Some(restore)) => restore(blob, &context),
            _ => (node.desc.bind)(&context),
        };
        // A wrong read explains whatever else went wrong.
        log.check()
            .map_err(NodeError::from)
            .and(result)
            .map_err(|source| refused(node, source))
    }

    /// Whether the output mesh has the attribute at all, and whether it is stale.
    fn attribute_state(
        from: &MeshValue,
        effect: AttributeEffect,
        a: usize,
        makes: &dyn Fn(MadeAttribute) -> bool,
    ) -> (bool, bool) {
        const ALL: [MadeAttribute; 4] = [
            MadeAttribute::Positions,
            MadeAttribute::Normals,
            MadeAttribute::Tangents,
            MadeAttribute::Colors,
        ];
        match effect {
            AttributeEffect::Keep | AttributeEffect::Transform => {
                (from.attributes[a].is_some(), from.stale[a])
            }
            AttributeEffect::Invalidate => (from.attributes[a].is_some(), true),
            AttributeEffect::Recompute => (from.attributes[a].is_some() || makes(ALL[a]), false),
        }
    }

    fn plan_outputs(
        &mut self,
        node: &PlanNode,
        inputs: &[Option<Value>],
        bound: &dyn BoundNode,
    ) -> (Vec<Value>, Vec<PendingOutput>) {
        let vertex_count = self.first_vertex_count(inputs);
        let (mut values, mut outputs) = (Vec::new(), Vec::new());
        for port in node.desc.outputs {
            let len = bound.output_len(port.name);
            let (value, output) = match (port.ty, &port.effect) {
                (PortType::Mesh, Some(effect)) => match mesh_input(node, inputs, effect) {
                    Some(from) => self.plan_mesh(&from, effect, &|attribute| {
                        bound.makes(port.name, attribute)
                    }),
                    None => continue,
                },
                (PortType::Mask, _) => {
                    let id = self.layout.add(Element::Float, vertex_count);
                    (
                        Value::Mask(Array {
                            place: ArrayPlace::Virtual(id),
                            len: vertex_count,
                        }),
                        PendingOutput::Mask(id),
                    )
                }
                (PortType::Lines, _) => {
                    let id = self.layout.add(Element::Line, len);
                    (
                        Value::Lines(Array {
                            place: ArrayPlace::Virtual(id),
                            len,
                        }),
                        PendingOutput::Lines(id),
                    )
                }
                _ => {
                    let id = self.layout.add(Element::Float, len);
                    (
                        Value::Values(Array {
                            place: ArrayPlace::Virtual(id),
                            len,
                        }),
                        PendingOutput::Values(id),
                    )
                }
            };
            values.push(value);
            outputs.push(output);
        }
        (values, outputs)
    }

    fn plan_mesh(
        &mut self,
        from: &MeshValue,
        effect: &MeshEffect,
        makes: &dyn Fn(MadeAttribute) -> bool,
    ) -> (Value, PendingOutput) {
        let vertex_count = self.constants[from.rest].vertex_count();
        let mut out = *from;
        let mut written = [None; 4];
        for (a, kind) in effects(effect).into_iter().enumerate() {
            let (exists, stale) = Self::attribute_state(from, kind, a, makes);
            out.stale[a] = stale;
            if matches!(
                kind,
                AttributeEffect::Transform | AttributeEffect::Recompute
            ) {
                out.attributes[a] = None;
                if exists && !stale {
                    let element = if a < 2 { Element::Three } else { Element::Four };
                    let id = self.layout.add(element, vertex_count);
                    out.attributes[a] = Some(Attribute::Virtual(id));
                    written[a] = Some(id);
                } else if exists {
                    // Stale and stays so; remembered, so that an output knows what to recompute.
                    out.attributes[a] = from.attributes[a];
                }
            }
        }
        (
            Value::Mesh(out),
            PendingOutput::Mesh {
                effect: *effect,
                written,
            },
        )
    }

    fn first_vertex_count(&self, inputs: &[Option<Value>]) -> usize {
        inputs
            .iter()
            .flatten()
            .find_map(|v| match v {
                Value::Mesh(m) => Some(self.constants[m.rest].vertex_count()),
                _ => None,
            })
            .unwrap_or(0)
    }

    /// Runs a constant node; its results become rest meshes and constant arrays.
    fn run_in_setup(
        &mut self,
        node: &PlanNode,
        inputs: &[Option<Value>],
        parameters: &[ParameterValue],
        bound: &dyn BoundNode,
    ) -> Result<Vec<Value>, BindError> {
        let vertex_count = self.first_vertex_count(inputs);
        let mut made: Vec<Made> = node
            .desc
            .outputs
            .iter()
            .map(|port| {
                let len = bound.output_len(port.name);
                match (port.ty, &port.effect) {
                    (PortType::Mesh, Some(effect)) => {
                        let makes = |attribute| bound.makes(port.name, attribute);
                        Made::mesh(self, mesh_input(node, inputs, effect), effect, &makes)
                    }
                    (PortType::Mask, _) => Made::Mask(vec![0.0; vertex_count]),
                    (PortType::Lines, _) => Made::Lines(vec![Line::default(); len]),
                    _ => Made::Values(vec![0.0; len]),
                }
            })
            .collect();
        let written: Vec<(MeshEffect, [bool; 4])> = made
            .iter()
            .zip(node.desc.outputs)
            .filter_map(|(m, port)| Some((port.effect?, m.written()?)))
            .collect();
        let log = ReadLog::new();
        {
            let outputs: ArrayVec<_, MAX_PORTS> = made.iter_mut().map(|m| m.value()).collect();
            let empty = Buffers::default();
            let arrays = Arrays {
                constant: &self.arrays,
                slots: &empty,
                inputs: &[],
            };
            let values: Vec<Option<InputValue<'_>>> = inputs
                .iter()
                .zip(node.desc.inputs)
                .map(|(i, port)| {
                    let reads = attributes_read(port, &written);
                    i.as_ref()
                        .and_then(|v| self.constant_input(v, reads, &arrays))
                })
                .collect();
            let mut scratch = bound.new_scratch();
            bound.update(UpdateContext {
                time_secs: 0.0,
                dt_secs: 0.0,
                par: self.par,
                parameters: Parameters {
                    descs: node.desc.parameters,
                    values: parameters,
                    log: &log,
                },
                inputs: Inputs {
                    values: &values,
                    ports: node.desc.inputs,
                    log: &log,
                },
                outputs: Outputs {
                    values: outputs,
                    ports: node.desc.outputs,
                    log: &log,
                },
                scratch: scratch.as_mut(),
            });
        }
        log.check().map_err(|e| refused(node, e.into()))?;
        Ok(made.into_iter().map(|m| self.keep(m)).collect())
    }

    fn constant_input<'a>(
        &'a self,
        value: &Value,
        reads: [bool; 4],
        arrays: &Arrays<'a>,
    ) -> Option<InputValue<'a>> {
        let place = |a: &Array| match a.place {
            ArrayPlace::Constant(c) => Some(super::buffers::ArrayRef::Constant(c)),
            _ => None,
        };
        Some(match value {
            Value::Mesh(m) => {
                let of = |a: usize| match m.attributes[a] {
                    Some(Attribute::Constant(c)) if !m.stale[a] && reads[a] => {
                        Some(&*self.constants[c])
                    }
                    _ => None,
                };
                InputValue::Mesh(MeshView {
                    positions: of(0).map_or(&[], |c| &c.positions),
                    normals: of(1).and_then(|c| c.normals.as_deref()),
                    tangents: of(2).and_then(|c| c.tangents.as_deref()),
                    colors: of(3).and_then(|c| c.colors.first()).map(Vec::as_slice),
                })
            }
            Value::Pose(_) => return None,
            Value::Mask(a) => InputValue::Mask(arrays.floats(place(a)?)),
            Value::Values(a) => InputValue::Values(arrays.floats(place(a)?)),
            Value::Lines(a) => InputValue::Lines(arrays.lines(place(a)?)),
        })
    }

    fn keep(&mut self, made: Made) -> Value {
        match made {
            Made::Mesh {
                from,
                positions,
                normals,
                tangents,
                colors,
                stale,
            } => {
                let Some(from) = from else {
                    return Value::Pose(0);
                };
                let mut value = from;
                value.stale = stale;
                let place = Attribute::Constant(self.constants.len());
                let written = [
                    positions.is_some(),
                    normals.is_some(),
                    tangents.is_some(),
                    colors.is_some(),
                ];
                for (attribute, _) in value.attributes.iter_mut().zip(written).filter(|w| w.1) {
                    *attribute = Some(place);
                }
                // Only what was written: the rest mesh of what follows stays the authored one.
                self.constants.push(Arc::new(Mesh {
                    topology: self.constants[from.rest].topology.clone(),
                    positions: positions.unwrap_or_default(),
                    normals,
                    tangents,
                    colors: colors.into_iter().collect(),
                    ..Mesh::default()
                }));
                Value::Mesh(value)
            }
            Made::Mask(v) => Value::Mask(self.keep_floats(v)),
            Made::Values(v) => Value::Values(self.keep_floats(v)),
            Made::Lines(v) => {
                let len = v.len();
                self.arrays.lines.push(v);
                Value::Lines(Array {
                    place: ArrayPlace::Constant(self.arrays.lines.len() - 1),
                    len,
                })
            }
        }
    }

    fn keep_floats(&mut self, v: Vec<f32>) -> Array {
        let len = v.len();
        self.arrays.floats.push(v);
        Array {
            place: ArrayPlace::Constant(self.arrays.floats.len() - 1),
            len,
        }
    }

    /// Brings up to date what the node reads of its mesh inputs, and makes what they lack.
    fn refresh_reads(
        &mut self,
        node: &PlanNode,
        inputs: &mut [Option<Value>],
    ) -> Result<(), BindError> {
        for (i, port) in node.desc.inputs.iter().enumerate() {
            let Some(Value::Mesh(m)) = inputs[i] else {
                continue;
            };
            let reads = port.reads.all();
            let always = [1, 2].map(|a| reads[a] == AttributeRead::Always);
            let fresh = self.refreshed(m, always)?;
            inputs[i] = Some(Value::Mesh(fresh));
            let lacks = |a: usize| {
                reads[a] == AttributeRead::Always
                    && (fresh.attributes[a].is_none() || fresh.stale[a])
            };
            if let Some(a) = (0..4).find(|&a| lacks(a)) {
                return Err(refused(node, self.cannot_be_made(port.name, &fresh, a)));
            }
        }
        // Needed only where the attribute comes out, which may be known only now.
        for (i, port) in node.desc.inputs.iter().enumerate() {
            let Some(Value::Mesh(m)) = inputs[i] else {
                continue;
            };
            let reads = port.reads.all();
            let comes_out = |a: usize| {
                let mut effects_of = node.desc.outputs.iter().filter_map(|o| o.effect);
                effects_of.any(|e| match effects(&e)[a] {
                    AttributeEffect::Recompute => true,
                    AttributeEffect::Transform => mesh_input(node, inputs, &e)
                        .is_some_and(|from| from.attributes[a].is_some() && !from.stale[a]),
                    AttributeEffect::Keep | AttributeEffect::Invalidate => false,
                })
            };
            let wants =
                [1, 2].map(|a| reads[a] == AttributeRead::WithOutput && m.stale[a] && comes_out(a));
            inputs[i] = Some(Value::Mesh(self.refreshed(m, wants)?));
        }
        Ok(())
    }

    fn cannot_be_made(&self, port: &'static str, m: &MeshValue, a: usize) -> NodeError {
        let rest = &self.constants[m.rest];
        let (what, lacks) = match a {
            0 => ("positions", ""),
            3 => ("colours", ""),
            _ if rest.topology.triangles().is_empty() => (
                if a == 1 { "normals" } else { "tangents" },
                " and no triangles to make them from",
            ),
            1 => ("normals", ""),
            _ => ("tangents", " and no texture coordinates to make them from"),
        };
        NodeError::Input {
            port,
            message: format!(
                "the node reads {what}, but the mesh '{}' has none{lacks}",
                rest.name
            ),
        }
    }

    /// The mesh with normals and tangents that fit its positions, as far as wanted and possible: `tangent_frames`
    /// is put in front where they are missing or stale.
    fn refreshed(
        &mut self,
        m: MeshValue,
        [normals, tangents]: [bool; 2],
    ) -> Result<MeshValue, BindError> {
        let unfit = |a: usize| m.attributes[a].is_none() || m.stale[a];
        let rest = &self.constants[m.rest];
        let can_tangents = m.attributes[2].is_some() || !rest.uvs.is_empty();
        let with_tangents = tangents && can_tangents;
        if !(normals && unfit(1) || with_tangents && unfit(2))
            || rest.topology.triangles().is_empty()
        {
            return Ok(m);
        }
        let known = self
            .frames
            .iter()
            .find(|f| f.positions == m.attributes[0] && f.with_tangents == with_tangents)
            .copied();
        let frames = match known {
            Some(frames) => frames,
            None => {
                let Some(frames) = self.make_frames(&m, with_tangents)? else {
                    return Ok(m);
                };
                self.frames.push(frames);
                frames
            }
        };
        let mut out = m;
        for (i, a) in [1, 2].into_iter().enumerate() {
            if a == 1 || with_tangents {
                (out.attributes[a], out.stale[a]) = (frames.attributes[i], frames.stale[i]);
            }
        }
        Ok(out)
    }

    fn make_frames(
        &mut self,
        m: &MeshValue,
        with_tangents: bool,
    ) -> Result<Option<Frames>, BindError> {
        let Some(desc) = find_node("tangent_frames") else {
            return Ok(None);
        };
        // Without texture coordinates the authored tangents are all there is to go by.
        let tangents = match (with_tangents, self.constants[m.rest].uvs.is_empty()) {
            (false, _) => Some("none"),
            (true, true) => Some("project"),
            (true, false) => None,
        };
        let parameters = desc
            .parameters
            .iter()
            .map(|p| {
                let mode = tangents.filter(|_| p.name == "tangents");
                ParameterSource::Constant(mode.map_or_else(
                    || p.default_value(),
                    |mode| ParameterValue::Text(mode.into()),
                ))
            })
            .collect();
        let dynamic = matches!(m.attributes[0], Some(Attribute::Virtual(_)));
        let node = PlanNode {
            name: format!(
                "frames ({})",
                self.report.in_setup.len() + self.pending.len()
            ),
            desc,
            inputs: vec![None; desc.inputs.len()],
            parameters,
            runs_in_setup: !dynamic,
            implicit: true,
            place: String::new(),
        };
        let inputs = desc
            .inputs
            .iter()
            .map(|p| (p.name == "mesh").then_some(Value::Mesh(*m)))
            .collect();
        let values = self.bind_with(&node, inputs)?;
        let Some(Value::Mesh(fresh)) = values.first() else {
            return Ok(None);
        };
        Ok(Some(Frames {
            positions: m.attributes[0],
            with_tangents,
            attributes: [fresh.attributes[1], fresh.attributes[2]],
            stale: [fresh.stale[1], fresh.stale[2]],
        }))
    }

    fn finish(
        mut self,
        outputs: &[Value],
        value_inputs: Vec<Vec<f32>>,
        mut wanted: Vec<Wanted>,
        overridden: Vec<bool>,
        plan: Arc<Plan>,
    ) -> Instance {
        for value in outputs {
            self.layout.read_output(value);
        }
        let runs = self.layout.mark_live(&mut self.pending);
        let buffers = self.layout.assign_slots(&self.pending, &runs);
        let mut steps = Vec::new();
        for ((pending, (node, bound, values)), runs) in
            self.pending.iter().zip(self.bound).zip(runs)
        {
            if !runs {
                self.report.dropped.push(node.name);
                continue;
            }
            self.report.steps.push((
                node.name.clone(),
                node.desc.name,
                bound.setup_bytes(),
                bound.scratch_bytes(),
                node.implicit,
            ));
            steps.push(Step {
                log: ReadLog::new(),
                scratch: bound.new_scratch(),
                bound,
                inputs: pending
                    .inputs
                    .iter()
                    .zip(&pending.reads)
                    .map(|(v, reads)| v.as_ref().and_then(|v| self.layout.step_input(v, *reads)))
                    .collect(),
                outputs: pending
                    .outputs
                    .iter()
                    .map(|o| self.layout.step_output(o))
                    .collect(),
                sources: node.parameters,
                values,
                name: node.name,
                desc: node.desc,
            });
        }
        let read = steps.iter().flat_map(|s: &Step| s.inputs.iter().flatten());
        read.for_each(|input| Wanted::need_step(&mut wanted, input));
        for value in outputs {
            if let Value::Values(Array {
                place: ArrayPlace::Input(i),
                ..
            }) = value
            {
                Wanted::need(&mut wanted, *i);
            }
        }
        let outputs = outputs.iter().map(|v| self.layout.output_slot(v)).collect();
        let mut parameters: Vec<ParameterValue> = plan
            .parameters()
            .iter()
            .map(|p| p.default.clone())
            .collect();
        for (p, v) in parameters.iter_mut().zip(&self.parameters) {
            assign(p, v);
        }
        Instance {
            plan,
            constants: self.constants,
            constant_arrays: self.arrays,
            steps,
            buffers,
            outputs,
            parameters,
            overridden,
            value_inputs,
            wanted,
            frames_done: 0,
            report: self.report,
        }
    }
}

fn refused(node: &PlanNode, source: NodeError) -> BindError {
    BindError::Node {
        place: node.place.clone(),
        node: node.name.clone(),
        kind: node.desc.name,
        source,
    }
}

/// The mesh that passes through to an output.
fn mesh_input(node: &PlanNode, inputs: &[Option<Value>], effect: &MeshEffect) -> Option<MeshValue> {
    let index = node
        .desc
        .inputs
        .iter()
        .position(|p| p.name == effect.from)?;
    match inputs.get(index)?.as_ref()? {
        Value::Mesh(m) => Some(*m),
        _ => None,
    }
}

fn whole_mesh(rest: usize, mesh: &Mesh) -> MeshValue {
    let constant = |has: bool| has.then_some(Attribute::Constant(rest));
    MeshValue {
        rest,
        attributes: [
            constant(true),
            constant(mesh.normals.is_some()),
            constant(mesh.tangents.is_some()),
            constant(!mesh.colors.is_empty()),
        ],
        stale: [false; 4],
    }
}

/// What a node that runs in setup writes to.
enum Made {
    Mesh {
        from: Option<MeshValue>,
        positions: Option<Vec<[f32; 3]>>,
        normals: Option<Vec<[f32; 3]>>,
        tangents: Option<Vec<[f32; 4]>>,
        colors: Option<Vec<[f32; 4]>>,
        stale: [bool; 4],
    },
    Mask(Vec<f32>),
    Values(Vec<f32>),
    Lines(Vec<Line>),
}

impl Made {
    fn mesh(
        binder: &Binder<'_>,
        from: Option<MeshValue>,
        effect: &MeshEffect,
        makes: &dyn Fn(MadeAttribute) -> bool,
    ) -> Self {
        let n = from.map_or(0, |m| binder.constants[m.rest].vertex_count());
        let mut stale = [false; 4];
        let mut writes = [false; 4];
        if let Some(m) = &from {
            for (a, kind) in effects(effect).into_iter().enumerate() {
                let (exists, is_stale) = Binder::attribute_state(m, kind, a, makes);
                stale[a] = is_stale;
                writes[a] = exists
                    && !is_stale
                    && matches!(
                        kind,
                        AttributeEffect::Transform | AttributeEffect::Recompute
                    );
            }
        }
        Self::Mesh {
            from,
            positions: writes[0].then(|| vec![[0.0; 3]; n]),
            normals: writes[1].then(|| vec![[0.0; 3]; n]),
            tangents: writes[2].then(|| vec![[0.0; 4]; n]),
            colors: writes[3].then(|| vec![[0.0; 4]; n]),
            stale,
        }
    }

    /// Which attributes of a mesh are written.
    fn written(&self) -> Option<[bool; 4]> {
        match self {
            Self::Mesh {
                positions,
                normals,
                tangents,
                colors,
                ..
            } => Some([
                positions.is_some(),
                normals.is_some(),
                tangents.is_some(),
                colors.is_some(),
            ]),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<OutputValue<'_>> {
        Some(match self {
            Self::Mesh {
                positions,
                normals,
                tangents,
                colors,
                ..
            } => OutputValue::Mesh(MeshViewMut {
                positions: positions.as_deref_mut(),
                normals: normals.as_deref_mut(),
                tangents: tangents.as_deref_mut(),
                colors: colors.as_deref_mut(),
            }),
            Self::Mask(v) => OutputValue::Mask(v),
            Self::Values(v) => OutputValue::Values(v),
            Self::Lines(v) => OutputValue::Lines(v),
        })
    }
}
