// The grid that volumes of hair are added up on: `volume.rs`. It repeats.

// Position of the node `n` of the 27 around the middle one.
fn near_node(n: u32) -> vec3i {
  return vec3i(vec3u(n % 3u, n / 3u % 3u, n / 9u)) - 1;
}

// Where the first of them is, counted from zero in each axis.
fn first_near(middle: vec3f) -> vec3u {
  let nodes = vec3i(i32(VOLUME_NODES));
  return vec3u(((vec3i(middle) - 1) % nodes + nodes) % nodes);
}

fn volume_node(first: vec3u, node: vec3i) -> u32 {
  let at = first + vec3u(node + 1);
  let wrapped = select(at, at - VOLUME_NODES, at >= vec3u(VOLUME_NODES));
  return (wrapped.z * VOLUME_NODES + wrapped.y) * VOLUME_NODES + wrapped.x;
}

// Weights of that node along each axis, for a position that is `off` from the middle one, in cells.
fn spline(off: vec3f, node: vec3i) -> vec3f {
  let end = 0.5 + vec3f(node) * off;
  return select(0.5 * end * end, 0.75 - off * off, node == vec3i(0));
}

fn spline_slope(off: vec3f, node: vec3i) -> vec3f {
  let side = vec3f(node);
  return select(side * (0.5 + side * off), -2.0 * off, node == vec3i(0));
}
