// Where solids are near a strand: `look.rs`.

const SLOPE = 0.25;
// Of surfaces that are others at each look: `look.rs`.
const AGREES = 0.9;
const LEAST_DOUBT = 0.02;
const DOUBTS_MORE = 3.0;
const MOST_DOUBT = 1e4;
const DOUBTS_LESS = 0.97;
const SEGMENT_LOOKS = 2u;
const WALKED = 64u;
const WAY_LOOKS = WALKED + 2u;

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

// How far solids are from the root, and from the pins: an invocation of the team for each solid.
fn find_bases() {
  if lane < COLLIDERS {
    use_solid(lane);
    var root = FAR;
    var base = 0.0;
    if is_there() {
      for (var k = 0u; k < 2u; k++) {
        let found = look_up(select(vec3f(0.0), pin * size, k > 0u)).w;
        root = select(root, found, k == 0u);
        base = max(base, found);
      }
    }
    set_cell(0u, vec4f(root, base, 0.0, 0.0));
  }
  sync();
  for (var c = 0u; c < COLLIDERS; c++) {
    root_far[c] = cell(0u, c).x;
    bases[c] = cell(0u, c).y;
  }
  sync();
  find_near();
}

// Which solids the strand can reach.
fn find_near() {
  near = 0u;
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if is_there() && root_far[c] - layer_of() < reach { near |= 1u << c; }
  }
}

// Looks at the vertex, then at its segment. In the first iteration the vertex comes from where the step found it.
fn look(is_first: bool, segments: bool) {
  contact.on = 0.0;
  segment.on = 0.0;
  me.gap = 0.0;
  me.touched = -1.0;
  if COLLIDERS == 0u { return; }
  if is_free { look_at_vertex(is_first); }
  var is_another_one = is_another(seen, contact);
  if contact.on > 0.0 { seen = contact.normal; }
  if segments {
    set_cell(0u, vec4f(me.x, me.gap));
    set_cell(1u, vec4f(contact.normal, contact.on));
    sync();
    if is_led { look_at_segment(cell(0u, lane - 1u), cell(1u, lane - 1u)); }
    sync();
    is_another_one = is_another_one || is_another(segment_seen, segment);
    if segment.on > 0.0 { segment_seen = segment.normal; }
  }
  let more = clamp(me.doubt * DOUBTS_MORE, LEAST_DOUBT, MOST_DOUBT);
  me.doubt = select(me.doubt * DOUBTS_LESS, more, is_another_one);
}

// Whether a surface faces another way than the last one that was there.
fn is_another(before: vec3f, now: Touch) -> bool {
  return now.on > 0.0 && any(before != vec3f(0.0)) && dot(before, now.normal) < AGREES;
}

fn look_at_vertex(is_first: bool) {
  let known = me.room;
  var least = FAR;
  var gap = 1e6;
  let around = me.longest * size * 2.0;
  for (var c = 0u; c < COLLIDERS; c++) {
    if !is_near(c) {
      least = min(least, root_far[c] - reach);
      continue;
    }
    use_solid(c);
    let margin = margin_at(c, me.way * size);
    var begins = me.x;
    var bound = known;
    if is_first {
      begins = point_of(carried[c], me.before);
      bound = known - length(me.x - begins);
    }
    if !(bound < margin + around) {
      least = min(least, bound);
      gap = min(gap, bound - margin);
      continue;
    }
    let at = first_met(begins, me.x, known);
    let found = met;
    // As the plane at the surface that a blocked way met says.
    let here = found.w + dot(found.xyz, me.x - at);
    least = min(least, found.w - length(me.x - at));
    if here - margin < gap {
      gap = here - margin;
      contact = Touch(found.xyz, gap - dot(found.xyz, me.x), 1.0, layer_of(), solid.friction, 0.0);
      me.touched = f32(c);
    }
  }
  me.room = least;
  me.gap = gap;
}

// Gradient and distance where `first_met` says.
var<private> met: vec4f;

// Where the way of a whole step is blocked that begins like that to `x`; `x` where it is not. All looks are at one place of the program: at `x`,
// and, where something may be in the way, at its end, then from its beginning on along it.
fn first_met(begins: vec3f, x: vec3f, known: f32) -> vec3f {
  let ends = begins + (x - begins) / first_look;
  let moved = length(ends - begins);
  let least = 0.5 * min(solid.detail, moved);
  var here = vec4f(0.0);
  var end = 0.0;
  var at = x;
  var share = 0.0;
  var free = 0.0;
  var is_blocked = false;
  for (var n = 0u; n < WAY_LOOKS; n++) {
    met = look_up(at);
    let d = met.w;
    if is_blocked { return at; }
    if n == 0u {
      here = met;
      // Nothing is in the ball around `x` that holds the way.
      if moved == 0.0 || known > moved || d >= moved * max(first_look, 1.0 - first_look) { break; }
      at = ends;
    } else if n == 1u {
      end = d;
      at = begins;
    } else {
      if n == 2u && (d <= 0.0 || (d + end >= moved && end >= -solid.detail)) { break; }
      let meets = d < 0.0;
      if !meets {
        free = share;
        share += max(d, least) / moved;
      }
      is_blocked = meets || share >= 1.0 || n == WALKED;
      if is_blocked && !meets && end >= 0.0 { break; }
      at = mix(begins, ends, select(share, free, is_blocked));
    }
  }
  met = here;
  return x;
}

struct Nearest {
  normal: vec3f,
  gap: f32,
  collider: u32,
}

fn nearest(x: vec3f, way: f32) -> Nearest {
  var best = Nearest(vec3f(0.0), FAR, 0u);
  for (var c = 0u; c < COLLIDERS; c++) {
    if !is_near(c) { continue; }
    use_solid(c);
    let found = look_up(x);
    let gap = found.w - margin_at(c, way);
    if gap < best.gap { best = Nearest(found.xyz, gap, c); }
  }
  return best;
}

// `before` is where the segment begins and how far that is beyond the margin, `surface` the normal there and whether one was found.
fn look_at_segment(before: vec4f, surface: vec4f) {
  let extent = me.extent * size;
  var gap_a = before.w;
  var gap_b = me.gap;
  if !(gap_a + gap_b < extent) { return; }
  let along = me.x - before.xyz;
  var slope_a = -extent;
  var slope_b = extent;
  if surface.w > 0.0 { slope_a = dot(surface.xyz, along); }
  if contact.on > 0.0 { slope_b = dot(contact.normal, along); }
  let shallower = min(gap_a, gap_b);
  let way = me.way * size - extent;
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
    let found = nearest(before.xyz + along * share, way + share * extent);
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
  let x = before.xyz + along * at_share;
  segment = Touch(deepest.normal, deepest.gap - dot(deepest.normal, x), between * deeper, layer, solid.friction, 0.0);
  place = at_share;
}
