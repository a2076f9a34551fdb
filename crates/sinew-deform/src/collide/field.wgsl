// Look-ups in a field from its words (`words.rs` has the table of them), as `FieldCollider` does on the processor: the point is in
// the field's axes and the scene's lengths, and so is the distance. Needs `field_word(collider, at)`, and
// `field_rows(collider, at)` for four pairs of words at once: their loads do not wait for each other.

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

// Words of four pairs, one pair behind the other.
struct Rows {
  low: vec4u,
  high: vec4u,
}

// What outside of grids and lists stands for infinitely far.
const FAR = 3e38;
const NO_BRICK = 0xffffffffu;

fn field_float(f: Field, at: u32) -> f32 {
  return bitcast<f32>(field_word(f.collider, at));
}

// What two words of halves hold from the first or second one on.
fn two_halves(a: u32, b: u32, is_second: bool) -> vec2f {
  let low = unpack2x16float(a);
  return select(low, vec2f(low.y, unpack2x16float(b).x), is_second);
}

fn cell_at(f: Field, at: vec3f) -> Cell {
  let brick = min(vec3u(at * (1.0 / 7.0)), f.bricks - vec3u(1u));
  let within = at - vec3f(brick * 7u);
  let slot = field_word(f.collider, f.table + brick.x + f.bricks.x * (brick.y + f.bricks.y * brick.z));
  // The coarse level, unless the brick has values.
  var strides = vec2u(f.bricks.x + 1u, (f.bricks.x + 1u) * (f.bricks.y + 1u));
  var first = f.coarse;
  var n = brick.x + strides.x * brick.y + strides.y * brick.z;
  var cell = Cell(vec4f(0.0), vec4f(0.0), within * (1.0 / 7.0), 7.0);
  let is_fine = slot < f.count;
  if is_fine {
    let low = min(vec3u(within), vec3u(6u));
    strides = vec2u(8u, 64u);
    first = f.values;
    n = slot * 512u + low.x + 8u * low.y + 64u * low.z;
    cell.at = within - vec3f(low);
    cell.size = 1.0;
  }
  // Four pairs of neighbours along x.
  let pairs = vec4u(n, n + strides.x, n + strides.y, n + strides.x + strides.y);
  let is_half = is_fine && f.kind == 2u;
  let found = field_rows(f.collider, first + select(pairs, pairs / 2u, is_half));
  cell.low = bitcast<vec4f>(found.low);
  cell.high = bitcast<vec4f>(found.high);
  if is_half {
    let is_second = n % 2u == 1u;
    cell.low = vec4f(two_halves(found.low.x, found.low.y, is_second), two_halves(found.low.z, found.low.w, is_second));
    cell.high = vec4f(two_halves(found.high.x, found.high.y, is_second), two_halves(found.high.z, found.high.w, is_second));
  }
  return cell;
}

fn value_outside(value: f32, away: f32) -> f32 {
  if away == 0.0 { return value; }
  if value > 0.0 { return sqrt(value * value + away * away); }
  return value + away;
}

// Distance last.
fn grid_sample(f: Field, point: vec3f) -> vec4f {
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
  let kind = field_word(f.collider, f.values + 12u * index);
  var w = array<f32, 9>();
  for (var k = 1u; k < 9u; k++) { w[k] = field_float(f, f.values + 12u * index + k); }
  let a = vec3f(w[1], w[2], w[3]);
  if kind == 1u { return vec4f(a, dot(a, point) - w[4]); }
  return capsule_distance(point, a, vec3f(w[4], w[5], w[6]), vec2f(w[7], w[8]));
}

fn nearest_solid(f: Field, point: vec3f) -> vec4f {
  var nearest = vec4f(0.0, 0.0, 0.0, FAR);
  for (var i = 0u; i < f.count; i++) {
    let found = solid_distance(f, i, point);
    if found.w < nearest.w { nearest = found; }
  }
  return nearest;
}

// Gradient, which may be zero and need not have unit length, and distance. One function for both: kernels hold a copy wherever it is called.
fn field_sample(f: Field, point: vec3f) -> vec4f {
  if f.kind == 3u { return nearest_solid(f, point); }
  return grid_sample(f, point);
}
