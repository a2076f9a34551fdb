"""Writes what a player must show of a bake, for vat_browser.mjs: triangles of moments, from the frames that it was made from.

    python vat_expected.py FRAMES.npz BAKE/expected.json [--triangles-change]

FRAMES.npz: positions (frames, vertices, 3) and indices (triangles, 3). Between two frames a point is on the straight line from where it was to
where it will be; of a bake of triangles that change, the point found for it may be a little aside on the surface.
"""

import json
import pathlib
import sys

import numpy as np

from mesh_normals import normals_of

FRAMES_PER_SECOND = 24


def shown(positions, indices, moment):
    """Triangles at a moment, in frames: position and normal of each corner, 18 numbers each."""
    first = int(np.floor(moment))
    weight = moment - first
    blended = lambda values: (1 - weight) * values[0] + weight * values[1]
    frames = [positions[first], positions[min(first + 1, len(positions) - 1)]]
    corners = blended([f[indices].astype(np.float64) for f in frames])
    normals = blended([normals_of(f, indices)[0] for f in frames])
    return np.concatenate([corners, normals], axis=2).reshape(-1).round(6).tolist()


def main():
    frames = np.load(sys.argv[1])
    positions, indices = frames["positions"], frames["indices"]
    last = len(positions) - 1
    half = last // 2 + 0.5
    moments = [
        ("frame=0", "front", 0),
        (f"frame={last}", "side", last),
        (f"frame={half}", "front", half),
        (f"frame={half}", "top", half),
        (f"frame={half}&blend=0", "top", last // 2),
        (f"time={2.25 / FRAMES_PER_SECOND}", "side", 2.25),
    ]
    shots = [{"query": q, "view": v, "triangles": shown(positions, indices, m), "moment": m} for q, v, m in moments]
    for shot in shots if "--triangles-change" in sys.argv else []:
        if shot["moment"] % 1:
            # Share of the covered pixels, and degrees between normals.
            shot["allowed"] = {"wrong": 0.001, "mean": 1, "near": 10}
    expected = {"shots": shots, "samples": [], "fields": [], "attributes": []}
    pathlib.Path(sys.argv[2]).write_text(json.dumps(expected))


main()
