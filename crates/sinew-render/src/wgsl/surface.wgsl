// Surfaces: triangles whose corners are fetched from the buffers that kernels wrote.

struct Surface {
    base_color: vec4f,
    // Rows of the map from texture coordinates to places in the image.
    image_from_uv: array<vec4f, 2>,
    // Linear RGB; the fourth is the width in pixels, 0 without a wireframe.
    wire: vec4f,
    value_min: f32,
    value_max: f32,
    // What a distance is multiplied with.
    value_scale: f32,
    alpha_cutoff: f32,
    has: u32,
    first_position: u32,
    first_normal: u32,
    first_color: u32,
    first_value: u32,
    unused0: u32,
    unused1: u32,
    unused2: u32,
}

const HAS_NORMALS = 1u;
const HAS_UVS = 2u;
const HAS_COLORS = 4u;

// What a pipeline is made for: drivers leave out the rest.
override paint: u32 = 0u;
override lighting: u32 = 0u;
override is_textured: bool = false;
// Whether alpha cuts holes.
override is_cut: bool = false;
override is_wired: bool = false;
// Whether what is behind shines through.
override is_translucent: bool = false;

const PAINT_PLAIN = 0u;
const PAINT_MATERIAL = 1u;
const PAINT_COLORS = 2u;
const PAINT_CHECKER = 3u;
const PAINT_VALUES = 4u;
const PAINT_DISTANCE = 5u;
const PAINT_NORMALS = 6u;

const LIGHTING_STUDIO = 0u;
const LIGHTING_SOFT = 1u;
const LIGHTING_MATCAP = 2u;
const LIGHTING_FLAT = 3u;

@group(1) @binding(0) var<uniform> surface: Surface;
@group(1) @binding(1) var<storage, read> indices: array<u32>;
@group(1) @binding(2) var<storage, read> positions: array<f32>;
@group(1) @binding(3) var<storage, read> normals: array<f32>;
@group(1) @binding(4) var<storage, read> uvs: array<f32>;
@group(1) @binding(5) var<storage, read> colors: array<f32>;
// Numbers of vertices, or positions to measure the distance to.
@group(1) @binding(6) var<storage, read> values: array<f32>;
@group(1) @binding(7) var color_map: texture_2d<f32>;
@group(1) @binding(8) var base_texture: texture_2d<f32>;
@group(1) @binding(9) var base_sampler: sampler;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) place: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) color: vec4f,
    @location(4) value: f32,
    @location(5) corner: vec3f,
    // Least and greatest value of the triangle's corners.
    @location(6) @interpolate(flat) range: vec2f,
}

fn position_of(vertex: u32) -> vec3f {
    let i = surface.first_position + 3u * vertex;
    return vec3f(positions[i], positions[i + 1u], positions[i + 2u]);
}

fn normal_of(vertex: u32) -> vec3f {
    if (surface.has & HAS_NORMALS) == 0u {
        return vec3f();
    }
    let i = surface.first_normal + 3u * vertex;
    return vec3f(normals[i], normals[i + 1u], normals[i + 2u]);
}

fn uv_of(vertex: u32) -> vec2f {
    if (surface.has & HAS_UVS) == 0u {
        return vec2f();
    }
    let uv = vec3f(uvs[2u * vertex], uvs[2u * vertex + 1u], 1.0);
    return vec2f(dot(surface.image_from_uv[0].xyz, uv), dot(surface.image_from_uv[1].xyz, uv));
}

fn color_of(vertex: u32) -> vec4f {
    if (surface.has & HAS_COLORS) == 0u {
        return vec4f(1.0);
    }
    let i = surface.first_color + 4u * vertex;
    return vec4f(colors[i], colors[i + 1u], colors[i + 2u], colors[i + 3u]);
}

fn value_of(vertex: u32) -> f32 {
    if paint == PAINT_VALUES {
        return values[surface.first_value + vertex];
    }
    if paint == PAINT_DISTANCE {
        let i = surface.first_value + 3u * vertex;
        let other = vec3f(values[i], values[i + 1u], values[i + 2u]);
        return distance(position_of(vertex), other) * surface.value_scale;
    }
    return 0.0;
}

fn range_of(triangle: u32) -> vec2f {
    if paint != PAINT_VALUES && paint != PAINT_DISTANCE {
        return vec2f();
    }
    let a = value_of(indices[3u * triangle]);
    let b = value_of(indices[3u * triangle + 1u]);
    let c = value_of(indices[3u * triangle + 2u]);
    return vec2f(min(a, min(b, c)), max(a, max(b, c)));
}

fn fetched(index: u32) -> Corner {
    let vertex = indices[index];
    var out: Corner;
    out.place = position_of(vertex);
    out.clip = clip_of(out.place);
    out.normal = normal_of(vertex);
    out.uv = uv_of(vertex);
    out.color = color_of(vertex);
    out.value = value_of(vertex);
    out.range = range_of(index / 3u);
    let k = index % 3u;
    out.corner = vec3f(f32(k == 0u), f32(k == 1u), f32(k == 2u));
    return out;
}

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    return fetched(index);
}

@vertex
fn shadow_corner(@builtin(vertex_index) index: u32) -> Corner {
    var out = fetched(index);
    out.clip = view.shadow_from_scene * vec4f(out.place, 1.0);
    return out;
}

// Linear colour and alpha before light.
fn material_color(c: Corner) -> vec4f {
    var color = surface.base_color * c.color;
    if is_textured {
        color *= textureSample(base_texture, base_sampler, c.uv);
    }
    return color;
}

// Squares of a sixteenth of the texture, redder to the right and bluer upwards, so that directions and flips show.
fn checker(uv: vec2f) -> vec3f {
    let cell = floor(uv * 16.0);
    let odd = (i32(cell.x) + i32(cell.y)) & 1;
    let at = fract(uv);
    let tint = vec3f(0.25 + 0.6 * at.x, 0.35 + 0.25 * at.y, 0.85 - 0.6 * at.y);
    let line = min(fract(uv * 16.0), 1.0 - fract(uv * 16.0));
    let shade = select(0.38, 1.0, odd == 1);
    return mix(tint, vec3f(1.0), 0.12) * shade * select(0.7, 1.0, min(line.x, line.y) > 0.03);
}

// At the rim of a triangle the middle of a pixel is outside of it: no number beyond those of the corners. What is no number stays so.
fn value_within(c: Corner) -> f32 {
    if c.value < c.range.x {
        return c.range.x;
    }
    if c.value > c.range.y {
        return c.range.y;
    }
    return c.value;
}

fn mapped(value: f32) -> vec3f {
    var t = (value - surface.value_min) / (surface.value_max - surface.value_min);
    if surface.value_max == surface.value_min && value == value {
        t = 0.5;
    }
    // Not a number is no colour of the map.
    if !(t >= 0.0 || t <= 1.0) {
        return vec3f(0.2158605);
    }
    let index = i32(clamp(t, 0.0, 1.0) * 255.0 + 0.5);
    return textureLoad(color_map, vec2i(index, 0), 0).rgb;
}

fn painted(c: Corner, normal: vec3f) -> vec4f {
    switch paint {
        case PAINT_MATERIAL: { return material_color(c); }
        case PAINT_COLORS: { return vec4f(c.color.rgb, 1.0); }
        case PAINT_CHECKER: { return vec4f(checker(c.uv), 1.0); }
        case PAINT_VALUES, PAINT_DISTANCE: { return vec4f(mapped(value_within(c)), 1.0); }
        case PAINT_NORMALS: { return vec4f(encoded(normal), 1.0); }
        default: { return surface.base_color; }
    }
}

// A unit vector as a colour that is n * 0.5 + 0.5 once the picture is encoded as sRGB.
fn encoded(n: vec3f) -> vec3f {
    let s = n * 0.5 + 0.5;
    return select(pow((s + 0.055) / 1.055, vec3f(2.4)), s / 12.92, s <= vec3f(0.04045));
}

// A ball of grey wax, lit from the upper left: shape without colour.
fn matcap(normal: vec3f) -> vec3f {
    let n = vec3f(dot(normal, view.right), dot(normal, view.up), dot(normal, view.backward));
    let key = max(dot(n, normalize(vec3f(-0.45, 0.65, 0.60))), 0.0);
    let warm = max(dot(n, normalize(vec3f(0.75, -0.35, 0.35))), 0.0);
    let edge = pow(1.0 - clamp(n.z, 0.0, 1.0), 3.0);
    let gloss = pow(max(dot(n, normalize(vec3f(-0.28, 0.42, 0.86))), 0.0), 48.0);
    return vec3f(0.055, 0.060, 0.075)
        + vec3f(0.56, 0.53, 0.50) * key * key
        + vec3f(0.13, 0.07, 0.045) * warm
        + vec3f(0.10, 0.13, 0.17) * edge
        + vec3f(0.30) * gloss;
}

fn lit(base: vec3f, c: Corner, normal: vec3f) -> vec3f {
    switch lighting {
        case LIGHTING_SOFT: {
            // Nearly full brightness everywhere: colours stay readable, shape shows at the edges.
            let facing = clamp(dot(normal, to_camera(c.place)), 0.0, 1.0);
            let open = mix(1.0, surroundings_at(c.clip.xy), 0.6);
            // A little light of its own, so that dark colours have a shape, too.
            return base * (0.60 + 0.40 * facing) * open + vec3f(0.030 * facing * facing * open);
        }
        case LIGHTING_MATCAP: { return matcap(normal); }
        case LIGHTING_FLAT: { return base; }
        default: { return studio_light(base, c.place, normal, c.clip.xy); }
    }
}

// Unit normal on the side of the triangle that the camera sees.
fn facing_normal(c: Corner, is_front: bool) -> vec3f {
    let flat = cross(dpdx(c.place), dpdy(c.place));
    var n = c.normal;
    if dot(n, n) < 1e-12 {
        n = flat;
        // Rows of pixels go down, so the sign is that of the picture, not of the winding.
        return select(-normalize(n), normalize(n), dot(n, to_camera(c.place)) > 0.0);
    }
    return select(-normalize(n), normalize(n), is_front);
}

// How much a pixel belongs to an edge of its triangle.
fn wire_coverage(c: Corner) -> f32 {
    let pixels = c.corner / max(fwidth(c.corner), vec3f(1e-12));
    let nearest = min(pixels.x, min(pixels.y, pixels.z));
    return clamp(0.5 * surface.wire.w + 0.5 - nearest, 0.0, 1.0);
}

@fragment
fn color(c: Corner, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let normal = facing_normal(c, is_front);
    let base = painted(c, normal);
    if is_cut && base.a < surface.alpha_cutoff {
        discard;
    }
    var rgb = lit(base.rgb, c, normal);
    if is_wired {
        rgb = mix(rgb, surface.wire.rgb, wire_coverage(c) * 0.85);
    }
    // What does not let through has no alpha, whatever its texture holds.
    let alpha = select(1.0, clamp(base.a, 0.0, 1.0), is_translucent);
    return vec4f(clamp(rgb, vec3f(), vec3f(1.0)) * alpha, alpha);
}

// For occlusion: the normal along the camera's axes.
@fragment
fn normal(c: Corner, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let n = facing_normal(c, is_front);
    if is_cut && painted(c, n).a < surface.alpha_cutoff {
        discard;
    }
    return vec4f(vec3f(dot(n, view.right), dot(n, view.up), dot(n, view.backward)) * 0.5 + 0.5, 1.0);
}

@fragment
fn shadow(c: Corner) {
    if is_cut && painted(c, vec3f(0.0, 1.0, 0.0)).a < surface.alpha_cutoff {
        discard;
    }
}
