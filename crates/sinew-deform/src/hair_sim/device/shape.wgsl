// Global and local shape: `shape.rs`, with the rows of the system eliminated as soon as they are complete.

const STIFFEST = 1e4;
const FADE = 0.1;
const CURL = 6.0;
const SHARP = 3.0;
const SLACK = 1e-3;
const TURN = 1.0;
const TAUT = 1.0;
const SMALLEST = 1e-30;
const STRONGEST = 1e4;

// A row of the system: diagonal, the two beside it, right-hand side.
struct Equation {
  diagonal: f32,
  next: f32,
  after: f32,
  free: f32,
  right: vec3f,
  // How far the vertex goes by the velocity that it has.
  coasting: vec3f,
}

var<private> row_p: Equation;
var<private> row_q: Equation;
var<private> row_r: Equation;

// Puts the vertex where the root's motion alone takes it; the rest of its way goes to the right.
fn equation(i: u32, s: Step, range: f32) -> Equation {
  let swing = s.constants;
  let b = bound_offset(i);
  var pull = 0.0;
  if swing.z > 0.0 && range > 0.0 {
    pull = swing.z * clamp(1.0 - (bound_bend(i).y - range) / FADE, 0.0, 1.0);
  }
  var mass = 1.0;
  if b.w > 0.0 { mass = 1.0 / b.w; }
  let goal = point_of(s.at, b.xyz * size);
  let x = point(i);
  var moved = x;
  if b.w > 0.0 { moved = point_of(s.carry, read_state(vertex_at(i)).xyz); }
  set_point(i, moved);
  let right = (goal - moved) * pull + (x - moved) * mass;
  var coasting = vec3f(0.0);
  if b.w > 0.0 {
    let velocity = turned(s.carry.rotation, read_state(velocity_at(vertex_at(i))).xyz);
    coasting = velocity * (s.constants.y * s.constants.x);
  }
  return Equation(mass + pull, 0.0, 0.0, select(0.0, 1.0, b.w > 0.0), right, coasting);
}

// Takes row `i`, which is `row_p`, out of the next two.
fn eliminate(i: u32) {
  let inverse = 1.0 / row_p.diagonal;
  let la = row_p.next * inverse;
  let lb = row_p.after * inverse;
  row_q.diagonal -= la * row_p.next;
  row_q.next -= la * row_p.after;
  row_r.diagonal -= lb * row_p.after;
  set_room(0u, i, vec4f(room(0u, i).xyz, lb));
  set_room(1u, i, vec4f(row_p.right, inverse));
  set_room(2u, i, vec4f(room(2u, i).xyz, la));
}

// The rotation by the smallest angle from one unit vector to another.
fn shortest_arc(a: vec3f, b: vec3f) -> vec4f {
  let cosine = 1.0 + dot(a, b);
  if cosine < 1e-6 {
    var other = vec3f(1.0, 0.0, 0.0);
    if abs(a.x) >= 0.7 { other = vec3f(0.0, 1.0, 0.0); }
    return vec4f(normalize(cross(a, other)), 0.0);
  }
  // The quaternion (1 + cos, from x to) has the squared length 2 (1 + cos).
  let inverse = 1.0 / sqrt(cosine + cosine);
  return vec4f(cross(a, b) * inverse, cosine * inverse);
}

fn restore_shape(s: Step, range: f32) {
  let swing = s.constants;
  let has_bends = swing.w > 0.0;
  if !(swing.z > 0.0 && range > 0.0) && !has_bends { return; }
  var frame = s.at.rotation;
  // Of the vertices behind the one at hand.
  var behind = 0.0;
  for (var i = 1u; i < count; i++) { behind += mass_at(i); }
  let weight = length(s.gravity.xyz) * s.constants.x * s.constants.x / max(s.whole_size, 1e-12);
  // Whether a segment with a direction was before.
  var has_before = false;
  set_room(2u, 0u, vec4f(0.0));
  set_room(3u, 0u, vec4f(0.0));
  row_q = equation(0u, s, range);
  let segments = max(count, 1u) - 1u;
  for (var i = 0u; i < segments; i++) {
    row_r = equation(i + 1u, s, range);
    var torque = vec3f(0.0);
    var along = vec3f(0.0);
    let own = bound_bend(i);
    let next = bound_bend(i + 1u);
    if has_bends && next.x > 0.0 {
      let rest = bound_offset(i + 1u).xyz - bound_offset(i).xyz;
      let goal = turned(frame, rest * (1.0 / next.x));
      let now = unit_or(point(i + 1u) - point(i), goal);
      along = now;
      let lever = select(0.0, own.z, has_before);
      has_before = true;
      let reach = 1.0 + lever;
      let stiffness = min(own.w * swing.w, STIFFEST / max(reach * reach, 1.0));
      let extent = next.x * size;
      torque = cross(goal, now) * (stiffness * extent * extent);
      let force = (now * dot(goal, now) - goal) * (extent * stiffness);
      add_bend(i, lever, stiffness, force);
      let straight = lever * own.x / next.x;
      let hold = stiffness * min(max(1.0 - straight * straight, 0.0) * CURL, SHARP);
      hold_turning(i, hold);
      hold_wave(min(weight * behind * TAUT / next.x, STIFFEST));
      frame = renormalized(rotations(shortest_arc(goal, now), frame));
    }
    behind = max(behind - mass_at(i + 1u), 0.0);
    set_room(2u, i + 1u, vec4f(torque, 0.0));
    set_room(3u, i + 1u, vec4f(along, 0.0));
    if i > 0u { eliminate(i - 1u); }
    row_p = row_q;
    row_q = row_r;
  }
  row_r = Equation(1.0, 0.0, 0.0, 0.0, vec3f(0.0), vec3f(0.0));
  if count > 1u { eliminate(count - 2u); }
  row_p = row_q;
  eliminate(count - 1u);
  if has_bends { add_reactions(); }
  solve(has_bends);
}

// Adds one bend to the matrix, and what it does to its own segment to the right; pinned vertices take no part.
fn add_bend(i: u32, lever: f32, k: f32, force: vec3f) {
  let middle = -(1.0 + lever) * row_q.free;
  let outer = row_r.free;
  if i > 0u {
    let inner = lever * row_p.free;
    row_p.diagonal += k * inner * inner;
    row_p.next += k * inner * middle;
    row_p.after += k * inner * outer;
  }
  row_q.diagonal += k * middle * middle;
  row_q.next += k * middle * outer;
  row_q.right += force;
  row_r.diagonal += k * outer * outer;
  row_r.right -= force;
}

// Makes the matrix hold back changes of the rotation of the segment before vertex `i`.
fn hold_turning(i: u32, k: f32) {
  if i == 0u || k <= 0.0 { return; }
  row_p.diagonal += k * row_p.free;
  row_q.diagonal += k * row_q.free;
  row_p.next -= k * row_p.free * row_q.free;
  let couple = (row_q.coasting - row_p.coasting) * k;
  row_q.right += couple;
  row_p.right -= couple;
}

// Makes the matrix hold back waves of segments that hang taut.
fn hold_wave(k: f32) {
  row_q.diagonal += k * row_q.free;
  row_r.diagonal += k * row_r.free;
  row_q.next -= k * row_q.free * row_r.free;
}

// Zero where the vertex is pinned.
fn mass_at(i: u32) -> f32 {
  let inverse = inverse_mass_of(i);
  if inverse <= 0.0 { return 0.0; }
  return 1.0 / inverse;
}

// What turns a segment towards its goal turns the frame that the goal comes from the other way.
fn add_reactions() {
  var twist = vec3f(0.0);
  var before = vec3f(0.0);
  for (var i = count - 1u; i > 1u; i -= 1u) {
    let torque = room(2u, i).xyz + twist;
    let along = room(3u, i - 1u).xyz;
    twist = along * dot(along, torque);
    let extent = length_of(i - 1u);
    var couple = vec3f(0.0);
    if extent > 0.0 { couple = cross(torque, along) / extent; }
    set_room(1u, i - 1u, room(1u, i - 1u) + vec4f(couple - before, 0.0));
    before = couple;
  }
  set_room(1u, 0u, room(1u, 0u) - vec4f(before, 0.0));
}

// Solves the system and adds the solution to the positions that may move.
fn solve(has_bends: bool) {
  divide(1u);
  if has_bends { hold_lengths(); }
  var steepest = 0.0;
  var before = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    let correction = room(1u, i).xyz;
    let extent = length_of(i);
    if i > 0u && extent > 0.0 { steepest = max(steepest, length(correction - before) / extent); }
    before = correction;
  }
  // The system holds for small rotations; where one is larger, all go part of the way.
  let share = min(TURN / max(steepest, TURN), 1.0);
  for (var i = 0u; i < count; i++) {
    if inverse_mass_of(i) > 0.0 { set_point(i, point(i) + room(1u, i).xyz * share); }
  }
}

// Replaces the right-hand side in a slot by its solution: elimination from the root to the tip, substitution back. Returns the product of the two.
fn divide(slot: u32) -> f32 {
  var product = 0.0;
  var one = vec3f(0.0);
  var two = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    let own = room(slot, i);
    let inverse = room(1u, i).w;
    var right = own.xyz - one;
    if inverse_mass_of(i) <= 0.0 { right = vec3f(0.0); }
    product += dot(right, right) * inverse;
    one = two + right * room(2u, i).w;
    two = right * room(0u, i).w;
    set_room(slot, i, vec4f(right * inverse, own.w));
  }
  one = vec3f(0.0);
  two = vec3f(0.0);
  for (var i = count; i > 0u; i -= 1u) {
    let k = i - 1u;
    let own = room(slot, k);
    let solution = own.xyz - one * room(2u, k).w - two * room(0u, k).w;
    set_room(slot, k, vec4f(solution, own.w));
    two = one;
    one = solution;
  }
  return product;
}

// Takes from the corrections what stretches segments: conjugate gradients.
fn hold_lengths() {
  var before = 0.0;
  for (var k = 0u; k < TENSIONS; k++) {
    let wanted = find_stretch();
    var kept = 0.0;
    if before > SMALLEST { kept = wanted / before; }
    pull_along(kept);
    let product = divide(2u);
    let strength = wanted / max(product, max(wanted / STRONGEST, SMALLEST));
    for (var i = 0u; i < count; i++) {
      set_room(1u, i, room(1u, i) + vec4f(room(2u, i).xyz * strength, 0.0));
    }
    before = wanted;
  }
}

// Elimination from the root to the tip of what takes the stretch out of the corrections where only masses resist. Returns the sum of tension
// times stretch.
fn find_stretch() -> f32 {
  var factor = 0.0;
  var known = 0.0;
  var wanted = 0.0;
  var wa = 0.0;
  var old = vec3f(0.0);
  var start = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    let along = room(3u, i).xyz;
    let end = room(1u, i).xyz;
    let wb = inverse_mass_of(i);
    let coupling = -wa * dot(along, old);
    let ahead = coupling * factor;
    let pivot = max((wa + wb) * (1.0 + SLACK) - coupling * ahead, 1e-6);
    let held = i == 0u || wa + wb <= 0.0;
    factor = select(1.0 / pivot, 0.0, held);
    let left = dot(along, end - start) - coupling * known;
    known = left * factor;
    wanted += left * known;
    set_room(2u, i, vec4f(known, ahead, 0.0, room(2u, i).w));
    old = along;
    start = end;
    wa = wb;
  }
  return wanted;
}

// Substitution from the tip to the root, and the tensions of the next step; what they do to vertices takes the place of torques.
fn pull_along(kept: f32) {
  var pull = vec3f(0.0);
  var ahead = 0.0;
  var last = 0.0;
  for (var i = count; i > 0u; i -= 1u) {
    let k = i - 1u;
    let w = room(2u, k);
    let segment = room(3u, k);
    last = w.x - ahead * last;
    ahead = w.y;
    let tension = last + segment.w * kept;
    set_room(3u, k, vec4f(segment.xyz, tension));
    let own = segment.xyz * tension;
    set_room(2u, k, vec4f(pull - own, w.w));
    pull = own;
  }
}
