// A frame of one guide, stage by stage: `job.rs`.

struct Rows {
  a: vec4f,
  b: vec4f,
  c: vec4f,
}

struct Guide {
  number: u32,
  // Vertices.
  first: u32,
  count: u32,
  root: vec3f,
  skin: Rows,
}

const UP = vec3f(0.0, 1.0, 0.0);

// Weighted sum of joint matrices: `blended` in `roots.rs`.
fn skin_of(first: u32, count: u32) -> Rows {
  var sum = Rows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
  for (var i = first; i < first + count; i++) {
    let influence = read_influences(i);
    let weight = vec4f(bitcast<f32>(influence.y));
    let joint = 3u * influence.x;
    sum.a = fma(weight, read_palette(joint), sum.a);
    sum.b = fma(weight, read_palette(joint + 1u), sum.b);
    sum.c = fma(weight, read_palette(joint + 2u), sum.c);
  }
  return sum;
}

fn skinned(m: Rows, p: vec3f) -> vec3f {
  return vec3f(dot(m.a.xyz, p), dot(m.b.xyz, p), dot(m.c.xyz, p)) + vec3f(m.a.w, m.b.w, m.c.w);
}

// Read as if the matrix were a rotation, then scaled to unit length.
fn rotation_in(m: Rows) -> vec4f {
  let q = quaternion_of(m.a.xyz, m.b.xyz, m.c.xyz);
  return q * (1.0 / sqrt(dot(q, q)));
}

// From one unit vector to another; half a turn about any axis where they are opposite.
fn shortest_arc(before: vec3f, after: vec3f) -> vec4f {
  let cosine = 1.0 + dot(before, after);
  if cosine < 1e-6 {
    let other = select(vec3f(0.0, 1.0, 0.0), vec3f(1.0, 0.0, 0.0), abs(before.x) < 0.7);
    return vec4f(normalize(cross(before, other)), 0.0);
  }
  let inverse = 1.0 / sqrt(cosine + cosine);
  return vec4f(cross(before, after) * inverse, cosine * inverse);
}

// `bound` holds for each vertex its offset from the root and the length of its segment, whose sign is set where it is pinned.
fn is_movable(bound: vec4f) -> bool {
  return bitcast<u32>(bound.w) < 0x80000000u;
}

// Gives where the second vertex was two frames ago.
fn integrate(g: Guide, is_beginning: bool) -> vec3f {
  let u = uniforms();
  var before_last = vec3f(0.0);
  for (var i = 0u; i < g.count; i++) {
    let k = g.first + i;
    let bound = read_bound(k);
    let goal = skinned(g.skin, g.root + bound.xyz);
    let p = select(now(k), goal, is_beginning);
    let old = select(last(k), goal, is_beginning);
    var x = goal;
    if is_movable(bound) {
      x = p + (p - old) * u.motion.x + vec3f(0.0, u.motion.y, 0.0);
      if f32(i) < u.motion.w * f32(g.count) { x += (goal - x) * u.motion.z; }
    }
    if i == 1u { before_last = old; }
    set_last(k, p);
    set_now(k, x);
  }
  return before_last;
}

fn shock(g: Guide, before_last: vec3f) {
  let u = uniforms();
  let roots = array<vec3f, 4>(now(g.first), now(g.first + 1u), last(g.first), last(g.first + 1u));
  let rotation = shortest_arc(unit_or(roots[3] - roots[2], UP), unit_or(roots[1] - roots[0], UP));
  let shift = roots[0] - turned(rotation, roots[2]);
  let jerk = length(roots[1] - roots[3] * 2.0 + before_last);
  let share = select(u.shape.y, 1.0, jerk > u.shape.z);
  for (var k = g.first + 2u; k < g.first + g.count; k++) {
    let x = now(k);
    let old = last(k);
    set_now(k, x * (1.0 - share) + (turned(rotation, x) + shift) * share);
    set_last(k, old * (1.0 - share) + (turned(rotation, old) + shift) * share);
  }
}

fn local_shape(g: Guide, skin: vec4f) {
  let stiffness = uniforms().shape.x;
  var behind = now(g.first);
  var here = now(g.first + 1u);
  var bound_behind = read_bound(g.first);
  var bound_here = read_bound(g.first + 1u);
  for (var k = g.first + 1u; k < g.first + g.count - 1u; k++) {
    let bound_next = read_bound(k + 1u);
    var next = now(k + 1u);
    let before = turned(skin, bound_here.xyz - bound_behind.xyz);
    let after = turned(skin, bound_next.xyz - bound_here.xyz);
    let rest = unit_or(before, UP);
    let rotation = shortest_arc(rest, unit_or(here - behind, rest));
    let change = (here + turned(rotation, after) - next) * stiffness;
    if is_movable(bound_here) { here -= change; }
    if is_movable(bound_next) { next += change; }
    set_now(k, here);
    behind = here;
    here = next;
    bound_behind = bound_here;
    bound_here = bound_next;
  }
  set_now(g.first + g.count - 1u, here);
}

// The square of the sine of 0.01 n, and a half more.
fn pulse(frame: u32) -> f32 {
  let bytes = (vec4u(frame) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u);
  let turns = bytes * uniforms().pulse;
  let doubled = f32(bitcast<i32>(turns.x + turns.y + turns.z + turns.w)) * (6.2831855 / 4294967296.0);
  return 1.0 - 0.5 * sine_cosine(doubled).y;
}

fn wind(g: Guide, frame: u32) {
  let u = uniforms();
  if u.wind_second.w == 0.0 { return; }
  let a = f32(g.number % WIND_PERIOD) / f32(WIND_PERIOD);
  let w = (u.wind_first.xyz * a + u.wind_second.xyz * (1.0 - a)) * pulse(frame);
  for (var k = g.first + 2u; k < g.first + g.count - 1u; k++) {
    let x = now(k);
    let e = x - now(k + 1u);
    set_now(k, x - cross(cross(e, w), e) * u.wind_first.w);
  }
}

// All segments from `start` on, every second one.
fn lengths(g: Guide, start: u32) {
  for (var k = g.first + start; k < g.first + g.count - 1u; k += 2u) {
    let near = now(k);
    let far = now(k + 1u);
    let end = read_bound(k + 1u);
    let is_free = is_movable(read_bound(k));
    let e = far - near;
    let change = e * (1.0 - abs(end.w) / max(length(e), 1e-7));
    if is_free && is_movable(end) {
      set_now(k, near + change * 0.5);
      set_now(k + 1u, far - change * 0.5);
    } else if is_free {
      set_now(k, near + change);
    } else if is_movable(end) {
      set_now(k + 1u, far - change);
    }
  }
}

// Tangents, and ways cut to 20.
fn finish(g: Guide) {
  var tangent = vec3f(0.0);
  var x = now(g.first);
  for (var i = 0u; i < g.count; i++) {
    let k = g.first + i;
    var next = x;
    if i + 1u < g.count {
      next = now(k + 1u);
      tangent = unit_or(next - x, vec3f(0.0));
    }
    write_state(tangent_at(k), vec4f(tangent, 1.0));
    let old = last(k);
    let squared = dot(x - old, x - old);
    if squared > 400.0 {
      let way = (x - old) * (400.0 / squared);
      set_now(k, old + way);
      set_last(k, (old + way) - way);
    }
    x = next;
  }
}

fn kernel(index: u32) {
  let head = read_guides(2u * index);
  let row = read_guides(2u * index + 1u);
  let frames = read_moment(0u);
  let counts = uniforms().counts;
  let g = Guide(index, head.w, row.x, bitcast<vec3f>(head.xyz), skin_of(row.y, row.z));
  shock(g, integrate(g, frames.y <= 2u));
  let skin = rotation_in(g.skin);
  for (var i = 0u; i < counts.x; i++) { local_shape(g, skin); }
  wind(g, frames.x);
  for (var i = 0u; i < counts.y; i++) {
    lengths(g, 0u);
    lengths(g, 1u);
  }
  finish(g);
}
