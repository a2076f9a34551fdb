struct Octave {
    shift: vec3f,
    frequency: f32,
    cell: vec3u,
    amplitude: f32,
}

struct Uniforms {
    octaves: array<Octave, 16>,
    // Unit axes of the local frame, the chosen one first.
    directions: mat3x3f,
    octave_count: u32,
    seed: u32,
    weight: f32,
    mask_invert: u32,
}

// Hash of Jarzynski and Olano, "Hash Functions for GPU Rendering", 2020.
fn pcg4d(given: vec4u) -> vec4u {
    var v = given * 1664525u + 1013904223u;
    v.x += v.y * v.w;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v.w += v.y * v.z;
    v ^= v >> vec4u(16u);
    v.x += v.y * v.w;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v.w += v.y * v.z;
    return v;
}

// Product of `p` and one of Perlin's twelve gradients.
fn gradient(h: u32, p: vec3f) -> f32 {
    let u = select(p.y, p.x, h < 8u);
    let v = select(select(p.z, p.x, h == 12u || h == 14u), p.y, h < 4u);
    return select(-u, u, (h & 1u) == 0u) + select(-v, v, (h & 2u) == 0u);
}

fn corner(cell: vec3u, seed: u32, fraction: vec3f, step: vec3u) -> vec3f {
    let hash = pcg4d(vec4u(cell + step, seed)) >> vec4u(28u);
    let p = fraction - vec3f(step);
    return vec3f(gradient(hash.x, p), gradient(hash.y, p), gradient(hash.z, p));
}

// Three noises (Perlin 2002) of one lattice.
fn lattice_noise(cell: vec3u, seed: u32, f: vec3f) -> vec3f {
    let t = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    let a = mix(corner(cell, seed, f, vec3u(0u, 0u, 0u)), corner(cell, seed, f, vec3u(1u, 0u, 0u)), t.x);
    let b = mix(corner(cell, seed, f, vec3u(0u, 1u, 0u)), corner(cell, seed, f, vec3u(1u, 1u, 0u)), t.x);
    let c = mix(corner(cell, seed, f, vec3u(0u, 0u, 1u)), corner(cell, seed, f, vec3u(1u, 0u, 1u)), t.x);
    let d = mix(corner(cell, seed, f, vec3u(0u, 1u, 1u)), corner(cell, seed, f, vec3u(1u, 1u, 1u)), t.x);
    return mix(mix(a, b, t.y), mix(c, d, t.y), t.z);
}

fn kernel(index: u32) {
    let u = uniforms();
    let p = read_mesh_positions(index);
    let w = masked_weight(index, u.weight, u.mask_invert);
    if (!IS_ACTIVE || w == 0.0) {
        write_mesh_positions(index, p);
        return;
    }
    let local = read_local(index);
    var sum = vec3f(0.0);
    for (var k = 0u; k < u.octave_count; k++) {
        let octave = u.octaves[k];
        let x = clamp(local * octave.frequency + octave.shift, vec3f(-1e9), vec3f(1e9));
        let below = floor(x);
        let cell = bitcast<vec3u>(vec3i(below)) + octave.cell;
        sum += lattice_noise(cell, u.seed + k * 0x9e3779b9u, x - below) * octave.amplitude;
    }
    var step = u.directions[0] * sum.x;
    if (ALONG_NORMAL) {
        step = read_mesh_normals(index) * sum.x;
    }
    if (IS_FREE) {
        step = u.directions * sum;
    }
    write_mesh_positions(index, p + step * w);
}
