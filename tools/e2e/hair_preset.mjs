// A picture of a preset of `sinew hair grow`, for docs/hair.md: from the front and around.
//
//   SINEW=target/release/sinew node tools/e2e/hair_preset.mjs PRESET -o PICTURE
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [preset, option, picture] = process.argv.slice(2);
if (!preset || option !== '-o' || !picture) {
  console.error(`usage: ${process.argv[1]} PRESET -o PICTURE`);
  process.exit(2);
}
const program = resolve(process.env.SINEW ?? 'target/release/sinew');
const sinew = (...args) => execFileSync(program, [...args, '--quiet', '--force'], { stdio: 'inherit' });
const folder = mkdtempSync(join(tmpdir(), 'hair-preset-'));
const hair = join(folder, 'hair.glb');
try {
  sinew('hair', 'grow', 'sample:head', '--preset', preset, '-o', hair);
  const view = '--frames 0 --turntable 4 --columns 4 --pitch 5 --no-ground --size 240x280';
  sinew('render', hair, ...view.split(' '), '-o', picture);
} finally {
  rmSync(folder, { recursive: true });
}
