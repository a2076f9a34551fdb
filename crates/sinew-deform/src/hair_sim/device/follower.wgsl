// Followers: laid beside their guides, then out of solids by places alone: `strands_out.rs` and `collide_strand` in `job.rs`.
//
// Rooms: 0 (place; distance, later 1 where it is settled) | 1 (where it was laid; length)

var<private> strand: u32;
var<private> count: u32;
var<private> exempt: u32;

fn vertex_at(i: u32) -> u32 {
  return follower_plane(i) + strand;
}

fn inverse_mass_of(i: u32) -> f32 {
  return select(1.0, 0.0, i < exempt);
}

fn length_of(i: u32) -> f32 {
  return room(1u, i).w;
}

fn point(i: u32) -> vec3f {
  return room(0u, i).xyz;
}

fn set_point(i: u32, p: vec3f) {
  set_room(0u, i, vec4f(p, room(0u, i).w));
}

fn distance_at(i: u32) -> f32 {
  return room(0u, i).w;
}

fn set_distance(i: u32, d: f32) {
  set_room(0u, i, vec4f(room(0u, i).xyz, d));
}

fn start_of(i: u32) -> vec3f {
  return room(1u, i).xyz;
}

fn free_by(i: u32, way: vec3f) {
  set_room(1u, i, room(1u, i) + vec4f(way, 0.0));
}

// Contacts of followers are forgotten.
fn touch(i: u32, normal: vec3f, carried: vec3f) {
}

fn press(i: u32, normal: vec3f, carried: vec3f, share: f32) {
}

fn is_pressed(i: u32) -> bool {
  return false;
}

fn begin_settling(i: u32) {
}

fn placement_word(at: u32) -> vec4u {
  return read_moment(at);
}

fn placement_of(collider: u32) -> u32 {
  return placed_at(collider, BATCH);
}

fn kernel(index: u32) {
  let u = uniforms();
  let number = follower_strand(index);
  let row = strand_row(number);
  strand = index;
  count = row.w;
  exempt = u.begin.z;
  solid_at = 0u;
  let rotation = read_state(drive_at(2u, row.x));
  let root_size = read_state(drive_at(3u, row.x)).w;
  var before = vec3f(0.0);
  var checked = vec3f(0.0);
  var reach = 0.0;
  for (var i = 0u; i < count; i++) {
    let vertex = plane(i) + row.x;
    let along = read_bound(GUIDE_VERTICES + vertex).y;
    let spread = root_size * (1.0 + u.roots.w * along);
    let x = read_state(vertex).xyz + turned(rotation, separation_of(row.z + i)) * spread;
    set_room(0u, i, vec4f(x, 0.0));
    let extent = select(0.0, length(x - before), i > 0u);
    set_room(1u, i, vec4f(x, extent));
    reach += extent;
    before = x;
    checked += x;
  }
  if u.whole.w != 0u && COLLIDERS > 0u && all_finite(vec4f(checked, 0.0)) {
    find_out_of_reach(point(0u), point(0u), reach);
    for (var turn = 0u; turn < 2u; turn++) {
      push_out(count, exempt);
      settle_lengths(count, exempt);
    }
  }
  for (var i = 0u; i < count; i++) { write_followers(vertex_at(i), vec4f(point(i), 0.0)); }
}
