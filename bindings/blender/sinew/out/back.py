# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back from a bake: what a bake changed at an object is stored there, and taken back."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import bpy

from .. import live, modifier
from ..report import Operator, Problem
from . import bake, curves


class SINEW_OT_bake_remove(Operator):
    """Remove the bake of the active object, and switch Sinew on again. Files and copies stay"""

    bl_idname = "sinew.bake_remove"
    bl_label = "Back to Live"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for objects with a bake."""
        if context.object is None or not context.object.get(bake.BAKED):
            cls.poll_message_set("Select an object that was baked")
            return False
        return True

    def run(self, context: bpy.types.Context) -> str:
        obj = context.object
        if obj.mode == "EDIT":
            raise Problem(f"'{obj.name}' is in edit mode. Leave it first")
        kind, changes = obj[bake.BAKED], json.loads(obj.get(bake.CHANGES, "{}"))
        for cache in bake.caches(obj) if kind == bake.POINT_CACHE else []:
            obj.modifiers.remove(cache)
        if kind == bake.SHAPE_KEYS:
            _remove_keys(obj, changes)
        if changes.get("hidden"):
            obj.hide_render = False
            with suppress(RuntimeError):  # Not in this view layer.
                obj.hide_set(False)
        bake.unmark(obj)
        return _switch_on(context, obj, changes)


def _switch_on(context: bpy.types.Context, obj: bpy.types.Object, changes: dict[str, Any]) -> str:
    for name, (viewport, render) in changes.get("off", {}).items():
        if name in obj.modifiers:
            obj.modifiers[name].show_viewport, obj.modifiers[name].show_render = viewport, render
    own = modifier.find(obj)
    if own is None:
        armature = obj.modifiers.get(changes.get("replaced", ""))
        if armature is None:
            return f"The bake of '{obj.name}' is removed. It has no Sinew: press Add Sinew"
        armature.show_viewport = armature.show_render = True
        return f"The bake of '{obj.name}' is removed. It has no Sinew: '{armature.name}' moves it"
    own.show_viewport, own.show_render = True, changes.get("render", True)
    live.bind(obj)
    context.view_layer.update()
    if live.message(obj):
        raise Problem(f"The bake is removed, but the graph fails: {live.message(obj)}")
    return f"The bake of '{obj.name}' is removed. Sinew deforms it again"


def _remove_keys(obj: bpy.types.Object, changes: dict[str, Any]) -> None:
    """Removes the shape keys of a bake with their curves, and lets the others act again."""
    keys = obj.data.shape_keys
    if keys is None:
        return
    found = [keys.key_blocks[name] for name in changes.get("keys", []) if name in keys.key_blocks]
    paths = {block.path_from_id("value") for block in found}
    _remove_curves(keys, paths)
    for name in changes.get("muted", []):
        if name in keys.key_blocks:
            keys.key_blocks[name].mute = False
    for block in found:
        obj.shape_key_remove(block)
    if changes.get("basis") and len(obj.data.shape_keys.key_blocks) == 1:
        obj.shape_key_clear()
    obj.data.update()


def _remove_curves(keys: bpy.types.Key, paths: set[str]) -> None:
    """Removes curves, and their action if nothing is left in it."""
    if keys.animation_data is None or keys.animation_data.action is None:
        return
    own = curves.of(keys, keys.name)
    for curve in [c for c in own if c.data_path in paths]:
        own.remove(curve)
    if not len(own):
        action, keys.animation_data.action = keys.animation_data.action, None
        if not action.users:
            bpy.data.actions.remove(action)


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_bake_remove)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_bake_remove)
