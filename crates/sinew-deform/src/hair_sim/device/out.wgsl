// Positions and tangents of all strands, vertex by vertex: `strands_out.rs`.

fn kernel(index: u32) {
  if index == 0u { advance(true); }
  let row = strand_row(strand_with(index));
  let i = index - row.z;
  write_strands_positions(index, placed_point(row, i));
  if wants_strands_tangents { write_strands_tangents(index, vec4f(tangent_at(row, i), 1.0)); }
}

fn placed_point(row: vec4u, i: u32) -> vec3f {
  if row.y == NO_FOLLOWER { return read_state(plane(i) + row.x).xyz; }
  return read_followers(follower_plane(i) + row.y).xyz;
}
