// A picture of a preset of `sinew hair grow`, for docs/hair.md: from the front and around, or frames of a head that shakes.
//
//   SINEW=target/release/sinew node tools/e2e/hair_preset.mjs PRESET [moving] -o PICTURE
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [preset, ...rest] = process.argv.slice(2);
const moving = rest[0] === 'moving';
const [option, picture] = moving ? rest.slice(1) : rest;
if (!preset || option !== '-o' || !picture) {
  console.error(`usage: ${process.argv[1]} PRESET [moving] -o PICTURE`);
  process.exit(2);
}
const program = resolve(process.env.SINEW ?? 'target/release/sinew');
const sinew = (...args) => execFileSync(program, [...args, '--quiet', '--force'], { stdio: 'inherit' });
const folder = mkdtempSync(join(tmpdir(), 'hair-preset-'));
const hair = join(folder, 'hair.glb');
const graph = join(folder, 'graph.json');
const nodes = {
  skin: { node: 'skin', mesh: 'body', pose: 'pose' },
  field: { node: 'sdf', mesh: 'skin', pose: 'pose', follow: 'head', cells: 100 },
  sim: { node: 'hair_sim', preset, strands: 'hair', pose: 'pose', colliders: ['field'], margins: [0.002] },
};
const inputs = { body: { type: 'mesh' }, pose: { type: 'pose' }, hair: { type: 'strands' } };
const around = '--frames 0 --turntable 4 --columns 4 --pitch 5';
const behind = `--graph ${graph} --device cpu --frames 0-40/8 --sheet --columns 6 --eye -0.9,0.42,-1.2 --target 0,0.19,0 --fov 19`;
try {
  writeFileSync(graph, JSON.stringify({ sinew: '1.0', inputs, nodes, outputs: { body: 'skin', hair: 'sim' } }));
  // Fewer strands move faster and look alike.
  sinew('hair', 'grow', 'sample:head', '--preset', preset, ...(moving ? ['--count', '4000'] : []), '-o', hair);
  const view = `${moving ? behind : around} --no-ground --size 240x280`;
  sinew('render', hair, ...view.split(' '), '-o', picture);
} finally {
  rmSync(folder, { recursive: true });
}
