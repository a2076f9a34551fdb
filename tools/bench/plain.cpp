// The loops that anybody would write first, as a yardstick for the benchmarks: single precision, no intrinsics, as
// the compiler makes them at -O3 -march=native. Normals are neither corrected for stretch nor normalised.

#include <cstddef>
#include <cstdint>

// Linear skinning with four influences. `palette` holds 12 numbers a joint, row by row; `normals` may be null.
extern "C" void plain_skin(
    size_t count, const float* positions, const float* normals, const uint16_t* joints, const float* weights,
    const float* palette, float* out_positions, float* out_normals) {
  for (size_t v = 0; v < count; v++) {
    float m[12] = {};
    for (int k = 0; k < 4; k++) {
      const float w = weights[4 * v + k];
      const float* joint = palette + 12 * joints[4 * v + k];
      for (int e = 0; e < 12; e++) m[e] += w * joint[e];
    }
    const float *p = positions + 3 * v;
    const float x = p[0], y = p[1], z = p[2];
    for (int r = 0; r < 3; r++) out_positions[3 * v + r] = m[4 * r] * x + m[4 * r + 1] * y + m[4 * r + 2] * z + m[4 * r + 3];
    if (normals) {
      const float *n = normals + 3 * v;
      const float u = n[0], s = n[1], t = n[2];
      for (int r = 0; r < 3; r++) out_normals[3 * v + r] = m[4 * r] * u + m[4 * r + 1] * s + m[4 * r + 2] * t;
    }
  }
}

// One pass of uniform smoothing with step 0.5. The neighbours of vertex v are
// neighbours[offsets[v]] .. neighbours[offsets[v + 1] - 1].
extern "C" void plain_smooth(
    size_t count, const uint32_t* offsets, const uint32_t* neighbours, const float* __restrict in,
    float* __restrict out) {
  for (size_t v = 0; v < count; v++) {
    float x = 0, y = 0, z = 0;
    const uint32_t begin = offsets[v], end = offsets[v + 1];
    for (uint32_t e = begin; e < end; e++) {
      const float* n = in + 3 * size_t(neighbours[e]);
      x += n[0];
      y += n[1];
      z += n[2];
    }
    const float k = 0.5f / float(end - begin);
    out[3 * v] = 0.5f * in[3 * v] + k * x;
    out[3 * v + 1] = 0.5f * in[3 * v + 1] + k * y;
    out[3 * v + 2] = 0.5f * in[3 * v + 2] + k * z;
  }
}

// Reads and writes positions: the least that moving points costs.
extern "C" void plain_copy(size_t count, const float* __restrict in, float* __restrict out, float factor) {
  for (size_t i = 0; i < 3 * count; i++) out[i] = in[i] * factor;
}
