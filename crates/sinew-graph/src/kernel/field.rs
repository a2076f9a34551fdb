//! Functions that look up fields: the look-ups of `collide` and `hair_sim`, with the words of each linked field.

use super::CustomKernel;
use super::text::TAKEN_PREFIX;
use sinew_deform::PortType;
use sinew_deform::sdf::FIELD_WGSL;
use sinew_wgsl::Snippet;
use sinew_wgsl::tokens::{TokenKind, tokenize};
use std::fmt::Write;

/// The functions of all fields that the kernel looks up.
pub(super) fn fields(out: &mut String, kernel: &CustomKernel) {
    let ports = kernel.desc().inputs.iter();
    let fields = ports.filter(|p| p.ty == PortType::Field).map(|p| p.name);
    let uses = |name: &&str| {
        ["sample", "gradient"]
            .iter()
            .any(|verb| kernel.uses(&format!("{verb}_{name}")))
    };
    let fields: Vec<&str> = fields.filter(uses).collect();
    if fields.is_empty() {
        return;
    }
    out.push_str(&reserved(FIELD_WGSL));
    let [mut word, mut rows] = [const { String::new() }; 2];
    for (place, name) in fields.iter().enumerate() {
        let _ = write!(word, " case {place}u: {{ return read_{name}(at); }}");
        let pair = |of: char| format!("read_{name}(at.{of}), read_{name}(at.{of} + 1u)");
        let [x, y, z, w] = ['x', 'y', 'z', 'w'].map(pair);
        let _ = write!(
            rows,
            " case {place}u: {{ return given_Rows(vec4u({x}, {y}), vec4u({z}, {w})); }}"
        );
        lookup(out, place, name);
    }
    let _ = writeln!(
        out,
        "fn given_field_word(f: u32, at: u32) -> u32 {{ switch f {{{word} default: {{ return 0u; }} }} }}
fn given_field_rows(f: u32, at: vec4u) -> given_Rows {{ switch f {{{rows} default: {{ return given_Rows(vec4u(), vec4u()); }} }} }}"
    );
}

/// `sample_NAME` and `gradient_NAME`. The header of a field has its frame: field point = scale * rotation * scene point + translation.
fn lookup(out: &mut String, place: usize, name: &str) {
    let word = |at: usize| format!("read_{name}({at}u)");
    let float = |at: usize| format!("bitcast<f32>({})", word(at));
    let words = |at: usize| format!("vec3u({}, {}, {})", word(at), word(at + 1), word(at + 2));
    let floats = |at: usize| format!("bitcast<vec3f>({})", words(at));
    // The rows of the rotation are columns here: `p * rows` rotates, and `rows * v` rotates back.
    let rows = [1, 4, 7].map(floats).join(", ");
    let starts = [21, 22, 23, 24].map(word).join(", ");
    let (kind, scale, translation) = (word(0), float(13), floats(10));
    let (bricks, origin, cell) = (words(18), floats(14), float(17));
    let _ = writeln!(
        out,
        "fn given_0_lookup_{name}(p: vec3f) -> vec4f {{
    let kind = {kind};
    if (kind == 0u) {{ return vec4f(0.0, 0.0, 0.0, given_FAR); }}
    let unit = 1.0 / {scale};
    let rows = mat3x3f({rows});
    let f = given_Field({place}u, kind, {starts}, {bricks}, {origin}, {cell}, unit);
    let found = given_field_sample(f, p * rows + {translation} * unit);
    return vec4f(rows * found.xyz, found.w);
}}
fn sample_{name}(p: vec3f) -> f32 {{ return given_0_lookup_{name}(p).w; }}
fn gradient_{name}(p: vec3f) -> vec3f {{ return given_0_lookup_{name}(p).xyz; }}"
    );
}

/// A text whose declarations, and the functions that it needs, have names that are reserved for generated code.
fn reserved(text: &str) -> String {
    let library = Snippet::parse_library("", text);
    let declared = library.as_ref().map(Snippet::declared);
    let mut names: Vec<&str> = declared.into_iter().flatten().map(|d| d.name).collect();
    names.extend(["field_word", "field_rows"]);
    let (mut out, mut copied) = (String::new(), 0);
    for token in tokenize(text) {
        if token.kind == TokenKind::Name && names.contains(&token.text(text)) {
            out.push_str(&text[copied..token.start]);
            out.push_str(TAKEN_PREFIX);
            copied = token.start;
        }
    }
    out.push_str(&text[copied..]);
    out
}
