// Room for the vertices of the teams' strands, in memory of the workgroup: `rooms` is declared as long as the longest strand asks for.
fn room(slot: u32, i: u32) -> vec4f {
  return rooms[(team * ROOMS + slot) * LONGEST + i];
}

fn set_room(slot: u32, i: u32, v: vec4f) {
  rooms[(team * ROOMS + slot) * LONGEST + i] = v;
}

// Behind it, all of the group see what one of them wrote.
fn sync() {
  workgroupBarrier();
}
