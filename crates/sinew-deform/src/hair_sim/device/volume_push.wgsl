// How hard other hair pushes the vertex in this run, along the axes of the root at its end.
fn push_of_hair(u: Uniforms, steps: u32) -> vec3f {
  if lane >= count { return vec3f(0.0); }
  let place = read_places(vertex_at(lane)).xyz;
  if !all_finite(vec4f(place, 0.0)) { return vec3f(0.0); }
  let secs = laws_of_run.x * f32(steps);
  let most = VOLUME_COURANT * VOLUME_COURANT * VOLUME_CELL / (secs * secs);
  let acceleration = clamp(bitcast<f32>(u.runs.w), 0.0, most);
  let end = motion_at(root_motion, (done + f32(steps)) / of_sort);
  return turned_back(end.rotation, pressure_slope(place) * -acceleration);
}

fn pressure_slope(place: vec3f) -> vec3f {
  let cells = place / VOLUME_CELL;
  let middle = floor(cells + 0.5);
  let first = first_near(middle);
  let off = cells - middle;
  var sum = vec3f(0.0);
  for (var n = 0u; n < 27u; n++) {
    let node = near_node(n);
    let density = f32(read_volume_sums(volume_node(first, node))) / VOLUME_ONE;
    let pressure = clamp(density - 1.0, 0.0, VOLUME_MOST);
    let weight = spline(off, node);
    let slope = spline_slope(off, node);
    sum += pressure * vec3f(slope.x * weight.y * weight.z, weight.x * slope.y * weight.z, weight.x * weight.y * slope.z);
  }
  return sum;
}
