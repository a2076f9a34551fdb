// Where solids are near a strand: `look.rs`.

const SLOPE = 0.25;
const SEGMENT_LOOKS = 2u;
const WALKED = 64u;

// Gradient of unit length, along the root's axes, and distance from the solid at hand.
fn look_up(x: vec3f) -> vec4f {
  let found = sampled(point_of(root_now, x));
  let gradient = turned_back(root_now.rotation, found.xyz);
  return vec4f(gradient / sqrt(max(dot(gradient, gradient), 1e-20)), found.w);
}

fn layer_of() -> f32 {
  return max(solid.margin, LEAST_LAYER);
}

// Distance that a vertex keeps which is that far behind the last pin.
fn margin_at(collider: u32, way: f32) -> f32 {
  return min(bases[collider] + way * SLOPE, layer_of());
}

fn find_bases() {
  var pin = 0u;
  for (var i = 1u; i < count; i++) {
    if is_free(i) { break; }
    pin = i;
  }
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if !is_there() { continue; }
    let root = look_up(vec3f(0.0)).w;
    bases[c] = max(max(root, look_up(bound_offset(pin).xyz * size).w), 0.0);
  }
}

// Looks at all vertices, then at segments. In the first iteration vertices come from where the step found them.
fn look(is_first: bool, segments: bool) {
  for (var i = lane; i < count; i += LANES) {
    set_w(4u, i, select(0.0, 1e6, is_free(i)));
    set_room(6u, i, vec4f(0.0));
    for (var slot = 8u; slot < SLOTS; slot++) { set_room(slot, i, vec4f(0.0)); }
    set_w(9u, i, LEAST_LAYER);
    set_w(12u, i, LEAST_LAYER);
    set_w(2u, i, -1.0);
    if is_free(i) { look_at_vertex(i, is_first); }
  }
  sync();
  if segments && COLLIDERS > 0u {
    for (var i = lane; i < count; i += LANES) {
      if i > 0u && is_free(i) && is_free(i - 1u) { look_at_segment(i); }
    }
  }
}

fn look_at_vertex(i: u32, is_first: bool) {
  let x = point(i);
  let known = room(0u, i).w;
  var least = FAR;
  var gap = 1e6;
  let next = min(i + 1u, count - 1u);
  let reach = max(bound_bend(i).x, bound_bend(next).x) * size * 2.0;
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if !is_there() { continue; }
    let margin = margin_at(c, bound_bend(i).z * size);
    var at = x;
    var bound = known;
    if is_first {
      let begins = point_of(carried[c], room(4u, i).xyz);
      bound = known - length(x - begins);
      if bound < margin + reach { at = first_met(begins, x, known); }
    }
    if !(bound < margin + reach) {
      least = min(least, bound);
      gap = min(gap, bound - margin);
      continue;
    }
    let found = look_up(at);
    // As the plane at the surface that a blocked way met says.
    let here = found.w + dot(found.xyz, x - at);
    least = min(least, found.w - length(x - at));
    if here - margin < gap {
      gap = here - margin;
      set_room(6u, i, vec4f(found.xyz, gap - dot(found.xyz, x)));
      set_w(8u, i, 1.0);
      set_w(9u, i, layer_of());
      set_w(10u, i, solid.friction);
      set_w(2u, i, f32(c));
    }
  }
  set_w(0u, i, least);
  set_w(4u, i, gap);
}

// Where the way of a whole step is blocked that begins like that to `x`; `x` where it is not.
fn first_met(begins: vec3f, x: vec3f, known: f32) -> vec3f {
  let ends = begins + (x - begins) / FIRST;
  let moved = length(ends - begins);
  if !(known > 0.0) || moved == 0.0 || known > moved { return x; }
  let detail = solid.spacing * 2.0;
  let distance = sampled(point_of(root_now, ends)).w;
  if !(distance < known && (known + distance < moved || distance < -detail)) { return x; }
  let least = 0.5 * min(detail, moved);
  var share = 0.0;
  var free = 0.0;
  var step = max(known, least);
  for (var k = 0u; k < WALKED; k++) {
    share += step / moved;
    if share >= 1.0 { break; }
    let d = sampled(point_of(root_now, mix(begins, ends, share))).w;
    if d < 0.0 { return mix(begins, ends, free); }
    free = share;
    step = max(d, least);
  }
  return select(mix(begins, ends, free), x, distance >= 0.0);
}

struct Nearest {
  normal: vec3f,
  gap: f32,
  collider: u32,
}

fn nearest(x: vec3f, way: f32) -> Nearest {
  var best = Nearest(vec3f(0.0), FAR, 0u);
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if !is_there() { continue; }
    let found = look_up(x);
    let gap = found.w - margin_at(c, way);
    if gap < best.gap { best = Nearest(found.xyz, gap, c); }
  }
  return best;
}

fn look_at_segment(i: u32) {
  let extent = bound_bend(i).x * size;
  let a = point(i - 1u);
  let b = point(i);
  var gap_a = room(4u, i - 1u).w;
  var gap_b = room(4u, i).w;
  if !(gap_a + gap_b < extent) { return; }
  let along = b - a;
  var slope_a = -extent;
  var slope_b = extent;
  if room(8u, i - 1u).w > 0.0 { slope_a = dot(room(6u, i - 1u).xyz, along); }
  if room(8u, i).w > 0.0 { slope_b = dot(room(6u, i).xyz, along); }
  let shallower = min(gap_a, gap_b);
  let way = bound_bend(i - 1u).z * size;
  var low = 0.0;
  var high = 1.0;
  var deepest = Nearest(vec3f(0.0), FAR, 0u);
  var at_share = 0.0;
  for (var k = 0u; k < SEGMENT_LOOKS; k++) {
    if slope_a >= 0.0 || slope_b <= 0.0 { break; }
    let span = high - low;
    // Where the tangents of both ends meet, and how deep that is.
    let meet = (gap_b - gap_a - slope_b * high + slope_a * low) / (slope_a - slope_b);
    if gap_a + slope_a * (meet - low) > 0.0 { break; }
    let is_ridge = slope_a < -0.5 * extent && slope_b > 0.5 * extent;
    let level = low + span * slope_a / (slope_a - slope_b);
    let share = clamp(select(level, meet, is_ridge), low + 0.02 * span, high - 0.02 * span);
    let found = nearest(a + along * share, way + share * extent);
    if found.gap < deepest.gap {
      deepest = found;
      at_share = share;
    }
    let slope = dot(found.normal, along);
    if slope > 0.0 {
      high = share;
      gap_b = found.gap;
      slope_b = slope;
    } else {
      low = share;
      gap_a = found.gap;
      slope_a = slope;
    }
  }
  if deepest.gap >= FAR { return; }
  use_solid(deepest.collider);
  let layer = layer_of();
  let between = min(min(8.0 * at_share, 8.0 * (1.0 - at_share)), 1.0);
  let deeper = clamp((shallower - deepest.gap) * 5.0 / layer, 0.0, 1.0);
  let x = a + along * at_share;
  set_room(7u, i, vec4f(deepest.normal, deepest.gap - dot(deepest.normal, x)));
  set_w(5u, i, at_share);
  set_w(11u, i, between * deeper);
  set_w(12u, i, layer);
  set_w(13u, i, solid.friction);
}

// Whether a vertex of the invocation touches something where it is.
fn is_touching() -> bool {
  var out = false;
  for (var i = lane; i < count; i += LANES) { out = out || (room(8u, i).w > 0.0 && room(4u, i).w < 0.0); }
  return out;
}

// Whether one is inside of a solid, as far as the last look tells.
fn is_inside() -> bool {
  var out = false;
  for (var i = lane; i < count; i += LANES) {
    let plane_of = room(6u, i);
    let gap = dot(plane_of.xyz, point(i)) + plane_of.w;
    out = out || (room(8u, i).w > 0.0 && gap + room(9u, i).w < 0.0);
  }
  return out;
}
