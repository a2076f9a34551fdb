// A guide while it is stepped, as contacts see it. What rooms hold:
//
// 0 place; (lb), later distance, last 1 where it is settled | 1 (right; 1 / diagonal), later (direction; stretch), last the place before it settled | 2 (torque; la), later (-; ahead)
// 3 normal of the surface touched | 4 how far the step carried that; share of the segment's contact | 5, 6 the same of the segment
// 7 how far this push freed the vertex | 8 how far all of them did

var<private> strand: u32;
var<private> count: u32;
// Size of the skin at the root, at the end of the step.
var<private> size: f32;
var<private> is_freed: bool;

fn vertex_at(i: u32) -> u32 {
  return plane(i) + strand;
}

fn bound_offset(i: u32) -> vec4f {
  return read_bound(vertex_at(i));
}

// Length, share of the arc, lever, stiffness of the bend.
fn bound_bend(i: u32) -> vec4f {
  return read_bound(GUIDE_VERTICES + vertex_at(i));
}

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

fn distance_at(i: u32) -> f32 {
  return room(0u, i).w;
}

fn set_distance(i: u32, d: f32) {
  set_room(0u, i, vec4f(room(0u, i).xyz, d));
}

fn freed_at(i: u32) -> vec3f {
  if !is_freed { return vec3f(0.0); }
  return room(7u, i).xyz + room(8u, i).xyz;
}

// Where it was at the beginning of the step.
fn start_of(i: u32) -> vec3f {
  return read_state(vertex_at(i)).xyz + freed_at(i);
}

fn free_by(i: u32, way: vec3f) {
  if !is_freed {
    for (var k = 0u; k < count; k++) {
      set_room(7u, k, vec4f(0.0));
      set_room(8u, k, vec4f(0.0));
    }
    is_freed = true;
  }
  set_room(7u, i, room(7u, i) + vec4f(way, 0.0));
}

fn touch(i: u32, normal: vec3f, carried: vec3f) {
  note_touched(i);
  set_room(3u, i, vec4f(normal, 1.0));
  set_room(4u, i, vec4f(carried, room(4u, i).w));
}

fn press(i: u32, normal: vec3f, carried: vec3f, share: f32) {
  note_pressed(i);
  set_room(4u, i, vec4f(room(4u, i).xyz, share));
  set_room(5u, i, vec4f(normal, 1.0));
  set_room(6u, i, vec4f(carried, 0.0));
}

fn limited(v: vec3f, most: f32) -> vec3f {
  let squared = dot(v, v);
  if squared > most * most { return v * (most / sqrt(squared)); }
  return v;
}

fn placement_word(at: u32) -> vec4u {
  return read_moment(at);
}

fn begin_settling(i: u32) {
  set_room(1u, i, vec4f(point(i), 0.0));
}

// Where the vertex was before it settled.
fn unsettled(i: u32) -> vec3f {
  return room(1u, i).xyz;
}

var<private> step_of_run: u32;

fn placement_of(collider: u32) -> u32 {
  return placed_at(collider, step_of_run);
}
