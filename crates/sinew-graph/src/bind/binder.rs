//! Binds the nodes of a plan in order, and plans which step writes which buffer.

use super::follow::{BindOptions, Follower, stopped};
use super::layout::{Layout, PendingOutput, PendingStep};
use super::refresh::Frames;
use super::value::{ArrayValue, Location, MeshValue, Value, mesh_input};
use super::{BindError, BoundGraph, InputBinding, NodeWarning, bind_input, fixed};
use crate::cache::{Contents, Entry, Hashes, Kept, NodeSetup, Saved};
use crate::linked::width;
use crate::plan::{InputType, ParameterError, ParameterSource, Plan, PlanNode, Source, Takes};
use crate::program::{Content, Link, NotOnHost, Program, Step};
use crate::value::check_value;
use sinew_deform::{
    AttributeEffect, BindContext, BindInput, BindWarnings, BindWatch, BoundNode, MESH_ATTRIBUTES,
    MeshAttribute, MeshEffect, NodeError, NodeKind, Par, ParameterDesc, ParameterValue, Parameters,
    Phase, PortDesc, PortType, ReadLog,
};
use sinew_geom::Mesh;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A node after setup, and its parameters.
pub(super) type Bound = (PlanNode, Arc<dyn BoundNode>, Vec<ParameterValue>);

pub(super) struct Binder<'a> {
    pub(super) plan: &'a Plan,
    pub(super) par: Par,
    follower: &'a Follower<'a>,
    saved: Option<Saved>,
    hashes: Hashes,
    kept: BTreeMap<String, Kept>,
    pub(super) inputs: &'a [InputBinding],
    pub(super) meshes: Vec<Arc<Mesh>>,
    pub(super) layout: Layout,
    input_values: Vec<Value>,
    /// Values of each node's outputs.
    values: Vec<Vec<Value>>,
    pub(super) pending: Vec<PendingStep>,
    /// One for each pending step.
    pub(super) bound: Vec<Bound>,
    pub(super) parameters: Vec<ParameterValue>,
    /// Normals and tangents made so far, by positions.
    pub(super) frames: Vec<Frames>,
    warnings: Vec<NodeWarning>,
}

pub(super) fn bind(
    plan: Arc<Plan>,
    inputs: &[InputBinding],
    parameters: &[(&str, ParameterValue)],
    options: &BindOptions<'_>,
) -> Result<BoundGraph, BindError> {
    let saved = options.cache.map(Saved::decode).transpose()?;
    let plan = with_animated(plan, inputs);
    let (values, overridden) = initial_parameters(&plan, parameters)?;
    let nodes = plan.nodes();
    let setup_count = nodes.iter().filter(|n| n.runs_in_setup).count();
    let follower = Follower::new(options.watch, nodes.len() + setup_count);
    let mut b = Binder::new(&plan, inputs, values, options.par, &follower, saved);
    b.bind_inputs()?;
    for node in plan.nodes() {
        let values = b.bind_node(node)?;
        b.check_counts(&values)?;
        b.values.push(values);
    }
    let outputs = b.output_values(options.positions_only)?;
    let parameter_values = std::mem::take(&mut b.parameters);
    let warnings = std::mem::take(&mut b.warnings);
    let hashes = std::mem::replace(&mut b.hashes, Hashes::new(&[]));
    let kept = std::mem::take(&mut b.kept);
    let program = b.finish(&outputs);
    let bound = nodes.len() as f64;
    let share = (bound, setup_count as f64);
    let setup = super::setup::run(&program, inputs, options.par, &follower, share)?;
    follower.report(nodes.last().map_or("", |n| &n.name), bound + share.1);
    let given = parameters.iter();
    Ok(BoundGraph {
        wanted: crate::execute::wanted(&plan, &program, inputs),
        inputs: inputs.to_vec(),
        given: given.map(|(n, v)| ((*n).to_owned(), v.clone())).collect(),
        positions_only: options.positions_only,
        program,
        setup,
        parameters: parameter_values,
        warnings,
        hashes,
        kept,
        overridden,
        plan,
    })
}

/// All errors of the nodes. What a refused node outputs is unknown, except that a mesh passes through it; nodes that need what is unknown
/// are left out.
pub(super) fn problems(
    plan: Arc<Plan>,
    inputs: &[InputBinding],
    parameters: &[(&str, ParameterValue)],
    options: &BindOptions<'_>,
) -> Vec<BindError> {
    let plan = with_animated(plan, inputs);
    let (values, _) = match initial_parameters(&plan, parameters) {
        Ok(values) => values,
        Err(error) => return vec![error.into()],
    };
    let follower = Follower::new(options.watch, plan.nodes().len());
    let mut b = Binder::new(&plan, inputs, values, options.par, &follower, None);
    if let Err(error) = b.bind_inputs() {
        return vec![error];
    }
    let (mut found, mut unknown) = (Vec::new(), HashSet::new());
    for node in plan.nodes() {
        let links = node.inputs.iter().flatten();
        let mut links = links.chain(&node.parameter_inputs);
        let values = match links.any(|s| unknown.contains(s)) {
            true => None,
            false => match b.bind_node(node) {
                Ok(values) => {
                    found.extend(b.check_counts(&values).err());
                    Some(values)
                }
                Err(error) => {
                    let stops = matches!(error, BindError::Stopped { .. });
                    found.push(error);
                    if stops {
                        return found;
                    }
                    None
                }
            },
        };
        let values = values.unwrap_or_else(|| b.without(node, &mut unknown));
        b.values.push(values);
    }
    found
}

/// The plan, in which nodes downstream of animated meshes run in update.
fn with_animated(mut plan: Arc<Plan>, inputs: &[InputBinding]) -> Arc<Plan> {
    let animated: Vec<bool> = inputs.iter().map(InputBinding::is_animated_mesh).collect();
    if animated.contains(&true) {
        Arc::make_mut(&mut plan).derive_phases(&animated);
    }
    plan
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
        let index = plan.find_parameter(name)?;
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

impl<'a> Binder<'a> {
    fn new(
        plan: &'a Plan,
        inputs: &'a [InputBinding],
        parameters: Vec<ParameterValue>,
        par: Par,
        follower: &'a Follower<'a>,
        saved: Option<Saved>,
    ) -> Self {
        Self {
            plan,
            par,
            follower,
            saved,
            hashes: Hashes::new(inputs),
            kept: BTreeMap::new(),
            inputs,
            meshes: Vec::new(),
            layout: Layout::default(),
            input_values: Vec::new(),
            values: Vec::new(),
            pending: Vec::new(),
            bound: Vec::new(),
            parameters,
            frames: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Binder<'_> {
    /// What the outputs of the next node are taken for where it was refused: its first mesh, or `unknown`.
    fn without(&self, node: &PlanNode, unknown: &mut HashSet<Source>) -> Vec<Value> {
        let known = node
            .inputs
            .iter()
            .flatten()
            .filter(|s| !unknown.contains(*s));
        let mut known = known.map(|s| self.value(*s));
        let mesh = known.find(|v| matches!(v, Value::Mesh(_)));
        let of_port = |(port, desc): (usize, &PortDesc)| match mesh {
            Some(mesh) if desc.ty == PortType::Mesh => mesh,
            _ => {
                let node = self.values.len();
                unknown.insert(Source::Node { node, port });
                Value::VertexAnimation { input: 0 }
            }
        };
        node.desc.outputs.iter().enumerate().map(of_port).collect()
    }

    fn bind_inputs(&mut self) -> Result<(), BindError> {
        let (declared, inputs) = (self.plan.inputs(), self.inputs);
        if inputs.len() != declared.len() {
            return Err(BindError::InputCount {
                found: inputs.len(),
                expected: declared.len(),
            });
        }
        for (i, (binding, decl)) in inputs.iter().zip(declared).enumerate() {
            let value = match (binding, decl.ty) {
                (
                    InputBinding::Mesh(mesh) | InputBinding::AnimatedMesh(mesh),
                    InputType::Mesh | InputType::Strands,
                ) => {
                    if decl.ty == InputType::Strands && mesh.topology.strands().is_none() {
                        return Err(BindError::NoStrands {
                            name: decl.name.clone(),
                        });
                    }
                    mesh.check().map_err(|source| BindError::Mesh {
                        name: decl.name.clone(),
                        source,
                    })?;
                    self.meshes.push(mesh.clone());
                    match binding.is_animated_mesh() {
                        true => self.animated(i, &decl.name, mesh)?,
                        false => Value::Mesh(MeshValue::authored(self.meshes.len() - 1, mesh)),
                    }
                }
                (InputBinding::Pose(_), InputType::Pose) => Value::Pose {
                    input: i,
                    location: Location::Input(i),
                },
                (InputBinding::VertexAnimation(_), InputType::VertexAnimation) => {
                    Value::VertexAnimation { input: i }
                }
                (InputBinding::Values, InputType::Values) => Value::Array(ArrayValue {
                    location: Location::Input(i),
                    len: decl.count,
                }),
                (_, ty) => {
                    return Err(BindError::InputType {
                        name: decl.name.clone(),
                        expected: ty.port_type().as_str(),
                    });
                }
            };
            self.input_values.push(value);
        }
        Ok(())
    }

    /// The graph's outputs, with normals and tangents that fit their positions, or without any.
    fn output_values(&mut self, positions_only: bool) -> Result<Vec<Value>, BindError> {
        let declared = self.plan.outputs().iter();
        let mut outputs: Vec<(Source, Value)> =
            declared.map(|o| (o.source, self.value(o.source))).collect();
        for (source, value) in &mut outputs {
            if let Value::Mesh(m) = value {
                let flat = self.meshes[m.rest].is_flat() && !self.plan.recomputes_normals(*source);
                if positions_only || flat {
                    (m.attributes[1], m.attributes[2]) = (None, None);
                    continue;
                }
                // Tangents only where the mesh has some.
                let wants = [true, m.attributes[2].is_some()];
                *m = self.refreshed(*m, wants)?;
            }
        }
        Ok(outputs.into_iter().map(|o| o.1).collect())
    }

    pub(super) fn value(&self, source: Source) -> Value {
        match source {
            Source::Input(i) => self.input_values[i],
            Source::Node { node, port } => self.values[node][port],
        }
    }

    fn node_parameters(&self, node: &PlanNode) -> Vec<ParameterValue> {
        let sources = node.parameters.iter().zip(node.desc.parameters);
        sources
            .map(|(source, desc)| source.at_rest(&self.parameters, desc))
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
        self.check_strands(node, &inputs)?;
        self.refresh_reads(node, &mut inputs)?;
        let mut node = node.clone();
        self.fit_region(&mut node, &inputs)?;
        let node = &node;
        let parameters = self.node_parameters(node);
        let (bound, kept) = self.call_bind(node, &inputs, &parameters)?;
        let warning = |message| NodeWarning {
            location: node.location.clone(),
            node: node.name.clone(),
            kind: node.desc.name,
            message,
        };
        self.warnings
            .extend(kept.warnings.iter().cloned().map(warning));
        if can_be_saved(node) {
            self.kept.insert(node.name.clone(), kept);
        }
        self.check_values(node, bound.as_ref())
            .map_err(|source| refused(node, source))?;
        let (values, outputs) = self
            .plan_outputs(node, &inputs, bound.as_ref())
            .map_err(|source| refused(node, source))?;
        let mut node = node.clone();
        let parameter_inputs = self.link_parameters(&mut node)?;
        self.pending.push(PendingStep {
            phase: phase_of(&node),
            inputs,
            ports: node.desc.inputs,
            parameter_inputs,
            reads: Vec::new(),
            outputs,
            always: node.desc.kind == NodeKind::Solver,
        });
        self.bound.push((node, bound.into(), parameters));
        Ok(values)
    }

    /// What the parameters of a node are linked to. Finds the joints that they follow, and checks that numbers are there.
    fn link_parameters(&self, node: &mut PlanNode) -> Result<Vec<Value>, BindError> {
        let inputs = node.parameter_inputs.iter();
        let inputs: Vec<Value> = inputs.map(|s| self.value(*s)).collect();
        for (source, desc) in node.parameters.iter_mut().zip(node.desc.parameters) {
            let ParameterSource::Linked(link) = source else {
                continue;
            };
            let bound = inputs
                .get(link.input)
                .map(|data| self.link_parameter(desc, data, &mut link.takes));
            bound.unwrap_or(Ok(())).map_err(|source| BindError::Node {
                location: link.location.clone(),
                node: node.name.clone(),
                kind: node.desc.name,
                source: Box::new(source),
            })?;
        }
        Ok(inputs)
    }

    fn link_parameter(
        &self,
        desc: &ParameterDesc,
        data: &Value,
        takes: &mut Takes,
    ) -> Result<(), NodeError> {
        match (data, takes) {
            (Value::Pose { input, .. }, takes) => match self.inputs.get(*input) {
                Some(InputBinding::Pose(rig)) => takes.bind_joint(desc.name, &self.parameters, rig),
                _ => Ok(()),
            },
            (Value::Array(a), Takes::Numbers { first, .. }) => {
                let last = *first + width(desc.ty).unwrap_or(1) - 1;
                if last < a.len {
                    return Ok(());
                }
                Err(NodeError::Parameter {
                    name: desc.name,
                    found: format!("a link to index {last}"),
                    expected: match a.len {
                        0 => "a link to numbers; there are none".into(),
                        len => format!("an index from 0 to {}: there are {len} numbers", len - 1),
                    },
                })
            }
            _ => Ok(()),
        }
    }

    /// Checks that the next node outputs as many values as nested graphs declare.
    fn check_counts(&self, values: &[Value]) -> Result<(), BindError> {
        for (source, expected, what) in &self.plan.counts {
            if let Source::Node { node, port } = *source
                && node == self.values.len()
                && let Some(Value::Array(a)) = values.get(port)
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

    /// Checks that a mask has one weight per vertex of the node's first mesh.
    fn check_masks(&self, node: &PlanNode, inputs: &[Option<Value>]) -> Result<(), BindError> {
        let expected = self.first_vertex_count(inputs);
        for (value, port) in inputs.iter().zip(node.desc.inputs) {
            if let (PortType::Mask, Some(Value::Array(a))) = (port.ty, value)
                && a.len != expected
            {
                let message = format!(
                    "the mask has {} weights, but the mesh has {expected} vertices; make the mask from the same mesh",
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

    /// Checks that ports for strands are linked to meshes of strands.
    fn check_strands(&self, node: &PlanNode, inputs: &[Option<Value>]) -> Result<(), BindError> {
        for (value, port) in inputs.iter().zip(node.desc.inputs) {
            if let (true, Some(Value::Mesh(m))) = (port.strands, value)
                && self.meshes[m.rest].topology.strands().is_none()
            {
                let source = NodeError::Input {
                    port: port.name,
                    message: "found a mesh of triangles, expected strands".into(),
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
    ) -> Result<(Box<dyn BoundNode>, Kept), BindError> {
        let entry = self.saved_setup(node, inputs, parameters);
        let bind_inputs = self.link_inputs(node, inputs);
        let log = ReadLog::new();
        let warnings = BindWarnings::new();
        let fixed = fixed(&node.parameters);
        let results = entry.and_then(|e| Some(e.results.as_ref()?.0.as_slice()));
        let set_up = |watch: BindWatch<'_>| {
            let context = BindContext {
                inputs: &bind_inputs,
                ports: node.desc.inputs,
                parameters: Parameters {
                    descs: node.desc.parameters,
                    values: parameters,
                    log: &log,
                },
                fixed: &fixed,
                warnings: &warnings,
                par: self.par,
                watch,
            };
            match (results, node.desc.restore, &node.kernel) {
                (_, _, Some(kernel)) => crate::kernel::bind(kernel, &context),
                (Some(results), Some(r), None) => (r.restore)(results, &context),
                _ => (node.desc.bind)(&context),
            }
        };
        // A node that the binder adds counts as part of the next downstream node.
        let start = self.values.len() as f64;
        let width = if node.implicit { 0.0 } else { 1.0 };
        self.follower.begin(&node.name, start)?;
        let result = self.follower.follow(&node.name, start, width, set_up);
        if result.is_err() && self.follower.was_told_to_stop() {
            return Err(stopped(&node.name));
        }
        // A wrong read explains whatever else went wrong.
        let bound = log.check().map_err(NodeError::from).and(result);
        let bound = bound.map_err(|source| refused(node, source))?;
        let mut kept = Kept {
            warnings: warnings.into_messages(),
            is_known: entry.is_some(),
            is_restored: results.is_some(),
            ..Kept::default()
        };
        match entry.filter(|_| kept.is_restored) {
            // What binding read and said the first time.
            Some(entry) => {
                kept.reads.clone_from(&entry.reads);
                kept.warnings.clone_from(&entry.warnings);
            }
            None => kept.reads = reads_of_update(node, &log),
        }
        Ok((bound, kept))
    }

    /// The cache entry of a node's setup.
    fn saved_setup(
        &self,
        node: &PlanNode,
        inputs: &[Option<Value>],
        parameters: &[ParameterValue],
    ) -> Option<&Entry> {
        let saved = self.saved.as_ref().filter(|_| can_be_saved(node))?;
        let links = inputs.iter().zip(node.desc.inputs);
        let links: Vec<_> = links
            .map(|(v, port)| Some(link(v.as_ref()?, port)))
            .collect();
        let setup = NodeSetup {
            desc: node.desc,
            links: &links,
            sources: &node.parameters,
            values: parameters,
        };
        let contents = Contents {
            inputs: self.inputs,
            hashes: &self.hashes,
        };
        saved.find(&setup, &contents)
    }

    /// The links of a node, as its setup sees them.
    pub(super) fn link_inputs(
        &self,
        node: &PlanNode,
        inputs: &[Option<Value>],
    ) -> Vec<Option<BindInput<'_>>> {
        let bind_input = |(value, port): (&Option<Value>, &PortDesc)| {
            bind_input(link(value.as_ref()?, port), &self.meshes, self.inputs)
        };
        inputs
            .iter()
            .zip(node.desc.inputs)
            .map(bind_input)
            .collect()
    }

    /// Checks that animated values fit the bound node.
    fn check_values(&self, node: &PlanNode, bound: &dyn BoundNode) -> Result<(), NodeError> {
        for (source, desc) in node.parameters.iter().zip(node.desc.parameters) {
            let declared = match source {
                ParameterSource::Parameter(p) => self.plan.parameters().get(*p),
                ParameterSource::Constant(_)
                | ParameterSource::Keyed(_)
                | ParameterSource::Linked(_)
                | ParameterSource::FrameTime => None,
            };
            let keyed = match source {
                ParameterSource::Keyed(keyed) => Some(keyed),
                _ => declared.and_then(|p| p.keyed.as_ref()),
            };
            for value in keyed.iter().flat_map(|k| &k.values) {
                bound.check_value(desc.name, value)?;
            }
        }
        Ok(())
    }

    /// One value for each output port of the node, and what its step writes there.
    fn plan_outputs(
        &mut self,
        node: &PlanNode,
        inputs: &[Option<Value>],
        bound: &dyn BoundNode,
    ) -> Result<(Vec<Value>, Vec<PendingOutput>), NodeError> {
        let phase = phase_of(node);
        let vertex_count = self.first_vertex_count(inputs);
        let (mut values, mut outputs) = (Vec::new(), Vec::new());
        for port in node.desc.outputs {
            let (value, output) = match port.ty {
                PortType::Mesh => {
                    let through = port
                        .effect
                        .and_then(|effect| Some((effect, mesh_input(node, inputs, &effect)?)));
                    let (effect, from) = through.ok_or_else(|| nothing_through(port))?;
                    let makes = |attribute| bound.makes(port.name, attribute);
                    let effect = effect_of_setup(port, effect, bound);
                    self.plan_mesh(&from, &effect, &makes, phase)
                }
                PortType::Pose => {
                    let rig = inputs.iter().flatten().find_map(|v| match v {
                        Value::Pose { input, .. } => Some(*input),
                        Value::Mesh(_) | Value::Array(_) | Value::VertexAnimation { .. } => None,
                    });
                    let input = rig.ok_or_else(|| nothing_through(port))?;
                    let id = self.layout.add(Content::Pose { input }, phase);
                    let location = Location::Virtual(id);
                    (Value::Pose { input, location }, PendingOutput::Pose(id))
                }
                // The checks let no such output through.
                PortType::VertexAnimation => return Err(nothing_through(port)),
                PortType::Mask => self.plan_array(port, vertex_count, phase),
                PortType::Values | PortType::Lines | PortType::Field | PortType::Buffer(_) => {
                    self.plan_array(port, bound.output_len(port.name), phase)
                }
            };
            values.push(value);
            outputs.push(output);
        }
        Ok((values, outputs))
    }

    fn plan_array(&mut self, port: &PortDesc, len: usize, phase: Phase) -> (Value, PendingOutput) {
        let element = port.ty.element().unwrap_or(sinew_deform::Element::Float);
        let id = self.layout.add(Content::Array { element, len }, phase);
        let location = Location::Virtual(id);
        let value = Value::Array(ArrayValue { location, len });
        (value, PendingOutput::Array(id))
    }

    fn plan_mesh(
        &mut self,
        from: &MeshValue,
        effect: &MeshEffect,
        makes: &dyn Fn(MeshAttribute) -> bool,
        phase: Phase,
    ) -> (Value, PendingOutput) {
        let len = self.meshes[from.rest].vertex_count();
        let mut out = *from;
        let mut written = [None; MESH_ATTRIBUTES];
        for (attribute, kind) in MeshAttribute::ALL.into_iter().zip(effect.all()) {
            let a = attribute.index();
            let has = from.attributes[a].is_some();
            let writes = match kind {
                AttributeEffect::Keep => false,
                AttributeEffect::Invalidate => {
                    out.stale[a] = true;
                    false
                }
                // What is stale stays so; remembered, so that an output knows what to recompute.
                AttributeEffect::Transform => has && !from.stale[a],
                AttributeEffect::Recompute => {
                    out.stale[a] = false;
                    has || makes(attribute)
                }
            };
            if writes {
                let element = attribute.element();
                let id = self.layout.add(Content::Array { element, len }, phase);
                out.attributes[a] = Some(Location::Virtual(id));
                written[a] = Some(id);
            }
        }
        let effect = *effect;
        (Value::Mesh(out), PendingOutput::Mesh { effect, written })
    }

    fn first_vertex_count(&self, inputs: &[Option<Value>]) -> usize {
        inputs
            .iter()
            .flatten()
            .find_map(|v| match v {
                Value::Mesh(m) => Some(self.meshes[m.rest].vertex_count()),
                Value::Pose { .. } | Value::Array(_) | Value::VertexAnimation { .. } => None,
            })
            .unwrap_or(0)
    }

    /// Knows what is needed and where it is.
    fn finish(mut self, outputs: &[Value]) -> Program {
        for value in outputs {
            self.layout.read_output(value);
        }
        let runs = self.layout.mark_live(&mut self.pending);
        let hosts = self.find_host_steps(&runs);
        let layout = &mut self.layout;
        let mut program = Program {
            setup_buffers: layout.assign(&self.pending, &runs, Phase::Setup),
            frame_buffers: layout.assign(&self.pending, &runs, Phase::Update),
            ..Program::default()
        };
        let bound = self.bound.into_iter().zip(hosts);
        for ((pending, (bound, host)), runs) in self.pending.iter().zip(bound).zip(runs) {
            if runs {
                let step = step(&self.layout, pending, bound, host);
                match pending.phase {
                    Phase::Setup => program.setup_steps.push(step),
                    Phase::Update => program.update_steps.push(step),
                }
            } else {
                program.dropped.push(bound.0.name);
            }
        }
        let sources = self.plan.outputs().iter().map(|o| o.source);
        let place = |(value, source)| {
            let ty = self.plan.source_type(source);
            let is_smooth = self.plan.recomputes_normals(source);
            self.layout.graph_output(value, ty, is_smooth)
        };
        program.outputs = outputs.iter().zip(sources).filter_map(place).collect();
        program.meshes = self.meshes;
        program.find_lookers();
        program
    }
}

/// Whether the setup results of a node can be cached.
fn can_be_saved(node: &PlanNode) -> bool {
    node.desc.restore.is_some() && node.kernel.is_none()
}

/// Update parameters whose first value setup read.
fn reads_of_update(node: &PlanNode, log: &ReadLog) -> Vec<String> {
    let parameters = node.desc.parameters.iter().enumerate();
    let read = parameters.filter(|(i, desc)| desc.phase == Phase::Update && log.has_read(*i));
    read.map(|(_, desc)| desc.name.to_owned()).collect()
}

fn step(
    layout: &Layout,
    pending: &PendingStep,
    (node, bound, values): Bound,
    host: Result<(), NotOnHost>,
) -> Step {
    let inputs = pending.inputs.iter().zip(&pending.reads);
    Step {
        inputs: inputs
            .map(|(value, reads)| layout.input_place(value.as_ref()?, *reads))
            .collect(),
        outputs: pending
            .outputs
            .iter()
            .map(|o| layout.output_place(o))
            .collect(),
        links: pending
            .inputs
            .iter()
            .zip(pending.ports)
            .map(|(value, port)| Some(link(value.as_ref()?, port)))
            .collect(),
        desc: node.desc,
        name: node.name,
        region: node.fit.and_then(|fit| fit.found),
        location: node.location,
        implicit: node.implicit,
        sources: node.parameters,
        parameter_data: (pending.parameter_inputs.iter())
            .filter_map(|value| layout.input_place(value, [false; MESH_ATTRIBUTES]))
            .collect(),
        bound,
        values,
        lookers: Vec::new(),
        host,
    }
}

fn link(value: &Value, port: &PortDesc) -> Link {
    match value {
        Value::Mesh(m) => Link::Mesh(m.rest),
        Value::Pose { input, .. } => Link::Pose(*input),
        Value::VertexAnimation { input } => Link::VertexAnimation(*input),
        Value::Array(a) => match port.ty {
            PortType::Mask => Link::Mask,
            PortType::Lines => Link::Lines(a.len),
            PortType::Field => Link::Field(a.len),
            PortType::Values
            | PortType::Buffer(_)
            | PortType::Mesh
            | PortType::Pose
            | PortType::VertexAnimation => Link::Values(a.len),
        },
    }
}

/// The effect on the mesh, without the attributes that this setup does not recompute.
fn effect_of_setup(port: &PortDesc, effect: MeshEffect, bound: &dyn BoundNode) -> MeshEffect {
    let as_bound = |attribute, kind| match kind {
        AttributeEffect::Recompute if bound.invalidates(port.name, attribute) => {
            AttributeEffect::Invalidate
        }
        other => other,
    };
    MeshEffect {
        from: effect.from,
        positions: as_bound(MeshAttribute::Positions, effect.positions),
        normals: as_bound(MeshAttribute::Normals, effect.normals),
        tangents: as_bound(MeshAttribute::Tangents, effect.tangents),
        colors: as_bound(MeshAttribute::Colors, effect.colors),
    }
}

fn phase_of(node: &PlanNode) -> Phase {
    if node.runs_in_setup {
        Phase::Setup
    } else {
        Phase::Update
    }
}

fn nothing_through(port: &PortDesc) -> NodeError {
    NodeError::Input {
        port: port.name,
        message: "the input that this output is derived from is not linked".into(),
    }
}

pub(super) fn refused(node: &PlanNode, source: NodeError) -> BindError {
    BindError::Node {
        location: node.location.clone(),
        node: node.name.clone(),
        kind: node.desc.name,
        source: Box::new(source),
    }
}
