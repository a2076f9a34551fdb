// A guide and a step of it, for both kernels of a step.

// How often lengths are restored after each push.
const LENGTH_ITERATIONS = 2u;
// Share of its length that the last pass may move a vertex before its velocity changes.
const LAST_PASS = 0.02;
// Strands lose motion where no vertex is faster than this, or than what follows times the friction of what they touch: `come_to_rest` in `step.rs`.
const REST_SPEED = 0.003;
const RUBBED_SPEED = 0.25;
const REST_DRAG = 5.0;
const MOST_REST_DRAG = 10.0;
const RUBBED_DRAG = 10.0;
// Strands that a step takes no farther than this, as a speed, stay where they were: `stay` in `step.rs`.
const HELD_SPEED = 0.0125;
const UNMOVED_SPEED = 3e-5;

var<private> strand: u32;
var<private> count: u32;
// Vertices at the root that no solid moves.
var<private> exempt: u32;
// Size of the skin at the root, at the end of the step.
var<private> size: f32;
var<private> step_of_run: u32;

fn vertex_at(i: u32) -> u32 {
  return plane(i) + strand;
}

fn bound_offset(i: u32) -> vec4f {
  return read_bound(vertex_at(i));
}

// Length, share of the arc, lever, stiffness of the bend.
fn bound_bend(i: u32) -> vec4f {
  return read_bound(GUIDE_VERTICES + vertex_at(i));
}

fn limited(v: vec3f, most: f32) -> vec3f {
  let squared = dot(v, v);
  if squared > most * most { return v * (most / sqrt(squared)); }
  return v;
}

fn placement_word(at: u32) -> vec4u {
  return read_moment(at);
}

fn placement_of(collider: u32) -> u32 {
  return placed_at(collider, step_of_run);
}

struct Step {
  // Time, share of velocity that damping leaves, squared angles of global and local swings.
  constants: vec4f,
  gravity: vec4f,
  // Where the root is at its end, and how it takes the strand along.
  at: Rigid,
  carry: Rigid,
  // How the skin at the root moves.
  skin: Rigid,
  // Size of the skin at the root at the end of the frame.
  whole_size: f32,
  // Strands come out of what they begin in: nothing blows or falls. The first of these steps only pushes them.
  is_freeing: bool,
  only_pushes: bool,
}

// Step `step` of the run, of the strand at hand.
fn step_of(step: u32) -> Step {
  let u = uniforms();
  let progress = read_moment(0u);
  let sort = sort_of(u.steps, progress.x);
  let is_freeing = progress.w == 1u;
  var constants = u.step_2;
  if sort.x == 0u { constants = u.step_0; }
  if sort.x == 1u { constants = u.step_1; }
  var gravity = u.gravity;
  if is_freeing {
    constants = u.calm;
    gravity = vec4f(0.0, 0.0, 0.0, gravity.w);
  }
  step_of_run = select(step, 0u, is_freeing);
  let of_sort = f32(max(sort.z, 1u));
  let placed_before = read_state(drive_at(1u, strand));
  let placed = read_state(drive_at(3u, strand));
  let first = Rigid(read_state(drive_at(0u, strand)), placed_before.xyz);
  let last = Rigid(read_state(drive_at(2u, strand)), placed.xyz);
  let motion = motion_between(first, last);
  let share = read_state(drive_at(4u, strand)).w;
  // Motions about one screw axis add up: every step takes the strand along in the same way.
  let carry = relative_to(motion_at(motion, share / of_sort), first);
  var skin = relative_to(motion_at(motion, 1.0 / of_sort), first);
  // Nothing at all where the root stands still.
  if all(first.rotation == last.rotation) && all(first.translation == last.translation) { skin = Rigid(vec4f(0.0, 0.0, 0.0, 1.0), vec3f(0.0)); }
  let end = f32(sort.y + step + 1u) / of_sort;
  size = placed_before.w + (placed.w - placed_before.w) * min(end, 1.0);
  return Step(constants, gravity, motion_at(motion, end), carry, skin, placed.w, is_freeing, is_freeing && step == 0u);
}

// What slow strands lose of their motion in a step, over what is left of it.
fn rest_drag(s: Step, fastest: f32, rub: f32) -> f32 {
  let kept = s.constants.y;
  if kept >= 1.0 { return 0.0; }
  let most = max(REST_SPEED, rub * RUBBED_SPEED);
  let slow = max(1.0 - fastest * fastest / (most * most), 0.0);
  let times = select(1.0, RUBBED_DRAG, rub * RUBBED_SPEED > REST_SPEED);
  return min(-REST_DRAG * log(kept), MOST_REST_DRAG * s.constants.x) * times * slow;
}

// Whether a strand stays where it was that the step took so far at most.
fn stays(s: Step, way: f32, rub: f32) -> bool {
  return s.constants.y < 1.0 && way < max(UNMOVED_SPEED, rub * HELD_SPEED) * s.constants.x;
}

// Where the skin at the root takes a vertex from where the step found it.
fn place_on_skin(i: u32, s: Step) -> vec3f {
  return point_of(s.skin, read_state(vertex_at(i)).xyz);
}

// Where the vertex goes in the end.
fn place_in_end(i: u32, s: Step, x: vec3f, is_staying: bool) -> vec3f {
  if !is_staying || inverse_mass_of(i) <= 0.0 { return x; }
  return place_on_skin(i, s);
}

fn at_rest(i: u32, velocity: vec3f, of_skin: vec3f, drag: f32) -> vec3f {
  if !(drag > 0.0) || inverse_mass_of(i) <= 0.0 { return velocity; }
  return of_skin + (velocity - of_skin) / (1.0 + drag);
}

fn keep_vertex(i: u32, x: vec3f, velocity: vec3f, is_calm: bool) {
  write_state(vertex_at(i), vec4f(x, 0.0));
  write_state(velocity_at(vertex_at(i)), vec4f(select(velocity, vec3f(0.0), is_calm), 0.0));
}

// Puts a vertex back to its rest position on the skin: numbers too large to go on with.
fn restart_vertex(i: u32, s: Step) {
  keep_vertex(i, point_of(s.at, bound_offset(i).xyz * s.whole_size), vec3f(0.0), true);
}
