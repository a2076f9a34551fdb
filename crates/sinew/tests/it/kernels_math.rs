//! WGSL's functions in custom kernels: the same numbers on the CPU and the GPU, within the accuracy that WGSL demands of GPUs. Closed forms of
//! the CPU are in `crates/sinew-wgsl/tests/it/cpu.rs`.

#![allow(clippy::print_stdout, reason = "tests say what they skip")]

use crate::common::{bindings, samples};
use sinew::deform::Par;
use sinew::graph::{BoundGraph, Frame, NoNesting, compile};
use sinew_gpu::GpuGraph;
use std::sync::Arc;

/// Expressions of `x` (from -2 to 2, never a whole number), `p` (from 0.1 to 1), `i`, `u` and `v`; and how far apart devices may be.
const FLOATS: [(f32, &[&str]); 2] = [
    (
        4e-6,
        &[
            "abs(x)",
            "saturate(x)",
            "ceil(x)",
            "floor(x)",
            "round(3.0 * x)",
            "fract(x)",
            "trunc(x)",
            "sign(x)",
            "sqrt(p)",
            "radians(x)",
            "degrees(x)",
            "quantizeToF16(x)",
            "min(x, p)",
            "max(x, p)",
            "clamp(x, -p, p)",
            "ldexp(x, i)",
            "fma(x, p, 0.5)",
            "mix(x, p, 0.25)",
            "step(x, 0.3)",
            "smoothstep(-1.0, 1.0, x)",
            "modf(x).fract",
            "modf(x).whole",
            "frexp(x).fract",
            "f32(frexp(x).exp)",
            "dot(v, v.zxy)",
            "cross(v, v.yzx).z",
            "length(v)",
            "distance(v, v.yzx)",
            "normalize(v).y",
            "faceForward(v, v.yzx, v.zxy).x",
            "reflect(v, vec3f(0.0, 0.0, 1.0)).z",
            "transpose(mat2x3f(v, v.yzx))[2].y",
            "determinant(mat3x3f(v, v.zxy, vec3f(p, 1.0, x)))",
            "(mat3x3f(v, v.zxy, v.yzx) * v).y",
            "(v * mat3x3f(v, v.zxy, v.yzx)).x",
            "unpack4x8snorm(u * 2654435761u).z",
            "unpack4x8unorm(u * 2654435761u).w",
            "unpack2x16snorm(u * 2654435761u).y",
            "unpack2x16unorm(u * 2654435761u).x",
            "unpack2x16float(0x3c004a00u + u).x",
            "x % p",
            "select(x, p, x > 0.0)",
            "v[u]",
        ],
    ),
    (
        2e-3,
        &[
            "sin(x)",
            "cos(x)",
            "tan(p)",
            "sinh(x)",
            "cosh(x)",
            "tanh(x)",
            "asin(p)",
            "acos(p)",
            "atan(x)",
            "atan2(x, p)",
            "asinh(x)",
            "acosh(1.0 + p)",
            "atanh(0.9 * p)",
            "exp(x)",
            "exp2(x)",
            "log(p)",
            "log2(p)",
            "pow(p, x)",
            "inverseSqrt(p)",
            "refract(normalize(v), vec3f(0.0, 0.0, 1.0), 0.5).x",
        ],
    ),
];
/// Of whole numbers: all bits are the same.
const WORDS: [&str; 31] = [
    "u / (u % 3u)",
    "u % (u % 3u)",
    "bitcast<u32>(i / (i % 2))",
    "bitcast<u32>(i % (i % 3))",
    "u << (u + 30u)",
    "bitcast<u32>(i >> u)",
    "bitcast<u32>(abs(i))",
    "bitcast<u32>(sign(i))",
    "bitcast<u32>(clamp(i, -2, 2))",
    "countTrailingZeros(u)",
    "countLeadingZeros(u)",
    "countOneBits(i) % 5",
    "reverseBits(u)",
    "firstTrailingBit(u)",
    "firstLeadingBit(u)",
    "bitcast<u32>(firstLeadingBit(i))",
    "extractBits(u * 2654435761u, u, u)",
    "bitcast<u32>(extractBits(i * 1234567, u, 7u))",
    "insertBits(u, 0xffffu, u, 5u)",
    "pack4x8snorm(v.xyzx)",
    "pack4x8unorm(v.xyzx)",
    "pack2x16snorm(v.xy)",
    "pack2x16unorm(v.zy)",
    "pack2x16float(v.xy)",
    "pack4xI8(vec4i(i))",
    "pack4xU8Clamp(vec4u(u * 20u))",
    "pack4xI8Clamp(vec4i(i * 50))",
    "bitcast<u32>(dot4I8Packed(u * 2654435761u, u))",
    "dot4U8Packed(u * 2654435761u, u)",
    "bitcast<u32>(unpack4xI8(u * 2654435761u).y)",
    "bitcast<u32>(i32(x * 3.0)) + u32(x * 3.0)",
];

fn document(expressions: &[String]) -> String {
    let count = expressions.len();
    let mut text = vec![
        "let x = (f32(index % 97u) - 48.3) / 24.0; let p = 0.1 + 0.9 * f32(index % 61u) / 60.0;"
            .to_owned(),
        "let u = index % 41u; let i = i32(index % 23u) - 11; let v = vec3f(x, p, 0.5 * x - p);"
            .to_owned(),
    ];
    let lines = expressions.iter().enumerate();
    text.extend(lines.map(|(k, e)| format!("write_out({count}u * index + {k}u, {e});")));
    serde_json::json!({
        "sinew": "1.0",
        "nodes": { "k": {
            "node": "kernel", "domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
            "outputs": { "out": { "type": "buffer", "element": "float", "count": count } }, "text": text,
        } },
        "outputs": { "out": "k" },
    })
    .to_string()
}

/// What both devices give for each vertex.
fn both(expressions: &[String]) -> Option<[Vec<f32>; 2]> {
    let gpu = sinew_gpu::test_support::gpu()?;
    let asset = samples().into_iter().find(|a| a.name == "ball")?;
    let plan = compile("test.json", &document(expressions), &NoNesting);
    let plan = Arc::new(plan.unwrap_or_else(|e| panic!("{e}")));
    let graph = BoundGraph::bind(plan.clone(), &bindings(&asset, &plan), &[], Par::Seq);
    let graph = Arc::new(graph.unwrap_or_else(|e| panic!("{e}")));
    let pose = asset.rig.rest_pose();
    let frame = Frame::default().pose(&pose);
    let mut cpu = graph.instance();
    cpu.update(&frame, Par::Seq).expect("fits");
    let of_cpu = cpu.float_output("out").expect("floats").to_vec();
    let instances = GpuGraph::new(&gpu, &graph).and_then(|g| g.instances(1));
    let mut instances = instances.unwrap_or_else(|e| panic!("{e}"));
    instances.update(&[frame]).unwrap_or_else(|e| panic!("{e}"));
    let of_gpu = instances.read_floats("out", 0).expect("reads");
    Some([of_cpu, of_gpu.expect("floats")])
}

#[test]
fn functions_of_floats_agree() {
    for (apart, expressions) in FLOATS {
        let lines: Vec<String> = expressions.iter().map(|e| (*e).to_owned()).collect();
        let Some([cpu, gpu]) = both(&lines) else {
            println!("skipped: no GPU");
            return;
        };
        assert_eq!(cpu.len(), gpu.len());
        for (at, (cpu, gpu)) in cpu.iter().zip(&gpu).enumerate() {
            let expression = expressions[at % expressions.len()];
            let vertex = at / expressions.len();
            let near = (cpu - gpu).abs() <= apart * gpu.abs().max(1.0);
            assert!(
                near,
                "{expression} at vertex {vertex}: CPU {cpu}, GPU {gpu}"
            );
        }
    }
}

#[test]
fn functions_of_whole_numbers_agree() {
    // Halves are exact as floats.
    let halves = |e: &&str| {
        [
            format!("f32(u32({e}) & 0xffffu)"),
            format!("f32(u32({e}) >> 16u)"),
        ]
    };
    let lines: Vec<String> = WORDS.iter().flat_map(halves).collect();
    let Some([cpu, gpu]) = both(&lines) else {
        println!("skipped: no GPU");
        return;
    };
    for (at, (cpu, gpu)) in cpu.iter().zip(&gpu).enumerate() {
        let (line, vertex) = (&lines[at % lines.len()], at / lines.len());
        assert_eq!(cpu, gpu, "{line} at vertex {vertex}");
    }
}
