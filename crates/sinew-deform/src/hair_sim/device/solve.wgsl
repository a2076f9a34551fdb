// Newton's method for a strand: `solve.rs`, `strand.rs`. Vertices side by side, and the recursion along the strand by the team's first
// invocation.

const RIDGE = 1e-4;
const GROUP_SIZE = LANES * TEAMS;

var<workgroup> partial: array<f32, GROUP_SIZE>;
var<workgroup> energy_of: array<f32, TEAMS>;
var<workgroup> share_of: array<f32, TEAMS>;
var<workgroup> goes_on: atomic<u32>;

fn inverse_of(m: Sym) -> Sym {
  let d = vec3f(m.d.y * m.d.z - m.o.z * m.o.z, m.d.x * m.d.z - m.o.y * m.o.y, m.d.x * m.d.y - m.o.x * m.o.x);
  let o = vec3f(m.o.y * m.o.z - m.o.x * m.d.z, m.o.x * m.o.z - m.o.y * m.d.y, m.o.x * m.o.y - m.d.x * m.o.z);
  let f = 1.0 / (m.d.x * d.x + m.o.x * o.x + m.o.y * o.y);
  return Sym(d * f, o * f);
}

// m - sum of a_k b_k^T, which is symmetric.
fn minus_products(m: Sym, a: Axes, b: Axes) -> Sym {
  return Sym(
    m.d - a.t * b.t - a.u * b.u - a.w * b.w,
    m.o - a.t.xxy * b.t.yzz - a.u.xxy * b.u.yzz - a.w.xxy * b.w.yzz,
  );
}

// Sum of what invocations of each team hold; all of the group come here.
fn sum_of_team(mine: f32) -> f32 {
  partial[team * LANES + lane] = mine;
  workgroupBarrier();
  var sum = 0.0;
  for (var k = 0u; k < LANES; k++) { sum += partial[team * LANES + k]; }
  workgroupBarrier();
  return sum;
}

// Where a vertex is: segments from the last pin on, which are in room 8.
fn chained(i: u32) -> vec3f {
  var x = vec3f(0.0);
  for (var k = i; k > 0u; k--) {
    if !is_free(k) { return x + bound_offset(k).xyz * size; }
    x += room(8u, k).xyz;
  }
  return x;
}

fn lay_segments() {
  for (var i = lane; i < count; i += LANES) { set_xyz(8u, i, along_of(room(1u, i)) * (bound_bend(i).x * size)); }
  sync();
}

// Where the step begins, where inertia leads, and where the strand is first looked at.
fn begin_step(gravity: vec3f, wind: vec3f) {
  lay_segments();
  for (var i = lane; i < count; i += LANES) { set_xyz(4u, i, chained(i)); }
  sync();
  for (var i = lane; i < count; i += LANES) {
    let turn = room(1u, i);
    let along = along_of(turn);
    let now = room(4u, i).xyz;
    let moved = point_of(back, now);
    let velocity = turned(back.rotation, room(2u, i).xyz);
    let push = velocity * terms.h + (gravity + (wind - along * dot(along, wind))) * (terms.h * terms.h);
    set_xyz(5u, i, moved + push / terms.heavier);
    // The direction to begin with; that of the first free segment is kept.
    if i > 0u && is_free(i) && is_free(i - 1u) {
      let before = room(4u, i - 1u).xyz;
      let drift = point_of(back, before) + turned(back.rotation, room(2u, i - 1u).xyz) * terms.h - before;
      let coasting = moved + velocity * terms.h - now;
      let to = along * (bound_bend(i).x * size) + (coasting - drift) * FIRST;
      set_room(1u, i, normalize(rotations(arc(along, to / max(length(to), 1e-9)), turn)));
    }
    // The anchor goes with the solid that it is on.
    let touched = room(2u, i).w;
    if touched >= 0.0 { set_xyz(3u, i, point_of(carried[min(u32(touched), COLLIDERS)], room(3u, i).xyz)); }
  }
  sync();
  lay_segments();
  for (var i = lane; i < count; i += LANES) { set_xyz(0u, i, chained(i)); }
  sync();
}

// Energies, gradients and matrices of vertices, segments and joints. Returns the energy of the strand.
fn assemble() -> f32 {
  var energy = 0.0;
  for (var i = lane; i < count; i += LANES) {
    if !is_free(i) { continue; }
    let x = point(i);
    let local = vertex_energy(i, x, true);
    energy += local.energy;
    set_xyz(8u, i, local.matrix.d);
    set_xyz(9u, i, local.matrix.o);
    set_xyz(10u, i, local.gradient);
    if room(11u, i).w > 0.0 {
      let at = segment_energy(i, point(i - 1u), x, true);
      energy += at.energy;
      set_xyz(11u, i, at.matrix.d);
      set_xyz(12u, i, at.matrix.o);
      set_xyz(13u, i, at.gradient);
    }
    let relative = relative_axes(room(1u, i - 1u), room(1u, i));
    energy += joint_energy(i, relative);
    set_xyz(14u, i, joint_torque(i, relative));
  }
  return sum_of_team(energy);
}

// From tip to root: how each segment's rotation follows from those before; then, from root to tip, the rotations. By one invocation.
fn eliminate() {
  var a = Sym(vec3f(0.0), vec3f(0.0));
  var b = Axes(vec3f(0.0), vec3f(0.0), vec3f(0.0));
  var c = a;
  var by_move = vec3f(0.0);
  var by_turn = vec3f(0.0);
  var sum = vec3f(0.0);
  var first = count;
  var turn = room(1u, count - 1u);
  for (var i = count - 1u; i > 0u; i--) {
    if !is_free(i) { break; }
    first = i;
    let gradient = room(10u, i).xyz;
    a = sym_sum(a, Sym(room(8u, i).xyz, room(9u, i).xyz));
    by_move += gradient;
    sum += gradient;
    // From the vertex at the end of the segment to that before it.
    let axes = axes_of(turn);
    let bound = bound_bend(i);
    let extent = bound.x * size;
    let p = axes.w * -extent;
    let q = axes.u * extent;
    let ap = sym_times(a, p);
    let aq = sym_times(a, q);
    c.o += vec3f(dot(b.t, p), dot(b.t, q), dot(p, aq) + dot(p, b.w) + dot(b.u, q));
    c.d += vec3f(0.0, dot(p, ap) + 2.0 * dot(p, b.u), dot(q, aq) + 2.0 * dot(q, b.w));
    b.u += ap;
    b.w += aq;
    by_turn += vec3f(0.0, dot(p, by_move), dot(q, by_move));
    var pull = sum;
    if room(11u, i).w > 0.0 {
      let matrix = Sym(room(11u, i).xyz, room(12u, i).xyz);
      let pressed = room(13u, i).xyz;
      let share = room(5u, i).w;
      let mp = sym_times(matrix, p) * share;
      let mq = sym_times(matrix, q) * share;
      a = sym_sum(a, matrix);
      b.u += mp;
      b.w += mq;
      c.d += vec3f(0.0, dot(p, mp), dot(q, mq)) * share;
      c.o.z += dot(p, mq) * share;
      by_move += pressed;
      by_turn += vec3f(0.0, dot(p, pressed), dot(q, pressed)) * share;
      pull += pressed * share;
      sum += pressed;
    }
    let tension = extent * max(-dot(axes.t, pull), 0.0);
    // The joint.
    let before = room(1u, i - 1u);
    let relative = relative_axes(before, turn);
    let torque = room(14u, i).xyz;
    let bend = bound.w * terms.bend;
    let twist = bend * TWIST;
    c.d += vec3f(twist + extent * extent * RIDGE + 1e-30, bend + tension, bend + tension);
    let k = inverse_of(c);
    let rows = Axes(vec3f(k.d.x, k.o.x, k.o.y), vec3f(k.o.x, k.d.y, k.o.z), vec3f(k.o.y, k.o.z, k.d.z));
    let cross_k = Axes(relative.t * -twist, relative.u * -bend, relative.w * -bend);
    let m = Axes(columns_times(b, rows.t), columns_times(b, rows.u), columns_times(b, rows.w));
    let n = Axes(columns_times(cross_k, rows.t), columns_times(cross_k, rows.u), columns_times(cross_k, rows.w));
    let step = rows_times(rows, by_turn - torque);
    set_xyz(8u, i, m.t);
    set_xyz(9u, i, m.u);
    set_xyz(10u, i, m.w);
    set_xyz(11u, i, n.t);
    set_xyz(12u, i, n.u);
    set_xyz(13u, i, n.w);
    set_xyz(14u, i, step);
    a = minus_products(a, b, m);
    let own = outer(relative.t, twist - bend);
    c = minus_products(Sym(own.d + vec3f(bend), own.o), cross_k, n);
    by_move -= columns_times(b, step);
    by_turn = columns_times(relative, torque) - columns_times(cross_k, step);
    b = Axes(
      -columns_times(b, vec3f(n.t.x, n.u.x, n.w.x)),
      -columns_times(b, vec3f(n.t.y, n.u.y, n.w.y)),
      -columns_times(b, vec3f(n.t.z, n.u.z, n.w.z)),
    );
    turn = before;
  }
  var moved = vec3f(0.0);
  var q = vec3f(0.0);
  for (var i = first; i < count; i++) {
    let m = Axes(room(8u, i).xyz, room(9u, i).xyz, room(10u, i).xyz);
    let n = Axes(room(11u, i).xyz, room(12u, i).xyz, room(13u, i).xyz);
    q = -(room(14u, i).xyz + rows_times(m, moved) + rows_times(n, q));
    set_xyz(14u, i, q);
    let axes = axes_of(room(1u, i));
    moved += (axes.u * q.z - axes.w * q.y) * (bound_bend(i).x * size);
  }
}

// One iteration. Strands that are not active stay.
fn iterate(is_active: bool) {
  let energy = assemble();
  if lane == 0u {
    if count > 1u { eliminate(); }
    energy_of[team] = energy + energy * ROUNDING;
    share_of[team] = select(0.0, 1.0, is_active);
  }
  sync();
  for (var k = 0u; k < TRIES; k++) {
    let tried = attempt(share_of[team]);
    if lane == 0u { atomicStore(&goes_on, 0u); }
    workgroupBarrier();
    if lane == 0u && share_of[team] > 0.0 && energy_of[team] < tried {
      share_of[team] *= SHORTER;
      atomicStore(&goes_on, 1u);
    }
    workgroupBarrier();
    if workgroupUniformLoad(&goes_on) == 0u { break; }
  }
  let share = share_of[team];
  for (var i = lane; i < count; i += LANES) {
    if !is_free(i) { continue; }
    let x = chained(i);
    let way = length(x - point(i));
    set_room(0u, i, vec4f(x, room(0u, i).w - way));
  }
  sync();
  for (var i = lane; i < count; i += LANES) {
    if is_free(i) { set_room(1u, i, trial_turn(i, share)); }
  }
  sync();
}

// A segment's rotation after that share of the step: first its direction, then about it.
fn trial_turn(i: u32, share: f32) -> vec4f {
  if !is_free(i) { return room(1u, i); }
  let q = room(14u, i).xyz * (0.5 * share);
  let twist = clamp(q.x, -1.0, 1.0);
  return normalize(rotations(room(1u, i), vec4f(twist, q.y + q.z * twist, q.z - q.y * twist, 1.0)));
}

// The energy of the strand after that share of the step.
fn attempt(share: f32) -> f32 {
  for (var i = lane; i < count; i += LANES) { set_xyz(8u, i, along_of(trial_turn(i, share)) * (bound_bend(i).x * size)); }
  sync();
  var energy = 0.0;
  for (var i = lane; i < count; i += LANES) {
    if !is_free(i) { continue; }
    let there = chained(i);
    energy += vertex_energy(i, there, false).energy;
    if room(11u, i).w > 0.0 { energy += segment_energy(i, there - room(8u, i).xyz, there, false).energy; }
    energy += joint_energy(i, relative_axes(trial_turn(i - 1u, share), trial_turn(i, share)));
  }
  return sum_of_team(energy);
}

// Velocities, and where friction holds.
fn finish_step() {
  for (var i = lane; i < count; i += LANES) {
    let x = point(i);
    let moved = point_of(back, room(4u, i).xyz);
    let rub = room(3u, i).w * room(8u, i).w;
    let velocity = select(vec3f(0.0), (x - moved) / terms.h, is_free(i));
    set_room(2u, i, vec4f(velocity, select(-1.0, room(2u, i).w, rub > 0.0)));
    var held = x;
    if rub > 0.0 {
      let n = room(6u, i).xyz;
      let way = x - room(3u, i).xyz;
      let dragged = way - n * dot(way, n);
      held = x - dragged * min(SLACK * DRAGGED / max(length(dragged), 1e-12), 1.0);
    }
    set_room(3u, i, vec4f(held, 0.0));
  }
  sync();
}
