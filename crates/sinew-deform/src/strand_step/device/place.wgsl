// Strands that something else moves, brought out of solids: `place.rs`, `Step::place`.

// Of strands that are led around solids: `lead.rs`.
const LOOKS = 24u;
const TURNS = 8u;
const HEAD_ON = 0.05;
const NO_DEPTH = 1e-5;
const SAME = 1e-7;

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
  var way_before = 0.0;
  if lane > 0u && lane < count {
    me.extent = length(x - cell(0u, lane - 1u).xyz);
    way_before = length(before - cell(1u, lane - 1u).xyz);
  }
  let root_before = cell(1u, 0u).xyz;
  sync();
  set_cell(0u, vec4f(x, me.extent));
  sync();
  me.longest = me.extent;
  if lane + 1u < count { me.longest = max(me.extent, cell(0u, lane + 1u).w); }
  for (var k = first_free; k <= lane; k++) { me.way += cell(0u, k).w; }
  sync();
  let total = sum_of_team(me.extent);
  let total_before = sum_of_team(way_before);
  me.x = x - root_at;
  me.goal = me.x;
  was = before - root_at;
  me.before = was;
  me.room = UNKNOWN;
  place_root(total, total_before, root_before, has_ways);
}

// Where solids are around the root.
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
}

// Brings strands out of solids; false for those that are in none, which stay.
fn place_strand(has_strand: bool) -> bool {
  let is_usable = !team_flag(!all_finite(vec4f(me.goal + was, me.extent)));
  look(true, false);
  let held = held_goal();
  set_cell(0u, vec4f(held, 0.0));
  sync();
  var is_in = any(held != me.goal);
  if is_free && !is_in && me.gap < me.extent * size {
    let begin = cell(0u, lane - 1u).xyz;
    let extent = me.extent * size;
    is_in = deepest_hit(begin, (held - begin) / max(extent, 1e-12), me.way * size - extent, extent).lever > 0.0;
  }
  is_in = is_in || (contact.on > 0.0 && me.gap < -NO_DEPTH);
  sync();
  let leads = team_flag(is_in) && is_usable && has_strand;
  if !group_flag(leads) { return false; }
  me.goal = held;
  lead_around(leads);
  return leads;
}

// Where the vertex should be, less for what friction takes back of its way along the surface: up to its coefficient times the depth.
fn held_goal() -> vec3f {
  let most = -me.gap * contact.friction;
  if !(contact.on > 0.0) || most <= 0.0 { return me.goal; }
  var anchor = was;
  if me.touched >= 0.0 { anchor = point_of(carried[min(u32(me.touched), COLLIDERS)], was); }
  let way = me.goal - anchor;
  let slide = way - contact.normal * dot(contact.normal, way);
  let far = length(slide);
  return me.goal - slide * min(most / max(far, 1e-12), 1.0);
}

struct Hit {
  normal: vec3f,
  depth: f32,
  // From the beginning of the segment; 0 for none.
  lever: f32,
}

// The deepest of some points of a segment: from its end, with steps that the distance allows, or half of the
// smallest detail.
fn deepest_hit(begin: vec3f, along: vec3f, way: f32, extent: f32) -> Hit {
  var hit = Hit(vec3f(0.0), 0.0, 0.0);
  var lever = extent;
  for (var n = 0u; n < LOOKS; n++) {
    let found = nearest(begin + along * lever, way + lever);
    if -found.gap > max(hit.depth, NO_DEPTH) { hit = Hit(found.normal, -found.gap, lever); }
    lever -= max(found.gap, 0.5 * least_detail());
    if !(lever > 0.1 * extent) { break; }
  }
  return hit;
}

// Leads strands around solids, segment after segment: the first invocation of each team for all its vertices.
fn lead_around(leads: bool) {
  set_cell(0u, vec4f(me.goal, me.extent * size));
  set_cell(1u, me.turn);
  set_cell(2u, vec4f(contact.normal, contact.offset));
  set_cell(3u, vec4f(me.x, me.way * size));
  set_cell(4u, vec4f(contact.on, 0.0, 0.0, 0.0));
  sync();
  if leads && lane == 0u {
    var pivot = pin * size;
    for (var i = first_free; i < count; i++) { pivot = lead_segment(i, pivot); }
  }
  sync();
  if leads && is_free {
    me.turn = cell(1u, lane);
    me.x = cell(3u, lane).xyz;
    me.room = UNKNOWN;
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
    let depth = -(dot(surface.xyz, pivot + along * extent) + surface.w);
    if depth > NO_DEPTH { along = turned_out(along, surface.xyz, depth, extent); }
  }
  let way = cell(3u, i).w - extent;
  for (var k = 0u; k < TURNS; k++) {
    let hit = deepest_hit(pivot, along, way, extent);
    if hit.lever == 0.0 { break; }
    along = turned_out(along, hit.normal, hit.depth, hit.lever);
  }
  let end = pivot + along * extent;
  let old = cell(3u, i);
  // What nothing turned keeps its bits.
  if length(end - old.xyz) < SAME { return old.xyz; }
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
