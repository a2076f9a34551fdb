// A guide as a workgroup keeps it clear of solids. What rooms hold:
//
// 0 place; distance, later 1 where it is settled | 1 place before it settled; length | 2 where it was when the step began; inverse mass
// 3 normal of the surface touched; 1 and its friction where one is | 4 how far the step carried that; share of the segment's contact | 5, 6 the same of the segment
// 7 how far this push freed the vertex; ahead | 8 how far all of them did; what margins grow to, in `contact.wgsl` | 9 contact of the segment (normal; depth), at times (direction; stretch), later its
// velocity | 10 (share, collider) of that contact, later the velocity of the skin

fn inverse_mass_of(i: u32) -> f32 {
  return room(2u, i).w;
}

fn most_margin_of(i: u32) -> f32 {
  return room(8u, i).w;
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

fn freed_at(i: u32) -> vec3f {
  return room(7u, i).xyz + room(8u, i).xyz;
}

// Where it was at the beginning of the step.
fn start_of(i: u32) -> vec3f {
  return room(2u, i).xyz + freed_at(i);
}

fn free_by(i: u32, way: vec3f) {
  set_room(7u, i, room(7u, i) + vec4f(way, 0.0));
}

fn is_touched(i: u32) -> bool {
  return room(3u, i).w > 0.0;
}

fn is_pressed(i: u32) -> bool {
  return room(5u, i).w > 0.0;
}

fn touch(i: u32, normal: vec3f, carried: vec3f) {
  set_room(3u, i, vec4f(normal, max(room(3u, i).w, 1.0 + solid.friction)));
  set_room(4u, i, vec4f(carried, room(4u, i).w));
}

fn press(i: u32, normal: vec3f, carried: vec3f, share: f32) {
  set_room(4u, i, vec4f(room(4u, i).xyz, share));
  set_room(5u, i, vec4f(normal, max(room(5u, i).w, 1.0 + solid.friction)));
  set_room(6u, i, vec4f(carried, 0.0));
}

// Largest coefficient of friction of what the vertex or the segment that leads to it touches.
fn rub_at(i: u32) -> f32 {
  return max(max(room(3u, i).w, room(5u, i).w) - 1.0, 0.0);
}

fn begin_settling(i: u32) {
  set_room(1u, i, vec4f(point(i), room(1u, i).w));
}

// Where the vertex was before it settled.
fn unsettled(i: u32) -> vec3f {
  return room(1u, i).xyz;
}

// Of `length.wgsl`.
fn set_stretch(i: u32, v: vec4f, ahead: f32) {
  set_room(9u, i, v);
  set_room(7u, i, vec4f(room(7u, i).xyz, ahead));
}

fn stretch_at(i: u32) -> vec4f {
  return room(9u, i);
}

fn ahead_at(i: u32) -> f32 {
  return room(7u, i).w;
}

fn set_hit(i: u32, hit: Hit) {
  set_room(9u, i, vec4f(hit.normal, hit.depth));
  set_room(10u, i, vec4f(hit.share, f32(hit.collider), 0.0, 0.0));
}

fn hit_at(i: u32) -> Hit {
  let a = room(9u, i);
  let b = room(10u, i);
  return Hit(a.xyz, a.w, b.x, u32(b.y));
}
