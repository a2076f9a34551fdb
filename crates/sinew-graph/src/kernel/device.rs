//! A kernel's text as executors run it: the user's own text, followed by the functions of its pins.

use super::bound::{MeshFacts, PoseFacts};
use super::given::parameter_type;
use super::text::TAKEN_PREFIX;
use super::written;
use super::{CustomKernel, KernelBuffer};
use sinew_deform::{MAX_ITERATIONS, MeshAttribute, NodeDesc, ParameterType};
use sinew_wgsl::Snippet;
use sinew_wgsl::tokens::{TokenKind, tokenize};
use std::fmt::Write;

/// Iterations that all loops of a kernel may take for a whole mesh, divided evenly among its elements.
const MOST_TURNS_OF_MESH: u64 = 1 << 34;
/// Iterations that each element may take for any size of mesh.
const LEAST_TURNS: u64 = 1 << 12;

/// Iterations for each of `elements`.
fn turns(elements: usize) -> u64 {
    let share = MOST_TURNS_OF_MESH / (elements as u64).max(1);
    share.clamp(LEAST_TURNS, u32::MAX.into())
}

/// Registers of 16 bytes that a parameter takes among the uniforms.
pub(super) fn registers(ty: ParameterType) -> usize {
    match ty {
        ParameterType::Transform => 3,
        _ => 1,
    }
}

/// The whole text, for a launch over that many elements.
pub(super) fn text(
    kernel: &CustomKernel,
    elements: usize,
    meshes: &[MeshFacts],
    poses: &[PoseFacts],
) -> String {
    let mut out = users_text(kernel, elements);
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
    super::field::fields(&mut out, kernel);
    for buffer in kernel.persistent().filter(|b| kernel.uses(&b.last())) {
        let (last, ty) = (buffer.last(), buffer.element.wgsl());
        let array = format!("{}{}", KernelBuffer::BEFORE, buffer.name);
        let _ = writeln!(
            out,
            "fn {last}(i: u32) -> {ty} {{ return read_{array}(i); }}"
        );
    }
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

/// The user's text. It first copies attributes that it may leave unwritten from the input, and it counts every loop.
fn users_text(kernel: &CustomKernel, elements: usize) -> String {
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
    let counter = format!("{TAKEN_PREFIX}turns");
    let snippet = Snippet::parse(kernel.file(), text);
    let mut inserted = snippet.map_or_else(|_| Vec::new(), |s| s.loop_counters(&counter));
    let is_counted = !inserted.is_empty();
    inserted.extend(persistent_writes(kernel));
    let prefix = if is_counted { TAKEN_PREFIX } else { "" };
    if !analysis.is_body {
        inserted.push((analysis.body_start, prologue.clone()));
        let names = tokenize(text).into_iter();
        let own = names.filter(|t| t.kind == TokenKind::Name && t.text(text) == "kernel");
        inserted.extend(own.map(|t| (t.start, prefix.to_owned())));
    }
    let text = with_inserted(text, inserted);
    let mut out = match analysis.is_body {
        true => format!("fn {prefix}kernel({index}: u32) {{{prologue}\n{text}\n}}"),
        false => text,
    };
    if is_counted {
        count_loops(&mut out, kernel.desc(), &counter, turns(elements));
    }
    out
}

/// Functions that write a persistent buffer write the array that keeps its values: what makes them do so, and before which byte it belongs.
fn persistent_writes(kernel: &CustomKernel) -> Vec<(usize, String)> {
    let text = kernel.text();
    let mut out = Vec::new();
    for buffer in kernel.persistent() {
        let verb = format!("{}_", buffer.write.verb());
        let function = format!("{verb}{}", buffer.name);
        let names = tokenize(text).into_iter();
        let calls = names.filter(|t| t.kind == TokenKind::Name && t.text(text) == function);
        out.extend(calls.map(|t| (t.start + verb.len(), KernelBuffer::NOW.to_owned())));
    }
    out
}

/// `text` with others put before some of its bytes.
fn with_inserted(text: &str, mut inserted: Vec<(usize, String)>) -> String {
    inserted.sort_by_key(|(at, _)| *at);
    let (mut out, mut copied) = (String::new(), 0);
    for (at, more) in inserted {
        let at = at.clamp(copied, text.len());
        out.push_str(&text[copied..at]);
        out.push_str(&more);
        copied = at;
    }
    out.push_str(&text[copied..]);
    out
}

/// `kernel` around the user's own function. A GPU kernel cannot return an error: positions that took too many iterations are set to NaN,
/// and readers refuse the frame. They are set as bits, because WGSL allows no NaN constant.
fn count_loops(out: &mut String, desc: &NodeDesc, counter: &str, turns: u64) {
    let marked = written(desc).filter(|(_, a)| *a == MeshAttribute::Positions);
    let mark: String = marked
        .map(|(port, a)| {
            let word = a.wgsl_name();
            format!(" write_{port}_{word}(index, vec3f(bitcast<f32>(0x7fc00000u | {counter})));")
        })
        .collect();
    let _ = write!(
        out,
        "
var<private> {counter}: u32;
fn kernel(index: u32) {{
    {counter} = min({turns}u, {MAX_ITERATIONS});
    {TAKEN_PREFIX}kernel(index);
    if ({counter} == 0u) {{{mark} }}
}}"
    );
}

fn mesh_text(out: &mut String, kernel: &CustomKernel, mesh: &MeshFacts) {
    let p = mesh.port;
    let uses = |name: &str| kernel.uses(&format!("{p}_{name}"));
    for (name, count) in [
        ("vertex_count", mesh.vertices),
        ("triangle_count", mesh.triangles),
        ("strand_count", mesh.strands),
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
    if mesh.uses_strands(kernel) {
        let strands = mesh.strands;
        let _ = writeln!(
            out,
            "fn {p}_strand_first(s: u32) -> u32 {{ return read_given_{p}_strands(min(s, {strands}u)); }}
fn {p}_strand_length(s: u32) -> u32 {{
    if (s >= {strands}u) {{ return 0u; }}
    return read_given_{p}_strands(s + 1u) - read_given_{p}_strands(s);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_meshes_share_their_turns() {
        assert_eq!(turns(0), u64::from(u32::MAX));
        assert_eq!(turns(1 << 14), 1 << 20);
        assert_eq!(turns(1 << 17), 1 << 17);
        assert_eq!(turns(usize::MAX), 1 << 12);
    }

    #[test]
    fn what_is_inserted_stands_before_its_byte() {
        let inserted = vec![
            (3, "c".to_owned()),
            (0, "a".to_owned()),
            (1, "-".to_owned()),
        ];
        assert_eq!(with_inserted("xyz", inserted), "ax-yzc");
    }
}
