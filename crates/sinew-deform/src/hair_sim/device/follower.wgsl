// Followers, a team of invocations each: laid beside their guides, then brought out of solids by places alone: `strands_out.rs`.

// Vertices that solids do not move.
const PINS = 2u;

var<private> strand: u32;

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
  team = local / STRAND_LANES;
  lane = local % STRAND_LANES;
  solid_at = NO_PLACEMENT;
  strand = group * STRAND_TEAMS + team;
  let is_follower = strand < FOLLOWERS;
  strand = min(strand, FOLLOWERS - 1u);
  let has_strand = is_follower && fade_from(follower_shown_from(strand)) > 0.0;
  let row = strand_row(follower_strand(strand));
  // Teams without a strand, or with one that is hidden, go along with nothing to do; of the latter, the place of the root is read.
  count = select(0u, row.w, has_strand);
  if is_follower && !has_strand && lane == 0u { write_followers(vertex_at(0u), vec4f(segment_of(0u, row, 0.0), 0.0)); }
  if !group_flag(has_strand) { return; }
  if lane < count { set_cell(0u, vec4f(segment_of(lane, row, u.roots.w), 0.0)); }
  sync();
  var x = vec3f(0.0);
  for (var k = 0u; k <= min(lane, row.w - 1u); k++) { x += cell(0u, k).xyz; }
  sync();
  var moved = x;
  if COLLIDERS > 0u && group_flag(u.whole.w != 0u) {
    take_vertex(x, x, PINS, false);
    if lane == 0u { range_of[team] = vec2u(first_free, count); }
    if place_strand(has_strand) && is_free { moved = me.x + root_at; }
  }
  if lane < count { write_followers(vertex_at(lane), vec4f(moved, 0.0)); }
}

// From the vertex before: `lay` in `strands_out.rs`. Of the first vertex its place.
fn segment_of(i: u32, row: vec4u, tip_separation: f32) -> vec3f {
  let vertex = plane(i) + row.x;
  let rotation = read_state(drive_at(2u, row.x));
  let root_size = read_state(drive_at(3u, row.x)).w;
  let aside = turned(rotation, own_segment(row.z));
  if i == 0u {
    let own = read_followers(vertex_at(0u));
    return read_state(vertex).xyz + select(aside * root_size, own.xyz, own.w > 0.0);
  }
  let rest = own_segment(row.z + i);
  let guide = read_state(kept_at(0u, vertex));
  var wanted = turned(rotation, turned(guide, rest));
  if tip_separation != 0.0 {
    let from_share = read_bound(GUIDE_VERTICES + plane(i - 1u) + row.x).y;
    let to_share = read_bound(GUIDE_VERTICES + vertex).y;
    let spread = aside * ((to_share - from_share) * tip_separation);
    let along = turned(rotation, turned(guide, vec3f(1.0, 0.0, 0.0)));
    wanted += spread - along * dot(along, spread);
  }
  return unit_or(wanted, vec3f(0.0, 1.0, 0.0)) * (length(rest) * root_size);
}
