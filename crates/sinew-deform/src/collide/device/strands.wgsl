// Strands, a team of invocations each: `CollideJob`.

var<private> first: u32;

fn vertex_at(i: u32) -> u32 {
  return first + i;
}

fn placement_word(at: u32) -> vec4u {
  return read_moment(at);
}

fn placement_of(collider: u32) -> u32 {
  return 10u * collider;
}

fn kernel(group: u32, local: u32) {
  let frame = uniforms().frame;
  let has_ways = frame.x == 0u && frame.y == 1u;
  team = local / STRAND_LANES;
  lane = local % STRAND_LANES;
  solid_at = NO_PLACEMENT;
  let strand = group * STRAND_TEAMS + team;
  let has_strand = strand < STRANDS;
  // Teams without a strand go along with nothing to do.
  let row = strand_row(min(strand, STRANDS - 1u));
  first = row.x;
  count = select(0u, row.y, has_strand);
  let vertex = vertex_at(min(lane, row.y - 1u));
  let x = read_strands_positions(vertex);
  var before = x;
  if has_ways { before = read_state(vertex).xyz; }
  take_vertex(x, before, frame.z, has_ways);
  if lane == 0u { range_of[team] = vec2u(first_free, count); }
  let is_placed = place_strand(has_strand);
  if lane < count {
    let moves = is_placed && is_free;
    write_state(vertex, vec4f(select(x, me.x + root_at, moves), 0.0));
  }
}
