// The vertex function of a shader for Godot as a vertex shader of WebGL 2: Godot's language is GLSL but for hints, and what the engine declares stands
// here. So numbers can be had without the engine; what it makes of `COLOR` and the others is for vat_godot.mjs.

const HEAD = `#version 300 es
precision highp float;
precision highp int;
in vec4 ask; // clip, seconds, vertex
in vec3 carrier;
vec3 VERTEX, NORMAL, TANGENT, BINORMAL;
vec4 COLOR, INSTANCE_CUSTOM;
vec2 UV;
float TIME;
int VERTEX_ID;
`;

// `attributes`: name, size and quantity of each texture beside places and normals.
export function glslOfGodot(shader, attributes) {
  const outputs = attributes.map((_, n) => `out vec4 attribute${n};`).join('\n');
  const answers = attributes.map((a, n) => `  attribute${n} = ${answerOf(a)};`).join('\n');
  return `${HEAD}out vec4 place;
out vec4 normal;
${outputs}
${withoutHints(shader)}
void main() {
  clip = int(ask.x + 0.5);
  TIME = ask.y;
  VERTEX_ID = int(ask.z + 0.5);
  VERTEX = carrier;
  NORMAL = vec3(0.0, 1.0, 0.0);
  vertex();
  place = vec4(VERTEX, 0.0);
  normal = vec4(NORMAL, 0.0);
${answers}
  gl_Position = vec4(0.0);
}
`;
}

function answerOf({ name, size, quantity }) {
  if (name === 'color0') return 'COLOR';
  if (name === 'uv0') return 'vec4(UV, 0.0, 0.0)';
  if (quantity === 'tangent') return 'vec4(TANGENT, dot(BINORMAL, cross(NORMAL, TANGENT)) < 0.0 ? -1.0 : 1.0)';
  return `vec4(${name}${', 0.0'.repeat(4 - size)})`;
}

function withoutHints(shader) {
  const camel = (name) => name.replace(/_+(.)/g, (_, letter) => letter.toUpperCase());
  return shader
    .replace('shader_type spatial;', '')
    .replace(/void fragment\(\) \{[^]*?\n\}/, '')
    .replace(/\b(\w+?)_texture\b/g, (_, name) => `${camel(name).replace(/^normal/, 'normals')}Sampler`)
    .replace(/^(uniform highp sampler2D \w+)[^;]*;/gm, '$1;')
    .replace(/^uniform (?!highp)(\w+ \w+)\s*(?::[^;=]*)?(=[^;]*)?;/gm, '$1 $2;')
    .replace(/^varying /gm, '');
}
