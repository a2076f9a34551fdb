// Counts frames, and tells where colliders are: how they came there is not looked at. Needs `collide/place.wgsl`, whose `place_field` is not
// called: other solvers ask more of a collider.

fn write_placement(at: u32, v: vec4u) {
  write_moment(at, v);
}

fn count_frame() {
  let before = read_moment(0u);
  let first = vec4u(0u, 1u, 0u, 0u);
  let next = vec4u(before.x + 1u, min(before.y + 1u, 3u), 0u, 0u);
  write_moment(0u, select(next, first, uniforms().counts.w == 1u));
}

fn kernel(index: u32) {
  if index == 0u { count_frame(); }
  if index >= COLLIDERS { return; }
  let f = head_of(index);
  let at = placement_of(index);
  if f.kind == 0u {
    write_moment(at, vec4u(0u));
    return;
  }
  let frame = normalized(frame_of(f));
  let feature = feature_of(f);
  var margin = 0.0;
  if feature < 1e37 { margin = contact_of(index).x * feature; }
  write_moment(at, vec4u(f.kind, f.count, bitcast<u32>(feature), bitcast<u32>(margin)));
  write_moment(at + 1u, bitcast<vec4u>(frame.rotation));
  write_moment(at + 2u, words_of(frame.translation, f.unit));
  write_moment(at + 3u, words_of(f.origin, f.cell));
  write_moment(at + 4u, vec4u(f.bricks, f.table));
  write_moment(at + 5u, vec4u(f.coarse, f.values, 0u, 0u));
}
