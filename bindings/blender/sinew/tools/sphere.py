# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws pose drivers: weights over all directions as an image, poses on a sphere in the scene."""

from __future__ import annotations

import math
import os
from typing import Any

import bpy
import numpy as np

from ..core import sd
from ..report import Problem
from ..session import Session
from ..space import WORLD_FROM_SCENE, Matrix
from . import graphs, matrices, pose_driver, transforms

# At an object: the driver that it shows.
SPHERE = "sinew_sphere"


class SINEW_OT_driver_plot(pose_driver.PoseOperator):
    """Draw the weights of the poses over all directions as an image"""

    bl_idname = "sinew.driver_plot"
    bl_label = "Plot Directions"

    def work(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, name: str) -> str:
        image_name = f"{name} directions"
        path = os.path.join(bpy.app.tempdir, f"sinew_plot_{obj.session_uid}.png")
        alone = graphs.upstream(given, [name])
        sd.psd.plot(sd.Graph.from_dict(alone, name), output=path, driver=name, sphere=True, force=True)
        old = bpy.data.images.get(image_name)
        if old is not None:
            bpy.data.images.remove(old)
        image = bpy.data.images.load(path)
        image.name = image_name
        image.pack()
        os.remove(path)
        return f"Image '{image.name}': open it in an image editor"


class SINEW_OT_driver_sphere(pose_driver.PoseOperator):
    """Draw the poses as directions on a sphere around the bone. Circles are as large as the weights. Press again to update"""

    bl_idname = "sinew.driver_sphere"
    bl_label = "Draw Sphere"

    def work(self, context: bpy.types.Context, obj: bpy.types.Object, given: graphs.Document, name: str) -> str:
        driver = given["nodes"][name]
        if driver.get("space", "rest") != "rest" or driver.get("metric") == "position":
            raise Problem(f"Driver '{name}' compares no rotations from rest. Plot its weights instead")
        graphs.session(context, obj)
        watched = pose_driver.watch(obj)
        if watched is None or name not in watched.weights:
            raise Problem(f"Driver '{name}' has no poses")
        frame, directions, now = sphere(watched.bound, driver)
        size = obj.sinew.armature.data.bones[driver["joints"][0]].length
        points, edges = _sphere_lines(directions, now, watched.weights[name])
        made = _sphere_object(context, obj, f"{name} sphere", points * size, edges)
        from mathutils import Matrix as BlenderMatrix

        made.matrix_world = BlenderMatrix(frame.tolist())
        return f"'{made.name}' shows {len(directions)} poses"


def sphere(bound: Session, driver: dict[str, Any]) -> tuple[Matrix, Matrix, Matrix]:
    """World frame of the sphere, directions of the poses (n, 3), and the present direction."""
    index = pose_driver.joint_index(bound, driver["joints"][0])
    axis = np.array(driver.get("axis", [1.0, 0.0, 0.0]), np.float64)
    axis /= np.linalg.norm(axis)
    rest_local = matrices.local(matrices.rest(bound), bound, index)
    parent = bound.character.joints[index].parent
    scene = rest_local if parent is None else matrices.posed(bound)[parent] @ rest_local
    frame = WORLD_FROM_SCENE @ scene
    frame[:3, :3] /= np.cbrt(np.linalg.det(frame[:3, :3]))
    frame[:3, 3] = (WORLD_FROM_SCENE @ matrices.posed(bound)[index])[:3, 3]
    directions = np.array([transforms.decode(p["joints"][0])[:3, :3] @ axis for p in driver["poses"]])
    now = matrices.motion(bound, index)[:3, :3] @ axis
    return frame, directions / np.linalg.norm(directions, axis=1)[:, None], now / np.linalg.norm(now)


def _sphere_lines(directions: Matrix, now: Matrix, weights: list[float], steps: int = 48) -> tuple[Matrix, list[tuple[int, int]]]:
    """Three great circles, a circle for each pose with a line from the centre, and a line to the present direction."""
    turn = np.linspace(0.0, 2.0 * math.pi, steps, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(steps)], axis=1)
    loops = [ring, ring[:, [0, 2, 1]], ring[:, [2, 0, 1]]]
    for direction, weight in zip(directions, weights):
        side = np.cross(direction, np.eye(3)[int(np.argmin(np.abs(direction)))])
        side /= np.linalg.norm(side)
        radius = 0.02 + 0.18 * min(max(weight, 0.0), 1.0)
        around = ring[:, :1] * side + ring[:, 1:2] * np.cross(direction, side)
        loops.append(direction * math.sqrt(1.0 - radius * radius) + radius * around)
    edges = [(n * steps + i, n * steps + (i + 1) % steps) for n in range(len(loops)) for i in range(steps)]
    first = len(loops) * steps
    ends = np.concatenate([np.zeros((1, 3)), directions, now[None] * 1.1])
    edges += [(first, first + i) for i in range(1, len(ends))]
    return np.concatenate([*loops, ends]), edges


def _sphere_object(context: bpy.types.Context, obj: bpy.types.Object, name: str, points: Matrix, edges: list[Any]) -> bpy.types.Object:
    made = next((o for o in context.scene.objects if o.get(SPHERE) == name), None)
    if made is None:
        made = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        made[SPHERE] = name
        made.hide_render = made.hide_select = made.show_in_front = True
        for collection in obj.users_collection or (context.scene.collection,):
            collection.objects.link(made)
    made.data.clear_geometry()
    made.data.from_pydata(points.tolist(), edges, [])
    made.data.update()
    return made


CLASSES = [SINEW_OT_driver_plot, SINEW_OT_driver_sphere]


def register() -> None:
    """Registers the operators."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
