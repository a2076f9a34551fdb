fn push_of_hair(u: Uniforms, steps: u32) -> vec3f {
  return vec3f(0.0);
}
