// {{NAME}}: player of a vertex animation texture, in WGSL. Made with the bake; change what you like.
//
{{!IS_VERTICES}}// Mesh: {{CARRIER}}. Nothing may weld, drop or sort its vertices. What has a texel: {{VERTICES}} pieces or particles.
{{?IS_VERTICES}}// Mesh: {{CARRIER}}, {{VERTICES}} vertices in the order of the file. Nothing may weld, drop or sort them.
// Textures, {{SIZES}}, {{FRAMES}} frames:
{{*TEXTURE}}//   {{FILE}}: {{HOLDS}}; {{FORMAT}}
// Make textures with one mip level and a linear format, never one that ends in `-srgb`:
//   8 bits a channel: rgba8unorm. 16-bit floats: rgba16float. 32-bit floats: rgba32float.
//   16 bits a channel: rgba16unorm where the device has that feature, otherwise rgba32float of code / 65535.
// Rows from the top, as in the file. textureLoad takes no sampler: bind them as unfilterable float.
// Values are {{SPACE}}.
{{?HAS_ATTRIBUTES}}// Colours and all else are data, never sRGB. Textures of attributes are bound from {{FIRST_BINDING}} on; WebGPU promises 16 textures a stage.
{{!FITS_SPACE}}// The mesh in its file is {{ENGINE_SPACE}}: these two differ. For an engine with the axes of glTF (Bevy), bake with `--for gltf`; in
{{!FITS_SPACE}}// others, the mesh must be in their space before offsets are added.
{{?IS_REMESH}}// Triangles change from frame to frame; those that are not there have their corners in one point.
{{?CAN_BLEND}}{{!HAS_ENDS}}// Frames may be blended: vertices are the same points in all frames of a clip.
{{?HAS_ENDS}}// Each frame is followed by its end, where its triangles are when the next frame begins: blends go there, and nothing parts.
{{!CAN_BLEND}}// Frames are not blended: a vertex is another point in each frame.
// Times are single precision: take whole passes of a clip away on the CPU before they grow to hours.
// @builtin(vertex_index) counts from the base vertex of the draw. Where an engine puts many meshes into one
// buffer (Bevy), subtract the first vertex of the mesh.
//
// How players of this kind were checked: valid for naga; run by WebGPU in software, numbers as those of the baker. Not run: Bevy, real
// graphics cards.

const VAT_COLUMNS = {{COLUMNS}}u;
const VAT_ACROSS = {{ACROSS}}u;
const VAT_FRAME_ROWS = {{FRAME_ROWS}}u;
const VAT_LINE_ROWS = {{LINE_ROWS}}u;
const VAT_PLACE_SCALE = vec3<f32>({{PLACE_SCALE}});
const VAT_PLACE_OFFSET = vec3<f32>({{PLACE_OFFSET}});
{{?HAS_NORMAL}}const VAT_NORMAL_SCALE = vec3<f32>({{NORMAL_SCALE}});
{{?HAS_NORMAL}}const VAT_NORMAL_OFFSET = vec3<f32>({{NORMAL_OFFSET}});

const VAT_LOOP = 0u;
const VAT_SEAMLESS_LOOP = 1u;
const VAT_CLAMP = 2u;

struct VatClip {
    first: u32,
    count: u32,
    frames_per_second: f32,
    at_end: u32,
}

// Two frames of the bake and how much of the second is seen.
struct VatFrame {
    frame: u32,
    next: u32,
    weight: f32,
}

@group(1) @binding(0) var vat_place_texture: texture_2d<f32>;
{{?IN_TWO}}@group(1) @binding(1) var vat_place_fine_texture: texture_2d<f32>;
{{?HAS_NORMAL}}@group(1) @binding(2) var vat_normal_texture: texture_2d<f32>;
{{?NORMAL_IN_TWO}}@group(1) @binding(3) var vat_normal_fine_texture: texture_2d<f32>;

fn vat_clip(index: u32) -> VatClip {
    switch index {
{{*CLIP}}        case {{CLIP_INDEX}}u: { return VatClip({{CLIP_FIRST}}u, {{CLIP_FRAMES}}u, {{CLIP_RATE}}, {{CLIP_AT_END}}u); } // {{CLIP_NAME}}
        default: { return vat_clip_that_is_not_there(); }
    }
}

fn vat_clip_that_is_not_there() -> VatClip {
    return VatClip(0u, 1u, 1.0, VAT_CLAMP);
}

// What is seen `secs` seconds from the start of a clip.
fn vat_frame_at(clip: u32, secs: f32) -> VatFrame {
    return vat_frame_of(clip, secs * vat_clip(clip).frames_per_second);
}

// The same, counted in frames: 2.25 is a quarter of the way from frame 2 of the clip to frame 3.
fn vat_frame_of(clip: u32, frames: f32) -> VatFrame {
    let c = vat_clip(clip);
    let count = f32(c.count);
    var within = clamp(frames, 0.0, count - 1.0);
    if c.at_end != VAT_CLAMP {
        within = max(frames - floor(frames / count) * count, 0.0);
    }
    // What is a little below a whole pass rounds up to it.
    let frame = min(u32(within), c.count - 1u);
    let shown = (c.first + frame) * {{FRAME_STEP}}u;
{{!CAN_BLEND}}    return VatFrame(shown, shown, 0.0);
{{?CAN_BLEND}}    let weight = clamp(within - f32(frame), 0.0, 1.0);
{{?CAN_BLEND}}    if frame + 1u < c.count {
{{?CAN_BLEND}}        return VatFrame(shown, shown + 1u, weight);
{{?CAN_BLEND}}    }
{{?CAN_BLEND}}    if c.at_end == VAT_SEAMLESS_LOOP {
{{?CAN_BLEND}}{{!HAS_ENDS}}        return VatFrame(shown, c.first, weight);
{{?CAN_BLEND}}{{?HAS_ENDS}}        return VatFrame(shown, shown + 1u, weight);
{{?CAN_BLEND}}    }
{{?CAN_BLEND}}    return VatFrame(shown, shown, 0.0);
}

// Column and row of a vertex in a frame.
fn vat_texel(vertex: u32, frame: u32) -> vec2<u32> {
    return vec2<u32>(
        (frame % VAT_ACROSS) * VAT_COLUMNS + vertex % VAT_COLUMNS,
        (frame / VAT_ACROSS) * VAT_FRAME_ROWS + (vertex / VAT_COLUMNS) * VAT_LINE_ROWS,
    );
}

// Where there is no vertex index: `uv` is that of the carrier, the centre of the vertex' texel in frame 0.
fn vat_texel_by_uv(uv: vec2<f32>, frame: u32) -> vec2<u32> {
    let first = vec2<u32>(uv * vec2<f32>({{WIDTH}}.0, {{HEIGHT}}.0));
    return first + vec2<u32>((frame % VAT_ACROSS) * VAT_COLUMNS, (frame / VAT_ACROSS) * VAT_FRAME_ROWS);
}

fn vat_place_in(texel: vec2<u32>) -> vec3<f32> {
{{!IN_TWO}}    let stored = textureLoad(vat_place_texture, texel, 0).xyz;
{{?IN_TWO}}    let coarse = textureLoad(vat_place_texture, texel, 0).xyz;
{{?IN_TWO}}    let stored = coarse + 0.01 * textureLoad(vat_place_fine_texture, texel, 0).xyz;
    return stored * VAT_PLACE_SCALE + VAT_PLACE_OFFSET;
}

{{>ATTRIBUTES}}
{{#IS_VERTICES}}
// Position of a vertex in the space of the mesh; `carrier` is the position that the mesh has there.
fn vat_position(vertex: u32, at: VatFrame, carrier: vec3<f32>) -> vec3<f32> {
    var place = vat_place_in({{TEXEL_IN_WGSL}}(vertex, at.frame));
{{?CAN_BLEND}}    if at.weight > 0.0 {
{{?CAN_BLEND}}        place += (vat_place_in({{TEXEL_IN_WGSL}}(vertex, at.next)) - place) * at.weight;
{{?CAN_BLEND}}    }
{{?IS_OFFSET}}    return carrier + place;
{{!IS_OFFSET}}    return place;
}

{{?HAS_NORMAL}}fn vat_normal_in(texel: vec2<u32>) -> vec3<f32> {
{{?HAS_NORMAL}}{{!NORMAL_IN_TWO}}    let stored = textureLoad(vat_normal_texture, texel, 0).xyz;
{{?NORMAL_IN_TWO}}    let coarse = textureLoad(vat_normal_texture, texel, 0).xyz;
{{?NORMAL_IN_TWO}}    let stored = coarse + 0.01 * textureLoad(vat_normal_fine_texture, texel, 0).xyz;
{{?HAS_NORMAL}}    return stored * VAT_NORMAL_SCALE + VAT_NORMAL_OFFSET;
{{?HAS_NORMAL}}}
{{?HAS_NORMAL}}
// Unit normal of a vertex; `carrier` is the normal that the mesh has there.
fn vat_normal(vertex: u32, at: VatFrame, carrier: vec3<f32>) -> vec3<f32> {
{{!HAS_NORMAL}}    // The bake has no normals.
{{!HAS_NORMAL}}    return carrier;
{{?HAS_NORMAL}}    var normal = vat_normal_in({{TEXEL_IN_WGSL}}(vertex, at.frame));
{{?HAS_NORMAL}}{{?CAN_BLEND}}    if at.weight > 0.0 {
{{?HAS_NORMAL}}{{?CAN_BLEND}}        normal += (vat_normal_in({{TEXEL_IN_WGSL}}(vertex, at.next)) - normal) * at.weight;
{{?HAS_NORMAL}}{{?CAN_BLEND}}    }
{{?HAS_NORMAL}}    let length_squared = dot(normal, normal);
{{?HAS_NORMAL}}    if length_squared < 1e-12 {
{{?HAS_NORMAL}}        return carrier;
{{?HAS_NORMAL}}    }
{{?HAS_NORMAL}}    return normal * inverseSqrt(length_squared);
}

// An example of a vertex shader; yours will have other bindings.

struct VatScene {
    clip_from_world: mat4x4<f32>,
    secs: f32,
}

struct VatInstance {
    world_from_model: mat4x4<f32>,
    offset_secs: f32,
    clip: u32,
}

struct VatVertex {
    @builtin(position) position: vec4<f32>,
    @location(0) position_in_world: vec3<f32>,
    @location(1) normal_in_world: vec3<f32>,
{{*ATTRIBUTE}}    @location({{ATTRIBUTE_LOCATION}}) {{ATTRIBUTE}}: {{ATTRIBUTE_WGSL}},
}

@group(0) @binding(0) var<uniform> vat_scene: VatScene;
@group(0) @binding(1) var<storage, read> vat_instances: array<VatInstance>;

@vertex
fn vat_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) instance: u32,
    @location(0) carrier_position: vec3<f32>,
    @location(1) carrier_normal: vec3<f32>,
) -> VatVertex {
    let one = vat_instances[instance];
    let at = vat_frame_at(one.clip, vat_scene.secs + one.offset_secs);
    let position = vat_position(vertex, at, carrier_position);
    let normal = vat_normal(vertex, at, carrier_normal);
    let in_world = one.world_from_model * vec4<f32>(position, 1.0);
    // Right for turned and evenly scaled instances.
    let turned = (one.world_from_model * vec4<f32>(normal, 0.0)).xyz;
    return VatVertex(vat_scene.clip_from_world * in_world, in_world.xyz, normalize(turned){{ATTRIBUTE_RESULTS}});
}
{{/IS_VERTICES}}
{{>MODE}}
