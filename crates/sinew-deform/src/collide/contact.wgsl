// One strand against placed solids, vertex after vertex from the root: `contact.rs` and `placed.rs`, name by name.
//
// Needs `motion.wgsl`, `field.wgsl`, `placement_word(at)`, `placement_of(collider)`, the constant COLLIDERS, and of the strand `point`,
// `set_point`, `distance_at`, `set_distance`, `start_of`, `free_by`, `inverse_mass_of`, `touch`, `press`.

// Steps out of a solid, at most.
const PUSHES = 4u;
// Steps along a path, at most.
const SWEEP_STEPS = 48u;
// Strands are taken for longer than they are by this factor: lengths come with roundings.
const LONGER = 1.01;
// Samples of one segment, at most.
const SAMPLES = 1024u;

// A collider during a step.
struct Solid {
  field: Field,
  at: u32,
  // Rows of the rotation to the solid at the end of the step.
  x: vec3f,
  y: vec3f,
  z: vec3f,
  origin: vec3f,
  carry: Rigid,
  margin: f32,
  friction: f32,
  spacing: f32,
  tolerance: f32,
}

struct Hit {
  found: bool,
  share: f32,
  normal: vec3f,
  depth: f32,
}

var<private> solid: Solid;
// Those that the strand cannot touch in this step, a bit each.
var<private> out_of_reach: u32;
// Whose placement is in it.
var<private> solid_at: u32;

fn placement_floats(at: u32) -> vec4f {
  return bitcast<vec4f>(placement_word(at));
}

// Brings a collider to hand.
fn use_solid(collider: u32) {
  let at = placement_of(collider);
  if solid_at == at { return; }
  solid_at = at;
  let a = placement_floats(at);
  let b = placement_floats(at + 1u);
  let c = placement_floats(at + 2u);
  let carried = placement_floats(at + 4u);
  let contact = placement_floats(at + 5u);
  let lattice = placement_floats(at + 6u);
  let size = placement_word(at + 7u);
  let starts = placement_word(at + 8u);
  let kind = placement_word(at + 5u).w;
  solid.field = Field(collider, kind, size.w, starts.x, starts.y, starts.z, size.xyz, lattice.xyz, lattice.w, bitcast<f32>(starts.w));
  solid.at = at;
  solid.x = a.xyz;
  solid.y = b.xyz;
  solid.z = c.xyz;
  solid.origin = vec3f(a.w, b.w, c.w);
  solid.carry = Rigid(placement_floats(at + 3u), carried.xyz);
  solid.margin = carried.w;
  solid.friction = contact.x;
  solid.spacing = contact.y;
  solid.tolerance = contact.z;
}

fn is_there() -> bool {
  return solid.field.kind != 0u;
}

// Leaves out what a strand cannot touch that is no longer than `reach` and hangs on a point that the step brings from `start` to `root`.
fn find_out_of_reach(start: vec3f, root: vec3f, reach: f32) {
  out_of_reach = 0u;
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if is_there() {
      let moved = length(root - point_of(solid.carry, start));
      if sampled(root).w - solid.margin > reach * LONGER + moved + moved { out_of_reach |= 1u << c; }
    } else {
      out_of_reach |= 1u << c;
    }
  }
}

fn is_in_reach(collider: u32) -> bool {
  return (out_of_reach & (1u << collider)) == 0u;
}

// Whether segments need samples between their ends.
fn is_sampled() -> bool {
  return solid.spacing < 1e37;
}

fn local_point(x: vec3f) -> vec3f {
  let v = x - solid.origin;
  return vec3f(dot(solid.x, v), dot(solid.y, v), dot(solid.z, v));
}

// Gradient in the scene, of any length, and distance last.
fn sampled(x: vec3f) -> vec4f {
  let found = field_sample(solid.field, local_point(x));
  return vec4f(in_scene(found.xyz), found.w);
}

// A vector of the solid's frame.
fn in_scene(v: vec3f) -> vec3f {
  return solid.x * v.x + solid.y * v.y + solid.z * v.z;
}

fn across(v: vec3f) -> vec3f {
  var other = vec3f(1.0, 0.0, 0.0);
  if abs(v.x) >= 0.7 { other = vec3f(0.0, 1.0, 0.0); }
  return unit_or(cross(v, other), vec3f(0.0, 0.0, 1.0));
}

// Moves vertices and segments out of the solids; lengths change.
fn push_out(count: u32, exempt: u32) {
  for (var c = 0u; c < COLLIDERS; c++) {
    if is_in_reach(c) {
      use_solid(c);
      let near = push_vertices(count, exempt);
      if near && is_sampled() { push_segments(count, exempt); }
    }
  }
}

// Tells whether any segment may touch, by the distances of its ends.
fn push_vertices(count: u32, exempt: u32) -> bool {
  var before = vec3f(0.0);
  var clearance = -1.0;
  var last = -1.0;
  var near = false;
  for (var i = 0u; i < count; i++) {
    var x = point(i);
    let step = length(x - before);
    // Distances grow no faster than the way: where the last vertex was far enough, this one is, too.
    if clearance > solid.margin { clearance -= step; }
    before = x;
    let moved = length(x - point_of(solid.carry, start_of(i)));
    let reach = solid.margin + moved * 2.0;
    if clearance <= reach {
      let found = sampled(x);
      clearance = found.w;
      let held = i < exempt || inverse_mass_of(i) <= 0.0;
      let inside = clearance < solid.margin - solid.tolerance;
      let fast = moved > solid.spacing && clearance <= reach;
      if (inside || fast) && !held {
        clearance = resolve(i, moved, found);
        x = point(i);
        before = x;
        near = true;
      }
    }
    set_distance(i, clearance);
    // As `deepest` asks; vertices that were moved are near anyway.
    near = near || (i > 0u && last + clearance - step < 2.0 * solid.margin);
    last = clearance;
  }
  return near;
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

fn push_segments(count: u32, exempt: u32) {
  for (var i = 1u; i < count; i++) {
    let a = point(i - 1u);
    let b = point(i);
    let wa = select(inverse_mass_of(i - 1u), 0.0, i - 1u < exempt);
    let wb = select(inverse_mass_of(i), 0.0, i < exempt);
    if wa + wb > 0.0 {
      let hit = deepest(a, b, vec2f(distance_at(i - 1u), distance_at(i)));
      if hit.found { push_segment(i, hit, vec2f(wa, wb)); }
    }
  }
}

fn push_segment(i: u32, hit: Hit, w: vec2f) {
  let a = point(i - 1u);
  let b = point(i);
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
  move_by(i - 1u, shift * (at_a * w.x), most);
  move_by(i, shift * (at_b * w.y), most);
  let place = a * at_a + b * at_b;
  press(i, hit.normal, place - point_before(solid.carry, place), hit.share);
}

fn move_by(i: u32, shift: vec3f, most: f32) {
  let extent = length(shift);
  var limited = shift;
  if extent > most { limited = shift * (most / extent); }
  set_point(i, point(i) + limited);
  set_distance(i, distance_at(i) - min(extent, most));
}

// The deepest sample between two points with these (least) distances.
fn deepest(a: vec3f, b: vec3f, ends: vec2f) -> Hit {
  var hit = Hit(false, 0.0, vec3f(0.0), solid.tolerance);
  let extent = length(b - a);
  if ends.x + ends.y - extent >= solid.margin + solid.margin || extent <= 0.0 { return hit; }
  // Where the root's side is too deep already, the segment leads out in a straight line.
  let lack = max(solid.margin - ends.x, 0.0);
  let least = max(solid.spacing, extent / f32(SAMPLES));
  var gradient = vec3f(0.0);
  var walked = 0.0;
  var gap = ends.x;
  for (var k = 0u; k <= SAMPLES; k++) {
    walked += max(gap - solid.margin, least);
    // At the end, or no number.
    if !(walked < extent) { break; }
    let s = walked / extent;
    let found = sampled(a + (b - a) * s);
    gap = found.w;
    let depth = solid.margin - lack * (1.0 - s) - gap;
    if depth > hit.depth {
      hit.depth = depth;
      hit.share = s;
      hit.found = true;
      gradient = found.xyz;
    }
  }
  if hit.found { hit.normal = unit_or(gradient, across(unit_or(b - a, vec3f(0.0, 1.0, 0.0)))); }
  return hit;
}
