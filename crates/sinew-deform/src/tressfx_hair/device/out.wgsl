// Positions and tangents. Vertices of guides that were moved out of a collider stay there and lose their velocity.

fn kernel(index: u32) {
  let lead = lead_of(index);
  let shown = read_shown(index);
  write_strands_positions(index, shown.xyz);
  if wants_strands_tangents {
    write_strands_tangents(index, vec4f(read_state(tangent_at(lead.x)).xyz, 1.0));
  }
  if lead.w == 1u && shown.w == 1.0 {
    set_now(lead.x, shown.xyz);
    set_last(lead.x, shown.xyz);
  }
}
