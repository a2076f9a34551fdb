// Guides are sorted by their number of vertices, the longest first, and by the detail from which on they are shown. Vertex `k` of all guides
// that have one is a plane: neighbours in a plane are neighbours in memory. `guides` holds where planes begin, then for each guide root and
// strand, then count and influences, then that detail.

fn plane(k: u32) -> u32 {
  return read_guides(k).x;
}

fn root_at_rest(guide: u32) -> vec3f {
  return bitcast<vec3f>(read_guides(LONGEST + guide).xyz);
}

fn strand_of(guide: u32) -> u32 {
  return read_guides(LONGEST + guide).w;
}

// Vertices; where influences begin; how many; bits of the length at rest.
fn row_of(guide: u32) -> vec4u {
  return read_guides(LONGEST + GUIDES + guide);
}

fn shown_from(guide: u32) -> f32 {
  return bitcast<f32>(read_guides(LONGEST + 2u * GUIDES + guide).x);
}

// In this range of details, a strand grows to its whole length.
const BAND = 0.125;

// Share of its length that a strand shows: `fade` in `detail.rs`.
fn fade_from(begin: f32) -> f32 {
  return clamp((uniforms().shown.x - begin) * (1.0 / BAND), 0.0, 1.0);
}

// `state` holds positions of guide vertices and how much each is held back, then what each keeps (rotation of its segment; velocity and what
// it touches; where friction holds it and how far solids are), then for each guide five vectors: rotation, translation and size at the beginning of the frame, the same at
// its end, velocity and share of the root; then the colliders' places in the frame before.

fn kept_at(part: u32, vertex: u32) -> u32 {
  return (part + 1u) * GUIDE_VERTICES + vertex;
}

fn drive_at(part: u32, guide: u32) -> u32 {
  return 4u * GUIDE_VERTICES + part * GUIDES + guide;
}

// In place of the share of the root's motion that the strand follows: the root jumps.
const JUMPS = 2.0;

fn collider_at(collider: u32) -> u32 {
  return 4u * GUIDE_VERTICES + 5u * GUIDES + 2u * collider;
}

// `moment` holds the steps done, the gust time and 1 while strands come out of what they begin in, then the gusts of a run of steps, and the
// placements of colliders in those, and at the end of the frame last.

fn placed_at(collider: u32, step: u32) -> u32 {
  return 1u + BATCH + 10u * (step * COLLIDERS + collider);
}

// The sort that a step of the frame is of, the step's number in it, and how many there are.
fn sort_of(steps: vec4u, step: u32) -> vec3u {
  if step < steps.x { return vec3u(0u, step, steps.x); }
  if step < steps.x + steps.y { return vec3u(1u, step - steps.x, steps.y); }
  return vec3u(2u, step - steps.x - steps.y, steps.z);
}

// Steps of the run that begins at a step: all of one sort.
fn run_length(u: Uniforms, step: u32) -> u32 {
  let s = sort_of(u.steps, step);
  return min(u.runs[s.x], s.z - min(s.y, s.z));
}

// Time as seconds and 2^-32 s, later by so many times a fraction.
fn later(time: vec2u, fraction: u32, times: u32) -> vec2u {
  var out = time;
  for (var i = 0u; i < times; i++) {
    let sum = out.y + fraction;
    if sum < fraction { out.x += 1u; }
    out.y = sum;
  }
  return out;
}
