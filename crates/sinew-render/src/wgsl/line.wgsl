// Lines of a width in pixels: two triangles each, turned to the camera.

struct Style {
    // Pixels.
    width: f32,
    alpha: f32,
    first_line: u32,
    // Part of the depth by which they are nearer than they are, to win against the surface they lie on.
    nearer: f32,
}

@group(1) @binding(0) var<uniform> style: Style;
// Ten floats a line: from, to, linear RGBA.
@group(1) @binding(1) var<storage, read> lines: array<f32>;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) color: vec4f,
}

fn point(i: u32) -> vec3f {
    return vec3f(lines[i], lines[i + 1u], lines[i + 2u]);
}

// The end of a line that lies before the camera: `b`, or where the line comes from behind it.
fn before_camera(a: vec4f, b: vec4f) -> vec4f {
    if view.is_orthographic == 1u || b.w >= view.near || a.w <= view.near {
        return b;
    }
    return mix(a, b, (a.w - view.near) / (a.w - b.w));
}

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    let i = 10u * (style.first_line + index / 6u);
    let k = index % 6u;
    let at_end = k == 1u || k == 2u || k == 4u;
    let is_left = k == 2u || k == 4u || k == 5u;
    let from_place = clip_of(nearer(point(i), style.nearer));
    let to_place = clip_of(nearer(point(i + 3u), style.nearer));
    let a = before_camera(to_place, from_place);
    let b = before_camera(from_place, to_place);
    let half_size = 0.5 * view.size;
    let along = (b.xy / b.w - a.xy / a.w) * half_size;
    let length = max(length(along), 1e-6);
    let direction = along / length;
    let side = vec2f(-direction.y, direction.x) * select(-0.5, 0.5, is_left);
    // Half a width longer at each end, so that lines of a chain meet.
    let end = direction * select(-0.5, 0.5, at_end);
    var out: Corner;
    out.clip = select(a, b, at_end);
    out.clip = vec4f(out.clip.xy + (side + end) * style.width / half_size * out.clip.w, out.clip.zw);
    // Without perspective w says nothing of the depth, and nothing is behind the camera but for its near plane.
    if view.is_orthographic == 0u && (a.w < view.near * 0.5 || b.w < view.near * 0.5) {
        out.clip = vec4f(2.0, 2.0, 2.0, 1.0);
    }
    let alpha = lines[i + 9u] * style.alpha;
    out.color = vec4f(vec3f(lines[i + 6u], lines[i + 7u], lines[i + 8u]) * alpha, alpha);
    return out;
}

@fragment
fn color(c: Corner) -> @location(0) vec4f {
    return c.color;
}
