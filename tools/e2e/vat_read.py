"""Reads a bake by its manifest alone, with other people's readers, and compares it with the frames it was made from.

    python vat_read.py BAKE.vat.json FRAMES.npz

FRAMES.npz: positions (frames, vertices, 3) and indices (triangles, 3). Every triangle of every frame must be in the bake, as codes of 16 bits,
and nothing else; normals must be of unit length within what 8 bits allow.
"""

import json
import pathlib
import sys

import numpy as np
import png


def texels(path, size, channels):
    width, height, rows, info = png.Reader(filename=str(path)).read()
    assert [width, height] == size and info["planes"] == channels, (path, width, height, info)
    return np.array([np.asarray(row, dtype=np.int64) for row in rows]).reshape(height, width, channels)


def columns_and_rows(layout, frame):
    vertex = np.arange(layout["vertices"])
    blocks = layout["arrangement"]["blocks"]
    (wide, high), across = blocks["block"], blocks["across"]
    return (frame % across) * wide + vertex % wide, (frame // across) * high + vertex // wide


def main():
    manifest_path = pathlib.Path(sys.argv[1])
    manifest = json.loads(manifest_path.read_text())
    frames = np.load(sys.argv[2])
    layout = manifest["layout"]
    by_quantity = {t["quantity"]: t for t in manifest["textures"]}
    place, normal = by_quantity["position"], by_quantity["normal"]
    assert (place["format"], normal["format"]) == ("unorm16", "unorm8")
    places = texels(manifest_path.with_name(place["files"][0]), layout["size"], 3)
    normals = texels(manifest_path.with_name(normal["files"][0]), layout["size"], 3)
    scale = np.array([r["scale"] for r in place["ranges"]])
    offset = np.array([r["offset"] for r in place["ranges"]])
    # Frames that are followed by their ends are every second one of the layout.
    step = 2 if manifest["has_ends"] else 1
    assert layout["frames"] == step * len(frames["positions"])
    worst = 0
    for frame, positions in enumerate(frames["positions"]):
        x, y = columns_and_rows(layout, step * frame)
        shown = places[y, x].reshape(-1, 3, 3)
        shown = shown[(shown != shown[:, :1]).any(axis=(1, 2))]
        truth = np.rint((positions[frames["indices"]] - offset) / scale * 65535).astype(np.int64)
        # The corner that comes first is free; which one is least decides.
        sort = lambda t: t[np.lexsort(t.reshape(-1, 9).T)]
        turned = lambda t: np.array([np.roll(c, -min(range(3), key=lambda k: tuple(c[k])), axis=0) for c in t])
        truth, shown = sort(turned(truth)), sort(turned(shown))
        assert len(shown) == len(truth), (frame, len(shown), len(truth))
        # Sums along each axis tell triangles apart that rounding sorts otherwise.
        worst = max(worst, int(np.abs(np.sort(shown.sum(axis=1), axis=0) - np.sort(truth.sum(axis=1), axis=0)).max()))
        length = np.linalg.norm(normals[y, x] / 255 * 2 - 1, axis=1)
        assert np.abs(length - 1).max() < 0.01, (frame, length.min(), length.max())
    print(f"{manifest['name']}: {len(frames['positions'])} frames, {len(truth)} triangles, sums of three codes differ by {worst} at most")
    assert worst <= 3, "half a code each, rounded either way"


main()
