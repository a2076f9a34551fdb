// Room for the vertices of all strands: some are too long for an invocation's own memory.
fn room(slot: u32, i: u32) -> vec4f {
  return read_work(slot * WORK_VERTICES + vertex_at(i));
}

fn set_room(slot: u32, i: u32, v: vec4f) {
  write_work(slot * WORK_VERTICES + vertex_at(i), v);
}
