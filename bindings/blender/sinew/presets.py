# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphs to start with."""

from __future__ import annotations

from typing import Any

import bpy

from . import character, core, documents, nodes
from .report import Problem
from .space import matrix

SKIN: dict[str, Any] = {"node": "skin"}
# Name, label, description, stack of nodes. Each is also a picture of the manual.
PRESETS: list[tuple[str, str, str, list[Any]]] = [
    ("delta_mush", "Delta Mush", "Skin, then smooth and restore the detail: clean elbows and shoulders", ["skin", {"node": "delta_mush"}]),
    ("delta_mush_soft", "Delta Mush, Soft", "Joints as round as flesh", ["skin", {"node": "delta_mush", "preset": "soft"}]),
    ("direct_delta_mush", "Direct Delta Mush", "The look of delta mush in one step. Setup takes longer", ["direct_delta_mush"]),
    ("skin", "Skin", "As the armature modifier", ["skin"]),
    ("dual_quaternion", "Skin, Dual Quaternion", "As the armature modifier with Preserve Volume", [{**SKIN, "method": "dual_quaternion"}]),
    ("smooth", "Smooth", "A smoother surface, without an armature", ["smooth"]),
    ("lattice", "Lattice", "A box of control points around the mesh", [{"node": "lattice", "fit": "mesh"}]),
    ("squash_stretch", "Squash and Stretch", "Stretches along an axis and keeps the volume", [{"node": "squash_stretch", "fit": "mesh"}]),
    ("hair", "Hair", "Hair that swings, for hair curves", [{"node": "skin"}, {"node": "hair_sim"}]),
    ("body", "Template: Body", "A starter for the mesh, as `sinew init --template body` writes it", []),
]

FOR_HAIR = {"hair", "skin"}


def items(_self: Any, context: bpy.types.Context | None) -> list[tuple[str, str, str]]:
    """For the operator: the presets for the active object, and the graphs of the file."""
    is_hair = context is not None and context.object is not None and context.object.type == "CURVES"
    fitting = [p for p in PRESETS if p[0] in FOR_HAIR] if is_hair else [p for p in PRESETS if p[0] != "hair"]
    known = [(f"preset:{name}", label, description) for name, label, description, _ in fitting]
    trees = [(f"tree:{t.name}", t.name, "A graph of this file") for t in bpy.data.node_groups if t.bl_idname == nodes.TREE]
    items.kept = known + trees  # type: ignore[attr-defined]  Blender keeps no reference to the texts.
    return items.kept  # type: ignore[attr-defined]


def tree(obj: bpy.types.Object, choice: str) -> bpy.types.NodeTree:
    """The graph of a choice."""
    kind, _, name = choice.partition(":")
    if kind == "tree":
        return bpy.data.node_groups[name]
    label, stack = next((text, s) for n, text, _, s in PRESETS if n == name)
    _check_armature(obj, label, stack)
    if name == "body":
        return nodes.from_document(_template(obj), "body")
    document: dict[str, Any] = {"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}, "stack": stack}
    if obj.type == "CURVES":
        document["inputs"] = {"hair": {"type": "strands"}, "pose": {"type": "pose"}}
        document = _for_hair(document, stack)
    return nodes.from_document(document, name)


def _check_armature(obj: bpy.types.Object, label: str, stack: list[Any]) -> None:
    kinds = {step if isinstance(step, str) else step["node"] for step in stack}
    if obj.type == "MESH" and kinds & {"skin", "direct_delta_mush"} and armature_of(obj) is None:
        raise Problem(
            f"'{obj.name}' has no armature modifier with an armature, and '{label}' needs one. "
            "Parent the mesh to an armature (Ctrl P > With Automatic Weights), or choose a preset without a skin"
        )


def armature_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that moves an object."""
    for other in obj.modifiers:
        if other.type == "ARMATURE" and other.object is not None:
            return other.object
    if obj.type == "CURVES" and obj.data.surface is not None:
        return obj.data.surface.sinew.armature or armature_of(obj.data.surface)
    return None


def _for_hair(document: dict[str, Any], stack: list[Any]) -> dict[str, Any]:
    """A stack whose first mesh is the hair."""
    chain, before = {}, "hair"
    for step in stack:
        keys = {"node": step} if isinstance(step, str) else dict(step)
        name = keys["node"]
        keys["strands" if name in {"hair_sim"} else "mesh"] = before
        if name in {"skin", "hair_sim", "direct_delta_mush"}:
            keys["pose"] = "pose"
        chain[name], before = keys, name
    del document["stack"]
    document["nodes"], document["outputs"] = chain, {"hair": before}
    return document


def _template(obj: bpy.types.Object) -> dict[str, Any]:
    if obj.type != "MESH":
        raise Problem(f"'{obj.name}' is hair. Choose the preset Hair")
    armature = armature_of(obj)
    keep, obj.sinew.armature = obj.sinew.armature, armature
    world = matrix(obj.matrix_world)
    bind = (world, matrix(armature.matrix_world) if armature else world)
    try:
        built = character.build(obj, armature, bind)
    finally:
        obj.sinew.armature = keep
    return documents.parsed(core.sd.Graph.template(built.character, "body").text)
