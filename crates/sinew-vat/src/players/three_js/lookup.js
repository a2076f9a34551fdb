// Points have texels, each once a frame. The lookup has a texel for each vertex, which is a corner of a triangle, in each frame: red, green and blue are the
// number of the point that the vertex shows, the lowest eight bits in red.
function lookupCode({ layout, lookup }) {
  const corners = layoutNumbers(layout);
  const points = layoutNumbers(lookup.points);
  const texel = ({ columns, across, frameRows, lineRows }, number) => `ivec2(
    (frame % ${across}) * ${columns} + ${number} % ${columns},
    (frame / ${across}) * ${frameRows} + (${number} / ${columns}) * ${lineRows})`;
  return `
uniform highp sampler2D vatLookupTexture;

ivec2 vatTexel(int frame) {
  ivec3 codes = ivec3(texelFetch(vatLookupTexture, ${texel(corners, 'gl_VertexID')}, 0).xyz * 255.0 + 0.5);
  int point = codes.x | (codes.y << 8) | (codes.z << 16);
  return ${texel(points, 'point')};
}
`;
}

