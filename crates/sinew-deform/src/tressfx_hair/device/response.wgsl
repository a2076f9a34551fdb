// The response of TressFX: `response.rs`. Needs `solid.wgsl`.

// What a cell with an unset node gives.
const UNSET = 1e10;

fn placement_word(at: u32) -> vec4u {
  return read_moment(at);
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

// Of any length, may be zero. `feature`: edge of a cell, or of solids what stands for it.
fn tressfx_gradient(f: Field, point: vec3f, distance: f32, feature: f32) -> vec3f {
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

// The point out of the solid at hand, with 1 behind it if that moved it.
fn responded(found: vec4f) -> vec4f {
  let point = local_point(found.xyz);
  var feature = FAR;
  var margin = 0.0;
  if is_sampled() {
    feature = solid.spacing * 2.0;
    margin = solid.margin * feature;
  }
  let distance = tressfx_distance(solid.field, point);
  if !is_finite(distance) || distance >= margin { return found; }
  let gradient = tressfx_gradient(solid.field, point, distance, feature);
  let size = length(gradient);
  if !(size > 0.0) || !is_finite(size) { return found; }
  return vec4f(in_scene(point + gradient * ((margin - distance) / size)) + solid.origin, 1.0);
}

// Out of all of them, one after another.
fn collided(point: vec3f) -> vec4f {
  var found = vec4f(point, 0.0);
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if is_there() { found = responded(found); }
  }
  return found;
}
