//! Setup: binds nodes in order, runs the constant ones, plans the rest.

use super::buffers::{Arrays, Buffers, ConstantArrays};
use super::frame::{Wanted, wanted};
use super::layout::{
    Array, ArrayPlace, Attribute, Element, Layout, MeshValue, PendingOutput, PendingStep, Value,
    attributes_read, effects,
};
use super::made::Made;
use super::refresh::Frames;
use super::{BindError, InputBinding, Instance, ParameterError, Step, find_parameter};
use crate::cache::Saved;
use crate::keyed::assign;
use crate::plan::{InputType, ParameterSource, Plan, PlanNode, Source};
use crate::value::check_value;
use arrayvec::ArrayVec;
use sinew_deform::{
    AttributeEffect, BindContext, BindInput, BoundNode, InputValue, Inputs, Line, MAX_PORTS,
    MadeAttribute, MeshEffect, MeshView, NodeError, NodeKind, Outputs, Par, ParameterValue,
    Parameters, PortType, ReadLog, UpdateContext,
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

pub(super) struct Binder<'a> {
    plan: &'a Plan,
    par: Par,
    saved: Option<&'a Saved>,
    rigs: Vec<Option<Arc<Rig>>>,
    pub(super) constants: Vec<Arc<Mesh>>,
    arrays: ConstantArrays,
    layout: Layout,
    input_values: Vec<Value>,
    /// Values of each node's outputs.
    values: Vec<Vec<Value>>,
    pub(super) pending: Vec<PendingStep>,
    bound: Vec<(PlanNode, Box<dyn BoundNode>, Vec<ParameterValue>)>,
    parameters: Vec<ParameterValue>,
    pub(super) report: Report,
    /// Normals and tangents made for positions before.
    pub(super) frames: Vec<Frames>,
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
        b.check_counts(&values)?;
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

    pub(super) fn bind_with(
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

    /// Whether the node that comes next gives as many values as nested graphs declare.
    fn check_counts(&self, values: &[Value]) -> Result<(), BindError> {
        for (source, expected, what) in &self.plan.counts {
            if let Source::Node { node, port } = *source
                && node == self.values.len()
                && let Some(Value::Values(a)) = values.get(port)
                && a.len != *expected
            {
                return Err(BindError::ValueCount {
                    what: what.clone(),
                    found: a.len,
                    expected: *expected,
                });
            }
        }
        Ok(())
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
    pub(super) fn attribute_state(
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

pub(super) fn refused(node: &PlanNode, source: NodeError) -> BindError {
    BindError::Node {
        place: node.place.clone(),
        node: node.name.clone(),
        kind: node.desc.name,
        source: Box::new(source),
    }
}

/// The mesh that passes through to an output.
pub(super) fn mesh_input(
    node: &PlanNode,
    inputs: &[Option<Value>],
    effect: &MeshEffect,
) -> Option<MeshValue> {
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
