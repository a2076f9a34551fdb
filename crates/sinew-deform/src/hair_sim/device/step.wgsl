// A run of steps of one guide: `step.rs`. Nothing of other strands is read.

const LENGTH_ITERATIONS = 2u;
const LAST_PASS = 0.02;

var<private> exempt: u32;

fn kernel(index: u32) {
  let u = uniforms();
  let progress = read_moment(0u);
  // Before the first frame: strands come out of what they begin in.
  let is_freeing = progress.w == 1u;
  let sort = sort_of(u.steps, progress.x);
  strand = index;
  count = row_of(index).x;
  exempt = u.begin.z;
  solid_at = 0u;
  var steps = run_length(u.steps, progress.x);
  var constants = u.step_2;
  if sort.x == 0u { constants = u.step_0; }
  if sort.x == 1u { constants = u.step_1; }
  var gravity = u.gravity;
  var is_windy = any(u.wind.xyz != vec3f(0.0));
  if is_freeing {
    steps = 1u + RELAXING_STEPS;
    constants = u.calm;
    gravity = vec4f(0.0, 0.0, 0.0, gravity.w);
    is_windy = false;
  }
  let of_sort = max(sort.z, 1u);
  let placed_before = read_state(drive_at(1u, index));
  let placed = read_state(drive_at(3u, index));
  let first = Rigid(read_state(drive_at(0u, index)), placed_before.xyz);
  let motion = motion_between(first, Rigid(read_state(drive_at(2u, index)), placed.xyz));
  let share = read_state(drive_at(4u, index)).w;
  // Motions about one screw axis add up: every step takes the strand along in the same way.
  let carry = relative_to(motion_at(motion, share / f32(of_sort)), first);
  var phases = vec3u(0u);
  if is_windy { phases = phases_of(u.fractions.w, strand_of(index)); }
  for (var step = 0u; step < steps; step++) {
    let only_pushes = is_freeing && step == 0u;
    step_of_run = select(step, 0u, is_freeing);
    let end = f32(sort.y + step + 1u) / f32(of_sort);
    let at = motion_at(motion, end);
    size = placed_before.w + (placed.w - placed_before.w) * min(end, 1.0);
    if only_pushes {
      begin_at_rest();
    } else {
      var wind = vec3f(0.0);
      if is_windy { wind = wind_in(step, phases, u.wind, u.sideways.xyz); }
      integrate(at, carry, gravity, wind, constants);
      restore_shape(at, constants, u.sideways.w);
    }
    // All of them where the root is not held.
    if COLLIDERS > 0u {
      let held = inverse_mass_of(0u) <= 0.0;
      find_out_of_reach(start_of(0u), point(0u), select(FAR, bitcast<f32>(row_of(index).w) * size, held));
    }
    let is_far = collide(select(u.begin.w, 1u, only_pushes), only_pushes);
    // What touches nothing stays as it is.
    if only_pushes && !was_moved() { break; }
    let checked = finish(carry, constants.x, gravity.w, is_far || is_freeing);
    if !all_finite(vec4f(checked, 0.0)) { restart(at, placed.w); }
  }
}

fn begin_at_rest() {
  is_freed = false;
  forget_contacts();
  for (var i = 0u; i < count; i++) { set_room(0u, i, vec4f(read_state(vertex_at(i)).xyz, 0.0)); }
}

fn was_moved() -> bool {
  var moved = false;
  for (var i = 0u; i < count; i++) { moved = moved || any(point(i) != read_state(vertex_at(i)).xyz); }
  return moved;
}

// Takes the strand along, and moves it on by a step.
fn integrate(at: Rigid, carry: Rigid, gravity: vec4f, wind: vec3f, constants: vec4f) {
  is_freed = false;
  forget_contacts();
  let is_windy = any(wind != vec3f(0.0));
  var before = vec3f(0.0);
  for (var i = 0u; i < count; i++) {
    let b = bound_offset(i);
    let start = read_state(vertex_at(i)).xyz;
    var x = vec3f(0.0);
    if b.w <= 0.0 {
      x = point_of(at, b.xyz * size);
    } else {
      var push = gravity.xyz;
      if is_windy && i > 0u {
        let along = unit_or(start - before, vec3f(0.0));
        push += wind - along * dot(along, wind);
      }
      let velocity = turned(carry.rotation, read_state(velocity_at(vertex_at(i))).xyz);
      x = point_of(carry, start) + limited(velocity * constants.y + push * constants.x, gravity.w) * constants.x;
    }
    before = start;
    set_room(0u, i, vec4f(x, 0.0));
  }
}

// Tells whether something was brought far out of a solid: what the lengths then do to the rest is no motion either.
fn collide(iterations: u32, only_pushes: bool) -> bool {
  var is_far = false;
  for (var turn = 0u; turn < max(iterations, 1u); turn++) {
    push_out(count, exempt);
    if is_freed {
      for (var i = 0u; i < count; i++) {
        let way = room(7u, i);
        let most = length_of(i) * 0.5;
        is_far = is_far || dot(way.xyz, way.xyz) > most * most;
        set_room(8u, i, room(8u, i) + way);
        set_room(7u, i, vec4f(0.0));
      }
    }
    let lengths = select(LENGTH_ITERATIONS, 0u, only_pushes);
    for (var k = 0u; k < lengths; k++) { restore_lengths(); }
  }
  return is_far;
}

// The last pass from the root to the tip, and the velocities: what the pass changes is small and is no motion. Gives the sum of all numbers.
fn finish(carry: Rigid, h: f32, speed_limit: f32, is_far: bool) -> vec3f {
  var sum = vec3f(0.0);
  // Of the vertex before.
  var velocity_before = vec3f(0.0);
  var drift_before = vec3f(0.0);
  var weight_before = 0.0;
  settle_lengths(count, exempt);
  for (var i = 0u; i < count; i++) {
    let x = point(i);
    let vertex = vertex_at(i);
    let weight = select(0.0, 1.0, inverse_mass_of(i) > 0.0);
    let freed = freed_at(i);
    let start = read_state(vertex).xyz;
    var moved = x;
    if weight > 0.0 { moved = point_of(carry, start) + freed; }
    let drift = moved - (start + freed);
    var velocity = vec3f(0.0);
    if weight > 0.0 {
      velocity = (x + limited(unsettled(i) - x, length_of(i) * LAST_PASS) - moved) / h;
      if is_touched(i) {
        let normal = room(3u, i).xyz;
        let relative = velocity + (drift - room(4u, i).xyz) / h;
        velocity -= normal * dot(normal, relative);
      }
      if is_pressed(i) && i > 0u {
        let normal = room(5u, i).xyz;
        let share = room(4u, i).w;
        let a = 1.0 - share;
        let motion = (velocity_before + drift_before / h) * a + (velocity + drift / h) * share;
        let relative = dot(normal, motion - room(6u, i).xyz / h);
        let impulse = normal * (relative / max(a * a * weight_before + share * share * weight, 1e-3));
        velocity_before -= impulse * (a * weight_before);
        velocity -= impulse * (share * weight);
      }
      velocity = limited(velocity, speed_limit);
    }
    if i > 0u { sum += keep_velocity(i - 1u, velocity_before, is_far); }
    write_state(vertex, vec4f(x, 0.0));
    sum += x;
    velocity_before = velocity;
    drift_before = drift;
    weight_before = weight;
  }
  return sum + keep_velocity(count - 1u, velocity_before, is_far);
}

fn keep_velocity(i: u32, velocity: vec3f, is_far: bool) -> vec3f {
  let kept = select(velocity, vec3f(0.0), is_far);
  write_state(velocity_at(vertex_at(i)), vec4f(kept, 0.0));
  return kept;
}

// Puts the strand back to its rest position on the skin: numbers too large to go on with.
fn restart(at: Rigid, whole_size: f32) {
  for (var i = 0u; i < count; i++) {
    let vertex = vertex_at(i);
    write_state(vertex, vec4f(point_of(at, bound_offset(i).xyz * whole_size), 0.0));
    write_state(velocity_at(vertex), vec4f(0.0));
  }
}
