// Strands against placed solids, a team of invocations each: `contact.rs` and `placed.rs`. A workgroup has TEAMS teams of LANES invocations. Vertices are
// moved out side by side, segments are looked at side by side, and moved by the first invocation of the team, root first.
//
// Needs `solid.wgsl`, `count` and `exempt` of the strand, and of its vertices `point`, `set_point`, `distance_at`, `set_distance`, `start_of`, `free_by`, `inverse_mass_of`,
// `most_margin_of`, `touch`, `press`, `set_hit`, `hit_at`, and `sync`, behind which all of the group see what one of them wrote.

// Steps out of a solid, at most.
const PUSHES = 4u;
// Steps along a path, at most.
const SWEEP_STEPS = 48u;
// Samples of one segment, at most.
const SAMPLES = 1024u;
// Margins grow by this share of the way along the strand.
const RISE = 0.25;

// Of the invocation: its team, and its place in it.
var<private> team: u32;
var<private> lane: u32;

// A place that is too deep, where one is found: the depth is zero otherwise.
struct Hit {
  normal: vec3f,
  depth: f32,
  // 0 at the root's side of a segment, 1 at the tip's.
  share: f32,
  collider: u32,
}

fn across(v: vec3f) -> vec3f {
  var other = vec3f(1.0, 0.0, 0.0);
  if abs(v.x) >= 0.7 { other = vec3f(0.0, 1.0, 0.0); }
  return unit_or(cross(v, other), vec3f(0.0, 0.0, 1.0));
}

// How far a vertex keeps from the surface of the solid at hand.
fn margin_at(i: u32) -> f32 {
  let most = most_margin_of(i);
  if most >= solid.margin { return solid.margin; }
  return min(solid.margin, max(sampled(point(exempt - 1u)).w, 0.0) + most);
}

// Margins at both ends of the segment that leads to `i`, the first of which has this distance. Where that one is exempt, the segment begins as deep as it is.
fn margins_along(i: u32, at_start: f32) -> vec2f {
  if i <= exempt { return vec2f(solid.margin, min(solid.margin, max(at_start, 0.0) + most_margin_of(i))); }
  let before = most_margin_of(i - 1u);
  if before >= solid.margin { return vec2f(solid.margin); }
  let base = max(sampled(point(exempt - 1u)).w, 0.0);
  return min(vec2f(solid.margin), base + vec2f(before, most_margin_of(i)));
}

// What a margin grows to in this way along the strand from the last exempt vertex: `most_margin` in `contact.rs`.
fn grown_margin(way: f32) -> f32 {
  return select(way * RISE, FAR, exempt == 0u);
}

// Moves vertices and segments out of the solids that a bit of `mine` stands for each; lengths change. `of_all`: the bits of all teams.
fn push_out(mine: u32, of_all: u32) {
  for (var c = 0u; c < COLLIDERS; c++) {
    if (of_all & (1u << c)) != 0u {
      let is_mine = (mine & (1u << c)) != 0u;
      if is_mine {
        use_solid(c);
        for (var i = lane; i < count; i += LANES) { push_vertex(i); }
      }
      sync();
      if is_mine {
        for (var i = lane + 1u; i < count; i += LANES) { look_at_segment(i, c); }
      }
      sync();
      if is_mine && lane == 0u && is_sampled() { push_segments(); }
      sync();
    }
  }
}

fn push_vertex(i: u32) {
  let x = point(i);
  let moved = length(x - point_of(solid.carry, start_of(i)));
  let found = sampled(x);
  var clearance = found.w;
  let held = i < exempt || inverse_mass_of(i) <= 0.0;
  let fast = moved > solid.spacing && clearance <= solid.margin + moved * 2.0;
  if !held && (fast || clearance < solid.margin - solid.tolerance) {
    let margin = margin_at(i);
    if fast || clearance < margin - solid.tolerance { clearance = resolve(i, moved, found, margin); }
  }
  set_distance(i, clearance);
}

// Moves one vertex out to where it has this margin, given what was sampled there; returns its distance afterwards.
fn resolve(i: u32, moved: f32, first: vec4f, margin: f32) -> f32 {
  var push = 0.0;
  var normal = vec3f(0.0);
  var x = point(i);
  var found = first;
  var is_known = true;
  if moved > solid.spacing {
    let met = first_hit(start_of(i), x, first.w, margin);
    let left = x - hit_point;
    let inward = -dot(left, met);
    if inward > 0.0 {
      x = hit_point + left + met * inward;
      push += inward;
      normal = met;
      is_known = false;
    }
  }
  let toward_start = unit_or(point_of(solid.carry, start_of(i)) - x, vec3f(0.0, 1.0, 0.0));
  var gap = 0.0;
  for (var turn = 0u; turn < PUSHES; turn++) {
    if !is_known { found = sampled(x); }
    is_known = false;
    let outwards = unit_or(found.xyz, toward_start);
    gap = found.w;
    let lack = margin - gap;
    if lack <= solid.tolerance { break; }
    x += outwards * lack;
    push += lack;
    normal = outwards;
    // Over a short way the distance is nearly linear.
    gap = margin - solid.tolerance;
    if lack < solid.spacing && is_sampled() { break; }
  }
  if push > 0.0 {
    let relative = x - point_of(solid.carry, start_of(i));
    // Only as much of the way out as the step led in is a response to motion.
    let outward = dot(normal, relative);
    if outward > solid.tolerance { free_by(i, normal * outward); }
    push = max(push - max(outward, 0.0), 0.0);
    x -= rubbed(relative, normal, push * solid.friction);
    touch(i, normal, x - point_before(solid.carry, x));
  }
  set_point(i, x);
  return gap;
}

// The part of a sliding motion that dry friction takes back.
fn rubbed(relative: vec3f, normal: vec3f, most: f32) -> vec3f {
  let sliding = relative - normal * dot(normal, relative);
  let extent = length(sliding);
  if extent <= most { return sliding; }
  if extent > 0.0 { return sliding * (most / extent); }
  return vec3f(0.0);
}

// Of `first_hit`.
var<private> hit_point: vec3f;

// Finds where a vertex meets the moving solid, carried on to the end of the step, and gives the normal there; zero where it meets nothing.
fn first_hit(start: vec3f, x: vec3f, at_end: f32, margin: f32) -> vec3f {
  let none = vec3f(0.0);
  let way = way_of(start, x);
  let least = max(solid.spacing / way.speed, 1e-3);
  var t = 0.0;
  for (var step = 0u; step < SWEEP_STEPS; step++) {
    let local = way.begins + (way.leaves + way.bends * t) * t;
    let found = field_sample(solid.field, local);
    let gap = found.w - margin;
    if gap < -solid.tolerance {
      if step == 0u { return none; }
      let normal = unit_or(in_scene(found.xyz), vec3f(0.0, 1.0, 0.0));
      hit_point = in_scene(local) + solid.origin - normal * gap;
      return normal;
    }
    // Both ends are so far away that nothing between them can touch.
    if step == 0u && found.w + at_end - way.speed >= 2.0 * margin { return none; }
    t += max(gap / way.speed, least);
    if t >= 1.0 { break; }
  }
  return none;
}

fn weight_of(i: u32) -> f32 {
  return select(inverse_mass_of(i), 0.0, i < exempt);
}

// Keeps the deepest place of segment `i` in the solid at hand, which is that of the collider.
fn look_at_segment(i: u32, collider: u32) {
  var hit = Hit(vec3f(0.0), 0.0, 0.0, collider);
  if is_sampled() && weight_of(i - 1u) + weight_of(i) > 0.0 {
    let a = point(i - 1u);
    let b = point(i);
    let ends = vec2f(distance_at(i - 1u), distance_at(i));
    if !is_clear(ends, solid.margin, length(b - a)) {
      hit = deepest(a, b, ends, margins_along(i, ends.x), collider);
    }
  }
  set_hit(i, hit);
}

// From the root to the tip; how far the segment before took the common vertex along counts to first order.
fn push_segments() {
  var found = point(0u);
  for (var i = 1u; i < count; i++) {
    let at = found;
    found = point(i);
    var hit = hit_at(i);
    if hit.depth > 0.0 {
      hit.depth -= dot(hit.normal, point(i - 1u) - at) * (1.0 - hit.share);
      if hit.depth > solid.tolerance { push_segment(i, hit); }
    }
  }
}

fn push_segment(i: u32, hit: Hit) {
  let a = point(i - 1u);
  let b = point(i);
  let w = vec2f(weight_of(i - 1u), weight_of(i));
  let at_a = 1.0 - hit.share;
  let at_b = hit.share;
  let weights = at_a * at_a * w.x + at_b * at_b * w.y;
  if weights <= 0.0 { return; }
  let way = hit.normal * hit.depth;
  let carried_a = a - point_of(solid.carry, start_of(i - 1u));
  let carried_b = b - point_of(solid.carry, start_of(i));
  let relative = carried_a * at_a + carried_b * at_b + way;
  let shift = (way - rubbed(relative, hit.normal, hit.depth * solid.friction)) / weights;
  // A contact close to an end that cannot move would throw the other end far away.
  let most = length(b - a) * 0.5;
  set_point(i - 1u, a + kept_below(shift * (at_a * w.x), most));
  set_point(i, b + kept_below(shift * (at_b * w.y), most));
  let place = a * at_a + b * at_b;
  press(i, hit.normal, place - point_before(solid.carry, place), hit.share);
}

fn kept_below(shift: vec3f, most: f32) -> vec3f {
  let extent = length(shift);
  if extent > most { return shift * (most / extent); }
  return shift;
}

// Whether everything between two points with these distances keeps a margin.
fn is_clear(ends: vec2f, margin: f32, extent: f32) -> bool {
  return ends.x + ends.y - extent >= margin + margin;
}

// The deepest sample between two points with these distances and margins, in the solid at hand.
fn deepest(a: vec3f, b: vec3f, ends: vec2f, margins: vec2f, collider: u32) -> Hit {
  var hit = Hit(vec3f(0.0), 0.0, 0.0, collider);
  let extent = length(b - a);
  // Where the root's side is too deep already, the segment leads out in a straight line.
  let begins = min(margins.x, ends.x);
  let margin = max(begins, margins.y);
  if is_clear(ends, margin, extent) || extent <= 0.0 { return hit; }
  let least = max(solid.spacing, extent / f32(SAMPLES));
  var most = solid.tolerance;
  var gradient = vec3f(0.0);
  var walked = 0.0;
  var gap = ends.x;
  for (var k = 0u; k <= SAMPLES; k++) {
    walked += max(gap - margin, least);
    // At the end, or no number.
    if !(walked < extent) { break; }
    let s = walked / extent;
    let found = sampled(a + (b - a) * s);
    gap = found.w;
    let depth = begins + (margins.y - begins) * s - gap;
    if depth > most {
      most = depth;
      hit = Hit(found.xyz, depth, s, collider);
    }
  }
  if hit.depth > 0.0 { hit.normal = unit_or(hit.normal, across(unit_or(b - a, vec3f(0.0, 1.0, 0.0)))); }
  return hit;
}
