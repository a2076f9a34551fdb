// Each root follows joints of its own: `blended` and `resized` in `roots.rs`.
fn transform_of(guide: u32) -> Rows {
  let row = row_of(guide);
  var sum = Rows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
  var size = 0.0;
  for (var i = 0u; i < row.z; i++) {
    let influence = read_influences(row.y + i);
    let weight = bitcast<f32>(influence.y);
    let joint = 3u * influence.x;
    let m = Rows(read_palette(joint), read_palette(joint + 1u), read_palette(joint + 2u));
    size += weight * size_of_linear(Linear(m.a.xyz, m.b.xyz, m.c.xyz));
    sum = Rows(sum.a + m.a * weight, sum.b + m.b * weight, sum.c + m.c * weight);
  }
  let linear = Linear(sum.a.xyz, sum.b.xyz, sum.c.xyz);
  let shrunk = size_of_linear(linear);
  // Matrices that turn against each other shrink in their sum.
  let factor = size / shrunk;
  if !(shrunk > 0.0) || !is_finite(factor) { return sum; }
  let place = root_at_rest(guide);
  let before = vec3f(dot(linear.a, place), dot(linear.b, place), dot(linear.c, place));
  let shift = before * (1.0 - factor);
  return Rows(
    vec4f(linear.a * factor, sum.a.w + shift.x),
    vec4f(linear.b * factor, sum.b.w + shift.y),
    vec4f(linear.c * factor, sum.c.w + shift.z),
  );
}
