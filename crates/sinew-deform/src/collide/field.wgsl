// Look-ups in a field from its words (`words.rs` has the table of them), as `FieldCollider` does on the processor: the point is in
// the field's axes and the scene's lengths, and so is the distance. Needs `field_word(collider, at)`.

// Of the field at hand.
struct Field {
  collider: u32,
  // 0 none, 1 a grid in single precision, 2 in half precision, 3 solids.
  kind: u32,
  // Bricks with values, or solids.
  count: u32,
  table: u32,
  coarse: u32,
  values: u32,
  bricks: vec3u,
  origin: vec3f,
  cell: f32,
  // Length in the scene of one unit of the field.
  unit: f32,
}

// Eight values around a point, x fastest, and where it is between them.
struct Cell {
  low: vec4f,
  high: vec4f,
  at: vec3f,
  // Cells an edge is long.
  size: f32,
}

// What outside of grids and lists stands for infinitely far.
const FAR = 3e38;
const NO_BRICK = 0xffffffffu;

fn field_float(f: Field, at: u32) -> f32 {
  return bitcast<f32>(field_word(f.collider, at));
}

fn single_pair(f: Field, at: u32) -> vec2f {
  return vec2f(field_float(f, at), field_float(f, at + 1u));
}

// Two neighbouring halves; `n` counts halves from the first value.
fn half_pair(f: Field, n: u32) -> vec2f {
  let word = f.values + n / 2u;
  let first = unpack2x16float(field_word(f.collider, word));
  if n % 2u == 0u { return first; }
  return vec2f(first.y, unpack2x16float(field_word(f.collider, word + 1u)).x);
}

fn fine_cell(f: Field, slot: u32, within: vec3f) -> Cell {
  let low = min(vec3u(within), vec3u(6u));
  let n = slot * 512u + low.x + 8u * low.y + 64u * low.z;
  let at = within - vec3f(low);
  if f.kind == 2u {
    let a = vec4f(half_pair(f, n), half_pair(f, n + 8u));
    let b = vec4f(half_pair(f, n + 64u), half_pair(f, n + 72u));
    return Cell(a, b, at, 1.0);
  }
  let v = f.values + n;
  let a = vec4f(single_pair(f, v), single_pair(f, v + 8u));
  let b = vec4f(single_pair(f, v + 64u), single_pair(f, v + 72u));
  return Cell(a, b, at, 1.0);
}

fn coarse_cell(f: Field, brick: vec3u, within: vec3f) -> Cell {
  let nx = f.bricks.x + 1u;
  let nxy = nx * (f.bricks.y + 1u);
  let v = f.coarse + brick.x + nx * brick.y + nxy * brick.z;
  let a = vec4f(single_pair(f, v), single_pair(f, v + nx));
  let b = vec4f(single_pair(f, v + nxy), single_pair(f, v + nxy + nx));
  return Cell(a, b, within * (1.0 / 7.0), 7.0);
}

fn cell_at(f: Field, at: vec3f) -> Cell {
  let brick = min(vec3u(at * (1.0 / 7.0)), f.bricks - vec3u(1u));
  let within = at - vec3f(brick * 7u);
  let slot = field_word(f.collider, f.table + brick.x + f.bricks.x * (brick.y + f.bricks.y * brick.z));
  if slot < f.count { return fine_cell(f, slot, within); }
  return coarse_cell(f, brick, within);
}

fn value_outside(value: f32, away: f32) -> f32 {
  if away == 0.0 { return value; }
  if value > 0.0 { return sqrt(value * value + away * away); }
  return value + away;
}

fn grid_distance(f: Field, point: vec3f) -> f32 {
  let at = (point / f.unit - f.origin) / f.cell;
  let inside = clamp(at, vec3f(0.0), vec3f(f.bricks) * 7.0);
  let c = cell_at(f, inside);
  let low = mix(c.low.xz, c.low.yw, c.at.x);
  let high = mix(c.high.xz, c.high.yw, c.at.x);
  let value = mix(mix(low.x, low.y, c.at.y), mix(high.x, high.y, c.at.y), c.at.z);
  return value_outside(value, length(at - inside)) * f.cell * f.unit;
}

// Distance last.
fn grid_gradient(f: Field, point: vec3f) -> vec4f {
  let at = (point / f.unit - f.origin) / f.cell;
  let inside = clamp(at, vec3f(0.0), vec3f(f.bricks) * 7.0);
  let beyond = at - inside;
  let c = cell_at(f, inside);
  let slope_x = vec4f(c.low.yw - c.low.xz, c.high.yw - c.high.xz);
  let on_x = vec4f(c.low.xz, c.high.xz) + slope_x * c.at.x;
  let slope_y = on_x.yw - on_x.xz;
  let on_y = on_x.xz + slope_y * c.at.y;
  let slope_z = on_y.y - on_y.x;
  let value = on_y.x + slope_z * c.at.z;
  let x = mix(mix(slope_x.x, slope_x.y, c.at.y), mix(slope_x.z, slope_x.w, c.at.y), c.at.z);
  var gradient = vec3f(x, mix(slope_y.x, slope_y.y, c.at.z), slope_z) / c.size;
  let away = length(beyond);
  let total = value_outside(value, away);
  if away > 0.0 {
    // Along the axes on which the point was moved the side's value does not change.
    var along = 1.0;
    var off = 1.0 / away;
    if value > 0.0 {
      along = value / total;
      off = 1.0 / total;
    }
    gradient = select(beyond * off, gradient * along, beyond == vec3f(0.0));
  }
  return vec4f(gradient, total * f.cell * f.unit);
}

fn ball_distance(point: vec3f, center: vec3f, radius: f32) -> vec4f {
  let v = point - center;
  let squared = dot(v, v);
  var normal = vec3f(0.0, 1.0, 0.0);
  if squared > 1.2e-38 && squared < 3e38 { normal = v * (1.0 / sqrt(squared)); }
  return vec4f(normal, sqrt(squared) - radius);
}

// Unit gradient and distance of two balls and the cone that touches both.
fn capsule_distance(point: vec3f, a: vec3f, b: vec3f, radii: vec2f) -> vec4f {
  let axis = b - a;
  let squared = dot(axis, axis);
  let narrowing = radii.x - radii.y;
  let slant = squared - narrowing * narrowing;
  if slant <= 0.0 {
    if narrowing < 0.0 { return ball_distance(point, b, radii.y); }
    return ball_distance(point, a, radii.x);
  }
  let extent = sqrt(squared);
  let unit = axis * (1.0 / extent);
  let height = dot(point - a, unit);
  let outward = (point - a) - unit * height;
  let radial = length(outward);
  let lean = narrowing / extent;
  let upright = sqrt(slant) / extent;
  let foot = height - radial * lean / upright;
  if foot <= 0.0 { return ball_distance(point, a, radii.x); }
  if foot >= extent { return ball_distance(point, b, radii.y); }
  var side = vec3f(0.0, unit.z, -unit.y);
  if abs(unit.x) >= 0.7 { side = vec3f(-unit.z, 0.0, unit.x); }
  side = side * (1.0 / sqrt(max(dot(side, side), 1.2e-38)));
  if radial > 1.1e-19 { side = outward * (1.0 / radial); }
  return vec4f(side * upright + unit * lean, radial * upright + height * lean - radii.x);
}

fn solid_distance(f: Field, index: u32, point: vec3f) -> vec4f {
  let w = f.values + 12u * index;
  let a = vec3f(field_float(f, w + 1u), field_float(f, w + 2u), field_float(f, w + 3u));
  if field_word(f.collider, w) == 1u {
    return vec4f(a, dot(a, point) - field_float(f, w + 4u));
  }
  let b = vec3f(field_float(f, w + 4u), field_float(f, w + 5u), field_float(f, w + 6u));
  return capsule_distance(point, a, b, vec2f(field_float(f, w + 7u), field_float(f, w + 8u)));
}

fn nearest_solid(f: Field, point: vec3f) -> vec4f {
  var nearest = vec4f(0.0, 0.0, 0.0, FAR);
  for (var i = 0u; i < f.count; i++) {
    let found = solid_distance(f, i, point);
    if found.w < nearest.w { nearest = found; }
  }
  return nearest;
}

// Signed distance at a point.
fn field_distance(f: Field, point: vec3f) -> f32 {
  if f.kind == 3u { return nearest_solid(f, point).w; }
  return grid_distance(f, point);
}

// Gradient, which may be zero and need not have unit length, and distance.
fn field_gradient(f: Field, point: vec3f) -> vec4f {
  if f.kind == 3u { return nearest_solid(f, point); }
  return grid_gradient(f, point);
}
