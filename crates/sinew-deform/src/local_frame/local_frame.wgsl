// What the deformers along an axis share. Canonical coordinates: z along the axis, x and y across.

// The stretch of the axis that a deformation acts on.
struct Region {
    low: f32,
    high: f32,
    span: f32,
    inverse_span: f32,
}

// `Map` is what the deformer itself adds: eight numbers.
struct Uniforms {
    scene_from_local: mat3x3f,
    local_from_scene: mat3x3f,
    // Of canonical from scene.
    offset: vec3f,
    weight: f32,
    region: Region,
    map: Map,
    mask_invert: u32,
    // Zero where the frame is flat: the mesh stays as it is.
    is_active: u32,
    unused_0: u32,
    unused_1: u32,
}

// Displacement of a point and its derivative: column c of the gradient is that by coordinate c.
struct Local {
    offset: vec3f,
    gradient: mat3x3f,
}

// The nearest height inside.
fn region_clamp(region: Region, z: f32) -> f32 {
    return max(min(z, region.high), region.low);
}

// One inside (ends included), zero outside.
fn region_inside(region: Region, z: f32) -> f32 {
    return select(0.0, 1.0, z >= region.low && z <= region.high);
}

// 0 at the beginning to 1 at the end, and the derivative by z: zero outside.
fn region_fraction(region: Region, z: f32) -> vec2f {
    let u = (region_clamp(region, z) - region.low) * region.inverse_span;
    return vec2f(min(u, 1.0), region_inside(region, z) * region.inverse_span);
}
