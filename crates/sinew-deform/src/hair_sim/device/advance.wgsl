// The run of steps is over; called once for each. Behind the last run of a frame, colliders are where they will have been.
fn advance(is_last: bool) {
  let u = uniforms();
  let progress = read_moment(0u);
  let run = select(run_length(u, progress.x), 0u, progress.w == 1u);
  let done = progress.x + run;
  let pre_roll = u.steps.x + u.steps.y;
  var time = later(progress.yz, u.fractions[sort_of(u.steps, progress.x).x], run);
  // Gusts begin with the first frame.
  if run > 0u && done == pre_roll { time = vec2u(0u); }
  write_moment(0u, vec4u(select(done, 0u, is_last), time, 0u));
  if is_last {
    for (var c = 0u; c < COLLIDERS; c++) { keep_place(c); }
  }
}

fn keep_place(collider: u32) {
  let at = placed_at(collider, BATCH);
  if read_moment(at + 5u).w == 0u { return; }
  let x = bitcast<f32>(read_moment(at).w);
  let y = bitcast<f32>(read_moment(at + 1u).w);
  let z = bitcast<f32>(read_moment(at + 2u).w);
  write_state(collider_at(collider), bitcast<vec4f>(read_moment(at + 9u)));
  write_state(collider_at(collider) + 1u, vec4f(x, y, z, 0.0));
}
