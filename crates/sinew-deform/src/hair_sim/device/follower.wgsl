// Followers, a team of invocations each: laid beside their guides, then out of solids by places alone: `strands_out.rs` and `collide_strand` in `job.rs`.

// Cells that the first vertex which collides may be deep in a field, and cells by which a follower is lifted, at most: `lift` in `strands_out.rs`.
const DEEPEST = 0.08;
const FARTHEST_LIFT = 0.1;
// Vertices that solids do not move.
const PINS = 2u;
// Spacings of samples in a cell of a field.
const SPACINGS = 2.0;

var<private> strand: u32;
// Colliders in reach of any team.
var<workgroup> reach_of_all: atomic<u32>;
// Of each team.
var<workgroup> reach_of: array<u32, TEAMS>;
var<workgroup> lift_of: array<vec3f, TEAMS>;

fn vertex_at(i: u32) -> u32 {
  return follower_plane(i) + strand;
}

fn placement_word(at: u32) -> vec4u {
  return read_moment(at);
}

fn placement_of(collider: u32) -> u32 {
  return placed_at(collider, BATCH);
}

fn kernel(group: u32, local: u32) {
  let u = uniforms();
  team = local / LANES;
  lane = local % LANES;
  solid_at = NO_PLACEMENT;
  exempt = PINS;
  strand = group * TEAMS + team;
  let has_strand = strand < FOLLOWERS;
  // Whoever has none goes along with nothing to do.
  strand = min(strand, FOLLOWERS - 1u);
  let row = strand_row(follower_strand(strand));
  count = select(0u, row.w, has_strand);
  if local == 0u { atomicStore(&reach_of_all, 0u); }
  for (var i = lane; i < count; i += LANES) { set_room(0u, i, vec4f(segment_of(i, row, u.roots.w), 0.0)); }
  sync();
  if lane == 0u {
    join_segments();
    reach_of[team] = 0u;
    lift_of[team] = vec3f(0.0);
    if has_strand && u.whole.w != 0u && COLLIDERS > 0u { look_around(); }
  }
  sync();
  let of_all = workgroupUniformLoad(&reach_of_all);
  if of_all != 0u {
    let mine = reach_of[team];
    for (var turn = 0u; turn < 2u; turn++) {
      push_out(mine, of_all);
      settle_lengths(mine, mine != 0u);
    }
    if lane == 0u && exempt < count { lift_of[team] = lift(mine); }
    sync();
  }
  for (var i = lane; i < count; i += LANES) { write_followers(vertex_at(i), vec4f(point(i) + lift_of[team], 0.0)); }
}

// How far all of a follower is lifted out of what it cannot get out of by turning its segments.
fn lift(mine: u32) -> vec3f {
  var way = vec3f(0.0);
  for (var c = 0u; c < COLLIDERS; c++) {
    if (mine & (1u << c)) != 0u {
      use_solid(c);
      let found = sampled(point(exempt) + way);
      let cell = solid.spacing * SPACINGS;
      let lack = -found.w - cell * DEEPEST;
      if is_sampled() && lack > 0.0 { way += unit_or(found.xyz, vec3f(0.0)) * min(lack, cell * FARTHEST_LIFT); }
    }
  }
  return way;
}

// From the vertex before, aside of the guide's: `lay` in `strands_out.rs`. Of the first vertex its place.
fn segment_of(i: u32, row: vec4u, tip_separation: f32) -> vec3f {
  let vertex = plane(i) + row.x;
  let rotation = read_state(drive_at(2u, row.x));
  let root_size = read_state(drive_at(3u, row.x)).w;
  let after = separation_of(row.z + i);
  if i == 0u {
    let own = read_followers(vertex_at(0u));
    return read_state(vertex).xyz + select(turned(rotation, after) * root_size, own.xyz, own.w > 0.0);
  }
  let guide_before = plane(i - 1u) + row.x;
  let before = separation_of(row.z + i - 1u);
  let along = read_bound(vertex).xyz - read_bound(guide_before).xyz;
  let rest = along + (after - before);
  let segment = read_state(vertex).xyz - read_state(guide_before).xyz;
  var wanted = segment + turned(rotation, after - before) * root_size;
  if tip_separation != 0.0 {
    let from_share = read_bound(GUIDE_VERTICES + guide_before).y;
    let to_share = read_bound(GUIDE_VERTICES + vertex).y;
    let spread = turned(rotation, (after * to_share - before * from_share) * tip_separation) * root_size;
    wanted += part_across(spread, segment);
  }
  let at_rest = unit_or(turned(rotation, rest) * root_size, vec3f(0.0, 1.0, 0.0));
  return unit_or(wanted, at_rest) * (length(rest) * root_size);
}

// The part of a vector that is across another one.
fn part_across(v: vec3f, other: vec3f) -> vec3f {
  let along = unit_or(other, vec3f(0.0));
  return v - along * dot(along, v);
}

// Of the first invocation: segments one after another.
fn join_segments() {
  var x = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    x += point(i);
    set_room(0u, i, vec4f(x, 0.0));
    set_room(1u, i, vec4f(x, 0.0));
  }
}

// Of the first invocation: lengths, and which colliders are in reach.
fn look_around() {
  var checked = point(0u);
  var reach = 0.0;
  var way = 0.0;
  set_most_margin(0u, grown_margin(0.0));
  for (var i = 1u; i < count; i++) {
    let x = point(i);
    let extent = length(x - point(i - 1u));
    set_room(1u, i, vec4f(x, extent));
    reach += extent;
    if i >= exempt { way += extent; }
    set_most_margin(i, grown_margin(way));
    checked += x;
  }
  if !all_finite(vec4f(checked, 0.0)) { return; }
  find_out_of_reach(point(0u), point(0u), reach);
  reach_of[team] = reachable();
  atomicOr(&reach_of_all, reachable());
}
