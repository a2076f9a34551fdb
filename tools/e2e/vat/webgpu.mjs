// Runs in the page: what the functions of the WGSL player give for samples, 8 numbers each (position, 0; normal, whether the texels
// by vertex and by texture coordinates differ), then four for each attribute (`names` are those of their textures). A string says why there are none.
export async function answersOfWgsl(module, manifest, wgsl, samples, names) {
  const { VertexAnimationPlayer } = await import(module);
  const player = await VertexAnimationPlayer.load();
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return 'no WebGPU';
  const device = await adapter.requestDevice();
  const faults = [];
  device.onuncapturederror = (event) => faults.push(event.error.message);
  // What is asked of the functions of each mode; squares of particles are drawn along axes that are none of the space.
  const vertices = { texel: 'vat_texel(ask.vertex, at.frame)', place: 'vat_position(ask.vertex, at, carrier)', normal: 'vat_normal(ask.vertex, at, up)' };
  const calls = {
    rigid: { texel: 'vat_texel(ask.number, at.frame)', place: 'vat_position(uv, at, carrier)', normal: 'vat_normal(uv, at, up)' },
    particles: { texel: 'vat_texel(ask.vertex / 4u, at.frame)', place: 'vat_position(ask.vertex, at, vec3<f32>(0.6, 0.0, 0.8), up)', normal: 'up' },
  }[manifest.mode] ?? vertices;
  const others = names.length ? manifest.textures.filter((t) => !['position', 'offset', 'normal', 'rotation', 'size'].includes(t.quantity)) : [];
  const stride = 2 + names.length;
  const writes = names.map((name, n) => `answers[${stride}u * id.x + ${2 + n}u] = vec4<f32>(vat_${name}(ask.vertex, at)${', 0.0'.repeat(4 - others[n].ranges.length)});`);
  const code = `${wgsl}
struct Ask { clip: u32, secs: f32, vertex: u32, number: u32, carrier: vec2<f32>, carrier_z: f32, u: f32, v: f32, pad_2: f32, pad_3: vec2<f32> }
@group(0) @binding(2) var<storage, read> asks: array<Ask>;
@group(0) @binding(3) var<storage, read_write> answers: array<vec4<f32>>;
@compute @workgroup_size(64)
fn check(@builtin(global_invocation_id) id: vec3<u32>) {
  if id.x >= arrayLength(&asks) { return; }
  let ask = asks[id.x];
  let at = vat_frame_at(ask.clip, ask.secs);
  let uv = vec2<f32>(ask.u, ask.v);
  let carrier = vec3<f32>(ask.carrier, ask.carrier_z);
  let texel = ${calls.texel};
  let by_uv = vat_texel_by_uv(uv, at.frame);
  let up = vec3<f32>(0.0, 1.0, 0.0);
  answers[${stride}u * id.x] = vec4<f32>(${calls.place}, 0.0);
  answers[${stride}u * id.x + 1u] = vec4<f32>(${calls.normal}, f32(any(texel != by_uv)));
  ${writes.join('\n  ')}
}`;
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }), entryPoint: 'check' },
  });
  const asks = new ArrayBuffer(samples.length * 48);
  samples.forEach((s, i) => {
    const view = new DataView(asks, i * 48, 48);
    view.setUint32(0, s.clip, true);
    view.setFloat32(4, s.secs, true);
    view.setUint32(8, s.vertex, true);
    view.setUint32(12, s.number ?? s.vertex, true);
    s.carrier.forEach((x, k) => view.setFloat32(16 + 4 * k, x, true));
    s.uv.forEach((x, k) => view.setFloat32(28 + 4 * k, x, true));
  });
  const buffer = (size, usage) => device.createBuffer({ size, usage });
  const asked = buffer(asks.byteLength, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST);
  device.queue.writeBuffer(asked, 0, asks);
  const length = samples.length * 16 * stride;
  const answered = buffer(length, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
  const read = buffer(length, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
  const textures = [];
  for (const texture of manifest.textures) {
    let role = { normal: 'Normal', rotation: 'Rotation', size: 'Size' }[texture.quantity] ?? 'Place';
    const index = others.indexOf(texture);
    if (index >= 0) role = names[index].split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
    const first = { Place: 0, Normal: 2, Rotation: 4, Size: 6 }[role] ?? (manifest.lookup ? 10 : 8) + 2 * index;
    for (const [part, name] of [`vat${role}Texture`, `vat${role}FineTexture`].slice(0, texture.files.length).entries()) {
      textures.push({ binding: first + part, resource: upload(player.uniforms[name].value).createView() });
    }
  }
  if (manifest.lookup) textures.push({ binding: 8, resource: upload(player.uniforms.vatLookupTexture.value).createView() });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 2, resource: { buffer: asked } }, { binding: 3, resource: { buffer: answered } }],
  }));
  pass.setBindGroup(1, device.createBindGroup({ layout: pipeline.getBindGroupLayout(1), entries: textures }));
  pass.dispatchWorkgroups(Math.ceil(samples.length / 64));
  pass.end();
  encoder.copyBufferToBuffer(answered, 0, read, 0, length);
  device.queue.submit([encoder.finish()]);
  await read.mapAsync(GPUMapMode.READ);
  return faults[0] ?? Array.from(new Float32Array(read.getMappedRange()));

  function upload({ image: { data: stored, width, height } }) {
    const data = fourChannels(stored, width * height);
    const format = { Uint8Array: 'rgba8unorm', Uint16Array: 'rgba16float', Float32Array: 'rgba32float' }[data.constructor.name];
    const usage = GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST;
    const texture = device.createTexture({ size: [width, height], format, usage });
    device.queue.writeTexture({ texture }, data, { bytesPerRow: width * 4 * data.BYTES_PER_ELEMENT }, [width, height]);
    return texture;
  }

  // A loader of EXR gives one number a texel where the file has one.
  function fourChannels(stored, texels) {
    const channels = stored.length / texels;
    if (channels === 4) return stored;
    const data = new stored.constructor(texels * 4);
    for (let i = 0; i < texels; i++) data.set(stored.subarray(i * channels, (i + 1) * channels), i * 4);
    return data;
  }
}
