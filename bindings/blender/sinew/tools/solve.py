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
MEMORY = 40
# Singular values below this share of a vertex's largest are left out.
SINGULAR = 0.1


@dataclass
class Solution:
    """Offsets at rest, and how near the graph comes with them."""

    offsets: Matrix
    distance: Matrix
    """(n,) distance of each vertex to the sculpt, metres."""
    steps: int


def offsets(evaluate: Evaluate, rest: Points, sculpt: Points, tolerance: float, limit: int = 300) -> Iterator[Solution]:
    """Better and better offsets; each one costs one evaluation."""
    inverse = _inverse_blocks(evaluate, rest)
    current = np.zeros_like(rest, np.float64)
    best: Solution | None = None
    steps: list[Matrix] = []
    states: list[Matrix] = []
    last_gain = 0
    for number in range(limit + 1):
        missing = sculpt.astype(np.float64) - evaluate((rest + current).astype(np.float32))
        distance = np.linalg.norm(missing, axis=1)
        if best is None or distance.max() < best.distance.max():
            if best is None or distance.max() < 0.99 * best.distance.max():
                last_gain = number
            best = Solution(current.copy(), distance, number)
        yield best
        if best.distance.max() <= tolerance / 4 or number - last_gain > MEMORY:
            return
        step = np.einsum("nij,nj->ni", inverse, missing)
        states.append(current.copy())
        steps.append(step)
        del states[:-MEMORY], steps[:-MEMORY]
        current = _mixed(states, steps)


def _mixed(states: list[Matrix], steps: list[Matrix]) -> Matrix:
    """The mixture of earlier states whose step is shortest, and that step."""
    if len(states) == 1:
        return states[0] + steps[0]
    last_state, last_step = states[-1], steps[-1]
    differences = np.stack([(last_step - s).ravel() for s in steps[:-1]], axis=1)
    gram = differences.T @ differences
    gram += np.eye(len(gram)) * 1e-10 * max(float(np.trace(gram)), 1e-30)
    mix = np.linalg.solve(gram, differences.T @ last_step.ravel())
    out = last_state + last_step
    for share, state, step in zip(mix, states[:-1], steps[:-1]):
        out = out - share * (last_state - state + last_step - step)
    return out


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
