// A strand and a step of it, as a team of invocations keeps them: `vertex.rs`, `group.rs`. Places are relative to the root and along its axes.
//
// Vectors of room a vertex, each with a number behind it:
//  0 where it is; no solid is nearer than this        1 rotation of the segment
//  2 velocity; the solid that it touches, or -1       3 where friction holds it; force of friction at most
//  4 where the step found it; distance beyond margin  5 where inertia leads; fraction of the segment that touches
//  6 contact: normal; offset                          7 contact of the segment: normal; offset
//  8 to 10 matrix and gradient of the vertex, then rotation by displacement; weight, layer and friction of the contact
// 11 to 13 the same of the segment, then rotation by rotation; weight, layer and friction of its contact
// 14 torque of the joint, then the step; friction of the segment at most
const SLOTS = 15u;

// A strand is first looked at where it would be after this fraction of a step at its speed.
const FIRST = 0.5;
// Lengths of a step to try, each this fraction of the one before.
const SHORTER = 0.4;
const TRIES = 5u;
// Further iterations for strands with a vertex inside of a solid.
const MORE = 4u;
// Energies closer than this share are equal.
const ROUNDING = 1e-5;
// Motions closer to the identity than this are none but for roundings.
const STILL = 5e-7;
// Over this part of the arc length the pull to the rest position fades out.
const FADE = 0.1;
// Speed below which dry drag fades, m/s.
const DRY_SPEED = 5e-5;
// Of contacts: `contact.rs`.
const CONTACT_HZ = 300.0;
const LEAST_HAIR = 0.01;
const OVER_BENDS = 4.0;
const LEAST_LAYER = 3e-4;
const SLACK = 2e-5;
const DRAGGED = 3.0;
const CANTILEVER = 12.362363;
const TAU = 6.2831853;
// No distance is known.
const UNKNOWN = -1e9;

// What follows from laws and strand: `Terms` in `strand.rs`.
struct Terms {
  h: f32,
  heavier: f32,
  bend: f32,
  pull: f32,
  contact: f32,
  dry: f32,
  dry_slack: f32,
}

// Of the invocation: its team, and its place in it.
var<private> team: u32;
var<private> lane: u32;
// Strands of the group whose numbers are lost; whose trial is worse; that have a vertex in a solid.
var<workgroup> lost: array<atomic<u32>, TEAMS>;
var<private> strand: u32;
var<private> count: u32;
// Size of the skin at the root.
var<private> size: f32;
var<private> step_of_run: u32;
var<private> terms: Terms;
// Fraction of the arc length that is pulled to the rest position.
var<private> pulled: f32;
// Where the root is at the end of the step.
var<private> root_now: Rigid;
// What the strand does not share of the root's motion, and where solids take points, both as the root sees them.
var<private> back: Rigid;
var<private> carried: array<Rigid, COLLIDERS + 1u>;
// How far pins are from each solid; found in the first step.
var<private> bases: array<f32, COLLIDERS + 1u>;

fn vertex_at(i: u32) -> u32 {
  return plane(i) + strand;
}

// Rest position; 0 for pins, 1 for vertices that move, 2 for pins behind them.
fn bound_offset(i: u32) -> vec4f {
  return read_bound(vertex_at(i));
}

// Length, share of the arc, way from the last pin, stiffness of the joint.
fn bound_bend(i: u32) -> vec4f {
  return read_bound(GUIDE_VERTICES + vertex_at(i));
}

// Direction along the axes of the segment before; mass.
fn bound_direction(i: u32) -> vec4f {
  return read_bound(2u * GUIDE_VERTICES + vertex_at(i));
}

fn is_free(i: u32) -> bool {
  return bound_offset(i).w > 0.0;
}

fn point(i: u32) -> vec3f {
  return room(0u, i).xyz;
}

fn set_xyz(slot: u32, i: u32, v: vec3f) {
  set_room(slot, i, vec4f(v, room(slot, i).w));
}

fn set_w(slot: u32, i: u32, w: f32) {
  set_room(slot, i, vec4f(room(slot, i).xyz, w));
}

fn placement_word(at: u32) -> vec4u {
  return read_moment(at);
}

fn placement_of(collider: u32) -> u32 {
  return placed_at(collider, step_of_run);
}

// A motion of the scene as an observer sees it who was at `begin` and is at `end`.
fn as_seen(end: Rigid, motion: Rigid, begin: Rigid) -> Rigid {
  let rotation = rotations(opposite(end.rotation), rotations(motion.rotation, begin.rotation));
  let way = point_of(motion, begin.translation) - end.translation;
  let out = Rigid(rotation, turned_back(end.rotation, way));
  let off = max(largest_of(out.rotation.xyz), largest_of(out.translation));
  if off < STILL { return Rigid(vec4f(0.0, 0.0, 0.0, 1.0), vec3f(0.0)); }
  return out;
}

fn largest_of(v: vec3f) -> f32 {
  return max(abs(v.x), max(abs(v.y), abs(v.z)));
}

// Brings the strand to hand.
fn load_strand() {
  for (var i = lane; i < count; i += LANES) {
    let vertex = vertex_at(i);
    for (var slot = 4u; slot < SLOTS; slot++) { set_room(slot, i, vec4f(0.0)); }
    set_room(0u, i, vec4f(0.0, 0.0, 0.0, read_state(kept_at(2u, vertex)).w));
    set_room(1u, i, read_state(kept_at(0u, vertex)));
    set_room(2u, i, read_state(kept_at(1u, vertex)));
    set_room(3u, i, vec4f(read_state(kept_at(2u, vertex)).xyz, 0.0));
  }
  sync();
}

// Gives it back, and where it is in the scene.
fn store_strand(is_wanted: bool) {
  for (var i = lane; i < count; i += LANES) {
    let sum = room(1u, i) + vec4f(room(2u, i).xyz + room(3u, i).xyz, 0.0);
    if !all_finite(sum) { atomicStore(&lost[team], 1u); }
  }
  sync();
  let is_lost = atomicLoad(&lost[team]) != 0u;
  if !is_wanted { return; }
  for (var i = lane; i < count; i += LANES) {
    if is_lost {
      restart_vertex(i);
      continue;
    }
    let vertex = vertex_at(i);
    write_state(vertex, vec4f(point_of(root_now, point(i)), 0.0));
    write_state(kept_at(0u, vertex), room(1u, i));
    write_state(kept_at(1u, vertex), room(2u, i));
    write_state(kept_at(2u, vertex), vec4f(room(3u, i).xyz, room(0u, i).w));
  }
}

// Back to the rest position on the skin: numbers too large to go on with.
fn restart_vertex(i: u32) {
  let end_size = read_state(drive_at(3u, strand)).w;
  let vertex = vertex_at(i);
  let rest = bound_offset(i).xyz;
  write_state(vertex, vec4f(point_of(root_now, rest * end_size), 0.0));
  write_state(kept_at(0u, vertex), read_rest(vertex));
  write_state(kept_at(1u, vertex), vec4f(0.0, 0.0, 0.0, -1.0));
  write_state(kept_at(2u, vertex), vec4f(rest, UNKNOWN));
}

// Where root and solids are in step `step` of the run, and the laws of the step.
fn use_step(step: u32, is_freeing: bool) {
  let u = uniforms();
  let sort = sort_of(u.steps, read_moment(0u).x);
  var laws = u.step_2;
  if sort.x == 0u { laws = u.step_0; }
  if sort.x == 1u { laws = u.step_1; }
  if is_freeing { laws = u.calm; }
  step_of_run = select(step, 0u, is_freeing);
  let of_sort = f32(max(sort.z, 1u));
  let placed_before = read_state(drive_at(1u, strand));
  let placed = read_state(drive_at(3u, strand));
  let first = Rigid(read_state(drive_at(0u, strand)), placed_before.xyz);
  let last = Rigid(read_state(drive_at(2u, strand)), placed.xyz);
  let motion = motion_between(first, last);
  let share = read_state(drive_at(4u, strand)).w;
  let span = vec2f(f32(sort.y + step), f32(sort.y + step + 1u)) / of_sort;
  let root_before = motion_at(motion, span.x);
  root_now = motion_at(motion, span.y);
  // Motions about one screw axis add up.
  let together = relative_to(motion_at(motion, span.x + (span.y - span.x) * share), root_before);
  back = as_seen(root_now, together, root_before);
  size = placed_before.w + (placed.w - placed_before.w) * min(span.y, 1.0);
  use_laws(laws, u.gravity.w);
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    carried[c] = as_seen(root_now, solid.carry, root_before);
  }
}

fn use_laws(laws: vec4f, dry: f32) {
  let segments = f32(max(count, 2u) - 1u);
  let mean = bitcast<f32>(row_of(strand).w) / segments * size;
  let bends = segments * segments * segments * segments * (laws.w / CANTILEVER);
  let angle = TAU * CONTACT_HZ * laws.x;
  let most = max(LEAST_HAIR / max(mean, 1e-6), 1.0);
  terms.h = laws.x;
  terms.heavier = 1.0 + laws.y * laws.x;
  terms.pull = laws.z;
  terms.bend = size * size * laws.w;
  terms.contact = angle * angle * most + bends * OVER_BENDS;
  terms.dry = dry * laws.x * laws.x;
  terms.dry_slack = DRY_SPEED * laws.x;
}
