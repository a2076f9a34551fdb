# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the offsets at rest that make a graph arrive at a sculpt.

Newton steps with the block of each vertex, mixed with earlier steps (Anderson; Walker and Ni, "Anderson acceleration for fixed-point
iterations", 2011), as `sinew psd extract` does for files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..space import Matrix, Points

Evaluate = Callable[[Points], Points]
MEMORY = 60
# Steps without a gain of a hundredth, after which the search ends.
PATIENCE = 40
# Singular values below this share of a vertex's largest are left out.
SINGULAR = 0.1
# A vertex counts by the square of its distance, up to this times what one counts that is near enough.
MOST_WEIGHT = 100.0


@dataclass
class Solution:
    """Offsets at rest, and how near the graph comes with them."""

    offsets: Matrix
    distance: Matrix
    """(n,) distance of each vertex to the sculpt, metres."""
    steps: int


def offsets(evaluate: Evaluate, rest: Points, sculpt: Points, tolerance: float, damping: float, limit: int = 300) -> Iterator[Solution]:
    """Better and better offsets; each one costs one evaluation. `damping` keeps offsets short that the graph smooths away."""
    inverse = _inverse_blocks(evaluate, rest)
    current = np.zeros_like(rest, np.float64)
    best: Solution | None = None
    states: list[Matrix] = []
    misses: list[Matrix] = []
    last_gain = 0
    for number in range(limit + 1):
        missing = sculpt.astype(np.float64) - evaluate((rest + current).astype(np.float32))
        distance = np.linalg.norm(missing, axis=1)
        if best is None or distance.max() < best.distance.max():
            if best is None or distance.max() < 0.99 * best.distance.max():
                last_gain = number
            best = Solution(current.copy(), distance, number)
        yield best
        if best.distance.max() <= tolerance / 4 or number - last_gain > PATIENCE:
            return
        states.append(current)
        misses.append(missing)
        del states[:-MEMORY], misses[:-MEMORY]
        state, miss = _mixed(states, misses, tolerance, damping)
        current = state + np.einsum("nij,nj->ni", inverse, miss)


def _mixed(states: list[Matrix], misses: list[Matrix], tolerance: float, damping: float) -> tuple[Matrix, Matrix]:
    """The mixture of earlier offsets that misses least, and what it misses."""
    state, miss = states[-1], misses[-1]
    if len(states) == 1:
        return state, miss
    weights = np.clip((np.linalg.norm(miss, axis=1) / tolerance) ** 2, 1.0, MOST_WEIGHT)[:, None] ** 0.5
    far = np.stack([((miss - m) * weights).ravel() for m in misses[:-1]], axis=1)
    long = np.stack([(state - s).ravel() for s in states[:-1]], axis=1) * damping
    matrix = np.concatenate([far, long])
    wanted = np.concatenate([(miss * weights).ravel(), state.ravel() * damping])
    # Columns of equal length, so that small steps count as well as large ones.
    scale = np.maximum(np.linalg.norm(matrix, axis=0), 1e-30)
    # The triangle of a QR decomposition: as exact as the tall system, and faster.
    small = np.linalg.qr(np.c_[matrix / scale, wanted], mode="r")
    mix = np.linalg.lstsq(small[:, :-1], small[:, -1], rcond=1e-10)[0] / scale
    for share, s, m in zip(mix, states[:-1], misses[:-1]):
        state = state - share * (states[-1] - s)
        miss = miss - share * (misses[-1] - m)
    return state, miss


def _inverse_blocks(evaluate: Evaluate, rest: Points) -> Matrix:
    """(n, 3, 3) inverse of what the motion of all vertices along an axis does to each vertex."""
    size = float(np.ptp(rest, axis=0).max()) or 1.0
    step = 0.01 * size
    columns = []
    for axis in range(3):
        move = np.zeros(3, np.float32)
        move[axis] = step
        ahead = evaluate(rest + move).astype(np.float64)
        behind = evaluate(rest - move).astype(np.float64)
        columns.append((ahead - behind) / (2.0 * step))
    u, sigma, v = np.linalg.svd(np.stack(columns, axis=2))
    kept = sigma > SINGULAR * sigma[:, :1]
    inverse = np.where(kept, 1.0 / np.where(kept, sigma, 1.0), 0.0)
    return np.einsum("nji,nj,nkj->nik", v, inverse, u)
