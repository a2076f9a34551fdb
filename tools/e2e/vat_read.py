"""Reads a bake by its manifest alone, with other people's readers, and compares it with the frames it was made from.

    python vat_read.py BAKE.vat.json FRAMES.npz

FRAMES.npz: positions (frames, vertices, 3) and indices (triangles, 3). Every triangle of every frame must be in the bake, as codes of 16 bits,
and nothing else. Normals must be those of the welded mesh, faces weighted by their angle at the vertex, wherever the faces around a vertex are
within the crease of each other, and elsewhere within the crease of their own face.
"""

import json
import pathlib
import sys

import numpy as np
import png

from mesh_normals import CREASE_DEGREES, normals_of


def texels(path, size, channels):
    width, height, rows, info = png.Reader(filename=str(path)).read()
    assert [width, height] == size and info["planes"] == channels, (path, width, height, info)
    return np.array([np.asarray(row, dtype=np.int64) for row in rows]).reshape(height, width, channels)


def columns_and_rows(layout, frame):
    vertex = np.arange(layout["vertices"])
    blocks = layout["arrangement"]["blocks"]
    (wide, high), across = blocks["block"], blocks["across"]
    return (frame % across) * wide + vertex % wide, (frame // across) * high + vertex // wide


# Half a code of three channels each, and what single precision adds.
ALLOWED_DEGREES = np.degrees(np.sqrt(3) / 255) + 0.01


def degrees_between(a, b):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1)))


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
    worst, worst_angle, smooth_corners, all_corners = 0, 0.0, 0, 0
    for frame, positions in enumerate(frames["positions"]):
        x, y = columns_and_rows(layout, step * frame)
        shown = places[y, x].reshape(-1, 3, 3)
        is_used = (shown != shown[:, :1]).any(axis=(1, 2))
        shown = shown[is_used]
        shown_normals = (normals[y, x] / 255 * 2 - 1).reshape(-1, 3, 3)[is_used]
        truth = np.rint((positions[frames["indices"]] - offset) / scale * 65535).astype(np.int64)
        normal, is_smooth, face = normals_of(positions, frames["indices"])
        # The corner that comes first is free; which one is least decides.
        first = lambda t: np.array([min(range(3), key=lambda k: tuple(c[k])) for c in t])
        turned = lambda t, by: np.take_along_axis(t, ((np.arange(3) + by[:, None]) % 3).reshape(-1, 3, *[1] * (t.ndim - 2)), axis=1)
        order = lambda t: np.lexsort(t.reshape(-1, 9).T)
        by, shown_by = first(truth), first(shown)
        truth, normal, is_smooth = turned(truth, by), turned(normal, by), turned(is_smooth, by)
        shown, shown_normals = turned(shown, shown_by), turned(shown_normals, shown_by)
        o, shown_o = order(truth), order(shown)
        truth, normal, is_smooth, face = truth[o], normal[o], is_smooth[o], face[o]
        shown, shown_normals = shown[shown_o], shown_normals[shown_o]
        assert len(shown) == len(truth), (frame, len(shown), len(truth))
        # Sums along each axis tell triangles apart that rounding sorts otherwise.
        worst = max(worst, int(np.abs(np.sort(shown.sum(axis=1), axis=0) - np.sort(truth.sum(axis=1), axis=0)).max()))
        # Rounded the other way a code may put a triangle elsewhere in the order.
        is_same = np.abs(shown - truth).max(axis=(1, 2)) <= 1
        compared = is_same[:, None] & is_smooth
        smooth_corners, all_corners = smooth_corners + compared.sum(), all_corners + compared.size
        worst_angle = max(worst_angle, degrees_between(shown_normals, normal)[compared].max())
        from_face = degrees_between(shown_normals, face[:, None])[is_same]
        assert from_face.max() < CREASE_DEGREES + ALLOWED_DEGREES, (frame, from_face.max())
        assert is_same.mean() > 0.9, (frame, is_same.mean())
    print(f"{manifest['name']}: {len(frames['positions'])} frames, {len(truth)} triangles, sums of three codes differ by {worst} at most")
    print(f"normals of {smooth_corners} smooth corners of {all_corners} are within {worst_angle:.3f} degrees (allowed {ALLOWED_DEGREES:.3f})")
    assert smooth_corners > all_corners / 2, "most of the sequence is smooth"
    assert worst_angle < ALLOWED_DEGREES
    assert worst <= 3, "half a code each, rounded either way"


main()
