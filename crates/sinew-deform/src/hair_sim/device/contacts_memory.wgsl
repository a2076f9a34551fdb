// Which vertices and segments touch something: beside their normals.
fn is_touched(i: u32) -> bool {
  return room(3u, i).w > 0.0;
}

fn is_pressed(i: u32) -> bool {
  return room(5u, i).w > 0.0;
}

fn note_touched(i: u32) {
  set_room(3u, i, vec4f(0.0, 0.0, 0.0, 1.0));
}

fn note_pressed(i: u32) {
  set_room(5u, i, vec4f(0.0, 0.0, 0.0, 1.0));
}

fn forget_contacts() {
  for (var i = 0u; i < count; i++) {
    set_room(3u, i, vec4f(0.0));
    set_room(5u, i, vec4f(0.0));
  }
}
