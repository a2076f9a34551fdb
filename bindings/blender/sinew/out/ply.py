# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated meshes as PLY files, as vertex textures are baked from: Y up, metres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .. import character
from ..space import Matrix, Points, moved


@dataclass
class Frame:
    """A mesh or points of one frame."""

    positions: Points
    counts: npt.NDArray[np.int32]
    """Corners of each face."""
    corners: npt.NDArray[np.int32]
    """Vertex of each corner."""
    uvs: Points | None = None
    """(corners, 2), v up."""
    attributes: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    """Columns of the vertices by their names in the file."""
    smooth: float | None = None
    """Share of the faces that are shaded smooth; `None` for normals of its own."""


def frame(evaluated: bpy.types.Object, transform: Matrix, names: Sequence[str]) -> Frame:
    """The frame of an evaluated object. `names`: attributes to take, where the object has them."""
    if evaluated.type == "POINTCLOUD":
        return _with_attributes(evaluated.data, _points(evaluated.data, transform), transform, names)
    mesh = evaluated.to_mesh()
    try:
        return _mesh(mesh, transform, names)
    finally:
        evaluated.to_mesh_clear()


def _points(cloud: Any, transform: Matrix) -> Frame:
    flat = np.empty(len(cloud.points) * 3, np.float32)
    cloud.attributes["position"].data.foreach_get("vector", flat)
    none = np.zeros(0, np.int32)
    return Frame(moved(flat.reshape(-1, 3), transform), none, none)


def _mesh(mesh: bpy.types.Mesh, transform: Matrix, names: Sequence[str]) -> Frame:
    flat = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", flat)
    counts = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", counts)
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    out = Frame(moved(flat.reshape(-1, 3), transform), counts, corners)
    if not mesh.has_custom_normals and len(mesh.polygons):
        smooth = np.empty(len(mesh.polygons), bool)
        mesh.polygons.foreach_get("use_smooth", smooth)
        out.smooth = float(smooth.mean())
    if np.linalg.det(transform[:3, :3]) < 0.0:
        out.corners = _reversed(counts, corners)
    elif mesh.uv_layers.active is not None:
        uvs = np.empty(len(mesh.loops) * 2, np.float32)
        mesh.uv_layers.active.uv.foreach_get("vector", uvs)
        out.uvs = uvs.reshape(-1, 2)
    color = mesh.color_attributes.active_color
    if color is not None and len(mesh.vertices):
        for name, column in zip(("red", "green", "blue"), character.point_colors(mesh, color, corners).T):
            out.attributes[name] = column
    return _with_attributes(mesh, out, transform, names)


def _reversed(counts: Any, corners: Any) -> Any:
    """A mirrored object shows the other side of its faces."""
    starts = np.cumsum(counts) - counts
    ends = starts + counts - 1
    within = np.arange(len(corners)) - np.repeat(starts, counts)
    return corners[np.repeat(ends, counts) - within]


def _with_attributes(data: Any, out: Frame, transform: Matrix, names: Sequence[str]) -> Frame:
    for name in names:
        attribute = data.attributes.get(name)
        if attribute is None or attribute.domain != "POINT":
            continue
        if attribute.data_type == "FLOAT_VECTOR":
            flat = np.empty(len(attribute.data) * 3, np.float32)
            attribute.data.foreach_get("vector", flat)
            vectors = flat.reshape(-1, 3) @ transform[:3, :3].T.astype(np.float32)
            columns = ("vx", "vy", "vz") if name == "velocity" else (f"{name}_x", f"{name}_y", f"{name}_z")
            out.attributes.update(zip(columns, vectors.T))
        elif attribute.data_type in {"FLOAT", "INT"}:
            values = np.empty(len(attribute.data), np.float32 if attribute.data_type == "FLOAT" else np.int32)
            attribute.data.foreach_get("value", values)
            out.attributes[name] = values
    return out


def write(path: str, given: Frame) -> None:
    """Writes a binary file."""
    columns = [(name, given.positions[:, i]) for i, name in enumerate("xyz")] + list(given.attributes.items())
    types = [(name, "<i4" if values.dtype.kind == "i" else "<f4") for name, values in columns]
    vertices = np.empty(len(given.positions), types)
    for name, values in columns:
        vertices[name] = values
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(vertices)}"]
    head += [f"property {'int' if kind == '<i4' else 'float'} {name}" for name, kind in types]
    if len(given.counts):
        head += [f"element face {len(given.counts)}", "property list uint int vertex_indices"]
        head += ["property list uint float texcoord"] if given.uvs is not None else []
    with open(path, "wb") as file:
        file.write(("\n".join([*head, "end_header"]) + "\n").encode())
        file.write(vertices.tobytes())
        file.write(_faces(given).tobytes())


def _faces(given: Frame) -> npt.NDArray[np.uint32]:
    """Count and corners of each face, then twice the count and texture coordinates. All are words of 4 bytes."""
    counts = given.counts.astype(np.int64)
    words = 1 + counts if given.uvs is None else 2 + 3 * counts
    starts = np.cumsum(words) - words
    firsts = np.cumsum(counts) - counts
    out = np.empty(int(words.sum()), np.uint32)
    within = np.arange(len(given.corners)) - np.repeat(firsts, counts)
    places = np.repeat(starts, counts) + 1 + within
    out[starts] = counts
    out[places] = given.corners.astype(np.uint32)
    if given.uvs is not None:
        out[starts + 1 + counts] = 2 * counts
        uv_places = np.repeat(starts + 2 + counts, counts) + 2 * within
        bits = np.ascontiguousarray(given.uvs, "<f4").view(np.uint32)
        out[uv_places], out[uv_places + 1] = bits[:, 0], bits[:, 1]
    return out
