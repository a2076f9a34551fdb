// What the scripts that play bakes of a folder share: these bakes, pictures, comparisons of numbers.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG, inBrowserOn } from './browser.mjs';
import { SIDE } from './picture.mjs';

export { packageFolder, report } from './browser.mjs';

const [folderArgument, picturesArgument] = process.argv.slice(2);
if (!folderArgument) {
  console.error(`usage: ${process.argv[1]} FOLDER [PICTURES]`);
  process.exit(2);
}
// The folder of bakes that the test player_bakes wrote, and where pictures go, if anywhere.
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

// Runs checks in a browser on all of the folder.
export function inBrowser(checks, options) {
  if (picturesArgument) mkdirSync(picturesArgument, { recursive: true });
  return inBrowserOn(folder, { width: SIDE, height: SIDE }, checks, options);
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
