"""A GLB with one mesh, read by hand."""

import json
import struct

import numpy as np


def parse_glb(path):
    """Positions, last texture coordinates and triangles of a GLB with one mesh; which set the texture coordinates are."""
    accessor, primitive, sets = parse(path)
    place = accessor(primitive["attributes"]["POSITION"]).astype(float)
    uv = accessor(primitive["attributes"][sets[-1]]).astype(float)
    return place, uv, accessor(primitive["indices"]).reshape(-1, 3).astype(int), len(sets)


def parse_sets(path):
    """All sets of texture coordinates of a GLB with one mesh."""
    accessor, primitive, sets = parse(path)
    return [accessor(primitive["attributes"][name]).astype(float) for name in sets]


def parse(path):
    """What reads an accessor, the primitive, the names of its texture coordinates."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<III", data)
    assert (magic, version, length) == (0x46546C67, 2, len(data)), "no GLB"
    chunks, at = {}, 12
    while at < length:
        size, kind = struct.unpack_from("<II", data, at)
        chunks[kind] = data[at + 8 : at + 8 + size]
        at += 8 + size
    document, binary = json.loads(chunks[0x4E4F534A]), chunks[0x004E4942]
    assert len(document["meshes"]) == 1 and len(document["meshes"][0]["primitives"]) == 1
    primitive = document["meshes"][0]["primitives"][0]

    def accessor(index):
        a = document["accessors"][index]
        view = document["bufferViews"][a["bufferView"]]
        kind = {5123: "<u2", 5125: "<u4", 5126: "<f4"}[a["componentType"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[a["type"]]
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        step = view.get("byteStride", np.dtype(kind).itemsize * width)
        rows = [np.frombuffer(binary, kind, width, start + i * step) for i in range(a["count"])]
        return np.array(rows)

    sets = sorted(n for n in primitive["attributes"] if n.startswith("TEXCOORD_"))
    return accessor, primitive, sets
