// The energies of a strand: `strand.rs`, `local.rs`, `contact.rs`, `joint.rs`.

// A symmetric matrix: diagonal, then xy, xz, yz.
struct Sym {
  d: vec3f,
  o: vec3f,
}

struct Local {
  energy: f32,
  gradient: vec3f,
  matrix: Sym,
}

// Three axes.
struct Axes {
  t: vec3f,
  u: vec3f,
  w: vec3f,
}

const TWIST = 0.75;

fn sym_times(m: Sym, v: vec3f) -> vec3f {
  return m.d * v + vec3f(m.o.x * v.y + m.o.y * v.z, m.o.x * v.x + m.o.z * v.z, m.o.y * v.x + m.o.z * v.y);
}

fn sym_sum(a: Sym, b: Sym) -> Sym {
  return Sym(a.d + b.d, a.o + b.o);
}

fn outer(v: vec3f, f: f32) -> Sym {
  return Sym(v * v * f, vec3f(v.x * v.y, v.x * v.z, v.y * v.z) * f);
}

fn along_of(q: vec4f) -> vec3f {
  return vec3f(1.0 - 2.0 * (q.y * q.y + q.z * q.z), 2.0 * (q.x * q.y + q.w * q.z), 2.0 * (q.x * q.z - q.w * q.y));
}

fn axes_of(q: vec4f) -> Axes {
  return Axes(
    along_of(q),
    vec3f(2.0 * (q.x * q.y - q.w * q.z), 1.0 - 2.0 * (q.x * q.x + q.z * q.z), 2.0 * (q.y * q.z + q.w * q.x)),
    vec3f(2.0 * (q.x * q.z + q.w * q.y), 2.0 * (q.y * q.z - q.w * q.x), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)),
  );
}

// Coordinates along axes, and back.
fn rows_times(a: Axes, v: vec3f) -> vec3f {
  return vec3f(dot(a.t, v), dot(a.u, v), dot(a.w, v));
}

fn columns_times(a: Axes, v: vec3f) -> vec3f {
  return a.t * v.x + a.u * v.y + a.w * v.z;
}

// The shortest rotation from one unit vector to another.
fn arc(a: vec3f, b: vec3f) -> vec4f {
  return normalize(vec4f(cross(a, b), max(dot(a, b) + 1.0, 1e-6)));
}

// Contact and friction of a point at `x`, as stiff as it is `further` on. Behind it, `rub` has the force of friction: what the contact gives
// now where that is new.
fn touch_energy(t: ptr<private, Touch>, x: vec3f, anchor: vec3f, further: vec3f, slack: f32, is_new: bool) -> Local {
  let n = (*t).normal;
  let deep = -(dot(n, x) + (*t).offset);
  let depth = max(deep, 0.0);
  let within = min(depth, (*t).layer);
  let beyond = depth - within;
  let steep = within * within * 16.0 / ((*t).layer * (*t).layer);
  let force = within * (1.0 + steep);
  let stiffness = 1.0 + 3.0 * steep;
  let energy = 0.5 * within * within * (1.0 + 0.5 * steep) + force * beyond + 0.5 * stiffness * beyond * beyond;
  let k = terms.contact * (*t).on;
  let pressed = (force + stiffness * beyond) * k;
  if is_new { (*t).rub = (*t).friction * pressed; }
  let rub = (*t).rub;
  let way = (x - anchor) - n * dot(x - anchor, n);
  let extent = sqrt(dot(way, way) + slack * slack);
  let later = way + further - n * dot(further, n);
  let f = rub / sqrt(dot(later, later) + slack * slack);
  let along = outer(n, select(0.0, stiffness * k, deep > 0.0) - f);
  return Local(energy * k + rub * extent, way * f - n * pressed, Sym(along.d + vec3f(f), along.o));
}

// All energies of the vertex at `x`.
fn vertex_energy(x: vec3f, further: vec3f, is_new: bool) -> Local {
  var k = me.mass * terms.heavier;
  let from_goal = x - me.goal;
  var energy = 0.5 * k * dot(from_goal, from_goal);
  var gradient = from_goal * k;
  let way = x - me.before;
  let extent = sqrt(dot(way, way) + terms.dry_slack * terms.dry_slack);
  let later = way + further;
  let dry = me.mass * terms.dry;
  let rub = dry / sqrt(dot(later, later) + terms.dry_slack * terms.dry_slack);
  energy += dry * extent;
  gradient += way * rub;
  k += rub;
  let from_rest = x - me.rest * size;
  energy += 0.5 * me.hold * dot(from_rest, from_rest);
  gradient += from_rest * me.hold;
  k += me.hold;
  let held_back = me.doubt * terms.contact;
  energy += 0.5 * held_back * dot(way, way);
  gradient += way * held_back;
  k += held_back;
  if !(contact.on > 0.0) { return Local(energy, gradient, Sym(vec3f(k), vec3f(0.0))); }
  let local = touch_energy(&contact, x, me.anchor, further, SLACK, is_new);
  return Local(energy + local.energy, gradient + local.gradient, Sym(local.matrix.d + vec3f(k), local.matrix.o));
}

// Those of the point of the segment that touches something, from `a` to `b`; the step found its beginning at `before`.
fn segment_energy(a: vec3f, b: vec3f, before: vec3f, further: vec3f, is_new: bool) -> Local {
  let start = before + (me.before - before) * place;
  return touch_energy(&segment, a + (b - a) * place, start, further * place, terms.dry_slack, is_new);
}

// Where the axes of a segment are at rest along those of the one before.
fn rest_axes(d: vec3f) -> Axes {
  let f = 1.0 / max(1.0 + d.x, 1e-3);
  return Axes(d, vec3f(-d.y, 1.0 - d.y * d.y * f, -(d.y * d.z * f)), vec3f(-d.z, -(d.y * d.z * f), 1.0 - d.z * d.z * f));
}

// The axes of segment `after` along those of `before`.
fn relative_axes(before: vec4f, after: vec4f) -> Axes {
  return axes_of(rotations(opposite(before), after));
}

fn joint_energy(relative: Axes) -> f32 {
  let rest = rest_axes(me.direction);
  let bend = me.bend * terms.bend;
  let t = relative.t - rest.t;
  let u = relative.u - rest.u;
  let w = relative.w - rest.w;
  return 0.5 * bend * ((1.0 - 0.5 * TWIST) * dot(t, t) + 0.5 * TWIST * (dot(u, u) + dot(w, w)));
}

// On the segment after the joint, along its axes.
fn joint_torque(relative: Axes) -> vec3f {
  let rest = rest_axes(me.direction);
  let bend = me.bend * terms.bend;
  let along = bend * (1.0 - 0.5 * TWIST);
  let around = bend * (0.5 * TWIST);
  let t = rows_times(relative, rest.t);
  let u = rows_times(relative, rest.u);
  let w = rows_times(relative, rest.w);
  return vec3f(around * (u.z - w.y), around * w.x - along * t.z, along * t.y - around * u.x);
}
