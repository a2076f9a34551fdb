# SPDX-License-Identifier: GPL-3.0-or-later
"""A small animated rig, made in Blender: a tube of quads with two bones, moved and rotated object and armature."""

from __future__ import annotations

import json
import math

import bpy
import numpy as np

import sinew
from sinew import live, nodes, operators

FIRST, LAST = 1, 12
MUSH = {"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "iterations": 8}]}


def fresh() -> None:
    """An empty file with the extension."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if not hasattr(bpy.types.Object, "sinew"):
        sinew.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST


def tube(name: str = "tube", rings: int = 16, sides: int = 8) -> bpy.types.Object:
    """A tube along Z, 2 m long, without caps."""
    points = [
        (0.3 * math.cos(2 * math.pi * k / sides), 0.3 * math.sin(2 * math.pi * k / sides), 2.0 * i / (rings - 1))
        for i in range(rings)
        for k in range(sides)
    ]
    faces = [
        (i * sides + k, i * sides + (k + 1) % sides, (i + 1) * sides + (k + 1) % sides, (i + 1) * sides + k)
        for i in range(rings - 1)
        for k in range(sides)
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    return obj


def rig(document: dict | None = None, is_moved: bool = True) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Tube and armature with an animated bend, and Sinew."""
    obj = tube()
    data = bpy.data.armatures.new("rig")
    armature = bpy.data.objects.new("rig", data)
    bpy.context.collection.objects.link(armature)
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    lower = data.edit_bones.new("lower")
    lower.head, lower.tail = (0, 0, 0), (0, 0, 1)
    upper = data.edit_bones.new("upper")
    upper.head, upper.tail, upper.roll = (0, 0, 1), (0.1, 0, 2), 0.4
    upper.parent = lower
    bpy.ops.object.mode_set(mode="OBJECT")
    groups = {bone: obj.vertex_groups.new(name=bone) for bone in ("lower", "upper")}
    for vertex in obj.data.vertices:
        share = min(max((vertex.co.z - 0.8) / 0.4, 0.0), 1.0)
        groups["lower"].add((vertex.index,), 1.0 - share, "REPLACE")
        groups["upper"].add((vertex.index,), share, "REPLACE")
    obj.parent = armature
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    for frame, angle in ((FIRST, 0.0), (7, 1.4), (LAST, 0.3)):
        bone = armature.pose.bones["upper"]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (angle, 0.2 * angle, -0.1 * angle)
        bone.keyframe_insert("rotation_euler", frame=frame)
        lower_bone = armature.pose.bones["lower"]
        lower_bone.location = (0.1 * angle, 0.0, 0.05 * angle)
        lower_bone.keyframe_insert("location", frame=frame)
    if is_moved:
        armature.location, armature.rotation_euler = (0.5, -0.25, 0.125), (0.3, -0.2, 0.7)
    activate(obj)
    bpy.context.view_layer.update()
    operators.add(obj, nodes.from_document(json.loads(json.dumps(document or MUSH)), "graph"), bpy.context.scene)
    bpy.context.scene.frame_set(FIRST)
    assert live.message(obj) == ""
    return obj, armature


def activate(obj: bpy.types.Object) -> None:
    """Makes an object the only selected one."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


def evaluated(obj: bpy.types.Object) -> np.ndarray:
    """Positions of the evaluated mesh at the current frame, space of the object."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def frames(obj: bpy.types.Object, numbers: range | None = None) -> np.ndarray:
    """What Blender shows at these frames."""
    out = []
    for frame in numbers or range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        out.append(evaluated(obj))
    return np.stack(out)


def world(obj: bpy.types.Object, points: np.ndarray) -> np.ndarray:
    """Points of an object in world space."""
    matrix = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]
