// Lowest and highest corner of each character, two vectors each.
@group(0) @binding(0) var<storage, read> bounds: array<vec4f>;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) previous: vec3f,
    @location(2) normal: vec3f,
    @builtin(instance_index) character: u32,
}

struct Shown {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
    @location(1) speed: f32,
}

// From the right, a little from above.
fn seen(v: vec3f) -> vec3f {
    let turned = vec3f(0.6 * v.x - 0.8 * v.z, v.y, 0.8 * v.x + 0.6 * v.z);
    return vec3f(turned.x, 0.95 * turned.y - 0.31 * turned.z, 0.31 * turned.y + 0.95 * turned.z);
}

@vertex
fn vertex(v: Vertex) -> Shown {
    let low = bounds[2u * v.character];
    let high = bounds[2u * v.character + 1u];
    let size = length(high.xyz - low.xyz);
    // Standing on the floor, in the middle of its place, as large as the others.
    let stand = vec3f((low.x + high.x) / 2.0, low.y, (low.z + high.z) / 2.0);
    let p = seen((v.position - stand) / size);
    let place = 0.64 * (f32(v.character) - 1.0);
    var out: Shown;
    out.clip = vec4f(place + 0.8 * p.x, 1.6 * p.y - 0.55, 0.5 - 0.2 * p.z, 1.0);
    out.normal = seen(v.normal);
    out.speed = length(v.position - v.previous) / size;
    return out;
}

@fragment
fn fragment(shown: Shown) -> @location(0) vec4f {
    let light = 0.25 + 0.75 * max(dot(normalize(shown.normal), normalize(vec3f(0.3, 0.8, 0.6))), 0.0);
    let color = mix(vec3f(0.35, 0.5, 0.75), vec3f(0.9, 0.15, 0.1), clamp(40.0 * shown.speed, 0.0, 1.0));
    return vec4f(color * light, 1.0);
}
