// Compiles and runs the HLSL players of bakes (Unity, Unreal): glslang makes SPIR-V of them, SPIRV-Cross makes GLSL of that, and a headless
// browser runs it as a vertex shader, for numbers that the crate computed.
//
//   SINEW_PLAYER_BAKES=FOLDER cargo test -p sinew-bake --lib player_bakes
//   NODE_PATH=.../node_modules node tools/e2e/vat_hlsl.mjs FOLDER
//
// Needs what vat_browser.mjs needs, and Debian's packages `glslang-tools` and `spirv-cross`. Microsoft's compilers are not in Debian; glslang
// reads the same language but for details. What the engines add stands in here in a few lines: Unity's texture of a shader graph, and its
// rows from the bottom.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bakes, compareNumbers, fileOf, inBrowser, report, turnedBakes } from './vat/common.mjs';
import { answersOfGlsl } from './vat/webgl.mjs';

const work = mkdtempSync(join(tmpdir(), 'vat_hlsl_'));

const repeated = (count, line) => Array.from({ length: count }, (_, n) => line(n)).join(' ');

// `ask` is clip, seconds, vertex and the number of its texel; `stray` of the answer must be 0.
const MAIN = (body, count = 0) => `
struct Answer { float4 clip : SV_Position; float4 place : TEXCOORD0; float4 normal : TEXCOORD1; ${repeated(count, (n) => `float4 attribute${n} : TEXCOORD${n + 2};`)} };
Answer main(float4 ask : TEXCOORD0, float3 carrier : TEXCOORD1, float2 uv : TEXCOORD2, float2 corner : TEXCOORD3)
{
    float3 resultPlace, resultNormal;
    float3 up = float3(0.0, 1.0, 0.0);
    float stray = 0.0;
    ${repeated(count, (n) => `float4 attribute${n} = float4(0.0, 0.0, 0.0, 0.0);`)}
${body}
    Answer answer;
    answer.clip = float4(0.0, 0.0, 0.0, 1.0);
    answer.place = float4(resultPlace, stray);
    answer.normal = float4(resultNormal, 0.0);
    ${repeated(count, (n) => `answer.attribute${n} = attribute${n};`)}
    return answer;
}
`;

// Of pieces and particles. Squares are drawn along axes that are none of the space; importers of Unity turn `v` round.
function variantsOfShapes(bake) {
  const isRigid = bake.manifest.mode === 'rigid';
  const names = (name, quantity) => (bake.manifest.textures.find((t) => t.quantity === quantity).files.length === 2 ? `${name}, ${name}Fine` : name);
  const places = names('place', 'position');
  const others = isRigid ? names('rotations', 'rotation') : names('sizes', 'size');
  const { all, count, more, outputs, given, read, turned: turnedBack, taken } = attributesIn(bake);
  const declared = (type) => [places, others, ...all.map((a) => a.textures)].join(', ').split(', ').map((name) => `${type} ${name};`).join(' ');
  const [unity, unreal] = ['.unity.hlsl', '.unreal.ush'].map((ending) => readFileSync(fileOf(bake, ending), 'utf8'));
  const turned = 'float2(uv.x, 1.0 - uv.y)';
  const right = 'float3(0.6, 0.0, 0.8)';
  const byHand = isRigid ? `
    resultPlace = VatPosition(${places}, ${others}, number, at, carrier);
    resultNormal = VatNormal(${others}, number, at, up);` : `
    resultPlace = VatPosition(${places}, ${others}, number, at, float2(corner.x, 1.0 - corner.y), ${right}, up);
    resultNormal = up;
    ${read((a) => `Vat${a.pascal}(${a.textures}, number, at)`)} ${turnedBack}`;
  const byGraph = isRigid ? `
    VatVertex_float(${places}, ${others}, ${turned}, ask.x, ask.y, carrier, up, resultPlace, resultNormal);` : `
    ${given}
    VatVertex_float(${places}, ${others}${more}, ${turned}, float2(corner.x, 1.0 - corner.y), ask.x, ask.y, ${right}, up, resultPlace${outputs});
    resultNormal = up;
    ${taken} ${turnedBack}`;
  const byNode = isRigid ? `
    resultPlace = carrier + VatOffset(${places}, ${others}, uv, ask.x, ask.y, carrier);
    resultNormal = VatNormalByUv(${others}, uv, ask.x, ask.y, up);` : `
    resultPlace = carrier + VatOffset(${places}, ${others}, uv, corner, ask.x, ask.y, ${right}, up, carrier);
    resultNormal = up;
    ${read((a) => `Vat${a.pascal}ByUv(${a.textures}, uv, ask.x, ask.y)`)}`;
  return [
    ['Unity, by hand', true, `#define VAT_WITHOUT_SHADER_GRAPH\n${unity}\n${declared('Texture2D<float4>')}${MAIN(`
    VatFrame at = VatFrameAt((uint)(ask.x + 0.5), ask.y);
    uint number = VatVertexByUv(${turned});${byHand}
    stray = abs((float)number - ask.w);`, count)}`],
    ['Unity, shader graph', true, `struct UnityTexture2D { Texture2D<float4> tex; };\n${unity}\n${declared('UnityTexture2D')}${MAIN(byGraph, count)}`],
    ['Unreal', false, `${unreal}\n${declared('Texture2D')}${MAIN(byNode, count)}`],
  ];
}

// What functions of HLSL call textures beside places and normals.
function attributesOf({ manifest, expected }) {
  const names = expected.attributes ?? [];
  const others = manifest.textures.filter((t) => !['position', 'offset', 'normal', 'rotation', 'size'].includes(t.quantity));
  return names.map((name, n) => {
    const pascal = name.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
    const camel = pascal.slice(0, 1).toLowerCase() + pascal.slice(1);
    const { ranges, files, quantity } = others[n];
    return {
      pascal,
      textures: files.length === 2 ? `${camel}, ${camel}Fine` : camel,
      channels: 'xyzw'.slice(0, ranges.length),
      type: ['float', 'float2', 'float3', 'float4'][ranges.length - 1],
      isUv: quantity.uv !== undefined,
    };
  });
}

// HLSL that asks for them: their textures as arguments, the shader graph's outputs and what is taken from them, a call for each.
function attributesIn(bake) {
  const all = attributesOf(bake);
  const count = all.length;
  const each = (line) => repeated(count, (n) => line(`attribute${n}.${all[n].channels}`, all[n], n));
  return {
    all,
    count,
    more: all.map((a) => `, ${a.textures}`).join(''),
    outputs: all.map((_, n) => `, given${n}`).join(''),
    given: each((_, a, n) => `${a.type} given${n};`),
    taken: each((to, _, n) => `${to} = given${n};`),
    read: (call) => each((to, a) => `${to} = ${call(a)};`),
    // Unity's v goes up.
    turned: each((_, a, n) => (a.isUv ? `attribute${n}.y = 1.0 - attribute${n}.y;` : '')),
  };
}

function variants(bake) {
  if (['rigid', 'particles'].includes(bake.manifest.mode)) return variantsOfShapes(bake);
  const isTwo = (isNormal) => bake.manifest.textures.find((t) => (isNormal ? ['normal'] : ['position', 'offset']).includes(t.quantity)).files.length === 2;
  const lookup = bake.manifest.lookup ? 'lookup, ' : '';
  const places = lookup + (isTwo(false) ? 'place, placeFine' : 'place');
  const normals = lookup + (isTwo(true) ? 'normals, normalsFine' : 'normals');
  const ofGraph = `${places}, ${normals.slice(lookup.length)}`;
  const { all, count, more, outputs, given, read, turned, taken } = attributesIn(bake);
  const declared = (type) => [ofGraph, ...all.map((a) => a.textures)].join(', ').split(', ').map((name) => `${type} ${name};`).join(' ');
  const [unity, unreal] = ['.unity.hlsl', '.unreal.ush'].map((ending) => readFileSync(fileOf(bake, ending), 'utf8'));
  return [
    ['Unity, by hand', true, `#define VAT_WITHOUT_SHADER_GRAPH\n${unity}\n${declared('Texture2D<float4>')}${MAIN(`
    VatFrame at = VatFrameAt((uint)(ask.x + 0.5), ask.y);
    uint vertex = (uint)(ask.z + 0.5);
    resultPlace = VatPosition(${places}, vertex, at, carrier);
    resultNormal = VatNormal(${normals}, vertex, at, up);
    ${read((a) => `Vat${a.pascal}(${lookup}${a.textures}, vertex, at)`)} ${turned}
    stray = abs((float)VatVertexByUv(float2(uv.x, 1.0 - uv.y)) - ask.z);`, count)}`],
    ['Unity, shader graph', true, `struct UnityTexture2D { Texture2D<float4> tex; };\n${unity}\n${declared('UnityTexture2D')}${MAIN(`
    ${given}
    VatVertex_float(${ofGraph}${more}, ask.z, ask.x, ask.y, carrier, up, resultPlace, resultNormal${outputs});
    ${taken} ${turned}`, count)}`],
    ['Unreal', false, `${unreal}\n${declared('Texture2D')}${MAIN(`
    resultPlace = carrier + VatOffset(${places}, uv, ask.x, ask.y, carrier);
    resultNormal = VatNormalByUv(${normals}, uv, ask.x, ask.y, up);
    ${read((a) => `Vat${a.pascal}ByUv(${lookup}${a.textures}, uv, ask.x, ask.y)`)}`, count)}`],
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

// What engines make of a place of glTF, as their manuals say; of Unreal in centimetres.
const ENGINES = {
  y_up_left_handed: { name: 'Unity', unit: 1, place: ([x, y, z]) => [-x, y, z] },
  z_up_left_handed_centimeters: { name: 'Unreal', unit: 100, place: ([x, y, z]) => [100 * x, 100 * z, 100 * y] },
};

// How far answers of a bake in the axes of an engine are from the closed form of its motion, metres. Squares are drawn along the axes that the shader has.
function compareTruth(samples, answers, { unit, place }) {
  const stride = answers.length / samples.length;
  const known = samples.map((sample, i) => ({ ...sample, seen: answers.slice(stride * i, stride * i + 3) })).filter((s) => s.truth);
  const far = known.map(({ truth, seen, corner: [u, v] }) => {
    const width = (truth.width ?? 0) * unit;
    const [right, up] = [(u - 0.5) * width, (0.5 - v) * width];
    const expected = place(truth.place).map((c, k) => c + [0.6, 0, 0.8][k] * right + [0, 1, 0][k] * up);
    return Math.hypot(...expected.map((c, k) => c - seen[k])) / unit;
  });
  const most = Math.max(...far);
  // Codes of 16 bits of some metres, and of a quaternion; two times 8 bits are coarser.
  return { isGood: known.length > 0 && most < 5e-4, text: `${known.length} samples, at most ${most.toExponential(1)} m from the closed form` };
}

async function checks({ page, base }) {
  await page.goto(`${base}/${bakes[0].name}/${bakes[0].name}.html?three=/three&frame=0`);
  // Bakes of the program itself come with pictures to expect, and without numbers.
  for (const bake of [...bakes, ...turnedBakes].filter((b) => b.expected.samples.length > 0)) {
    const engine = ENGINES[bake.manifest.space];
    for (const [name, isFromBottom, hlsl] of variants(bake)) {
      if (engine && !name.startsWith(engine.name)) continue;
      const module = `${base}/${bake.name}/${bake.name}.three.js`;
      const { samples } = bake.expected;
      const answers = await page.evaluate(answersOfGlsl, module, glslOf(hlsl), samples, isFromBottom, bake.expected.attributes ?? []);
      if (typeof answers === 'string') throw new Error(`${name} ${bake.name}: ${answers}`);
      const { isGood, text } = compareNumbers(samples, answers, engine?.unit);
      report(isGood, `${name} ${bake.name}: ${text}`);
      if (engine) {
        const truth = compareTruth(samples, answers, engine);
        report(truth.isGood, `${name} ${bake.name}: ${truth.text}`);
      }
    }
  }
}

// The module of three.js, which reads the textures here, refuses bakes in other axes: it is told that these are in its own.
const change = (path, bytes) => (path.endsWith('.vat.json') ? Buffer.from(String(bytes).replace(/"space":\s*"\w+"/, '"space": "y_up_right_handed"')) : bytes);

await inBrowser(checks, { change });
rmSync(work, { recursive: true });
