// Positions and tangents of all strands, vertex by vertex: `strands_out.rs`.

fn kernel(index: u32) {
  if index == 0u { advance(true); }
  let row = strand_row(strand_with(index));
  let i = index - row.z;
  let fade = fade_of(row);
  let is_hidden = fade <= 0.0;
  var at = placed_point(row, select(i, 0u, is_hidden));
  if fade < 1.0 {
    let root = placed_point(row, 0u);
    at = root + (at - root) * fade;
  }
  write_strands_positions(index, at);
  if wants_strands_tangents {
    var tangent = vec3f(0.0, 1.0, 0.0);
    if !is_hidden { tangent = tangent_at(row, i); }
    write_strands_tangents(index, vec4f(tangent, 1.0));
  }
}

fn fade_of(row: vec4u) -> f32 {
  if uniforms().shown.x >= 1.0 { return 1.0; }
  if row.y == NO_FOLLOWER { return fade_from(shown_from(row.x)); }
  return fade_from(follower_shown_from(row.y));
}

fn placed_point(row: vec4u, i: u32) -> vec3f {
  if row.y == NO_FOLLOWER { return read_state(plane(i) + row.x).xyz; }
  return read_followers(follower_plane(i) + row.y).xyz;
}
