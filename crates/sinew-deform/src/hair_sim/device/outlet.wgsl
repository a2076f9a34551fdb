// `outlet` holds for each vertex of the output its segment (`segments` in `bind.rs`) and its strand, for each strand its guide, its
// number among followers, its first vertex and how many it has, for each follower its strand, the influences of its root (the first, how
// many; none: it keeps beside its guide's) and the detail from which on it is shown, and where planes of followers begin.

const NO_FOLLOWER = 0xffffffffu;

fn own_segment(vertex: u32) -> vec3f {
  return bitcast<vec3f>(read_outlet(vertex).xyz);
}

fn strand_with(vertex: u32) -> u32 {
  return read_outlet(vertex).w;
}

fn strand_row(number: u32) -> vec4u {
  return read_outlet(VERTICES + number);
}

fn follower_strand(follower: u32) -> u32 {
  return read_outlet(VERTICES + STRANDS + follower).x;
}

fn follower_shown_from(follower: u32) -> f32 {
  return bitcast<f32>(read_outlet(VERTICES + STRANDS + follower).w);
}

fn follower_plane(k: u32) -> u32 {
  return read_outlet(VERTICES + STRANDS + FOLLOWERS + k).x;
}
