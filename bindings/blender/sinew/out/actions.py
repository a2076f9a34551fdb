# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions of an armature, as clips of a GLB file: each one is exported as Blender shows it, and the clips go into one file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from .gltf_axes import Glb


@dataclass
class Clip:
    """A clip to export. `action` is `None` for the scene as it is."""

    name: str
    action: bpy.types.Action | None
    slot: Any
    first: int
    last: int


def clips(armature: bpy.types.Object | None, first: int, last: int) -> list[Clip]:
    """All clips, the one that Blender shows first. An armature without stashed actions has the animation of the scene alone."""
    scene = Clip("Scene", None, None, first, last)
    animation = armature.animation_data if armature is not None else None
    if animation is None or animation.use_tweak_mode:
        return [scene]
    stashed = list(_stashed(animation))
    if not any(clip.action != animation.action for clip in stashed):
        return [scene]
    shown = next((clip for clip in stashed if clip.action == animation.action), None)
    if animation.action is None or any(_strips_act(animation)):
        return [scene, *stashed]
    rest = [clip for clip in stashed if clip is not shown]
    return [shown or _clip(animation.action.name, animation.action, getattr(animation, "action_slot", None)), *rest]


def _strips_act(animation: bpy.types.AnimData) -> Iterator[bool]:
    """Whether each track of the NLA editor mixes into what Blender shows."""
    return (animation.use_nla and not track.mute and len(track.strips) > 0 for track in animation.nla_tracks)


def _stashed(animation: bpy.types.AnimData) -> Iterator[Clip]:
    """One clip for each action of the NLA tracks."""
    known = set()
    for track, strip in ((t, s) for t in animation.nla_tracks for s in t.strips):
        if strip.action is not None and strip.action not in known:
            known.add(strip.action)
            # The glTF importer of Blender 4.2 names the track like the clip, and adds the name of the object to strip and action.
            name = track.name if strip.name.startswith(f"{track.name}_") else strip.name
            yield _clip(name, strip.action, getattr(strip, "action_slot", None))


def _clip(name: str, action: bpy.types.Action, slot: Any) -> Clip:
    """glTF has no times before 0."""
    start, end = action.frame_range
    first = max(math.floor(start), 0)
    return Clip(name, action, slot, first, max(math.ceil(end), first))


@contextmanager
def shown(armature: bpy.types.Object | None, clip: Clip) -> Iterator[None]:
    """Shows one action alone, without what is left of others."""
    if clip.action is None:
        yield
        return
    animation = armature.animation_data
    kept = (animation.action, getattr(animation, "action_slot", None), animation.use_nla)
    poses = {bone.name: bone.matrix_basis.copy() for bone in armature.pose.bones}
    try:
        if clip.action != animation.action:
            for bone in armature.pose.bones:
                bone.matrix_basis.identity()
        animation.use_nla = False
        _set(animation, clip.action, clip.slot)
        yield
    finally:
        _set(animation, kept[0], kept[1])
        animation.use_nla = kept[2]
        for name, pose in poses.items():
            armature.pose.bones[name].matrix_basis = pose


def _set(animation: bpy.types.AnimData, action: bpy.types.Action | None, slot: Any) -> None:
    animation.action = action
    if action is not None and hasattr(animation, "action_slot"):
        # Blender 4.4 and newer.
        found = slot or next(iter(animation.action_suitable_slots), None)
        if found is not None:
            animation.action_slot = found


def join(path: str, others: list[str], names: list[str]) -> None:
    """Adds the animation of other exports of the same objects to a file, and names the clips."""
    glb = Glb(path)
    glb.json["animations"] = glb.json.get("animations", [])[:1]
    for other in others:
        _take(glb, Glb(other))
    for animation, name in zip(glb.json["animations"], names):
        animation["name"] = name
    glb.write(path)


def _take(glb: Glb, other: Glb) -> None:
    nodes = {node.get("name"): i for i, node in enumerate(glb.json["nodes"])}
    for animation in other.json.get("animations", [])[:1]:
        for sampler in animation["samplers"]:
            for key in ("input", "output"):
                sampler[key] = _copy(glb, other, sampler[key])
        for channel in animation["channels"]:
            channel["target"]["node"] = nodes[other.json["nodes"][channel["target"]["node"]].get("name")]
        glb.json["animations"].append(animation)


def _copy(glb: Glb, other: Glb, accessor: int) -> int:
    """An accessor of another file, with its numbers."""
    made = glb.add(accessor, other.read(accessor), other.json["accessors"][accessor])
    for bound in ("min", "max"):
        if bound in other.json["accessors"][accessor]:
            glb.json["accessors"][made][bound] = other.json["accessors"][accessor][bound]
    return made
