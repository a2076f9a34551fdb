# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphs follow when bones and objects that they name get other names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .. import live, report
from ..character import bones_of
from ..nodes import values
from ..session import Session

# Parameters of nodes that name joints.
TEXTS = ("joint", "follow", "reference", "target")
LISTS = ("joints", "followers")
FIT = "fit"


@persistent
@report.guarded
def _watch(scene: bpy.types.Scene, _depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """Before objects are evaluated: the graphs get the new names."""
    if live.STATE.is_running:
        return
    for obj in scene.objects:
        if obj.sinew.tree is None or obj.sinew.tree.library is not None:
            continue
        bound = live.session(obj)
        if bound is not None:
            follow_bones(obj, bound)
            follow_objects(obj, bound)


def follow_bones(obj: bpy.types.Object, bound: Session) -> None:
    """Renames joints in the graph of an object like the bones of its armature."""
    armature = obj.sinew.armature
    if armature is None or not bound.posed or len(armature.data.bones) != len(bound.bones.names):
        return
    pairs = {old: bone.name for old, bone in zip(bound.bones.names, armature.data.bones) if old != bone.name}
    if not pairs or set(pairs.values()) & set(bound.bones.names) or not np.array_equal(bones_of(armature).rest, bound.bones.rest):
        return
    others = {o.sinew.armature for o in bpy.data.objects if o.sinew.tree == obj.sinew.tree}
    if others != {armature}:
        return
    for tree in _trees(obj.sinew.tree, set()):
        for node in tree.nodes:
            _rename_joints(node, pairs)


def _trees(tree: Any, seen: set[Any]) -> Iterator[Any]:
    """A graph and the graphs in it that can be edited."""
    if tree is None or tree in seen or tree.library is not None:
        return
    seen.add(tree)
    yield tree
    for node in tree.nodes:
        yield from _trees(getattr(node, "tree", None), seen)


def _rename_joints(node: Any, pairs: dict[str, str]) -> None:
    for name in TEXTS:
        old = getattr(node, f"p_{name}", None)
        if old in pairs:
            setattr(node, f"p_{name}", pairs[old])
    for name in (*LISTS, FIT):
        text = getattr(node, f"p_{name}", "")
        if isinstance(text, str) and text[:1] in ("[", "{"):
            made = _renamed(json.loads(text), pairs, only_joint=name == FIT)
            if made != json.loads(text):
                setattr(node, f"p_{name}", json.dumps(made, ensure_ascii=False))


def _renamed(value: Any, pairs: dict[str, str], only_joint: bool) -> Any:
    """A value with new names; of `fit` only the key that names a joint."""
    if isinstance(value, list):
        return [_renamed(v, pairs, only_joint) for v in value]
    if isinstance(value, dict):
        return {k: v if only_joint and k != "joint" else _renamed(v, pairs, only_joint) for k, v in value.items()}
    return pairs.get(value, value) if isinstance(value, str) else value


def follow_objects(obj: bpy.types.Object, bound: Session) -> None:
    """Renames the objects that inputs of a graph take, where an input takes one object by its whole name."""
    for name, now in bound.renamed().items():
        for node in obj.sinew.tree.nodes:
            if node.bl_idname != "SinewInputNode" or name not in bound.extras.get(node.key, []):
                continue
            if len(bound.extras[node.key]) == 1 and bound.document["inputs"][node.key]["select"] == name and "*" not in now:
                node.p_select = values.word(now)


def register() -> None:
    """Adds the handler in front of the one that evaluates."""
    bpy.app.handlers.depsgraph_update_post.insert(0, _watch)


def unregister() -> None:
    """Removes it."""
    bpy.app.handlers.depsgraph_update_post.remove(_watch)
