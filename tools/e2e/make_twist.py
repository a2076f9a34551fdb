"""Writes a sequence that is not its own mirror image: a tube along a helix that winds and grows, nine OBJ files and their numbers.

    python make_twist.py FOLDER

FOLDER/twist_0001.obj ... and FOLDER/twist.npz: positions (frames, vertices, 3; metres, +Y up) and indices (triangles, 3).
"""

import pathlib
import sys

import numpy as np

RINGS, SIDES, FRAMES = 40, 10, 9


def positions(frame):
    along = np.linspace(0, 1, RINGS)[:, None]
    around = np.arange(SIDES)[None, :] * 2 * np.pi / SIDES
    turn = (3 + 0.3 * frame) * along
    radius = 0.15 + 0.05 * np.sin(5 * along + 0.7 * frame)
    out, up = np.cos(around) * radius, np.sin(around) * radius
    x = (0.6 + out) * np.cos(turn) + 0.2
    y = (0.9 + 0.05 * frame) * along + up
    z = (0.6 + out) * np.sin(turn) - 0.1 * frame * along
    return np.stack([x, y, z], axis=2).reshape(-1, 3).astype(np.float32)


def triangles():
    out = []
    for ring in range(RINGS - 1):
        for side in range(SIDES):
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            out += [(a, a + SIDES, b), (b, a + SIDES, b + SIDES)]
    last = (RINGS - 1) * SIDES
    for side in range(1, SIDES - 1):
        out += [(0, side, side + 1), (last, last + side + 1, last + side)]
    return np.array(out)


def volume(points, faces):
    a, b, c = (points[faces[:, k]].astype(float) for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
faces = triangles()
if volume(positions(0), faces) < 0:
    faces = faces[:, [0, 2, 1]]
frames = np.array([positions(f) for f in range(FRAMES)])
for number, points in enumerate(frames, start=1):
    assert volume(points, faces) > 0.02
    lines = [f"v {x!s} {y!s} {z!s}" for x, y, z in points]
    lines += [f"vt {i % SIDES / SIDES} {i // SIDES / RINGS}" for i in range(len(points))]
    lines += ["f " + " ".join(f"{v + 1}/{v + 1}" for v in face) for face in faces]
    (folder / f"twist_{number:04}.obj").write_text("\n".join(lines) + "\n")
np.savez(folder / "twist.npz", positions=frames, indices=faces)
print(f"{len(frames)} frames, {frames.shape[1]} vertices, {len(faces)} triangles")
