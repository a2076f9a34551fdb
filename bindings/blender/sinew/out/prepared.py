# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh as Blender's glTF exporter needs it: masks that the graph reads, and no weights of bones that do not deform."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..session import Session
from .gltf_axes import Glb

# Blender writes attributes with a first underscore, in capitals.
PREFIX = "_SINEW_"


@contextmanager
def prepared(obj: bpy.types.Object, session: Session, document: dict[str, Any]) -> Iterator[list[str]]:
    """Changes the mesh for the time of an export. Gives the names of the masks; `name_masks` writes them into the file."""
    groups = _silent_groups(obj)
    names = {group: group.name for group in groups}
    masks = _masks(session, document)
    try:
        for i, group in enumerate(groups):
            group.name = f".sinew {i}"
        for i, values in enumerate(masks.values()):
            _add(obj.data, f"{PREFIX}{i}", values)
        yield list(masks)
    finally:
        for group, name in names.items():
            group.name = name
        for i in range(len(masks)):
            added = obj.data.attributes.get(f"{PREFIX}{i}")
            if added is not None:
                obj.data.attributes.remove(added)


def name_masks(path: str, names: list[str]) -> None:
    """Gives the masks in a file their names."""
    if not names:
        return
    glb = Glb(path)
    for mesh in glb.json.get("meshes", []):
        for primitive in mesh["primitives"]:
            keys = primitive["attributes"]
            for i, name in enumerate(names):
                if f"{PREFIX}{i}" in keys:
                    keys[f"_{name}"] = keys.pop(f"{PREFIX}{i}")
    glb.write(path)


def _silent_groups(obj: bpy.types.Object) -> list[bpy.types.VertexGroup]:
    """Groups of bones that do not deform. The exporter would write their weights."""
    armature = obj.sinew.armature
    silent = {bone.name for bone in armature.data.bones if not bone.use_deform} if armature else set()
    return [group for group in obj.vertex_groups if group.name in silent]


def _masks(session: Session, document: dict[str, Any]) -> dict[str, Any]:
    """Attributes and vertex groups that the document names."""
    attributes = session.character.meshes[0].attributes
    text = json.dumps(document, ensure_ascii=False)
    return {name: values for name, values in attributes.items() if json.dumps(name, ensure_ascii=False) in text}


def _add(mesh: bpy.types.Mesh, name: str, values: Any) -> None:
    flat = np.ascontiguousarray(values, np.float32).ravel()
    if np.ndim(values) == 1:
        mesh.attributes.new(name, "FLOAT", "POINT").data.foreach_set("value", flat)
    else:
        mesh.attributes.new(name, "FLOAT_COLOR", "POINT").data.foreach_set("color", flat)
