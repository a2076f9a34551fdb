// A strand that forgets its contacts: rooms are 0 (place; distance, later 1 where it is settled) | 1 (where it was; length) | 2, 3 contact of the segment:
// (normal; depth), (share, collider, most margin).

var<private> count: u32;
// Vertices at the root that stay where they are.
var<private> exempt: u32;

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

fn most_margin_of(i: u32) -> f32 {
  return room(3u, i).z;
}

fn set_most_margin(i: u32, most: f32) {
  set_room(3u, i, vec4f(0.0, 0.0, most, 0.0));
}

fn start_of(i: u32) -> vec3f {
  return room(1u, i).xyz;
}

fn free_by(i: u32, way: vec3f) {
  set_room(1u, i, room(1u, i) + vec4f(way, 0.0));
}

// Contacts are forgotten.
fn touch(i: u32, normal: vec3f, carried: vec3f) {
}

fn press(i: u32, normal: vec3f, carried: vec3f, share: f32) {
}

fn is_pressed(i: u32) -> bool {
  return false;
}

fn begin_settling(i: u32) {
}

fn set_hit(i: u32, hit: Hit) {
  set_room(2u, i, vec4f(hit.normal, hit.depth));
  set_room(3u, i, vec4f(hit.share, f32(hit.collider), most_margin_of(i), 0.0));
}

fn hit_at(i: u32) -> Hit {
  let a = room(2u, i);
  let b = room(3u, i);
  return Hit(a.xyz, a.w, b.x, u32(b.y));
}
