// Colliders between the frame before and this one.

fn write_placement(at: u32, v: vec4u) {
  write_moment(at, v);
}

fn kernel(index: u32) {
  if index >= COLLIDERS { return; }
  let f = head_of(index);
  let at = PLACEMENT * index;
  if f.kind == 0u {
    write_placement(at + 5u, vec4u(0u));
    return;
  }
  let now = frame_of(f);
  var before = Rigid(read_state(collider_at(index)), read_state(collider_at(index) + 1u).xyz);
  // One that held nothing until now was nowhere.
  if uniforms().frame.x == 1u || dot(before.rotation, before.rotation) < 0.5 { before = now; }
  place_field(f, motion_between(before, now), vec2f(0.0, 1.0), at);
  write_state(collider_at(index), now.rotation);
  write_state(collider_at(index) + 1u, vec4f(now.translation, 0.0));
}
