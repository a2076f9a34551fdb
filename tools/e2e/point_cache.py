"""Compares point caches in a graph with Blender's mesh cache modifier.

usage: python point_cache.py SINEW FOLDER

Writes a grid as OBJ and its motion as PC2 and MDD, byte by byte from the formats' definitions. `SINEW run` plays
them through a graph that leaves positions alone; Blender plays the same files. Frames before, at, between and
after samples must be equal to single precision. Exit status 1 where they are not.
"""

import struct
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np

SIDE, SAMPLES, FPS = 5, 4, 24
GRAPH = '{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": [{"node": "smooth", "iterations": 0}]}'


def grid():
    points = [(x / 4, y / 4, 0.0) for y in range(SIDE) for x in range(SIDE)]
    corner = [y * SIDE + x for y in range(SIDE - 1) for x in range(SIDE - 1)]
    return points, [(c, c + 1, c + SIDE + 1, c + SIDE) for c in corner]


def write(folder, points, faces):
    """Texture coordinates split points of the OBJ: 25 points become more vertices."""
    lines = ["v %r %r %r" % p for p in points] + ["vt 0 0", "vt 1 1"]
    lines += ["f " + " ".join(f"{c + 1}/{1 + n % 2}" for c in face) for n, face in enumerate(faces)]
    (folder / "rest.obj").write_text("\n".join(lines) + "\n")
    (folder / "pass.json").write_text(GRAPH)
    moved = [[(x + k / 3, y * (1 + k / 2), z + x * y * k / 2) for x, y, z in points] for k in range(SAMPLES)]
    numbers = np.array(moved, np.float32)
    for name, rate in [("each.pc2", 1.0), ("second.pc2", 2.0)]:
        head = b"POINTCACHE2\0" + struct.pack("<iiffi", 1, len(points), 1.0, rate, SAMPLES)
        (folder / name).write_bytes(head + numbers.astype("<f4").tobytes())
    times = np.array([(k + 1) / FPS for k in range(SAMPLES)], ">f4").tobytes()
    head = struct.pack(">ii", SAMPLES, len(points)) + times
    (folder / "each.mdd").write_bytes(head + numbers.astype(">f4").tobytes())


def blender(modifier, path, frame):
    """Positions at a frame; Blender counts samples from frame 1."""
    modifier.cache_format = path.suffix[1:].upper()
    modifier.filepath = str(path)
    modifier.frame_start = 1
    modifier.interpolation = "LINEAR"
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    shown = modifier.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    out = np.empty(3 * len(shown.vertices), np.float32)
    shown.vertices.foreach_get("co", out)
    return out.reshape(-1, 3)


def main():
    sinew, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    points, faces = grid()
    write(folder, points, faces)
    mesh = bpy.data.meshes.new("grid")
    mesh.from_pydata(points, [], faces)
    shown = bpy.data.objects.new("grid", mesh)
    bpy.context.scene.collection.objects.link(shown)
    modifier = shown.modifiers.new("cache", "MESH_CACHE")
    worst = 0.0
    for name, rate in [("each.pc2", 1), ("second.pc2", 2), ("each.mdd", 1)]:
        command = [sinew, "run", "rest.obj", "--point-cache", name, "-g", "pass.json"]
        command += ["--fps", str(FPS), "-f", "0-9", "-o", "out.npz", "--quiet"]
        subprocess.run(command, check=True, cwd=folder)
        ours = np.load(folder / "out.npz")["positions"][:, : len(points)]
        for frame, positions in enumerate(ours):
            theirs = blender(modifier, folder / name, 1 + (frame - 1) / rate)
            worst = max(worst, float(np.abs(positions - theirs).max()))
    print(f"point caches: worst {worst:.2e} m from Blender's mesh cache")
    sys.exit(worst > 1e-6)


if __name__ == "__main__":
    main()
