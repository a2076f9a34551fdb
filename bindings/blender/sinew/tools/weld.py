# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices at one position, as seams of texture coordinates have them in files: one point of the surface."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..session import Session
from ..space import Matrix, Points
from . import matrices

# Signatures of skin weights that differ by less are the same.
SAME_SKIN = 1e-3


def twins(bound: Session, rest: Points) -> Any:
    """(n,) number of the point of each vertex. Vertices are one point at equal rest positions with equal skin weights, so that lips that
    touch at rest stay two."""
    _, point = np.unique(rest + np.float32(0.0), axis=0, return_inverse=True)
    point = point.reshape(-1)
    signed = signatures(bound)
    least = np.full(point.max() + 1, np.inf)
    np.minimum.at(least, point, signed)
    steps = np.round((signed - least[point]) / SAME_SKIN).astype(np.int64)
    _, made = np.unique(np.stack([point, steps], axis=1), axis=0, return_inverse=True)
    return made.reshape(-1)


def signatures(bound: Session, name: Callable[[str], str] = str) -> Matrix:
    """(n,) a number that is equal for equal skin weights. `name` gives joints other names before."""
    view = matrices.view(bound)
    if view.influences is None:
        return np.zeros(view.vertex_count)
    offsets, joints, weights = view.influences
    numbers = np.array([zlib.crc32(name(joint).encode()) / 2**32 for joint in bound.bones.joints])
    return np.add.reduceat(numbers[joints] * weights.astype(np.float64), offsets[:-1].astype(np.intp))  # type: ignore[no-any-return]


def mean(point: Any, vectors: Matrix) -> Matrix:
    """(points, 3) mean of the vertices of each point."""
    counts = np.bincount(point)
    return np.stack([np.bincount(point, vectors[:, i]) / counts for i in range(3)], axis=1)


def apart(point: Any, vectors: Matrix) -> Matrix:
    """(n,) distance of each vertex to the mean of its point."""
    return np.linalg.norm(vectors - mean(point, vectors)[point], axis=1)  # type: ignore[no-any-return]


