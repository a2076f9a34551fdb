// Strands, a team of invocations each: `collide_strand` in `job.rs`.

var<private> first: u32;
// Colliders in reach of any team.
var<workgroup> reach_of_all: atomic<u32>;
// Of each team.
var<workgroup> reach_of: array<u32, TEAMS>;

fn vertex_at(i: u32) -> u32 {
  return first + i;
}

fn placement_word(at: u32) -> vec4u {
  return read_moment(at);
}

fn placement_of(collider: u32) -> u32 {
  return 14u * collider;
}

fn kernel(group: u32, local: u32) {
  let frame = uniforms().frame;
  let has_paths = frame.x == 0u && frame.y == 1u;
  team = local / LANES;
  lane = local % LANES;
  solid_at = NO_PLACEMENT;
  exempt = frame.z;
  let strand = group * TEAMS + team;
  let has_strand = strand < STRANDS;
  // Whoever has none goes along with nothing to do.
  let row = strand_row(min(strand, STRANDS - 1u));
  first = row.x;
  count = select(0u, row.y, has_strand);
  if local == 0u { atomicStore(&reach_of_all, 0u); }
  for (var i = lane; i < count; i += LANES) { take_vertex(i, has_paths); }
  sync();
  if lane == 0u {
    reach_of[team] = 0u;
    if has_strand && COLLIDERS > 0u { look_around(has_paths); }
  }
  sync();
  let of_all = workgroupUniformLoad(&reach_of_all);
  if of_all != 0u {
    let mine = reach_of[team];
    for (var turn = 0u; turn < frame.w; turn++) {
      push_out(mine, of_all);
      settle_lengths(mine, mine != 0u);
    }
  }
  for (var i = lane; i < count; i += LANES) { write_state(vertex_at(i), vec4f(point(i), 0.0)); }
}

fn take_vertex(i: u32, has_paths: bool) {
  let x = read_strands_positions(vertex_at(i));
  var extent = 0.0;
  if i > 0u { extent = length(x - read_strands_positions(vertex_at(i - 1u))); }
  set_room(0u, i, vec4f(x, 0.0));
  set_room(1u, i, vec4f(select(x, read_state(vertex_at(i)).xyz, has_paths), extent));
}

// Of the first invocation: which colliders are in reach; none where the strand is not finite.
fn look_around(has_paths: bool) {
  var checked = vec4f(0.0);
  var way = 0.0;
  for (var i = 0u; i < count; i++) {
    let extent = length_of(i);
    if i >= exempt { way += extent; }
    set_most_margin(i, grown_margin(way));
    checked += vec4f(point(i), extent);
  }
  if !all_finite(checked) { return; }
  out_of_reach = 0u;
  // Whose paths are not tested moves from where it is, with a length that stays.
  if !has_paths { find_out_of_reach(point(0u), point(0u), checked.w); }
  leave_out_absent();
  reach_of[team] = reachable();
  atomicOr(&reach_of_all, reachable());
}
