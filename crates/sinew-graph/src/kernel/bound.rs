//! A kernel bound to meshes and rigs: the arrays behind its functions, and the data of each frame.

use super::cpu::CpuKernel;
use super::device::{registers, text, uses_parameters};
use super::{BufferPer, CustomKernel, KernelBuffer, KernelDomain, signature};
use sinew_deform::{
    BindContext, BoundNode, DeviceArray, DeviceConstant, DeviceDomain, DeviceFrame,
    DeviceFrameData, DeviceNode, DevicePass, DeviceType, Element, NodeDesc, NodeError, NodeScratch,
    ParameterValue, PortType, UniformLayout, UpdateContext,
};
use sinew_geom::{Mesh, OneRings, Strands, WeldMap, index32};
use std::sync::Arc;

/// Bool parameter that makes persistent buffers start anew, as in other nodes with a past.
const RESET: &str = "reset";
/// Array of one element: not zero if persistent buffers start anew.
const IS_FIRST: &str = "given_is_first";

/// What a text needs to know of a mesh.
#[derive(Clone, Debug)]
pub(super) struct MeshFacts {
    pub(super) port: &'static str,
    pub(super) vertices: usize,
    pub(super) triangles: usize,
    pub(super) strands: usize,
    pub(super) has_uvs: bool,
}

/// What a text needs to know of a pose.
#[derive(Clone, Debug)]
pub(super) struct PoseFacts {
    pub(super) port: &'static str,
    pub(super) joints: usize,
}

impl MeshFacts {
    pub(super) fn uses_rings(&self, kernel: &CustomKernel) -> bool {
        ["connected_count", "connected_vertex", "connected_closed"]
            .iter()
            .any(|n| kernel.uses(&format!("{}_{n}", self.port)))
    }
    pub(super) fn uses_strands(&self, kernel: &CustomKernel) -> bool {
        ["strand_first", "strand_length"]
            .iter()
            .any(|n| kernel.uses(&format!("{}_{n}", self.port)))
    }
    pub(super) fn uses_influences(&self, kernel: &CustomKernel) -> bool {
        ["influence_count", "influence_joint", "influence_weight"]
            .iter()
            .any(|n| kernel.uses(&format!("{}_{n}", self.port)))
    }
}

impl PoseFacts {
    pub(super) fn uses_matrices(&self, kernel: &CustomKernel) -> bool {
        kernel.uses(&format!("read_{}_matrix", self.port))
    }
}

/// A kernel with the meshes and rigs that it is linked to.
#[derive(Debug)]
pub(super) struct BoundKernel {
    pub(super) kernel: Arc<CustomKernel>,
    pub(super) meshes: Vec<MeshFacts>,
    pub(super) poses: Vec<PoseFacts>,
    /// `None` while it is bound.
    cpu: Option<CpuKernel>,
}

/// Setup of a kernel.
pub(crate) fn bind(
    kernel: &Arc<CustomKernel>,
    context: &BindContext<'_>,
) -> Result<Box<dyn BoundNode>, NodeError> {
    let (mut meshes, mut poses) = (Vec::new(), Vec::new());
    for port in kernel.desc().inputs {
        match port.ty {
            PortType::Mesh => {
                let mesh = context.mesh(port.name)?;
                meshes.push(MeshFacts {
                    port: port.name,
                    vertices: mesh.vertex_count(),
                    triangles: mesh.topology.triangles().len(),
                    strands: mesh.topology.strands().map_or(0, Strands::len),
                    has_uvs: !mesh.uvs.is_empty(),
                });
            }
            PortType::Pose => poses.push(PoseFacts {
                port: port.name,
                joints: context.rig(port.name)?.joints().len(),
            }),
            _ => {}
        }
    }
    let mut bound = BoundKernel {
        kernel: kernel.clone(),
        meshes,
        poses,
        cpu: None,
    };
    let needs = |per| kernel.buffers().iter().any(|b| b.per == per);
    let over_strands = kernel.domain() == KernelDomain::Strand || needs(BufferPer::Strand);
    if let (true, Some(mesh)) = (
        over_strands,
        bound.meshes.first().filter(|m| m.strands == 0),
    ) {
        return Err(NodeError::Input {
            port: mesh.port,
            message: "the mesh has no strands, but the kernel runs over strands or writes a buffer per strand".into(),
        });
    }
    for buffer in kernel.buffers() {
        if u32::try_from(bound.length(buffer.name)).is_err() {
            return Err(NodeError::Bind(
                format!(
                    "the buffer '{}' has {} elements, but at most {} are allowed",
                    buffer.name,
                    bound.length(buffer.name),
                    u32::MAX
                )
                .into(),
            ));
        }
    }
    let device = bound.data(context)?;
    bound.cpu = Some(CpuKernel::new(&bound, &device, context)?);
    Ok(Box::new(bound))
}

impl BoundKernel {
    pub(super) fn vertices(&self) -> usize {
        self.count(BufferPer::Vertex)
    }

    /// Elements that the kernel runs over.
    pub(super) fn elements(&self) -> usize {
        self.count(match self.kernel.domain() {
            KernelDomain::Vertex => BufferPer::Vertex,
            KernelDomain::Triangle => BufferPer::Triangle,
            KernelDomain::Strand => BufferPer::Strand,
            KernelDomain::Joint => BufferPer::Joint,
            KernelDomain::Count(count) => return count as usize,
        })
    }

    /// Number of vertices, triangles and so on.
    fn count(&self, per: BufferPer) -> usize {
        let mesh = self.meshes.first();
        match per {
            BufferPer::Vertex => mesh.map_or(0, |m| m.vertices),
            BufferPer::Triangle => mesh.map_or(0, |m| m.triangles),
            BufferPer::Strand => mesh.map_or(0, |m| m.strands),
            BufferPer::Joint => self.poses.first().map_or(0, |p| p.joints),
            BufferPer::Mesh => 1,
        }
    }

    /// Elements of the buffer of that name.
    pub(super) fn length(&self, name: &str) -> usize {
        let buffer = self.kernel.buffers().iter().find(|b| b.name == name);
        buffer.map_or(0, |b| self.count(b.per).saturating_mul(b.count as usize))
    }

    fn mesh_arrays(&self, node: &mut DeviceNode, facts: &MeshFacts, mesh: &Mesh) {
        let kernel = &self.kernel;
        let mut add = |name: &str, ty: DeviceType, bytes: &[u8]| {
            // Names that were kept when the document was checked leave room for these.
            let name = signature::name(name).unwrap_or("");
            // No device binds an empty array.
            let mut bytes = bytes.to_vec();
            bytes.resize(bytes.len().max(ty.bytes()), 0);
            let bytes = bytes.into();
            node.constants.push(DeviceConstant { name, ty, bytes });
        };
        let p = facts.port;
        if kernel.uses(&format!("read_{p}_uvs")) {
            let uvs = mesh.uvs.first().map_or(&[][..], Vec::as_slice);
            let bytes = bytemuck::cast_slice(uvs);
            add(&format!("{p}_uvs"), DeviceType::Vec2F, bytes);
        }
        if kernel.uses(&format!("{p}_triangle_vertex")) {
            let bytes = bytemuck::cast_slice(mesh.topology.triangles());
            add(&format!("given_{p}_triangles"), DeviceType::U32, bytes);
        }
        if facts.uses_strands(kernel) {
            let offsets = mesh.topology.strands().map_or(&[][..], Strands::offsets);
            let bytes = bytemuck::cast_slice(offsets);
            add(&format!("given_{p}_strands"), DeviceType::U32, bytes);
        }
        if facts.uses_rings(kernel) {
            let rings = rings(mesh);
            let bytes = bytemuck::cast_slice(&rings);
            add(&format!("given_{p}_rings"), DeviceType::U32, bytes);
        }
        if facts.uses_influences(kernel) {
            let influences = influences(mesh);
            let bytes = bytemuck::cast_slice(&influences);
            add(&format!("given_{p}_influences"), DeviceType::U32, bytes);
        }
    }

    /// The kernel for the GPU without its passes: constants of its meshes, layout of what changes from frame to frame.
    fn data(&self, context: &BindContext<'_>) -> Result<DeviceNode, NodeError> {
        let kernel = &self.kernel;
        let mut node = DeviceNode {
            guarded: true,
            compile_share: kernel.analysis.compile_share,
            group_size: kernel.group_size(),
            ..DeviceNode::default()
        };
        for facts in &self.meshes {
            let mesh = context.mesh(facts.port)?;
            self.mesh_arrays(&mut node, facts, mesh);
        }
        for pose in self.poses.iter().filter(|p| p.uses_matrices(kernel)) {
            node.frame_arrays.push(DeviceArray {
                // Names that were kept when the document was checked leave room for this one.
                name: signature::name(&format!("given_{}_matrices", pose.port)).unwrap_or(""),
                ty: DeviceType::Vec4F,
                len: 3 * pose.joints.max(1),
                lasting: false,
            });
        }
        for buffer in kernel.persistent() {
            let mut add = |prefix: &str, lasting: bool| {
                node.scratch.push(DeviceArray {
                    name: signature::name(&format!("{prefix}{}", buffer.name)).unwrap_or(""),
                    ty: device_type(buffer.element),
                    len: self.length(buffer.name).max(1),
                    lasting,
                });
            };
            add(KernelBuffer::NOW, true);
            if kernel.uses(&buffer.last()) {
                add(KernelBuffer::BEFORE, false);
            }
        }
        if kernel.persistent().next().is_some() {
            node.frame_arrays.push(DeviceArray {
                name: IS_FIRST,
                ty: DeviceType::U32,
                len: 1,
                lasting: false,
            });
        }
        if uses_parameters(kernel) {
            let parameters = kernel.desc().parameters.iter();
            let registers: usize = parameters.map(|p| registers(p.ty)).sum();
            node.uniforms = UniformLayout::unnamed(16 * registers);
        }
        Ok(node)
    }

    /// Passes and their texts: set the elements of buffers, then the kernel, then copy persistent buffers to their outputs.
    fn passes(&self) -> (Vec<DevicePass>, Vec<String>) {
        let kernel = &self.kernel;
        let cleared = kernel.buffers().iter().filter(|b| b.cleared);
        let clear = cleared.map(|b| {
            let domain = DeviceDomain::Elements(self.length(b.name));
            let text = format!(
                "fn kernel(index: u32) {{ write_{}(index, {}); }}",
                b.name,
                unwritten(b)
            );
            (DevicePass::per_vertex("clear", "").over(domain), text)
        });
        let pass = DevicePass {
            locality: kernel.analysis.locality,
            ..DevicePass::per_vertex("kernel", "")
        };
        let elements = self.elements();
        let pass = match kernel.domain() {
            KernelDomain::Vertex => pass,
            _ => pass.over(DeviceDomain::Elements(elements)),
        };
        let own = (pass, text(kernel, elements, &self.meshes, &self.poses));
        let mut passes: Vec<(DevicePass, String)> = clear.chain([own]).collect();
        for b in kernel.persistent() {
            let domain = DeviceDomain::Elements(self.length(b.name));
            let [before, after] = persistent_texts(b, kernel.uses(&b.last()));
            passes.insert(
                0,
                (DevicePass::per_vertex("begin", "").over(domain), before),
            );
            passes.push((DevicePass::per_vertex("out", "").over(domain), after));
        }
        passes.into_iter().unzip()
    }
}

impl BoundNode for BoundKernel {
    fn setup_bytes(&self) -> usize {
        size_of::<Self>() + self.cpu.as_ref().map_or(0, CpuKernel::bytes)
    }

    fn output_len(&self, port: &str) -> usize {
        self.length(port)
    }

    fn new_scratch(&self) -> Box<NodeScratch> {
        match &self.cpu {
            Some(cpu) => Box::new(cpu.scratch()),
            None => Box::new(()),
        }
    }

    fn scratch_bytes(&self) -> usize {
        self.cpu.as_ref().map_or(0, CpuKernel::scratch_bytes)
    }

    fn update(&self, context: UpdateContext<'_>) {
        if let Some(cpu) = &self.cpu {
            cpu.update(context);
        }
    }

    fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let cpu = self.cpu.as_ref();
        cpu.map_or_else(Vec::new, |cpu| cpu.save_state(scratch))
    }

    fn restore_state(&self, bytes: &[u8], scratch: &mut NodeScratch) -> Result<(), NodeError> {
        let cpu = self.cpu.as_ref();
        cpu.map_or(Ok(()), |cpu| cpu.restore_state(bytes, scratch))
    }

    fn device(&self, context: &BindContext<'_>) -> Option<DeviceNode> {
        let mut node = self.data(context).ok()?;
        (node.passes, node.written) = self.passes();
        Some(node)
    }

    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let matrices = self.poses.iter().filter(|p| p.uses_matrices(&self.kernel));
        for (index, facts) in matrices.enumerate() {
            let rows: &mut [[f32; 4]] = data.array(index);
            if let Some(pose) = frame.inputs.pose(facts.port) {
                let from = pose.palette.iter().flat_map(|m| m.rows);
                rows.iter_mut().zip(from).for_each(|(to, from)| *to = from);
            }
        }
        if self.kernel.persistent().next().is_some() {
            let matrices = self.poses.iter().filter(|p| p.uses_matrices(&self.kernel));
            let starts = starts_anew(self.kernel.desc(), frame.is_first, frame.parameters.values);
            data.array(matrices.count()).fill(u32::from(starts));
        }
        parameter_words(frame.parameters.values, data.uniforms);
    }
}

/// Kernels around one with a persistent buffer: what it holds at the start of the frame, and its output.
fn persistent_texts(buffer: &KernelBuffer, reads_last: bool) -> [String; 2] {
    let (now, name) = (KernelBuffer::NOW, buffer.name);
    let before = match reads_last {
        true => format!(" write_{}{name}(index, v);", KernelBuffer::BEFORE),
        false => String::new(),
    };
    let start = unwritten(buffer);
    [
        format!(
            "fn kernel(index: u32) {{
    var v = read_{now}{name}(index);
    if (read_{IS_FIRST}(0u) != 0u) {{ v = {start}; }}
    write_{now}{name}(index, v);{before}
}}"
        ),
        format!("fn kernel(index: u32) {{ write_{name}(index, read_{now}{name}(index)); }}"),
    ]
}

fn device_type(element: Element) -> DeviceType {
    match element {
        Element::Int => DeviceType::I32,
        Element::Uint => DeviceType::U32,
        Element::Vec2 => DeviceType::Vec2F,
        Element::Vec3 => DeviceType::Vec3F,
        Element::Vec4 => DeviceType::Vec4F,
        _ => DeviceType::F32,
    }
}

/// Whether persistent buffers start anew in a frame with these parameters.
pub(super) fn starts_anew(desc: &NodeDesc, is_first: bool, values: &[ParameterValue]) -> bool {
    let mut parameters = desc.parameters.iter().zip(values);
    is_first || parameters.any(|(p, v)| p.name == RESET && *v == ParameterValue::Bool(true))
}

/// An element that the kernel has not written, in WGSL.
fn unwritten(buffer: &KernelBuffer) -> String {
    let ty = buffer.element.wgsl();
    match buffer.write.unwritten(buffer.element) {
        0 => format!("{ty}()"),
        bits => format!("bitcast<{ty}>({bits}u)"),
    }
}

/// Writes the values of parameters, register by register.
pub(super) fn parameter_words(values: &[ParameterValue], uniforms: &mut [u8]) {
    let mut registers = uniforms.chunks_exact_mut(16);
    let mut put = |words: [u32; 4]| {
        if let Some(register) = registers.next() {
            register.copy_from_slice(bytemuck::bytes_of(&words));
        }
    };
    for value in values {
        words(value, &mut put);
    }
}

/// A parameter's value, register by register.
fn words(value: &ParameterValue, put: &mut dyn FnMut([u32; 4])) {
    let float = |v: f64| (v as f32).to_bits();
    let whole = |v: i64| v.clamp(i32::MIN.into(), i32::MAX.into()) as u32;
    match value {
        ParameterValue::Bool(v) => put([u32::from(*v), 0, 0, 0]),
        ParameterValue::Int(v) => put([whole(*v), 0, 0, 0]),
        ParameterValue::Float(v) => put([float(*v), 0, 0, 0]),
        ParameterValue::Vec3([x, y, z]) => put([float(*x), float(*y), float(*z), 0]),
        ParameterValue::Vec4(v) => put(v.map(float)),
        ParameterValue::Int3([x, y, z]) => put([whole(*x), whole(*y), whole(*z), 0]),
        ParameterValue::Transform(a) => {
            for r in 0..3 {
                let l = |c: usize| float(a.linear[(r, c)]);
                put([l(0), l(1), l(2), float(a.translation[r])]);
            }
        }
        ParameterValue::Text(_)
        | ParameterValue::Floats(_)
        | ParameterValue::Points(_)
        | ParameterValue::Texts(_)
        | ParameterValue::Transforms(_)
        | ParameterValue::Records(_) => put([0; 4]),
    }
}

/// Where each vertex's neighbours begin (and end), and those. Vertices at one place at rest are one point: each has the
/// neighbours of all of them, and each neighbour is the first vertex at its place. The highest bit of where they begin says
/// whether they go all the way round.
fn rings(mesh: &Mesh) -> Vec<u32> {
    let weld = WeldMap::by_position(&mesh.positions, 0.0);
    let rings = OneRings::build(&mesh.topology, &weld);
    let count = mesh.vertex_count();
    let mut out = vec![0; count + 1];
    for v in 0..count {
        let class = weld.class_of_vertex[v] as usize;
        let closed = rings.is_manifold[class] && !rings.is_border[class];
        out[v] = index32(out.len()) | u32::from(closed) << 31;
        let neighbours = rings.row(class).iter();
        out.extend(neighbours.map(|c| weld.first_vertex[*c as usize]));
    }
    out[count] = index32(out.len());
    out
}

/// Offsets of each vertex's influences, then the influences as joint and bits of the weight. Influences are sorted by decreasing weight,
/// equal weights by joint index.
fn influences(mesh: &Mesh) -> Vec<u32> {
    let count = mesh.vertex_count();
    let mut out = vec![0; count + 1];
    for v in 0..count {
        out[v] = index32(out.len());
        let mut row: Vec<(u32, f32)> = match &mesh.influences {
            Some(influences) => influences.row(v).collect(),
            None => Vec::new(),
        };
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        out.extend(row.iter().flat_map(|(joint, w)| [*joint, w.to_bits()]));
    }
    out[count] = index32(out.len());
    out
}
