// Before the first frame: all strands at rest on the skin.

fn kernel(index: u32) {
  if index == 0u { write_moment(0u, vec4u(0u, uniforms().begin.xy, select(0u, 1u, COLLIDERS > 0u))); }
  let rows = transform_of(index);
  var root = root_of(rows, root_at_rest(index));
  if !root.is_usable { root = Root(true, Rigid(vec4f(0.0, 0.0, 0.0, 1.0), vec3f(0.0)), 1.0); }
  let placed = vec4f(root.frame.translation, root.size);
  write_state(drive_at(0u, index), root.frame.rotation);
  write_state(drive_at(1u, index), placed);
  write_state(drive_at(2u, index), root.frame.rotation);
  write_state(drive_at(3u, index), placed);
  write_state(drive_at(4u, index), vec4f(0.0));
  let count = row_of(index).x;
  for (var i = 0u; i < count; i++) {
    let vertex = plane(i) + index;
    let offset = read_bound(vertex).xyz;
    write_state(vertex, vec4f(point_of(root.frame, offset * root.size), 0.0));
    write_state(kept_at(0u, vertex), read_rest(vertex));
    write_state(kept_at(1u, vertex), vec4f(0.0, 0.0, 0.0, -1.0));
    write_state(kept_at(2u, vertex), vec4f(offset, -1e9));
  }
}
