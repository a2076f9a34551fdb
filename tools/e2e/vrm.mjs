// Judges a rewritten VRM avatar with three-vrm.
//
//   vrm.mjs BASE.vrm AFTER.vrm FRAME.pc2 SECONDS NAME=WEIGHT...
//
// AFTER must have the humanoid bones and the expressions of BASE, by three-vrm's own reading. Then three.js plays the first clip of AFTER at
// SECONDS, three-vrm adds the expressions, and all vertices must be those of FRAME.pc2, which `sinew run --expression` has written, within
// 1e-5 of the size of the avatar. The expressions must move something. Exit status 1 otherwise. NODE_PATH names the folder of three.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [baseFile, afterFile, pointsFile, seconds, ...given] = process.argv.slice(2);
if (!given.length) {
  console.error('usage: vrm.mjs BASE.vrm AFTER.vrm FRAME.pc2 SECONDS NAME=WEIGHT...');
  process.exit(2);
}
// Imports do not look into NODE_PATH, `require` does. All must import one copy of three.
const { resolve } = createRequire(import.meta.url);
const load = (path) => import(pathToFileURL(path).href);
const beside = (name, file) => join(dirname(resolve(name)), file);
globalThis.self ??= globalThis;
// three-vrm says of every avatar of 0.x that it does not read one of its curves.
console.warn = () => {};
const THREE = await load(beside('three', 'three.module.js'));
const { GLTFLoader } = await load(resolve('three/addons/loaders/GLTFLoader.js'));
const { VRMLoaderPlugin } = await load(beside('@pixiv/three-vrm', 'three-vrm.module.js'));

async function open(file) {
  const bytes = readFileSync(file);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const loader = new GLTFLoader();
  loader.register((parser) => new VRMLoaderPlugin(parser));
  const gltf = await new Promise((done, failed) => loader.parse(data, '', done, failed));
  const { vrm } = gltf.userData;
  if (!vrm) throw new Error(`${file}: three-vrm finds no avatar`);
  const bones = Object.entries(vrm.humanoid.humanBones).map(([bone, { node }]) => `${bone}: ${node.name}`);
  const expressions = vrm.expressionManager.expressions.map((e) => e.expressionName);
  return { gltf, vrm, bones: bones.sort().join(', '), expressions: expressions.sort().join(', ') };
}

function positions(gltf) {
  gltf.scene.updateMatrixWorld(true);
  const out = [];
  gltf.scene.traverse((mesh) => {
    if (!mesh.isMesh) return;
    for (let v = 0; v < mesh.geometry.attributes.position.count; v++) {
      out.push(mesh.getVertexPosition(v, new THREE.Vector3()).applyMatrix4(mesh.matrixWorld));
    }
  });
  return out;
}

// The last sample of a PC2 file.
function points(file) {
  const bytes = readFileSync(file);
  const [count, samples] = [bytes.readInt32LE(16), bytes.readInt32LE(28)];
  const at = 32 + (samples - 1) * count * 12;
  const one = (v) => [0, 4, 8].map((c) => bytes.readFloatLE(at + v * 12 + c));
  return Array.from({ length: count }, (_, v) => new THREE.Vector3(...one(v)));
}

const largest = (a, b) => a.reduce((worst, p, v) => Math.max(worst, p.distanceTo(b[v])), 0);

const [base, after] = [await open(baseFile), await open(afterFile)];
const problems = [];
if (base.bones !== after.bones) problems.push(`bones: ${after.bones}, expected ${base.bones}`);
if (base.expressions !== after.expressions) {
  problems.push(`expressions: ${after.expressions}, expected ${base.expressions}`);
}
const mixer = new THREE.AnimationMixer(after.gltf.scene);
const action = mixer.clipAction(after.gltf.animations[0]).play();
action.time = Number(seconds);
mixer.update(0);
const still = positions(after.gltf);
for (const [name, weight] of given.map((g) => g.split('='))) {
  if (!after.vrm.expressionManager.getExpression(name)) problems.push(`no expression ${name}`);
  after.vrm.expressionManager.setValue(name, Number(weight));
}
after.vrm.expressionManager.update();
const [shown, expected] = [positions(after.gltf), points(pointsFile)];
if (shown.length !== expected.length) {
  problems.push(`${shown.length} vertices, expected ${expected.length}`);
} else {
  const size = new THREE.Box3().setFromPoints(expected).getSize(new THREE.Vector3()).length();
  const [apart, moved] = [largest(shown, expected), largest(shown, still)];
  console.log(`${afterFile}: ${given.join(' ')} moves ${moved.toExponential(2)} m, ${apart.toExponential(2)} m apart`);
  if (!(moved > 1e-3 * size)) problems.push('the expressions move nothing');
  if (!(apart <= 1e-5 * size)) problems.push(`${apart} m apart`);
}
problems.forEach((p) => console.error(`${afterFile}: ${p}`));
process.exit(problems.length ? 1 : 0);
