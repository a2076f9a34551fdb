// The ground: nothing but what is darker there, so that it fits every background.

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) place: vec3f,
}

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    let x = select(-1.0, 1.0, index == 1u || index == 2u || index == 4u);
    let z = select(-1.0, 1.0, index == 2u || index == 4u || index == 5u);
    let reach = 4.0 * view.radius;
    var out: Corner;
    out.place = vec3f(view.center.x + x * reach, view.ground, view.center.z + z * reach);
    out.clip = clip_of(out.place);
    return out;
}

@fragment
fn color(c: Corner) -> @location(0) vec4f {
    let up = vec3f(0.0, 1.0, 0.0);
    let away = distance(c.place.xz, view.center.xz) / (4.0 * view.radius);
    let fade = 1.0 - smoothstep(0.35, 1.0, away);
    let shadow = 1.0 - key_light_at(c.place, up);
    let closed = 1.0 - surroundings_at(c.clip.xy);
    let dark = 1.0 - (1.0 - 0.42 * shadow) * (1.0 - 0.75 * closed);
    return vec4f(0.0, 0.0, 0.0, dark * fade);
}

@fragment
fn normal(c: Corner) -> @location(0) vec4f {
    return vec4f(vec3f(view.right.y, view.up.y, view.backward.y) * 0.5 + 0.5, 1.0);
}
