// Rigid part and size of the skin's transform at a root: `root_of` in `job.rs`, `rotation_of` in `skin/joint.rs`.

// A matrix of three rows and four columns.
struct Rows {
  a: vec4f,
  b: vec4f,
  c: vec4f,
}

// Rows of a matrix without translation.
struct Linear {
  a: vec3f,
  b: vec3f,
  c: vec3f,
}

struct Root {
  is_usable: bool,
  frame: Rigid,
  size: f32,
}

fn determinant_of(m: Linear) -> f32 {
  return dot(m.a, cross(m.b, m.c));
}

fn cube_root(v: f32) -> f32 {
  if v <= 0.0 { return 0.0; }
  // One step of Newton's method takes out what powers lack.
  let r = pow(v, 1.0 / 3.0);
  return r - (r * r * r - v) / (3.0 * r * r);
}

fn size_of_linear(m: Linear) -> f32 {
  return cube_root(abs(determinant_of(m)));
}

fn norm_of(m: Linear) -> f32 {
  return sqrt(dot(m.a, m.a) + dot(m.b, m.b) + dot(m.c, m.c));
}

fn scaled(m: Linear, f: f32) -> Linear {
  return Linear(m.a * f, m.b * f, m.c * f);
}

fn sum_of(m: Linear, n: Linear) -> Linear {
  return Linear(m.a + n.a, m.b + n.b, m.c + n.c);
}

fn largest(v: vec3f) -> f32 {
  return max(abs(v.x), max(abs(v.y), abs(v.z)));
}

// Whether rows are unit vectors at right angles that turn the right way round.
fn is_rotation(m: Linear) -> bool {
  let squares = vec3f(dot(m.a, m.a), dot(m.b, m.b), dot(m.c, m.c)) - vec3f(1.0);
  let products = vec3f(dot(m.a, m.b), dot(m.b, m.c), dot(m.c, m.a));
  return largest(squares) < 1e-6 && largest(products) < 1e-6 && determinant_of(m) > 0.0;
}

fn rotation_of(m: Linear) -> vec4f {
  if is_rotation(m) { return quaternion_of(m.a, m.b, m.c); }
  let size = norm_of(m);
  if !(size > 0.0) || !is_finite(size) { return vec4f(0.0, 0.0, 0.0, 1.0); }
  var x = scaled(m, 1.0 / size);
  if abs(determinant_of(x)) < 1e-6 { return aligned(x); }
  // Newton's iteration with Higham's scaling.
  for (var i = 0u; i < 20u; i++) {
    // Rows of the cofactor matrix are cross products of rows.
    let cofactor = Linear(cross(x.b, x.c), cross(x.c, x.a), cross(x.a, x.b));
    let inverse = scaled(cofactor, 1.0 / determinant_of(x));
    let scale = sqrt(norm_of(inverse) / norm_of(x));
    let next = scaled(sum_of(scaled(x, scale), scaled(inverse, 1.0 / scale)), 0.5);
    let step = norm_of(sum_of(next, scaled(x, -1.0)));
    x = next;
    if step < 9.5e-7 { break; }
  }
  if determinant_of(x) < 0.0 { x = mirrored(x); }
  return quaternion_of(x.a, x.b, x.c);
}

// The mirror image nearest to the identity: one column turned round.
fn mirrored(m: Linear) -> Linear {
  var turned_round = vec3f(-1.0, 1.0, 1.0);
  let diagonal = vec3f(m.a.x, m.b.y, m.c.z);
  // Traces differ by twice what is turned round.
  if diagonal.y < diagonal.x && diagonal.y <= diagonal.z { turned_round = vec3f(1.0, -1.0, 1.0); }
  if diagonal.z < diagonal.x && diagonal.z < diagonal.y { turned_round = vec3f(1.0, 1.0, -1.0); }
  return Linear(m.a * turned_round, m.b * turned_round, m.c * turned_round);
}

// The identity or half a turn about an axis, whichever is nearest: a frame that is half a turn off has no way to turn.
fn nearest_half_turn(diagonal: vec3f) -> vec4f {
  let trace = diagonal.x + diagonal.y + diagonal.z;
  let others = 2.0 * diagonal - trace;
  var q = vec4f(0.0, 0.0, 0.0, 1.0);
  var best = trace;
  if others.x > best { q = vec4f(1.0, 0.0, 0.0, 0.0); best = others.x; }
  if others.y > best { q = vec4f(0.0, 1.0, 0.0, 0.0); best = others.y; }
  if others.z > best { q = vec4f(0.0, 0.0, 1.0, 0.0); }
  return q;
}

// For singular matrices: turns a frame step by step towards the columns.
fn aligned(m: Linear) -> vec4f {
  var q = nearest_half_turn(vec3f(m.a.x, m.b.y, m.c.z));
  for (var i = 0u; i < 60u; i++) {
    let x = turned(q, vec3f(1.0, 0.0, 0.0));
    let y = turned(q, vec3f(0.0, 1.0, 0.0));
    let z = turned(q, vec3f(0.0, 0.0, 1.0));
    let to_x = vec3f(m.a.x, m.b.x, m.c.x);
    let to_y = vec3f(m.a.y, m.b.y, m.c.y);
    let to_z = vec3f(m.a.z, m.b.z, m.c.z);
    let axis = cross(x, to_x) + cross(y, to_y) + cross(z, to_z);
    let omega = axis / (abs(dot(x, to_x) + dot(y, to_y) + dot(z, to_z)) + 1e-9);
    let angle = length(omega);
    if angle < 4.8e-7 { break; }
    q = normalize(rotations(vec4f(omega * (sin(0.5 * angle) / angle), cos(0.5 * angle)), q));
  }
  return q;
}

fn root_of(rows: Rows, rest: vec3f) -> Root {
  let m = Linear(rows.a.xyz, rows.b.xyz, rows.c.xyz);
  let place = vec3f(dot(m.a, rest), dot(m.b, rest), dot(m.c, rest)) + vec3f(rows.a.w, rows.b.w, rows.c.w);
  let frame = Rigid(rotation_of(m), place);
  let size = size_of_linear(m);
  return Root(all_finite(frame.rotation) && all_finite(vec4f(place, size)), frame, size);
}
