// What the scripts that play bakes share: bakes, a server of their files, a browser without a window, a list of what was right.
//
// Chromium: Debian's package `chromium`, or another one by CHROMIUM=path. Packages of npm are found through NODE_PATH.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { SIDE } from './picture.mjs';

const require = createRequire(import.meta.url);
const { PNG } = require('pngjs');
const puppeteer = require('puppeteer-core').default ?? require('puppeteer-core');

const [folderArgument, picturesArgument] = process.argv.slice(2);
if (!folderArgument) {
  console.error(`usage: ${process.argv[1]} FOLDER [PICTURES]`);
  process.exit(2);
}
// The folder of bakes that the example player_bakes made, and where pictures go, if anywhere.
export const folder = folderArgument;

const all = readdirSync(folder).sort().map((name) => {
  const read = (file) => JSON.parse(readFileSync(join(folder, name, file), 'utf8'));
  return { name, manifest: read(`${name}.vat.json`), expected: read('expected.json') };
});

// Those for engines with the axes of glTF, and those for others.
const isOfGltf = (bake) => bake.manifest.space === 'y_up_right_handed';
export const bakes = all.filter(isOfGltf);
export const turnedBakes = all.filter((bake) => !isOfGltf(bake));

export const fileOf = (bake, ending) => join(folder, bake.name, `${bake.name}${ending}`);

// The folder of a package; some hide their own description, by which it is usually found.
export function packageFolder(name) {
  const found = require.resolve.paths(name).map((f) => join(f, name)).find((f) => existsSync(f));
  if (!found) throw new Error(`no package ${name} on NODE_PATH`);
  return found;
}

const counts = { passed: 0, failed: 0 };

export function report(isGood, text) {
  counts[isGood ? 'passed' : 'failed'] += 1;
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${text}`);
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' };

// Serves bakes, three.js under /three/, and what `own` has: path -> content. `change(path, bytes)` may alter what is on its way.
async function serve(own, change) {
  const answer = (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const file = path.startsWith('/three/') ? join(packageFolder('three'), path.slice(7)) : join(folder, path);
    try {
      const found = own(path) ?? readFileSync(file);
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' });
      response.end(change(path, found));
    } catch (error) {
      if (path !== '/favicon.ico') console.log(`       ${path}: ${error.message}`);
      response.writeHead(path === '/favicon.ico' ? 204 : 404).end();
    }
  };
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  return server;
}

// Runs `checks({ page, base })` in a browser, then says how many were right; that is the exit code, too.
export async function inBrowser(checks, { own = () => null, change = (_, bytes) => bytes, onMessage = () => {} } = {}) {
  if (picturesArgument) mkdirSync(picturesArgument, { recursive: true });
  const server = await serve(own, change);
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
      '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan', '--force-color-profile=srgb'],
  });
  try {
    const page = await browser.newPage();
    page.on('console', (message) => onMessage(message.type(), message.text()));
    page.on('pageerror', (error) => onMessage('error', error.message));
    await page.setViewport({ width: SIDE, height: SIDE });
    await checks({ page, base: `http://127.0.0.1:${server.address().port}` });
  } catch (error) {
    report(false, error.stack);
  } finally {
    await browser.close();
    server.close();
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
}

// The page as pixels (RGBA), also as a file of that name where pictures are wanted.
export async function pixelsOf(page, name) {
  const bytes = Buffer.from(await page.screenshot({ type: 'png' }));
  if (picturesArgument && name) writeFileSync(join(picturesArgument, `${name}.png`), bytes);
  return PNG.sync.read(bytes).data;
}

// Squares of pixels side by side, as a file where pictures are wanted.
export function savePicture(name, tiles) {
  if (!picturesArgument) return;
  const picture = new PNG({ width: tiles.length * SIDE, height: SIDE });
  tiles.forEach((tile, i) => {
    for (let y = 0; y < SIDE; y++) {
      const row = tile.subarray(y * SIDE * 4, (y + 1) * SIDE * 4);
      picture.data.set(row, (y * tiles.length + i) * SIDE * 4);
    }
  });
  writeFileSync(join(picturesArgument, `${name}.png`), PNG.sync.write(picture));
}

// Of numbers that a player gave (8 for each sample: position, a flag that must be 0, normal, another; then four for each attribute) against those of the crate.
// `unit`: how many units of the bake are a metre.
export function compareNumbers(samples, answers, unit = 1) {
  const distance = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
  const most = { place: 0, normal: 0, flags: 0, attributes: 0 };
  const count = samples[0]?.attributes?.length ?? 0;
  const stride = 8 + 4 * count;
  const raise = (key, value) => { most[key] = Number.isNaN(value) ? Infinity : Math.max(most[key], value); };
  samples.forEach((sample, i) => {
    const a = answers.slice(stride * i, stride * (i + 1));
    sample.attributes?.forEach((wanted, n) => raise('attributes', distance(a.slice(8 + 4 * n, 12 + 4 * n), wanted)));
    raise('place', distance(a.slice(0, 3), sample.position));
    raise('normal', distance(a.slice(4, 7), sample.normal));
    raise('flags', Math.abs(a[3]) + Math.abs(a[7]));
  });
  // Metres: rounding of a blend in single precision.
  const isGood = samples.length > 0 && answers.length === samples.length * stride && most.place < 3e-6 * unit && most.normal < 3e-5 && most.flags === 0 && most.attributes < 1e-5;
  const text = `${samples.length} samples, at most ${(most.place / unit).toExponential(1)} m and ${most.normal.toExponential(1)} of the normal off${count ? `; ${count} attributes, at most ${most.attributes.toExponential(1)} off` : ''}`;
  return { isGood, text };
}
