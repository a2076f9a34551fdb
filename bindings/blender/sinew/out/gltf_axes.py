# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's exporter writes joints with the axes of bones. Graphs may use other axes, which bones store: twist axes and poses of
drivers mean these. This module gives the joints of a GLB file the axes that graphs use. Nothing moves by that."""

from __future__ import annotations

import json
import struct
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..character import AXES

Array = npt.NDArray[np.float64]
FLOAT = 5126
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Glb:
    """The two chunks of a GLB file."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            data = file.read()
        length = struct.unpack_from("<I", data, 12)[0]
        self.json: dict[str, Any] = json.loads(data[20 : 20 + length])
        self.binary = bytearray(data[28 + length :])

    def read(self, accessor: int) -> Array:
        """Rows of floats."""
        keys = self.json["accessors"][accessor]
        view = self.json["bufferViews"][keys["bufferView"]]
        start = view.get("byteOffset", 0) + keys.get("byteOffset", 0)
        width = WIDTHS[keys["type"]]
        flat = np.frombuffer(self.binary, "<f4", keys["count"] * width, start)
        return flat.reshape(-1, width).astype(np.float64)

    def add(self, accessor: int, rows: Array, like: dict[str, Any] | None = None) -> int:
        """A new accessor like another one, of this file or of another one."""
        self.binary += b"\0" * (-len(self.binary) % 4)
        data = rows.astype("<f4").tobytes()
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)})
        self.binary += data
        made = {k: v for k, v in (like or self.json["accessors"][accessor]).items() if k in {"type", "count", "componentType"}}
        made["bufferView"] = len(self.json["bufferViews"]) - 1
        self.json["accessors"].append(made)
        return len(self.json["accessors"]) - 1

    def write(self, path: str) -> None:
        """Writes the file."""
        self.json["buffers"][0]["byteLength"] = len(self.binary)
        text = json.dumps(self.json, ensure_ascii=False, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        binary = bytes(self.binary) + b"\0" * (-len(self.binary) % 4)
        with open(path, "wb") as file:
            file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(binary)))
            file.write(struct.pack("<I4s", len(text), b"JSON") + text)
            file.write(struct.pack("<I4s", len(binary), b"BIN\0") + binary)


def to_graph_axes(path: str, armature: bpy.types.Object | None) -> None:
    """Changes a file of Blender's exporter in place, if any bone stores axes."""
    stored = {b.name: _xyzw(b[AXES]) for b in armature.data.bones if AXES in b} if armature else {}
    if not stored:
        return
    glb = Glb(path)
    nodes = glb.json["nodes"]
    joints = {j for skin in glb.json.get("skins", []) for j in skin["joints"]}
    own = {i: stored[nodes[i]["name"]] for i in joints if nodes[i].get("name") in stored}
    above = {child: own[i] for i, node in enumerate(nodes) for child in node.get("children", []) if i in own}
    changed = own.keys() | above.keys()
    for i in changed:
        _node(nodes[i], own.get(i), above.get(i))
    for skin in glb.json.get("skins", []):
        _skin(glb, skin, own)
    for animation in glb.json.get("animations", []):
        _animation(glb, animation, own, above)
    glb.write(path)


def _xyzw(stored: Any) -> Array:
    w, x, y, z = stored
    out = np.array([x, y, z, w], np.float64)
    return out / np.linalg.norm(out)


def _node(node: dict[str, Any], own: Array | None, above: Array | None) -> None:
    node["translation"] = _translations(np.array([node.get("translation", (0, 0, 0))], np.float64), above)[0].tolist()
    node["rotation"] = _rotations(np.array([node.get("rotation", (0, 0, 0, 1))], np.float64), own, above)[0].tolist()
    if "scale" in node:
        node["scale"] = _scales(np.array([node["scale"]], np.float64), own)[0].tolist()


def _skin(glb: Glb, skin: dict[str, Any], own: dict[int, Array]) -> None:
    """Inverse bind matrices lead to the new axes."""
    columns = glb.read(skin["inverseBindMatrices"]).reshape(-1, 4, 4)
    for row, joint in enumerate(skin["joints"]):
        if joint in own:
            # Stored column by column: the transposed product.
            columns[row] = columns[row] @ _matrix(own[joint])
    skin["inverseBindMatrices"] = glb.add(skin["inverseBindMatrices"], columns.reshape(-1, 16))


def _animation(glb: Glb, animation: dict[str, Any], own: dict[int, Array], above: dict[int, Array]) -> None:
    """Channels may share samplers: each gets one of its own."""
    samplers = animation["samplers"]
    for channel in animation["channels"]:
        node, path = channel["target"].get("node"), channel["target"]["path"]
        if path == "weights" or (node not in own and node not in above):
            continue
        sampler = dict(samplers[channel["sampler"]])
        rows = glb.read(sampler["output"])
        if path == "translation":
            rows = _translations(rows, above.get(node))
        elif path == "rotation":
            rows = _rotations(rows, own.get(node), above.get(node))
        else:
            rows = _scales(rows, own.get(node))
        sampler["output"] = glb.add(sampler["output"], rows)
        samplers.append(sampler)
        channel["sampler"] = len(samplers) - 1


def _translations(rows: Array, above: Array | None) -> Array:
    return rows if above is None else rows @ _matrix(above)[:3, :3]


def _rotations(rows: Array, own: Array | None, above: Array | None) -> Array:
    if above is not None:
        rows = _product(above * np.array([-1, -1, -1, 1]), rows)
    return rows if own is None else _product(rows, own)


def _scales(rows: Array, own: Array | None) -> Array:
    """Scales along axes of bones become scales along the new axes; exact if they are uniform or the axes are swapped only."""
    return rows if own is None else rows @ _matrix(own)[:3, :3] ** 2


def _product(a: Array, b: Array) -> Array:
    """Products of quaternions x, y, z, w."""
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    rows = [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
    return np.stack(np.broadcast_arrays(*rows), axis=-1)


def _matrix(quaternion: Array) -> Array:
    x, y, z, w = quaternion
    out = np.eye(4)
    out[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return out
