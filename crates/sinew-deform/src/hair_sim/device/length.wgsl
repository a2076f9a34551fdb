// Lengths: `length.rs`. Needs `set_stretch`, `stretch_at` and `ahead_at` of the strand.

const FARTHEST = 4.0;

// Moves all vertices so that segments have their lengths, to first order.
fn restore_lengths() {
  var direction = vec3f(0.0, 1.0, 0.0);
  var factor = 0.0;
  var known = 0.0;
  var before = point(0u);
  var wa = inverse_mass_of(0u);
  set_stretch(0u, vec4f(0.0), 0.0);
  for (var i = 1u; i < count; i++) {
    let x = point(i);
    let segment = x - before;
    let extent = length(segment);
    let old = direction;
    direction = unit_or(segment, old);
    let wb = inverse_mass_of(i);
    let coupling = -wa * dot(direction, old);
    // The coupling was not known to the segment before.
    let ahead = coupling * factor;
    let pivot = max(wa + wb - coupling * ahead, 1e-6);
    let held = wa + wb <= 0.0;
    known = select((extent - length_of(i) - coupling * known) / pivot, 0.0, held);
    factor = select(1.0 / pivot, 0.0, held);
    set_stretch(i, vec4f(direction, known), ahead);
    before = x;
    wa = wb;
  }
  var pull = vec3f(0.0);
  var ahead = 0.0;
  var last = 0.0;
  var longer = 0.0;
  for (var i = count; i > 0u; i -= 1u) {
    let k = i - 1u;
    let w = stretch_at(k);
    let multiplier = w.w - ahead * last;
    let own = w.xyz * multiplier;
    let extent = length_of(k);
    set_point(k, point(k) + kept_short((pull - own) * inverse_mass_of(k), max(extent, longer)));
    longer = extent;
    pull = own;
    last = multiplier;
    ahead = ahead_at(k);
  }
}

fn kept_short(shift: vec3f, extent: f32) -> vec3f {
  return limited(shift, extent * FARTHEST);
}
