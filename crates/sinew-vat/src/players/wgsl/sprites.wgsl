
// A texel is a particle. The mesh has a square for each: vertices 4 * particle + corner, counter-clockwise from the lower left one; texture
// coordinates 0 are for a picture on it, texture coordinates {{UV_SET}} point at the particle's texel in the first frame.

const VAT_SIZE_SCALE = {{SIZE_SCALE}};
const VAT_SIZE_OFFSET = {{SIZE_OFFSET}};

@group(1) @binding(6) var vat_size_texture: texture_2d<f32>;
{{?SIZE_IN_TWO}}@group(1) @binding(7) var vat_size_fine_texture: texture_2d<f32>;

// Width of a particle; zero where there is none.
fn vat_size_in(texel: vec2<u32>) -> f32 {
{{!SIZE_IN_TWO}}    let stored = textureLoad(vat_size_texture, texel, 0).x;
{{?SIZE_IN_TWO}}    let coarse = textureLoad(vat_size_texture, texel, 0).x;
{{?SIZE_IN_TWO}}    let stored = coarse + 0.01 * textureLoad(vat_size_fine_texture, texel, 0).x;
    return stored * VAT_SIZE_SCALE + VAT_SIZE_OFFSET;
}

// 0 or 1 to the right and up.
fn vat_corner(vertex: u32) -> vec2<f32> {
    let corner = vertex % 4u;
    return vec2<f32>(f32(corner == 1u || corner == 2u), f32(corner >= 2u));
}

// Position of a vertex in the space of the mesh. `right` and `up` are unit vectors in that space along which squares are drawn: those of
// the camera, or others.
fn vat_position(vertex: u32, at: VatFrame, right: vec3<f32>, up: vec3<f32>) -> vec3<f32> {
    let texel = vat_texel(vertex / 4u, at.frame);
    var place = vat_place_in(texel);
    var size = vat_size_in(texel);
{{?CAN_BLEND}}    if at.weight > 0.0 {
{{?CAN_BLEND}}        let next = vat_texel(vertex / 4u, at.next);
{{?CAN_BLEND}}        place += (vat_place_in(next) - place) * at.weight;
{{?CAN_BLEND}}        size += (vat_size_in(next) - size) * at.weight;
{{?CAN_BLEND}}    }
    let from_middle = (vat_corner(vertex) - 0.5) * size;
    return place + right * from_middle.x + up * from_middle.y;
}

// An example of a vertex shader; yours will have other bindings.

struct VatScene {
    clip_from_view: mat4x4<f32>,
    view_from_world: mat4x4<f32>,
    secs: f32,
}

struct VatInstance {
    world_from_model: mat4x4<f32>,
    offset_secs: f32,
    clip: u32,
}

struct VatVertex {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
{{*ATTRIBUTE}}    @location({{ATTRIBUTE_LOCATION}}) {{ATTRIBUTE}}: {{ATTRIBUTE_WGSL}},
}

@group(0) @binding(0) var<uniform> vat_scene: VatScene;
@group(0) @binding(1) var<storage, read> vat_instances: array<VatInstance>;

@vertex
fn vat_vertex(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> VatVertex {
    let one = vat_instances[instance];
    let at = vat_frame_at(one.clip, vat_scene.secs + one.offset_secs);
    let view_from_model = vat_scene.view_from_world * one.world_from_model;
    // Rows of a turned and evenly scaled matrix: the camera's axes in the space of the mesh.
    let rows = transpose(view_from_model);
    let position = vat_position(vertex, at, normalize(rows[0].xyz), normalize(rows[1].xyz));
    let in_view = view_from_model * vec4<f32>(position, 1.0);
    return VatVertex(vat_scene.clip_from_view * in_view, vat_corner(vertex){{ATTRIBUTE_RESULTS}});
}
