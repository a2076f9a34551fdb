// Guides that begin in solids are led around them, and then find a shape there; they are at rest afterwards.

const FREEING_STEPS = 24u;

fn kernel(group: u32, local: u32) {
  let u = uniforms();
  if !use_guide(group, local) { return; }
  let has_segments = group_flag(u.begin.w != 0u);
  begin_step(vec3f(0.0), vec3f(0.0));
  was = me.before;
  me.goal = me.x;
  first_look = 1.0;
  let is_moved = place_strand(count > 0u);
  first_look = FIRST;
  finish_step();
  me.velocity = vec3f(0.0);
  laws_of_run = u.calm;
  use_step(0u);
  for (var step = 0u; step < FREEING_STEPS; step++) {
    if !group_flag(is_moved) { break; }
    run_step(u, has_segments, local, vec3f(0.0), vec3f(0.0));
    me.velocity = vec3f(0.0);
  }
  let lost = team_flag(is_lost());
  if is_moved { store_vertex(lost); }
}
