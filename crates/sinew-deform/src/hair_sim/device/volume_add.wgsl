// Where vertices of a guide will be at the end of the run, and what they take up there: an invocation for each of the 27 nodes around them.

fn kernel(invocation: u32) {
  let index = invocation / 27u;
  let node = near_node(invocation % 27u);
  let u = uniforms();
  // Guides that are shown stand for those that are hidden.
  let share = fade_from(shown_from(index)) / max(u.shown.x, 1e-6);
  if share <= 0.0 { return; }
  let progress = read_moment(0u);
  let sort = sort_of(u.steps, progress.x);
  let run = run_length(u, progress.x);
  var h = u.step_2.x;
  if sort.x == 0u { h = u.step_0.x; }
  if sort.x == 1u { h = u.step_1.x; }
  let span = vec2f(vec2u(sort.y, sort.y + run)) / f32(max(sort.z, 1u));
  let before = read_state(drive_at(1u, index));
  let placed = read_state(drive_at(3u, index));
  let first = Rigid(read_state(drive_at(0u, index)), before.xyz);
  let motion = motion_between(first, Rigid(read_state(drive_at(2u, index)), placed.xyz));
  let at = motion_at(motion, span.y);
  let sizes = before.w + (placed.w - before.w) * span;
  let secs = h * f32(run);
  let count = row_of(index).x;
  var x = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    let vertex = plane(i) + index;
    let bound = read_bound(vertex);
    if bound.w == 0.0 {
      x = bound.xyz * sizes.x;
    } else {
      let along = turned(read_state(kept_at(0u, vertex)), vec3f(1.0, 0.0, 0.0));
      x += along * (read_bound(GUIDE_VERTICES + vertex).x * sizes.x);
    }
    let place = point_of(at, x + read_state(kept_at(1u, vertex)).xyz * secs);
    if all(node == vec3i(0)) { write_places(vertex, vec4f(place, 0.0)); }
    add_volume(place, node, read_volumes(vertex) * sizes.y * sizes.y * sizes.y * share);
  }
}

fn add_volume(place: vec3f, node: vec3i, volume: f32) {
  if !all_finite(vec4f(place, volume)) { return; }
  let cells = place / VOLUME_CELL;
  let middle = floor(cells + 0.5);
  let weight = spline(cells - middle, node);
  let part = volume * weight.x * weight.y * weight.z;
  add_volume_sums(volume_node(first_near(middle), node), u32(part * VOLUME_ONE + 0.5));
}
