// Compares a compressed GLB with the same file without compression, as three.js plays both.
//
//   three_compare.mjs PLAIN.glb SMALL.glb METRES [UNPACKED.glb]
//
// Plays the first clip of both in three.js' own mixer, with meshoptimizer's decoder, and measures the largest distance between vertices at
// every key. Exit status 1 where it exceeds METRES, or where clips or meshes differ. UNPACKED.glb gets the small file without
// EXT_meshopt_compression, for programs that do not read it. NODE_PATH names the folder of three.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [plainFile, smallFile, metres, unpackedFile] = process.argv.slice(2);
if (!metres) {
  console.error('usage: three_compare.mjs PLAIN.glb SMALL.glb METRES [UNPACKED.glb]');
  process.exit(2);
}
// Imports do not look into NODE_PATH, `require` does.
const { resolve } = createRequire(import.meta.url);
const load = (name) => import(pathToFileURL(resolve(name)).href);
globalThis.self ??= globalThis;
// The folder's own file of this package, as the loader imports it.
const THREE = await load('three/src/Three.js').catch(() => load('three'));
const { GLTFLoader } = await load('three/addons/loaders/GLTFLoader.js');
const { MeshoptDecoder } = await load('three/addons/libs/meshopt_decoder.module.js');
await MeshoptDecoder.ready;

const EXTENSION = 'EXT_meshopt_compression';

async function open(file) {
  const bytes = readFileSync(file);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  const gltf = await new Promise((done, failed) => loader.parse(data, '', done, failed));
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const [clip] = gltf.animations;
  const action = mixer.clipAction(clip).play();
  const meshes = [];
  gltf.scene.traverse((object) => object.isMesh && meshes.push(object));
  const positionsAt = (time) => {
    action.time = time;
    mixer.update(0);
    gltf.scene.updateMatrixWorld(true);
    return meshes.flatMap((mesh) => {
      const count = mesh.geometry.attributes.position.count;
      return Array.from({ length: count }, (_, v) =>
        mesh.getVertexPosition(v, new THREE.Vector3()).applyMatrix4(mesh.matrixWorld));
    });
  };
  return { clip, positionsAt, corners: meshes.map((m) => triangles(m.geometry.index)) };
}

// Triangles whose first corner is the smallest: a codec may start with another one.
function triangles(index) {
  const out = [];
  for (let t = 0; index && t < index.count; t += 3) {
    const corners = [0, 1, 2].map((c) => index.getX(t + c));
    const first = corners.indexOf(Math.min(...corners));
    out.push(corners[first], corners[(first + 1) % 3], corners[(first + 2) % 3]);
  }
  return out.join();
}

// The same document with its compressed views decoded.
function unpack(file, out) {
  const bytes = readFileSync(file);
  const length = bytes.readUInt32LE(12);
  const json = JSON.parse(bytes.subarray(20, 20 + length));
  const binary = bytes.subarray(20 + length + 8);
  const parts = [];
  let size = 0;
  for (const view of json.bufferViews) {
    const packed = view.extensions?.[EXTENSION];
    const from = packed ?? view;
    let part = binary.subarray(from.byteOffset, from.byteOffset + from.byteLength);
    if (packed) {
      const decoded = new Uint8Array(packed.count * packed.byteStride);
      MeshoptDecoder.decodeGltfBuffer(decoded, packed.count, packed.byteStride, part, packed.mode, packed.filter ?? 'NONE');
      part = decoded;
      delete view.extensions;
    }
    Object.assign(view, { buffer: 0, byteOffset: size, byteLength: part.length });
    parts.push(part, new Uint8Array(-part.length & 3));
    size += part.length + (-part.length & 3);
  }
  json.buffers = [{ byteLength: size }];
  for (const list of ['extensionsUsed', 'extensionsRequired']) {
    json[list] = json[list].filter((name) => name !== EXTENSION);
    if (json[list].length === 0) delete json[list];
  }
  const text = Buffer.from(JSON.stringify(json));
  const padded = Buffer.concat([text, Buffer.alloc(-text.length & 3, ' ')]);
  const words = (...all) => Buffer.from(Uint32Array.from(all).buffer);
  writeFileSync(out, Buffer.concat([
    words(0x46546c67, 2, 28 + padded.length + size, padded.length, 0x4e4f534a), padded, words(size, 0x4e4942), ...parts,
  ]));
}

const [plain, small] = [await open(plainFile), await open(smallFile)];
const times = [...plain.clip.tracks[0].times];
if (plain.clip.name !== small.clip.name || times.join() !== [...small.clip.tracks[0].times].join()) {
  console.error(`${smallFile}: another clip`);
  process.exit(1);
}
if (plain.corners.join(';') !== small.corners.join(';')) {
  console.error(`${smallFile}: other triangles`);
  process.exit(1);
}
let worst = 0;
for (const time of times) {
  const [a, b] = [plain.positionsAt(time), small.positionsAt(time)];
  if (a.length !== b.length) worst = Infinity;
  a.forEach((p, v) => { worst = Math.max(worst, p.distanceTo(b[v])); });
}
const sizes = [plainFile, smallFile].map((file) => readFileSync(file).length);
const [factor, off] = [(sizes[0] / sizes[1]).toFixed(1), (worst * 1e3).toFixed(4)];
console.log(`${smallFile}: ${factor} times smaller, at most ${off} mm off in three.js at ${times.length} keys`);
if (unpackedFile) unpack(smallFile, unpackedFile);
// Not a number is wrong, too.
process.exit(worst <= Number(metres) ? 0 : 1);
