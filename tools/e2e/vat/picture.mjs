// What a player should draw, drawn here from triangles: an orthographic picture of which pixels are covered, and of normals.

export const SIDE = 256;

// To the right, up, and towards the camera.
const VIEWS = {
  front: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  side: [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
  top: [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
};

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

// `triangles`: position and normal of each corner, 18 numbers a triangle. The picture is 1.1 times the longest side of the box wide.
export function draw(triangles, view, [low, high]) {
  const axes = VIEWS[view];
  const middle = low.map((l, k) => (l + high[k]) / 2);
  const scale = SIDE / (1.1 * Math.max(...low.map((l, k) => high[k] - l)));
  const placeAt = (at) => {
    const seen = [(at % SIDE + 0.5 - SIDE / 2) / scale, (SIDE / 2 - Math.floor(at / SIDE) - 0.5) / scale, picture.depth[at]];
    return middle.map((m, k) => m + seen.reduce((sum, s, i) => sum + s * axes[i][k], 0));
  };
  const picture = { depth: new Float64Array(SIDE * SIDE).fill(-Infinity), normals: new Float64Array(SIDE * SIDE * 3), placeAt };
  for (let t = 0; t + 18 <= triangles.length; t += 18) {
    const corners = [0, 6, 12].map((c) => {
      const place = [0, 1, 2].map((k) => triangles[t + c + k] - middle[k]);
      const normal = [0, 1, 2].map((k) => triangles[t + c + 3 + k]);
      return {
        x: SIDE / 2 + dot(place, axes[0]) * scale,
        y: SIDE / 2 - dot(place, axes[1]) * scale,
        depth: dot(place, axes[2]),
        normal: axes.map((a) => dot(normal, a)),
      };
    });
    fill(picture, corners);
  }
  return picture;
}

function fill({ depth, normals }, corners) {
  const [a, b, c] = corners;
  const area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  // Rows go down, so triangles that face the camera have a negative area.
  if (!(area < 0)) return;
  const range = (k) => {
    const all = corners.map((p) => p[k]);
    return [Math.max(0, Math.floor(Math.min(...all))), Math.min(SIDE - 1, Math.ceil(Math.max(...all)))];
  };
  const [[x0, x1], [y0, y1]] = [range('x'), range('y')];
  for (let y = y0; y <= y1; y++) {
    for (let x = x0; x <= x1; x++) {
      const share = (p, q) => ((p.x - x - 0.5) * (q.y - y - 0.5) - (q.x - x - 0.5) * (p.y - y - 0.5)) / area;
      const shares = [share(b, c), share(c, a), share(a, b)];
      if (shares.some((s) => s < 0)) continue;
      const mix = (f) => corners.reduce((sum, p, i) => sum + shares[i] * f(p), 0);
      const at = y * SIDE + x;
      const near = mix((p) => p.depth);
      if (near <= depth[at]) continue;
      depth[at] = near;
      for (let k = 0; k < 3; k++) normals[3 * at + k] = mix((p) => p.normal[k]);
    }
  }
}

// `pixels` is RGBA, normals as colours before magenta. Pixels at an outline may differ, others may not, unless a share of the covered ones is
// allowed to; degrees between normals: in the mean and of the best 98 %. A code of the picture is 0.5, and outlines within the shape have
// another triangle in front.
export function compare(pixels, { depth, normals }, allowed = { wrong: 0, mean: 1, near: 4 }) {
  let covered = 0;
  let wrong = 0;
  const angles = [];
  for (let y = 1; y < SIDE - 1; y++) {
    for (let x = 1; x < SIDE - 1; x++) {
      const at = y * SIDE + x;
      const isThere = depth[at] > -Infinity;
      covered += isThere;
      if (!sameAround(depth, at)) continue;
      const color = [0, 1, 2].map((k) => pixels[4 * at + k]);
      const isSeen = !(color[0] > 250 && color[1] < 5 && color[2] > 250);
      wrong += isSeen !== isThere;
      if (isSeen && isThere) angles.push(angle(color, normals.subarray(3 * at, 3 * at + 3)));
    }
  }
  angles.sort((a, b) => a - b);
  const mean = angles.reduce((sum, a) => sum + a, 0) / Math.max(angles.length, 1);
  const near = angles[Math.floor(angles.length * 0.98)] ?? 180;
  const isGood = covered > 1000 && wrong <= allowed.wrong * covered && mean < allowed.mean && near < allowed.near;
  return { isGood, text: `${covered} pixels, ${wrong} wrong; normals ${mean.toFixed(2)} degrees off, 98 % within ${near.toFixed(2)}` };
}

// `pixels` is RGBA of a picture without light: linear numbers as sRGB. `expected(place)` says what they must be, three of them.
export function compareColors(pixels, { depth, placeAt }, expected) {
  const offs = [];
  for (let y = 1; y < SIDE - 1; y++) {
    for (let x = 1; x < SIDE - 1; x++) {
      const at = y * SIDE + x;
      if (depth[at] === -Infinity || !sameAround(depth, at)) continue;
      const wanted = expected(placeAt(at));
      offs.push(Math.max(...wanted.map((w, k) => Math.abs(w - linear(pixels[4 * at + k])))));
    }
  }
  offs.sort((a, b) => a - b);
  const mean = offs.reduce((sum, o) => sum + o, 0) / Math.max(offs.length, 1);
  const near = offs[Math.floor(offs.length * 0.98)] ?? 1;
  // A code of the picture is 0.009 where it is bright; outlines within the shape have another triangle in front.
  const isGood = offs.length > 1000 && mean < 0.006 && near < 0.02;
  return { isGood, text: `${offs.length} pixels, ${mean.toFixed(4)} off in the mean, 98 % within ${near.toFixed(4)}` };
}

function linear(code) {
  const c = code / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function sameAround(depth, at) {
  const isThere = depth[at] > -Infinity;
  for (const row of [-SIDE, 0, SIDE]) {
    for (const column of [-1, 0, 1]) if ((depth[at + row + column] > -Infinity) !== isThere) return false;
  }
  return true;
}

function angle(color, normal) {
  const found = color.map((c) => c / 255 * 2 - 1);
  const cosine = dot(found, normal) / Math.hypot(...found) / Math.hypot(...normal);
  return Math.acos(Math.min(Math.max(cosine, -1), 1)) * 180 / Math.PI;
}
