// A strand and a step of it: `vertex.rs`, `group.rs`. A team of STRAND_LANES invocations has a strand, and each of them a vertex of it and the segment
// that leads there, in its own memory. Places are relative to the root and along its axes.

struct Vertex {
  // Kept from step to step: see `layout.wgsl`.
  turn: vec4f,
  velocity: vec3f,
  touched: f32,
  anchor: vec3f,
  room: f32,
  // Of setup: rest position, length of the segment, fraction of the arc, way from the last pin, stiffness of the joint, direction
  // along the axes before, mass, 0 for pins and 2 for those behind vertices that move.
  rest: vec3f,
  extent: f32,
  // The longer one of its segment and the next.
  longest: f32,
  arc: f32,
  way: f32,
  bend: f32,
  direction: vec3f,
  mass: f32,
  kind: f32,
  // Where it is, where the step found it, where inertia leads, distance beyond the margin.
  x: vec3f,
  before: vec3f,
  goal: vec3f,
  gap: f32,
}

// A solid's surface near the vertex or a point of its segment: `Contact` in `vertex.rs`.
struct Touch {
  normal: vec3f,
  offset: f32,
  on: f32,
  layer: f32,
  friction: f32,
  rub: f32,
}

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
// How far pins are from each solid, and the root at least; found in the first step.
var<private> bases: array<f32, COLLIDERS + 1u>;
var<private> root_far: array<f32, COLLIDERS + 1u>;
// The solids that the strand can reach, a bit each.
var<private> near: u32;
// Of the run: laws of its steps; steps done, and how many the frame has; sizes and motion of the root in the frame.
var<private> laws_of_run: vec4f;
var<private> done: f32;
var<private> of_sort: f32;
var<private> sizes: vec2f;
var<private> root_motion: Motion;
var<private> root_share: f32;


// Of the invocation: its team, and its place in it.
var<private> team: u32;
var<private> lane: u32;
// Its vertex, the one before, and what they touch. `place` is where the segment touches, from 0 to 1.
var<private> me: Vertex;
var<private> is_free: bool;
var<private> is_led: bool;
var<private> contact: Touch;
var<private> segment: Touch;
var<private> place: f32;
// The last pin, where the vertex before was when the step began, and the step of the iteration.
var<private> pin: vec3f;
var<private> first_free: u32;
var<private> before_led: vec3f;
var<private> rotation: vec3f;
var<private> trial: vec4f;
var<private> trial_x: vec3f;

// What invocations of a team tell each other: CELLS vectors a vertex.
const CELLS = 7u;
const GROUP_SIZE = STRAND_LANES * STRAND_TEAMS;
const GROUP_CELLS = CELLS * GROUP_SIZE;
var<workgroup> cells: array<vec4f, GROUP_CELLS>;

fn cell(slot: u32, i: u32) -> vec4f {
  return cells[(slot * STRAND_TEAMS + team) * STRAND_LANES + i];
}

fn set_cell(slot: u32, v: vec4f) {
  cells[(slot * STRAND_TEAMS + team) * STRAND_LANES + lane] = v;
}

fn sync() {
  workgroupBarrier();
}

// The last pin, and the first vertex after it.
fn find_pin() {
  pin = vec3f(0.0);
  first_free = max(count, 1u);
  for (var i = 1u; i < count; i++) {
    let offset = read_bound(vertex_at(i));
    if offset.w > 0.0 {
      first_free = i;
      break;
    }
    pin = offset.xyz;
  }
}

fn vertex_at(i: u32) -> u32 {
  return plane(i) + strand;
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

// Brings the vertex to hand; invocations without one have nothing to do.
fn load_vertex() {
  me = Vertex();
  me.turn = vec4f(0.0, 0.0, 0.0, 1.0);
  me.direction = vec3f(1.0, 0.0, 0.0);
  contact.layer = LEAST_LAYER;
  segment.layer = LEAST_LAYER;
  is_free = false;
  is_led = false;
  if lane >= count { return; }
  let vertex = vertex_at(lane);
  let a = read_bound(vertex);
  let b = read_bound(GUIDE_VERTICES + vertex);
  let c = read_bound(2u * GUIDE_VERTICES + vertex);
  let moving = read_state(kept_at(1u, vertex));
  let held = read_state(kept_at(2u, vertex));
  me.turn = read_state(kept_at(0u, vertex));
  me.velocity = moving.xyz;
  me.touched = moving.w;
  me.anchor = held.xyz;
  me.room = held.w;
  me.rest = a.xyz;
  me.kind = a.w;
  me.extent = b.x;
  me.longest = max(b.x, read_bound(GUIDE_VERTICES + vertex_at(min(lane + 1u, count - 1u))).x);
  me.arc = b.y;
  me.way = b.z;
  me.bend = b.w;
  me.direction = c.xyz;
  me.mass = c.w;
  is_free = a.w > 0.0;
  if lane > 0u { is_led = is_free && read_bound(vertex_at(lane - 1u)).w > 0.0; }
}

// Gives it back, and where it is in the scene.
fn store_vertex(is_lost: bool) {
  if lane >= count { return; }
  let vertex = vertex_at(lane);
  if is_lost {
    // Back to the rest position on the skin: numbers too large to go on with.
    me.x = me.rest * read_state(drive_at(3u, strand)).w;
    me.turn = read_rest(vertex);
    me.velocity = vec3f(0.0);
    me.touched = -1.0;
    me.anchor = me.rest;
    me.room = UNKNOWN;
  }
  write_state(vertex, vec4f(point_of(root_now, me.x), 0.0));
  write_state(kept_at(0u, vertex), me.turn);
  write_state(kept_at(1u, vertex), vec4f(me.velocity, me.touched));
  write_state(kept_at(2u, vertex), vec4f(me.anchor, me.room));
}

// What the steps of a run have in common.
fn use_run(is_freeing: bool) {
  let u = uniforms();
  let sort = sort_of(u.steps, read_moment(0u).x);
  laws_of_run = u.step_2;
  if sort.x == 0u { laws_of_run = u.step_0; }
  if sort.x == 1u { laws_of_run = u.step_1; }
  if is_freeing { laws_of_run = u.calm; }
  done = f32(sort.y);
  of_sort = f32(max(sort.z, 1u));
  let before = read_state(drive_at(1u, strand));
  let placed = read_state(drive_at(3u, strand));
  sizes = vec2f(before.w, placed.w);
  let first = Rigid(read_state(drive_at(0u, strand)), before.xyz);
  root_motion = motion_between(first, Rigid(read_state(drive_at(2u, strand)), placed.xyz));
  root_share = read_state(drive_at(4u, strand)).w;
}

// Where root and solids are in step `step` of the run, and the laws of the step. The invocations of a team share the work.
fn use_step(step: u32, is_freeing: bool) {
  step_of_run = select(step, 0u, is_freeing);
  let span = vec2f(done + f32(step), done + f32(step) + 1.0) / of_sort;
  // Motions about one screw axis add up.
  let at = array<f32, 4>(span.x, span.y, span.x + (span.y - span.x) * root_share, span.y);
  let mine = motion_at(root_motion, at[lane % 4u]);
  set_cell(0u, mine.rotation);
  set_cell(1u, vec4f(mine.translation, 0.0));
  sync();
  let root_before = rigid_in(0u, 0u);
  root_now = rigid_in(0u, 1u);
  let shared_end = rigid_in(0u, 2u);
  size = sizes.x + (sizes.y - sizes.x) * min(span.y, 1.0);
  use_laws(laws_of_run, uniforms().gravity.w);
  for (var c = lane; c <= COLLIDERS; c += STRAND_LANES) {
    var motion = relative_to(shared_end, root_before);
    if c < COLLIDERS {
      use_solid(c);
      motion = solid.carry;
    }
    let seen = as_seen(root_now, motion, root_before);
    set_cell_of(2u, c, seen.rotation);
    set_cell_of(4u, c, vec4f(seen.translation, 0.0));
  }
  sync();
  back = rigid_of(COLLIDERS);
  near = 0u;
  let reach = bitcast<f32>(row_of(strand).w) * size * LONGER;
  for (var c = 0u; c < COLLIDERS; c++) {
    carried[c] = rigid_of(c);
    root_far[c] -= length(carried[c].translation);
    use_solid(c);
    if is_there() && root_far[c] - max(solid.margin, LEAST_LAYER) < reach { near |= 1u << c; }
  }
  sync();
}

fn is_near(collider: u32) -> bool {
  return (near & (1u << collider)) != 0u;
}

fn rigid_in(slot: u32, i: u32) -> Rigid {
  return Rigid(cell(slot, i), cell(slot + 1u, i).xyz);
}

// Cells of a team in a row: up to two slots of vertices for up to nine motions.
fn set_cell_of(slot: u32, k: u32, v: vec4f) {
  cells[((slot + k / STRAND_LANES) * STRAND_TEAMS + team) * STRAND_LANES + k % STRAND_LANES] = v;
}

fn rigid_of(k: u32) -> Rigid {
  let i = k % STRAND_LANES;
  let row = k / STRAND_LANES;
  return Rigid(cell(2u + row, i), cell(4u + row, i).xyz);
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
