// Tangents of a strand: the mean directions of segments beside a vertex. Needs `placed_point(row, i)` of a strand with `row.w` vertices.

// Direction from vertex `i` to the next; zero where it has none.
fn segment_after(row: vec4u, i: u32) -> vec3f {
  if i + 1u >= row.w { return vec3f(0.0); }
  return unit_or(placed_point(row, i + 1u) - placed_point(row, i), vec3f(0.0));
}

fn tangent_at(row: vec4u, i: u32) -> vec3f {
  // Where a strand has no direction, that of the vertex before counts.
  for (var k = i + 1u; k > 0u; k -= 1u) {
    let after = segment_after(row, k - 1u);
    var before = vec3f(0.0);
    if k > 1u { before = segment_after(row, k - 2u); }
    let tangent = unit_or(before + after, unit_or(after, before));
    if any(tangent != vec3f(0.0)) { return tangent; }
  }
  return vec3f(0.0, 1.0, 0.0);
}
