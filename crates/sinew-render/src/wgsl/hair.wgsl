// Strands of hair: a ribbon for each segment, turned to the camera or the light. Points and their colours come from the CPU (hair/mod.rs).

struct Style {
    // Words before the first point: one for each segment.
    segments: u32,
    unused0: u32,
    unused1: u32,
    unused2: u32,
}

@group(1) @binding(0) var<uniform> style: Style;
// First points of segments, from back to front; then for each point: place, direction, diameter, chance of the strand, colour by the key
// light, colour by all other light.
@group(1) @binding(1) var<storage, read> words: array<u32>;

const POINT_WORDS = 14u;

struct Corner {
    @builtin(position) clip: vec4f,
    // Of the key light; opacity.
    @location(0) lit: vec4f,
    @location(1) rest: vec3f,
    @location(2) place: vec3f,
}

fn number(i: u32) -> f32 {
    return bitcast<f32>(words[i]);
}

fn vector(i: u32) -> vec3f {
    return vec3f(number(i), number(i + 1u), number(i + 2u));
}

// First word of the point at this corner of a ribbon.
fn point_of(index: u32) -> u32 {
    let k = index % 6u;
    let is_end = u32(k == 1u || k == 2u || k == 4u);
    return style.segments + POINT_WORDS * (words[index / 6u] + is_end);
}

// The corner of a ribbon of this width that faces `towards`.
fn place_of(index: u32, point: u32, towards: vec3f, width: f32) -> vec3f {
    let k = index % 6u;
    let is_left = k == 2u || k == 4u || k == 5u;
    let side = cross(vector(point + 3u), towards);
    let length = max(length(side), 1e-6);
    return vector(point) + side * (select(-0.5, 0.5, is_left) * width / length);
}

// Height of a pixel at a place, metres.
fn pixel_at(place: vec3f) -> f32 {
    let depth = select(dot(view.eye - place, view.backward), 1.0, view.is_orthographic == 1u);
    return 2.0 * view.half_height * max(depth, 0.0) / view.size.y;
}

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    let point = point_of(index);
    let diameter = number(point + 6u);
    let width = max(diameter, pixel_at(vector(point)));
    var out: Corner;
    out.place = place_of(index, point, to_camera(vector(point)), width);
    out.clip = clip_of(out.place);
    out.lit = vec4f(vector(point + 8u), clamp(diameter / max(width, 1e-12), 0.0, 1.0));
    out.rest = vector(point + 11u);
    return out;
}

@fragment
fn color(c: Corner) -> @location(0) vec4f {
    let light = key_light_at(c.place, view.lights[0].direction);
    return vec4f(shouldered(c.rest + c.lit.rgb * light), 1.0) * c.lit.a;
}

// Thin strands are as wide as a texel. The part of them that casts a shadow is the part of the texel that each would cover.
@vertex
fn shadow_corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let point = point_of(index);
    let diameter = number(point + 6u);
    let width = max(diameter, view.shadow_texel);
    let place = place_of(index, point, view.lights[0].direction, width);
    let casts = number(point + 7u) * width < diameter;
    return select(vec4f(2.0, 2.0, 2.0, 1.0), view.shadow_from_scene * vec4f(place, 1.0), casts);
}

@fragment
fn shadow() {}
