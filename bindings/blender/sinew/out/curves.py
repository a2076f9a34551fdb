# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves, in the actions of Blender 4.2 and in the layered ones of later versions."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np


def of(owner: bpy.types.ID, name: str) -> bpy.types.bpy_prop_collection:
    """The F-curves of a data-block. It gets an action if it has none."""
    animation = owner.animation_data or owner.animation_data_create()
    if animation.action is None:
        animation.action = bpy.data.actions.new(name)
    elif animation.action.users > 1 or animation.action.library is not None:
        animation.action = animation.action.copy()
    action = animation.action
    if not hasattr(action, "layers"):
        return action.fcurves
    if animation.action_slot is None:
        animation.action_slot = action.slots.new(owner.id_type, owner.name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(animation.action_slot, ensure=True).fcurves


def write(
    curves: bpy.types.bpy_prop_collection, path: str, index: int, frames: Sequence[float], values: Sequence[float]
) -> bpy.types.FCurve:
    """A curve with linear keys. It replaces the curve of the same property."""
    old = curves.find(path, index=index)
    if old is not None:
        curves.remove(old)
    curve = curves.new(path, index=index)
    curve.keyframe_points.add(len(frames))
    points = np.stack([np.asarray(frames, np.float32), np.asarray(values, np.float32)], axis=1)
    curve.keyframe_points.foreach_set("co", points.ravel())
    for point in curve.keyframe_points:
        point.interpolation = "LINEAR"
    curve.update()
    return curve
