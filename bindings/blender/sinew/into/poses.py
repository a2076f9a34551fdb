# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of drivers from the axes of Blender's bones to those that graphs use for the joints."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..character import AXES
from ..space import Matrix, matrix
from .merge import Match


def to_graph_axes(document: dict[str, Any], armature: bpy.types.Object, match: Match) -> None:
    """Changes the nodes of a document in place. Bones without stored axes change nothing."""
    for keys in document.get("nodes", {}).values():
        if keys["node"] not in {"pose_driver", "drive_joints"}:
            continue
        bones = [armature.data.bones.get(match.bone(name) or "") for name in keys["joints"]]
        reference = armature.data.bones.get(match.bone(keys.get("reference", "")) or "")
        befores = [_before(keys.get("space", "rest"), bone, reference) for bone in bones]
        afters = [_axes(bone) for bone in bones]
        for pose in keys.get("poses", []):
            pose["joints"] = [_moved(t, b, a) for t, b, a in zip(pose["joints"], befores, afters)]
        if keys.get("neutral"):
            keys["neutral"] = [_moved(t, b, a) for t, b, a in zip(keys["neutral"], befores, afters)]
        if "axis" in keys and afters:
            # One axis for all joints of a driver: that of the first.
            keys["axis"] = (afters[0].T @ np.array(keys["axis"], np.float64)).tolist()


def _before(space: str, bone: bpy.types.Bone | None, reference: bpy.types.Bone | None) -> Matrix:
    """Axes of the space in which a transform is given."""
    if space == "rest":
        return _axes(bone)
    return _axes(reference if space == "joint" else bone.parent if bone else None)


def _axes(bone: bpy.types.Bone | None) -> Matrix:
    """(3, 3) from the axes that graphs use to those of the bone."""
    stored = bone.get(AXES) if bone else None
    if stored is None:
        return np.eye(3)
    from mathutils import Quaternion

    return matrix(Quaternion(stored).to_matrix())


def _moved(given: dict[str, Any], before: Matrix, after: Matrix) -> dict[str, Any]:
    """A transform T of bones becomes before⁻¹ T after."""
    out = dict(given)
    if "translation" in out:
        out["translation"] = (before.T @ np.array(out["translation"], np.float64)).tolist()
    if "rotation" in out or not np.array_equal(before, after):
        rotation = before.T @ _rotation(out.pop("rotation", (0, 0, 0, 1))) @ after
        out["rotation"] = _quaternion(rotation)
    if "scale" in out:
        out["scale"] = (np.array(out["scale"], np.float64) @ after**2).tolist()
    return out


def _rotation(xyzw: Any) -> Matrix:
    from mathutils import Quaternion

    x, y, z, w = xyzw
    return matrix(Quaternion((w, x, y, z)).to_matrix())


def _quaternion(rotation: Matrix) -> list[float]:
    from mathutils import Matrix as BlenderMatrix

    w, x, y, z = BlenderMatrix(rotation.tolist()).to_quaternion()
    return [x, y, z, w]
