"""Pieces in the axes of an engine, read by the manifest alone and put together as a player does.

    python vat_pieces.py make FOLDER
    python vat_pieces.py check BAKE.vat.json FRAMES.npz unity|unreal|blender

`make` writes FOLDER/shards_0001.obj ... and FOLDER/shards.npz (positions and indices, metres, +Y up): tetrahedra with sides of four lengths, which are not their own mirror
images, each turning at a rate of its own. `check` turns the carrier as the engine's importer does (see vat_space.py), moves its vertices by position and rotation of
their piece, and compares every corner with the frames. Quaternions as they are in glTF must not fit.
"""

import json
import pathlib
import sys

import numpy as np

from broken import judge
from glb import parse_glb
from vat_space import ENGINES, texels

FRAMES, PIECES = 7, 4
CORNERS = np.array([[0, 0, 0], [0.5, 0, 0], [0.1, 0.7, 0], [0.2, 0.1, 0.9]]) - 0.2
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def turn(axis, angle):
    """The matrix of Rodrigues' formula."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def positions(frame):
    out = []
    for i in range(PIECES):
        matrix = turn([1 + i, 2 - i, 0.5 * i - 1], (0.2 + 0.25 * i) * frame)
        out.append(CORNERS @ matrix.T + [1.5 * i + 0.1 * frame, 0.3 * frame - 0.05 * frame**2, 0.2 * i * frame])
    return np.concatenate(out).astype(np.float32)


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    faces = np.concatenate([FACES + 4 * i for i in range(PIECES)])
    frames = np.array([positions(f) for f in range(FRAMES)])
    for number, points in enumerate(frames, start=1):
        lines = [f"v {x!s} {y!s} {z!s}" for x, y, z in points]
        lines += ["f " + " ".join(str(v + 1) for v in face) for face in faces]
        (folder / f"shards_{number:04}.obj").write_text("\n".join(lines) + "\n")
    np.savez(folder / "shards.npz", positions=frames, indices=faces)


def rotated(q, v):
    """`q v q*`, one quaternion a row."""
    axis, w = q[:, :3], q[:, 3:]
    once = np.cross(axis, v) + w * v
    return v + 2 * np.cross(axis, once)


def check(path, truth, engine, is_wrong):
    manifest = json.loads(path.read_text())
    axes, unit, _, _, space = ENGINES[engine]
    assert (manifest["space"], manifest["mode"]) == (space, "rigid"), (manifest["space"], manifest["mode"])
    rest, uvs, mesh, _ = parse_glb(path.with_name(manifest["carrier"]))
    rest = rest @ axes.T * unit
    places, scale = texels(manifest, path.parent, "position")
    turns, _ = texels(manifest, path.parent, "rotation")
    if is_wrong:
        turns[..., :3] = turns[..., :3] @ axes * np.linalg.det(axes)
    width, height = manifest["layout"]["size"]
    first = np.floor(uvs * [width, height]).astype(int)
    (wide, high), across = manifest["layout"]["arrangement"]["blocks"]["block"], manifest["layout"]["arrangement"]["blocks"]["across"]
    pivot, worst = places[first[:, 1], first[:, 0]], 0.0
    for frame, points in enumerate(truth["positions"].astype(float)):
        column, row = first[:, 0] + frame % across * wide, first[:, 1] + frame // across * high
        q = turns[row, column]
        q = q / np.linalg.norm(q, axis=1, keepdims=True)
        shown = rotated(q, rest - pivot) + places[row, column]
        expected = (points @ axes.T * unit)[truth["indices"]]
        worst = max(worst, np.linalg.norm(shown[mesh] - expected, axis=2).max())
    # Half a code of each coordinate, and of a quaternion whose arms are shorter than a metre.
    allowed = np.linalg.norm(scale) * 0.5 / 65535 + unit * (4 / 65535 + 2e-6)
    print(f"{manifest['name']} for {engine}: {PIECES} pieces within {worst / unit * 1e3:.4f} mm (allowed {allowed / unit * 1e3:.4f} mm)")
    assert worst <= allowed, "pieces are not where they were made to be"


if sys.argv[1] == "make":
    make(pathlib.Path(sys.argv[2]))
else:
    path, truth, engine = pathlib.Path(sys.argv[2]), np.load(sys.argv[3]), sys.argv[4]
    judge(lambda wrong: check(path, truth, engine, wrong), ["rotations in the axes of glTF"])
