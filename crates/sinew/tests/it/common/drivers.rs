//! Small drivers without kernels, a solver, and other nodes that GPUs meet.

use sinew::deform::{
    AttributeRead, BindContext, BoundNode, DeviceArray, DeviceDomain, DeviceFrame, DeviceFrameData,
    DeviceNode, DevicePass, DeviceType, MeshEffect, MeshReads, NodeDesc, NodeDocs, NodeError,
    NodeKind, NodeScratch, ParameterDesc, Parameters, PortDesc, PortType, REGISTRY, UniformLayout,
    UpdateContext,
};

/// Runs `update` with a float of state; gives `len` values.
#[derive(Debug)]
struct Small {
    len: usize,
    update: fn(UpdateContext<'_>),
    /// Whether it claims to have kernels.
    kernels: bool,
}

impl BoundNode for Small {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn output_len(&self, _port: &str) -> usize {
        self.len
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(0.0_f32)
    }
    fn scratch_bytes(&self) -> usize {
        4
    }
    fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let state = scratch.downcast_ref::<f32>().copied().unwrap_or_default();
        state.to_le_bytes().to_vec()
    }
    fn restore_state(&self, bytes: &[u8], scratch: &mut NodeScratch) -> Result<(), NodeError> {
        let refused = || NodeError::Restore(format!("found {} bytes", bytes.len()));
        let state = f32::from_le_bytes(bytes.try_into().map_err(|_| refused())?);
        *scratch.downcast_mut().ok_or_else(refused)? = state;
        Ok(())
    }
    fn update(&self, context: UpdateContext<'_>) {
        (self.update)(context);
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        self.kernels.then(DeviceNode::default)
    }
}

type Bound = Result<Box<dyn BoundNode>, NodeError>;

fn values(len: usize, update: fn(UpdateContext<'_>)) -> Bound {
    let kernels = false;
    Ok(Box::new(Small {
        len,
        update,
        kernels,
    }))
}

const fn driver(
    name: &'static str,
    inputs: &'static [PortDesc],
    outputs: &'static [PortDesc],
    bind: fn(&BindContext<'_>) -> Bound,
) -> NodeDesc {
    NodeDesc {
        name,
        kind: NodeKind::Driver,
        summary: "A driver of the tests.",
        docs: NodeDocs::NONE,
        rows: &[],
        inputs,
        outputs,
        parameters: GAIN,
        bind,
        restore: None,
    }
}

const GAIN: &[ParameterDesc] = &[ParameterDesc::float("gain", 1.0, -99.0, 99.0, "A factor.")];
const POSE: PortDesc = PortDesc::input("pose", PortType::Pose, "A pose.");
const MESH: PortDesc = PortDesc::input("mesh", PortType::Mesh, "A mesh.");
const NUMBERS: PortDesc = PortDesc::input("values", PortType::Values, "Numbers.");
const VALUES: &[PortDesc] = &[PortDesc::output("values", PortType::Values, "Numbers.")];
const NOTHING: MeshReads = MeshReads {
    positions: AttributeRead::Never,
    ..MeshReads::POSITIONS
};

fn gain(context: &UpdateContext<'_>) -> f32 {
    context.parameters.single("gain")
}

/// Where the first joint moved the origin in x and y, times `gain`.
fn measure(mut context: UpdateContext<'_>) {
    let gain = gain(&context);
    if let (Some(pose), Some(out)) = (
        context.inputs.pose("pose"),
        context.outputs.floats("values"),
    ) {
        for (out, row) in out.iter_mut().zip(pose.palette[0].rows) {
            *out = gain * row[3];
        }
    }
}

/// Half of the first value and a quarter of the second; the second less the first.
fn mix(mut context: UpdateContext<'_>) {
    let gain = gain(&context);
    if let (Some(&[a, b, ..]), Some(out)) = (
        context.inputs.floats("values"),
        context.outputs.floats("values"),
    ) {
        out.copy_from_slice(&[gain * (0.5 * a + 0.25 * b), gain * (b - a)]);
    }
}

/// Moves the first joint by the values.
fn push(mut context: UpdateContext<'_>) {
    let gain = gain(&context);
    if let (Some(pose), Some(values), Some(out)) = (
        context.inputs.pose("pose"),
        context.inputs.floats("values"),
        context.outputs.pose("pose"),
    ) {
        out.clone_from(pose);
        for (row, value) in out.palette[0].rows.iter_mut().zip(values) {
            row[3] += gain * value;
        }
    }
}

/// The sum of the first value over all frames, and how much it grew.
fn total(mut context: UpdateContext<'_>) {
    let gain = gain(&context);
    let (Some(sum), Some(&[first, ..]), Some(out)) = (
        context.scratch.downcast_mut::<f32>(),
        context.inputs.floats("values"),
        context.outputs.floats("values"),
    ) else {
        return;
    };
    if context.is_first {
        *sum = 0.0;
    }
    *sum += gain * first;
    out.copy_from_slice(&[*sum, gain * first]);
}

/// How much of the way to the target is left after a frame; as 32 bits, so that devices have the same number.
fn left(parameters: &Parameters<'_>, dt_secs: f64) -> f32 {
    (-parameters.float("rate") * dt_secs).exp() as f32
}

/// A mesh that lags behind another: the simplest solver.
#[derive(Debug)]
struct Lag {
    vertices: usize,
}

impl BoundNode for Lag {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(vec![[0.0_f32; 3]; self.vertices])
    }
    fn scratch_bytes(&self) -> usize {
        12 * self.vertices
    }
    fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let state = scratch.downcast_ref::<Vec<[f32; 3]>>();
        let state = state.map(|s| s.as_flattened()).unwrap_or_default();
        state.iter().flat_map(|v| v.to_le_bytes()).collect()
    }
    fn restore_state(&self, bytes: &[u8], scratch: &mut NodeScratch) -> Result<(), NodeError> {
        let state = scratch.downcast_mut::<Vec<[f32; 3]>>();
        let state = state.map(|s| s.as_flattened_mut()).unwrap_or_default();
        let (words, _) = bytes.as_chunks::<4>();
        if bytes.len() != 4 * state.len() {
            return Err(NodeError::Restore(format!("found {} bytes", bytes.len())));
        }
        for (out, word) in state.iter_mut().zip(words) {
            *out = f32::from_le_bytes(*word);
        }
        Ok(())
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let left = left(&context.parameters, context.dt_secs);
        let targets = context.inputs.mesh("mesh").positions;
        let (Some(state), Some(out)) = (
            context.scratch.downcast_mut::<Vec<[f32; 3]>>(),
            context.outputs.mesh("mesh").positions,
        ) else {
            return;
        };
        for ((state, target), out) in state.iter_mut().zip(targets).zip(out) {
            for c in 0..3 {
                let from = if context.is_first {
                    target[c]
                } else {
                    state[c]
                };
                state[c] = target[c] + (from - target[c]) * left;
            }
            *out = *state;
        }
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(DeviceNode {
            scratch: vec![DeviceArray {
                name: "state",
                ty: DeviceType::Vec3F,
                len: self.vertices,
                lasting: true,
            }],
            uniforms: UniformLayout::unnamed(16),
            passes: vec![DevicePass::per_vertex("lag", LAG_WGSL)],
            ..DeviceNode::default()
        })
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let is_first = if frame.is_first { 1.0 } else { 0.0 };
        data.set_uniforms(&[left(&frame.parameters, frame.dt_secs), is_first, 0.0, 0.0]);
    }
}

const LAG_WGSL: &str = "
struct Uniforms { left: f32, is_first: f32, padding: vec2f }

fn kernel(index: u32) {
  let target_point = read_mesh_positions(index);
  var state = read_state(index);
  if uniforms().is_first > 0.5 { state = target_point; }
  state = target_point + (state - target_point) * uniforms().left;
  write_state(index, state);
  write_mesh_positions(index, state);
}
";

static LAG: NodeDesc = NodeDesc {
    kind: NodeKind::Solver,
    parameters: &[ParameterDesc::float(
        "rate",
        1.0,
        0.0,
        99.0,
        "Of catching up, 1/s.",
    )],
    ..driver(
        "lag",
        &[MESH],
        &[PortDesc::mesh_output(MeshEffect::MOVES_POINTS, "A mesh.")],
        |context| {
            let vertices = context.mesh("mesh")?.vertex_count();
            Ok(Box::new(Lag { vertices }))
        },
    )
};

/// Three groups of 32 add up their numbers and count together.
#[derive(Debug)]
struct Groups;

impl BoundNode for Groups {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn output_len(&self, _port: &str) -> usize {
        5
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let gain = gain(&context);
        if let Some(out) = context.outputs.floats("values") {
            // 0 + 1 + ... + 31 and 32 times the first number; how many there are, and the largest.
            let expected = [496.0, 496.0 + 1024.0, 496.0 + 2048.0, 96.0, 95.0];
            out.copy_from_slice(&expected.map(|v: f32| gain * v));
        }
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        let array = |name, len, lasting| DeviceArray {
            name,
            ty: DeviceType::U32,
            len,
            lasting,
        };
        let write = DevicePass::per_vertex("write", WRITE_WGSL).over(DeviceDomain::Elements(5));
        Some(DeviceNode {
            scratch: vec![array("sums", 3, false), array("tally", 2, true)],
            uniforms: UniformLayout::unnamed(16),
            passes: vec![
                DevicePass::in_groups("sum", SUM_WGSL, 3, 32),
                write.scattering(),
            ],
            ..DeviceNode::default()
        })
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        data.set_uniforms(&[frame.parameters.single("gain"), 0.0, 0.0, 0.0]);
    }
}

const SUM_WGSL: &str = "
var<workgroup> numbers: array<u32, 32>;

fn kernel(group: u32, local: u32) {
  let number = 32u * group + local;
  numbers[local] = number;
  add_tally(0u, 1u);
  max_tally(1u, number);
  for (var step = 16u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if local < step { numbers[local] += numbers[local + step]; }
  }
  if local == 0u { write_sums(group, numbers[0]); }
}
";
const WRITE_WGSL: &str = "
struct Uniforms { gain: f32, padding_a: f32, padding_b: vec2f }

fn kernel(index: u32) {
  if index < 3u {
    write_values(index, uniforms().gain * f32(read_sums(index)));
  } else {
    write_values(index, uniforms().gain * f32(read_tally(index - 3u)));
    write_tally(index - 3u, 0u);
  }
}
";

static GROUPS: NodeDesc = driver("groups", &[MESH], VALUES, |_| Ok(Box::new(Groups)));

/// `gain` and its double.
fn constant(mut context: UpdateContext<'_>) {
    let gain = gain(&context);
    if let Some(out) = context.outputs.floats("values") {
        out.copy_from_slice(&[gain, 2.0 * gain]);
    }
}

/// The lowest x and y of a mesh.
fn lowest(mut context: UpdateContext<'_>) {
    let gain = gain(&context);
    let positions = context.inputs.mesh("mesh").positions;
    if let Some(out) = context.outputs.floats("values") {
        for (axis, out) in out.iter_mut().enumerate() {
            let all = positions.iter().map(|p| p[axis]);
            *out = gain * all.fold(f32::INFINITY, f32::min);
        }
    }
}

/// As many values as the mesh has targets, all the first value.
fn spread(mut context: UpdateContext<'_>) {
    if let (Some(&[first, ..]), Some(out)) = (
        context.inputs.floats("values"),
        context.outputs.floats("values"),
    ) {
        out.fill(first);
    }
}

static MEASURE: NodeDesc = driver("measure", &[POSE], VALUES, |_| values(2, measure));
static MIX: NodeDesc = driver("mix", &[NUMBERS], VALUES, |_| values(2, mix));
static PUSH: NodeDesc = driver(
    "push",
    &[POSE, NUMBERS],
    &[PortDesc::output("pose", PortType::Pose, "The pose.")],
    |_| values(0, push),
);
static TOTAL: NodeDesc = driver("total", &[NUMBERS], VALUES, |_| values(2, total));
static CONSTANT: NodeDesc = driver("constant", &[], VALUES, |_| values(2, constant));
static LOWEST: NodeDesc = driver("lowest", &[MESH], VALUES, |_| values(2, lowest));
static SPREAD: NodeDesc = driver(
    "spread",
    &[MESH.reading(NOTHING), NUMBERS],
    VALUES,
    |context| values(context.mesh("mesh")?.morph_targets.len(), spread),
);
/// Reads a value that it does not declare.
static SLIP: NodeDesc = driver("slip", &[NUMBERS], VALUES, |_| {
    values(2, |context| _ = context.inputs.floats("vlaues"))
});
static OF_MASK: NodeDesc = driver(
    "of_mask",
    &[MESH, PortDesc::input("mask", PortType::Mask, "A mask.")],
    VALUES,
    |_| values(2, |_| ()),
);
static DRIVES_MESH: NodeDesc = driver(
    "drives_mesh",
    &[MESH],
    &[PortDesc::mesh_output(MeshEffect::MOVES_POINTS, "A mesh.")],
    |_| values(0, |_| ()),
);
static PROCESSOR_ONLY: NodeDesc = NodeDesc {
    kind: NodeKind::Deformer,
    ..driver(
        "processor_only",
        &[MESH],
        &[PortDesc::mesh_output(MeshEffect::MOVES_POINTS, "A mesh.")],
        |_| values(0, |_| ()),
    )
};
static KERNEL_POSE: NodeDesc = driver(
    "kernel_pose",
    &[POSE],
    &[PortDesc::output("pose", PortType::Pose, "The pose.")],
    |_| {
        let update = |_: UpdateContext<'_>| ();
        Ok(Box::new(Small {
            len: 0,
            update,
            kernels: true,
        }))
    },
);

/// These and the registry's.
pub(crate) fn nodes() -> Vec<&'static NodeDesc> {
    let own = [
        &MEASURE,
        &MIX,
        &PUSH,
        &TOTAL,
        &CONSTANT,
        &LOWEST,
        &SPREAD,
        &SLIP,
        &OF_MASK,
        &DRIVES_MESH,
        &PROCESSOR_ONLY,
        &KERNEL_POSE,
        &LAG,
        &GROUPS,
    ];
    own.into_iter().chain(REGISTRY.iter().copied()).collect()
}
