//! Kernels on the CPU, against closed forms and the tables of the WGSL specification.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use sinew_wgsl::{
    CpuAccess, CpuBuffers, CpuProgram, KernelErrors, ModuleBuilder, ModuleOptions, Snippet,
};

const ACCESSORS: &str = "
fn sinew_read(i: u32) -> u32 { return 0u; }
fn sinew_read3(i: u32) -> vec3f { return vec3f(); }
fn sinew_write(i: u32, v: u32) { }
fn sinew_add(i: u32, v: u32) { }
fn sinew_least(i: u32, v: i32) { }
fn sinew_least_unsigned(i: u32, v: u32) { }
fn sinew_greatest(i: u32, v: i32) { }
fn sinew_greatest_unsigned(i: u32, v: u32) { }";

/// A kernel that reads words with `read`, vectors of three floats of the same buffer with `read3`, writes words with `write`, adds
/// to them with `add`, and makes them smaller or larger with `least` and `greatest`.
pub(crate) fn program(text: &str) -> Result<CpuProgram, KernelErrors> {
    let snippet = Snippet::parse("k.wgsl", text)?;
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let renames = [
        ("read", "sinew_read"),
        ("read3", "sinew_read3"),
        ("write", "sinew_write"),
        ("add", "sinew_add"),
        ("least", "sinew_least"),
        ("least_unsigned", "sinew_least_unsigned"),
        ("greatest", "sinew_greatest"),
        ("greatest_unsigned", "sinew_greatest_unsigned"),
    ];
    let entry = builder.add(&snippet, "sinew_k_", &renames)?;
    builder.declare("accessors", ACCESSORS);
    let accesses = [
        ("sinew_read", CpuAccess::Read { buffer: 0 }),
        ("sinew_read3", CpuAccess::Read { buffer: 0 }),
        ("sinew_write", CpuAccess::Write { buffer: 0 }),
        ("sinew_add", CpuAccess::Add { buffer: 0 }),
        ("sinew_least", CpuAccess::Min { buffer: 0 }),
        ("sinew_least_unsigned", CpuAccess::Min { buffer: 0 }),
        ("sinew_greatest", CpuAccess::Max { buffer: 0 }),
        ("sinew_greatest_unsigned", CpuAccess::Max { buffer: 0 }),
    ];
    let accesses: BTreeMap<String, CpuAccess> = accesses
        .map(|(name, access)| (name.to_owned(), access))
        .into();
    CpuProgram::new(&builder.finish()?, &entry.unwrap_or_default(), &accesses)
}

/// Runs a kernel for index 0 on these words; gives the words that it wrote.
#[track_caller]
fn run(text: &str, words: &[u32], written: usize) -> Vec<u32> {
    let program = program(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let out: Vec<AtomicU32> = (0..written).map(|_| AtomicU32::new(0)).collect();
    let buffers = CpuBuffers {
        read: &[words],
        written: &[&out],
    };
    program.run(&mut program.registers(), 0, &buffers);
    out.iter().map(|w| w.load(Ordering::Relaxed)).collect()
}

/// Floats that statements leave in `r`, an array of as many floats. `a`, `b` and `c` are 0.5, 2 and -3, hidden from the compiler.
#[track_caller]
fn floats(statements: &str, expected: &[f64]) {
    let count = expected.len();
    let text = format!(
        "fn kernel(index: u32) {{
let a = bitcast<f32>(read(0u)); let b = bitcast<f32>(read(1u)); let c = bitcast<f32>(read(2u));
var r: array<f32, {count}>;
{statements}
for (var i = 0u; i < {count}u; i++) {{ write(i, bitcast<u32>(r[i])); }}
}}"
    );
    let words = [0.5_f32, 2.0, -3.0].map(f32::to_bits);
    let found: Vec<f32> = run(&text, &words, count)
        .into_iter()
        .map(f32::from_bits)
        .collect();
    for (found, expected) in found.iter().zip(expected) {
        // Half a unit in the last place for each of a few roundings.
        let near = (f64::from(*found) - expected).abs() <= 4e-7 * expected.abs().max(1e-3);
        let same = near || found.is_nan() && expected.is_nan() || f64::from(*found) == *expected;
        assert!(same, "{statements}: {found} is not {expected}");
    }
}

/// Words that expressions give, one after the other. `i` is 5, `n` is -5 as a signed number, `z` is 0.
#[track_caller]
fn words(expressions: &[(&str, u32)]) {
    let lines: Vec<String> = (0..)
        .zip(expressions)
        .map(|(at, (e, _))| format!("write({at}u, bitcast<u32>({e}));"))
        .collect();
    let text = format!(
        "let i = read(0u); let n = bitcast<i32>(read(1u)); let z = read(2u); let f = bitcast<f32>(read(3u));
{}",
        lines.join("\n")
    );
    let given = [5, (-5_i32).cast_unsigned(), 0, 2.5_f32.to_bits()];
    let found = run(&text, &given, expressions.len());
    for ((expression, expected), found) in expressions.iter().zip(found) {
        assert_eq!(found, *expected, "{expression}: {found:#x} {expected:#x}");
    }
}

#[test]
fn functions_of_one_float() {
    floats(
        "r[0] = abs(c); r[1] = saturate(b); r[2] = saturate(c); r[3] = sign(c);",
        &[3.0, 1.0, 0.0, -1.0],
    );
    floats(
        "r[0] = cos(a); r[1] = sin(a); r[2] = tan(a); r[3] = cosh(a); r[4] = sinh(a); r[5] = tanh(a);",
        &[
            0.5_f64.cos(),
            0.5_f64.sin(),
            0.5_f64.tan(),
            1.127_625_965_206_380_8,
            0.521_095_305_493_747_4,
            0.462_117_157_260_009_8,
        ],
    );
    let third = std::f64::consts::FRAC_PI_3;
    floats(
        "r[0] = acos(a); r[1] = asin(a); r[2] = atan(b); r[3] = atan2(c, a); r[4] = asinh(b); r[5] = acosh(b); r[6] = atanh(a);",
        &[
            third,
            third / 2.0,
            1.107_148_717_794_090_5,
            -1.405_647_649_380_269_8,
            1.443_635_475_178_810_3,
            1.316_957_896_924_816_7,
            0.549_306_144_334_054_8,
        ],
    );
    floats(
        "r[0] = radians(b); r[1] = degrees(a);",
        &[std::f64::consts::PI / 90.0, 90.0 / std::f64::consts::PI],
    );
    floats(
        "let x = c + 0.25; r[0] = ceil(x); r[1] = floor(x); r[2] = trunc(x); r[3] = fract(x); r[4] = round(b + 0.5); r[5] = round(b + 1.5);",
        &[-2.0, -3.0, -2.0, 0.25, 2.0, 4.0],
    );
    floats(
        "r[0] = exp(b); r[1] = exp2(c); r[2] = log(b); r[3] = log2(a); r[4] = sqrt(b); r[5] = inverseSqrt(b * b);",
        &[
            2.0_f64.exp(),
            0.125,
            std::f64::consts::LN_2,
            -1.0,
            std::f64::consts::SQRT_2,
            0.5,
        ],
    );
    // 1/3 in sixteen bits.
    floats("r[0] = quantizeToF16(1.0 / -c);", &[0.333_251_953_125]);
}

#[test]
fn functions_of_several_floats() {
    floats(
        "r[0] = min(b, c); r[1] = max(b, c); r[2] = clamp(c, a, b); r[3] = clamp(a, c, b); r[4] = pow(b, c); r[5] = pow(c, b);",
        &[-3.0, 2.0, 0.5, 0.5, 0.125, f64::NAN],
    );
    floats(
        "r[0] = fma(a, b, c); r[1] = mix(b, c, a); r[2] = step(a, b); r[3] = step(b, a); r[4] = smoothstep(c, b, a); r[5] = ldexp(a, 3);",
        // (0.5 + 3) / 5 is 0.7: 3 * 0.49 - 2 * 0.343.
        &[-2.0, -0.5, 1.0, 0.0, 0.784, 4.0],
    );
    floats(
        "let m = modf(c - a); r[0] = m.fract; r[1] = m.whole; let e = frexp(c); r[2] = e.fract; r[3] = f32(e.exp);
let v = frexp(vec3f(a, 1e-40, 0.0)); r[4] = v.fract.x; r[5] = f32(v.exp.x); r[6] = v.fract.z; r[7] = f32(v.exp.z);",
        &[-0.5, -3.0, -0.75, 2.0, 0.5, 0.0, 0.0, 0.0],
    );
    floats(
        "r[0] = (b - a) % a; r[1] = c % b; r[2] = -c % b; r[3] = c / 0.0 * a;",
        &[0.0, -1.0, 1.0, f64::NEG_INFINITY],
    );
}

#[test]
fn geometry() {
    floats(
        "let v = vec3f(a, b, c); let w = vec3f(1.0, -b, a); r[0] = dot(v, w); r[1] = length(v); r[2] = distance(v, w); r[3] = length(c);
let x = cross(v, w); r[4] = x.x; r[5] = x.y; r[6] = x.z; r[7] = distance(a, b);",
        &[-5.0, 13.25_f64.sqrt(), (0.25_f64 + 16.0 + 12.25).sqrt(), 3.0, 1.0 - 6.0, -3.0 - 0.25, -1.0 - 2.0, 1.5],
    );
    floats(
        "let n = normalize(vec2f(-c, 2.0 * b)); r[0] = n.x; r[1] = n.y;
let f = faceForward(vec2f(a, b), vec2f(1.0, 0.0), vec2f(a, b)); r[2] = f.x; r[3] = f.y;
let m = reflect(vec2f(a, c), vec2f(0.0, 1.0)); r[4] = m.x; r[5] = m.y;
let s = 0.70710678; let t = refract(vec2f(s, -s), vec2f(0.0, 1.0), a); r[6] = t.x; r[7] = t.y;
let none = refract(vec2f(s, -s), vec2f(0.0, 1.0), b); r[8] = none.x; r[9] = none.y;",
        // Snell: sine 0.7071 becomes 0.35355.
        &[
            0.6,
            0.8,
            -0.5,
            -2.0,
            0.5,
            3.0,
            0.125_f64.sqrt(),
            -(0.875_f64.sqrt()),
            0.0,
            0.0,
        ],
    );
}

#[test]
fn matrices() {
    floats(
        "let m = mat2x3f(vec3f(a, b, c), vec3f(1.0, 2.0, 3.0)); let p = m * vec2f(2.0, -1.0); r[0] = p.x; r[1] = p.y; r[2] = p.z;
let q = vec3f(1.0, 0.0, 2.0) * m; r[3] = q.x; r[4] = q.y; let t = transpose(m); r[5] = t[2].x; r[6] = t[0].y;
let s = (m + m - m) * 2.0; r[7] = s[1].z;",
        &[0.0, 2.0, -9.0, -5.5, 7.0, -3.0, 1.0, 6.0],
    );
    floats(
        "let m = mat3x2f(1.0, a, b, c, 0.0, 1.0) * mat2x3f(1.0, 2.0, b, 0.0, a, 1.0); r[0] = m[0].x; r[1] = m[0].y; r[2] = m[1].x; r[3] = m[1].y;",
        // Columns (1, 0.5), (2, -3), (0, 1): 1 + 4 + 0, 0.5 - 6 + 2, 0 + 1 + 0, 0 - 1.5 + 1.
        &[5.0, -3.5, 1.0, -0.5],
    );
    floats(
        "r[0] = determinant(mat2x2f(a, b, c, 1.0)); r[1] = determinant(mat3x3f(b, 0.0, 0.0, 0.0, c, a, 1.0, b, 1.0));
r[2] = determinant(mat4x4f(0.0, b, 0.0, 0.0, c, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, a, 1.0, 2.0, 1.0, 4.0));",
        // The third column has one number.
        &[6.5, 2.0 * (-3.0 - 1.0), 2.0 * -3.0 * 0.5],
    );
}

#[test]
fn integers() {
    words(&[
        ("i + 0xffffffffu", 4),
        ("n - 2147483647 - 2", 0x8000_0000_u32.wrapping_sub(6)),
        ("i * 0x80000001u", 0x8000_0005),
        ("i / z", 5),
        ("i % z", 0),
        ("n / i32(z)", (-5_i32).cast_unsigned()),
        ("n % i32(z)", 0),
        ("(n + 5 - 2147483647 - 1) / (n + 4)", 0x8000_0000),
        ("(n + 5 - 2147483647 - 1) % (n + 4)", 0),
        ("n / 2", (-2_i32).cast_unsigned()),
        ("n % 3", (-2_i32).cast_unsigned()),
        ("i << (i + 28u)", 10),
        ("n >> 1u", (-3_i32).cast_unsigned()),
        ("0xf0000000u >> i", 0x0780_0000),
        ("~i", !5),
        ("-n", 5),
        ("(i & 6u) | (i ^ 0x10u)", 0x15),
        ("u32(i < 6u && n < 0)", 1),
        ("u32(i >= 6u || n != -5)", 0),
        ("u32(!(i <= 5u))", 0),
        ("abs(n)", 5),
        ("sign(n)", u32::MAX),
        ("min(n, 3)", (-5_i32).cast_unsigned()),
        ("max(i, 3u)", 5),
        ("clamp(n, -2, 7)", (-2_i32).cast_unsigned()),
        ("clamp(i, 6u, 7u)", 6),
        ("dot(vec3i(n), vec3i(1, 2, 3))", (-30_i32).cast_unsigned()),
    ]);
}

#[test]
fn conversions() {
    words(&[
        ("i32(-f)", (-2_i32).cast_unsigned()),
        ("u32(-f)", 0),
        ("i32(f * 1e20)", 2_147_483_520),
        ("i32(f * -1e20)", 0x8000_0000),
        ("u32(f * 1e20)", 4_294_967_040),
        ("i32(log(-f))", 0),
        ("f32(n)", (-5.0_f32).to_bits()),
        ("f32(i)", 5.0_f32.to_bits()),
        ("f32(i > 4u)", 1.0_f32.to_bits()),
        ("u32(bool(f)) + u32(bool(z)) + 2u * u32(bool(n))", 3),
        ("i32(i + 0xfffffff0u)", 0xffff_fff5),
        ("bitcast<f32>(i)", 5),
        ("select(1u, 2u, i == 5u)", 2),
        (
            "select(vec2u(1u, 2u), vec2u(3u, 4u), vec2<bool>(i == 4u, i == 5u)).y",
            4,
        ),
        (
            "u32(all(vec2<bool>(i == 4u, i == 5u))) + 2u * u32(any(vec2<bool>(i == 4u, i == 5u)))",
            2,
        ),
    ]);
}

#[test]
fn bits() {
    words(&[
        ("countTrailingZeros(i * 8u)", 3),
        ("countTrailingZeros(z)", 32),
        ("countLeadingZeros(i)", 29),
        ("countLeadingZeros(n)", 0),
        ("countOneBits(n)", 31),
        ("reverseBits(i)", 0xa000_0000),
        ("firstTrailingBit(i * 4u)", 2),
        ("firstTrailingBit(z)", u32::MAX),
        ("firstLeadingBit(i)", 2),
        ("firstLeadingBit(z)", u32::MAX),
        ("firstLeadingBit(n)", 2),
        ("firstLeadingBit(n + 4)", u32::MAX),
        ("extractBits(i * 16u, 4u, 2u)", 1),
        ("extractBits(n, 0u, 4u)", (-5_i32).cast_unsigned()),
        ("extractBits(n, 0u, 3u)", 3),
        ("extractBits(n, 28u, 99u)", u32::MAX),
        ("extractBits(i, 40u, 3u)", 0),
        ("insertBits(0xffffffffu, i, 4u, 4u)", 0xffff_ff5f),
        ("insertBits(i, 7u, 0u, z)", 5),
        ("insertBits(z, i, 31u, 9u)", 0x8000_0000),
        ("dot4I8Packed(0x01ff0203u, 0x02020202u)", 10),
        (
            "dot4U8Packed(0x01ff0203u, 0x02020202u + z)",
            2 * (1 + 255 + 2 + 3),
        ),
    ]);
}

#[test]
fn packing() {
    words(&[
        ("pack4x8snorm(vec4f(1.0, -1.0, 0.0, f))", 0x7f00_817f),
        ("pack4x8unorm(vec4f(1.0, 0.5, -f, f))", 0xff00_80ff),
        ("pack2x16snorm(vec2f(-f, 0.5))", 0x4000_8001),
        ("pack2x16unorm(vec2f(f, 0.25))", 0x4000_ffff),
        ("pack2x16float(vec2f(f, -2.0))", 0xc000_4100),
        ("pack4xI8(vec4i(n, 1, 2, 300))", 0x2c02_01fb),
        ("pack4xU8(vec4u(i, 1u, 2u, 300u))", 0x2c02_0105),
        ("pack4xI8Clamp(vec4i(n, 1, -300, 300))", 0x7f80_01fb),
        ("pack4xU8Clamp(vec4u(i, 1u, 2u, 300u))", 0xff02_0105),
        ("unpack4x8snorm(0x7f00817fu + z).y", (-1.0_f32).to_bits()),
        ("unpack4x8unorm(0xff0080ffu + z).w", 1.0_f32.to_bits()),
        ("unpack2x16snorm(0x80008001u + z).y", (-1.0_f32).to_bits()),
        ("unpack2x16unorm(0xffffu + z).x", 1.0_f32.to_bits()),
        ("unpack2x16float(0xc0004100u + z).x", 2.5_f32.to_bits()),
        ("unpack4xI8(0x2c0201fbu + z).x", (-5_i32).cast_unsigned()),
        ("unpack4xU8(0x2c0201fbu + z).x", 251),
    ]);
}

#[test]
fn control_flow() {
    // Primes below 100: 25.
    let text = "
fn is_prime(n: u32) -> bool {
    if n < 2u { return false; }
    for (var d = 2u; d * d <= n; d++) { if n % d == 0u { return false; } }
    return true;
}
fn kind(n: u32) -> u32 {
    switch n % 7u {
        case 0u, 3u: { return 10u; }
        case 1u: { if n > 20u { break; } return 20u; }
        default: { return 30u; }
        case 5u: { }
    }
    return 40u;
}
fn kernel(index: u32) {
    var count = 0u;
    for (var n = 0u; n < 100u; n++) { if !is_prime(n) { continue; } count += 1u; }
    write(0u, count);
    write(1u, kind(7u) + kind(10u) * 100u);
    write(2u, kind(8u)); write(3u, kind(22u)); write(4u, kind(9u)); write(5u, kind(12u));
    var i = 0u; var sum = 0u;
    loop { if i == 4u { i += 2u; continue; } if i > 8u { break; } sum = sum * 10u + i; continuing { i += 1u; } }
    write(6u, sum);
    var turns = 0u;
    loop { turns += 1u; continuing { break if turns == 5u; } }
    while turns < 8u { turns += 2u; var fresh: u32; fresh += turns; write(8u, fresh); }
    write(7u, turns);
}";
    let found = run(text, &[], 9);
    assert_eq!(found, [25, 1010, 20, 40, 30, 40, 12_378, 9, 9]);
}

#[test]
fn variables_pointers_and_structures() {
    let text = "
struct Pair { a: array<vec2u, 3>, b: u32 }
var<private> total: u32 = 7u;
var<private> table: array<u32, 4>;
const SQUARES = array(0u, 1u, 4u, 9u, 16u);
fn bump(p: ptr<function, u32>, by: u32) -> u32 { *p += by; return *p; }
fn fill(p: ptr<function, array<vec2u, 3>>, at: u32) { (*p)[at].y = at; (*p)[at][0] = 2u * at; }
fn count(p: ptr<private, u32>) { *p = *p + 1u; }
fn make(b: u32) -> Pair { var out: Pair; out.b = b; fill(&out.a, 2u); return out; }
fn kernel(index: u32) {
    var x = 3u;
    write(0u, bump(&x, 4u) * 10u + bump(&x, 1u));
    let pair = make(read(0u));
    write(1u, pair.a[2].x * 100u + pair.a[2].y * 10u + pair.b);
    let other = make(pair.b + 1u);
    write(2u, pair.b * 10u + other.b);
    count(&total); table[read(0u)] = total; write(3u, table[5] + table[read(0u)]);
    write(4u, SQUARES[read(0u) - 2u]);
    var v = vec4u(1u, 2u, 3u, 4u); v[read(0u) - 4u] = 9u; write(5u, v.y * 10u + v.wzy.y);
    var m = mat2x2f(); m[1][read(0u)] = 2.0; write(6u, u32(m[1].y));
}";
    // Indices outside are those of the last element.
    let text = text.replace("table[5]", "table[read(1u)]");
    let found = run(&text, &[5, 1], 7);
    assert_eq!(found, [78, 425, 56, 8, 9, 93, 2]);
    // The second run starts from the same private variables.
    let program = program(&text).expect("valid");
    let mut registers = program.registers();
    for _ in 0..2 {
        let out: Vec<AtomicU32> = (0..7).map(|_| AtomicU32::new(0)).collect();
        let buffers = CpuBuffers {
            read: &[&[5, 1]],
            written: &[&out],
        };
        program.run(&mut registers, 0, &buffers);
        assert_eq!(out[3].load(Ordering::Relaxed), 8);
    }
}

#[test]
fn buffers_are_safe_at_any_index() {
    let text = "write(0u, read(2u)); write(1u, read(3u) + read(0xffffffffu)); write(9u, 1u); write(0xffffffffu, 1u);
add(2u, 5u); add(2u, 0xffffffffu); add(9u, 1u); let v = read3(0u); write(3u, bitcast<u32>(v.z)); write(4u, bitcast<u32>(read3(0x55555556u).x));";
    assert_eq!(run(text, &[1, 2, 3], 5), [3, 0, 4, 3, 0]);
}

#[test]
fn what_the_cpu_cannot_run_is_located() {
    let text = "var<workgroup> shared_words: array<u32, 4>;\nfn kernel(index: u32) {\n    write(0u, shared_words[index % 4u]);\n}";
    let errors = program(text).expect_err("workgroup memory");
    assert_eq!(
        errors.0[0].one_line(),
        "k.wgsl:3:15: the CPU cannot run this: workgroup memory; a kernel has no barriers to share it"
    );
}

/// Statements that are valid one by one, in any order: odd operands, indices far outside, nested blocks.
fn statement() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let float = prop::sample::select(vec![
        "x",
        "y",
        "v.y",
        "v.yzx.x",
        "r[u]",
        "m[u][u]",
        "(x + 1e38)",
        "(y - y)",
        "-1.5",
        "f32(i)",
        "bitcast<f32>(u)",
        "s.b.z",
        "log(x)",
        "pow(x, y)",
        "dot(v, v)",
        "x % y",
        "frexp(x).fract",
        "determinant(m)",
        "unpack2x16float(u).y",
    ]);
    let whole = prop::sample::select(vec![
        "u",
        "read(u)",
        "0u",
        "(u | 0xfffffff0u)",
        "(7u + 0u * u)",
        "w[u]",
        "u32(x)",
        "u32(i)",
        "u << w[2]",
        "u / w[1]",
        "u % read(1u)",
        "countOneBits(u)",
        "extractBits(u, w[0], u)",
        "pack4x8snorm(v.xyzz)",
        "bitcast<u32>(y)",
        "bitcast<u32>(firstLeadingBit(i32(u)))",
        "s.a[i]",
    ]);
    let float = move || float.clone();
    let plain =
        (float(), float(), whole.clone(), whole, 0..12).prop_map(|(a, b, p, q, kind)| match kind {
            0 => format!("x = {a} + {b};"),
            1 => format!("y = select({a} * {b}, {a} / {b}, {p} > {q});"),
            2 => format!("v = vec3f({a}, x, {b}) - v;"),
            3 => format!("v[{p}] = smoothstep({a}, x, {b});"),
            4 => format!("w[{p}] = {q};"),
            5 => format!("u = {p} ^ {q};"),
            6 => format!("i = i32({p}) / i + i32({a});"),
            7 => format!("m[{p}][{q}] = {a};"),
            8 => format!("write({p}, {q});"),
            9 => format!("add({p}, {q}); t[{p}] = t[{q}] + 1u;"),
            10 => format!("bump(&s, {p}, {a}); r[{q}] = s.b.y;"),
            _ => format!("s = make({p}, {b});"),
        });
    plain.prop_recursive(3, 24, 4, |inner| {
        (prop::collection::vec(inner, 1..4), 0..4).prop_map(|(inner, kind)| {
            let inner = inner.join("\n");
            match kind {
                0 => format!("if x > y {{ {inner} }} else {{ v = -v; {inner} }}"),
                1 => format!("switch u % 4u {{ case 1u, 2u: {{ {inner} }} case 3u: {{ break; }} default: {{ {inner} }} }}"),
                2 => format!("for (var k = 0u; k < u % 5u; k++) {{ if k == w[0] {{ continue; }} {inner} }}"),
                _ => format!("loop {{ {inner} if x > 1.0 {{ break; }} continuing {{ u += 1u; break if u > 3u; }} }}"),
            }
        })
    })
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    /// Whatever a valid kernel computes, it ends without a panic, and twice with the same words.
    #[test]
    fn odd_kernels_run(statements in proptest::collection::vec(statement(), 1..12)) {
        let body = statements.join("\n");
        let text = format!("struct S {{ a: array<u32, 3>, b: vec3f }}
var<private> t: array<u32, 5>;
fn bump(s: ptr<function, S>, at: u32, by: f32) {{ (*s).a[at] += u32(by); (*s).b[at] *= by; }}
fn make(a: u32, b: f32) -> S {{ return S(array(a, 1u, a), vec3f(b)); }}
fn kernel(index: u32) {{
var x = 1.5; var y = -2.0; var v = vec3f(1.0, 2.0, 3.0); var r: array<f32, 4>; var m = mat3x3f();
var u = 3u; var i = -4; var w = array(1u, 2u, 3u); var s: S;
{body}
write(0u, u ^ bitcast<u32>(i)); write(1u, bitcast<u32>(x + v.x));
}}");
        let snippet = Snippet::parse("k.wgsl", &text).expect("parses");
        let mut inserted = snippet.loop_counters("turns");
        inserted.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let mut counted = text;
        inserted.into_iter().for_each(|(at, more)| counted.insert_str(at, &more));
        counted += "\nvar<private> turns: u32 = 500u;";
        let program = program(&counted).unwrap_or_else(|e| panic!("{counted}\n{e}"));
        let words = || {
            let out: Vec<AtomicU32> = (0..5).map(|_| AtomicU32::new(0)).collect();
            let buffers = CpuBuffers { read: &[&[1, 0, 3]], written: &[&out] };
            program.run(&mut program.registers(), 0, &buffers);
            out.into_iter().map(AtomicU32::into_inner).collect::<Vec<_>>()
        };
        assert_eq!(words(), words());
    }
}

/// Words begin as zero. The sign bit makes a signed integer small and an unsigned one large.
#[test]
fn minima_and_maxima_follow_the_type() {
    let text = "fn kernel(index: u32) {
least(0u, 3); least(0u, -5); least(0u, -4); greatest(1u, -7); greatest(1u, 6); greatest(1u, 2);
greatest_unsigned(2u, 5u); greatest_unsigned(2u, 0x80000001u); greatest_unsigned(2u, 7u); greatest(3u, bitcast<i32>(0x80000001u));
write(4u, 0xfffffff0u); least_unsigned(4u, 0xffffffffu); write(5u, 0xfffffff0u); least_unsigned(5u, 9u); least(99u, -1); }";
    let minus_5 = (-5_i32).cast_unsigned();
    assert_eq!(
        run(text, &[], 6),
        [minus_5, 6, 0x8000_0001, 0, 0xffff_fff0, 9]
    );
}
