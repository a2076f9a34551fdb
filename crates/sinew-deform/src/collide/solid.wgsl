// Placed solids as one invocation asks them: `placed.rs`.
//
// Needs `motion.wgsl`, `field.wgsl`, `placement_word(at)`, `placement_of(collider)` and the constant COLLIDERS.

// Strands are taken for longer than they are by this factor: lengths come with roundings.
const LONGER = 1.01;

// No placement is there.
const NO_PLACEMENT = 0xffffffffu;

// A collider during a step.
struct Solid {
  field: Field,
  at: u32,
  // Rows of the rotation to the solid at the end of the step.
  x: vec3f,
  y: vec3f,
  z: vec3f,
  origin: vec3f,
  carry: Rigid,
  margin: f32,
  friction: f32,
  spacing: f32,
  tolerance: f32,
}

var<private> solid: Solid;
// Those that the strand cannot touch in this step, a bit each.
var<private> out_of_reach: u32;
// Whose placement is in it.
var<private> solid_at: u32;

fn placement_floats(at: u32) -> vec4f {
  return bitcast<vec4f>(placement_word(at));
}

// Brings a collider to hand.
fn use_solid(collider: u32) {
  let at = placement_of(collider);
  if solid_at == at { return; }
  solid_at = at;
  let a = placement_floats(at);
  let b = placement_floats(at + 1u);
  let c = placement_floats(at + 2u);
  let carried = placement_floats(at + 4u);
  let contact = placement_floats(at + 5u);
  let lattice = placement_floats(at + 6u);
  let size = placement_word(at + 7u);
  let starts = placement_word(at + 8u);
  let kind = placement_word(at + 5u).w;
  solid.field = Field(collider, kind, size.w, starts.x, starts.y, starts.z, size.xyz, lattice.xyz, lattice.w, bitcast<f32>(starts.w));
  solid.at = at;
  solid.x = a.xyz;
  solid.y = b.xyz;
  solid.z = c.xyz;
  solid.origin = vec3f(a.w, b.w, c.w);
  solid.carry = Rigid(placement_floats(at + 3u), carried.xyz);
  solid.margin = carried.w;
  solid.friction = contact.x;
  solid.spacing = contact.y;
  solid.tolerance = contact.z;
}

fn is_there() -> bool {
  return solid.field.kind != 0u;
}

// Leaves out what a strand cannot touch that is no longer than `reach` and hangs on a point that the step brings from `start` to `root`.
fn find_out_of_reach(start: vec3f, root: vec3f, reach: f32) {
  out_of_reach = 0u;
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if is_there() {
      let moved = length(root - point_of(solid.carry, start));
      if sampled(root).w - solid.margin > reach * LONGER + moved + moved { out_of_reach |= 1u << c; }
    } else {
      out_of_reach |= 1u << c;
    }
  }
}

// The others, a bit each.
fn reachable() -> u32 {
  return ~out_of_reach & ((1u << COLLIDERS) - 1u);
}

// Leaves out what is no field.
fn leave_out_absent() {
  for (var c = 0u; c < COLLIDERS; c++) {
    use_solid(c);
    if !is_there() { out_of_reach |= 1u << c; }
  }
}

fn is_in_reach(collider: u32) -> bool {
  return (out_of_reach & (1u << collider)) == 0u;
}

// Whether segments need samples between their ends.
fn is_sampled() -> bool {
  return solid.spacing < 1e37;
}

fn local_point(x: vec3f) -> vec3f {
  let v = x - solid.origin;
  return vec3f(dot(solid.x, v), dot(solid.y, v), dot(solid.z, v));
}

// Gradient in the scene, of any length, and distance last.
fn sampled(x: vec3f) -> vec4f {
  let found = field_sample(solid.field, local_point(x));
  return vec4f(in_scene(found.xyz), found.w);
}

// A vector of the solid's frame.
fn in_scene(v: vec3f) -> vec3f {
  return solid.x * v.x + solid.y * v.y + solid.z * v.z;
}

// A placement of the solid at hand: rotation, then translation.
fn placement_rigid(part: u32) -> Rigid {
  return Rigid(placement_floats(solid.at + part), placement_floats(solid.at + part + 1u).xyz);
}

// The way of a point through the solid's frame, while both move: a parabola through its places at the beginning, in the middle and at the end of the step.
struct Way {
  begins: vec3f,
  leaves: vec3f,
  bends: vec3f,
  // The highest on the way, in lengths a step.
  speed: f32,
}

fn way_of(start: vec3f, x: vec3f) -> Way {
  let begins = point_before(placement_rigid(9u), start);
  let middle = point_before(placement_rigid(12u), (start + x) * 0.5);
  let ends = local_point(x);
  let leaves = (middle - begins) * 4.0 - (ends - begins);
  let bends = (begins + ends - middle * 2.0) * 2.0;
  return Way(begins, leaves, bends, max(length(leaves), length(leaves + bends * 2.0)));
}
