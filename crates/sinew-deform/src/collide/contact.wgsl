// One strand against placed solids, by a workgroup: `contact.rs` and `placed.rs`. Vertices are moved out side by side. Segments, which wait for each
// other, are worked on by the first invocation; all of the group sample the one at hand.
//
// Needs `solid.wgsl`, and of the strand `point`, `set_point`, `distance_at`, `set_distance`, `start_of`, `free_by`, `inverse_mass_of`, `touch`, `press`,
// and `sync`, behind which all of the group see what one of them wrote.

// Invocations of a group.
const LANES = 32u;
// Steps out of a solid, at most.
const PUSHES = 4u;
// Steps along a path, at most.
const SWEEP_STEPS = 48u;
// Samples of one segment, at most.
const SAMPLES = 1024.0;

struct Hit {
  found: bool,
  share: f32,
  normal: vec3f,
  depth: f32,
}

// The segment at hand: its number, its ends, and into how many parts samples cut it.
var<workgroup> segment: u32;
var<workgroup> segment_from: vec3f;
var<workgroup> segment_to: vec3f;
var<workgroup> segment_parts: u32;
// Gradient in the scene and distance, of samples side by side.
var<workgroup> samples: array<vec4f, LANES>;

fn across(v: vec3f) -> vec3f {
  var other = vec3f(1.0, 0.0, 0.0);
  if abs(v.x) >= 0.7 { other = vec3f(0.0, 1.0, 0.0); }
  return unit_or(cross(v, other), vec3f(0.0, 0.0, 1.0));
}

// Moves vertices and segments out of the solids that a bit stands for each; lengths change.
fn push_out(count: u32, exempt: u32, reachable: u32, local: u32) {
  for (var c = 0u; c < COLLIDERS; c++) {
    if (reachable & (1u << c)) != 0u {
      use_solid(c);
      for (var i = local; i < count; i += LANES) { push_vertex(i, i < exempt); }
      sync();
      push_segments(count, exempt, local);
      sync();
    }
  }
}

fn push_vertex(i: u32, is_exempt: bool) {
  let x = point(i);
  let moved = length(x - point_of(solid.carry, start_of(i)));
  let found = sampled(x);
  var clearance = found.w;
  let held = is_exempt || inverse_mass_of(i) <= 0.0;
  let inside = clearance < solid.margin - solid.tolerance;
  let fast = moved > solid.spacing && clearance <= solid.margin + moved * 2.0;
  if (inside || fast) && !held { clearance = resolve(i, moved, found); }
  set_distance(i, clearance);
}

// Moves one vertex out, given what was sampled there; returns its distance afterwards.
fn resolve(i: u32, moved: f32, first: vec4f) -> f32 {
  var push = 0.0;
  var normal = vec3f(0.0);
  var x = point(i);
  var found = first;
  var is_known = true;
  if moved > solid.spacing {
    let hit = first_hit(start_of(i), x, first.w);
    if hit.found {
      let left = x - hit_point;
      let inward = -dot(left, hit.normal);
      if inward > 0.0 {
        x = hit_point + left + hit.normal * inward;
        push += inward;
        normal = hit.normal;
        is_known = false;
      }
    }
  }
  let toward_start = unit_or(point_of(solid.carry, start_of(i)) - x, vec3f(0.0, 1.0, 0.0));
  var gap = 0.0;
  for (var turn = 0u; turn < PUSHES; turn++) {
    if !is_known { found = sampled(x); }
    is_known = false;
    let outwards = unit_or(found.xyz, toward_start);
    gap = found.w;
    let lack = solid.margin - gap;
    if lack <= solid.tolerance { break; }
    x += outwards * lack;
    push += lack;
    normal = outwards;
    // Over a short way the distance is nearly linear.
    gap = solid.margin - solid.tolerance;
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

// Where a vertex meets the moving solid, carried on to the end of the step, and the normal there. In the solid's frame its way is taken
// for a parabola.
fn first_hit(start: vec3f, x: vec3f, at_end: f32) -> Hit {
  let none = Hit(false, 0.0, vec3f(0.0), 0.0);
  let begins = point_before(placement_rigid(9u), start);
  let middle = point_before(placement_rigid(12u), (start + x) * 0.5);
  let ends = local_point(x);
  let leaves = (middle - begins) * 4.0 - (ends - begins);
  let bends = (begins + ends - middle * 2.0) * 2.0;
  let speed = max(length(leaves), length(leaves + bends * 2.0));
  let least = max(solid.spacing / speed, 1e-3);
  var t = 0.0;
  for (var step = 0u; step < SWEEP_STEPS; step++) {
    let local = begins + (leaves + bends * t) * t;
    let found = field_sample(solid.field, local);
    let gap = found.w - solid.margin;
    if gap < -solid.tolerance {
      if step == 0u { return none; }
      let normal = unit_or(in_scene(found.xyz), vec3f(0.0, 1.0, 0.0));
      hit_point = in_scene(local) + solid.origin - normal * gap;
      return Hit(true, 0.0, normal, 0.0);
    }
    // Both ends are so far away that nothing between them can touch.
    if step == 0u && found.w + at_end - speed >= 2.0 * solid.margin { return none; }
    t += max(gap / speed, least);
    if t >= 1.0 { break; }
  }
  return none;
}

// A placement of the solid at hand: rotation, then translation.
fn placement_rigid(part: u32) -> Rigid {
  return Rigid(placement_floats(solid.at + part), placement_floats(solid.at + part + 1u).xyz);
}

// Its vertices must have their distances.
fn push_segments(count: u32, exempt: u32, local: u32) {
  if local == 0u { find_segment(1u, count, exempt); }
  for (var turn = 1u; turn < count; turn++) {
    let i = workgroupUniformLoad(&segment);
    if i >= count { break; }
    begin_hit();
    let parts = workgroupUniformLoad(&segment_parts);
    for (var first = 1u; first < parts; first += LANES) {
      sample_segment(first + local, parts, local);
      workgroupBarrier();
      if local == 0u { take_samples(first, parts, distance_at(i - 1u)); }
      workgroupBarrier();
    }
    if local == 0u {
      push_segment(i, exempt);
      find_segment(i + 1u, count, exempt);
    }
  }
}

fn weight_of(i: u32, exempt: u32) -> f32 {
  return select(inverse_mass_of(i), 0.0, i < exempt);
}

// Looks from segment `i` on for one that may touch, by the distances of its ends.
fn find_segment(i: u32, count: u32, exempt: u32) {
  segment = count;
  if !is_sampled() { return; }
  for (var k = i; k < count; k++) {
    let a = point(k - 1u);
    let b = point(k);
    let is_held = weight_of(k - 1u, exempt) + weight_of(k, exempt) <= 0.0;
    if !is_held && may_touch(length(b - a), distance_at(k - 1u), distance_at(k)) {
      segment = k;
      lay_segment(a, b);
      return;
    }
  }
}

// Whether a segment that is so long and has these (least) distances at its ends can be too deep between them.
fn may_touch(extent: f32, at_root: f32, at_tip: f32) -> bool {
  return at_root + at_tip - extent < solid.margin + solid.margin && extent > solid.spacing;
}

// Puts a segment where all invocations see it.
fn lay_segment(a: vec3f, b: vec3f) {
  segment_from = a;
  segment_to = b;
  segment_parts = parts_of(length(b - a));
}

fn parts_of(extent: f32) -> u32 {
  return u32(clamp(ceil(extent / solid.spacing), 1.0, SAMPLES));
}

// Sample `k` of the segment at hand.
fn sample_segment(k: u32, parts: u32, local: u32) {
  if k > parts { return; }
  samples[local] = sampled(segment_from + (segment_to - segment_from) * (f32(k) / f32(parts)));
}

// Of the first invocation: the deepest sample so far.
var<private> hit: Hit;

fn begin_hit() {
  hit = Hit(false, 0.0, vec3f(0.0), solid.tolerance);
}

// Looks at samples between the ends, from the one numbered `first` on.
fn take_samples(first: u32, parts: u32, at_root: f32) {
  // Where the root's side is too deep already, the segment leads out in a straight line.
  let lack = max(solid.margin - at_root, 0.0);
  for (var k = 0u; k < LANES; k++) {
    let number = first + k;
    if number >= parts { break; }
    let s = f32(number) / f32(parts);
    let found = samples[k];
    let depth = solid.margin - lack * (1.0 - s) - found.w;
    if number > 0u && depth > hit.depth { hit = Hit(true, s, found.xyz, depth); }
  }
}

// The normal at the deepest sample.
fn normal_of_hit(direction: vec3f) -> vec3f {
  return unit_or(hit.normal, across(direction));
}

fn push_segment(i: u32, exempt: u32) {
  if !hit.found { return; }
  let a = point(i - 1u);
  let b = point(i);
  let w = vec2f(weight_of(i - 1u, exempt), weight_of(i, exempt));
  let normal = normal_of_hit(unit_or(b - a, vec3f(0.0, 1.0, 0.0)));
  let at_a = 1.0 - hit.share;
  let at_b = hit.share;
  let weights = at_a * at_a * w.x + at_b * at_b * w.y;
  if weights <= 0.0 { return; }
  let way = normal * hit.depth;
  let carried_a = a - point_of(solid.carry, start_of(i - 1u));
  let carried_b = b - point_of(solid.carry, start_of(i));
  let relative = carried_a * at_a + carried_b * at_b + way;
  let shift = (way - rubbed(relative, normal, hit.depth * solid.friction)) / weights;
  // A contact close to an end that cannot move would throw the other end far away.
  let most = length(b - a) * 0.5;
  move_by(i - 1u, shift * (at_a * w.x), most);
  move_by(i, shift * (at_b * w.y), most);
  let place = a * at_a + b * at_b;
  press(i, normal, place - point_before(solid.carry, place), hit.share);
}

fn move_by(i: u32, shift: vec3f, most: f32) {
  let extent = length(shift);
  var limited = shift;
  if extent > most { limited = shift * (most / extent); }
  set_point(i, point(i) + limited);
  set_distance(i, distance_at(i) - min(extent, most));
}
