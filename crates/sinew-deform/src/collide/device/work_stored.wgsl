// Room for the vertices of all strands: some are too long for memory of a workgroup.
fn room(slot: u32, i: u32) -> vec4f {
  return read_work(slot * WORK_VERTICES + vertex_at(i));
}

fn set_room(slot: u32, i: u32, v: vec4f) {
  write_work(slot * WORK_VERTICES + vertex_at(i), v);
}

// Behind it, all of the group see what one of them wrote.
fn sync() {
  storageBarrier();
  workgroupBarrier();
}
