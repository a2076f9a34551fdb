# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms of graph documents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..space import Matrix

SMALL = 1e-6


def encode(value: Matrix) -> dict[str, Any]:
    """A document's transform. Parts that do nothing are left out."""
    from mathutils import Matrix as BlenderMatrix

    translation, rotation, scale = BlenderMatrix(value.tolist()).decompose()
    made: dict[str, Any] = {}
    if max(abs(x) for x in translation) > SMALL:
        made["translation"] = list(translation)
    if not np.allclose(value[:3, :3], np.diag(scale), atol=1e-9):
        rotation.normalize()
        made["rotation"] = [rotation.x, rotation.y, rotation.z, rotation.w]
    if max(abs(x - 1.0) for x in scale) > 1e-5:
        made["scale"] = list(scale)
    return made


def decode(given: dict[str, Any]) -> Matrix:
    """The matrix of a document's transform."""
    if "matrix" in given:
        return np.array(given["matrix"], np.float64).reshape(4, 4).T
    made = np.eye(4)
    if "rotation" in given:
        made[:3, :3] = quaternion(given["rotation"])
    elif "rotation_degrees" in given:
        x, y, z = (about(axis, math.radians(a)) for axis, a in enumerate(given["rotation_degrees"]))
        made[:3, :3] = z @ y @ x
    made[:3, :3] = made[:3, :3] * np.array(given.get("scale", [1.0, 1.0, 1.0]), np.float64)
    made[:3, 3] = given.get("translation", [0.0, 0.0, 0.0])
    return made


def quaternion(given: list[float]) -> Matrix:
    """(3, 3) rotation of a quaternion x, y, z, w."""
    x, y, z, w = np.array(given, np.float64) / np.linalg.norm(given)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def about(axis: int, angle: float) -> Matrix:
    """(3, 3) rotation about an axis."""
    made = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    made[i, i] = made[j, j] = math.cos(angle)
    made[i, j], made[j, i] = -math.sin(angle), math.sin(angle)
    return made


def matrix_value(value: Matrix) -> dict[str, Any]:
    """A transform with shear, as 16 numbers."""
    return {"matrix": [float(x) for x in value.T.ravel()]}
