// {{NAME}}: player of a vertex animation texture, for three.js (WebGLRenderer, WebGL 2). Made with the bake; change what you like.
//
//   import { VertexAnimationPlayer } from './<this file>';
//   const player = await VertexAnimationPlayer.load();
//   scene.add(player.mesh);
//   player.update(secs);                  // in each frame, before rendering
//
// `three` and `three/addons/` must be known to the page (an import map) or the bundler. All files of the bake stay in one folder,
// on an HTTP server: browsers load neither modules nor textures from file://.
//
// Mesh: {{CARRIER}}, vertices in the order of the file: no merging, no optimisation of it. {{VERTICES}} texels a frame.
// Textures, {{SIZES}}, {{FRAMES}} frames, read by this module and not by the browser, which would make 8 bits of 16,
// convert colours, and premultiply:
{{*TEXTURE}}//   {{FILE}}: {{HOLDS}}; {{FORMAT}}
{{?HAS_ATTRIBUTES}}// Colours and all else are data, linear, as three.js' own vertex colours are. Read in the vertex shader of each patched material:
{{*ATTRIBUTE}}{{!IS_VARYING}}//   {{ATTRIBUTE_HOLDS}}: `vat{{ATTRIBUTE_PASCAL}}()`
{{*ATTRIBUTE}}{{?IS_VARYING}}//   {{ATTRIBUTE_HOLDS}}: `vat{{ATTRIBUTE_PASCAL}}()`, and for your fragments (declare it there): `varying {{ATTRIBUTE_GLSL}} vVat{{ATTRIBUTE_PASCAL}};`
{{?HAS_COLOR0}}// Colours multiply the colour of the material, and their alpha its opacity where it is transparent.
// Sides above 2048 texels are more than WebGL 2 promises; most devices have 8192 or 16384.
// Values are {{SPACE}}; those of three.js are {{ENGINE_SPACE}}.
{{!FITS_SPACE}}// WARNING: these two differ, so that `load` refuses. Bake again for three.js: `sinew bake vat ... --for three`.
// What differs between bakes is read from the manifest: this module plays any other bake, too.
//
// How players of this kind were checked: three.js 0.187 in Chromium, WebGL 2 in software; outlines and normals of stepped and blended
// frames against those that were baked. Not run: other browsers, real graphics cards.

import * as THREE from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { EXRLoader } from 'three/addons/loaders/EXRLoader.js';

const MANIFEST = new URL(encodeURIComponent({{STEM_STRING}} + '.vat.json'), import.meta.url);
const AT_END = { loop: 0, seamless_loop: 1, clamp: 2 };

// Parts of a carrier have the same vertices: one geometry, with a group for each part.
function joined(parts) {
  const geometry = parts[0];
  if (parts.length === 1) return geometry;
  const indices = parts.map((part) => part.index.array);
  const all = new Uint32Array(indices.reduce((sum, one) => sum + one.length, 0));
  let start = 0;
  indices.forEach((one, group) => {
    all.set(one, start);
    geometry.addGroup(start, one.length, group);
    start += one.length;
  });
  geometry.setIndex(new THREE.BufferAttribute(all, 1));
  return geometry;
}

export class VertexAnimationPlayer {
  // Loads the bake whose manifest is at `url`; `material` is what the mesh gets, patched: a plain one if there is none.
  static async load(url = MANIFEST, material = null) {
    const manifest = JSON.parse(await (await fetchFrom(url)).text());
    if (manifest.format !== 'sinew_vat' || manifest.version !== (manifest.lookup ? 2 : 1)) {
      throw new Error(`${url}: format ${manifest.format}, version ${manifest.version}; this player reads sinew_vat, version 1, or 2 with a lookup`);
    }
    const beside = (file) => new URL(encodeURIComponent(file), url);
    const textures = new Map();
    if (manifest.space !== 'y_up_right_handed') {
      throw new Error(`${url}: values are ${manifest.space}, three.js needs y_up_right_handed: bake again with --for three`);
    }
    for (const { role, texture } of rolesOf(manifest)) {
      textures.set(role, await Promise.all(texture.files.map((f) => readTexture(beside(f), texture.format))));
    }
    if (manifest.lookup) textures.set('Lookup', [await readTexture(beside(manifest.lookup.file), 'unorm8')]);
    const carrier = await (await fetchFrom(beside(manifest.carrier))).arrayBuffer();
    const { scene } = await new GLTFLoader().parseAsync(carrier, '');
    const parts = [];
    scene.traverse((node) => { if (node.isMesh) parts.push(node); });
    const player = new VertexAnimationPlayer(manifest, joined(parts.map((p) => p.geometry)), textures, material);
    // Those of the source, one for each group of the geometry: player.mesh.material = player.materials.map((m) => player.patch(m)).
    player.materials = parts.map((p) => p.material);
    return player;
  }

  constructor(manifest, geometry, textures, material) {
    this.manifest = manifest;
    // Off: the nearest frame before a moment is shown. Bakes whose vertices are other points in each frame never blend.
    this.blending = manifest.can_blend;
    this.attributes = attributesOf(manifest);
    this.hasColor = this.attributes.some((a) => a.name === 'color0');
    this.glsl = ({ rigid: piecesCode, particles: spritesCode }[manifest.mode]?.(manifest) ?? vertexCode(manifest)) + attributesCode(manifest);
    if (manifest.mode === 'rigid') geometry.setAttribute('vatUv', geometry.getAttribute(manifest.uv_set ? `uv${manifest.uv_set}` : 'uv'));
    this.uniforms = uniformsFor(manifest, textures);
    this.setClip(0);
    geometry.boundingBox = new THREE.Box3(new THREE.Vector3(...manifest.bounds[0]), new THREE.Vector3(...manifest.bounds[1]));
    geometry.boundingSphere = geometry.boundingBox.getBoundingSphere(new THREE.Sphere());
    this.mesh = this.equip(new THREE.Mesh(geometry, this.patch(material ?? this.plainMaterial())));
    this.update(0);
  }

  // A clip by its number or its name.
  setClip(clip) {
    const index = typeof clip === 'number' ? clip : this.manifest.clips.findIndex((c) => c.name === clip);
    this.clip = this.manifest.clips[index];
    if (!this.clip) throw new Error(`no clip ${clip}; there are ${this.manifest.clips.map((c) => c.name).join(', ')}`);
    const { first, count, frames_per_second, at_end } = this.clip;
    this.uniforms.vatClip.value.set(first, count, frames_per_second, AT_END[at_end]);
  }

  // Shows the moment `secs` seconds from the start of the clip.
  update(secs) {
    this.showFrame(secs * this.clip.frames_per_second);
  }

  // Shows a frame, counted from the start of the clip: 2.25 is a quarter of the way from frame 2 to frame 3.
  showFrame(frames) {
    this.uniforms.vatFrames.value = withinClip(this.clip, frames);
    this.uniforms.vatBlends.value = this.blending && this.manifest.can_blend ? 1 : 0;
  }

  // Many at once, each at its own moment: the seconds that each is ahead. Place them by setMatrixAt.
  instances(offsetsInSecs, material = this.mesh.material) {
    const geometry = this.mesh.geometry.clone();
    geometry.boundingBox = this.mesh.geometry.boundingBox;
    geometry.boundingSphere = this.mesh.geometry.boundingSphere;
    geometry.setAttribute('vatOffsetSecs', new THREE.InstancedBufferAttribute(new Float32Array(offsetsInSecs), 1));
    return this.equip(new THREE.InstancedMesh(geometry, material, offsetsInSecs.length));
  }

  plainMaterial() {
    return new THREE.MeshStandardMaterial({ color: this.hasColor ? 0xffffff : 0x8fa9d0, roughness: 0.6 });
  }

  // Makes any built-in material play: standard, physical, Phong, normal, depth.
  patch(material) {
    const before = material.onBeforeCompile;
    material.onBeforeCompile = (shader, renderer) => {
      before?.call(material, shader, renderer);
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = withAttributes(shader.vertexShader, this.attributes)
        .replace('#include <common>', `#include <common>\n${this.glsl}`)
        .replace('#include <beginnormal_vertex>', '#include <beginnormal_vertex>\nobjectNormal = vatNormal(objectNormal);')
        .replace('#include <begin_vertex>', '#include <begin_vertex>\ntransformed = vatPosition(transformed);');
    };
    // Materials with other code must not get this program, nor that of another bake.
    material.customProgramCacheKey = () => `vat ${this.glsl} ${before}`;
    if (this.hasColor) {
      material.vertexColors = true;
      // With alpha, although the mesh has no colours that say so.
      material.defines = { ...material.defines, USE_COLOR_ALPHA: '' };
    }
    material.needsUpdate = true;
    return material;
  }

  // Shadows are drawn by materials of their own.
  equip(mesh) {
    mesh.customDepthMaterial = this.patch(new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking }));
    mesh.customDistanceMaterial = this.patch(new THREE.MeshDistanceMaterial());
    return mesh;
  }

  dispose() {
    for (const { value } of Object.values(this.uniforms)) if (value?.isTexture) value.dispose();
    this.mesh.geometry.dispose();
  }
}

// Frames from the start of a clip, brought into it; not finite ones are the first frame.
export function withinClip(clip, frames) {
  if (!Number.isFinite(frames)) return 0;
  if (clip.at_end === 'clamp') return Math.min(Math.max(frames, 0), clip.count - 1);
  const rest = frames % clip.count;
  return rest < 0 ? rest + clip.count : rest;
}

async function fetchFrom(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return answer;
}

function roleOf({ quantity }) {
  if (quantity === 'position' || quantity === 'offset') return 'Place';
  return { normal: 'Normal', rotation: 'Rotation', size: 'Size' }[quantity] ?? null;
}

// All that is read: what it is called in GLSL, and how many numbers that has.
function rolesOf(manifest) {
  const core = manifest.textures.filter(roleOf).map((texture) => ({ role: roleOf(texture), texture, size: Math.max(texture.ranges.length, 3) }));
  return [...core, ...attributesOf(manifest)];
}

function uniformsFor(manifest, textures) {
  const uniforms = {
    vatClip: { value: new THREE.Vector4() },
    vatFrames: { value: 0 },
    vatBlends: { value: 0 },
  };
  if (manifest.lookup) uniforms.vatLookupTexture = { value: textures.get('Lookup')[0] };
  for (const { role, texture, size } of rolesOf(manifest)) {
    const [coarse, fine] = textures.get(role);
    uniforms[`vat${role}Texture`] = { value: coarse };
    if (fine) uniforms[`vat${role}FineTexture`] = { value: fine };
    uniforms[`vat${role}Scale`] = { value: vectorOf(texture.ranges.map((r) => r.scale), size) };
    uniforms[`vat${role}Offset`] = { value: vectorOf(texture.ranges.map((r) => r.offset), size) };
  }
  return uniforms;
}

// `size` numbers; what is missing is zero.
function vectorOf(numbers, size) {
  const all = [...numbers, 0, 0, 0].slice(0, size);
  return size === 1 ? all[0] : new [THREE.Vector2, THREE.Vector3, THREE.Vector4][size - 2](...all);
}

// Both arrangements are one formula with other numbers.
function layoutNumbers({ frames, arrangement }) {
  const { blocks, columns } = arrangement;
  return blocks
    ? { columns: blocks.block[0], across: blocks.across, frameRows: blocks.block[1], lineRows: 1 }
    : { columns: columns.width, across: 1, frameRows: 1, lineRows: frames };
}

// GLSL that finds the frames that are seen.
function frameCode({ has_ends }) {
  return `
uniform vec4 vatClip; // first frame, number of frames, frames a second, what comes after the last
uniform float vatFrames;
uniform float vatBlends;
#ifdef USE_INSTANCING
attribute float vatOffsetSecs;
#endif

// Frame of the bake, the one after it, and how much of that is seen.
void vatFrame(out ivec2 frames, out float weight) {
  int first = int(vatClip.x);
  int count = int(vatClip.y);
  int atEnd = int(vatClip.w);
  float wanted = vatFrames;
#ifdef USE_INSTANCING
  wanted += vatOffsetSecs * vatClip.z;
#endif
  float within = clamp(wanted, 0.0, vatClip.y - 1.0);
  if (atEnd != ${AT_END.clamp}) within = max(wanted - floor(wanted / vatClip.y) * vatClip.y, 0.0);
  // What is a little below a whole pass rounds up to it.
  int index = min(int(within), count - 1);
  bool isLast = index + 1 == count;
  int next = isLast ? (atEnd == ${AT_END.seamless_loop} ? 0 : index) : index + 1;
  weight = next == index ? 0.0 : clamp(within - float(index), 0.0, 1.0) * vatBlends;
  frames = ${has_ends
    // Each frame is followed by its end, which blends go to.
    ? 'ivec2(2 * (first + index)) + ivec2(0, next == index ? 0 : 1)'
    : 'ivec2(first + index, first + next)'};
}
`;
}

function vertexCode(manifest) {
  const { layout, textures, can_blend } = manifest;
  const { columns, across, frameRows, lineRows } = layoutNumbers(layout);
  const parts = textures.filter(roleOf).map((t) => readingCode(roleOf(t), t.files.length === 2, can_blend));
  const isOffset = textures.some((t) => t.quantity === 'offset');
  const hasNormal = textures.some((t) => t.quantity === 'normal');
  const ownTexel = `
ivec2 vatTexel(int frame) {
  return ivec2(
    (frame % ${across}) * ${columns} + gl_VertexID % ${columns},
    (frame / ${across}) * ${frameRows} + (gl_VertexID / ${columns}) * ${lineRows});
}
`;
  return `${frameCode(manifest)}${manifest.lookup ? lookupCode(manifest) : ownTexel}${parts.join('')}
vec3 vatPosition(vec3 carrier) {
  return ${isOffset ? 'carrier + vatPlace()' : 'vatPlace()'};
}

vec3 vatNormal(vec3 carrier) {
${hasNormal ? `  vec3 normal = vatNormal();
  return dot(normal, normal) > 1e-12 ? normalize(normal) : carrier;` : '  return carrier;'}
}
`;
}

// GLSL that reads one quantity: a texel, two where frames are blended, twice that where a texel is in two files.
function readingCode(role, isInTwo, canBlend) {
  const fine = isInTwo ? `\n  stored += 0.01 * texelFetch(vat${role}FineTexture, vatTexel(frame), 0).xyz;` : '';
  const blend = canBlend ? `\n  if (weight > 0.0) value += (vat${role}In(frames.y) - value) * weight;` : '';
  return `
uniform highp sampler2D vat${role}Texture;
${isInTwo ? `uniform highp sampler2D vat${role}FineTexture;` : ''}
uniform vec3 vat${role}Scale;
uniform vec3 vat${role}Offset;

vec3 vat${role}In(int frame) {
  vec3 stored = texelFetch(vat${role}Texture, vatTexel(frame), 0).xyz;${fine}
  return stored * vat${role}Scale + vat${role}Offset;
}

vec3 vat${role}() {
  ivec2 frames;
  float weight;
  vatFrame(frames, weight);
  vec3 value = vat${role}In(frames.x);${blend}
  return value;
}
`;
}

{{>ATTRIBUTES}}
{{>MODE}}
async function readTexture(url, format) {
  const bytes = await (await fetchFrom(url)).arrayBuffer();
  const isFloat = format === 'half' || format === 'float';
  const texture = isFloat ? exrTexture(bytes, format) : pngTexture(await readPng(bytes, url));
  texture.colorSpace = THREE.NoColorSpace;
  texture.minFilter = texture.magFilter = THREE.NearestFilter;
  texture.wrapS = texture.wrapT = THREE.ClampToEdgeWrapping;
  texture.generateMipmaps = false;
  texture.flipY = false;
  texture.needsUpdate = true;
  return texture;
}

function exrTexture(bytes, format) {
  const type = format === 'half' ? THREE.HalfFloatType : THREE.FloatType;
  const { data, width, height, format: channels } = new EXRLoader().setDataType(type).parse(bytes);
  // The loader puts the lowest row first.
  const row = data.length / height;
  const turned = new data.constructor(data.length);
  for (let y = 0; y < height; y++) turned.set(data.subarray(y * row, (y + 1) * row), (height - 1 - y) * row);
  return new THREE.DataTexture(turned, width, height, channels, type);
}

function pngTexture({ width, height, channels, bits, codes }) {
  const isWide = bits === 16;
  const texels = isWide ? new Float32Array(width * height * 4) : new Uint8Array(width * height * 4);
  for (let i = 0; i < width * height; i++) {
    for (let k = 0; k < Math.min(channels, 4); k++) {
      const code = codes[i * channels + k];
      texels[i * 4 + k] = isWide ? code / 65535 : code;
    }
  }
  const type = isWide ? THREE.FloatType : THREE.UnsignedByteType;
  return new THREE.DataTexture(texels, width, height, THREE.RGBAFormat, type);
}

// The codes of a PNG as they are in the file: 8 or 16 bits, no palette, not interlaced.
export async function readPng(bytes, name = 'PNG') {
  const view = new DataView(bytes);
  const refuse = (what) => { throw new Error(`${name}: ${what}`); };
  if (bytes.byteLength < 33 || view.getUint32(0) !== 0x89504e47 || view.getUint32(12) !== 0x49484452) refuse('no PNG');
  const [width, height, bits] = [view.getUint32(16), view.getUint32(20), view.getUint8(24)];
  const channels = { 0: 1, 2: 3, 4: 2, 6: 4 }[view.getUint8(25)];
  if (!channels || (bits !== 8 && bits !== 16)) refuse('a palette, or neither 8 nor 16 bits');
  if (view.getUint8(28) !== 0) refuse('interlaced');
  const packed = [];
  for (let at = 8; at + 12 <= bytes.byteLength; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === 0x49444154) packed.push(new Uint8Array(bytes, at + 8, view.getUint32(at)));
  }
  const stream = new Blob(packed).stream().pipeThrough(new DecompressionStream('deflate'));
  const rows = new Uint8Array(await new Response(stream).arrayBuffer());
  const step = channels * bits / 8;
  if (rows.length !== height * (width * step + 1)) refuse(`${rows.length} bytes of texels`);
  const plain = unfilter(rows, width * step, height, step);
  return { width, height, channels, bits, codes: bits === 8 ? plain : wide(plain) };
}

function wide(bytes) {
  const codes = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < codes.length; i++) codes[i] = (bytes[2 * i] << 8) | bytes[2 * i + 1];
  return codes;
}

// Each row begins with the number of its filter; `step` is the bytes of a texel.
function unfilter(rows, length, height, step) {
  const out = new Uint8Array(length * height);
  for (let y = 0; y < height; y++) {
    const from = y * (length + 1);
    const to = y * length;
    const filter = rows[from];
    for (let i = 0; i < length; i++) {
      const left = i >= step ? out[to + i - step] : 0;
      const up = y > 0 ? out[to + i - length] : 0;
      const corner = i >= step && y > 0 ? out[to + i - length - step] : 0;
      out[to + i] = rows[from + 1 + i] + predicted(filter, left, up, corner);
    }
  }
  return out;
}

function predicted(filter, left, up, corner) {
  switch (filter) {
    case 0: return 0;
    case 1: return left;
    case 2: return up;
    case 3: return (left + up) >> 1;
    default: return paeth(left, up, corner);
  }
}

function paeth(left, up, corner) {
  const near = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(near - left), Math.abs(near - up), Math.abs(near - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
