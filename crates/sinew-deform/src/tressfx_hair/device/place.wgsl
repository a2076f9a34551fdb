// Counts frames, and tells where colliders are: how they came there is not looked at.

fn write_placement(at: u32, v: vec4u) {
  write_moment(at, v);
}

fn kernel(index: u32) {
  if index == 0u {
    let before = read_moment(0u);
    let first = vec4u(0u, 1u, 0u, 0u);
    let next = vec4u(before.x + 1u, min(before.y + 1u, 3u), 0u, 0u);
    write_moment(0u, select(next, first, uniforms().counts.w == 1u));
  }
  if index >= COLLIDERS { return; }
  let f = head_of(index);
  let at = placement_of(index);
  if f.kind == 0u {
    write_placement(at + 5u, vec4u(0u));
    return;
  }
  let here = frame_of(f);
  place_field(f, motion_between(here, here), vec2f(1.0), at);
}
