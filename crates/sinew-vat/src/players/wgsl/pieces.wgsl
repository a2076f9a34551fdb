
// A texel is a piece that moves without bending. The mesh is the first frame; its texture coordinates {{UV_SET}} point at the texel of the
// vertex' piece there, and the position in that texel is the piece's pivot.

const VAT_ROTATION_SCALE = vec4<f32>({{ROTATION_SCALE}});
const VAT_ROTATION_OFFSET = vec4<f32>({{ROTATION_OFFSET}});

@group(1) @binding(4) var vat_rotation_texture: texture_2d<f32>;
{{?ROTATION_IN_TWO}}@group(1) @binding(5) var vat_rotation_fine_texture: texture_2d<f32>;

fn vat_rotation_in(texel: vec2<u32>) -> vec4<f32> {
{{!ROTATION_IN_TWO}}    let stored = textureLoad(vat_rotation_texture, texel, 0);
{{?ROTATION_IN_TWO}}    let coarse = textureLoad(vat_rotation_texture, texel, 0);
{{?ROTATION_IN_TWO}}    let stored = coarse + 0.01 * textureLoad(vat_rotation_fine_texture, texel, 0);
    return stored * VAT_ROTATION_SCALE + VAT_ROTATION_OFFSET;
}

// Unit quaternion of a piece; `uv` are texture coordinates {{UV_SET}}.
fn vat_rotation(uv: vec2<f32>, at: VatFrame) -> vec4<f32> {
    var rotation = vat_rotation_in(vat_texel_by_uv(uv, at.frame));
{{?CAN_BLEND}}    if at.weight > 0.0 {
{{?CAN_BLEND}}        let next = vat_rotation_in(vat_texel_by_uv(uv, at.next));
{{?CAN_BLEND}}        // Both signs are the same rotation; the nearer one is the shorter way.
{{?CAN_BLEND}}        let nearer = select(next, -next, dot(rotation, next) < 0.0);
{{?CAN_BLEND}}        rotation += (nearer - rotation) * at.weight;
{{?CAN_BLEND}}    }
    let length_squared = dot(rotation, rotation);
    if length_squared < 1e-12 {
        return vec4<f32>(0.0, 0.0, 0.0, 1.0);
    }
    return rotation * inverseSqrt(length_squared);
}

fn vat_turn(rotation: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    return v + 2.0 * cross(rotation.xyz, cross(rotation.xyz, v) + rotation.w * v);
}

// Position of a vertex in the space of the mesh; `carrier` is the position that the mesh has there.
fn vat_position(uv: vec2<f32>, at: VatFrame, carrier: vec3<f32>) -> vec3<f32> {
    let pivot = vat_place_in(vat_texel_by_uv(uv, 0u));
    var place = vat_place_in(vat_texel_by_uv(uv, at.frame));
{{?CAN_BLEND}}    if at.weight > 0.0 {
{{?CAN_BLEND}}        place += (vat_place_in(vat_texel_by_uv(uv, at.next)) - place) * at.weight;
{{?CAN_BLEND}}    }
    return place + vat_turn(vat_rotation(uv, at), carrier - pivot);
}

// Unit normal of a vertex; `carrier` is the normal that the mesh has there.
fn vat_normal(uv: vec2<f32>, at: VatFrame, carrier: vec3<f32>) -> vec3<f32> {
    return vat_turn(vat_rotation(uv, at), carrier);
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
}

@group(0) @binding(0) var<uniform> vat_scene: VatScene;
@group(0) @binding(1) var<storage, read> vat_instances: array<VatInstance>;

@vertex
fn vat_vertex(
    @builtin(instance_index) instance: u32,
    @location(0) carrier_position: vec3<f32>,
    @location(1) carrier_normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
) -> VatVertex {
    let one = vat_instances[instance];
    let at = vat_frame_at(one.clip, vat_scene.secs + one.offset_secs);
    let position = vat_position(uv, at, carrier_position);
    let normal = vat_normal(uv, at, carrier_normal);
    let in_world = one.world_from_model * vec4<f32>(position, 1.0);
    // Right for turned and evenly scaled instances.
    let turned = (one.world_from_model * vec4<f32>(normal, 0.0)).xyz;
    return VatVertex(vat_scene.clip_from_world * in_world, in_world.xyz, normalize(turned));
}
