"""Plays vertex animation textures of SideFX Labs 3.x as published ports of its shaders do, and compares each frame with the frames they were made from.

    python sidefx_read.py FOLDER SOURCE.ply ... --mode fluid|rigid|sprite --for gltf|unity|unreal|blender [--wrong RULE]...

FOLDER: NAME_data.json, NAME_mesh.glb, NAME_pos.* and so on. SOURCE: the frames, PLY or OBJ, metres, +Y up. Nothing of the bake but these files is looked at.

The importer: axes and unit as in vat_space.py, and v of the mesh, which counts from the top in a GLB, becomes 1 - v. The rules (F counts from 1):

- the texel of a vertex in frame F: u = uv.x Ax, v = 1 - Ay ((1 - uv.y) + ((F - 1) mod N) / N), v from the bottom; vertices with uv.y <= 0.1 are hidden
- below the tenths of the bounds: Ay = 1 - fract(-10 max X), Ax = 1 - (ceil(10 min Z) - 10 min Z), floats where fract(10 max Z) >= 1/2, k = 1 - fract(10 max Y),
  a lookup of floats where fract(-10 min X) >= 1/2
- places: floats as they are, else min + texel (max - min), of two textures first + second / 100; rotations: floats as they are, else 2 texel - 1
- fluid: uv 0 is in the lookup, whose texel says u = r + g / 255, v = 1 - (b + a / 255) of all other textures
- rigid (as Unity has it): uv 1; pivot = (-uv2.x, uv3.x, 1 - uv3.y); m = floor(4 alpha), e = sqrt(1 - x x - y y - z z),
  q = (x, y, z, e), (e, y, z, x), (x, -e, z, -y) or (x, y, -e, -z); scale = (1 - fract(4 alpha)) / k; p = q (vertex - pivot) scale + place.
  Between frames q = (sin((c - d) pi) q0 + sign(w) sin(d pi) q1) / sin(c pi), w: alpha of the rotation, c = fract(|w|), d = fract(|w| t)
- sprite: uv 0 is the corner, uv 1 the particle; alpha / k is the width

--wrong breaks a rule, which must be noticed: upside (v not turned over), swapped (red and blue of the lookup), index (largest part of a quaternion always w),
pivot (no pivot), spin (w without its sign), width (no alpha).
"""

import argparse
import json
import pathlib

import numpy as np

from broken import judge
from glb import parse_glb, parse_sets
from mesh_normals import normals_of

AXES = {
    "gltf": (np.eye(3), 1.0, [0, 1, 2], 1, "Right-Handed Y-Up"),
    "unity": (np.diag([-1, 1, 1]), 1.0, [0, 2, 1], 1, "Left-Handed Y-Up"),
    "unreal": (np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]]), 100.0, [0, 1, 2], -1, "Left-Handed Z-Up"),
    "blender": (np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]), 1.0, [0, 1, 2], 1, "Right-Handed Z-Up"),
}
TYPES = {"float": "<f4", "int": "<i4", "uint": "<u4", "uchar": "u1", "double": "<f8"}


def fans(faces):
    """Faces of more corners as fans around the first one."""
    halves = [[face[0], face[k], face[k + 1]] for face in faces for k in range(1, len(face) - 1)]
    return np.array(halves, int).reshape(-1, 3)


def read_source(path):
    """Properties of the points by name, and triangles."""
    if path.suffix == ".obj":
        lines = [line.split() for line in path.read_text().splitlines() if line]
        points = np.array([[float(c) for c in line[1:4]] for line in lines if line[0] == "v"])
        faces = [[int(c.split("/")[0]) - 1 for c in line[1:]] for line in lines if line[0] == "f"]
        return dict(zip("xyz", points.reshape(-1, 3).T)), fans(faces)
    data = path.read_bytes()
    at = data.index(b"end_header\n") + len(b"end_header\n")
    header = data[:at].decode().splitlines()
    assert "format binary_little_endian 1.0" in header, header
    elements = []
    for line in header:
        words = line.split()
        if words[0] == "element":
            elements.append((words[1], int(words[2]), []))
        elif words[0] == "property":
            elements[-1][2].append(words[1:])
    fields, faces = {}, np.zeros((0, 3), int)
    for name, count, properties in elements:
        if properties and properties[0][0] == "list":
            assert len(properties) == 1 and properties[0][1:3] == ["uchar", "int"], properties
            corners = []
            for _ in range(count):
                corners.append(np.frombuffer(data, "<i4", data[at], at + 1))
                at += 1 + 4 * data[at]
            faces = fans(corners)
        else:
            row = np.dtype([(p[1], TYPES[p[0]]) for p in properties])
            # numpy refuses to look for nothing behind the last byte.
            rows = np.frombuffer(data, row, count, at) if count else np.zeros(0, row)
            fields, at = {p[1]: rows[p[1]].astype(float) for p in properties}, at + count * row.itemsize
    return fields, faces


def read_texture(folder, stem):
    """Texels from the top as a shader sees them, single precision; None where there is no such file. And what precision floats have."""
    path = folder / f"{stem}.png"
    if path.exists():
        import png

        width, height, rows, info = png.Reader(filename=str(path)).read()
        codes = np.array([np.asarray(r, dtype=np.float32) for r in rows]).reshape(height, width, info["planes"])
        return codes / np.float32(2 ** info["bitdepth"] - 1), False
    path = folder / f"{stem}.exr"
    if path.exists():
        import OpenEXR

        channels = OpenEXR.File(str(path)).channels()
        name = next(n for n in ("RGBA", "RGB") if n in channels)
        pixels = channels[name].pixels
        return np.asarray(pixels, dtype=np.float32), {np.dtype(np.float16): "half", np.dtype(np.float32): "single"}[pixels.dtype]
    return None, None


def sample(texture, u, v):
    """Nearest texels; v from the bottom."""
    height, width = texture.shape[:2]
    column = np.floor(u * np.float32(width)).astype(int)
    row = np.floor((1 - v) * np.float32(height)).astype(int)
    assert (column >= 0).all() and (column < width).all() and (row >= 0).all() and (row < height).all(), "outside of the texture"
    return texture[row, column]


class Bake:
    def __init__(self, folder, engine, wrong):
        self.wrong = wrong
        self.axes, self.unit, self.order, self.front, name = AXES[engine]
        (path,) = folder.glob("*_data.json")
        text = path.read_text()
        (self.data,) = json.loads(text)
        self.name = self.data["Name"]
        assert path.name == f"{self.name}_data.json" and self.data["Axis System"] == name, self.data
        assert all(f'"Bound {e} {a}": ' in text for e in ("Max", "Min") for a in "XYZ")
        ends = [[self.data[f"Bound {e} {a}"] for a in "XYZ"] for e in ("Min", "Max")]
        self.low, self.high = (np.array(e, dtype=np.float32) for e in ends)
        fract = lambda x: x - np.floor(x)
        ten = np.float32(10)
        self.active = 1 - (np.ceil(ten * self.low[2]) - ten * self.low[2]), 1 - fract(-ten * self.high[0])
        self.divisor = 1 - fract(ten * self.high[1])
        self.is_float = fract(ten * self.high[2]) >= 0.5
        self.has_float_lookup = fract(-ten * self.low[0]) >= 0.5
        self.frames = self.data["Frame Count"]
        self.texture, self.bits = {}, 0
        for suffix in ("pos", "pos2", "rot", "col", "lookup"):
            texture, is_float = read_texture(folder, f"{self.name}_{suffix}")
            if texture is not None:
                self.texture[suffix] = texture
                assert bool(is_float) == (self.has_float_lookup if suffix == "lookup" else self.is_float) or suffix == "col", suffix
                self.bits = {"half": 11, "single": 24}.get(is_float, 0) if suffix == "pos" else self.bits
        assert ("pos2" in self.texture) == bool(self.data["Two Position Textures"])
        self.rest, _, triangles, _ = parse_glb(folder / f"{self.name}_mesh.glb")
        self.rest, self.triangles = self.rest @ self.axes.T * self.unit, triangles
        sets = [s.astype(np.float32) for s in parse_sets(folder / f"{self.name}_mesh.glb")]
        self.uv = [np.stack([s[:, 0], s[:, 1] if wrong == "upside" else 1 - s[:, 1]], axis=1) for s in sets]

    def address(self, uv, frame):
        hidden = uv[:, 1] <= 0.1
        assert not hidden.any(), f"{hidden.sum()} vertices are hidden"
        turn = np.float32((frame - 1) % self.frames) / np.float32(self.frames)
        return uv[:, 0] * self.active[0], 1 - self.active[1] * ((1 - uv[:, 1]) + turn)

    def places(self, texel, u, v):
        place = texel[:, :3].astype(float)
        if "pos2" in self.texture:
            place = place + 0.01 * sample(self.texture["pos2"], u, v)[:, :3]
        return place if self.is_float else self.low + place * (self.high - self.low)

    def rotations(self, u, v):
        texel = sample(self.texture["rot"], u, v).astype(float)
        return texel if self.is_float else 2 * texel - 1

    def step(self, place):
        """How far a value that the format rounds may be from what it was; nothing where there is none."""
        if not len(place):
            return 0.0
        if self.is_float:
            exponent = np.floor(np.log2(np.abs(place).max(axis=0) + 1e-9)) + 1
            return np.linalg.norm(2.0 ** (exponent - self.bits - 1)) + 2e-6 * self.unit
        codes = 25500 if "pos2" in self.texture else 65535
        return np.linalg.norm(self.high - self.low) * (0.5 / codes + 1e-6)


def turned(q, v):
    """`q v` of quaternions x y z w."""
    once = np.cross(q[:, :3], v) + q[:, 3:] * v
    return v + 2 * np.cross(q[:, :3], once)


def degrees_between(a, b):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1)))


def placed(bake, source):
    points = np.stack([source[c] for c in "xyz"], axis=1)
    return points @ bake.axes.T * bake.unit


def fluid(bake, sources):
    worst, allowed, angle, corners, hidden = 0.0, 0.0, 0.0, 0, 0
    up = bake.axes @ [0, 1, 0]
    for frame, (source, faces) in enumerate(sources, start=1):
        code = sample(bake.texture["lookup"], *bake.address(bake.uv[0], frame))
        code = code[:, [2, 1, 0, 3]] if bake.wrong == "swapped" else code
        assert code.shape[1] == 4
        u, v = code[:, 0] + code[:, 1] / np.float32(255), 1 - (code[:, 2] + code[:, 3] / np.float32(255))
        shown = bake.places(sample(bake.texture["pos"], u, v), u, v)[bake.triangles]
        # Triangles are in the order of the file; those that are not there, behind them, have one point.
        assert (shown[len(faces) :] == shown[len(faces) :, :1]).all(), "a triangle that is not there has an area"
        hidden += len(shown) - len(faces)
        truth = placed(bake, source)
        off = np.linalg.norm(shown[: len(faces)] - truth[faces], axis=2)
        worst, allowed = max(worst, off.max(initial=0)), max(allowed, bake.step(truth))
        if "rot" in bake.texture and len(faces):
            normals = turned(bake.rotations(u, v), np.broadcast_to(up, (len(u), 3)))[bake.triangles][: len(faces)]
            expected, is_smooth, _ = normals_of(np.stack([source[c] for c in "xyz"], axis=1).astype(np.float32), faces)
            angles = degrees_between(normals, expected @ bake.axes.T)[is_smooth]
            angle, corners = max(angle, angles.max(initial=0)), corners + len(angles)
    report(bake, worst, allowed, f"{len(bake.triangles)} triangles of which {hidden} in all frames are not there; lookup {bake.texture['lookup'].shape[1::-1]}, "
           f"points {bake.texture['pos'].shape[1::-1]}; normals of {corners} smooth corners within {angle:.3f} degrees")
    # Four channels of 8 bits are off by half a code each, 2 / 255 together; the angle by twice that, and as much across, since nobody makes quaternions unit.
    assert angle < (0.15 if bake.is_float else np.degrees(2 * np.sqrt(2) * 2 / 255)), "normals are not those of the source"


def rigid(bake, sources):
    assert bake.axes[0, 0] == -1, "Unity's shader"
    uv1, uv2, uv3 = bake.uv[1:4]
    pivot = np.stack([-uv2[:, 0], uv3[:, 0], 1 - uv3[:, 1]], axis=1).astype(float)
    arm = bake.rest - (0 if bake.wrong == "pivot" else pivot)

    def texels(frame):
        u, v = bake.address(uv1, frame)
        place = sample(bake.texture["pos"], u, v)
        part, (x, y, z, w) = np.floor(4 * place[:, 3]).astype(int), bake.rotations(u, v).T
        e = np.sqrt(np.maximum(1 - x * x - y * y - z * z, 0))
        part = 0 * part if bake.wrong == "index" else part
        q = np.stack([np.select([part == 1, part == 2], [a, b], c) for a, b, c in [(e, x, x), (y, -e, y), (z, z, z), (x, -y, e)]], axis=1)
        q[part == 3] = np.stack([x, y, -e, -z], axis=1)[part == 3]
        scale = (1 - np.mod(4 * place[:, 3:], 1)) / bake.divisor
        return bake.places(place, u, v), q, w[:, None], scale

    def shown(frame, t):
        (place, q, w, scale), (place_next, q_next, _, _) = texels(frame), texels(frame + 1)
        c, d = np.mod(np.abs(w), 1), np.mod(np.abs(w) * t, 1)
        sign = 1 if bake.wrong == "spin" else np.sign(w)
        with np.errstate(invalid="ignore", divide="ignore"):
            mixed = (np.sin((c - d) * np.pi) * q + sign * np.sin(d * np.pi) * q_next) / np.sin(c * np.pi)
        q = np.where(w == 0, q, mixed / np.linalg.norm(mixed, axis=1, keepdims=True))
        return turned(q, arm) * scale + place + t * (place_next - place)

    worst, allowed, between = 0.0, 0.0, 0.0
    length = np.linalg.norm(arm, axis=1).max()
    _, faces = sources[0]
    for frame, (source, _) in enumerate(sources, start=1):
        truth = placed(bake, source)
        off = np.linalg.norm(shown(frame, 0)[bake.triangles] - truth[faces], axis=2)
        worst, allowed = max(worst, off.max()), max(allowed, bake.step(truth) + length * 2.0 ** (4 - bake.bits))
        if frame < len(sources):
            # Each piece at half the way: the turn that takes one frame to the next, halved, found in double precision from the frames alone.
            half = halfway(bake, pivot, truth, placed(bake, sources[frame][0]), faces)
            between = max(between, np.linalg.norm(shown(frame, 0.5)[bake.triangles] - half, axis=2).max())
    pieces = len(np.unique(pivot, axis=0))
    report(bake, worst, allowed, f"{pieces} pieces, halfway between frames within {between / bake.unit * 1e3:.4f} mm")
    assert between <= 2 * allowed, "pieces do not turn as they should between frames"


def halfway(bake, pivot, now, later, faces):
    """Where corners of triangles are when each piece is moved and turned half the way from a frame to the next."""
    _, piece = np.unique(pivot[bake.triangles.reshape(-1)], axis=0, return_inverse=True)
    corner, out = faces.reshape(-1), np.zeros((faces.size, 3))
    for number in range(piece.max() + 1):
        own = np.unique(corner[piece.reshape(-1) == number])
        a, b = now[own].mean(axis=0), later[own].mean(axis=0)
        left, _, right = np.linalg.svd((later[own] - b).T @ (now[own] - a))
        matrix = left @ np.diag([1, 1, np.sign(np.linalg.det(left @ right))]) @ right
        skew = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]]) / 2
        angle = np.arctan2(np.linalg.norm(skew), (np.trace(matrix) - 1) / 2)
        axis = skew / max(np.linalg.norm(skew), 1e-12) * np.sin(angle / 4)
        q = np.append(axis, np.cos(angle / 4))
        mine = np.flatnonzero(piece.reshape(-1) == number)
        out[mine] = turned(np.broadcast_to(q, (len(mine), 4)), now[corner[mine]] - a) + (a + b) / 2
    return out.reshape(-1, 3, 3)


def sprite(bake, sources):
    corners, particle = (bake.uv[k].reshape(-1, 4, 2) for k in (0, 1))
    assert (np.sort(corners[:, :, 0] * 2 + corners[:, :, 1]) == [0, 1, 2, 3]).all(), "corners of squares"
    assert (particle == particle[:, :1]).all(), "corners of a square show one particle"
    worst, allowed, off_width, points = 0.0, 0.0, 0.0, 0
    for frame, (source, _) in enumerate(sources, start=1):
        texel = sample(bake.texture["pos"], *bake.address(particle[:, 0], frame))
        width = np.ones(len(texel)) if bake.wrong == "width" else texel[:, 3].astype(float) / bake.divisor
        shown, width, truth = texel[width > 0, :3].astype(float), width[width > 0], placed(bake, source)
        assert len(shown) == len(truth), (frame, len(shown), len(truth))
        if not len(truth):
            continue
        near = np.linalg.norm(shown[:, None] - truth[None], axis=2)
        nearest = near.argmin(axis=0)
        assert len(np.unique(nearest)) == len(truth), "each point has a square of its own"
        worst, allowed, points = max(worst, near.min(axis=0).max()), max(allowed, bake.step(truth)), points + len(truth)
        off_width = max(off_width, np.abs(width[nearest] - source["size"] * bake.unit).max())
    report(bake, worst, allowed, f"{points} points in {len(particle)} squares, widths within {off_width / bake.unit * 1e3:.5f} mm")
    assert off_width <= 2.0 ** (1 - bake.bits) * bake.unit, "widths are not those of the source"


def report(bake, worst, allowed, more):
    unit = bake.unit * 1e-3
    print(f"{bake.name}: {bake.frames} frames within {worst / unit:.4f} mm (allowed {allowed / unit:.4f} mm); {more}")
    assert worst <= allowed, "places are not those of the source"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path, nargs="+")
    parser.add_argument("--mode", choices=["fluid", "rigid", "sprite"], required=True)
    parser.add_argument("--for", dest="engine", choices=AXES, default="gltf")
    parser.add_argument("--wrong", action="append", default=[])
    asked = parser.parse_args()
    sources = [read_source(path) for path in asked.source]

    def check(wrong):
        bake = Bake(asked.folder, asked.engine, wrong)
        assert bake.frames == len(sources), (bake.frames, len(sources))
        {"fluid": fluid, "rigid": rigid, "sprite": sprite}[asked.mode](bake, sources)

    judge(check, asked.wrong)


main()
