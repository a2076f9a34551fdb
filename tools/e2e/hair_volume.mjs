// Limp hair of docs/hair.md, without volume and with two of them:
//
//   SINEW=target/release/sinew node tools/e2e/hair_volume.mjs -o PICTURE

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const picture = resolve(process.argv[process.argv.indexOf('-o') + 1]);
const program = resolve(process.env.SINEW ?? 'target/release/sinew');
const folder = mkdtempSync(join(tmpdir(), 'volume-'));
const sinew = (line) => execFileSync(program, [...line.split(' '), '--quiet', '--force'], { cwd: folder, stdio: 'inherit' });
try {
  copyFileSync('docs/hair/limp.json', join(folder, 'limp.json'));
  const shape = '--length 0.2 --vertices 16 --curl 0.005 --curl-length 0.1 --lean 10';
  sinew(`hair grow sample:head --density scalp --count 900 ${shape} -o limp.tfx`);
  const view = '--frames 0 --size 300x330';
  sinew(`render sample:head --graph limp.json --compare volume=0,volume=1,volume=5 ${view} -o ${picture}`);
} finally {
  rmSync(folder, { recursive: true });
}
