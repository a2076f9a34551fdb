# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's importers give bones axes of their own. Each bone stores how to come back to the axes of the file's joint, which graphs
mean with twist axes and poses of drivers."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..character import AXES
from ..space import SCENE_FROM_WORLD, Matrix, matrix

# Difference of two rotation matrices that counts as none.
SAME = 1e-6
# Share of the armature's size by which a bone and its joint may be apart.
APART = 1e-3


def store(armature: bpy.types.Object, character: Any) -> list[str]:
    """Stores the axes on the bones. Returns what does not fit."""
    joints = {joint.name: np.array(joint.rest, np.float64) for joint in character.joints}
    to_scene = SCENE_FROM_WORLD @ matrix(armature.matrix_world)
    missing, moved = [], []
    size = _size(joints)
    for bone in armature.data.bones:
        rest = joints.get(bone.name)
        if rest is None:
            missing.append(bone.name)
            continue
        own = to_scene @ matrix(bone.matrix_local)
        if np.linalg.norm(own[:3, 3] - rest[:3, 3]) > APART * size:
            moved.append(bone.name)
        axes = np.linalg.solve(_rotation(own), _rotation(rest))
        if AXES in bone:
            del bone[AXES]
        if np.abs(axes - np.eye(3)).max() > SAME:
            bone[AXES] = quaternion(axes)
    out = []
    if missing:
        out.append(f"The file has no joint for the bones {some(missing)}: they keep the axes of Blender")
    if moved:
        out.append(
            f"The file was bound in another pose than its rest pose ({some(moved)}): poses of drivers that count from rest may differ"
        )
    return out


def quaternion(rotation: Matrix) -> list[float]:
    """w, x, y, z of a rotation matrix (3, 3)."""
    from mathutils import Matrix as BlenderMatrix

    return list(BlenderMatrix(rotation.tolist()).to_quaternion())


def some(names: list[str], count: int = 4) -> str:
    """The first names of a list."""
    shown = ", ".join(f"'{name}'" for name in names[:count])
    return shown + (f" and {len(names) - count} more" if len(names) > count else "")


def _rotation(transform: Matrix) -> Matrix:
    """Rotation of a transform without shear."""
    linear = transform[:3, :3] / np.linalg.norm(transform[:3, :3], axis=0)
    u, _, v = np.linalg.svd(linear)
    return u @ v


def _size(joints: dict[str, Matrix]) -> float:
    if not joints:
        return 1.0
    positions = np.stack([rest[:3, 3] for rest in joints.values()])
    return float(np.ptp(positions, axis=0).max()) or 1.0
