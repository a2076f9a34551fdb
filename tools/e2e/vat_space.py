"""Imports a bake into an engine by hand and looks whether the sequence is there: in its place, of its size, not mirrored, right side out.

    python vat_space.py BAKE.vat.json FRAMES.npz unity|unreal|blender

What an importer makes of a GLB (+Y up, right-handed, metres):

- Unity (glTFast, UnityGLTF): (-x, y, z), corners counted the other way round; front faces have cross(b - a, c - a) outwards
- Unreal: 100 (x, z, y), corners as they are; front faces have cross(b - a, c - a) inwards
- Blender: (x, -z, y), corners as they are; front faces have cross(b - a, c - a) outwards

What the textures say is used as it is: positions replace those of the mesh, offsets are added. The mesh and the truth as they are in
the GLB must not fit.
"""

import json
import pathlib
import sys

import numpy as np
import png

from broken import judge
from glb import parse_glb

ENGINES = {
    "unity": (np.array([[-1, 0, 0], [0, 1, 0], [0, 0, 1]]), 1.0, [0, 2, 1], 1, "y_up_left_handed"),
    "unreal": (np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]]), 100.0, [0, 1, 2], -1, "z_up_left_handed_centimeters"),
    "blender": (np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]), 1.0, [0, 1, 2], 1, "z_up_right_handed"),
}


def texels(manifest, folder, quantity):
    texture = next(t for t in manifest["textures"] if t["quantity"] == quantity)
    width, height, rows, info = png.Reader(filename=str(folder / texture["files"][0])).read()
    codes = np.array([np.asarray(r, dtype=float) for r in rows]).reshape(height, width, info["planes"])
    scale, offset = (np.array([r[k] for r in texture["ranges"]]) for k in ("scale", "offset"))
    return codes / (2 ** info["bitdepth"] - 1) * scale + offset, scale


def places_of(manifest, frame):
    layout = manifest["layout"]
    # Each frame may be followed by its end, which blends go to.
    frame *= 2 if manifest.get("has_ends") else 1
    vertex = np.arange(layout["vertices"])
    (wide, high), across = layout["arrangement"]["blocks"]["block"], layout["arrangement"]["blocks"]["across"]
    return (frame // across) * high + vertex // wide, (frame % across) * wide + vertex % wide


def check(path, truth, engine, wrong):
    manifest = json.loads(path.read_text())
    axes, unit, order, front, space = ENGINES[engine]
    assert manifest["space"] == space, manifest["space"]
    if wrong:
        axes, unit, order, front = np.eye(3), 1.0, [0, 1, 2], 1
    rest, _, mesh, _ = parse_glb(path.with_name(manifest["carrier"]))
    rest, mesh = rest @ axes.T * unit, mesh[:, order]
    is_soft = manifest["mode"] == "soft"
    places, scale = texels(manifest, path.parent, "offset" if is_soft else "position")
    normals, _ = texels(manifest, path.parent, "normal")
    low, high = (np.array(b) for b in manifest["bounds"])
    worst, volume, inwards, corners = 0.0, 0.0, 0, 0
    for frame, positions in enumerate(truth["positions"].astype(float)):
        row, column = places_of(manifest, frame)
        shown = places[row, column] + (rest if is_soft else 0)
        expected = (positions @ axes.T * unit)[truth["indices"]][:, order]
        triangles, direction = shown[mesh], normals[row, column][mesh]
        there = np.abs(triangles - triangles[:, :1]).max(axis=(1, 2)) > 0
        triangles, direction = triangles[there], direction[there]
        assert len(triangles) == len(expected), (frame, len(triangles), len(expected))
        faces = front * np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        inwards += int((np.einsum("tkc,tc->tk", direction, faces) < 0).sum())
        corners += 3 * len(triangles)
        volume = np.einsum("ij,ij->", triangles.mean(axis=1), faces) / 6 / unit**3
        assert (shown >= low - np.abs(scale).max() * 1e-4).all() and (shown <= high + np.abs(scale).max() * 1e-4).all()
        if is_soft:
            worst = max(worst, np.linalg.norm(triangles - expected, axis=2).max())
        else:
            # Triangles of a remesh bake are in any order: each coordinate of their middles, sorted, tells.
            middles, truths = (np.sort(t.mean(axis=1), axis=0) for t in (triangles, expected))
            worst = max(worst, np.abs(middles - truths).max())
        assert volume > 0.02, f"frame {frame}: volume {volume}: inside out or mirrored"
    allowed = np.linalg.norm(scale) * 0.5 / 65535 * 1.01 + 2e-6 * unit
    print(f"{manifest['name']} for {engine}, {manifest['mode']}: within {worst / unit * 1e3:.4f} mm (allowed {allowed / unit * 1e3:.4f} mm), volume {volume:.4f} m3, {inwards} of {corners} normals inwards")
    assert worst <= allowed, "places are not those of the source"
    assert inwards < corners * 0.002, "normals face inwards"


def main():
    path, truth, engine = pathlib.Path(sys.argv[1]), np.load(sys.argv[2]), sys.argv[3]
    judge(lambda wrong: check(path, truth, engine, wrong), ["values in the axes of glTF"])


if __name__ == "__main__":
    main()
