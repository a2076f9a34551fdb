// All steps of a run, a team of invocations for each guide. Nothing of other strands is read.

// Steps in which a strand finds a shape outside of what it begins in.
const FREEING_STEPS = 24u;
// A strand is first looked at where it would be after this fraction of a step at its speed.
const FIRST = 0.5;
// Iterations of any quality, with those for strands in a solid.
const ITERATIONS = 16u;

fn kernel(group: u32, local: u32) {
  let u = uniforms();
  team = local / STRAND_LANES;
  lane = local % STRAND_LANES;
  let progress = read_moment(0u);
  let is_freeing = progress.w == 1u;
  let guide = group * STRAND_TEAMS + team;
  // Teams without a strand go along with nothing to do.
  strand = min(guide, GUIDES - 1u);
  count = select(0u, row_of(strand).x, guide < GUIDES);
  solid_at = NO_PLACEMENT;
  pulled = u.sideways.w;
  first_look = FIRST;
  find_pin();
  if lane == 0u { range_of[team] = vec2u(first_free, count); }
  load_vertex();
  use_run(is_freeing);
  for (var c = 0u; c < COLLIDERS; c++) { root_far[c] = FAR; }
  use_step(0u, is_freeing);
  if COLLIDERS > 0u { find_bases(); }
  if group_flag(is_freeing) {
    free_strand(u, local);
    return;
  }
  var phases = vec3u(0u);
  let is_windy = any(u.wind.xyz != vec3f(0.0));
  if is_windy { phases = phases_of(u.fractions.w, strand_of(strand)); }
  let steps = run_length(u.steps, progress.x);
  for (var step = 0u; step < BATCH; step++) {
    if !group_flag(step < steps) { break; }
    if step > 0u { use_step(step, false); }
    var wind = vec3f(0.0);
    if is_windy { wind = turned_back(root_now.rotation, wind_in(step, phases, u.wind, u.sideways.xyz)); }
    run_step(u, local, turned_back(root_now.rotation, u.gravity.xyz), wind);
  }
  store_vertex(team_flag(is_lost()));
}

fn is_lost() -> bool {
  return !all_finite(me.turn + vec4f(me.velocity + me.anchor, 0.0));
}

fn run_step(u: Uniforms, local: u32, gravity: vec3f, wind: vec3f) {
  begin_step(gravity, wind);
  for (var iteration = 0u; iteration < ITERATIONS; iteration++) {
    var is_active = iteration < u.begin.z;
    if !group_flag(is_active) {
      is_active = team_flag(is_inside());
      if !group_flag(is_active && iteration < u.begin.z + MORE) { break; }
    }
    look(iteration == 0u, u.begin.w != 0u, false);
    iterate(local, iteration == 0u, is_active);
  }
  finish_step();
}

// Whether the vertex is inside of a solid, as far as the last look tells.
fn is_inside() -> bool {
  return contact.on > 0.0 && dot(contact.normal, me.x) + contact.offset + contact.layer < 0.0;
}

// Brings strands out of the solids that they begin in; those that touch nothing stay as they are.
fn free_strand(u: Uniforms, local: u32) {
  begin_step(vec3f(0.0), vec3f(0.0));
  look(true, false, false);
  let is_wanted = team_flag(contact.on > 0.0 && me.gap < 0.0);
  for (var step = 0u; step < FREEING_STEPS; step++) {
    run_step(u, local, vec3f(0.0), vec3f(0.0));
    me.velocity = vec3f(0.0);
  }
  let lost = team_flag(is_lost());
  if is_wanted { store_vertex(lost); }
}
