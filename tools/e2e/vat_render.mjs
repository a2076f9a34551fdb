// Bakes a sequence, plays it with three.js in a headless browser, and compares outlines with those of `sinew render`, from the same camera.
//
//   SINEW=target/release/sinew NODE_PATH=.../node_modules node tools/e2e/vat_render.mjs SEQUENCE [--mode MODE] [--up z] [--frame F] [-o PICTURE]
//
// SEQUENCE is a folder of numbered frames or a pattern. Whole frames are held against the frames of the sequence, so that nothing of a bake is on
// that side (`sinew render` turns no sequence: with --up z they are not); in-betweens, and frames where blending is off, against the node
// `vat_playback`. What is wrong on purpose must be found out.
// PICTURE shows one moment (F, 2.5 is halfway between the third frame and the fourth; without it the middle one): to the left the page as the
// browser shows it, to the right what `sinew render` draws.
//
// Needs what vat_browser.mjs needs, and the program.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PNG, inBrowserOn, report } from './vat/browser.mjs';

const SIDE = 480;
const FOV = 40; // That of the page.
// Directions from the middle of the box, in its longest sides.
const EYES = [[0.9, 0.7, 1.6], [-1.7, 0.3, 0.6]];
const EYE_OF_PICTURE = [1, 0.8, 1.9];
// `sinew render` draws so many times as many pixels, of which the middle one counts: browsers look at the middle of a pixel.
const FINER = 5;
// Of the pixels at outlines, how many may be on the other side: a pixel that is drawn is a fifth of one wide.
const ALLOWED = 0.05;
// Of the pixels that are covered, how many may be wrong elsewhere: where parts of the surface are thinner than a pixel.
const ALLOWED_ELSEWHERE = 0.0001;

const { values: options, positionals: [sequence] } = parseArgs({
  allowPositionals: true,
  options: { mode: { type: 'string', default: 'auto' }, up: { type: 'string', default: 'y' }, frame: { type: 'string' }, output: { type: 'string', short: 'o' } },
});
if (!sequence) {
  console.error(`usage: ${process.argv[1]} SEQUENCE [--mode MODE] [--up z] [--frame F] [-o PICTURE]`);
  process.exit(2);
}
const program = resolve(process.env.SINEW ?? 'target/release/sinew');
const sinew = (...words) => execFileSync(program, [...words, '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'] });

const work = mkdtempSync(join(tmpdir(), 'vat-render-'));
const bake = bakeOf(join(work, 'bake'));
const numbers = numbersOf(sequence);

function bakeOf(folder) {
  sinew('bake', 'vat', sequence, '--mode', options.mode, '--up', options.up, '-o', folder);
  const file = readdirSync(folder).find((name) => name.endsWith('.vat.json'));
  const manifest = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const graph = {
    sinew: '1.0',
    inputs: { body: { type: 'mesh' }, bake: { type: 'vertex_animation', file: join(folder, file) } },
    parameters: { blend: { type: 'bool', default: true } },
    nodes: { play: { node: 'vat_playback', mesh: 'body', animation: 'bake', blend: '$blend' } },
    outputs: { body: 'play' },
  };
  writeFileSync(join(work, 'play.json'), JSON.stringify(graph));
  return { folder, manifest, carrier: join(folder, manifest.carrier), graph: join(work, 'play.json') };
}

// Numbers of the frames of a sequence, as files have them.
function numbersOf(path) {
  const folder = path.includes('#') ? join(path, '..') : path;
  const found = readdirSync(folder).map((name) => /(\d+)\.(obj|ply)$/.exec(name)).filter(Boolean);
  return found.map((f) => Number(f[1])).sort((a, b) => a - b);
}

const [low, high] = bake.manifest.bounds;
const middle = low.map((l, k) => (l + high[k]) / 2);
const longest = Math.max(...low.map((l, k) => high[k] - l));
const eyeAt = (direction) => direction.map((d, k) => middle[k] + d * longest);

// What `sinew render` draws: of the sequence itself, or of the bake.
function rendered(shot, side, ...more) {
  const file = join(work, 'rendered.png');
  const rate = bake.manifest.clips[0].frames_per_second;
  const what = shot.ofSequence
    ? [sequence, '--frames', String(numbers[shot.frame])]
    // A clip of twice as many frames a second has the in-betweens.
    : [bake.carrier, '--graph', bake.graph, '--set', `blend=${shot.blend !== false}`, '--fps', String(2 * rate), '--frames', String(2 * shot.frame)];
  sinew('render', ...what, `--eye=${shot.eye.join(',')}`, `--target=${middle.join(',')}`, '--fov', String(shot.fov ?? FOV), '--size', `${side}x${side}`, '--no-ground', ...more, '-o', file);
  return PNG.sync.read(readFileSync(file)).data;
}

const outlineRendered = (shot) => {
  const pixels = rendered(shot, SIDE * FINER, '--background', 'transparent', '--no-shadows', '--no-occlusion');
  const middleOf = (i) => Math.floor(i * FINER + FINER / 2);
  return Uint8Array.from({ length: SIDE * SIDE }, (_, i) => pixels[4 * (middleOf(Math.floor(i / SIDE)) * SIDE * FINER + middleOf(i % SIDE)) + 3] >= 128);
};

// What the browser shows.
async function browsed({ page, base }, shot, more) {
  const name = encodeURIComponent(bake.manifest.name);
  const query = `frame=${shot.frame}&blend=${shot.blend === false ? 0 : 1}&camera=${shot.eye.join(',')}&${more}`;
  await page.goto(`${base}/${name}.html?three=/three&${query}`, { waitUntil: 'load' });
  await page.waitForFunction('window.sinewReady || window.sinewError', { timeout: 120000 });
  const error = await page.evaluate('window.sinewError');
  if (error) throw new Error(error);
  return PNG.sync.read(Buffer.from(await page.screenshot({ type: 'png' }))).data;
}

const outlineBrowsed = async (browser, shot) => {
  const pixels = await browsed(browser, shot, 'background=ff00ff&shade=normals&ground=0');
  const isBackground = (i) => pixels[4 * i] > 250 && pixels[4 * i + 1] < 5 && pixels[4 * i + 2] > 250;
  return Uint8Array.from({ length: SIDE * SIDE }, (_, i) => !isBackground(i));
};

// Pixels that one has and the other has not: at the outline of `wanted`, and elsewhere.
function compare(shown, wanted) {
  const count = { covered: 0, edge: 0, atEdge: 0, elsewhere: 0 };
  for (let y = 1; y < SIDE - 1; y++) {
    for (let x = 1; x < SIDE - 1; x++) {
      const at = y * SIDE + x;
      const isUniform = [-SIDE - 1, -SIDE, 1 - SIDE, -1, 1, SIDE - 1, SIDE, SIDE + 1].every((d) => wanted[at + d] === wanted[at]);
      count.covered += wanted[at];
      count.edge += wanted[at] && !isUniform;
      if (shown[at] !== wanted[at]) count[isUniform ? 'elsewhere' : 'atEdge'] += 1;
    }
  }
  const isGood = count.covered > 1000 && count.atEdge <= ALLOWED * count.edge && count.elsewhere <= ALLOWED_ELSEWHERE * count.covered;
  const share = (100 * count.atEdge / Math.max(count.edge, 1)).toFixed(2);
  return { isGood, text: `${count.covered} pixels, ${count.edge} at outlines, of which ${count.atEdge} (${share} %) differ, and ${count.elsewhere} elsewhere` };
}

const last = numbers.length - 1;
const half = Math.floor(last / 2) + 0.5;
const shots = [
  { frame: 0, ofSequence: true },
  { frame: Math.floor(last / 2), ofSequence: true },
  { frame: last, ofSequence: true },
  { frame: 0.5 },
  { frame: half },
  { frame: last - 0.5 },
  { frame: half, blend: false },
].map((shot, i) => ({ ...shot, ofSequence: shot.ofSequence && options.up === 'y', eye: eyeAt(EYES[i % EYES.length]) }));

const name = `${bake.manifest.name} (${bake.manifest.mode})`;
const wordsOf = (shot) => `frame ${shot.frame}${shot.blend === false ? ' without blending' : ''}, ${shot.ofSequence ? 'the sequence' : 'vat_playback'}`;

async function checkFaults(browser) {
  const blended = shots.find((s) => s.frame === half);
  const whole = shots[1];
  const faults = [
    [blended, { ...blended, blend: false }, 'stepping in place of blending'],
    [whole, { ...whole, frame: whole.frame + 1 }, 'the next frame'],
    [whole, { ...whole, fov: FOV * 1.02 }, 'a camera that sees 2 % more'],
    [whole, { ...whole, eye: whole.eye.map((c, k) => c + 0.01 * longest * (k === 1)) }, 'a camera that is 1 % aside'],
  ];
  for (const [shown, wanted, what] of faults) {
    const { isGood, text } = compare(await outlineBrowsed(browser, shown), outlineRendered(wanted));
    report(!isGood, `found out: ${name}, ${what}: ${text}`);
  }
}

async function savePicture(browser, file) {
  const shot = { frame: Number(options.frame ?? half), eye: eyeAt(EYE_OF_PICTURE) };
  const tiles = [await browsed(browser, shot, ''), rendered(shot, SIDE)];
  const picture = new PNG({ width: tiles.length * SIDE, height: SIDE });
  for (const [i, tile] of tiles.entries()) {
    for (let y = 0; y < SIDE; y++) picture.data.set(tile.subarray(y * SIDE * 4, (y + 1) * SIDE * 4), (y * tiles.length + i) * SIDE * 4);
  }
  writeFileSync(file, PNG.sync.write(picture));
}

async function checks(browser) {
  for (const shot of shots) {
    const { isGood, text } = compare(await outlineBrowsed(browser, shot), outlineRendered(shot));
    report(isGood, `three.js and sinew render: ${name}, ${wordsOf(shot)}: ${text}`);
  }
  await checkFaults(browser);
  if (options.output) await savePicture(browser, options.output);
}

const onMessage = (type, text) => { if (type === 'error') console.log(`       browser: ${text}`); };
try {
  await inBrowserOn(bake.folder, { width: SIDE, height: SIDE }, checks, { onMessage });
} finally {
  rmSync(work, { recursive: true });
}
