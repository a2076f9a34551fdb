# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves of node properties, as keys of documents."""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import bpy

from . import values


def curves(tree: Any) -> dict[str, list[Any]]:
    """F-curves of the action of a tree, by data path."""
    found: dict[str, list[Any]] = {}
    for curve in _all_curves(tree.animation_data):
        if not curve.mute and (curve.keyframe_points or curve.sampled_points):
            found.setdefault(curve.data_path, []).append(curve)
    return found


def _all_curves(data: Any) -> list[Any]:
    return [curve for holder in _holders(data) for curve in holder.fcurves]


def _holders(data: Any) -> list[Any]:
    """What holds the F-curves: the action, or the channels of its slot."""
    if data is None or data.action is None:
        return []
    action = data.action
    if hasattr(action, "fcurves"):
        return [action]
    slot = data.action_slot
    bags = [strip.channelbag(slot) for layer in action.layers for strip in layer.strips] if slot is not None else []
    return [bag for bag in bags if bag is not None]


def forget(owner: Any, props: Iterable[str]) -> None:
    """Removes keyframes and drivers of properties of a node or socket."""
    data = owner.id_data.animation_data
    if data is None:
        return
    paths = {owner.path_from_id(prop) for prop in props}
    for driver in [d for d in data.drivers if d.data_path in paths]:
        data.drivers.remove(driver)
    for holder in _holders(data):
        for curve in [c for c in holder.fcurves if c.data_path in paths]:
            holder.fcurves.remove(curve)


def drivers(tree: Any) -> set[str]:
    """Data paths with drivers."""
    return set() if tree.animation_data is None else {d.data_path for d in tree.animation_data.drivers}


def is_driven(owner: Any, props: Iterable[str]) -> bool:
    """True if one of the properties has a driver."""
    return not drivers(owner.id_data).isdisjoint(owner.path_from_id(prop) for prop in props)


def has_strips(tree: Any) -> bool:
    """True if the tree has NLA strips, which documents cannot hold."""
    data = tree.animation_data
    return data is not None and any(not track.mute and len(track.strips) for track in data.nla_tracks)


def fps(scene: Any = None) -> float:
    """Frames per second of the scene."""
    render = (scene or bpy.context.scene).render
    return render.fps / render.fps_base


def keys(owner: Any, kind: str, props: list[str], found: dict[str, list[Any]], degrees: bool, scene: Any = None) -> dict[str, Any]:
    """A value over time.

    Args:
        owner: Node or socket with the properties.
        kind: Type of the value.
        props: Properties that hold it.
        found: F-curves by property.
        degrees: Write angles in degrees.
        scene: Scene whose frame rate counts; default: that of the context.
    """
    all_curves = [curve for prop in props for curve in found.get(prop, ())]
    times, interpolation = _times(kind, props, found, all_curves)
    rate = fps(scene)
    written: list[list[Any]] = []
    for time in times:
        value = values.read(_at(owner, props, found, time), kind, props[0][:-2] if kind == "transform" else props[0], degrees)
        written.append([_seconds(time, rate), value])
    if interpolation == "sampled":
        written = _without_repeats(written, kind)
        interpolation = "linear"
    result: dict[str, Any] = {"keys": written}
    if interpolation == "step" and kind not in ("int", "bool"):
        result["interpolation"] = "step"
    return result


def _seconds(frame: float, rate: float) -> float:
    return round(frame / rate, 9)


def _times(kind: str, props: list[str], found: dict[str, list[Any]], all_curves: list[Any]) -> tuple[list[float], str]:
    """Frames of the keys, and how values go between them."""
    points = sorted({p.co.x for c in all_curves for p in c.keyframe_points} | {p.co.x for c in all_curves for p in c.sampled_points})
    modes = {p.interpolation for c in all_curves for p in c.keyframe_points[:-1]}
    plain = all(not c.modifiers and c.extrapolation == "CONSTANT" and not c.sampled_points for c in all_curves)
    rotates = kind == "transform" and found.get(props[1])
    if plain and modes <= {"CONSTANT"}:
        return points, "step"
    if plain and modes <= {"LINEAR"} and kind not in ("int", "bool") and not rotates:
        return points, "linear"
    first, last = math.floor(points[0]), math.ceil(points[-1])
    if not plain:
        scene = bpy.context.scene
        first, last = min(first, scene.frame_start), max(last, scene.frame_end)
    return [float(frame) for frame in range(first, last + 1)], "sampled"


def _without_repeats(written: list[list[Any]], kind: str) -> list[list[Any]]:
    if kind not in ("int", "bool"):
        return written
    return [key for i, key in enumerate(written) if i == 0 or key[1] != written[i - 1][1]]


def _at(owner: Any, props: list[str], found: dict[str, list[Any]], frame: float) -> Any:
    """The properties at a frame, as Blender evaluates them."""
    result = SimpleNamespace()
    for prop in props:
        rna = owner.bl_rna.properties[prop]
        value = getattr(owner, prop)
        value = list(value) if rna.is_array else [value]
        for curve in found.get(prop, ()):
            value[curve.array_index if rna.is_array else 0] = _number(rna, curve.evaluate(frame))
        setattr(result, prop, tuple(value) if rna.is_array else value[0])
    return result


def _number(rna: Any, value: float) -> Any:
    if rna.type == "BOOLEAN":
        return value != 0.0
    if rna.type == "ENUM":
        return rna.enum_items[int(value)].identifier
    limited = min(max(value, rna.hard_min), rna.hard_max)
    return int(limited) if rna.type == "INT" else limited
