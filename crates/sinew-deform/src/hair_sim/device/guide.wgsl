// A guide and a step of it: `group.rs`.

var<private> strand: u32;
var<private> step_of_run: u32;
// Fraction of the arc length that is pulled to the rest position.
var<private> pulled: f32;
// Of the vertex: fraction of the arc, and 0 for pins, 2 for those behind vertices that move.
var<private> arc_here: f32;
var<private> kind: f32;
// Of the run: laws of its steps; steps done, and how many the frame has; sizes and motion of the root in the frame.
var<private> laws_of_run: vec4f;
var<private> done: f32;
var<private> of_sort: f32;
var<private> sizes: vec2f;
var<private> root_motion: Motion;
var<private> root_share: f32;
var<private> jumps: bool;

// Iterations of any quality, with those for strands in a solid.
const ITERATIONS = 16u;
// A strand is first looked at where it would be after this fraction of a step at its speed.
const FIRST = 0.5;

// Brings a guide to hand, at the beginning of a run. Teams without one, or with one that is hidden, go along with nothing to do. False: the
// group has no other teams.
fn use_guide(group: u32, local: u32) -> bool {
  team = local / STRAND_LANES;
  lane = local % STRAND_LANES;
  let guide = group * STRAND_TEAMS + team;
  strand = min(guide, GUIDES - 1u);
  count = select(0u, row_of(strand).x, guide < GUIDES && fade_from(shown_from(strand)) > 0.0);
  if !group_flag(count > 0u) { return false; }
  solid_at = NO_PLACEMENT;
  pulled = uniforms().sideways.w;
  first_look = FIRST;
  find_pin();
  if lane == 0u { range_of[team] = vec2u(first_free, count); }
  load_vertex();
  use_run();
  for (var c = 0u; c < COLLIDERS; c++) { root_far[c] = FAR; }
  use_step(0u);
  if COLLIDERS > 0u { find_bases(); }
  return true;
}

fn is_lost() -> bool {
  return !all_finite(me.turn + vec4f(me.velocity + me.anchor, 0.0));
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
  return placed_at(collider, select(step_of_run, BATCH, jumps));
}

// Brings the vertex to hand; invocations without one have nothing to do.
fn load_vertex() {
  me = Vertex();
  me.turn = vec4f(0.0, 0.0, 0.0, 1.0);
  me.direction = vec3f(1.0, 0.0, 0.0);
  contact.layer = LEAST_LAYER;
  segment.layer = LEAST_LAYER;
  seen = vec3f(0.0);
  segment_seen = vec3f(0.0);
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
  me.doubt = read_state(vertex).w;
  me.rest = a.xyz;
  kind = a.w;
  me.extent = b.x;
  me.longest = max(b.x, read_bound(GUIDE_VERTICES + vertex_at(min(lane + 1u, count - 1u))).x);
  arc_here = b.y;
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
    me.doubt = 0.0;
  }
  write_state(vertex, vec4f(point_of(root_now, me.x), me.doubt));
  write_state(kept_at(0u, vertex), me.turn);
  write_state(kept_at(1u, vertex), vec4f(me.velocity, me.touched));
  write_state(kept_at(2u, vertex), vec4f(me.anchor, me.room));
}

// What the steps of a run have in common.
fn use_run() {
  let u = uniforms();
  let sort = sort_of(u.steps, read_moment(0u).x);
  laws_of_run = u.step_2;
  if sort.x == 0u { laws_of_run = u.step_0; }
  if sort.x == 1u { laws_of_run = u.step_1; }
  done = f32(sort.y);
  of_sort = f32(max(sort.z, 1u));
  let before = read_state(drive_at(1u, strand));
  let placed = read_state(drive_at(3u, strand));
  sizes = vec2f(before.w, placed.w);
  let first = Rigid(read_state(drive_at(0u, strand)), before.xyz);
  root_motion = motion_between(first, Rigid(read_state(drive_at(2u, strand)), placed.xyz));
  let share = read_state(drive_at(4u, strand)).w;
  jumps = share >= JUMPS;
  root_share = min(share, 1.0);
}

// Where root and solids are in step `step` of the run, and the laws of the step. The invocations of a team share the work.
fn use_step(step: u32) {
  step_of_run = step;
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
  reach = bitcast<f32>(row_of(strand).w) * size * LONGER;
  for (var c = 0u; c < COLLIDERS; c++) {
    carried[c] = rigid_of(c);
    root_far[c] -= length(carried[c].translation);
  }
  sync();
  find_near();
}

fn use_laws(laws: vec4f, dry: f32) {
  let segments = f32(max(count, 2u) - 1u);
  let mean = bitcast<f32>(row_of(strand).w) / segments * size;
  let bends = segments * segments * segments * segments * (laws.w / CANTILEVER);
  let angle = TAU * CONTACT_HZ * laws.x;
  let most = max(LEAST_HAIR / max(mean, 1e-6), 1.0);
  terms.h = laws.x;
  terms.heavier = 1.0 + laws.y * laws.x;
  terms.bend = size * size * laws.w;
  terms.contact = angle * angle * most + bends * OVER_BENDS;
  terms.dry = dry * laws.x * laws.x;
  terms.dry_slack = DRY_SPEED * laws.x;
  // Over this part of the arc length the pull to the rest position fades out.
  let pull = me.mass * clamp(1.0 - (arc_here - pulled) / FADE, 0.0, 1.0) * laws.z;
  me.hold = pull + select(0.0, terms.contact, kind > 1.5);
}

fn run_step(u: Uniforms, has_segments: bool, local: u32, gravity: vec3f, wind: vec3f) {
  begin_step(gravity, wind);
  for (var iteration = 0u; iteration < ITERATIONS; iteration++) {
    var is_active = iteration < u.begin.z;
    if !group_flag(is_active) {
      is_active = team_flag(is_inside());
      if !group_flag(is_active && iteration < u.begin.z + MORE) { break; }
    }
    look(iteration == 0u, has_segments);
    iterate(local, iteration == 0u, is_active);
  }
  finish_step();
}

// Whether the vertex is inside of a solid, as far as the last look tells.
fn is_inside() -> bool {
  return contact.on > 0.0 && dot(contact.normal, me.x) + contact.offset + contact.layer < 0.0;
}
