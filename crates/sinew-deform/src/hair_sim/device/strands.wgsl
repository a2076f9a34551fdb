// All steps of a run, a team of invocations for each guide. Nothing of other strands is read.

// Steps in which a strand finds a shape outside of what it begins in.
const FREEING_STEPS = 24u;

fn kernel(group: u32, local: u32) {
  let u = uniforms();
  team = local / LANES;
  lane = local % LANES;
  let progress = read_moment(0u);
  let is_freeing = progress.w == 1u;
  let guide = group * TEAMS + team;
  // Teams without a strand go along with nothing to do.
  strand = min(guide, GUIDES - 1u);
  count = select(0u, row_of(strand).x, guide < GUIDES);
  solid_at = NO_PLACEMENT;
  pulled = u.sideways.w;
  if lane == 0u { atomicStore(&lost[team], 0u); }
  load_strand();
  use_step(0u, is_freeing);
  if COLLIDERS > 0u { find_bases(); }
  if workgroup_flag(is_freeing) {
    free_strand(u);
    return;
  }
  var phases = vec3u(0u);
  let is_windy = any(u.wind.xyz != vec3f(0.0));
  if is_windy { phases = phases_of(u.fractions.w, strand_of(strand)); }
  let steps = run_length(u.steps, progress.x);
  for (var step = 0u; step < BATCH; step++) {
    if !workgroup_flag(step < steps) { break; }
    use_step(step, false);
    var wind = vec3f(0.0);
    if is_windy { wind = turned_back(root_now.rotation, wind_in(step, phases, u.wind, u.sideways.xyz)); }
    run_step(u, turned_back(root_now.rotation, u.gravity.xyz), wind);
  }
  store_strand(true);
}

// Whether any invocation of the group says so: the same for all of them.
fn workgroup_flag(mine: bool) -> bool {
  workgroupBarrier();
  if lane == 0u { atomicStore(&goes_on, 0u); }
  workgroupBarrier();
  if mine { atomicStore(&goes_on, 1u); }
  return workgroupUniformLoad(&goes_on) != 0u;
}

// The same of the team.
fn team_flag(mine: bool) -> bool {
  return sum_of_team(select(0.0, 1.0, mine)) > 0.0;
}

fn run_step(u: Uniforms, gravity: vec3f, wind: vec3f) {
  begin_step(gravity, wind);
  for (var iteration = 0u; iteration < 16u; iteration++) {
    var is_active = iteration < u.begin.z;
    if !workgroup_flag(is_active) {
      is_active = team_flag(is_inside());
      if !workgroup_flag(is_active && iteration < u.begin.z + MORE) { break; }
    }
    look(iteration == 0u, u.begin.w != 0u);
    iterate(is_active);
  }
  finish_step();
}

// Brings strands out of the solids that they begin in; those that touch nothing stay as they are.
fn free_strand(u: Uniforms) {
  begin_step(vec3f(0.0), vec3f(0.0));
  look(true, false);
  let is_wanted = team_flag(is_touching());
  for (var step = 0u; step < FREEING_STEPS; step++) {
    run_step(u, vec3f(0.0), vec3f(0.0));
    for (var i = lane; i < count; i += LANES) { set_xyz(2u, i, vec3f(0.0)); }
    sync();
  }
  store_strand(is_wanted);
}
