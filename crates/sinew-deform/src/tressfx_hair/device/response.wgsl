// The response of TressFX: `response.rs`. Needs `motion.wgsl` and `field.wgsl`.

// What a cell with an unset node gives.
const UNSET = 1e10;

// A collider: its field, where that is in the scene, the edge of a cell or what stands for it, and the distance to keep.
struct Solid {
  field: Field,
  frame: Rigid,
  feature: f32,
  margin: f32,
}

fn solid_of(collider: u32) -> Solid {
  let at = placement_of(collider);
  let head = read_moment(at);
  let translation = bitcast<vec4f>(read_moment(at + 2u));
  let lattice = bitcast<vec4f>(read_moment(at + 3u));
  let table = read_moment(at + 4u);
  let parts = read_moment(at + 5u);
  let field = Field(collider, head.x, head.y, table.w, parts.x, parts.y, table.xyz, lattice.xyz, lattice.w, translation.w);
  let frame = Rigid(bitcast<vec4f>(read_moment(at + 1u)), translation.xyz);
  return Solid(field, frame, bitcast<f32>(head.z), bitcast<f32>(head.w));
}

fn along_x(c: Cell) -> vec4f {
  let low = vec4f(c.low.xz, c.high.xz);
  return (vec4f(c.low.yw, c.high.yw) - low) * c.at.x + low;
}

// By the look-up of TressFX: `sample_set` in `sdf/field.rs`.
fn tressfx_distance(f: Field, point: vec3f) -> f32 {
  if f.kind == 3u { return nearest_solid(f, point).w; }
  let at = (point * (1.0 / f.unit) - f.origin) * (1.0 / f.cell);
  let inside = clamp(at, vec3f(0.0), vec3f(f.bricks) * 7.0);
  let c = cell_at(f, inside);
  let least = vec4f(0.5 * clamp(UNSET / f.cell, 1e9, 1e30));
  if !(all(c.low < least) && all(c.high < least)) { return UNSET; }
  let on_x = along_x(c);
  let on_y = (on_x.yw - on_x.xz) * c.at.y + on_x.xz;
  let value = (on_y.y - on_y.x) * c.at.z + on_y.x;
  return value_outside(value, length(at - inside)) * f.cell * f.unit;
}

// Of any length, may be zero.
fn tressfx_gradient(solid: Solid, point: vec3f, distance: f32) -> vec3f {
  let f = solid.field;
  let feature = solid.feature;
  let mode = uniforms().counts.z;
  if mode == ANALYTIC || !(feature > 0.0 && feature < 1e37) { return field_sample(f, point).xyz; }
  let step = vec3f(0.1 * feature);
  var by = step;
  var over = step;
  if mode == MIXED {
    // The step of the scene is taken for a share of the cell.
    let origin = select(f.origin * f.unit, vec3f(0.0), f.kind == 3u);
    let cells = (point - origin) / feature;
    over = select(step, -step, cells - trunc(cells) + step > vec3f(1.0));
    by = over * feature;
  }
  let there = vec3f(
    tressfx_distance(f, point + vec3f(by.x, 0.0, 0.0)),
    tressfx_distance(f, point + vec3f(0.0, by.y, 0.0)),
    tressfx_distance(f, point + vec3f(0.0, 0.0, by.z)),
  );
  return (there - distance) / over;
}

// The point out of a solid, with 1 behind it if that moved it.
fn responded(solid: Solid, found: vec4f) -> vec4f {
  let point = point_before(solid.frame, found.xyz);
  let distance = tressfx_distance(solid.field, point);
  if !is_finite(distance) || distance >= solid.margin { return found; }
  let gradient = tressfx_gradient(solid, point, distance);
  let size = length(gradient);
  if !(size > 0.0) || !is_finite(size) { return found; }
  return vec4f(point_of(solid.frame, point + gradient * ((solid.margin - distance) / size)), 1.0);
}

// Out of all of them, one after another.
fn collided(point: vec3f) -> vec4f {
  var found = vec4f(point, 0.0);
  for (var c = 0u; c < COLLIDERS; c++) {
    let solid = solid_of(c);
    if solid.field.kind != 0u { found = responded(solid, found); }
  }
  return found;
}
