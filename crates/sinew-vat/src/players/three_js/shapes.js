
// Pieces that move without bending: the mesh is the first frame, texture coordinates `vatUv` point at the texel of the vertex' piece there, and
// the position in that texel is the piece's pivot.
function piecesCode(manifest) {
  const { layout, textures, can_blend } = manifest;
  const { columns, across, frameRows } = layoutNumbers(layout);
  const isInTwo = (quantity) => textures.find((t) => t.quantity === quantity).files.length === 2;
  const fine = isInTwo('rotation') ? '\n  stored += 0.01 * texelFetch(vatRotationFineTexture, vatTexel(frame), 0);' : '';
  const blend = can_blend ? `
  if (weight > 0.0) {
    // Both signs are the same rotation; the nearer one is the shorter way.
    vec4 next = vatRotationIn(frames.y);
    next = dot(rotation, next) < 0.0 ? -next : next;
    rotation += (next - rotation) * weight;
  }` : '';
  return `${frameCode(manifest)}
attribute vec2 vatUv;

ivec2 vatTexel(int frame) {
  return ivec2(vatUv * vec2(${layout.size[0]}.0, ${layout.size[1]}.0)) + ivec2((frame % ${across}) * ${columns}, (frame / ${across}) * ${frameRows});
}
${readingCode('Place', isInTwo('position'), can_blend)}
uniform highp sampler2D vatRotationTexture;
${fine && 'uniform highp sampler2D vatRotationFineTexture;'}
uniform vec4 vatRotationScale;
uniform vec4 vatRotationOffset;

vec4 vatRotationIn(int frame) {
  vec4 stored = texelFetch(vatRotationTexture, vatTexel(frame), 0);${fine}
  return stored * vatRotationScale + vatRotationOffset;
}

vec4 vatRotation() {
  ivec2 frames;
  float weight;
  vatFrame(frames, weight);
  vec4 rotation = vatRotationIn(frames.x);${blend}
  return dot(rotation, rotation) > 1e-12 ? normalize(rotation) : vec4(0.0, 0.0, 0.0, 1.0);
}

vec3 vatTurn(vec4 rotation, vec3 v) {
  return v + 2.0 * cross(rotation.xyz, cross(rotation.xyz, v) + rotation.w * v);
}

vec3 vatPosition(vec3 carrier) {
  return vatPlace() + vatTurn(vatRotation(), carrier - vatPlaceIn(0));
}

vec3 vatNormal(vec3 carrier) {
  return vatTurn(vatRotation(), carrier);
}
`;
}

// Particles: a square for each, vertices 4 * particle + corner, counter-clockwise from the lower left one, turned to the camera.
function spritesCode(manifest) {
  const { layout, textures, can_blend } = manifest;
  const { columns, across, frameRows, lineRows } = layoutNumbers(layout);
  const isInTwo = (quantity) => textures.find((t) => t.quantity === quantity).files.length === 2;
  return `${frameCode(manifest)}
ivec2 vatTexel(int frame) {
  int particle = gl_VertexID / 4;
  return ivec2((frame % ${across}) * ${columns} + particle % ${columns}, (frame / ${across}) * ${frameRows} + (particle / ${columns}) * ${lineRows});
}
${readingCode('Place', isInTwo('position'), can_blend)}
${readingCode('Size', isInTwo('size'), can_blend)}
// The camera's axes in the space of the mesh: rows of a turned and evenly scaled matrix.
mat3 vatAxes() {
  mat4 view = modelViewMatrix;
#ifdef USE_INSTANCING
  view = view * instanceMatrix;
#endif
  mat3 rows = transpose(mat3(view));
  return mat3(normalize(rows[0]), normalize(rows[1]), normalize(rows[2]));
}

vec3 vatPosition(vec3 carrier) {
  int corner = gl_VertexID % 4;
  vec2 fromMiddle = vec2(corner == 1 || corner == 2 ? 0.5 : -0.5, corner >= 2 ? 0.5 : -0.5) * vatSize().x;
  mat3 axes = vatAxes();
  return vatPlace() + axes[0] * fromMiddle.x + axes[1] * fromMiddle.y;
}

vec3 vatNormal(vec3 carrier) {
  return vatAxes()[2];
}
`;
}
