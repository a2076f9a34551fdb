// Strands of the output. `strand_of` holds the strand of each vertex. `strands` holds for each strand its first vertex, the first one of its
// guide, how many it has, and 1 if it is a guide; then how far each strand is from its guide.

// Vertex of the guide, the number of the vertex in its strand, how many that has, whether it is a guide.
fn lead_of(vertex: u32) -> vec4u {
  let row = read_strands(read_strand_of(vertex));
  let i = vertex - row.x;
  return vec4u(row.y + i, i, row.z, row.w);
}

fn separation_of(vertex: u32) -> vec3f {
  return bitcast<vec3f>(read_strands(STRANDS + read_strand_of(vertex)).xyz);
}
