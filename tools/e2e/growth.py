"""How time and memory of commands grow with what they are given: frames, nodes, wrong links, joints, morph targets, primitives, vertices and strands.

    growth.py SINEW

Makes each input three times, each four times as large as the one before, and prints seconds, megabytes and how many times as much the largest
one takes as the middle one. What is linear takes four times as much, or less where starting the program counts. Exit code 1 where anything
takes more than eight times as much. The machine should do nothing else meanwhile. Megabytes are at least those of this script.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SINEW = sys.argv[1]
OUT = Path(tempfile.mkdtemp())
LIMIT = 8.0


def character(path, *, joints=2, targets=0, primitives=1, rows=40):
    """A tube of `rows` rings around a chain of joints, with a clip that bends each of them and shows each target."""
    ring = 12
    z, a = np.meshgrid(np.linspace(0, 1, rows), np.arange(ring) * 2 * np.pi / ring, indexing="ij")
    points = np.stack([0.1 * np.cos(a), z, 0.1 * np.sin(a)], -1).reshape(-1, 3).astype("<f4")
    r, k = np.meshgrid(np.arange(rows - 1), np.arange(ring), indexing="ij")
    q = [(r + i) * ring + (k + j) % ring for i, j in [(0, 0), (1, 0), (1, 1), (0, 1)]]
    triangles = np.stack([q[0], q[1], q[2], q[0], q[2], q[3]], -1).reshape(-1, 3).astype("<u4")
    blob, views, accessors = bytearray(), [], []

    def accessor(array, kind, component):
        array = np.ascontiguousarray(array)
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
        found = {"bufferView": len(views) - 1, "componentType": component, "count": len(array), "type": kind}
        if kind == "VEC3" or kind == "SCALAR" and component == 5126:
            flat = array.reshape(len(array), -1)
            found |= {"min": flat.min(0).tolist(), "max": flat.max(0).tolist()}
        blob.extend(array.tobytes() + b"\0" * (-array.nbytes % 4))
        accessors.append(found)
        return len(accessors) - 1

    place = points[:, 1] * (joints - 1)
    first = np.clip(place.astype(int), 0, max(joints - 2, 0))
    joint = np.zeros((len(points), 4), "<u2")
    joint[:, 0], joint[:, 1] = first, np.minimum(first + 1, joints - 1)
    weight = np.zeros((len(points), 4), "<f4")
    weight[:, 1] = np.where(joint[:, 1] > joint[:, 0], place - first, 0)
    weight[:, 0] = 1 - weight[:, 1]
    attributes = {
        "POSITION": accessor(points, "VEC3", 5126),
        "JOINTS_0": accessor(joint, "VEC4", 5123),
        "WEIGHTS_0": accessor(weight, "VEC4", 5126),
    }
    moved = []
    for t in range(targets):
        offset = np.zeros_like(points)
        offset[t % len(points), 0] = 0.01
        moved.append({"POSITION": accessor(offset, "VEC3", 5126)})
    parts = []
    for part in np.array_split(triangles, primitives):
        parts.append({"attributes": attributes, "indices": accessor(part.reshape(-1), "SCALAR", 5125)})
        if moved:
            parts[-1]["targets"] = moved
    step = 1.0 / max(joints - 1, 1)
    bind = np.tile(np.eye(4, dtype="<f4"), (joints, 1, 1))
    bind[:, 3, 1] = -step * np.arange(joints)
    times = accessor(np.array([0, 1], "<f4"), "SCALAR", 5126)
    turned = accessor(np.array([[0, 0, 0, 1], [0.05, 0, 0, 0.99875]], "<f4"), "VEC4", 5126)
    nodes = [{"mesh": 0, "skin": 0}]
    for j in range(joints):
        nodes.append({"name": f"j{j}", "translation": [0, step if j else 0, 0]})
        if j + 1 < joints:
            nodes[-1]["children"] = [j + 2]
    channels = [{"sampler": 0, "target": {"node": j + 1, "path": "rotation"}} for j in range(joints)]
    samplers = [{"input": times, "output": turned}]
    if targets:
        shown = accessor(np.linspace(0, 1, 2 * targets, dtype="<f4"), "SCALAR", 5126)
        samplers.append({"input": times, "output": shown})
        channels.append({"sampler": 1, "target": {"node": 0, "path": "weights"}})
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": nodes,
        "meshes": [{"primitives": parts}],
        "skins": [{"joints": list(range(1, joints + 1)), "inverseBindMatrices": accessor(bind.reshape(-1, 16), "MAT4", 5126)}],
        "animations": [{"name": "move", "samplers": samplers, "channels": channels}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(blob)}],
    }
    return glb(path, document, blob)


def glb(path, document, blob):
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(blob))
    path.write_bytes(head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(blob), b"BIN\0") + blob)
    return path


def graph(nodes):
    out = OUT / f"nodes_{nodes}.json"
    stack = ["skin"] + [{"node": "twist", "angle": 0.01, "name": f"t{i}"} for i in range(nodes)]
    out.write_text(json.dumps({"sinew": "1.0", "stack": stack}))
    return out


def many(kind, n):
    """A character of one triangle that has `n` nodes without a mesh, nodes with it, or primitives; all share their accessors."""
    blob = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()
    count = n if kind == "instances" else 1
    nodes = [{"mesh": 0}] * count + [{"name": f"n{i}"} for i in range(n if kind == "empties" else 0)]
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}] * (n if kind == "primitives" else 1)}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
        "bufferViews": [{"buffer": 0, "byteLength": len(blob)}],
        "buffers": [{"byteLength": len(blob)}],
    }
    return glb(OUT / f"{kind}_{n}.glb", document, blob)


def named(n, link="n{}"):
    """A chain of `n` nodes by their names, all in one line; with another `link`, wrong ones."""
    out = OUT / f"named_{n}.json"
    nodes = {f"n{i}": {"node": "twist", "mesh": link.format(i - 1) if i else "body"} for i in range(n)}
    out.write_text(json.dumps({"sinew": "1.0", "nodes": nodes, "outputs": {"body": f"n{n - 1}"}}))
    return out


def points(n):
    """A lattice of `n` points, which is nearly all of the document."""
    out = OUT / f"points_{n}.json"
    lattice = {"node": "lattice", "resolution": [n, 1, 1], "points": [[0, 0, 0]] * n}
    out.write_text(json.dumps({"sinew": "1.0", "stack": [lattice]}))
    return out


def fresh():
    return Path(tempfile.mkdtemp(dir=OUT)) / "out"


def obj_sequence(frames):
    folder = OUT / f"sequence_{frames}"
    folder.mkdir(exist_ok=True)
    for f in range(frames):
        lines = [f"v {x} {0.01 * f * x} {z}" for x in range(30) for z in range(30)]
        corner = lambda x, z: 30 * x + z + 1  # noqa: E731
        lines += [f"f {corner(x, z)} {corner(x, z + 1)} {corner(x + 1, z + 1)} {corner(x + 1, z)}" for x in range(29) for z in range(29)]
        (folder / f"s_{f:04}.obj").write_text("\n".join(lines))
    return folder


def measured(command, n):
    """Seconds and megabytes, the least time of two runs."""
    best = None
    for _ in range(2):
        arguments = [*map(str, command(n))]
        begun = time.perf_counter()
        with open(OUT / "log", "wb") as log:
            process = subprocess.Popen([SINEW, *arguments], stdout=log, stderr=log)
            _, status, usage = os.wait4(process.pid, 0)
        secs = time.perf_counter() - begun
        # Graphs with wrong links end with 4.
        if status != 0 and not (arguments[0] == "check" and os.waitstatus_to_exitcode(status) == 4):
            sys.exit(f"sinew {' '.join(arguments)}: {(OUT / 'log').read_text()}")
        best = (min(secs, best[0]) if best else secs, usage.ru_maxrss / 1024)
    return best


def tube(name, **what):
    return character(OUT / f"{name}.glb", **what)


SKINNED = OUT / "skinned.json"
SKINNED.write_text('{"sinew": "1.0", "stack": ["morph", "skin", "delta_mush"]}')
TUBE = tube("tube", rows=200)
MOVED = OUT / "moved.json"
MOVED.write_text('{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": [{"node": "twist", "angle": 0.1}]}')


def run(file, *more, graph=SKINNED, out="out.npz"):
    return ["run", file, "--graph", graph, "-o", OUT / out, *more]


CASES = {
    "frames, npz": (400, lambda n: run(TUBE, "--frames", f"0-{n}")),
    "frames, glb": (200, lambda n: run(TUBE, "--frames", f"0-{n}", out="out.glb")),
    "nodes": (200, lambda n: run(TUBE, "--frames", "0-3", graph=graph(n))),
    "nodes, check": (200, lambda n: ["check", graph(n), "--character", TUBE]),
    "nodes of a stack, check": (7500, lambda n: ["check", graph(n)]),
    "nodes by name, check": (7500, lambda n: ["check", named(n)]),
    "wrong links, check": (7500, lambda n: ["check", named(n, "m{}")]),
    "points of a graph, check": (125_000, lambda n: ["check", points(n)]),
    "nodes without a mesh, inspect": (12_500, lambda n: ["inspect", many("empties", n)]),
    "nodes with a mesh, inspect": (12_500, lambda n: ["inspect", many("instances", n)]),
    "nodes with a mesh": (12_500, lambda n: run(many("instances", n), "--frames", "0", graph=MOVED, out="out.glb")),
    "small primitives": (12_500, lambda n: run(many("primitives", n), "--frames", "0", graph=MOVED, out="out.glb")),
    "strands, hair grow": (6250, lambda n: ["hair", "grow", TUBE, "--count", n, "--vertices", 8, "--length", 0.1, "-o", OUT / "hair.tfx"]),
    "joints": (256, lambda n: run(tube("joints", joints=n, rows=200), "--frames", "0-3")),
    "joints, inspect": (256, lambda n: ["inspect", tube("joints", joints=n, rows=200)]),
    "morph targets": (128, lambda n: run(tube("targets", targets=n), "--frames", "0-3")),
    "primitives": (128, lambda n: run(tube("parts", primitives=n, rows=800), "--frames", "0-3", out="out.glb")),
    "vertices": (1600, lambda n: run(tube("rows", rows=n), "--frames", "0-3")),
    "vertices, bake skin": (400, lambda n: ["bake", "skin", tube("rows", rows=n), "--graph", SKINNED, "-o", OUT / "baked.glb"]),
    "frames of a sequence, bake vat": (32, lambda n: ["bake", "vat", obj_sequence(n), "-o", fresh()]),
    "frames of a clip, bake vat": (64, lambda n: ["bake", "vat", TUBE, "--graph", SKINNED, "--frames", f"0-{n}", "-o", fresh()]),
}

failed = []
print(f"{'':34}{'size':>8}{'seconds':>10}{'MB':>8}")
for name, (size, command) in CASES.items():
    found = []
    for n in (size, 4 * size, 16 * size):
        found.append(measured(command, n))
        print(f"{name:34}{n:>8}{found[-1][0]:>10.2f}{found[-1][1]:>8.0f}", flush=True)
    times, sizes = (found[2][i] / found[1][i] for i in (0, 1))
    print(f"{'':34}  four times as much takes {times:.1f} times as long and {sizes:.1f} times the memory")
    if max(times, sizes) > LIMIT:
        failed.append(name)
if failed:
    print("grows faster than its input:", ", ".join(failed))
sys.exit(len(failed) > 0)
