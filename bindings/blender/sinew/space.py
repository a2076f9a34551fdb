# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's world (Z up) and Sinew's scene space (Y up). Matrices are (4, 4) with column vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .report import Problem

Matrix = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

SCENE_FROM_WORLD: Matrix = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], np.float64)
WORLD_FROM_SCENE: Matrix = SCENE_FROM_WORLD.T.copy()


def matrix(value: Sequence[Sequence[float]]) -> Matrix:
    """A matrix of Blender."""
    return np.array(value, np.float64)


def flat(value: Matrix) -> list[float]:
    """For a property of 16 floats, row after row."""
    return [float(number) for number in value.ravel()]


def moved(points: Points, transform: Matrix) -> Points:
    """Points (n, 3) moved by an affine transform."""
    m = transform.astype(np.float32)
    out = np.empty(points.shape, np.float32)
    x, y, z = points.T
    # A matrix product would wait for the threads of a library.
    for row in range(3):
        column = x * m[row, 0]
        column += y * m[row, 1]
        column += z * m[row, 2]
        column += m[row, 3]
        out[:, row] = column
    return out


def inverse(transform: Matrix) -> Matrix:
    """The inverse of one affine transform. A library for large matrices takes longer."""
    x, y, z = transform[:3, :3].T
    rows = np.array([np.cross(y, z), np.cross(z, x), np.cross(x, y)])
    volume = float(x @ rows[0])
    if volume == 0.0:
        raise Problem("An object or armature has the scale 0. Set its scale, then press Rebind")
    out = np.eye(4)
    out[:3, :3] = rows / volume
    out[:3, 3] = -(out[:3, :3] @ transform[:3, 3])
    return out
