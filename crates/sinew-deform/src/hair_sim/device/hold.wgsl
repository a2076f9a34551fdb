// The second half of a step, of guides that may touch something: a team of invocations keeps each of them clear of solids. Neighbours touch something together:
// as many as there are teams stay together, and as their vertices lie side by side are read together; the next ones go to another group.

// Guides that a group looks at.
const CANDIDATES = (GUIDES + GROUPS * TEAMS - 1u) / (GROUPS * TEAMS) * TEAMS;
const GROUP_SIZE = LANES * TEAMS;
// What invocations tell the team.
const IS_MOVED = 1u;
const IS_LOST = 2u;
// A strand of which a vertex is brought out of a solid by this share of its mean segment is at rest.
const FREED = 0.5;

// Guides of the group that wait.
var<workgroup> waiting: array<u32, GROUP_SIZE>;
var<workgroup> waiting_count: atomic<u32>;
// Of the step: iterations, and 1 where guides are only pushed.
var<workgroup> order: vec2u;
// Colliders in reach of any team.
var<workgroup> reach_of_all: atomic<u32>;
var<workgroup> told: array<atomic<u32>, TEAMS>;
// How far a vertex was brought out of a solid that it began in: bits of a number that is not negative grow with it.
var<workgroup> freed_ways: array<atomic<u32>, TEAMS>;
// Speed of the fastest vertex as the skin sees it, and friction of what is touched, in the same way.
var<workgroup> fastest_of: array<atomic<u32>, TEAMS>;
var<workgroup> rub_of: array<atomic<u32>, TEAMS>;
// How far the step took a vertex, as the skin sees it.
var<workgroup> farthest_of: array<atomic<u32>, TEAMS>;

fn kernel(group: u32, local: u32) {
  team = local / LANES;
  lane = local % LANES;
  solid_at = NO_PLACEMENT;
  exempt = uniforms().begin.z;
  let step = read_moment(turn_at(1u)).x;
  if local == 0u {
    if group == 0u { write_moment(turn_at(0u), vec4u(step + 1u, 0u, 0u, 0u)); }
    let only_pushes = read_moment(0u).w == 1u && step == 0u;
    order = select(vec2u(max(uniforms().begin.w, 1u), 0u), vec2u(1u, 1u), only_pushes);
  }
  let given = workgroupUniformLoad(&order);
  for (var first = 0u; first < CANDIDATES; first += GROUP_SIZE) {
    if local == 0u { atomicStore(&waiting_count, 0u); }
    workgroupBarrier();
    let turn = first + local;
    let guide = (turn / TEAMS * GROUPS + group) * TEAMS + turn % TEAMS;
    if guide < GUIDES {
      if read_state(flag_at(guide)).x > 0.0 { waiting[atomicAdd(&waiting_count, 1u)] = guide; }
    }
    let guides = workgroupUniformLoad(&waiting_count);
    for (var k = 0u; k < guides; k += TEAMS) {
      hold(select(GUIDES, waiting[min(k + team, guides - 1u)], k + team < guides), step, given);
    }
  }
}

// All teams come here together; one without a guide has the number GUIDES.
fn hold(guide: u32, step: u32, given: vec2u) {
  let has_strand = guide < GUIDES;
  // Whoever has none goes along with nothing to do.
  strand = min(guide, GUIDES - 1u);
  count = select(0u, row_of(strand).x, has_strand);
  let s = step_of(step);
  if lane == 0u {
    atomicStore(&told[team], 0u);
    atomicStore(&freed_ways[team], 0u);
    atomicStore(&fastest_of[team], 0u);
    atomicStore(&rub_of[team], 0u);
    atomicStore(&farthest_of[team], 0u);
    if team == 0u { atomicStore(&reach_of_all, 0u); }
  }
  sync();
  var mine = 0u;
  if has_strand {
    mine = u32(read_state(flag_at(strand)).x) - 1u;
    if lane == 0u { atomicOr(&reach_of_all, mine); }
  }
  // Share of the arc at the last exempt vertex.
  var begins = 1.0;
  if exempt > 0u && exempt <= count { begins = bound_bend(exempt - 1u).y; }
  for (var i = lane; i < count; i += LANES) { take_vertex(i, begins); }
  sync();
  let of_all = workgroupUniformLoad(&reach_of_all);
  for (var turn = 0u; turn < given.x; turn++) {
    push_out(mine, of_all);
    for (var i = lane; i < count; i += LANES) { take_freed(i); }
    sync();
    if has_strand && lane == 0u && given.y == 0u {
      for (var k = 0u; k < LENGTH_ITERATIONS; k++) { restore_lengths(); }
    }
    sync();
  }
  var goes_on = has_strand;
  if given.y == 1u {
    for (var i = lane; i < count; i += LANES) {
      if any(point(i) != read_state(vertex_at(i)).xyz) { atomicOr(&told[team], IS_MOVED); }
    }
    sync();
    // What touches nothing stays as it is.
    goes_on = has_strand && (atomicLoad(&told[team]) & IS_MOVED) != 0u;
    if has_strand && !goes_on && lane == 0u { write_state(flag_at(strand), vec4f(0.0, 1.0, 0.0, 0.0)); }
  }
  settle_lengths(mine, goes_on);
  finish(s, goes_on);
}

fn take_vertex(i: u32, begins: f32) {
  let x = read_state(moved_at(vertex_at(i))).xyz;
  set_room(0u, i, vec4f(x, 0.0));
  set_room(1u, i, vec4f(x, bound_bend(i).x * size));
  set_room(2u, i, vec4f(read_state(vertex_at(i)).xyz, bound_offset(i).w));
  for (var slot = 3u; slot < 8u; slot++) { set_room(slot, i, vec4f(0.0)); }
  let way = max(bound_bend(i).y - begins, 0.0) * bitcast<f32>(row_of(strand).w);
  set_room(8u, i, vec4f(vec3f(0.0), grown_margin(way * size)));
}

// Notes how far something was brought out of a solid.
fn take_freed(i: u32) {
  let way = room(7u, i).xyz;
  atomicMax(&freed_ways[team], bitcast<u32>(length(way)));
  set_room(8u, i, room(8u, i) + vec4f(way, 0.0));
  set_room(7u, i, vec4f(0.0));
}

// Share of its velocity that the strand keeps: what lengths do to it where a vertex was brought far out of a solid is no motion.
fn kept_when_freed(way: f32) -> f32 {
  let full = bitcast<f32>(row_of(strand).w) * size / f32(max(count, 2u) - 1u) * FREED;
  return 1.0 - clamp(way / max(full, 1e-30) * 2.0 - 1.0, 0.0, 1.0);
}

// The velocities: what the last pass changes is small and is no motion.
fn finish(s: Step, goes_on: bool) {
  if goes_on {
    for (var i = lane; i < count; i += LANES) { begin_velocity(i, s); }
  }
  sync();
  if goes_on && lane == 0u { press_velocities(s); }
  sync();
  if goes_on {
    for (var i = lane; i < count; i += LANES) {
      atomicMax(&rub_of[team], bitcast<u32>(rub_at(i)));
      if inverse_mass_of(i) > 0.0 {
        atomicMax(&fastest_of[team], bitcast<u32>(length(room(9u, i).xyz - room(10u, i).xyz)));
        atomicMax(&farthest_of[team], bitcast<u32>(length(point(i) - place_on_skin(i, s))));
      }
    }
  }
  sync();
  if goes_on {
    let kept = kept_when_freed(bitcast<f32>(atomicLoad(&freed_ways[team])));
    let rub = bitcast<f32>(atomicLoad(&rub_of[team]));
    let drag = rest_drag(s, bitcast<f32>(atomicLoad(&fastest_of[team])), rub);
    let is_staying = stays(s, bitcast<f32>(atomicLoad(&farthest_of[team])), rub);
    for (var i = lane; i < count; i += LANES) {
      let velocity = at_rest(i, room(9u, i).xyz, room(10u, i).xyz, drag) * kept;
      if !all_finite(vec4f(point(i) + velocity, 0.0)) { atomicOr(&told[team], IS_LOST); }
      keep_vertex(i, place_in_end(i, s, point(i), is_staying), velocity, s.is_freeing);
    }
  }
  sync();
  if goes_on && (atomicLoad(&told[team]) & IS_LOST) != 0u {
    for (var i = lane; i < count; i += LANES) { restart_vertex(i, s); }
  }
  sync();
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
  set_room(10u, i, vec4f((point_of(s.skin, start) - moved) / s.constants.x, 0.0));
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
