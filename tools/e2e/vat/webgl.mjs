// Runs in the page: what a vertex shader gives for samples, 8 numbers each (the outputs `place` and `normal`), then four for each attribute (the outputs
// `attribute0` and so on, as many as `names`). Inputs are `ask` (clip, seconds,
// vertex, number of its texel), `carrier`, `uv` and `corner`; textures are those of the bake, rows from the bottom where an engine has them so. A string says why there
// are no numbers.
export async function answersOfGlsl(module, glsl, samples, isFromBottom, names) {
  const { VertexAnimationPlayer } = await import(module);
  const { uniforms } = await VertexAnimationPlayer.load();
  const gl = document.createElement('canvas').getContext('webgl2');
  const vertexCode = glsl.replace(/uniform (lowp |mediump |highp )?sampler2D/g, 'uniform highp sampler2D');
  const stride = 8 + 4 * names.length;
  const outputs = ['place', 'normal', ...names.map((_, n) => `attribute${n}`)].map((name) => vertexCode.match(new RegExp(`out [a-z ]*vec4 (\\w*${name});`))?.[1]);
  const program = gl.createProgram();
  const shaders = [[gl.VERTEX_SHADER, vertexCode], [gl.FRAGMENT_SHADER, '#version 300 es\nvoid main() {}']];
  for (const [kind, code] of shaders) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, code);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) return `${gl.getShaderInfoLog(shader)}\n${code}`;
    gl.attachShader(program, shader);
  }
  gl.transformFeedbackVaryings(program, outputs, gl.INTERLEAVED_ATTRIBS);
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return gl.getProgramInfoLog(program);
  gl.useProgram(program);

  const roles = {
    lookup: 'vatLookupTexture',
    placeFine: 'vatPlaceFineTexture', normalsFine: 'vatNormalFineTexture', rotationsFine: 'vatRotationFineTexture', sizesFine: 'vatSizeFineTexture',
    ...Object.fromEntries(names.flatMap(rolesOfAttribute)),
    place: 'vatPlaceTexture', normals: 'vatNormalTexture', rotations: 'vatRotationTexture', sizes: 'vatSizeTexture',
  };
  const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
  for (let unit = 0; unit < count; unit++) {
    const { name } = gl.getActiveUniform(program, unit);
    // The longest, for `color0Fine` has `color0` in it.
    const role = Object.keys(roles).filter((r) => name.includes(r)).sort((a, b) => b.length - a.length)[0];
    if (!role) return `unknown uniform ${name}`;
    gl.activeTexture(gl.TEXTURE0 + unit);
    upload(uniforms[roles[role]].value.image);
    gl.uniform1i(gl.getUniformLocation(program, name), unit);
  }
  attribute('ask', 4, samples.flatMap((s) => [s.clip, s.secs, s.vertex, s.number ?? s.vertex]));
  attribute('carrier', 3, samples.flatMap((s) => s.carrier));
  attribute('uv', 2, samples.flatMap((s) => s.uv));
  attribute('corner', 2, samples.flatMap((s) => s.corner ?? [0, 0]));

  const result = gl.createBuffer();
  gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, result);
  gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, samples.length * 4 * stride, gl.STREAM_READ);
  gl.enable(gl.RASTERIZER_DISCARD);
  gl.beginTransformFeedback(gl.POINTS);
  gl.drawArrays(gl.POINTS, 0, samples.length);
  gl.endTransformFeedback();
  const answers = new Float32Array(samples.length * stride);
  gl.getBufferSubData(gl.TRANSFORM_FEEDBACK_BUFFER, 0, answers);
  const error = gl.getError();
  return error ? `error ${error} of WebGL` : Array.from(answers);

  // What functions of HLSL call a texture, and the player of three.js.
  function rolesOfAttribute(name) {
    const pascal = name.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
    const camel = pascal.slice(0, 1).toLowerCase() + pascal.slice(1);
    return [[`${camel}Fine`, `vat${pascal}FineTexture`], [camel, `vat${pascal}Texture`]];
  }

  // A loader of EXR gives one number a texel where the file has one.
  function fourChannels(stored, texels) {
    const channels = stored.length / texels;
    if (channels === 4) return stored;
    const data = new stored.constructor(texels * 4);
    for (let i = 0; i < texels; i++) data.set(stored.subarray(i * channels, (i + 1) * channels), i * 4);
    return data;
  }

  function attribute(name, size, numbers) {
    const at = gl.getAttribLocation(program, name);
    if (at < 0) return;
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0);
  }

  function upload({ data: stored, width, height }) {
    const data = fourChannels(stored, width * height);
    const [internal, type] = {
      Uint8Array: [gl.RGBA8, gl.UNSIGNED_BYTE],
      Uint16Array: [gl.RGBA16F, gl.HALF_FLOAT],
      Float32Array: [gl.RGBA32F, gl.FLOAT],
    }[data.constructor.name];
    const rows = new data.constructor(data.length);
    for (let y = 0; y < height; y++) {
      rows.set(data.subarray(y * width * 4, (y + 1) * width * 4), (isFromBottom ? height - 1 - y : y) * width * 4);
    }
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, internal, width, height, 0, gl.RGBA, type, rows);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }
}
