// The second half of a step, of guides that may touch something: each is kept clear of solids by a workgroup. Groups take guides in turn, so that
// neighbours, which touch something together, go to different ones.

const TURNS = (GUIDES + GROUPS - 1u) / GROUPS;
// What invocations tell the group.
const IS_FAR = 1u;
const IS_MOVED = 2u;
const IS_LOST = 4u;

var<workgroup> waiting: atomic<u32>;
var<workgroup> told: atomic<u32>;
// Of the guide at hand: vertices, the colliders in reach, iterations, and 1 where it is only pushed.
var<workgroup> order: vec4u;

fn kernel(group: u32, local: u32) {
  let step = read_moment(turn_at(1u)).x;
  if group == 0u && local == 0u { write_moment(turn_at(0u), vec4u(step + 1u, 0u, 0u, 0u)); }
  solid_at = 0u;
  for (var first = 0u; first < TURNS; first += LANES) {
    if local == 0u { atomicStore(&waiting, 0u); }
    workgroupBarrier();
    let guide = (first + local) * GROUPS + group;
    if guide < GUIDES {
      if read_state(flag_at(guide)).x > 0.0 { atomicOr(&waiting, 1u << local); }
    }
    let guides = workgroupUniformLoad(&waiting);
    for (var k = 0u; k < LANES; k++) {
      if ((guides >> k) & 1u) != 0u { hold((first + k) * GROUPS + group, step, local); }
    }
  }
}

fn hold(guide: u32, step: u32, local: u32) {
  strand = guide;
  count = row_of(guide).x;
  let s = step_of(step);
  let exempt = uniforms().begin.z;
  if local == 0u {
    let iterations = select(max(uniforms().begin.w, 1u), 1u, s.only_pushes);
    order = vec4u(count, u32(read_state(flag_at(guide)).x) - 1u, iterations, select(0u, 1u, s.only_pushes));
    atomicStore(&told, 0u);
  }
  let given = workgroupUniformLoad(&order);
  for (var i = local; i < given.x; i += LANES) { take_vertex(i); }
  sync();
  for (var turn = 0u; turn < given.z; turn++) {
    push_out(given.x, exempt, given.y, local);
    for (var i = local; i < given.x; i += LANES) { take_freed(i); }
    sync();
    if local == 0u && given.w == 0u {
      for (var k = 0u; k < LENGTH_ITERATIONS; k++) { restore_lengths(); }
    }
    sync();
  }
  if given.w == 1u {
    for (var i = local; i < given.x; i += LANES) {
      if any(point(i) != read_state(vertex_at(i)).xyz) { atomicOr(&told, IS_MOVED); }
    }
    // What touches nothing stays as it is.
    if (workgroupUniformLoad(&told) & IS_MOVED) == 0u {
      if local == 0u { write_state(flag_at(guide), vec4f(0.0, 1.0, 0.0, 0.0)); }
      return;
    }
  }
  settle_lengths(given.x, exempt, given.y, local);
  finish(s, given.x, local);
}

fn take_vertex(i: u32) {
  let x = read_state(moved_at(vertex_at(i))).xyz;
  set_room(0u, i, vec4f(x, 0.0));
  set_room(1u, i, vec4f(x, bound_bend(i).x * size));
  set_room(2u, i, vec4f(read_state(vertex_at(i)).xyz, bound_offset(i).w));
  for (var slot = 3u; slot < 9u; slot++) { set_room(slot, i, vec4f(0.0)); }
}

// Notes whether something was brought far out of a solid: what the lengths then do to the rest is no motion either.
fn take_freed(i: u32) {
  let way = room(7u, i).xyz;
  let most = length_of(i) * 0.5;
  if dot(way, way) > most * most { atomicOr(&told, IS_FAR); }
  set_room(8u, i, room(8u, i) + vec4f(way, 0.0));
  set_room(7u, i, vec4f(0.0));
}

// The velocities: what the last pass changes is small and is no motion.
fn finish(s: Step, vertices: u32, local: u32) {
  for (var i = local; i < vertices; i += LANES) { begin_velocity(i, s); }
  sync();
  if local == 0u { press_velocities(s); }
  sync();
  let is_calm = s.is_freeing || (atomicLoad(&told) & IS_FAR) != 0u;
  for (var i = local; i < vertices; i += LANES) {
    let x = point(i);
    let velocity = room(9u, i).xyz;
    if !all_finite(vec4f(x + velocity, 0.0)) { atomicOr(&told, IS_LOST); }
    keep_vertex(i, x, velocity, is_calm);
  }
  if (workgroupUniformLoad(&told) & IS_LOST) != 0u {
    for (var i = local; i < vertices; i += LANES) { restart_vertex(i, s); }
  }
}

// Velocity of a vertex that touches nothing between itself and its neighbours; how far the step took it along goes to room 8.
fn begin_velocity(i: u32, s: Step) {
  let x = point(i);
  let start = start_of(i);
  var moved = x;
  if inverse_mass_of(i) > 0.0 { moved = point_of(s.carry, room(2u, i).xyz) + freed_at(i); }
  let drift = moved - start;
  var velocity = vec3f(0.0);
  if inverse_mass_of(i) > 0.0 {
    velocity = (x + limited(unsettled(i) - x, length_of(i) * LAST_PASS) - moved) / s.constants.x;
    if is_touched(i) {
      let normal = room(3u, i).xyz;
      let relative = velocity + (drift - room(4u, i).xyz) / s.constants.x;
      velocity -= normal * dot(normal, relative);
    }
  }
  set_room(8u, i, vec4f(drift, 0.0));
  set_room(9u, i, vec4f(velocity, 0.0));
}

// Takes away what leads into surfaces that segments touch, from the root to the tip.
fn press_velocities(s: Step) {
  let h = s.constants.x;
  for (var i = 0u; i < count; i++) {
    var velocity = room(9u, i).xyz;
    if i > 0u && is_pressed(i) && inverse_mass_of(i) > 0.0 {
      let normal = room(5u, i).xyz;
      let share = room(4u, i).w;
      let a = 1.0 - share;
      let before = room(9u, i - 1u).xyz;
      let weight = select(0.0, 1.0, inverse_mass_of(i - 1u) > 0.0);
      let motion = (before + room(8u, i - 1u).xyz / h) * a + (velocity + room(8u, i).xyz / h) * share;
      let relative = dot(normal, motion - room(6u, i).xyz / h);
      let impulse = normal * (relative / max(a * a * weight + share * share, 1e-3));
      set_room(9u, i - 1u, vec4f(before - impulse * (a * weight), 0.0));
      velocity -= impulse * share;
    }
    set_room(9u, i, vec4f(limited(velocity, s.gravity.w), 0.0));
  }
}
