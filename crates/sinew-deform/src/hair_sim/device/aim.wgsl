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
}
