// Of textures beside places, normals, rotations and sizes: names as in the other players, of which nothing that is made of them is there twice.
export function attributesOf({ mode, textures }) {
  const taken = new Set();
  const found = [];
  for (const texture of mode === 'rigid' ? [] : textures) {
    const wanted = wantedName(texture.quantity);
    if (!wanted) continue;
    const name = freeName(wanted, taken);
    const role = name.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
    const size = texture.ranges.length;
    // The texture coordinates of a particle's square are those of the picture on it.
    const isShown = name === 'color0' || (name === 'uv0' && mode !== 'particles');
    found.push({ name, role, size, texture, isShown, isTangent: texture.quantity === 'tangent', type: ['float', 'vec2', 'vec3', 'vec4'][size - 1] });
  }
  return found;
}

function wantedName(quantity) {
  if (typeof quantity === 'string') return ['thickness', 'tangent'].includes(quantity) ? quantity : null;
  const [kind, which] = Object.entries(quantity)[0];
  if (kind === 'uv' || kind === 'color') return `${kind}${which}`;
  const words = which.split(/[^A-Za-z0-9]+/).filter((word) => word);
  return `${kind}_${words.join('_').slice(0, 48).replace(/_+$/, '') || 'unnamed'}`;
}

function freeName(wanted, taken) {
  const keys = (name) => ['', 'at', 'in', 'texture', 'fine', 'finetexture', 'scale', 'offset', 'byuv', 'graph'].map((behind) => name.replaceAll('_', '').toLowerCase() + behind);
  let name = wanted;
  for (let n = 2; keys(name).some((key) => taken.has(key)); n++) name = `${wanted}_${n}`;
  keys(name).forEach((key) => taken.add(key));
  return name;
}

// GLSL that reads them: `vatColor0()` and so on, and a varying for each that has no place in three.js.
function attributesCode(manifest) {
  return attributesOf(manifest).map((a) => attributeCode(a, manifest.can_blend)).join('');
}

function attributeCode({ role, type, size, texture, isShown, isTangent }, canBlend) {
  const isInTwo = texture.files.length === 2;
  const channels = `.${'xyzw'.slice(0, size)}`;
  const fine = isInTwo ? `\n  stored += 0.01 * texelFetch(vat${role}FineTexture, vatTexel(frame), 0)${channels};` : '';
  const blend = canBlend ? `\n  if (weight > 0.0) value += (vat${role}In(frames.y) - value) * weight;` : '';
  const unit = isTangent ? '\n  value = vec4(value.xyz * inversesqrt(max(dot(value.xyz, value.xyz), 1e-12)), value.w < 0.0 ? -1.0 : 1.0);' : '';
  return `
uniform highp sampler2D vat${role}Texture;
${isInTwo ? `uniform highp sampler2D vat${role}FineTexture;` : ''}
uniform ${type} vat${role}Scale;
uniform ${type} vat${role}Offset;
${isShown ? '' : `varying ${type} vVat${role};`}

${type} vat${role}In(int frame) {
  ${type} stored = texelFetch(vat${role}Texture, vatTexel(frame), 0)${channels};${fine}
  return stored * vat${role}Scale + vat${role}Offset;
}

${type} vat${role}() {
  ivec2 frames;
  float weight;
  vatFrame(frames, weight);
  ${type} value = vat${role}In(frames.x);${blend}${unit}
  return value;
}
`;
}

// Puts them into the vertex shader of a material: colours where those of the mesh would be, texture coordinates 0 likewise, all else into varyings.
function withAttributes(vertexShader, attributes) {
  let code = vertexShader;
  for (const { name, role, isShown } of attributes) {
    if (!isShown) {
      code = code.replace('#include <begin_vertex>', `#include <begin_vertex>\nvVat${role} = vat${role}();`);
    } else if (name === 'color0') {
      code = code.replace('#include <color_vertex>', 'vec4 vatShownColor = vatColor0();\n#define color vatShownColor\n#include <color_vertex>\n#undef color');
    } else {
      code = code.replace('#include <uv_vertex>', 'vec2 vatShownUv = vatUv0();\n#define uv vatShownUv\n#include <uv_vertex>\n#undef uv');
    }
  }
  return code;
}

