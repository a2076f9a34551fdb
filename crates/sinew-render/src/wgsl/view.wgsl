// What every pass knows: camera, lights, picture. The same layout as `ViewUniforms` in view.rs.

struct Light {
    // Towards the light, scene space, unit length.
    direction: vec3f,
    unused0: f32,
    color: vec3f,
    unused1: f32,
}

struct View {
    clip_from_scene: mat4x4f,
    // Of the key light: x and y from -1 to 1, z from 0 to 1.
    shadow_from_scene: mat4x4f,
    eye: vec3f,
    is_orthographic: u32,
    right: vec3f,
    near: f32,
    up: vec3f,
    far: f32,
    backward: vec3f,
    // Tangent of half the vertical angle of view; orthographic: half the height in metres.
    half_height: f32,
    size: vec2f,
    aspect: f32,
    // Height of the ground, metres.
    ground: f32,
    center: vec3f,
    // Half the diagonal of the scene's bounds, metres.
    radius: f32,
    lights: array<Light, 3>,
    background_top: vec4f,
    background_bottom: vec4f,
    has_shadows: u32,
    has_occlusion: u32,
    // Radius of the occlusion's neighbourhood, metres.
    occlusion_radius: f32,
    // Width of one texel of the shadow map, metres.
    shadow_texel: f32,
}

@group(0) @binding(0) var<uniform> view: View;

fn clip_of(place: vec3f) -> vec4f {
    return view.clip_from_scene * vec4f(place, 1.0);
}

// The point moved towards the camera by a part of its depth; it stays where it is in the picture.
fn nearer(place: vec3f, part: f32) -> vec3f {
    let offset = place - view.eye;
    if view.is_orthographic == 1u {
        return place + view.backward * (part * view.radius);
    }
    return view.eye + offset * (1.0 - part);
}

// Towards the camera.
fn to_camera(place: vec3f) -> vec3f {
    if view.is_orthographic == 1u {
        return view.backward;
    }
    return normalize(view.eye - place);
}
