"""Strands at rest, motions and solids of the scenes. Metres, seconds; motions are functions of time that return a (4, 4) matrix."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .truth import ball, round_cone, well

# Strands at rest.


def straight(count, length, root, direction):
    """A straight strand (count, 3)."""
    direction = np.asarray(direction, float) / np.linalg.norm(direction)
    return np.asarray(root, float) + np.linspace(0, length, count)[:, None] * direction


def coil(count, length, root, direction):
    """A coil around a line, which begins at the line."""
    radius, turns = 0.0076, min(4, count // 4)
    along = np.asarray(direction, float) / np.linalg.norm(direction)
    a = np.cross(along, [1, 0, 0] if abs(along[0]) < 0.8 else [0, 0, 1])
    a /= np.linalg.norm(a)
    b = np.cross(along, a)
    share = np.linspace(0, 1, count)
    angle = 2 * math.pi * turns * share
    wide = radius * np.minimum(6 * share, 1)
    rise = math.sqrt(length**2 - (2 * math.pi * turns * radius) ** 2)
    around = (np.cos(angle) - 1)[:, None] * a + np.sin(angle)[:, None] * b
    return np.asarray(root, float) + rise * share[:, None] * along + wide[:, None] * around


def over_ball(count):
    """Normals (count, 3) spread evenly over a ball, and one tangent for each."""
    k = np.arange(count) + 0.5
    y = 1 - 2 * k / count
    turn = math.pi * (1 + math.sqrt(5)) * k
    ring = np.sqrt(1 - y * y)
    normals = np.stack([ring * np.cos(turn), y, ring * np.sin(turn)], 1)
    tangents = np.random.default_rng(7).normal(size=(count, 3))
    tangents -= normals * np.sum(tangents * normals, 1, keepdims=True)
    return normals, tangents / np.linalg.norm(tangents, axis=1, keepdims=True)


# Motions.


def still(_):
    """No motion."""
    return np.eye(4)


def ramp(share):
    """0 to 1, without a jump of velocity."""
    share = min(max(share, 0.0), 1.0)
    return share * share * (3 - 2 * share)


def turned(degrees, seconds):
    """A rotation about the vertical."""

    def at(t):
        angle = math.radians(degrees) * ramp(t / seconds)
        out = np.eye(4)
        out[0, 0], out[0, 2], out[2, 0], out[2, 2] = math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle)
        return out

    return at


def moved(offset):
    """A translation, `offset(t)` metres along x."""

    def at(t):
        out = np.eye(4)
        out[0, 3] = offset(t)
        return out

    return at


def shaken(amplitude, frequency, seconds):
    """To and fro along x, which dies out."""
    return moved(lambda t: amplitude * math.sin(2 * math.pi * frequency * t) * (1 - ramp(t / seconds)))


# Solids: nodes of the graph, the same solid as a mesh, and how deep points are in it.


@dataclass
class Solid:
    depth: Callable[[np.ndarray], np.ndarray]
    capsules: list | None
    # (k, 2) radius and height of an outline, from the lower end of the axis to the upper one.
    outline: np.ndarray
    cells: int = 64
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)


def ball_solid(radius, centre=(0.0, 0.0, 0.0)):
    angle = np.linspace(-math.pi / 2, math.pi / 2, 65)
    outline = radius * np.stack([np.cos(angle), np.sin(angle)], 1)
    capsule = {"from": list(centre), "to": list(centre), "radius": radius}
    return Solid(lambda p: ball(p, np.asarray(centre), radius), [capsule], outline, centre=centre)


def spike_solid():
    """A cone with round ends: 2 cm below, 1 mm at the tip, 20 cm long."""
    low, high, wide, thin = -0.2, 0.0, 0.02, 0.001
    tilt = math.asin((wide - thin) / (high - low))
    below = np.linspace(-math.pi / 2, tilt, 33)
    above = np.linspace(tilt, math.pi / 2, 33)
    outline = np.concatenate(
        [
            np.stack([wide * np.cos(below), low + wide * np.sin(below)], 1),
            np.stack([thin * np.cos(above), high + thin * np.sin(above)], 1),
        ]
    )
    ends = ([0.0, low, 0.0], [0.0, high, 0.0])
    capsule = {"from": ends[0], "to": ends[1], "radius": wide, "end_radius": thin}
    return Solid(lambda p: round_cone(p, np.array(ends[0]), np.array(ends[1]), wide, thin), [capsule], outline, cells=256)


def well_solid():
    """A block with a round well, 2 cm wide and 4 cm deep."""
    corners = [(0, -0.06), (0.16, -0.06), (0.16, 0), (0.01, 0), (0.01, -0.04), (0, -0.04)]
    return Solid(lambda p: well(p, 0.01, 0.04), None, np.array(corners, float), cells=160)


def lathe(solid, segments=128):
    """A closed mesh: the outline around the vertical axis."""
    angle = 2 * math.pi * np.arange(segments) / segments
    radius, height = solid.outline.T
    points = np.stack(np.broadcast_arrays(radius[:, None] * np.cos(angle), height[:, None], -radius[:, None] * np.sin(angle)), -1)
    k, s = np.meshgrid(np.arange(len(radius) - 1), np.arange(segments), indexing="ij")
    corner = [(k + i) * segments + (s + j) % segments for i, j in ((0, 0), (0, 1), (1, 1), (1, 0))]
    triangles = np.concatenate([np.stack([corner[i] for i in t], -1).reshape(-1, 3) for t in ((0, 1, 2), (0, 2, 3))])
    return without_copies(points.reshape(-1, 3) + solid.centre, triangles)


def without_copies(points, triangles):
    """Vertices at one position become one, and triangles without area are left out."""
    points, index = np.unique(np.round(points, 9), axis=0, return_inverse=True)
    triangles = index.reshape(-1)[triangles]
    a, b, c = triangles.T
    return points, triangles[(a != b) & (b != c) & (c != a)]
