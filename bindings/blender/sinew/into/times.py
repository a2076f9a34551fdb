# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames per second and frame range of the first clip of a file, for a scene that is as Blender makes it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import numpy as np

from ..out.gltf_axes import FLOAT, Glb

# Keys may be this share of a frame away from it.
WHOLE = 0.02
MOST = 240


def is_default(scene: bpy.types.Scene) -> bool:
    """True if nobody set times, and nothing has keys."""
    times = (scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base)
    return times == (1, 250, 24, 1.0) and not len(bpy.data.actions)


def set_rate(scene: bpy.types.Scene, path: str) -> None:
    """Gives the scene the rate of the keys of a GLB file. Blender's importer puts keys at frames of the scene's rate."""
    found = rate(path) if path.lower().endswith((".glb", ".vrm")) else None
    if found is not None:
        scene.render.fps = found


def set_range(scene: bpy.types.Scene, made: Sequence[bpy.types.Object]) -> None:
    """Gives the scene the range of the imported action."""
    animations = [obj.animation_data for obj in sorted(made, key=lambda o: o.type != "ARMATURE")]
    action = next((a.action for a in animations if a is not None and a.action is not None), None)
    if action is None:
        return
    start, end = (float(frame) for frame in action.frame_range)
    # Times in files are rounded.
    first, last = math.floor(start + WHOLE), math.ceil(end - WHOLE)
    scene.frame_start, scene.frame_end = max(first, 0), max(last, first, 0)


def rate(path: str) -> int | None:
    """Whole frames per second of the first clip: all of its keys are at whole frames."""
    try:
        times = _times(Glb(path))
    except (KeyError, IndexError, ValueError):
        return None  # Compressed, or without keys.
    if len(times) < 2:
        return None
    step = float(np.diff(times).min())
    found = round(1.0 / step)
    frames = times * found
    if 1 <= found <= MOST and np.abs(frames - np.round(frames)).max() <= WHOLE:
        return found
    return None


def _times(glb: Glb) -> np.ndarray:
    """Different times of keys of the first clip."""
    samplers = glb.json["animations"][0]["samplers"]
    inputs = {s["input"] for s in samplers if glb.json["accessors"][s["input"]]["componentType"] == FLOAT}
    return np.unique(np.round(np.concatenate([glb.read(i).ravel() for i in inputs]), 5))
