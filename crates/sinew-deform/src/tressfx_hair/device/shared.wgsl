// What all passes know, and where things lie.

struct Uniforms {
  // Share of the velocity that is kept, fall of a frame, share of the way to the skin, share of the vertices that it is for.
  motion: vec4f,
  // Share of the way to the rest bend, share of the root's motion, acceleration from which all of it counts, spread of tips.
  shape: vec4f,
  // Bend passes, length passes, how gradients are taken, 1 where strands begin.
  counts: vec4u,
  // Wind of strands at the ends of the mix, the square of the frame's seconds and 1 where wind blows behind them.
  wind_first: vec4f,
  wind_second: vec4f,
  // Twice the angle of the wind's pulse for 1, 256, 65536 and 16777216 frames, in 2^-32 of a turn.
  pulse: vec4u,
}

// `state` holds for each vertex of guides where it is, where it was the frame before, and its tangent.

fn now(vertex: u32) -> vec3f {
  return read_state(vertex).xyz;
}

fn set_now(vertex: u32, v: vec3f) {
  write_state(vertex, vec4f(v, 0.0));
}

fn last(vertex: u32) -> vec3f {
  return read_state(GUIDE_VERTICES + vertex).xyz;
}

fn set_last(vertex: u32, v: vec3f) {
  write_state(GUIDE_VERTICES + vertex, vec4f(v, 0.0));
}

fn tangent_at(vertex: u32) -> u32 {
  return 2u * GUIDE_VERTICES + vertex;
}

// `moment` holds the number of the frame and how many there were, at most three, both since strands began; then where colliders are.

fn placement_of(collider: u32) -> u32 {
  return 1u + PLACED * collider;
}
