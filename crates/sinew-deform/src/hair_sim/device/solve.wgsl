// Newton's method for a strand: `solve.rs`, `strand.rs`.

const RIDGE = 1e-4;

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

// Where the step begins, where inertia leads, and where the strand is first looked at.
fn begin_step(gravity: vec3f, wind: vec3f) {
  var before = vec3f(0.0);
  var drift = vec3f(0.0);
  var x = vec3f(0.0);
  var leads = false;
  for (var i = 0u; i < count; i++) {
    let free = is_free(i);
    let extent = bound_bend(i).x * size;
    let turn = room(1u, i);
    let along = along_of(turn);
    let rest = bound_offset(i).xyz * size;
    let now = select(rest, before + along * extent, free);
    let moved = point_of(back, now);
    let velocity = turned(back.rotation, room(2u, i).xyz);
    let push = velocity * terms.h + (gravity + (wind - along * dot(along, wind))) * (terms.h * terms.h);
    set_xyz(5u, i, moved + push / terms.heavier);
    set_xyz(4u, i, now);
    // The direction to begin with; that of the first free segment is kept.
    let coasting = moved + velocity * terms.h - now;
    var start = turn;
    if free && leads {
      let to = along * extent + (coasting - drift) * FIRST;
      start = normalize(rotations(arc(along, to / max(length(to), 1e-9)), turn));
      set_room(1u, i, start);
    }
    x = select(rest, x + along_of(start) * extent, free);
    set_xyz(0u, i, x);
    before = now;
    drift = coasting;
    leads = free;
    // The anchor goes with the solid that it is on.
    let touched = room(2u, i).w;
    if touched >= 0.0 { set_xyz(3u, i, point_of(carried[min(u32(touched), COLLIDERS)], room(3u, i).xyz)); }
  }
}

// From tip to root: how each segment's rotation follows from those before. Returns the energy.
fn solve() -> f32 {
  var a = Sym(vec3f(0.0), vec3f(0.0));
  var b = Axes(vec3f(0.0), vec3f(0.0), vec3f(0.0));
  var c = a;
  var by_move = vec3f(0.0);
  var by_turn = vec3f(0.0);
  var sum = vec3f(0.0);
  var energy = 0.0;
  var axes = axes_of(room(1u, count - 1u));
  for (var i = count - 1u; i > 0u; i--) {
    if !is_free(i) { break; }
    let x = point(i);
    let local = vertex_energy(i, x, true);
    a = sym_sum(a, local.matrix);
    by_move += local.gradient;
    sum += local.gradient;
    energy += local.energy;
    // From the vertex at the end of the segment to that before it.
    let extent = bound_bend(i).x * size;
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
      let at = segment_energy(i, point(i - 1u), x, true);
      let share = room(5u, i).w;
      let mp = sym_times(at.matrix, p) * share;
      let mq = sym_times(at.matrix, q) * share;
      a = sym_sum(a, at.matrix);
      b.u += mp;
      b.w += mq;
      c.d += vec3f(0.0, dot(p, mp), dot(q, mq)) * share;
      c.o.z += dot(p, mq) * share;
      by_move += at.gradient;
      by_turn += vec3f(0.0, dot(p, at.gradient), dot(q, at.gradient)) * share;
      energy += at.energy;
      pull += at.gradient * share;
      sum += at.gradient;
    }
    let tension = extent * max(-dot(axes.t, pull), 0.0);
    c.d += vec3f(0.0, tension, tension);
    // The joint.
    let before = axes_of(room(1u, i - 1u));
    let joint = joint_of(i, before, axes);
    energy += joint.energy;
    c.d += vec3f(joint.twist + extent * extent * RIDGE + 1e-30, joint.bend, joint.bend);
    let k = inverse_of(c);
    let rows = Axes(vec3f(k.d.x, k.o.x, k.o.y), vec3f(k.o.x, k.d.y, k.o.z), vec3f(k.o.y, k.o.z, k.d.z));
    let cross_k = Axes(joint.relative.t * -joint.twist, joint.relative.u * -joint.bend, joint.relative.w * -joint.bend);
    let m = Axes(columns_times(b, rows.t), columns_times(b, rows.u), columns_times(b, rows.w));
    let n = Axes(columns_times(cross_k, rows.t), columns_times(cross_k, rows.u), columns_times(cross_k, rows.w));
    let step = rows_times(rows, by_turn - joint.torque);
    set_xyz(8u, i, m.t);
    set_xyz(9u, i, m.u);
    set_xyz(10u, i, m.w);
    set_xyz(11u, i, n.t);
    set_xyz(12u, i, n.u);
    set_xyz(13u, i, n.w);
    set_xyz(14u, i, step);
    a = minus_products(a, b, m);
    let own = outer(joint.relative.t, joint.twist - joint.bend);
    c = minus_products(Sym(own.d + vec3f(joint.bend), own.o), cross_k, n);
    by_move -= columns_times(b, step);
    by_turn = joint.reaction - columns_times(cross_k, step);
    b = Axes(
      -columns_times(b, vec3f(n.t.x, n.u.x, n.w.x)),
      -columns_times(b, vec3f(n.t.y, n.u.y, n.w.y)),
      -columns_times(b, vec3f(n.t.z, n.u.z, n.w.z)),
    );
    axes = before;
  }
  return energy;
}

// From root to tip: rotates segments, by less where that does not lower the energy.
fn search(energy: f32) {
  var moved = vec3f(0.0);
  var turn = vec3f(0.0);
  for (var i = 1u; i < count; i++) {
    if !is_free(i) { continue; }
    let m = Axes(room(8u, i).xyz, room(9u, i).xyz, room(10u, i).xyz);
    let n = Axes(room(11u, i).xyz, room(12u, i).xyz, room(13u, i).xyz);
    turn = -(room(14u, i).xyz + rows_times(m, moved) + rows_times(n, turn));
    set_xyz(14u, i, turn);
    let axes = axes_of(room(1u, i));
    moved += (axes.u * turn.z - axes.w * turn.y) * (bound_bend(i).x * size);
  }
  let most = energy + energy * ROUNDING;
  var share = 1.0;
  for (var k = 0u; k < TRIES; k++) {
    if !(most < attempt(share)) { break; }
    share *= SHORTER;
  }
  for (var i = 1u; i < count; i++) {
    if is_free(i) {
      set_xyz(0u, i, room(15u, i).xyz);
      set_room(1u, i, room(16u, i));
    }
  }
}

// The strand after that share of the step, and its energy.
fn attempt(share: f32) -> f32 {
  var energy = 0.0;
  var x = point(0u);
  var axes = axes_of(room(1u, 0u));
  for (var i = 1u; i < count; i++) {
    if !is_free(i) {
      x = point(i);
      axes = axes_of(room(1u, i));
      continue;
    }
    let q = room(14u, i).xyz * (0.5 * share);
    let twist = clamp(q.x, -1.0, 1.0);
    // First the direction, then about it.
    let both = vec4f(twist, q.y + q.z * twist, q.z - q.y * twist, 1.0);
    let turn = normalize(rotations(room(1u, i), both));
    let after = axes_of(turn);
    let there = x + after.t * (bound_bend(i).x * size);
    set_xyz(15u, i, there);
    set_room(16u, i, turn);
    energy += vertex_energy(i, there, false).energy;
    if room(11u, i).w > 0.0 { energy += segment_energy(i, x, there, false).energy; }
    energy += joint_of(i, axes, after).energy;
    x = there;
    axes = after;
  }
  return energy;
}

// Velocities, anchors, and how far solids still are at least.
fn finish_step() {
  for (var i = 0u; i < count; i++) {
    let x = point(i);
    let moved = point_of(back, room(4u, i).xyz);
    let rub = room(3u, i).w * room(8u, i).w;
    let velocity = select(vec3f(0.0), (x - moved) / terms.h, is_free(i));
    set_room(2u, i, vec4f(velocity, select(-1.0, room(14u, i).w, rub > 0.0)));
    set_w(0u, i, room(0u, i).w - length(x - room(17u, i).xyz));
    var held = x;
    if rub > 0.0 {
      let n = room(6u, i).xyz;
      let way = x - room(3u, i).xyz;
      let dragged = way - n * dot(way, n);
      held = x - dragged * min(SLACK * DRAGGED / max(length(dragged), 1e-12), 1.0);
    }
    set_room(3u, i, vec4f(held, 0.0));
  }
}
