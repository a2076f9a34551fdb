// Followers, by a workgroup each: laid beside their guides, then out of solids by places alone: `strands_out.rs` and `collide_strand` in `job.rs`.
//
// Rooms: 0 (place; distance, later 1 where it is settled) | 1 (where it was laid; length)

// Of the follower at hand: vertices, the colliders in reach, and 1 where all its numbers are finite.
var<workgroup> order: vec4u;

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

fn kernel(group: u32, local: u32) {
  let u = uniforms();
  let row = strand_row(follower_strand(group));
  strand = group;
  exempt = u.begin.z;
  solid_at = 0u;
  if local == 0u { order = vec4u(row.w, 0u, 0u, 0u); }
  let vertices = workgroupUniformLoad(&order).x;
  count = vertices;
  for (var i = local; i < vertices; i += LANES) { lay_vertex(i, row, u.roots.w); }
  sync();
  if local == 0u && u.whole.w != 0u && COLLIDERS > 0u { look_around(); }
  let given = workgroupUniformLoad(&order);
  if given.y != 0u {
    for (var turn = 0u; turn < 2u; turn++) {
      push_out(given.x, exempt, given.y, local);
      settle_lengths(given.x, exempt, given.y, local);
    }
  }
  for (var i = local; i < vertices; i += LANES) { write_followers(vertex_at(i), vec4f(point(i), 0.0)); }
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
  order.y = ~out_of_reach & ((1u << COLLIDERS) - 1u);
}
