"""Writes a small GLB and NPZ that agree, and an NPZ that does not: they show that the comparison works.

usage: python make_probe.py FOLDER      (probe.glb, probe.npz, probe_wrong.npz)

Two meshes, one of two primitives, a vertex that no triangle uses, three frames as morph targets that a STEP
animation switches at 30 frames a second.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

FRAMES = [5, 7, 10]


def grid(columns, rows, shift):
    """A sheet of quads with one stray vertex in the middle of the list."""
    points = [[x / columns + shift, y / rows, 0.0] for y in range(rows + 1) for x in range(columns + 1)]
    stray = len(points) // 2
    points.insert(stray, [shift + 9.0, 9.0, 9.0])
    at = lambda x, y: (i := y * (columns + 1) + x) + (i >= stray)
    triangles = []
    for y in range(rows):
        for x in range(columns):
            a, b, c, d = at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)
            triangles += [[a, b, c], [a, c, d]]
    return np.array(points, np.float32), np.array(triangles, np.uint32)


def bend(points, frame):
    """Any motion that differs for every vertex."""
    x, y, z = points.T.astype(np.float64)
    wave = 0.1 * np.sin(0.3 * frame + 4.0 * x)
    return np.stack([x + 0.02 * frame * y, y + wave, z + 0.05 * frame * x * y], axis=1).astype(np.float32)


class Writer:
    def __init__(self):
        self.data, self.views, self.accessors = b"", [], []

    def add(self, values, kind, component, bounds=False):
        raw = values.tobytes()
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)})
        self.data += raw + b"\0" * (-len(raw) % 4)
        accessor = {
            "bufferView": len(self.views) - 1,
            "componentType": component,
            "count": values.size // {"SCALAR": 1, "VEC3": 3}[kind],
            "type": kind,
        }
        if bounds:
            table = values.reshape(accessor["count"], -1)
            accessor["min"], accessor["max"] = table.min(0).tolist(), table.max(0).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def main(folder):
    out = Writer()
    names = ["b_first", "a_second"]
    primitives, sheets = [[], []], []
    for mesh, shift in [(0, 0.0), (0, 1.5), (1, 3.0)]:
        points, triangles = grid(7, 5, shift)
        frames = [bend(points, f) for f in FRAMES]
        sheets.append((points, triangles, frames))
        targets = [{"POSITION": out.add(f - points, "VEC3", 5126, True)} for f in frames]
        primitives[mesh].append(
            {
                "attributes": {"POSITION": out.add(points, "VEC3", 5126, True)},
                "indices": out.add(triangles.reshape(-1), "SCALAR", 5125),
                "targets": targets,
            }
        )
    times = np.array(FRAMES, np.float32) / np.float32(30.0)
    times_id = out.add(times, "SCALAR", 5126, True)
    weights_id = out.add(np.eye(len(FRAMES), dtype=np.float32), "SCALAR", 5126)
    sampler = {"input": times_id, "output": weights_id, "interpolation": "STEP"}
    channels = [{"sampler": 0, "target": {"node": n, "path": "weights"}} for n in (0, 1)]
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": n, "name": names[n]} for n in (0, 1)],
        "meshes": [{"primitives": p, "weights": [0.0] * len(FRAMES)} for p in primitives],
        "animations": [{"name": "probe", "samplers": [sampler], "channels": channels}],
        "buffers": [{"byteLength": len(out.data)}],
        "bufferViews": out.views,
        "accessors": out.accessors,
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(out.data)
    glb = struct.pack("<III", 0x46546C67, 2, total)
    glb += struct.pack("<II", len(text), 0x4E4F534A) + text
    glb += struct.pack("<II", len(out.data), 0x004E4942) + out.data
    (folder / "probe.glb").write_bytes(glb)

    starts = np.cumsum([0] + [len(s[0]) for s in sheets])
    indices = np.concatenate([s[1] + np.uint32(n) for s, n in zip(sheets, starts)])
    positions = np.stack([np.concatenate([s[2][k] for s in sheets]) for k in range(len(FRAMES))])
    np.savez(folder / "probe.npz", positions=positions, times=times, indices=indices)
    positions[1, 3, 2] += 1e-3
    np.savez(folder / "probe_wrong.npz", positions=positions, times=times, indices=indices)


main(Path(sys.argv[1]))
