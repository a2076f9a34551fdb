// Three lights, soft shadow of the first, occlusion of the surroundings' light.

@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;
// At half the size of the picture.
@group(0) @binding(3) var occlusion_map: texture_2d<f32>;
@group(0) @binding(4) var occlusion_sampler: sampler;

const SKY = vec3f(0.25, 0.27, 0.30);
const FLOOR = vec3f(0.125, 0.115, 0.105);
const PROBES = 5;
const SHADOW_TAPS = 24;
// Radius of a shadow's soft edge, texels.
const SHADOW_RADIUS = 5.0;
// Radians between neighbours of a sunflower's seeds.
const GOLDEN_ANGLE = 2.39996323;

// How much of the key light arrives: 1 all, 0 none.
fn key_light_at(place: vec3f, normal: vec3f) -> f32 {
    if view.has_shadows == 0u {
        return 1.0;
    }
    // A place a little above the surface, so that it does not shade itself.
    let facing = clamp(dot(normal, view.lights[0].direction), 0.0, 1.0);
    let lift = view.shadow_texel * (1.5 + SHADOW_RADIUS * sqrt(1.0 - facing * facing));
    let p = view.shadow_from_scene * vec4f(place + normal * lift, 1.0);
    let uv = vec2f(0.5 + 0.5 * p.x, 0.5 - 0.5 * p.y);
    let reach = SHADOW_RADIUS / f32(textureDimensions(shadow_map).x);
    // Behind everything that the map holds there is nothing that could be in its shadow.
    let depth = min(p.z, 1.0) - 0.0005;
    var sum = 0.0;
    for (var i = 0; i < PROBES; i++) {
        sum += lit_at(uv, depth, reach * 1.2, f32(i) * GOLDEN_ANGLE);
    }
    // All the same at the rim: the same within. A loop of no turns is what costs nothing on every device.
    let is_edge = sum > 0.01 && sum < f32(PROBES) - 0.01;
    let taps = select(0, SHADOW_TAPS, is_edge);
    var more = 0.0;
    for (var i = 0; i < taps; i++) {
        let part = sqrt((f32(i) + 0.5) / f32(SHADOW_TAPS));
        more += lit_at(uv, depth, reach * part, f32(i) * GOLDEN_ANGLE);
    }
    return select(sum / f32(PROBES), more / f32(SHADOW_TAPS), is_edge);
}

fn lit_at(uv: vec2f, depth: f32, reach: f32, angle: f32) -> f32 {
    let at = uv + vec2f(cos(angle), sin(angle)) * reach;
    return textureSampleCompareLevel(shadow_map, shadow_sampler, at, depth);
}

// How much of the surroundings' light arrives at a pixel.
fn surroundings_at(pixel: vec2f) -> f32 {
    if view.has_occlusion == 0u {
        return 1.0;
    }
    return textureSampleLevel(occlusion_map, occlusion_sampler, pixel / view.size, 0.0).r;
}

// Bright colours approach white instead of being cut off there.
fn shouldered(c: vec3f) -> vec3f {
    let over = max(c - 0.6, vec3f());
    return min(c, vec3f(0.6)) + 0.4 * (1.0 - exp(-over / 0.4));
}

// Linear colour of a surface lit by all three lights.
fn studio_light(base: vec3f, place: vec3f, normal: vec3f, pixel: vec2f) -> vec3f {
    let towards = to_camera(place);
    let open = surroundings_at(pixel);
    var light = mix(FLOOR, SKY, 0.5 + 0.5 * normal.y) * open;
    let key = view.lights[0];
    let key_facing = max(dot(normal, key.direction), 0.0);
    var shadow = 1.0;
    if key_facing > 0.0 {
        shadow = key_light_at(place, normal);
    }
    light += key.color * (key_facing * shadow);
    for (var i = 1; i < 3; i++) {
        // The other two cast no shadow; where much is around, they are hidden too.
        light += view.lights[i].color * max(dot(normal, view.lights[i].direction), 0.0) * mix(1.0, open, 0.7);
    }
    let halfway = normalize(key.direction + towards);
    let gloss = pow(max(dot(normal, halfway), 0.0), 36.0) * 0.10 * shadow;
    let rim = pow(1.0 - clamp(dot(normal, towards), 0.0, 1.0), 4.0) * 0.06 * open;
    return shouldered(base * light + vec3f(gloss + rim));
}
