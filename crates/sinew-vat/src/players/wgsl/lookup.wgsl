
// Points have texels, each once a frame. The lookup texture has a texel for each vertex, which is a corner of a triangle, in each frame: red, green and
// blue are the number of the point that the vertex shows, the lowest eight bits in red. It is found by vat_texel, the point by vat_point_texel.

const VAT_POINT_COLUMNS = {{POINT_COLUMNS}}u;
const VAT_POINT_ACROSS = {{POINT_ACROSS}}u;
const VAT_POINT_FRAME_ROWS = {{POINT_FRAME_ROWS}}u;
const VAT_POINT_LINE_ROWS = {{POINT_LINE_ROWS}}u;

@group(1) @binding(8) var vat_lookup_texture: texture_2d<f32>;

// Column and row, in the textures of points, of what a vertex shows in a frame.
fn vat_point_texel(vertex: u32, frame: u32) -> vec2<u32> {
    let stored = textureLoad(vat_lookup_texture, vat_texel(vertex, frame), 0).xyz;
    let codes = vec3<u32>(round(stored * 255.0));
    let point = codes.x | (codes.y << 8u) | (codes.z << 16u);
    return vec2<u32>(
        (frame % VAT_POINT_ACROSS) * VAT_POINT_COLUMNS + point % VAT_POINT_COLUMNS,
        (frame / VAT_POINT_ACROSS) * VAT_POINT_FRAME_ROWS + (point / VAT_POINT_COLUMNS) * VAT_POINT_LINE_ROWS,
    );
}

// Position of a vertex in the space of the mesh; `carrier` is the position that the mesh has there. Reads two texels, four where frames are blended.
fn vat_position(vertex: u32, at: VatFrame, carrier: vec3<f32>) -> vec3<f32> {
    var place = vat_place_in(vat_point_texel(vertex, at.frame));
{{?CAN_BLEND}}    if at.weight > 0.0 {
{{?CAN_BLEND}}        place += (vat_place_in(vat_point_texel(vertex, at.next)) - place) * at.weight;
{{?CAN_BLEND}}    }
    return place;
}
{{#HAS_NORMAL}}

fn vat_normal_in(texel: vec2<u32>) -> vec3<f32> {
{{!NORMAL_IN_TWO}}    let stored = textureLoad(vat_normal_texture, texel, 0).xyz;
{{?NORMAL_IN_TWO}}    let coarse = textureLoad(vat_normal_texture, texel, 0).xyz;
{{?NORMAL_IN_TWO}}    let stored = coarse + 0.01 * textureLoad(vat_normal_fine_texture, texel, 0).xyz;
    return stored * VAT_NORMAL_SCALE + VAT_NORMAL_OFFSET;
}
{{/HAS_NORMAL}}

// Unit normal of a vertex; `carrier` is the normal that the mesh has there.
fn vat_normal(vertex: u32, at: VatFrame, carrier: vec3<f32>) -> vec3<f32> {
{{!HAS_NORMAL}}    // The bake has no normals.
{{!HAS_NORMAL}}    return carrier;
{{#HAS_NORMAL}}
    var normal = vat_normal_in(vat_point_texel(vertex, at.frame));
{{?CAN_BLEND}}    if at.weight > 0.0 {
{{?CAN_BLEND}}        normal += (vat_normal_in(vat_point_texel(vertex, at.next)) - normal) * at.weight;
{{?CAN_BLEND}}    }
    let length_squared = dot(normal, normal);
    if length_squared < 1e-12 {
        return carrier;
    }
    return normal * inverseSqrt(length_squared);
{{/HAS_NORMAL}}
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
