// All steps of a run, a team of invocations for each guide. Of other strands, nothing but where they are dense is read.

fn kernel(group: u32, local: u32) {
  let u = uniforms();
  let progress = read_moment(0u);
  if !use_guide(group, local) { return; }
  let has_segments = group_flag(u.begin.w != 0u);
  var phases = vec3u(0u);
  let is_windy = any(u.wind.xyz != vec3f(0.0));
  if is_windy { phases = phases_of(u.fractions.w, strand_of(strand)); }
  let steps = run_length(u, progress.x);
  let push = push_of_hair(u, steps);
  for (var step = 0u; step < BATCH; step++) {
    if !group_flag(step < steps) { break; }
    if step > 0u { use_step(step); }
    var wind = vec3f(0.0);
    if is_windy { wind = turned_back(root_now.rotation, wind_in(step, phases - late_at(root_now.translation, u), u.wind, u.sideways.xyz)); }
    run_step(u, has_segments, local, turned_back(root_now.rotation, u.gravity.xyz) + push, wind);
  }
  store_vertex(team_flag(is_lost()));
}
