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
  // Size of the smallest detail.
  detail: f32,
}

var<private> solid: Solid;
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
  solid.detail = contact.y;
}

fn is_there() -> bool {
  return solid.field.kind != 0u;
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
