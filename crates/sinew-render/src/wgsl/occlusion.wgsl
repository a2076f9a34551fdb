// Ambient occlusion from what the camera sees: for each pixel, how much of the half space above its surface is filled nearby
// (after McGuire, Osman, Bukowski, Hennessy: The Alchemy Screen-Space Ambient Obscurance Algorithm, 2011).

@group(1) @binding(1) var normals: texture_2d<f32>;

const TAPS = 14;
// Five turns in all, radians.
const STEP_ANGLE = 2.2439948;

// Along the camera's axes: right, up, backward.
fn place_at(pixel: vec2i, depth: f32) -> vec3f {
    let at = (vec2f(pixel) + 0.5) / view.size * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
    let scale = view.half_height * select(depth, 1.0, view.is_orthographic == 1u);
    return vec3f(at.x * view.aspect * scale, at.y * scale, -depth);
}

@fragment
fn occlusion(@builtin(position) position: vec4f) -> @location(0) vec4f {
    // At half the size of the picture.
    let pixel = min(vec2i(position.xy) * 2 + 1, vec2i(view.size) - 1);
    let depth = depth_at(pixel);
    let here = place_at(pixel, depth);
    let normal = normalize(textureLoad(normals, pixel, 0).xyz * 2.0 - 1.0);
    let scale = view.half_height * select(depth, 1.0, view.is_orthographic == 1u);
    let reach = min(view.occlusion_radius / scale * 0.5 * view.size.y, 0.25 * view.size.y);
    // Nothing is near what is far from the scene's middle; loops of no turns cost nothing on every device.
    let scene_place = view.eye + view.right * here.x + view.up * here.y + view.backward * here.z;
    let is_near = distance(scene_place, view.center) < view.radius + view.occlusion_radius;
    let taps = select(0, TAPS, reach >= 1.0 && is_near && textureLoad(depths, pixel, 0) < 1.0);
    // Sixteen turns in a square of four by four pixels; the blur takes the mean of all.
    let place = vec2i(position.xy);
    let turn = f32((place.x & 3) * 4 + (place.y & 3)) / 16.0;
    let most = vec2i(view.size) - 1;
    let r2 = view.occlusion_radius * view.occlusion_radius;
    // One step of the spiral.
    let step = vec2f(cos(STEP_ANGLE), sin(STEP_ANGLE));
    var direction = vec2f(cos(6.2831853 * turn), sin(6.2831853 * turn));
    var sum = 0.0;
    for (var i = 0; i < taps; i++) {
        let part = (f32(i) + 0.5 + turn * 0.5) / (f32(TAPS) + 0.5);
        let at = clamp(pixel + vec2i(direction * (part * reach)), vec2i(0), most);
        direction = vec2f(direction.x * step.x - direction.y * step.y, direction.x * step.y + direction.y * step.x);
        let offset = place_at(at, depth_at(at)) - here;
        let squared = dot(offset, offset);
        let above = dot(offset, normal) - 0.012 * view.occlusion_radius - 0.0005 * depth;
        let near = max(r2 - squared, 0.0) / r2;
        sum += near * max(above, 0.0) / (sqrt(squared) + 0.02 * view.occlusion_radius);
    }
    let open = max(0.0, 1.0 - 2.1 * sum / f32(TAPS));
    return vec4f(open);
}
