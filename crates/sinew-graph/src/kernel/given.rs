//! The functions and constants that a kernel may use: derived from its pins, parameters and constants.

use super::{BufferWrite, KernelBuffer, element, written};
use sinew_deform::{Element, MeshAttribute, NodeDesc, ParameterType, PortDesc, PortType};
use std::fmt::Write;

/// Something that a text may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// `fn name(...) -> result`; it reads.
    Read {
        parameters: &'static [&'static str],
        result: &'static str,
        /// Whether what it reads changes from step to step, so that it must be there before.
        linked: bool,
    },
    /// `fn name(p: vec3f) -> result`; it looks a field up.
    Lookup { result: &'static str },
    /// `fn name(i: u32, v: ty)`.
    Write { ty: &'static str },
    /// `const name: ty`.
    Constant { ty: &'static str },
    /// `const name = value`.
    Value { wgsl: String },
}

const INDEX: &[&str] = &["i"];
const INDEX_AND_K: &[&str] = &["i", "k"];
const CORNER: &[&str] = &["t", "corner"];
const STRAND: &[&str] = &["s"];
const JOINT: &[&str] = &["joint"];

/// Words that a look-up of a field reads, for what it takes to compile: header, brick and eight values.
const LOOKUP_READS: usize = 40;

/// A parameter's type in WGSL.
pub(crate) fn parameter_type(ty: ParameterType) -> Option<&'static str> {
    Some(match ty {
        ParameterType::Bool => "bool",
        ParameterType::Int { .. } => "i32",
        ParameterType::Float { .. } => "f32",
        ParameterType::Vec3 => "vec3f",
        ParameterType::Vec4 => "vec4f",
        ParameterType::Int3 { .. } => "vec3i",
        ParameterType::Transform => "mat4x3f",
        ParameterType::Choice(_)
        | ParameterType::Text
        | ParameterType::Floats
        | ParameterType::Points
        | ParameterType::Texts
        | ParameterType::Transforms
        | ParameterType::Records(_) => return None,
    })
}

fn attribute_type(attribute: MeshAttribute) -> &'static str {
    attribute.element().wgsl()
}

struct Table(Vec<Given>);

impl Table {
    fn push(&mut self, name: String, what: What) {
        self.0.push(Given { name, what });
    }
    fn reads(
        &mut self,
        name: String,
        parameters: &'static [&'static str],
        result: &'static str,
        linked: bool,
    ) {
        let what = What::Read {
            parameters,
            result,
            linked,
        };
        self.push(name, what);
    }
    fn constant(&mut self, name: String, ty: &'static str) {
        self.push(name, What::Constant { ty });
    }

    fn input(&mut self, port: &PortDesc) {
        let p = port.name;
        match port.ty {
            PortType::Mesh => self.mesh(p),
            PortType::Pose => {
                self.reads(format!("read_{p}_matrix"), JOINT, "mat4x3f", false);
                self.constant(format!("{p}_joint_count"), "u32");
            }
            PortType::Mask | PortType::Values | PortType::Buffer(_) => {
                let ty = element(port.ty).map_or("f32", Element::wgsl);
                self.reads(format!("read_{p}"), INDEX, ty, true);
                self.constant(format!("count_{p}"), "u32");
                self.constant(format!("has_{p}"), "bool");
            }
            PortType::Field => {
                for (verb, result) in [("sample", "f32"), ("gradient", "vec3f")] {
                    self.push(format!("{verb}_{p}"), What::Lookup { result });
                }
            }
            PortType::Lines | PortType::VertexAnimation => {}
        }
    }

    fn mesh(&mut self, p: &str) {
        for attribute in MeshAttribute::ALL {
            let (word, ty) = (attribute.wgsl_name(), attribute_type(attribute));
            self.reads(format!("read_{p}_{word}"), INDEX, ty, true);
        }
        self.reads(format!("read_{p}_rest_positions"), INDEX, "vec3f", false);
        self.reads(format!("read_{p}_uvs"), INDEX, "vec2f", false);
        self.constant(format!("has_{p}_uvs"), "bool");
        self.constant(format!("{p}_vertex_count"), "u32");
        self.constant(format!("{p}_triangle_count"), "u32");
        self.reads(format!("{p}_triangle_vertex"), CORNER, "u32", false);
        self.constant(format!("{p}_strand_count"), "u32");
        self.reads(format!("{p}_strand_first"), STRAND, "u32", false);
        self.reads(format!("{p}_strand_length"), STRAND, "u32", false);
        self.reads(format!("{p}_connected_count"), INDEX, "u32", false);
        self.reads(format!("{p}_connected_vertex"), INDEX_AND_K, "u32", false);
        self.reads(format!("{p}_connected_closed"), INDEX, "bool", false);
        self.reads(format!("{p}_influence_count"), INDEX, "u32", false);
        self.reads(format!("{p}_influence_joint"), INDEX_AND_K, "u32", false);
        self.reads(format!("{p}_influence_weight"), INDEX_AND_K, "f32", false);
    }
}

/// All of it.
pub(crate) fn given(
    desc: &NodeDesc,
    buffers: &[KernelBuffer],
    constants: &[(String, String)],
) -> Vec<Given> {
    let mut out = Table(Vec::new());
    out.constant("vertex_count".into(), "u32");
    desc.inputs.iter().for_each(|port| out.input(port));
    for (port, attribute) in written(desc) {
        let (word, ty) = (attribute.wgsl_name(), attribute_type(attribute));
        out.push(format!("write_{port}_{word}"), What::Write { ty });
        out.constant(format!("wants_{port}_{word}"), "bool");
    }
    for port in desc.outputs {
        if let Some(ty) = element(port.ty).map(Element::wgsl) {
            let buffer = buffers.iter().find(|b| b.name == port.name);
            let verb = buffer.map_or(BufferWrite::Write, |b| b.write).verb();
            out.push(format!("{verb}_{}", port.name), What::Write { ty });
            if let Some(buffer) = buffer.filter(|b| b.persistent) {
                out.reads(buffer.last(), INDEX, ty, false);
            }
            out.constant(format!("wants_{}", port.name), "bool");
        }
    }
    for p in desc.parameters {
        let result = parameter_type(p.ty).unwrap_or("f32");
        out.reads(p.name.to_owned(), &[], result, false);
    }
    for (name, wgsl) in constants {
        out.push(name.clone(), What::Value { wgsl: wgsl.clone() });
    }
    out.0
}

/// Names that the functions get where a text is only checked.
pub(crate) fn stub_name(index: usize) -> String {
    format!("sinew_given_{index}")
}

/// Functions with the right types and nothing behind them, and the entry point: enough to check a text.
pub(crate) fn stubs(given: &[Given], entry: &str) -> String {
    let mut out = String::from(
        "@group(0) @binding(0) var<storage, read> sinew_in: array<f32>;
@group(0) @binding(1) var<storage, read_write> sinew_out: array<f32>;
",
    );
    for (index, g) in given.iter().enumerate() {
        let name = stub_name(index);
        let _ = match &g.what {
            What::Read {
                parameters, result, ..
            } => {
                let list: Vec<String> = parameters.iter().map(|p| format!("{p}: u32")).collect();
                let at = match parameters.is_empty() {
                    true => "0u".to_owned(),
                    false => parameters.join(" + "),
                };
                let value = value(result, &format!("sinew_in[{at}]"));
                let list = list.join(", ");
                writeln!(out, "fn {name}({list}) -> {result} {{ return {value}; }}")
            }
            What::Lookup { result } => {
                let reads = (0..LOOKUP_READS).map(|k| format!("sinew_in[{k}u]"));
                let sum = reads.collect::<Vec<_>>().join(" + ");
                writeln!(
                    out,
                    "fn {name}(p: vec3f) -> {result} {{ return {result}(p.x + {sum}); }}"
                )
            }
            What::Write { ty } => writeln!(
                out,
                "fn {name}(i: u32, v: {ty}) {{ sinew_out[i] = {}; }}",
                part(ty)
            ),
            What::Constant { ty: "bool" } => writeln!(out, "const {name}: bool = true;"),
            What::Constant { ty } => writeln!(out, "const {name}: {ty} = 1024;"),
            What::Value { wgsl } => writeln!(out, "const {name} = {wgsl};"),
        };
    }
    let _ = write!(
        out,
        "@compute @workgroup_size(64)
fn sinew_main(@builtin(global_invocation_id) sinew_id: vec3u) {{
    if (sinew_id.x >= arrayLength(&sinew_in)) {{ return; }}
    {entry}(sinew_id.x);
}}
"
    );
    out
}

/// A value of a type from a float.
fn value(ty: &str, float: &str) -> String {
    match ty {
        "bool" => format!("{float} > 0.0"),
        "vec3i" => format!("vec3i(i32({float}))"),
        "mat4x3f" => format!("mat4x3f(vec3f({float}), vec3f(), vec3f(), vec3f())"),
        _ => format!("{ty}({float})"),
    }
}

/// A float of the value `v`.
fn part(ty: &str) -> &'static str {
    match ty {
        "f32" => "v",
        "i32" | "u32" => "f32(v)",
        _ => "v.x",
    }
}
