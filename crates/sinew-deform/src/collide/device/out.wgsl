// Positions and tangents, vertex by vertex.

fn placed_point(row: vec4u, i: u32) -> vec3f {
  return read_state(row.x + i).xyz;
}

fn kernel(index: u32) {
  let strand = strand_row(read_rows(index).x);
  let row = vec4u(strand.x, 0u, 0u, strand.y);
  write_strands_positions(index, placed_point(row, index - row.x));
  if wants_strands_tangents { write_strands_tangents(index, vec4f(tangent_at(row, index - row.x), 1.0)); }
}
