// Where colliders are during each step, worked out once for all strands: what `Placement` holds, and the head of the field.
// Needs `field.wgsl`, `motion.wgsl`, `field_words(collider)`, `contact_of(collider)` and `write_placement(at, v)`.

// Vectors of one placement.
const PLACEMENT = 10u;

// Whether the words hold a field, all of it within the array.
fn head_of(collider: u32) -> Field {
  var f = Field(collider, 0u, 0u, 0u, 0u, 0u, vec3u(0u), vec3f(0.0), 1.0, 1.0);
  let words = field_words(collider);
  if words < 32u { return f; }
  f.count = field_word(collider, 21u);
  f.table = field_word(collider, 22u);
  f.coarse = field_word(collider, 23u);
  f.values = field_word(collider, 24u);
  f.unit = 1.0 / field_float(f, 13u);
  let kind = field_word(collider, 0u);
  if kind == 3u {
    if f.values <= words && f.count <= (words - f.values) / 12u { f.kind = kind; }
    return f;
  }
  f.origin = vec3f(field_float(f, 14u), field_float(f, 15u), field_float(f, 16u));
  f.cell = field_float(f, 17u);
  f.bricks = vec3u(field_word(collider, 18u), field_word(collider, 19u), field_word(collider, 20u));
  // Up to 256 words a brick; nothing here is larger than the array, which has fewer than 2^32 words.
  let each = select(512u, 256u, kind == 2u);
  let fits = f.table <= f.coarse && f.coarse <= f.values && f.values <= words && f.count <= (words - f.values) / each;
  if fits && all(f.bricks > vec3u(0u)) && (kind == 1u || kind == 2u) { f.kind = kind; }
  return f;
}

// The scene from the frame that distances are measured in.
fn frame_of(f: Field) -> Rigid {
  let a = vec3f(field_float(f, 1u), field_float(f, 2u), field_float(f, 3u));
  let b = vec3f(field_float(f, 4u), field_float(f, 5u), field_float(f, 6u));
  let c = vec3f(field_float(f, 7u), field_float(f, 8u), field_float(f, 9u));
  let t = vec3f(field_float(f, 10u), field_float(f, 11u), field_float(f, 12u));
  // Their rows are field axes from scene axes: the columns are what is looked for.
  let rotation = quaternion_of(vec3f(a.x, b.x, c.x), vec3f(a.y, b.y, c.y), vec3f(a.z, b.z, c.z));
  return Rigid(rotation, (a * t.x + b * t.y + c * t.z) * -f.unit);
}

// Size of the smallest detail.
fn feature_of(f: Field) -> f32 {
  if f.kind != 3u { return f.cell * f.unit; }
  var least = FAR;
  for (var i = 0u; i < f.count; i++) {
    let w = f.values + 12u * i;
    if field_word(f.collider, w) != 1u {
      least = min(least, min(field_float(f, w + 7u), field_float(f, w + 8u)) * 0.5);
    }
  }
  return least;
}

fn normalized(r: Rigid) -> Rigid {
  return Rigid(normalize(r.rotation), r.translation);
}

fn words_of(a: vec3f, w: f32) -> vec4u {
  return bitcast<vec4u>(vec4f(a, w));
}

// The collider from the share `span.x` of its motion to `span.y`.
fn place_field(f: Field, motion: Motion, span: vec2f, at: u32) {
  let first = normalized(motion_at(motion, span.x));
  let last = normalized(motion_at(motion, span.y));
  let carry = relative_to(last, first);
  let contact = contact_of(f.collider);
  let x = turned(last.rotation, vec3f(1.0, 0.0, 0.0));
  let y = turned(last.rotation, vec3f(0.0, 1.0, 0.0));
  let z = turned(last.rotation, vec3f(0.0, 0.0, 1.0));
  write_placement(at, words_of(x, last.translation.x));
  write_placement(at + 1u, words_of(y, last.translation.y));
  write_placement(at + 2u, words_of(z, last.translation.z));
  write_placement(at + 3u, bitcast<vec4u>(carry.rotation));
  write_placement(at + 4u, words_of(carry.translation, contact.x));
  write_placement(at + 5u, vec4u(bitcast<vec3u>(vec3f(max(contact.y, 0.0), feature_of(f), 0.0)), f.kind));
  write_placement(at + 6u, words_of(f.origin, f.cell));
  write_placement(at + 7u, vec4u(f.bricks, f.count));
  write_placement(at + 8u, vec4u(f.table, f.coarse, f.values, bitcast<u32>(f.unit)));
  write_placement(at + 9u, bitcast<vec4u>(last.rotation));
}
