"""Reads vertex animation textures of OpenVAT as its players do, by the published rules alone, and compares each frame with the source.

    python openvat_read.py FOLDER FRAMES.npz

FOLDER: NAME-remap_info.json, NAME_vat.png or .exr, NAME_vnrm.* unless normals are below the offsets, NAME.glb. FRAMES.npz: positions (frames,
vertices, 3; metres, +Y up) and indices (triangles, 3). The rules:

- texture coordinates: the last set of the mesh, v down; a vertex' texel in frame f is at v + f / height
- vertices are numbered from the last one: number i is in column i mod width, row (i div width) * frames
- position = rest + (x, z, -y) of (Min + texel * (Max - Min)); normal = (x, z, -y) of (2 * texel - 1), half the height below where it is packed
- sides are powers of two from 64 to 8192, one twice the other at most; Min and Max are whole tenths

Each of three rules (v, numbers, axes) is broken once, which must be noticed.
"""

import json
import pathlib
import sys

import numpy as np

from broken import judge
from glb import parse_glb


def read_texture(folder, stem):
    """Texels from the top, three channels, 0 to 1; None where there is no such file."""
    path = folder / f"{stem}.png"
    if path.exists():
        import png

        width, height, rows, info = png.Reader(filename=str(path)).read()
        assert info["planes"] == 3, info
        codes = np.array([np.asarray(r, dtype=float) for r in rows]).reshape(height, width, 3)
        return codes / (2 ** info["bitdepth"] - 1)
    path = folder / f"{stem}.exr"
    if path.exists():
        import OpenEXR

        channels = OpenEXR.File(str(path)).channels()
        return np.asarray(channels["RGB"].pixels, dtype=float)
    return None


def swizzled(v, wrong):
    return v if wrong == "unswizzled" else np.stack([v[:, 0], v[:, 2], -v[:, 1]], axis=1)


def check_rules(uv, size, frames, packed):
    width, height = size
    for side in size:
        assert side & (side - 1) == 0 and 64 <= side <= 8192, size
    assert max(size) <= 2 * min(size), size
    number = len(uv) - 1 - np.arange(len(uv))
    assert -(-len(uv) // width) * frames * (2 if packed else 1) <= height
    expected = np.stack([(number % width + 0.5) / width, (number // width * frames + 0.5) / height], axis=1)
    assert np.abs(uv - expected).max() < 1e-6, "texture coordinates are not those of the rule"


def check(folder, truth, wrong):
    (info_path,) = folder.glob("*-remap_info.json")
    name = info_path.name.removesuffix("-remap_info.json")
    info = json.loads(info_path.read_text())["os-remap"]
    low, high, frames = np.array(info["Min"]), np.array(info["Max"]), info["Frames"]
    for end in (low, high):
        assert np.allclose(end * 10, np.rint(end * 10), atol=1e-9), "Min and Max are no whole tenths"
    assert frames == len(truth["positions"]), (frames, truth["positions"].shape)
    rest, uv, triangles, _ = parse_glb(folder / f"{name}.glb")
    offsets, normals = read_texture(folder, f"{name}_vat"), read_texture(folder, f"{name}_vnrm")
    packed = normals is None
    height, width = offsets.shape[:2]
    if wrong == "forward":
        uv = uv[::-1]
    elif wrong == "flipped":
        uv = np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1)
    elif wrong is None:
        check_rules(uv, (width, height), frames, packed)
    positions_of_frames, source = truth["positions"], truth["indices"].reshape(-1, 3)
    assert len(triangles) == len(source), (len(triangles), len(source))
    worst, turned, corners = 0.0, 0, 0
    for frame, positions in enumerate(positions_of_frames):
        column = np.floor(uv[:, 0] * width).astype(int)
        row = np.floor((uv[:, 1] + frame / height) % 1 * height + 1e-6).astype(int)
        shown = rest + swizzled(low + offsets[row, column] * (high - low), wrong)
        worst = max(worst, np.linalg.norm(shown[triangles] - positions[source], axis=2).max())
        lower = (row + height // 2) % height if packed else row
        direction = swizzled((offsets if packed else normals)[lower, column] * 2 - 1, wrong)
        assert np.abs(np.linalg.norm(direction, axis=1) - 1).max() < 0.02, f"frame {frame}: normals are not of unit length"
        a, b, c = (positions[source[:, k]] for k in range(3))
        face = np.cross(b - a, c - a)
        facing = np.einsum("tkc,tc->tk", direction[triangles], face)
        turned += int((facing < 0).sum())
        corners += facing.size
    # Half a code of 16 bits, along three axes, and single precision.
    allowed = float(np.linalg.norm(high - low)) * 0.5 / 65535 + 2e-6
    print(f"{name}: {frames} frames, {len(triangles)} triangles, {width} x {height}; positions within {worst * 1e3:.4f} mm (allowed {allowed * 1e3:.4f} mm), {turned} of {corners} normals face inwards")
    assert worst <= allowed, "positions are not those of the source"
    assert turned < corners * 0.002, "normals face inwards"


def main():
    folder, truth = pathlib.Path(sys.argv[1]), np.load(sys.argv[2])
    judge(lambda wrong: check(folder, truth, wrong), ["flipped", "forward", "unswizzled"])


main()
