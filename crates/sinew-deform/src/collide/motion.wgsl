// Rigid placements and the screw between two of them, as in `motion.rs`. A quaternion is (axis * sine, cosine).

struct Rigid {
  rotation: vec4f,
  translation: vec3f,
}

struct Motion {
  begin: Rigid,
  end: Rigid,
  axis: vec3f,
  angle: f32,
  along: vec3f,
  across: vec3f,
  sideways: vec3f,
}

fn unit_or(v: vec3f, otherwise: vec3f) -> vec3f {
  let squared = dot(v, v);
  if squared > 1e-30 && squared < 3e38 { return v * (1.0 / sqrt(squared)); }
  return otherwise;
}

fn turned(q: vec4f, v: vec3f) -> vec3f {
  let t = cross(q.xyz, v) * 2.0;
  return v + t * q.w + cross(q.xyz, t);
}

fn turned_back(q: vec4f, v: vec3f) -> vec3f {
  return turned(vec4f(-q.xyz, q.w), v);
}

// First `b`, then `a`.
fn rotations(a: vec4f, b: vec4f) -> vec4f {
  return vec4f(b.xyz * a.w + a.xyz * b.w + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

fn opposite(q: vec4f) -> vec4f {
  return vec4f(-q.xyz, q.w);
}

// For quaternions whose length is nearly one.
fn renormalized(q: vec4f) -> vec4f {
  return q * (0.5 * (3.0 - dot(q, q)));
}

fn point_of(r: Rigid, p: vec3f) -> vec3f {
  return turned(r.rotation, p) + r.translation;
}

fn point_before(r: Rigid, p: vec3f) -> vec3f {
  return turned_back(r.rotation, p - r.translation);
}

// What takes a point of `b` to the same point of `a`.
fn relative_to(a: Rigid, b: Rigid) -> Rigid {
  let rotation = rotations(a.rotation, opposite(b.rotation));
  return Rigid(rotation, a.translation - turned(rotation, b.translation));
}

fn motion_between(begin: Rigid, end: Rigid) -> Motion {
  var q = rotations(end.rotation, opposite(begin.rotation));
  if q.w < 0.0 { q = -q; }
  let sine = length(q.xyz);
  var axis = vec3f(0.0, 1.0, 0.0);
  if sine > 0.0 { axis = q.xyz / sine; }
  let chord = end.translation - begin.translation;
  let along = axis * dot(axis, chord);
  return Motion(begin, end, axis, atan2(sine, q.w) * 2.0, along, chord - along, cross(axis, chord));
}

// After the share `t` of the motion.
fn motion_at(m: Motion, t: f32) -> Rigid {
  if t <= 0.0 { return m.begin; }
  if t >= 1.0 { return m.end; }
  let half_angle = m.angle * 0.5;
  let walked = half_angle * t;
  let left = half_angle * (1.0 - t);
  var share = t;
  if half_angle >= 1e-4 { share = sin(walked) / sin(half_angle); }
  let step = vec4f(m.axis * sin(walked), cos(walked));
  let path = m.across * (share * cos(left)) - m.sideways * (share * sin(left));
  let rotation = renormalized(rotations(step, m.begin.rotation));
  return Rigid(rotation, m.begin.translation + m.along * t + path);
}

// The quaternion of a rotation matrix, given by rows.
fn quaternion_of(a: vec3f, b: vec3f, c: vec3f) -> vec4f {
  let trace = a.x + b.y + c.z;
  if trace > 0.0 {
    let d = sqrt(trace + 1.0) * 2.0;
    return vec4f((c.y - b.z) / d, (a.z - c.x) / d, (b.x - a.y) / d, 0.25 * d);
  }
  if a.x > b.y && a.x > c.z {
    let d = sqrt(1.0 + a.x - b.y - c.z) * 2.0;
    return vec4f(0.25 * d, (a.y + b.x) / d, (a.z + c.x) / d, (c.y - b.z) / d);
  }
  if b.y > c.z {
    let d = sqrt(1.0 + b.y - a.x - c.z) * 2.0;
    return vec4f((a.y + b.x) / d, 0.25 * d, (b.z + c.y) / d, (a.z - c.x) / d);
  }
  let d = sqrt(1.0 + c.z - a.x - b.y) * 2.0;
  return vec4f((a.z + c.x) / d, (b.z + c.y) / d, 0.25 * d, (b.x - a.y) / d);
}

fn is_finite(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7f800000u) != 0x7f800000u;
}

fn all_finite(v: vec4f) -> bool {
  return is_finite(v.x) && is_finite(v.y) && is_finite(v.z) && is_finite(v.w);
}
