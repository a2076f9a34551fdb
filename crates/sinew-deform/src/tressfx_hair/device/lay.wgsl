// Where vertices are shown: beside those of guides, none of which has collided yet, and then out of colliders.

fn kernel(index: u32) {
  let lead = lead_of(index);
  let size = 1.0 + uniforms().shape.w * (f32(lead.y) / f32(lead.z));
  let x = now(lead.x) + separation_of(index) * size;
  var shown = vec4f(x, 0.0);
  if lead.y >= EXEMPT { shown = collided(x); }
  write_shown(index, shown);
}
