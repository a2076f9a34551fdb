// A frame as `device.rs` writes it. Its steps are of three sorts, one after another: full pieces of the pre-roll, its last piece, the frame's.
struct Uniforms {
  // Steps of each sort; 1 where the frame is a first one.
  steps: vec4u,
  // Time of a step of each sort in 2^-32 s; seed.
  fractions: vec4u,
  // Gust time at the beginning of a first frame: seconds, 2^-32 s; iterations; whether segments collide.
  begin: vec4u,
  // Of each sort: time of a step, drag, squared angles of global and local swings in a step.
  step_0: vec4f,
  step_1: vec4f,
  step_2: vec4f,
  // The same of steps in which strands come out of what they begin in.
  calm: vec4f,
  // Acceleration; dry drag.
  gravity: vec4f,
  // Acceleration; strength of gusts.
  wind: vec4f,
  // Across the wind, as long; global range.
  sideways: vec4f,
  // How many seconds later gusts come for each metre, along the wind; rotation of a teleport.
  air: vec4f,
  // Time of the frame; distance of a teleport; least share of its motion; separation of tips.
  roots: vec4f,
  // Frequencies of gusts: whole hertz; whether followers collide.
  whole: vec4u,
  // The rest of them in 2^-32 Hz; bits of how much further a root rotates until a teleport is one altogether.
  part: vec4u,
  // Steps of a run at most, of each sort; bits of how hard hair pushes itself apart, m/s^2.
  runs: vec4u,
  // Detail.
  shown: vec4f,
}
