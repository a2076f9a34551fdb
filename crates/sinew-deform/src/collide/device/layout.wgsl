struct Uniforms {
  // 1 in a first frame; 1 where paths are tested; exempt vertices.
  frame: vec4u,
}

// `rows` holds for each vertex its strand, then for each strand its first vertex and how many it has. `state` holds where vertices are, and then rotation and
// translation of each collider in the frame before; `moment` the placements of colliders.

fn strand_row(number: u32) -> vec2u {
  return read_rows(VERTICES + number);
}

fn collider_at(collider: u32) -> u32 {
  return VERTICES + 2u * collider;
}
