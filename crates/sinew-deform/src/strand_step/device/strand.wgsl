// A strand and a step of it: `vertex.rs`, `group.rs`. A team of STRAND_LANES invocations has a strand, and each of them a vertex of it and the segment
// that leads there, in its own memory. Places are relative to the root and along its axes.

struct Vertex {
  // Kept from step to step: see `layout.wgsl`.
  turn: vec4f,
  velocity: vec3f,
  touched: f32,
  anchor: vec3f,
  room: f32,
  doubt: f32,
  // Of setup: rest position, length of the segment, way from the last pin, stiffness of the joint, direction along the axes before, mass,
  // stiffness of what holds it at its rest position.
  rest: vec3f,
  extent: f32,
  // The longer one of its segment and the next.
  longest: f32,
  way: f32,
  bend: f32,
  direction: vec3f,
  mass: f32,
  hold: f32,
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

// Lengths of a step to try, each this fraction of the one before.
const SHORTER = 0.4;
const TRIES = 5u;
// Further iterations for strands with a vertex inside of a solid.
const MORE = 4u;
// Energies closer than this share are equal.
const ROUNDING = 1e-5;
// Motions closer to the identity than this are none but for roundings.
const STILL = 5e-7;
// Of the arc length.
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
  contact: f32,
  dry: f32,
  dry_slack: f32,
}

var<private> count: u32;
// Size of the skin at the root.
var<private> size: f32;
// No vertex is farther from the root along the strand.
var<private> reach: f32;
// A strand is first looked at where it would be after this fraction of a step at its speed.
var<private> first_look: f32;
var<private> terms: Terms;
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
// Normals of the surfaces that were there last; zero where none was in this run.
var<private> seen: vec3f;
var<private> segment_seen: vec3f;
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

