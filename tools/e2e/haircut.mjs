// The haircut of docs/hair.md, from a bare head to a picture:
//
//   SINEW=target/release/sinew node tools/e2e/haircut.mjs CHARACTER -o PICTURE
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [character, option, picture] = process.argv.slice(2);
if (!character || option !== '-o' || !picture) {
  console.error(`usage: ${process.argv[1]} CHARACTER -o PICTURE`);
  process.exit(2);
}
const program = resolve(process.env.SINEW ?? 'target/release/sinew');
const sinew = (...args) => execFileSync(program, [...args, '--quiet', '--force'], { stdio: 'inherit' });
const folder = mkdtempSync(join(tmpdir(), 'haircut-'));
const [back, hair] = ['back.glb', 'hair.glb'].map(name => join(folder, name));
const strands = '--graph docs/hair/scalp.json --vertices 12 --clearance 0.003 --lean 12 --curl 0.002 --curl-length 0.05 --length-variation 0.5';
const grow = (from, options, to) => sinew('hair', 'grow', from, ...`${strands} ${options}`.split(' '), '-o', to);
try {
  grow(character, '--mask back --count 2500 --length 0.045 --comb 0,-1,-0.2', back);
  grow(back, '--mask front --count 1800 --length 0.06 --comb 0.35,-0.45,0.8 --seed 1', hair);
  const view = '--eye 0.3,1.70,0.55 --target 0,1.65,0.045 --fov 27 --size 600x600';
  sinew('render', hair, '--graph', 'docs/hair/haircut.json', '--frames', '0', ...view.split(' '), '-o', picture);
} finally {
  rmSync(folder, { recursive: true });
}
