// Strands that something else moves, brought out of solids: `place.rs`, `Step::place`.

// Laws of the step.
const PLACING_SECS = 0.033333335;
const PLACING_BENDS = 0.010966228;
const PLACING_ITERATIONS = 8u;
const PLACED = 1e-5;
const DEEP = 0.5;
// Of strands that are led around solids: `lead.rs`.
const LOOKS = 24u;
const TURNS = 8u;
const HEAD_ON = 0.05;
const NO_DEPTH = 1e-5;

// Where the vertex was in the step before.
var<private> was: vec3f;
// Of the strand's root.
var<private> root_at: vec3f;

// Takes the vertex of a strand that should be at `x` and was at `before`; the first `pins` vertices stay. All of the group come here.
fn take_vertex(x: vec3f, before: vec3f, pins: u32, has_ways: bool) {
  me = Vertex();
  me.turn = vec4f(0.0, 0.0, 0.0, 1.0);
  me.direction = vec3f(1.0, 0.0, 0.0);
  contact.layer = LEAST_LAYER;
  segment.layer = LEAST_LAYER;
  first_look = 1.0;
  size = 1.0;
  first_free = min(pins, max(count, 1u));
  is_free = lane >= first_free && lane < count;
  is_led = lane > first_free && lane < count;
  set_cell(0u, vec4f(x, 0.0));
  set_cell(1u, vec4f(before, 0.0));
  sync();
  root_at = cell(0u, 0u).xyz;
  pin = cell(0u, first_free - 1u).xyz - root_at;
  let ahead = lane > 0u && lane < count;
  var along = vec3f(0.0);
  var way_before = 0.0;
  if ahead {
    along = x - cell(0u, lane - 1u).xyz;
    way_before = length(before - cell(1u, lane - 1u).xyz);
    before_led = cell(1u, lane - 1u).xyz - root_at;
  }
  let root_before = cell(1u, 0u).xyz;
  me.extent = length(along);
  sync();
  set_cell(0u, vec4f(along, me.extent));
  sync();
  me.longest = me.extent;
  if lane + 1u < count { me.longest = max(me.extent, cell(0u, lane + 1u).w); }
  if lane == 0u { turn_along(); }
  sync();
  me.turn = cell(1u, lane);
  me.way = cell(2u, lane).x;
  if ahead && me.extent > 0.0 { me.direction = turned_back(cell(1u, lane - 1u), along / me.extent); }
  sync();
  let total = sum_of_team(me.extent);
  let total_before = sum_of_team(way_before);
  me.rest = x - root_at;
  me.x = me.rest;
  me.goal = me.rest;
  trial_x = me.rest;
  was = before - root_at;
  me.before = was;
  me.anchor = was;
  me.room = UNKNOWN;
  me.mass = 1.0;
  let segments = f32(max(count, 2u) - 1u);
  me.bend = total * total * segments * segments / CANTILEVER;
  place_root(total, total_before, root_before, has_ways);
}

// Of the first invocation of the team: how segments are rotated, each by the shortest rotation from the one before, and the way from the
// last pin.
fn turn_along() {
  var turn = vec4f(0.0, 0.0, 0.0, 1.0);
  var way = 0.0;
  for (var i = 0u; i < count; i++) {
    let segment_here = cell(0u, i);
    if segment_here.w > 0.0 {
      let direction = turned_back(turn, segment_here.xyz / segment_here.w);
      turn = normalize(rotations(turn, arc(vec3f(1.0, 0.0, 0.0), direction)));
    }
    if i >= first_free { way += segment_here.w; }
    set_cell_at(team, 1u, i, turn);
    set_cell_at(team, 2u, i, vec4f(way, 0.0, 0.0, 0.0));
  }
}

// Where solids are around the root, and the laws of the step.
fn place_root(total: f32, total_before: f32, root_before: vec3f, has_ways: bool) {
  root_now = Rigid(vec4f(0.0, 0.0, 0.0, 1.0), root_at);
  back = Rigid(vec4f(0.0, 0.0, 0.0, 1.0), vec3f(0.0));
  reach = total * LONGER;
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    carried[c] = back;
    if has_ways {
      carried[c] = as_seen(root_now, solid.carry, root_now);
      let moved = length(root_at - point_of(solid.carry, root_before));
      reach = max(reach, (moved + total_before) * LONGER);
    }
  }
  find_bases();
  let segments = f32(max(count, 2u) - 1u);
  let mean = total / segments;
  let bends = segments * segments * segments * segments * (PLACING_BENDS / CANTILEVER);
  let angle = TAU * CONTACT_HZ * PLACING_SECS;
  terms.h = PLACING_SECS;
  terms.heavier = 1.0;
  terms.bend = PLACING_BENDS;
  terms.contact = angle * angle * max(LEAST_HAIR / max(mean, 1e-6), 1.0) + bends * OVER_BENDS;
  terms.dry = 0.0;
  terms.dry_slack = 1e-3 * PLACING_SECS;
}

// Brings strands out of solids; false for those that touch nothing, which stay.
fn place_strand(local: u32, has_strand: bool) -> bool {
  let is_usable = !team_flag(!all_finite(vec4f(me.rest + was, me.extent)));
  look(true, true, false);
  // Friction begins where the vertex was.
  if me.touched >= 0.0 { me.anchor = point_of(carried[min(u32(me.touched), COLLIDERS)], was); }
  let depth = select(0.0, max(-me.gap, 0.0), contact.on > 0.0);
  // The deeper a vertex should be, the weaker it is drawn there.
  me.mass = contact.layer / (contact.layer + depth);
  let touches = team_flag(depth > 0.0 || segment.on > 0.0) && is_usable && has_strand;
  let is_deep = team_flag(depth > DEEP * me.extent) && touches;
  if !group_flag(touches) { return false; }
  var leads = is_deep;
  var is_active = touches;
  // The second time for what is left of contacts.
  for (var turn = 0u; turn < 2u; turn++) {
    if group_flag(leads) { lead_around(leads); }
    if turn == 1u { break; }
    for (var iteration = 0u; iteration < PLACING_ITERATIONS; iteration++) {
      if !group_flag(is_active) { break; }
      look(false, true, true);
      iterate(local, false, is_active);
      is_active = is_active && team_flag(moved_by >= PLACED);
    }
    leads = is_active;
    me.goal = me.x;
  }
  return touches;
}

// Leads strands around solids, segment after segment: the first invocation of each team for all its vertices.
fn lead_around(leads: bool) {
  set_cell(0u, vec4f(me.goal, me.extent));
  set_cell(1u, me.turn);
  set_cell(2u, vec4f(contact.normal, contact.offset));
  set_cell(3u, vec4f(me.x, me.way));
  set_cell(4u, vec4f(contact.on, 0.0, 0.0, 0.0));
  sync();
  if leads && lane == 0u {
    var pivot = pin;
    for (var i = first_free; i < count; i++) { pivot = lead_segment(i, pivot); }
  }
  sync();
  if leads && is_free {
    me.turn = cell(1u, lane);
    me.x = cell(3u, lane).xyz;
  }
  sync();
}

fn lead_segment(i: u32, pivot: vec3f) -> vec3f {
  let goal = cell(0u, i);
  let extent = goal.w;
  let turn = cell(1u, i);
  let was_along = along_of(turn);
  let to = goal.xyz - pivot;
  var along = was_along;
  if dot(to, to) > 1e-24 { along = normalize(to); }
  // The surface that a blocked way met.
  if cell(4u, i).x > 0.0 {
    let surface = cell(2u, i);
    along = turned_out(along, surface.xyz, -(dot(surface.xyz, pivot + along * extent) + surface.w), extent);
  }
  let way = cell(3u, i).w - extent;
  for (var k = 0u; k < TURNS; k++) {
    // The deepest of some points: from the end, with steps that the distance allows, or half of the smallest detail.
    var normal = vec3f(0.0);
    var depth = NO_DEPTH;
    var at = 0.0;
    var lever = extent;
    for (var n = 0u; n < LOOKS; n++) {
      let found = nearest(pivot + along * lever, way + lever);
      if -found.gap > depth {
        depth = -found.gap;
        normal = found.normal;
        at = lever;
      }
      lever -= max(found.gap, 0.5 * least_detail());
      if !(lever > 0.1 * extent) { break; }
    }
    if at == 0.0 { break; }
    along = turned_out(along, normal, depth, at);
  }
  let end = pivot + along * extent;
  set_cell_at(team, 1u, i, normalize(rotations(arc(was_along, along), turn)));
  set_cell_at(team, 3u, i, vec4f(end, way + extent));
  return end;
}

fn least_detail() -> f32 {
  var least = FAR;
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if is_there() { least = min(least, solid.detail); }
  }
  return least;
}

// A direction turned until it is out of a surface, taken for flat; as far as that goes.
fn turned_out(along: vec3f, normal: vec3f, depth: f32, lever: f32) -> vec3f {
  if depth <= 0.0 || lever <= 0.0 { return along; }
  let sine = dot(along, normal);
  let level = along - normal * sine;
  let size_of = length(level);
  var aside = vec3f(0.0);
  if size_of >= HEAD_ON {
    aside = level / size_of;
  } else {
    let other = select(vec3f(0.0, 1.0, 0.0), vec3f(1.0, 0.0, 0.0), abs(normal.x) < 0.7);
    aside = normalize(cross(normal, other));
  }
  let rise = clamp(sine + depth / lever, -1.0, 1.0);
  return normal * rise + aside * sqrt(max(1.0 - rise * rise, 0.0));
}
