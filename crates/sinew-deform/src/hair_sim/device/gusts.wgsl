// Gusts of a strand: `wind.rs`.

// The product of two whole numbers of 64 bits, lower word first.
fn product(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x & 0xffffu;
  let high = a.x >> 16u;
  let other_low = b.x & 0xffffu;
  let other_high = b.x >> 16u;
  let ll = low * other_low;
  let lh = low * other_high;
  let hl = high * other_low;
  let middle = (ll >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);
  let carried = high * other_high + (lh >> 16u) + (hl >> 16u) + (middle >> 16u);
  return vec2u((ll & 0xffffu) | (middle << 16u), carried + a.x * b.y + a.y * b.x);
}

fn xor_shifted(a: vec2u, by: u32) -> vec2u {
  return a ^ vec2u((a.x >> by) | (a.y << (32u - by)), a.y >> by);
}

// Steele, Lea and Flood's SplitMix64: `mixed` in `followers.rs`.
fn mixed(value: vec2u) -> vec2u {
  let low = value.x + 0x7f4a7c15u;
  var z = vec2u(low, value.y + 0x9e3779b9u + select(0u, 1u, low < 0x7f4a7c15u));
  z = product(xor_shifted(z, 30u), vec2u(0x1ce4e5b9u, 0xbf58476du));
  z = product(xor_shifted(z, 27u), vec2u(0x133111ebu, 0x94d049bbu));
  return xor_shifted(z, 31u);
}

// The strand's own part of the phases of the three waves, in 2^-32 of a turn: at most 0.05 of a turn.
fn phases_of(seed: u32, strand_number: u32) -> vec3u {
  let random = mixed(vec2u(strand_number, seed));
  let bits = vec3u(random.x & 0xffffu, random.x >> 16u, random.y & 0xffffu);
  return (bits - vec3u(32768u)) * 6554u;
}

// Sine of an angle in 2^-32 of a turn: the middle of the turn is at zero, where sines are most exact.
fn wave(turn: u32) -> f32 {
  return -sin(f32(bitcast<i32>(turn + 0x80000000u)) * 1.4629181e-9);
}

// What waves are late by at a place, in 2^-32 of a turn; exact to 2^-24, as far as single precision goes.
fn late_at(place: vec3f, u: Uniforms) -> vec3u {
  let hz = vec3f(u.whole.xyz) + vec3f(u.part.xyz) * 2.3283064e-10;
  return vec3u(fract(hz * dot(u.air.xyz, place)) * 16777216.0) << vec3u(8u);
}

// Acceleration in a step of the run.
fn wind_in(step: u32, phases: vec3u, along: vec4f, sideways: vec3f) -> vec3f {
  let turns = read_moment(1u + step).xyz + phases;
  let strength = 1.0 + along.w * (0.65 * wave(turns.x) + 0.35 * wave(turns.y));
  return along.xyz * strength + sideways * (along.w * 0.3 * wave(turns.z));
}
