//! A kernel's text as the device runs it: the user's own, and behind it the functions that its pins give.

use super::CustomKernel;
use super::bound::{MeshFacts, PoseFacts};
use super::given::parameter_type;
use sinew_deform::{NodeDesc, ParameterType};
use std::fmt::Write;

/// Registers of 16 bytes that a parameter takes among the uniforms.
pub(super) fn registers(ty: ParameterType) -> usize {
    match ty {
        ParameterType::Transform => 3,
        _ => 1,
    }
}

/// The whole text.
pub(super) fn text(kernel: &CustomKernel, meshes: &[MeshFacts], poses: &[PoseFacts]) -> String {
    let mut out = with_prologue(kernel);
    out.push('\n');
    for (name, value) in &kernel.constants {
        if kernel.uses(name) {
            let _ = writeln!(out, "const {name} = {value};");
        }
    }
    meshes
        .iter()
        .for_each(|mesh| mesh_text(&mut out, kernel, mesh));
    poses
        .iter()
        .for_each(|pose| pose_text(&mut out, kernel, pose));
    if uses_parameters(kernel) {
        parameters(&mut out, kernel.desc());
    }
    out
}

/// Whether the kernel reads any of its parameters.
pub(super) fn uses_parameters(kernel: &CustomKernel) -> bool {
    let parameters = kernel.desc().parameters.iter();
    parameters.clone().any(|p| kernel.uses(p.name))
}

/// The user's text; what it may leave unwritten is taken over from the input first.
fn with_prologue(kernel: &CustomKernel) -> String {
    let (text, analysis) = (kernel.text(), &kernel.analysis);
    let index = &analysis.index;
    let mut prologue = String::new();
    for (port, attribute) in &analysis.kept {
        let effect = kernel.desc().output(port).and_then(|p| p.effect);
        let (from, word) = (effect.map_or(*port, |e| e.from), attribute.wgsl_name());
        let _ = write!(
            prologue,
            " write_{port}_{word}({index}, read_{from}_{word}({index}));"
        );
    }
    if analysis.is_body {
        return format!("fn kernel({index}: u32) {{{prologue}\n{text}\n}}");
    }
    let (before, behind) = text.split_at(analysis.body_start.min(text.len()));
    format!("{before}{prologue}{behind}")
}

fn mesh_text(out: &mut String, kernel: &CustomKernel, mesh: &MeshFacts) {
    let p = mesh.port;
    let uses = |name: &str| kernel.uses(&format!("{p}_{name}"));
    for (name, count) in [
        ("vertex_count", mesh.vertices),
        ("triangle_count", mesh.triangles),
    ] {
        if uses(name) {
            let _ = writeln!(out, "const {p}_{name}: u32 = {count}u;");
        }
    }
    if kernel.uses(&format!("has_{p}_uvs")) {
        let _ = writeln!(out, "const has_{p}_uvs: bool = {};", mesh.has_uvs);
    }
    if uses("triangle_vertex") {
        let _ = writeln!(
            out,
            "fn {p}_triangle_vertex(t: u32, corner: u32) -> u32 {{
    return read_given_{p}_triangles(3u * min(t, 0x3fffffffu) + min(corner, 2u));
}}"
        );
    }
    if mesh.uses_rings(kernel) {
        let vertices = mesh.vertices;
        let _ = writeln!(
            out,
            "fn given_{p}_ring(i: u32) -> u32 {{ return read_given_{p}_rings(i) & 0x7fffffffu; }}
fn {p}_connected_count(i: u32) -> u32 {{
    if (i >= {vertices}u) {{ return 0u; }}
    return given_{p}_ring(i + 1u) - given_{p}_ring(i);
}}
fn {p}_connected_vertex(i: u32, k: u32) -> u32 {{
    if (k >= {p}_connected_count(i)) {{ return i; }}
    return read_given_{p}_rings(given_{p}_ring(i) + k);
}}
fn {p}_connected_closed(i: u32) -> bool {{
    return i < {vertices}u && read_given_{p}_rings(i) >= 0x80000000u;
}}"
        );
    }
    if mesh.uses_influences(kernel) {
        let vertices = mesh.vertices;
        let _ = writeln!(
            out,
            "fn {p}_influence_count(i: u32) -> u32 {{
    if (i >= {vertices}u) {{ return 0u; }}
    return (read_given_{p}_influences(i + 1u) - read_given_{p}_influences(i)) / 2u;
}}
fn {p}_influence_joint(i: u32, k: u32) -> u32 {{
    if (k >= {p}_influence_count(i)) {{ return 0u; }}
    return read_given_{p}_influences(read_given_{p}_influences(i) + 2u * k);
}}
fn {p}_influence_weight(i: u32, k: u32) -> f32 {{
    if (k >= {p}_influence_count(i)) {{ return 0.0; }}
    return bitcast<f32>(read_given_{p}_influences(read_given_{p}_influences(i) + 2u * k + 1u));
}}"
        );
    }
}

fn pose_text(out: &mut String, kernel: &CustomKernel, pose: &PoseFacts) {
    let p = pose.port;
    if kernel.uses(&format!("{p}_joint_count")) {
        let _ = writeln!(out, "const {p}_joint_count: u32 = {}u;", pose.joints);
    }
    if pose.uses_matrices(kernel) {
        let _ = writeln!(
            out,
            "fn read_{p}_matrix(joint: u32) -> mat4x3f {{
    let first = 3u * min(joint, 0x3fffffffu);
    let x = read_given_{p}_matrices(first);
    let y = read_given_{p}_matrices(first + 1u);
    let z = read_given_{p}_matrices(first + 2u);
    return mat4x3f(vec3f(x.x, y.x, z.x), vec3f(x.y, y.y, z.y), vec3f(x.z, y.z, z.z), vec3f(x.w, y.w, z.w));
}}"
        );
    }
}

/// `struct Uniforms` and the functions that read it. Numbers travel as bits: a whole one may look like a float that a device
/// takes for zero.
fn parameters(out: &mut String, desc: &NodeDesc) {
    let mut fields = String::new();
    let mut functions = String::new();
    let mut at = 0;
    for p in desc.parameters {
        let field = |k: usize| format!("uniforms().given_{k}");
        let value = match p.ty {
            ParameterType::Bool => format!("{}.x != 0u", field(at)),
            ParameterType::Int { .. } => format!("bitcast<i32>({}.x)", field(at)),
            ParameterType::Float { .. } => format!("bitcast<f32>({}.x)", field(at)),
            ParameterType::Vec3 => format!("bitcast<vec3f>({}.xyz)", field(at)),
            ParameterType::Vec4 => format!("bitcast<vec4f>({})", field(at)),
            ParameterType::Int3 { .. } => format!("bitcast<vec3i>({}.xyz)", field(at)),
            _ => {
                let rows: Vec<String> = (at..at + 3)
                    .map(|k| format!("bitcast<vec4f>({})", field(k)))
                    .collect();
                format!("transpose(mat3x4f({}))", rows.join(", "))
            }
        };
        let result = parameter_type(p.ty).unwrap_or("f32");
        let _ = writeln!(
            functions,
            "fn {}() -> {result} {{ return {value}; }}",
            p.name
        );
        for k in at..at + registers(p.ty) {
            let _ = write!(fields, " given_{k}: vec4u,");
        }
        at += registers(p.ty);
    }
    let _ = write!(out, "struct Uniforms {{{fields} }}\n{functions}");
}
