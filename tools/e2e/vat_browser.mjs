// Plays bakes in a headless browser and compares what it draws with the frames that were baked.
//
//   SINEW_PLAYER_BAKES=FOLDER cargo test -p sinew-bake --lib player_bakes
//   NODE_PATH=.../node_modules node tools/e2e/vat_browser.mjs FOLDER [PICTURES]
//
// Needs: Debian's package `chromium`, and of npm three@0.187.0 puppeteer-core@24.8.2 pngjs@7.0.0. No graphics card and no
// network: WebGL and WebGPU run in software.
//
// The page of three.js is held against silhouettes and normals of the true frames, which vat/picture.mjs draws; the WGSL module, run by
// WebGPU, against numbers that the crate computed; and players broken on purpose must be found out.

import { readFileSync } from 'node:fs';
import { bakes, compareNumbers, fileOf, inBrowser, pixelsOf, report, savePicture } from './vat/common.mjs';
import { compare, compareColors, draw } from './vat/picture.mjs';
import { glslOfGodot } from './vat/godot_glsl.mjs';
import { answersOfGlsl } from './vat/webgl.mjs';
import { answersOfWgsl } from './vat/webgpu.mjs';

// What is broken in the player of a bake, and in what its textures become; a shot must then fail.
const FAULTS = [
  ['drop_16', 'gl_VertexID %', '(gl_VertexID + 1) %', 'triangles of wrong corners'],
  ['drop_two_8', '(frame % ${across})', '(frame % ${across + 1})', 'blocks in a wrong order'],
  ['drop_two_8', '0.01 *', '1.01 *', 'the fine part as large as the coarse one'],
  ['drop_two_8', '- 1.0)', '- 2.0)', 'clips that end too early'],
  ['blob_half', '(height - 1 - y)', 'y', 'rows from the bottom'],
  ['blob_half', 'value) * weight;', 'value) * 0.0;', 'no blending'],
  ['blob_half', "'carrier + vatPlace()'", "'vatPlace()'", 'offsets without the carrier'],
  ['blob_8', 'normalize(normal)', 'normalize(-normal)', 'normals inside out'],
  ['boxes_16', 'carrier - vatPlaceIn(0)', 'carrier', 'pieces that turn around the origin'],
  ['boxes_16', 'dot(rotation, next) < 0.0', 'false', 'rotations that take the longer way'],
  ['boxes_two_8', 'return vatTurn(vatRotation(), carrier);', 'return carrier;', 'normals that do not turn'],
  ['boxes_two_8', 'vec4 stored = texelFetch(vatRotationTexture, vatTexel(frame), 0);', 'vec4 stored = texelFetch(vatRotationTexture, vatTexel(frame), 0).yxzw;', 'quaternions in a wrong order'],
  ['sparks_16', 'gl_VertexID / 4', 'gl_VertexID / 2', 'two particles in a square'],
  ['sparks_16', 'vatSize().x', '0.1', 'squares of one width'],
  ['sparks_two_8', 'axes[1] * fromMiddle.y', 'axes[2] * fromMiddle.y', 'squares that do not face the camera'],
  ['drop_points', '(codes.y << 8)', '(codes.y << 7)', 'half of a number of a point'],
  ['drop_points', "texel(points, 'point')", "texel(corners, 'point')", 'points where corners would be'],
  ['drop_points', 'codes.x |', '(codes.x + 1) |', 'the point behind the right one'],
  ['blob_points', 'value) * weight;', 'value) * 0.0;', 'no blending of points'],
];
// Too small to be seen, not for numbers.
const FAULTS_OF_NUMBERS = [
  ['drop_16', 'code / 65535', '(code >> 8) / 255', 'half of the bits lost'],
];
// Of colours and other attributes; the closed form must find them out.
const FAULTS_OF_ATTRIBUTES = [
  ['painted_blob', 'uniform ${type} vat${role}Scale;', 'const ${type} vat${role}Scale = ${type}(1.0);', 'attributes of a wrong scale'],
  ['painted_blob', 'texelFetch(vat${role}Texture, vatTexel(frame), 0)${channels};', 'texelFetch(vatNormalTexture, vatTexel(frame), 0)${channels};', 'attributes of a wrong texture'],
  ['painted_blob', '= vat${role}In(frames.x);${blend}${unit}', '= vat${role}In(frames.x);${unit}', 'attributes that are not blended'],
  ['painted_ends', 'vat${role}In(frames.y) - value', 'vat${role}In(frames.x + 2) - value', 'attributes blended to the next frame and not to the end'],
  ['painted_blob', '0.01 * texelFetch(vat${role}FineTexture, vatTexel(frame), 0)${channels}', '1.01 * texelFetch(vat${role}FineTexture, vatTexel(frame), 0)${channels}', 'the fine part of attributes as large as the coarse one'],
  ['painted_drop', 'vec4 vatShownColor = vatColor0();', 'vec4 vatShownColor = pow(vatColor0(), vec4(2.2));', 'colours taken for sRGB'],
  ['painted_drop', '#define color vatShownColor', '#define colour vatShownColor', 'colours of the mesh'],
  ['painted_drop', '#define uv vatShownUv', '#define uv_0 vatShownUv', 'texture coordinates of the mesh'],
  ['painted_drop', 'vVat${role} = vat${role}();', 'vVat${role} = vat${role}In(0);', 'attributes of the first frame'],
];
let fault = null;

function change(path, bytes) {
  if (!fault || !path.endsWith('.three.js')) return bytes;
  const text = bytes.toString();
  if (!text.includes(fault[1])) throw new Error(`the player has no "${fault[1]}"`);
  return text.replaceAll(fault[1], fault[2]);
}

// Of a bake's files, without their ending.
const addressOf = (base, { name }) => [base, name, name].map((part, i) => (i ? encodeURIComponent(part) : part)).join('/');

async function show({ page, base }, bake, query) {
  await page.goto(`${addressOf(base, bake)}.html?three=/three&${query}`, { waitUntil: 'load' });
  await page.waitForFunction('window.sinewReady || window.sinewError', { timeout: 60000 });
  const error = await page.evaluate('window.sinewError');
  if (error) throw new Error(error);
}

const FLAT = 'background=ff00ff&shade=normals';

async function compareShot(browser, bake, shot, name) {
  await show(browser, bake, `${FLAT}&camera=${shot.view}&${shot.query}`);
  return compare(await pixelsOf(browser.page, name), draw(shot.triangles, shot.view, bake.manifest.bounds), shot.allowed);
}

async function checkShots(browser, bake) {
  for (const [index, shot] of bake.expected.shots.entries()) {
    const { isGood, text } = await compareShot(browser, bake, shot, `${bake.name}_${index}`);
    report(isGood, `three.js ${bake.name} ${shot.view} ${shot.query}: ${text}`);
  }
}

// What is painted in closed form, at the places that pixels show.
async function compareField(browser, bake, shot, field, name) {
  await show(browser, bake, `background=ff00ff&shade=${field.name}&camera=${shot.view}&${shot.query}`);
  const at = (place) => ({ by_place, by_moment, constant }) => constant + by_moment * shot.moment + by_place.reduce((sum, b, k) => sum + b * place[k], 0);
  const shown = (place) => {
    const numbers = field.channels.map(at(place));
    return numbers.length === 1 ? [numbers[0], numbers[0], numbers[0]] : [...numbers, 0].slice(0, 3);
  };
  return compareColors(await pixelsOf(browser.page, name), draw(shot.triangles, shot.view, bake.manifest.bounds), shown);
}

async function checkFields(browser, bake) {
  for (const field of bake.expected.fields ?? []) {
    for (const [index, shot] of bake.expected.shots.entries()) {
      const { isGood, text } = await compareField(browser, bake, shot, field, `${bake.name}_${field.name}_${index}`);
      report(isGood, `three.js ${bake.name} ${field.name} ${shot.view} ${shot.query}: ${text}`);
    }
  }
}

async function areFieldsFoundOut(browser, bake) {
  for (const field of bake.expected.fields) {
    for (const shot of bake.expected.shots) {
      if (!(await compareField(browser, bake, shot, field)).isGood) return true;
    }
  }
  return false;
}

// The module finds names at run time that the other players have in their text.
async function checkNames(browser, bake) {
  await show(browser, bake, 'frame=0');
  const names = await browser.page.evaluate(async (module, manifest) => {
    const { attributesOf } = await import(module);
    return attributesOf(manifest).map((a) => a.name);
  }, `${addressOf(browser.base, bake)}.three.js`, bake.manifest);
  const wanted = bake.expected.attributes;
  report(JSON.stringify(names) === JSON.stringify(wanted), `three.js ${bake.name}: names ${names.join(', ')}`);
}

async function compareWgsl(browser, bake) {
  await show(browser, bake, 'frame=0');
  const { samples } = bake.expected;
  const wgsl = readFileSync(fileOf(bake, '.wgsl'), 'utf8');
  const module = `${addressOf(browser.base, bake)}.three.js`;
  const answers = await browser.page.evaluate(answersOfWgsl, module, bake.manifest, wgsl, samples, bake.expected.attributes ?? []);
  if (typeof answers === 'string') throw new Error(`${bake.name} WGSL: ${answers}`);
  return compareNumbers(samples, answers);
}

async function checkWgsl(browser, bake) {
  const { isGood, text } = await compareWgsl(browser, bake);
  report(isGood, `WGSL ${bake.name}: ${text}`);
}

// The vertex function of Godot's shader, without Godot.
async function compareGodot(browser, bake, change = (text) => text) {
  await show(browser, bake, 'frame=0');
  const { samples, attributes: names } = bake.expected;
  const others = bake.manifest.textures.filter((t) => !['position', 'offset', 'normal'].includes(t.quantity));
  const attributes = names.map((name, n) => ({ name, size: others[n].ranges.length, quantity: others[n].quantity }));
  const glsl = glslOfGodot(change(readFileSync(fileOf(bake, '.gdshader'), 'utf8')), attributes);
  const answers = await browser.page.evaluate(answersOfGlsl, `${addressOf(browser.base, bake)}.three.js`, glsl, samples, false, names);
  if (typeof answers === 'string') throw new Error(`${bake.name} Godot: ${answers}`);
  return compareNumbers(samples, answers);
}

async function checkGodot(browser, bake) {
  const { isGood, text } = await compareGodot(browser, bake);
  report(isGood, `Godot's vertex function ${bake.name}: ${text}`);
  for (const [from, to] of [['COLOR = color0_at', 'COLOR = tangent_at'], ['(color0_texture, texel', '(place_texture, texel'], ['* vec4(0.', '* vec4(1.']]) {
    const broken = (shader) => {
      if (!shader.includes(from)) throw new Error(`the shader has no "${from}"`);
      return shader.replace(from, to);
    };
    report(!(await compareGodot(browser, bake, broken)).isGood, `found out: ${bake.name} for Godot with "${to}"`);
  }
}

// Instances play at their own moments.
async function checkInstances(browser, bake) {
  const at = async (query) => {
    await show(browser, bake, `${FLAT}&camera=front&${query}`);
    return pixelsOf(browser.page);
  };
  const differs = (a, b) => a.some((v, i) => v !== b[i]);
  report(!differs(await at('frame=0&instances=1'), await at('frame=0')), `three.js ${bake.name}: one instance is the mesh alone`);
  // Two and a half frames.
  report(!differs(await at('frame=0&instances=1&ahead=0.3125'), await at('frame=2.5')), `three.js ${bake.name}: an instance plays at its own moment`);
  const [together, spread] = [await at('frame=0&instances=2&spread=0'), await at('frame=0&instances=2&spread=0.5')];
  report(differs(together, spread), `three.js ${bake.name}: two instances play at two moments`);
}

// Without a moment to show, the page plays.
async function checkPlaying(browser, bake) {
  await show(browser, bake, 'background=ff00ff');
  const first = await pixelsOf(browser.page);
  await new Promise((later) => setTimeout(later, 600));
  const second = await pixelsOf(browser.page);
  report(first.some((v, i) => v !== second[i]), `three.js ${bake.name}: the page plays by itself`);
}

async function isFoundOut(browser, bake) {
  for (const shot of bake.expected.shots) {
    if (!(await compareShot(browser, bake, shot)).isGood) return true;
  }
  return false;
}

async function checkFaults(browser) {
  const all = [...FAULTS.map((f) => [f, isFoundOut]), ...FAULTS_OF_ATTRIBUTES.map((f) => [f, areFieldsFoundOut]), ...FAULTS_OF_NUMBERS.map((f) => [f, async (b, bake) => !(await compareWgsl(b, bake)).isGood])];
  for (const [one, check] of all) {
    fault = one;
    const isFound = await check(browser, bakes.find((b) => b.name === one[0]));
    fault = null;
    report(isFound, `found out: ${one[0]} with ${one[3]}`);
  }
}

async function checks(browser) {
  for (const bake of bakes) {
    await checkShots(browser, bake);
    // What the program baked comes with pictures to expect, and without numbers.
    if (bake.expected.samples.length > 0) await checkWgsl(browser, bake);
    if (!bake.expected.fields?.length) continue;
    await checkNames(browser, bake);
    await checkFields(browser, bake);
    await checkGodot(browser, bake);
  }
  // Without the bakes of the crate there are shots only.
  if (!bakes.some((b) => b.name === 'blob_half')) return;
  await checkInstances(browser, bakes.find((b) => b.name === 'blob_half'));
  await checkPlaying(browser, bakes.find((b) => b.name === 'blob_half'));
  await checkFaults(browser);
  await drawForPeople(browser, bakes.find((b) => b.name === 'drop_16'));
}

// Moments side by side, for a look: vat_browser.png.
async function drawForPeople(browser, bake) {
  const tiles = [];
  for (const secs of [0, 0.5, 0.625, 1]) {
    await show(browser, bake, `camera=0.4,1.4,4.6&time=${secs}`);
    tiles.push(await pixelsOf(browser.page));
  }
  savePicture('vat_browser', tiles);
  const painted = bakes.find((b) => b.name === 'painted_ends');
  const shades = [];
  for (const shade of ['color0', 'uv0', 'attribute_heat']) {
    await show(browser, painted, `camera=front&frame=2.5&shade=${shade}`);
    shades.push(await pixelsOf(browser.page));
  }
  await show(browser, painted, 'camera=0.4,1.4,4.6&frame=2.5');
  savePicture('vat_browser_attributes', [...shades, await pixelsOf(browser.page)]);
}

const onMessage = (type, text) => { if (type === 'error') console.log(`       browser: ${text}`); };
await inBrowser(checks, { change, onMessage });
