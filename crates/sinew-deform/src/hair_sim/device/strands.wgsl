// All steps of a run of one guide. Nothing of other strands is read.

// Steps in which a strand finds a shape outside of what it begins in.
const FREEING_STEPS = 24u;

fn kernel(index: u32) {
  let u = uniforms();
  let progress = read_moment(0u);
  let is_freeing = progress.w == 1u;
  strand = index;
  count = row_of(index).x;
  solid_at = NO_PLACEMENT;
  pulled = u.sideways.w;
  load_strand();
  use_step(0u, is_freeing);
  if COLLIDERS > 0u { find_bases(); }
  if is_freeing {
    free_strand(u);
    return;
  }
  var phases = vec3u(0u);
  let is_windy = any(u.wind.xyz != vec3f(0.0));
  if is_windy { phases = phases_of(u.fractions.w, strand_of(index)); }
  let steps = run_length(u.steps, progress.x);
  for (var step = 0u; step < steps; step++) {
    use_step(step, false);
    var wind = vec3f(0.0);
    if is_windy { wind = turned_back(root_now.rotation, wind_in(step, phases, u.wind, u.sideways.xyz)); }
    run_step(u, turned_back(root_now.rotation, u.gravity.xyz), wind);
  }
  store_strand();
}

fn run_step(u: Uniforms, gravity: vec3f, wind: vec3f) {
  begin_step(gravity, wind);
  for (var iteration = 0u; iteration < u.begin.z + MORE; iteration++) {
    if iteration >= u.begin.z && !is_inside() { break; }
    look(iteration == 0u, u.begin.w != 0u);
    search(solve());
  }
  finish_step();
}

// Brings the strand out of the solids that it begins in; one that touches nothing stays as it is.
fn free_strand(u: Uniforms) {
  begin_step(vec3f(0.0), vec3f(0.0));
  look(true, false);
  if !is_touching() { return; }
  for (var step = 0u; step < FREEING_STEPS; step++) {
    run_step(u, vec3f(0.0), vec3f(0.0));
    for (var i = 0u; i < count; i++) { set_xyz(2u, i, vec3f(0.0)); }
  }
  store_strand();
}
