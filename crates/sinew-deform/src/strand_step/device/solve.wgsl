// Newton's method for a strand: `solve.rs`, `strand.rs`. Vertices side by side; the recursion along a strand by one invocation for each team of
// the group, all of them neighbours.
//
// What the recursion reads of a vertex: cells 0 to 4 have matrix and gradient of the vertex and those of the point of its segment, the fraction
// of that point or -1, and the stiffness of the joint; cell 5 has the joint's torque and the length; cell 6 the rotation. It leaves the step in 5.

const RIDGE = 1e-4;

var<workgroup> partial: array<f32, GROUP_SIZE>;
// Of each team: its first free vertex and how many there are; the energy to be under, and the share of a step that is tried.
var<workgroup> range_of: array<vec2u, STRAND_TEAMS>;
var<workgroup> share_of: array<f32, STRAND_TEAMS>;
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
  partial[team * STRAND_LANES + lane] = mine;
  workgroupBarrier();
  var sum = 0.0;
  for (var k = 0u; k < STRAND_LANES; k++) { sum += partial[team * STRAND_LANES + k]; }
  workgroupBarrier();
  return sum;
}

// Whether any invocation of the group says so: the same for all of them.
fn group_flag(mine: bool) -> bool {
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

// Where the vertex is, if segments are rotated like that.
fn laid(turn: vec4f) -> vec3f {
  set_cell(2u, vec4f(along_of(turn) * (me.extent * size), 0.0));
  sync();
  var x = me.rest * size;
  if is_free {
    x = pin * size;
    for (var k = first_free; k <= lane; k++) { x += cell(2u, k).xyz; }
  }
  sync();
  return x;
}

// Where the step begins, where inertia leads, and where the strand is first looked at.
fn begin_step(gravity: vec3f, wind: vec3f) {
  me.before = laid(me.turn);
  let along = along_of(me.turn);
  let moved = point_of(back, me.before);
  let velocity = turned(back.rotation, me.velocity);
  let push = velocity * terms.h + (gravity + (wind - along * dot(along, wind))) * (terms.h * terms.h);
  me.goal = moved + push / terms.heavier;
  // Where speed alone leads.
  trial_x = moved + velocity * terms.h;
  let coasting = trial_x - me.before;
  set_cell(0u, vec4f(me.before, 0.0));
  set_cell(1u, vec4f(coasting, 0.0));
  sync();
  // The direction to begin with; that of the first free segment is kept.
  if is_led {
    before_led = cell(0u, lane - 1u).xyz;
    let to = along * (me.extent * size) + (coasting - cell(1u, lane - 1u).xyz) * first_look;
    me.turn = normalize(rotations(arc(along, to / max(length(to), 1e-9)), me.turn));
  }
  // The anchor goes with the solid that it is on.
  if me.touched >= 0.0 { me.anchor = point_of(carried[min(u32(me.touched), COLLIDERS)], me.anchor); }
  me.x = laid(me.turn);
}

// Energies, gradients and matrices of vertices, segments and joints. Returns the energy of the strand. In the first iteration friction is as
// stiff as where speed alone leads.
fn assemble(is_first: bool) -> f32 {
  set_cell(6u, me.turn);
  sync();
  var energy = 0.0;
  if is_free {
    let further = select(vec3f(0.0), trial_x - me.x, is_first);
    let local = vertex_energy(me.x, further, true);
    energy = local.energy;
    var at = Local(0.0, vec3f(0.0), Sym(vec3f(0.0), vec3f(0.0)));
    var share = -1.0;
    if segment.on > 0.0 {
      at = segment_energy(me.x - along_of(me.turn) * (me.extent * size), me.x, before_led, further, true);
      share = place;
      energy += at.energy;
    }
    let relative = relative_axes(cell(6u, lane - 1u), me.turn);
    energy += joint_energy(relative);
    set_cell(0u, vec4f(local.matrix.d, local.matrix.o.x));
    set_cell(1u, vec4f(local.matrix.o.yz, local.gradient.xy));
    set_cell(2u, vec4f(local.gradient.z, at.matrix.d));
    set_cell(3u, vec4f(at.matrix.o, at.gradient.x));
    set_cell(4u, vec4f(at.gradient.yz, share, me.bend * terms.bend));
    set_cell(5u, vec4f(joint_torque(relative), me.extent * size));
  }
  return sum_of_team(energy);
}

fn read_cell(of_team: u32, slot: u32, i: u32) -> vec4f {
  return cells[(slot * STRAND_TEAMS + of_team) * STRAND_LANES + i];
}

fn set_cell_at(of_team: u32, slot: u32, i: u32, v: vec4f) {
  cells[(slot * STRAND_TEAMS + of_team) * STRAND_LANES + i] = v;
}

// From tip to root: how each segment's rotation follows from those before; then, from root to tip, the rotations.
fn eliminate(t: u32) {
  var a = Sym(vec3f(0.0), vec3f(0.0));
  var b = Axes(vec3f(0.0), vec3f(0.0), vec3f(0.0));
  var c = a;
  var by_move = vec3f(0.0);
  var by_turn = vec3f(0.0);
  var sum = vec3f(0.0);
  let range = range_of[t];
  let end = max(range.y, 1u) - 1u;
  var turn = read_cell(t, 6u, end);
  for (var back = range.x; back < range.y; back++) {
    let i = end + range.x - back;
    let c0 = read_cell(t, 0u, i);
    let c1 = read_cell(t, 1u, i);
    let c2 = read_cell(t, 2u, i);
    let c3 = read_cell(t, 3u, i);
    let c4 = read_cell(t, 4u, i);
    let c5 = read_cell(t, 5u, i);
    let before = read_cell(t, 6u, i - 1u);
    let gradient = vec3f(c1.zw, c2.x);
    a = sym_sum(a, Sym(c0.xyz, vec3f(c0.w, c1.xy)));
    by_move += gradient;
    sum += gradient;
    // From the vertex at the end of the segment to that before it.
    let axes = axes_of(turn);
    let extent = c5.w;
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
    if c4.z >= 0.0 {
      let matrix = Sym(c2.yzw, c3.xyz);
      let pressed = vec3f(c3.w, c4.xy);
      let share = c4.z;
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
    let relative = relative_axes(before, turn);
    let bend = c4.w;
    let twist = bend * TWIST;
    c.d += vec3f(twist + extent * extent * RIDGE + 1e-30, bend + tension, bend + tension);
    let k = inverse_of(c);
    let rows = Axes(vec3f(k.d.x, k.o.x, k.o.y), vec3f(k.o.x, k.d.y, k.o.z), vec3f(k.o.y, k.o.z, k.d.z));
    let cross_k = Axes(relative.t * -twist, relative.u * -bend, relative.w * -bend);
    let m = Axes(columns_times(b, rows.t), columns_times(b, rows.u), columns_times(b, rows.w));
    let n = Axes(columns_times(cross_k, rows.t), columns_times(cross_k, rows.u), columns_times(cross_k, rows.w));
    let step = rows_times(rows, by_turn - c5.xyz);
    set_cell_at(t, 0u, i, vec4f(m.t, n.t.x));
    set_cell_at(t, 1u, i, vec4f(m.u, n.t.y));
    set_cell_at(t, 2u, i, vec4f(m.w, n.t.z));
    set_cell_at(t, 3u, i, vec4f(n.u, n.w.x));
    set_cell_at(t, 4u, i, vec4f(n.w.yz, 0.0, 0.0));
    set_cell_at(t, 5u, i, vec4f(step, extent));
    a = minus_products(a, b, m);
    let own = outer(relative.t, twist - bend);
    c = minus_products(Sym(own.d + vec3f(bend), own.o), cross_k, n);
    by_move -= columns_times(b, step);
    by_turn = columns_times(relative, c5.xyz) - columns_times(cross_k, step);
    b = Axes(
      -columns_times(b, vec3f(n.t.x, n.u.x, n.w.x)),
      -columns_times(b, vec3f(n.t.y, n.u.y, n.w.y)),
      -columns_times(b, vec3f(n.t.z, n.u.z, n.w.z)),
    );
    turn = before;
  }
  var moved = vec3f(0.0);
  var q = vec3f(0.0);
  for (var i = range.x; i < range.y; i++) {
    let c0 = read_cell(t, 0u, i);
    let c1 = read_cell(t, 1u, i);
    let c2 = read_cell(t, 2u, i);
    let c3 = read_cell(t, 3u, i);
    let c4 = read_cell(t, 4u, i);
    let c5 = read_cell(t, 5u, i);
    let m = Axes(c0.xyz, c1.xyz, c2.xyz);
    let n = Axes(vec3f(c0.w, c1.w, c2.w), c3.xyz, vec3f(c3.w, c4.xy));
    q = -(c5.xyz + rows_times(m, moved) + rows_times(n, q));
    set_cell_at(t, 5u, i, vec4f(q, c5.w));
    let axes = axes_of(read_cell(t, 6u, i));
    moved += (axes.u * q.z - axes.w * q.y) * c5.w;
  }
}

// One iteration. Strands that are not active stay.
fn iterate(local: u32, is_first: bool, is_active: bool) {
  let energy = assemble(is_first);
  let most = energy + energy * ROUNDING;
  if local < STRAND_TEAMS { eliminate(local); }
  if lane == 0u { share_of[team] = select(0.0, 1.0, is_active); }
  sync();
  rotation = cell(5u, lane).xyz;
  sync();
  for (var k = 0u; k < TRIES; k++) {
    let tried = attempt(share_of[team]);
    if local == 0u { atomicStore(&goes_on, 0u); }
    workgroupBarrier();
    if lane == 0u && share_of[team] > 0.0 && most < tried {
      share_of[team] *= SHORTER;
      atomicStore(&goes_on, 1u);
    }
    if workgroupUniformLoad(&goes_on) == 0u { break; }
  }
  if is_free {
    me.room -= length(trial_x - me.x);
    me.x = trial_x;
    me.turn = trial;
  }
  sync();
}

// The energy of the strand after that share of the step.
fn attempt(share: f32) -> f32 {
  trial = me.turn;
  if is_free {
    // First the direction, then about it.
    let q = rotation * (0.5 * share);
    let twist = clamp(q.x, -1.0, 1.0);
    trial = normalize(rotations(me.turn, vec4f(twist, q.y + q.z * twist, q.z - q.y * twist, 1.0)));
  }
  set_cell(6u, trial);
  trial_x = laid(trial);
  var energy = 0.0;
  if is_free {
    energy = vertex_energy(trial_x, vec3f(0.0), false).energy;
    if segment.on > 0.0 { energy += segment_energy(trial_x - along_of(trial) * (me.extent * size), trial_x, before_led, vec3f(0.0), false).energy; }
    energy += joint_energy(relative_axes(cell(6u, lane - 1u), trial));
  }
  return sum_of_team(energy);
}

// Velocities, and where friction holds.
fn finish_step() {
  let rub = contact.rub * contact.on;
  me.velocity = select(vec3f(0.0), (me.x - point_of(back, me.before)) / terms.h, is_free);
  if !(rub > 0.0) {
    me.touched = -1.0;
    me.anchor = me.x;
    return;
  }
  let way = me.x - me.anchor;
  let dragged = way - contact.normal * dot(way, contact.normal);
  me.anchor = me.x - dragged * min(SLACK * DRAGGED / max(length(dragged), 1e-12), 1.0);
}
