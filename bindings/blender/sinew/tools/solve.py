# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the offsets at rest that make a graph arrive at a sculpt.

Newton steps with the block of each vertex, mixed with earlier steps (Anderson; Walker and Ni, "Anderson acceleration for fixed-point
iterations", 2011), as `sinew psd extract` does for files. What later nodes smooth away has no such offsets, or very long ones. There,
offsets x with the damping d solve (A + d) x = b instead of A x = b (Lavrentiev), with the blocks turned back to rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..space import Matrix, Points
from . import weld

Evaluate = Callable[[Points], Points]
MEMORY = 60
# Steps without a gain of a hundredth, after which the search ends.
PATIENCE = 40
# Singular values below this share of a vertex's largest are left out.
SINGULAR = 0.1
# A vertex counts by the square of its distance, up to this times what one counts that is near enough.
MOST_WEIGHT = 100.0
# Share of the length of offsets that counts while offsets that reach the sculpt are searched.
SLIGHT = 0.005
# Offsets are at most this many times as long as the largest move of the sculpt.
LONGEST = 4.0
# The damping is doubled, from at least this, until offsets are short enough.
LEAST_DAMPING = 0.01
MOST_DAMPING = 1000.0
# Steps after which offsets that are too long are given up.
TRIAL = 15
# Damped offsets are done at this share of the largest move.
ENOUGH = 1e-3


@dataclass
class Solution:
    """Offsets at rest, and how near the graph comes with them."""

    offsets: Matrix
    distance: Matrix
    """(n,) distance of each vertex to the sculpt, metres."""
    steps: int
    damping: float = 0.0
    """The damping that made the offsets short enough; 0 where none was needed."""


class Task:
    """A sculpt, and the graph that should arrive at it. Vertices of one point have one offset."""

    def __init__(self, evaluate: Evaluate, rest: Points, sculpt: Points, point: Any) -> None:
        self.evaluate, self.rest, self.point = evaluate, rest, point
        self.wanted = weld.mean(point, sculpt.astype(np.float64))
        self.inverse = self._inverse_blocks()

    def missing(self, state: Matrix) -> tuple[Matrix, Matrix]:
        """What offsets (points, 3) leave: vectors of points, and distances of vertices."""
        reached = self.evaluate((self.rest + state[self.point]).astype(np.float32)).astype(np.float64)
        return self.wanted - weld.mean(self.point, reached), np.linalg.norm(self.wanted[self.point] - reached, axis=1)

    def back(self, missing: Matrix) -> Matrix:
        """Turns what is missing back to rest."""
        return np.einsum("nij,nj->ni", self.inverse, missing)  # type: ignore[no-any-return]

    def solution(self, state: Matrix, distance: Matrix, steps: int, damping: float = 0.0) -> Solution:
        """Offsets of all vertices."""
        return Solution(state[self.point], distance, steps, damping)

    def _inverse_blocks(self) -> Matrix:
        """(points, 3, 3) inverse of what the motion of all vertices along an axis does to each point."""
        size = float(np.ptp(self.rest, axis=0).max()) or 1.0
        step = 0.01 * size
        columns = []
        for axis in range(3):
            move = np.zeros(3, np.float32)
            move[axis] = step
            change = self.evaluate(self.rest + move).astype(np.float64) - self.evaluate(self.rest - move)
            columns.append(weld.mean(self.point, change) / (2.0 * step))
        u, sigma, v = np.linalg.svd(np.stack(columns, axis=2))
        kept = sigma > SINGULAR * sigma[:, :1]
        inverse = np.where(kept, 1.0 / np.where(kept, sigma, 1.0), 0.0)
        return np.einsum("nji,nj,nkj->nik", v, inverse, u)  # type: ignore[no-any-return]


def offsets(
    evaluate: Evaluate, rest: Points, sculpt: Points, tolerance: float, damping: float, point: Any, limit: int = 300
) -> Iterator[Solution]:
    """Better and better offsets; the last ones are the result. The first ones are 0. `point`: see `weld.twins`.

    `damping` keeps offsets short that the graph smooths away. It does nothing where short offsets reach the sculpt.
    """
    task = Task(evaluate, rest, sculpt, point)
    longest = best = None
    for best in _reaching(task, tolerance, limit):
        longest = LONGEST * float(best.distance.max()) if longest is None else longest
        yield best
        if best.steps > TRIAL and _length(best.offsets) > 2.0 * longest:
            break
    if best.distance.max() <= tolerance and _length(best.offsets) <= longest:
        return
    steps = best.steps
    while damping < MOST_DAMPING:
        for best in _damped(task, damping, longest, steps, limit):
            yield best
        if _length(best.offsets) <= longest:
            return
        damping, steps = max(2.0 * damping, LEAST_DAMPING), best.steps


def _length(vectors: Matrix) -> float:
    return float(np.linalg.norm(vectors, axis=1).max())


def _reaching(task: Task, tolerance: float, limit: int) -> Iterator[Solution]:
    """Offsets that come nearest to the sculpt, however long they are."""
    current = np.zeros_like(task.wanted)
    best: Solution | None = None
    states: list[Matrix] = []
    misses: list[Matrix] = []
    last_gain = 0
    for number in range(limit + 1):
        missing, distance = task.missing(current)
        if best is None or distance.max() < best.distance.max():
            if best is None or distance.max() < 0.99 * best.distance.max():
                last_gain = number
            best = task.solution(current, distance, number)
        yield best
        if best.distance.max() <= tolerance / 4 or number - last_gain > PATIENCE:
            return
        _remember(states, misses, current, missing)
        state, miss = _mixed(states, misses, tolerance, SLIGHT)
        current = state + task.back(miss)


def _damped(task: Task, damping: float, longest: float, steps: int, limit: int) -> Iterator[Solution]:
    """The offsets where what is missing, turned back to rest, is `damping` times as long as the offset."""
    current = np.zeros_like(task.wanted)
    states: list[Matrix] = []
    misses: list[Matrix] = []
    best: Solution | None = None
    smallest, last_gain = np.inf, 0
    for number in range(limit + 1):
        missing, distance = task.missing(current)
        force = task.back(missing) - damping * current
        size = float(np.linalg.norm(force))
        if size < smallest:
            last_gain = number if size < 0.99 * smallest else last_gain
            best, smallest = task.solution(current, distance, steps + number, damping), size
        yield best
        is_long = number >= TRIAL and _length(best.offsets) > longest
        if is_long or _length(force) <= ENOUGH * longest / LONGEST or number - last_gain > PATIENCE:
            return
        _remember(states, misses, current, force)
        state, miss = _mixed(states, misses, np.inf, 0.0)
        current = state + miss / (1.0 + damping)


def _remember(states: list[Matrix], misses: list[Matrix], state: Matrix, miss: Matrix) -> None:
    states.append(state)
    misses.append(miss)
    del states[:-MEMORY], misses[:-MEMORY]


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
