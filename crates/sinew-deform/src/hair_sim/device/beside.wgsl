// Where followers' roots are that follow joints of their own, from their guides': `own_place` in `strands_out.rs`. Kept where the place of the follower's
// first vertex will be, with 1 behind it.

fn place_by(rows: Rows, p: vec3f) -> vec3f {
  return vec3f(dot(rows.a.xyz, p), dot(rows.b.xyz, p), dot(rows.c.xyz, p)) + vec3f(rows.a.w, rows.b.w, rows.c.w);
}

fn blended_rows(first: u32, number: u32) -> Rows {
  var sum = Rows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
  for (var i = first; i < first + number; i++) {
    let influence = read_influences(i);
    let weight = bitcast<f32>(influence.y);
    let joint = 3u * influence.x;
    sum.a += read_palette(joint) * weight;
    sum.b += read_palette(joint + 1u) * weight;
    sum.c += read_palette(joint + 2u) * weight;
  }
  return sum;
}

fn kernel(index: u32) {
  let own = read_outlet(VERTICES + STRANDS + index);
  let row = strand_row(own.x);
  let rest = root_at_rest(row.x);
  let place = place_by(blended_rows(own.y, own.z), rest + own_segment(row.z));
  let beside = place - place_by(transform_of(row.x), rest);
  let is_used = own.z > 0u && all_finite(vec4f(beside, 0.0));
  write_followers(follower_plane(0u) + index, vec4f(beside, select(0.0, 1.0, is_used)));
}
