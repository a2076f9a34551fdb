// Plays bakes in a headless browser and compares what it draws with the frames that were baked.
//
//   cargo run -p sinew-vat --example player_bakes FOLDER
//   NODE_PATH=.../node_modules node tools/e2e/vat_browser.mjs FOLDER [PICTURES]
//
// Needs: Chromium (Debian: `apt-get install chromium`; another one by CHROMIUM=path), and of npm
//   three@0.187.0 puppeteer-core@25.16.0 pngjs@7.0.0
// found through NODE_PATH. No graphics card: WebGL and WebGPU run in software.
//
// Three checks a bake: the page of three.js against silhouettes and normals of the true frames, which this script draws itself; the
// WGSL module, run by WebGPU, against numbers that the crate computed; and players broken on purpose, which must be found out.

import { readFileSync, readdirSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize, dirname } from 'node:path';
import { draw, compare, SIDE } from './vat_picture.mjs';
import { answersOfWgsl } from './vat_webgpu.mjs';

const require = createRequire(import.meta.url);
const { PNG } = require('pngjs');
const puppeteer = require('puppeteer-core').default ?? require('puppeteer-core');
const threeFolder = dirname(dirname(require.resolve('three')));

// What is broken in the player, and a shot of a bake that must then fail.
const FAULTS = [
  ['drop_16', 'gl_VertexID %', '(gl_VertexID + 1) %', 'triangles of wrong corners'],
  ['drop_16', 'code / 65535', '(code >> 8) / 255', 'half of the bits lost', 'numbers'],
  ['drop_two_8', '(frame % ${across})', '(frame % ${across + 1})', 'blocks in a wrong order'],
  ['drop_two_8', '- 1.0)', '- 2.0)', 'clips that end too early'],
  ['blob_half', '(height - 1 - y)', 'y', 'rows from the bottom'],
  ['blob_half', 'value) * weight;', 'value) * 0.0;', 'no blending'],
  ['blob_half', "'carrier + vatPlace()'", "'vatPlace()'", 'offsets without the carrier'],
  ['blob_8', 'normalize(normal)', 'normalize(-normal)', 'normals inside out'],
];

const [folder, pictures] = process.argv.slice(2);
if (!folder) {
  console.error('usage: vat_browser.mjs FOLDER [PICTURES]');
  process.exit(2);
}
let failures = 0;
let passes = 0;
let fault = null;

function report(isGood, text) {
  if (isGood) passes += 1;
  else failures += 1;
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${text}`);
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json' };

// Files of the bakes, and of three.js under /three/; a fault is put into the player on its way.
function answer(request, response) {
  const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
  const file = path.startsWith('/three/') ? join(threeFolder, path.slice(7)) : join(folder, path);
  try {
    let bytes = readFileSync(file);
    if (fault && file.endsWith('.three.js')) {
      const text = bytes.toString();
      if (!text.includes(fault[1])) throw new Error(`the player has no "${fault[1]}"`);
      bytes = Buffer.from(text.replaceAll(fault[1], fault[2]));
    }
    response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Cache-Control': 'no-store' });
    response.end(bytes);
  } catch (error) {
    if (!path.endsWith('favicon.ico')) console.log(`       ${path}: ${error.message}`);
    response.writeHead(404).end();
  }
}

async function pictureOf(page, address, name) {
  await page.goto(address, { waitUntil: 'load' });
  await page.waitForFunction('window.sinewReady || window.sinewError', { timeout: 60000 });
  const error = await page.evaluate('window.sinewError');
  if (error) throw new Error(error);
  const bytes = Buffer.from(await page.screenshot({ type: 'png' }));
  if (pictures && name) writeFileSync(join(pictures, `${name}.png`), bytes);
  return PNG.sync.read(bytes);
}

async function checkShots(page, base, bake) {
  for (const [index, shot] of bake.expected.shots.entries()) {
    const query = `three=/three&background=ff00ff&shade=normals&camera=${shot.view}&${shot.query}`;
    const name = `${bake.name} ${shot.view} ${shot.query}`;
    const picture = await pictureOf(page, `${base}/${bake.name}/${bake.name}.html?${query}`, `${bake.name}_${index}`);
    const { isGood, text } = compare(picture.data, draw(shot.triangles, shot.view, bake.manifest.bounds));
    report(isGood, `${name}: ${text}`);
  }
}

async function checkFaults(page, base, bakes) {
  for (const one of FAULTS.filter((f) => f[4] !== 'numbers')) {
    const bake = bakes.find((b) => b.name === one[0]);
    fault = one;
    let isFound = false;
    for (const shot of bake.expected.shots) {
      const query = `three=/three&background=ff00ff&shade=normals&camera=${shot.view}&${shot.query}`;
      const picture = await pictureOf(page, `${base}/${bake.name}/${bake.name}.html?${query}`);
      isFound ||= !compare(picture.data, draw(shot.triangles, shot.view, bake.manifest.bounds)).isGood;
    }
    fault = null;
    report(isFound, `${bake.name} with ${one[3]} is found out`);
  }
}

async function checkWgsl(page, base, bake) {
  const samples = bake.expected.samples;
  const wgsl = readFileSync(join(folder, bake.name, `${bake.name}.wgsl`), 'utf8');
  const compareNumbers = async () => {
    await pictureOf(page, `${base}/${bake.name}/${bake.name}.html?three=/three&frame=0`);
    const answers = await page.evaluate(answersOfWgsl, `${base}/${bake.name}/${bake.name}.three.js`, bake.manifest, wgsl, samples);
    if (typeof answers === 'string') throw new Error(answers);
    const distance = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
    const errors = samples.map((s, i) => {
      const a = answers.slice(8 * i, 8 * i + 8);
      return { place: distance(a.slice(0, 3), s.position), normal: distance(a.slice(4, 7), s.normal), uv: a[7] };
    });
    const most = (k) => errors.reduce((m, e) => Math.max(m, Number.isNaN(e[k]) ? Infinity : e[k]), 0);
    // Metres: rounding of a blend in single precision.
    const isGood = most('place') < 3e-6 && most('normal') < 3e-5 && most('uv') === 0;
    return { isGood, text: `${samples.length} vertices, most ${most('place').toExponential(1)} m and ${most('normal').toExponential(1)} of the normal` };
  };
  const { isGood, text } = await compareNumbers();
  report(isGood, `${bake.name} WGSL: ${text}`);
  for (const one of FAULTS.filter((f) => f[4] === 'numbers' && f[0] === bake.name)) {
    fault = one;
    const found = await compareNumbers();
    fault = null;
    report(!found.isGood, `${bake.name} with ${one[3]} is found out`);
  }
}

// Instances play at their own moments: two columns of one picture differ as the frames do.
async function checkInstances(page, base, bake) {
  const at = (query) => pictureOf(page, `${base}/${bake.name}/${bake.name}.html?three=/three&background=ff00ff&camera=front&shade=normals&${query}`);
  const [same, apart, alone] = [await at('frame=0&instances=1&spread=0.5'), await at('frame=0&instances=1'), await at('frame=0')];
  const differs = (a, b) => a.data.some((v, i) => v !== b.data[i]);
  report(!differs(same, alone) && !differs(apart, alone), `${bake.name}: one instance is the mesh alone`);
  const [together, spread] = [await at('frame=0&instances=2&spread=0'), await at('frame=0&instances=2&spread=0.5')];
  report(differs(together, spread), `${bake.name}: instances play at their own moments`);
}

const bakes = readdirSync(folder).sort().map((name) => {
  const read = (file) => JSON.parse(readFileSync(join(folder, name, file), 'utf8'));
  return { name, manifest: read(`${name}.vat.json`), expected: read('expected.json') };
});
if (pictures) mkdirSync(pictures, { recursive: true });
const server = createServer(answer).listen(0, '127.0.0.1');
await new Promise((listening) => server.once('listening', listening));
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan', '--force-color-profile=srgb'],
});
try {
  const page = await browser.newPage();
  page.on('console', (message) => { if (message.type() === 'error' && !fault) console.log(`       browser: ${message.text()}`); });
  page.on('pageerror', (error) => console.log(`       page: ${error.message}`));
  await page.setViewport({ width: SIDE, height: SIDE });
  for (const bake of bakes) {
    await checkShots(page, base, bake);
    await checkWgsl(page, base, bake);
  }
  await checkInstances(page, base, bakes.find((b) => b.name === 'blob_half'));
  await checkFaults(page, base, bakes);
  if (pictures) {
    await page.setViewport({ width: 640, height: 400 });
    await pictureOf(page, `${base}/drop_16/drop_16.html?three=/three&time=0.8`, 'drop_16_perspective');
  }
} catch (error) {
  report(false, error.stack);
} finally {
  await browser.close();
  server.close();
}
console.log(`${passes} passed, ${failures} failed`);
process.exitCode = failures === 0 && passes > 0 ? 0 : 1;
