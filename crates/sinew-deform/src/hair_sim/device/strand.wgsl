// A guide as one invocation moves it. What rooms hold:
//
// 0 place; (lb), later how far it is from all solids, beyond their margins | 1 (right; 1 / diagonal), later (direction; stretch)
// 2 (torque; la), then what tensions do to it in its place, later (place that its distance is of; ahead)

fn inverse_mass_of(i: u32) -> f32 {
  return bound_offset(i).w;
}

fn length_of(i: u32) -> f32 {
  return bound_bend(i).x * size;
}

fn point(i: u32) -> vec3f {
  return room(0u, i).xyz;
}

fn set_point(i: u32, p: vec3f) {
  set_room(0u, i, vec4f(p, room(0u, i).w));
}

// Of `length.wgsl`.
fn set_stretch(i: u32, v: vec4f, ahead: f32) {
  set_room(1u, i, v);
  set_room(2u, i, vec4f(room(2u, i).xyz, ahead));
}

fn stretch_at(i: u32) -> vec4f {
  return room(1u, i);
}

fn ahead_at(i: u32) -> f32 {
  return room(2u, i).w;
}

// Keeps where the vertex is and how far from solids.
fn note_clearance(i: u32, clearance: f32) {
  let x = point(i);
  set_room(0u, i, vec4f(x, clearance));
  set_room(2u, i, vec4f(x, 0.0));
}

fn clearance_at(i: u32) -> f32 {
  return room(0u, i).w;
}

fn point_of_clearance(i: u32) -> vec3f {
  return room(2u, i).xyz;
}
