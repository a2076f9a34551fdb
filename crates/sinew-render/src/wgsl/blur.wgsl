// The mean of four by four pixels of the occlusion at about the same depth, at half the size of the picture.

@group(1) @binding(1) var occlusion: texture_2d<f32>;

@fragment
fn blurred(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let last_pixel = vec2i(view.size) - 1;
    let pixel = vec2i(position.xy);
    let depth = depth_at(min(pixel * 2 + 1, last_pixel));
    let most = vec2i(textureDimensions(occlusion)) - 1;
    // Far from everything there is nothing to blur.
    let count = select(16, 0, textureLoad(depths, min(pixel * 2 + 1, last_pixel), 0) >= 1.0);
    var sum = 0.0001;
    var weight = 0.0001;
    for (var i = 0; i < count; i++) {
        let at = clamp(pixel + vec2i(i & 3, i >> 2) - 2, vec2i(0), most);
        let other = depth_at(min(at * 2 + 1, last_pixel));
        let w = select(0.0, 1.0, abs(other - depth) < 0.25 * view.occlusion_radius);
        sum += w * textureLoad(occlusion, at, 0).r;
        weight += w;
    }
    return vec4f(sum / weight);
}
