// The first half of a step of one guide, and all of it where the guide touches nothing: `step.rs`. Nothing of other strands is read. Without colliders it goes through
// a whole run of steps.

fn kernel(index: u32) {
  let u = uniforms();
  let progress = read_moment(0u);
  strand = index;
  count = row_of(index).x;
  exempt = u.begin.z;
  solid_at = NO_PLACEMENT;
  var first = 0u;
  var end = run_length(u.steps, progress.x);
  if COLLIDERS > 0u {
    first = read_moment(turn_at(0u)).x;
    end = first + 1u;
    if index == 0u { write_moment(turn_at(1u), vec4u(first, 0u, 0u, 0u)); }
  }
  var phases = vec3u(0u);
  let is_windy = any(u.wind.xyz != vec3f(0.0)) && progress.w != 1u;
  if is_windy { phases = phases_of(u.fractions.w, strand_of(index)); }
  for (var step = first; step < end; step++) {
    let s = step_of(step);
    var wind = vec3f(0.0);
    if is_windy { wind = wind_in(step, phases, u.wind, u.sideways.xyz); }
    move_strand(s, wind, u.sideways.w, LENGTH_ITERATIONS * max(u.begin.w, 1u));
  }
}

fn move_strand(s: Step, wind: vec3f, range: f32, length_iterations: u32) {
  if s.only_pushes {
    for (var i = 0u; i < count; i++) { set_room(0u, i, read_state(vertex_at(i))); }
  } else {
    // What touched nothing before the first frame stays as it is.
    if s.is_freeing && read_state(flag_at(strand)).y > 0.0 { return; }
    integrate(s, wind);
    restore_shape(s, range);
  }
  if COLLIDERS > 0u {
    // All of them where the root is not held.
    let held = inverse_mass_of(0u) <= 0.0;
    let start = read_state(vertex_at(0u)).xyz;
    find_out_of_reach(start, point(0u), select(FAR, bitcast<f32>(row_of(strand).w) * size, held));
    if is_near(s.carry) {
      hand_over();
      return;
    }
    if s.only_pushes {
      write_state(flag_at(strand), vec4f(0.0, 1.0, 0.0, 0.0));
      return;
    }
  }
  for (var k = 0u; k < length_iterations; k++) { restore_lengths(); }
  finish(s);
}

// Takes the strand along, and moves it on by a step.
fn integrate(s: Step, wind: vec3f) {
  let is_windy = any(wind != vec3f(0.0));
  let h = s.constants.x;
  var before = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    let b = bound_offset(i);
    let start = read_state(vertex_at(i)).xyz;
    var x = vec3f(0.0);
    if b.w <= 0.0 {
      x = point_of(s.at, b.xyz * size);
    } else {
      var push = s.gravity.xyz;
      if is_windy && i > 0u {
        let along = unit_or(start - before, vec3f(0.0));
        push += wind - along * dot(along, wind);
      }
      let velocity = turned(s.carry.rotation, read_state(velocity_at(vertex_at(i))).xyz);
      x = point_of(s.carry, start) + limited(velocity * s.constants.y + push * h, s.gravity.w) * h;
    }
    before = start;
    set_room(0u, i, vec4f(x, 0.0));
  }
}

// Whether anything of the strand may touch a solid, or may have passed through one. Keeps distances beyond margins, or less.
fn is_near(carry: Rigid) -> bool {
  for (var i = 0u; i < count; i++) { note_clearance(i, FAR); }
  var near = false;
  for (var c = 0u; c < COLLIDERS; c++) {
    if is_in_reach(c) {
      use_solid(c);
      var before = point(0u);
      var clearance = -1.0;
      for (var i = 0u; i < count; i++) {
        let x = point(i);
        let step = length(x - before);
        before = x;
        let moved = length(x - point_of(solid.carry, read_state(vertex_at(i)).xyz));
        // Distances grow no faster than the way.
        clearance -= step;
        if clearance <= max(moved, step) * 2.0 { clearance = sampled(x).w - solid.margin; }
        let is_held = i < exempt || inverse_mass_of(i) <= 0.0;
        let is_fast = moved > solid.spacing && clearance <= moved * 2.0;
        near = near || (!is_held && (clearance < 0.0 || (is_fast && may_pass(i, x, clearance))));
        note_clearance(i, min(clearance, clearance_at(i)));
      }
    }
  }
  return near || is_near_between();
}

// Whether a vertex may have passed through the solid at hand on its way to `x`: `first_hit` asks more closely.
fn may_pass(i: u32, x: vec3f, clearance: f32) -> bool {
  let start = read_state(vertex_at(i)).xyz;
  let way = way_of(start, x);
  let at_start = field_sample(solid.field, way.begins).w - solid.margin;
  return !(at_start + clearance >= way.speed);
}

// Whether a segment may touch, by the distances of its ends, which the way since they were taken makes shorter.
fn is_near_between() -> bool {
  var near = false;
  var before = point(0u);
  var last = 0.0;
  for (var i = 0u; i < count; i++) {
    let x = point(i);
    let clearance = clearance_at(i) - length(x - point_of_clearance(i));
    // A segment that ends at a pinned vertex may move, too.
    let is_moved = inverse_mass_of(i) > 0.0 || (i > exempt && inverse_mass_of(i - 1u) > 0.0);
    if i > 0u && i >= exempt && is_moved {
      near = near || clearance < 0.0 || !(last + clearance >= length(x - before));
    }
    last = clearance;
    before = x;
  }
  return near;
}

// Leaves the strand to the second half.
fn hand_over() {
  for (var i = 0u; i < count; i++) { write_state(moved_at(vertex_at(i)), vec4f(point_of_clearance(i), 0.0)); }
  write_state(flag_at(strand), vec4f(f32(reachable() + 1u), 0.0, 0.0, 0.0));
}

// Exact lengths from the root to the tip, and velocities: what that changes is small and is no motion.
fn finish(s: Step) {
  for (var i = 0u; i < count; i++) { set_stretch(i, vec4f(point(i), 0.0), 0.0); }
  lay();
  if COLLIDERS > 0u {
    if is_near_between() {
      hand_over();
      return;
    }
    write_state(flag_at(strand), vec4f(0.0));
  }
  var fastest = 0.0;
  var way = 0.0;
  for (var i = 0u; i < count; i++) {
    let x = point(i);
    var velocity = vec3f(0.0);
    if inverse_mass_of(i) > 0.0 {
      let moved = point_of(s.carry, read_state(vertex_at(i)).xyz);
      let unsettled = stretch_at(i).xyz;
      velocity = (x + limited(unsettled - x, length_of(i) * LAST_PASS) - moved) / s.constants.x;
      velocity = limited(velocity, s.gravity.w);
      fastest = max(fastest, length(velocity - skin_velocity(i, s)));
      way = max(way, length(x - place_on_skin(i, s)));
    }
    set_stretch(i, vec4f(velocity, 0.0), 0.0);
  }
  let drag = rest_drag(s, fastest, 0.0);
  let is_staying = stays(s, way, 0.0);
  var sum = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    var velocity = stretch_at(i).xyz;
    if drag > 0.0 { velocity = at_rest(i, velocity, skin_velocity(i, s), drag); }
    sum += point(i) + velocity;
    keep_vertex(i, place_in_end(i, s, point(i), is_staying), velocity, s.is_freeing);
  }
  if !all_finite(vec4f(sum, 0.0)) {
    for (var i = 0u; i < count; i++) { restart_vertex(i, s); }
  }
}

// How fast the skin at the root would take a vertex along, beyond what it hands on.
fn skin_velocity(i: u32, s: Step) -> vec3f {
  let start = read_state(vertex_at(i)).xyz;
  return (point_of(s.skin, start) - point_of(s.carry, start)) / s.constants.x;
}

fn lay() {
  var direction = vec3f(0.0, 1.0, 0.0);
  var pivot = point(0u);
  for (var i = 1u; i < count; i++) {
    let old = point(i);
    direction = unit_or(old - pivot, direction);
    pivot = select(old, pivot + direction * length_of(i), inverse_mass_of(i) > 0.0);
    set_point(i, pivot);
  }
}
