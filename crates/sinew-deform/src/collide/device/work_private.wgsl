// Room for the vertices of one strand, in the invocation's own memory: `rooms` is declared as long as the longest strand asks for.
fn room(slot: u32, i: u32) -> vec4f {
  return rooms[slot * LONGEST + i];
}

fn set_room(slot: u32, i: u32, v: vec4f) {
  rooms[slot * LONGEST + i] = v;
}
