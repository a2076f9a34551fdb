// Where the roots go in this frame.

fn kernel(index: u32) {
  let u = uniforms();
  let settings = u.roots;
  let rotation = read_state(drive_at(2u, index));
  let placed = read_state(drive_at(3u, index));
  let before = read_state(drive_at(4u, index)).xyz;
  var root = root_of(transform_of(index), root_at_rest(index));
  if !root.is_usable { root = Root(true, Rigid(rotation, placed.xyz), placed.w); }
  let velocity = (root.frame.translation - placed.xyz) / settings.x;
  let jump = length(velocity - before) * settings.x;
  let turn = motion_between(Rigid(rotation, placed.xyz), root.frame).angle;
  let by_turn = (turn - u.air.w) / bitcast<f32>(u.part.w);
  let over = clamp(max((jump - settings.y) / settings.y, by_turn), 0.0, 1.0);
  // A root that jumps is at its end from the beginning: `jumps` in `state.rs`.
  let jumps = over >= 1.0;
  write_state(drive_at(0u, index), select(rotation, root.frame.rotation, jumps));
  write_state(drive_at(1u, index), vec4f(select(placed.xyz, root.frame.translation, jumps), placed.w));
  write_state(drive_at(2u, index), root.frame.rotation);
  write_state(drive_at(3u, index), vec4f(root.frame.translation, root.size));
  write_state(drive_at(4u, index), vec4f(velocity, select(settings.z + (1.0 - settings.z) * over, JUMPS, jumps)));
  if fade_from(shown_from(index)) <= 0.0 { go_with_root(index, root.size); }
}

// A strand that is hidden keeps its shape and goes with its root, at the speed that this takes: `detail.rs`.
fn go_with_root(guide: u32, size: f32) {
  let u = uniforms();
  let begin = Rigid(read_state(drive_at(0u, guide)), read_state(drive_at(1u, guide)).xyz);
  let end = Rigid(read_state(drive_at(2u, guide)), read_state(drive_at(3u, guide)).xyz);
  let share = min(read_state(drive_at(4u, guide)).w, 1.0);
  // Of the last step, where the shared part of the motion leads.
  let shared_end = motion_at(motion_between(begin, end), 1.0 - (1.0 - share) / f32(max(u.steps.z, 1u)));
  let count = row_of(guide).x;
  var x = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    let vertex = plane(i) + guide;
    let bound = read_bound(vertex);
    // Pins at the root; those behind vertices that move are of another kind.
    let is_pin = bound.w == 0.0;
    if is_pin {
      x = bound.xyz * size;
    } else {
      let extent = read_bound(GUIDE_VERTICES + vertex).x * size;
      x += turned(read_state(kept_at(0u, vertex)), vec3f(extent, 0.0, 0.0));
    }
    let at = point_of(end, x);
    let way = turned_back(end.rotation, at - point_of(shared_end, x));
    let velocity = select(way / u.step_2.x, vec3f(0.0), is_pin);
    write_state(vertex, vec4f(at, 0.0));
    write_state(kept_at(1u, vertex), vec4f(velocity, -1.0));
    write_state(kept_at(2u, vertex), vec4f(x, -1e9));
  }
}
