// Colliders and gusts of a run of steps, and colliders at the end of the frame.

fn write_placement(at: u32, v: vec4u) {
  write_moment(at, v);
}

fn kernel(index: u32) {
  let steps = uniforms().steps;
  let progress = read_moment(0u);
  let sort = sort_of(steps, progress.x);
  if index < BATCH { write_moment(1u + index, gusts(progress.yz, sort.x, index)); }
  let step = index / max(COLLIDERS, 1u);
  if COLLIDERS == 0u || step > BATCH { return; }
  let collider = index % max(COLLIDERS, 1u);
  let f = head_of(collider);
  let at = placed_at(collider, step);
  if f.kind == 0u {
    write_placement(at + 5u, vec4u(0u));
    return;
  }
  let now = frame_of(f);
  var before = Rigid(read_state(collider_at(collider)), read_state(collider_at(collider) + 1u).xyz);
  // One that held nothing until now was nowhere.
  if steps.w == 1u || dot(before.rotation, before.rotation) < 0.5 { before = now; }
  let motion = motion_between(before, now);
  var span = vec2f(1.0);
  if step < BATCH {
    // What comes before the first frame is over while nothing moves.
    let first = f32(sort.y + step) / f32(max(sort.z, 1u));
    let last = f32(sort.y + step + 1u) / f32(max(sort.z, 1u));
    span = select(vec2f(0.0), vec2f(first, last), sort.x == 2u);
  }
  place_field(f, motion, span, at);
}

// Where the waves of a step's gusts are, in 2^-32 of a turn: whole turns fall off the end of whole numbers.
fn gusts(time: vec2u, sort: u32, step: u32) -> vec4u {
  let u = uniforms();
  let now = later(time, u.fractions[sort], step + 1u);
  // Both factors are less than one: the product's first 24 bits are enough.
  let rest = vec3f(u.part.xyz) * (f32(now.y) * 2.3283064e-10);
  return vec4u(u.part.xyz * now.x + u.whole.xyz * now.y + vec3u(rest), 0u);
}
