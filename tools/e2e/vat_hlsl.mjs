// Compiles and runs the HLSL players of bakes (Unity, Unreal): glslang makes SPIR-V of them, SPIRV-Cross makes GLSL of that, and a headless
// browser runs it as a vertex shader, for numbers that the crate computed.
//
//   cargo run -p sinew-vat --example player_bakes FOLDER
//   NODE_PATH=.../node_modules node tools/e2e/vat_hlsl.mjs FOLDER
//
// Needs what vat_browser.mjs needs, and Debian's packages `glslang-tools` and `spirv-cross`. Microsoft's compilers are not in Debian; glslang
// reads the same language but for details. What the engines add stands in here in a few lines: Unity's texture of a shader graph, and its
// rows from the bottom.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bakes, compareNumbers, fileOf, inBrowser, report } from './vat/common.mjs';
import { answersOfGlsl } from './vat/webgl.mjs';

const work = mkdtempSync(join(tmpdir(), 'vat_hlsl_'));

// `ask` is clip, seconds, vertex and the number of its texel; `stray` of the answer must be 0.
const MAIN = (body) => `
struct Answer { float4 clip : SV_Position; float4 place : TEXCOORD0; float4 normal : TEXCOORD1; };
Answer main(float4 ask : TEXCOORD0, float3 carrier : TEXCOORD1, float2 uv : TEXCOORD2, float2 corner : TEXCOORD3)
{
    float3 resultPlace, resultNormal;
    float3 up = float3(0.0, 1.0, 0.0);
    float stray = 0.0;
${body}
    Answer answer;
    answer.clip = float4(0.0, 0.0, 0.0, 1.0);
    answer.place = float4(resultPlace, stray);
    answer.normal = float4(resultNormal, 0.0);
    return answer;
}
`;

// Of pieces and particles. Squares are drawn along axes that are none of the space; importers of Unity turn `v` round.
function variantsOfShapes(bake) {
  const isRigid = bake.manifest.mode === 'rigid';
  const names = (name, quantity) => (bake.manifest.textures.find((t) => t.quantity === quantity).files.length === 2 ? `${name}, ${name}Fine` : name);
  const places = names('place', 'position');
  const others = isRigid ? names('rotations', 'rotation') : names('sizes', 'size');
  const declared = (type) => `${places}, ${others}`.split(', ').map((name) => `${type} ${name};`).join(' ');
  const [unity, unreal] = ['.unity.hlsl', '.unreal.ush'].map((ending) => readFileSync(fileOf(bake, ending), 'utf8'));
  const turned = 'float2(uv.x, 1.0 - uv.y)';
  const right = 'float3(0.6, 0.0, 0.8)';
  const byHand = isRigid ? `
    resultPlace = VatPosition(${places}, ${others}, number, at, carrier);
    resultNormal = VatNormal(${others}, number, at, up);` : `
    resultPlace = VatPosition(${places}, ${others}, number, at, float2(corner.x, 1.0 - corner.y), ${right}, up);
    resultNormal = up;`;
  const byGraph = isRigid ? `
    VatVertex_float(${places}, ${others}, ${turned}, ask.x, ask.y, carrier, up, resultPlace, resultNormal);` : `
    VatVertex_float(${places}, ${others}, ${turned}, float2(corner.x, 1.0 - corner.y), ask.x, ask.y, ${right}, up, resultPlace);
    resultNormal = up;`;
  const byNode = isRigid ? `
    resultPlace = carrier + VatOffset(${places}, ${others}, uv, ask.x, ask.y, carrier);
    resultNormal = VatNormalByUv(${others}, uv, ask.x, ask.y, up);` : `
    resultPlace = carrier + VatOffset(${places}, ${others}, uv, corner, ask.x, ask.y, ${right}, up, carrier);
    resultNormal = up;`;
  return [
    ['Unity, by hand', true, `#define VAT_WITHOUT_SHADER_GRAPH\n${unity}\n${declared('Texture2D<float4>')}${MAIN(`
    VatFrame at = VatFrameAt((uint)(ask.x + 0.5), ask.y);
    uint number = VatVertexByUv(${turned});${byHand}
    stray = abs((float)number - ask.w);`)}`],
    ['Unity, shader graph', true, `struct UnityTexture2D { Texture2D<float4> tex; };\n${unity}\n${declared('UnityTexture2D')}${MAIN(byGraph)}`],
    ['Unreal', false, `${unreal}\n${declared('Texture2D')}${MAIN(byNode)}`],
  ];
}

function variants(bake) {
  if (['rigid', 'particles'].includes(bake.manifest.mode)) return variantsOfShapes(bake);
  const isTwo = (isNormal) => bake.manifest.textures.find((t) => (t.quantity === 'normal') === isNormal).files.length === 2;
  const lookup = bake.manifest.lookup ? 'lookup, ' : '';
  const places = lookup + (isTwo(false) ? 'place, placeFine' : 'place');
  const normals = lookup + (isTwo(true) ? 'normals, normalsFine' : 'normals');
  const ofGraph = `${places}, ${normals.slice(lookup.length)}`;
  const declared = (type) => ofGraph.split(', ').map((name) => `${type} ${name};`).join(' ');
  const [unity, unreal] = ['.unity.hlsl', '.unreal.ush'].map((ending) => readFileSync(fileOf(bake, ending), 'utf8'));
  return [
    ['Unity, by hand', true, `#define VAT_WITHOUT_SHADER_GRAPH\n${unity}\n${declared('Texture2D<float4>')}${MAIN(`
    VatFrame at = VatFrameAt((uint)(ask.x + 0.5), ask.y);
    uint vertex = (uint)(ask.z + 0.5);
    resultPlace = VatPosition(${places}, vertex, at, carrier);
    resultNormal = VatNormal(${normals}, vertex, at, up);
    stray = abs((float)VatVertexByUv(float2(uv.x, 1.0 - uv.y)) - ask.z);`)}`],
    ['Unity, shader graph', true, `struct UnityTexture2D { Texture2D<float4> tex; };\n${unity}\n${declared('UnityTexture2D')}${MAIN(`
    VatVertex_float(${ofGraph}, ask.z, ask.x, ask.y, carrier, up, resultPlace, resultNormal);`)}`],
    ['Unreal', false, `${unreal}\n${declared('Texture2D')}${MAIN(`
    resultPlace = carrier + VatOffset(${places}, uv, ask.x, ask.y, carrier);
    resultNormal = VatNormalByUv(${normals}, uv, ask.x, ask.y, up);`)}`],
  ];
}

function glslOf(hlsl) {
  const [source, binary] = [join(work, 'player.hlsl'), join(work, 'player.spv')];
  writeFileSync(source, hlsl);
  const run = (program, ...options) => execFileSync(program, options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    run('glslangValidator', '-D', '-V', '-S', 'vert', '-e', 'main', '--aml', '--amb', '--target-env', 'vulkan1.1', '-o', binary, source);
  } catch (error) {
    throw new Error(`glslang: ${error.stdout ?? error.message}`);
  }
  return run('spirv-cross', '--es', '--version', '300', binary);
}

async function checks({ page, base }) {
  await page.goto(`${base}/${bakes[0].name}/${bakes[0].name}.html?three=/three&frame=0`);
  for (const bake of bakes) {
    for (const [name, isFromBottom, hlsl] of variants(bake)) {
      const module = `${base}/${bake.name}/${bake.name}.three.js`;
      const { samples } = bake.expected;
      const answers = await page.evaluate(answersOfGlsl, module, glslOf(hlsl), samples, isFromBottom);
      if (typeof answers === 'string') throw new Error(`${name} ${bake.name}: ${answers}`);
      const { isGood, text } = compareNumbers(samples, answers);
      report(isGood, `${name} ${bake.name}: ${text}`);
    }
  }
}

await inBrowser(checks);
rmSync(work, { recursive: true });
