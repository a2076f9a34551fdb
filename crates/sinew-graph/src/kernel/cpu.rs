//! A kernel on the CPU: the same text as on the GPU, run by the interpreter of `sinew-wgsl`.
//!
//! [`CpuKernel::new`] puts the text together with stubs of the functions that reach data, and gives each a buffer. A frame then:
//!
//! 1. writes matrices and parameters to buffers of the instance,
//! 2. sets outputs that the kernel may leave unwritten or combines with others: to zero, or to what a minimum or maximum starts from,
//! 3. runs the kernel for each element. Outputs are atomic words, so that threads can share them,
//! 4. copies them to the outputs of the node.
//!
//! Results are the same bits for any number of threads: sums of integers do not depend on their order, and a kernel that may write one
//! element of a buffer twice runs on one thread, in ascending order.

use super::bound::{BoundKernel, parameter_words, starts_anew};
use super::device::{text, uses_parameters};
use super::{BufferWrite, KernelBuffer, element, written};
use arrayvec::ArrayVec;
use bytemuck::{cast_slice, cast_slice_mut};
use sinew_deform::{
    BindContext, BindInput, DeviceNode, InputValue, Inputs, MAX_ITERATIONS, MAX_PORTS,
    MESH_ATTRIBUTES, MeshAttribute, MeshView, MeshViewMut, NodeDesc, NodeError, NodeScratch,
    OutputValue, Par, PortDesc, PortType, UpdateContext,
};
use sinew_wgsl::tokens::{TokenKind, tokenize};
use sinew_wgsl::{
    CpuAccess, CpuBuffers, CpuProgram, CpuRegisters, ModuleBuilder, ModuleOptions, Snippet,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Loop iterations for one element, as on software adapters.
const MOST_TURNS: u32 = 1 << 15;
/// Parts that a kernel's elements are cut into for threads; each has registers of its own.
const PARTS: usize = 16;
/// Elements of a part, at least: a thread takes time to start.
const LEAST_OF_PART: usize = 64;
/// Buffers that a kernel may read: those of the ports, and constants of their meshes.
const MOST_READ: usize = MAX_PORTS * (2 * MESH_ATTRIBUTES + 4);

/// Where a buffer to read comes from.
#[derive(Clone, Debug)]
enum Source {
    Constant(Vec<u32>),
    /// An attribute of the mesh at an input.
    Mesh(usize, MeshAttribute),
    /// Rest positions of the mesh at an input.
    Rest(usize),
    /// The array at an input.
    Array(usize),
    /// Matrices of the pose at an input, in a buffer of the instance.
    Matrices {
        input: usize,
        at: usize,
    },
    /// Parameters, in a buffer of the instance.
    Parameters {
        at: usize,
    },
    /// What a persistent buffer held before the frame, in a buffer of the instance.
    Before {
        at: usize,
    },
}

/// Where a buffer that is written goes.
#[derive(Clone, Copy, Debug)]
struct Target {
    output: usize,
    /// `None` for a buffer output.
    attribute: Option<MeshAttribute>,
    words: usize,
    /// What all words are before the kernel runs.
    cleared: Option<u32>,
    persistent: Option<Persistent>,
}

/// A buffer that keeps its words from frame to frame.
#[derive(Clone, Copy, Debug)]
struct Persistent {
    /// What all words are before the first frame.
    start: u32,
    /// The buffer of the instance that gets a copy before the kernel runs.
    before: Option<usize>,
}

/// A kernel that is ready for the CPU.
#[derive(Debug)]
pub(super) struct CpuKernel {
    desc: &'static NodeDesc,
    program: CpuProgram,
    elements: u32,
    sources: Vec<Source>,
    targets: Vec<Target>,
    /// Words of the buffers of an instance: matrices and parameters.
    frame: Vec<usize>,
    threads: bool,
}

/// What an instance has of its own.
#[derive(Debug)]
pub(super) struct CpuScratch {
    registers: Vec<CpuRegisters>,
    frame: Vec<Vec<u32>>,
    written: Vec<Vec<AtomicU32>>,
}

/// Stubs of functions, while they are collected.
#[derive(Default)]
struct Stubs {
    /// Names in the kernel's text.
    used: BTreeSet<String>,
    text: String,
    renames: Vec<(String, String)>,
    accesses: BTreeMap<String, CpuAccess>,
}

impl Stubs {
    fn rename(&mut self, name: &str) -> Option<String> {
        if !self.used.contains(name) {
            return None;
        }
        let stub = format!("sinew_{name}");
        self.renames.push((name.to_owned(), stub.clone()));
        Some(stub)
    }

    fn constant(&mut self, name: &str, ty: &str, value: &str) {
        if let Some(stub) = self.rename(name) {
            let _ = writeln!(self.text, "const {stub}: {ty} = {value};");
        }
    }

    /// A function with a buffer; says whether the text uses it.
    fn access(&mut self, name: &str, access: CpuAccess, ty: &str) -> bool {
        let Some(stub) = self.rename(name) else {
            return false;
        };
        let _ = match access {
            CpuAccess::Read { .. } if name == "uniforms" => {
                writeln!(self.text, "fn {stub}() -> {ty} {{ return {ty}(); }}")
            }
            CpuAccess::Read { .. } => {
                writeln!(self.text, "fn {stub}(i: u32) -> {ty} {{ return {ty}(); }}")
            }
            _ => writeln!(self.text, "fn {stub}(i: u32, v: {ty}) {{ }}"),
        };
        self.accesses.insert(stub, access);
        true
    }
}

/// Prefix of the names of a kernel's text in its module.
const PREFIX: &str = "sinew_kernel_";

impl CpuKernel {
    /// `device` has the constants of the kernel.
    pub(super) fn new(
        bound: &BoundKernel,
        device: &DeviceNode,
        context: &BindContext<'_>,
    ) -> Result<Self, NodeError> {
        let kernel = &bound.kernel;
        let text = text(kernel, bound.elements(), &bound.meshes, &bound.poses);
        let tokens = tokenize(&text).into_iter();
        let names = tokens.filter(|t| t.kind == TokenKind::Name);
        let mut stubs = Stubs {
            used: names.map(|t| t.text(&text).to_owned()).collect(),
            ..Stubs::default()
        };
        let (mut sources, mut frame) = bound.cpu_sources(&mut stubs, device, context);
        let mut targets = bound.cpu_targets(&mut stubs);
        bound.cpu_persistent(&mut stubs, &mut sources, &mut frame, &mut targets);
        let program = program(kernel.file(), &text, &stubs);
        let program = program.map_err(|e| NodeError::Bind(Box::new(e)))?;
        Ok(Self {
            desc: kernel.desc(),
            program,
            elements: u32::try_from(bound.elements()).unwrap_or(u32::MAX),
            sources,
            targets,
            frame,
            threads: kernel.analysis.threads,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        let constants = self.sources.iter().map(|s| match s {
            Source::Constant(words) => size_of_val(words.as_slice()),
            _ => 0,
        });
        self.program.register_bytes() + constants.sum::<usize>()
    }

    fn parts(&self) -> usize {
        let most = (self.elements as usize).div_ceil(LEAST_OF_PART);
        if self.threads {
            most.clamp(1, PARTS)
        } else {
            1
        }
    }

    pub(super) fn scratch(&self) -> CpuScratch {
        let zeros = |words: usize| (0..words).map(|_| AtomicU32::new(0)).collect();
        CpuScratch {
            registers: vec![self.program.registers(); self.parts()],
            frame: self.frame.iter().map(|words| vec![0; *words]).collect(),
            written: self.targets.iter().map(|t| zeros(t.words)).collect(),
        }
    }

    pub(super) fn scratch_bytes(&self) -> usize {
        let written: usize = self.targets.iter().map(|t| t.words).sum();
        let words = written + self.frame.iter().sum::<usize>();
        self.parts() * self.program.register_bytes() + 4 * words
    }

    /// The words of its persistent buffers.
    pub(super) fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let written = scratch.downcast_ref::<CpuScratch>().map(|s| &s.written);
        let words = self.persistent(written.map_or(&[], Vec::as_slice));
        words
            .flat_map(|w| w.load(Ordering::Relaxed).to_le_bytes())
            .collect()
    }

    pub(super) fn restore_state(
        &self,
        bytes: &[u8],
        scratch: &mut NodeScratch,
    ) -> Result<(), NodeError> {
        let written = scratch.downcast_ref::<CpuScratch>().map(|s| &s.written);
        let written = written.map_or(&[][..], Vec::as_slice);
        let (words, rest) = bytes.as_chunks::<4>();
        let expected = self.persistent(written).count();
        if words.len() != expected || !rest.is_empty() {
            return Err(NodeError::Restore(format!(
                "found {} bytes of persistent buffers, expected {}",
                bytes.len(),
                4 * expected
            )));
        }
        for (word, bytes) in self.persistent(written).zip(words) {
            word.store(u32::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        Ok(())
    }

    fn persistent<'a>(
        &'a self,
        written: &'a [Vec<AtomicU32>],
    ) -> impl Iterator<Item = &'a AtomicU32> {
        let both = self.targets.iter().zip(written);
        both.filter(|(target, _)| target.persistent.is_some())
            .flat_map(|(_, words)| words)
    }

    /// One frame.
    pub(super) fn update(&self, context: UpdateContext<'_>) {
        let UpdateContext {
            inputs,
            parameters,
            par,
            scratch,
            is_first,
            mut outputs,
            ..
        } = context;
        let starts_anew = starts_anew(self.desc, is_first, parameters.values);
        let Some(scratch) = scratch.downcast_mut::<CpuScratch>() else {
            return;
        };
        for source in &self.sources {
            match *source {
                Source::Matrices { input, at } => matrices(&inputs, input, &mut scratch.frame[at]),
                Source::Parameters { at } => {
                    parameter_words(parameters.values, cast_slice_mut(&mut scratch.frame[at]));
                }
                _ => {}
            }
        }
        for (words, target) in scratch.written.iter().zip(&self.targets) {
            let persistent = target.persistent.filter(|_| starts_anew);
            if let Some(start) = target.cleared.or(persistent.map(|p| p.start)) {
                words.iter().for_each(|w| w.store(start, Ordering::Relaxed));
            }
            if let Some(before) = target.persistent.and_then(|p| p.before) {
                copy(words, &mut scratch.frame[before]);
            }
        }
        let read: ArrayVec<&[u32], MOST_READ> = self
            .sources
            .iter()
            .map(|source| source.words(&inputs, &scratch.frame))
            .collect();
        let written: ArrayVec<&[AtomicU32], { MAX_PORTS * MESH_ATTRIBUTES }> =
            scratch.written.iter().map(Vec::as_slice).collect();
        let buffers = CpuBuffers {
            read: &read,
            written: &written,
        };
        let run = |registers: &mut CpuRegisters, range: Range<u32>| {
            range.for_each(|index| self.program.run(registers, index, &buffers));
        };
        spread(par, &mut scratch.registers, 0..self.elements, &run);
        for (words, target) in scratch.written.iter().zip(&self.targets) {
            if let Some(Some(output)) = outputs.values.get_mut(target.output) {
                target.copy(words, output);
            }
        }
    }
}

/// Cuts the elements among parts.
fn spread(
    par: Par,
    parts: &mut [CpuRegisters],
    range: Range<u32>,
    run: &(dyn Fn(&mut CpuRegisters, Range<u32>) + Sync),
) {
    if let (1, _) | (_, Par::Seq) = (parts.len(), par) {
        parts
            .iter_mut()
            .take(1)
            .for_each(|part| run(part, range.clone()));
        return;
    }
    let half = parts.len() / 2;
    let count = u64::from(range.end - range.start) * half as u64 / parts.len() as u64;
    let middle = range.start + count as u32;
    let (left, right) = parts.split_at_mut(half);
    rayon::join(
        || spread(par, left, range.start..middle, run),
        || spread(par, right, middle..range.end, run),
    );
}

/// Compiles the text and its stubs.
fn program(file: &str, text: &str, stubs: &Stubs) -> Result<CpuProgram, sinew_wgsl::KernelErrors> {
    let snippet = Snippet::parse(file, text)?;
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let renames = stubs.renames.iter();
    let renames: Vec<(&str, &str)> = renames.map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let entry = builder.add(&snippet, PREFIX, &renames)?;
    builder.declare("generated", &stubs.text);
    CpuProgram::new(
        &builder.finish()?,
        &entry.unwrap_or_default(),
        &stubs.accesses,
    )
}

impl BoundKernel {
    /// Buffers to read, and the words of those that an instance writes itself.
    fn cpu_sources(
        &self,
        stubs: &mut Stubs,
        device: &DeviceNode,
        context: &BindContext<'_>,
    ) -> (Vec<Source>, Vec<usize>) {
        let kernel = &self.kernel;
        let (mut sources, mut frame) = (Vec::new(), Vec::new());
        let vertices = self.vertices();
        stubs.constant("vertex_count", "u32", &format!("{vertices}u"));
        stubs.constant(MAX_ITERATIONS, "u32", &format!("{MOST_TURNS}u"));
        for (input, port) in kernel.desc().inputs.iter().enumerate() {
            port_stubs(stubs, &mut sources, input, port);
            if element(port.ty).is_some() {
                let count = match context.inputs.get(input).copied().flatten() {
                    Some(BindInput::Mask) => Some(vertices),
                    Some(BindInput::Values(count)) => Some(count),
                    _ => None,
                };
                let (has, n) = (count.is_some(), count.unwrap_or(0));
                stubs.constant(&format!("has_{}", port.name), "bool", &has.to_string());
                stubs.constant(&format!("count_{}", port.name), "u32", &format!("{n}u"));
            }
            let matrices = format!("read_given_{}_matrices", port.name);
            let access = CpuAccess::Read {
                buffer: sources.len(),
            };
            if port.ty == PortType::Pose && stubs.access(&matrices, access, "vec4f") {
                let joints = self.poses.iter().find(|p| p.port == port.name);
                let at = frame.len();
                frame.push(12 * joints.map_or(0, |p| p.joints));
                sources.push(Source::Matrices { input, at });
            }
        }
        for constant in &device.constants {
            let access = CpuAccess::Read {
                buffer: sources.len(),
            };
            if stubs.access(
                &format!("read_{}", constant.name),
                access,
                constant.ty.wgsl(),
            ) {
                let words = constant.bytes.chunks_exact(4);
                let words = words.map(bytemuck::pod_read_unaligned).collect();
                sources.push(Source::Constant(words));
            }
        }
        let access = CpuAccess::Read {
            buffer: sources.len(),
        };
        if uses_parameters(kernel) && stubs.access("uniforms", access, &format!("{PREFIX}Uniforms"))
        {
            let at = frame.len();
            frame.push(device.uniforms.bytes / 4);
            sources.push(Source::Parameters { at });
        }
        (sources, frame)
    }

    fn cpu_targets(&self, stubs: &mut Stubs) -> Vec<Target> {
        let desc = self.kernel.desc();
        let mut out: Vec<Target> = Vec::new();
        let output = |name: &str| desc.outputs.iter().position(|p| p.name == name);
        for (port, attribute) in written(desc) {
            let word = attribute.wgsl_name();
            stubs.constant(&format!("wants_{port}_{word}"), "bool", "true");
            let access = CpuAccess::Write { buffer: out.len() };
            let element = attribute.element();
            if stubs.access(&format!("write_{port}_{word}"), access, element.wgsl()) {
                out.push(Target {
                    output: output(port).unwrap_or(usize::MAX),
                    attribute: Some(attribute),
                    words: self.vertices() * element.bytes() / 4,
                    cleared: None,
                    persistent: None,
                });
            }
        }
        for buffer in self.kernel.buffers() {
            stubs.constant(&format!("wants_{}", buffer.name), "bool", "true");
            let (verb, at) = (buffer.write.verb(), out.len());
            let start = buffer.write.unwritten(buffer.element);
            let access = match buffer.write {
                BufferWrite::Write => CpuAccess::Write { buffer: at },
                BufferWrite::AtomicAdd => CpuAccess::Add { buffer: at },
                BufferWrite::AtomicMin => CpuAccess::Min { buffer: at },
                BufferWrite::AtomicMax => CpuAccess::Max { buffer: at },
            };
            let array = match buffer.persistent {
                true => KernelBuffer::NOW,
                false => "",
            };
            if stubs.access(
                &format!("{verb}_{array}{}", buffer.name),
                access,
                buffer.element.wgsl(),
            ) {
                out.push(Target {
                    output: output(buffer.name).unwrap_or(usize::MAX),
                    attribute: None,
                    words: self.length(buffer.name) * buffer.element.bytes() / 4,
                    cleared: buffer.cleared.then_some(start),
                    persistent: buffer.persistent.then_some(Persistent {
                        start,
                        before: None,
                    }),
                });
            }
        }
        out
    }

    /// Functions that read what persistent buffers held before the frame.
    fn cpu_persistent(
        &self,
        stubs: &mut Stubs,
        sources: &mut Vec<Source>,
        frame: &mut Vec<usize>,
        targets: &mut [Target],
    ) {
        for target in targets {
            let port = self.kernel.desc().outputs.get(target.output);
            let mut buffers = self.kernel.persistent();
            let buffer = buffers.find(|b| port.is_some_and(|p| p.name == b.name));
            let (Some(buffer), Some(persistent)) = (buffer, &mut target.persistent) else {
                continue;
            };
            let name = format!("read_{}{}", KernelBuffer::BEFORE, buffer.name);
            let access = CpuAccess::Read {
                buffer: sources.len(),
            };
            if stubs.access(&name, access, buffer.element.wgsl()) {
                sources.push(Source::Before { at: frame.len() });
                persistent.before = Some(frame.len());
                frame.push(target.words);
            }
        }
    }
}

/// Functions that read what is linked to an input.
fn port_stubs(stubs: &mut Stubs, sources: &mut Vec<Source>, input: usize, port: &PortDesc) {
    let p = port.name;
    let mut add = |name: String, ty: &str, source: Source| {
        let access = CpuAccess::Read {
            buffer: sources.len(),
        };
        if stubs.access(&name, access, ty) {
            sources.push(source);
        }
    };
    if port.ty == PortType::Mesh {
        for attribute in MeshAttribute::ALL {
            let (word, ty) = (attribute.wgsl_name(), attribute.element().wgsl());
            add(
                format!("read_{p}_{word}"),
                ty,
                Source::Mesh(input, attribute),
            );
        }
        add(
            format!("read_{p}_rest_positions"),
            "vec3f",
            Source::Rest(input),
        );
    } else if port.ty == PortType::Field {
        add(format!("read_{p}"), "u32", Source::Array(input));
    } else if let Some(element) = element(port.ty) {
        add(format!("read_{p}"), element.wgsl(), Source::Array(input));
    }
}

impl Source {
    fn words<'a>(&'a self, inputs: &Inputs<'a>, frame: &'a [Vec<u32>]) -> &'a [u32] {
        let value = |input: usize| inputs.values.get(input).copied().flatten();
        let mesh = |input: usize| match value(input) {
            Some(InputValue::Mesh(mesh)) => mesh,
            _ => MeshView::default(),
        };
        match *self {
            Self::Constant(ref words) => words,
            Self::Matrices { at, .. } | Self::Parameters { at } | Self::Before { at } => &frame[at],
            Self::Rest(input) => cast_slice(mesh(input).rest),
            Self::Mesh(input, attribute) => {
                let mesh = mesh(input);
                match attribute {
                    MeshAttribute::Positions => cast_slice(mesh.positions),
                    MeshAttribute::Normals => cast_slice(mesh.normals.unwrap_or_default()),
                    MeshAttribute::Tangents => cast_slice(mesh.tangents.unwrap_or_default()),
                    MeshAttribute::Colors => cast_slice(mesh.colors.unwrap_or_default()),
                }
            }
            Self::Array(input) => match value(input) {
                Some(InputValue::Mask(floats) | InputValue::Values(floats)) => cast_slice(floats),
                Some(InputValue::Buffer(words) | InputValue::Field(words)) => words,
                _ => &[],
            },
        }
    }
}

/// Rows of the matrices of the pose at an input.
fn matrices(inputs: &Inputs<'_>, input: usize, out: &mut [u32]) {
    if let Some(Some(InputValue::Pose(pose))) = inputs.values.get(input) {
        let rows = pose.palette.iter().flat_map(|m| m.rows);
        let to = out.chunks_exact_mut(4).zip(rows);
        to.for_each(|(to, row)| to.copy_from_slice(&row.map(f32::to_bits)));
    }
}

impl Target {
    fn copy(&self, from: &[AtomicU32], output: &mut OutputValue<'_>) {
        let to: &mut [u32] = match (output, self.attribute) {
            (OutputValue::Mesh(mesh), Some(attribute)) => attribute_words(mesh, attribute),
            (OutputValue::Mask(floats) | OutputValue::Values(floats), None) => {
                cast_slice_mut(floats)
            }
            (OutputValue::Buffer(words), None) => words,
            _ => &mut [],
        };
        copy(from, to);
    }
}

fn copy(from: &[AtomicU32], to: &mut [u32]) {
    let words = to.iter_mut().zip(from);
    words.for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
}

fn attribute_words<'a>(mesh: &'a mut MeshViewMut<'_>, attribute: MeshAttribute) -> &'a mut [u32] {
    fn of<'a, T: bytemuck::Pod>(array: Option<&'a mut &mut [T]>) -> &'a mut [u32] {
        array.map_or(&mut [], |array| cast_slice_mut(array))
    }
    match attribute {
        MeshAttribute::Positions => of(mesh.positions.as_mut()),
        MeshAttribute::Normals => of(mesh.normals.as_mut()),
        MeshAttribute::Tangents => of(mesh.tangents.as_mut()),
        MeshAttribute::Colors => of(mesh.colors.as_mut()),
    }
}
