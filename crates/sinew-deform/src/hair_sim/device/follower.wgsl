// Followers, a team of invocations each: laid beside their guides, then out of solids by places alone: `strands_out.rs` and `collide_strand` in `job.rs`.

var<private> strand: u32;
// Colliders in reach of any team.
var<workgroup> reach_of_all: atomic<u32>;
// Of each team.
var<workgroup> reach_of: array<u32, TEAMS>;

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
  exempt = u.begin.z;
  strand = group * TEAMS + team;
  let has_strand = strand < FOLLOWERS;
  // Whoever has none goes along with nothing to do.
  strand = min(strand, FOLLOWERS - 1u);
  let row = strand_row(follower_strand(strand));
  count = select(0u, row.w, has_strand);
  if local == 0u { atomicStore(&reach_of_all, 0u); }
  for (var i = lane; i < count; i += LANES) { lay_vertex(i, row, u.roots.w); }
  sync();
  if lane == 0u {
    reach_of[team] = 0u;
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
  }
  for (var i = lane; i < count; i += LANES) { write_followers(vertex_at(i), vec4f(point(i), 0.0)); }
}

// Beside the guide's vertex.
fn lay_vertex(i: u32, row: vec4u, tip_separation: f32) {
  let vertex = plane(i) + row.x;
  let rotation = read_state(drive_at(2u, row.x));
  let root_size = read_state(drive_at(3u, row.x)).w;
  let along = read_bound(GUIDE_VERTICES + vertex).y;
  let spread = root_size * (1.0 + tip_separation * along);
  let x = read_state(vertex).xyz + turned(rotation, separation_of(row.z + i)) * spread;
  set_room(0u, i, vec4f(x, 0.0));
  set_room(1u, i, vec4f(x, 0.0));
}

// Of the first invocation: lengths, and which colliders are in reach.
fn look_around() {
  var checked = point(0u);
  var reach = 0.0;
  for (var i = 1u; i < count; i++) {
    let x = point(i);
    let extent = length(x - point(i - 1u));
    set_room(1u, i, vec4f(x, extent));
    reach += extent;
    checked += x;
  }
  if !all_finite(vec4f(checked, 0.0)) { return; }
  find_out_of_reach(point(0u), point(0u), reach);
  reach_of[team] = reachable();
  atomicOr(&reach_of_all, reachable());
}
