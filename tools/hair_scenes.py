"""Plays hair in scenes that are hard for a solver, through the Python package, and measures it: `python hair_scenes.py [SCENE ...]`.

Prints one line a scene and run, and writes all numbers with `--json FILE`. Needs the package `sinew_deform` and SciPy; `--pictures` also
needs Pillow. `--list` prints the names. What is measured, in this order of columns:

- how deep free vertices and points of segments (five a segment) are in the true solid, every 0.1 s from 0.3 s on, in mm. Vertices 0 and 1
  and the segment behind them follow the root and do not count. The true solid is a closed form, or the mesh itself: no field of Sinew
- the largest stretch of a segment, as a share of its length
- the fastest vertex of each strand in the last 0.3 s: the maximum and the median of the strands in mm/s, and how many are above 1 mm/s
- the largest rise of kinetic and gravitational energy of a strand after the motion, as mm of lift of the whole strand: a run at 240 Hz
  with `local_stiffness` 0, in which nothing but an error of the solver does work
- tips at 30 and 60 Hz against 120 Hz, in mm: mean and largest during the motion (a second at least), mean at the end
- milliseconds a frame with two threads and with one, and of the node of the hair
- whether both runs, of some seconds, have the same bits

The energy of a chain that an exact integrator moves rises by 0.1 % (released at 10 degrees) and 4 % (80 degrees, whips) in this measure.
"""

import argparse
import hashlib
import inspect
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from hair_truth import MeshTruth, ball, round_cone, well

import sinew_deform as sd

GRAVITY = 9.81
# Vertices at the root that follow it.
PINNED = 2
# Points of a segment that are judged, from its start to its end.
SHARES = np.array([0.2, 0.35, 0.5, 0.65, 0.8])


def still(_):
    """No motion."""
    return np.eye(4)


@dataclass
class Scene:
    """What is played: a character, a graph whose node `sim` makes the output `hair`, and a motion."""

    character: sd.Character
    document: dict
    # (joints to give, time -> their matrices (j, 4, 4), joint space to scene space).
    joints: list[str]
    pose: Callable[[float], np.ndarray]
    # Seconds of motion; then all stands still.
    moving: float
    # Points along strands (s, m, 3), in the space of the solid at rest -> depths (s, m).
    depths: Callable[[np.ndarray], np.ndarray] | None = None
    # Time -> (4, 4): where the solid is, from where it is at rest.
    solid: Callable[[float], np.ndarray] = still
    inputs: dict[str, str] = field(default_factory=dict)
    # Strands of a guide and its followers.
    bundle: int = 1
    # First judged time and time between, seconds.
    judged: tuple[float, float] = (0.3, 0.1)
    # Other settings of `sim` for the run that measures energy; none: no such run.
    limp: dict | None = None
    free: bool = False


@dataclass(frozen=True)
class Options:
    """What the command line says about all scenes."""

    seconds: float
    preset: str | None
    params: dict
    data: str
    fur: int
    mohawk: int
    folder: str
    device: str


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


# Motions: time -> (4, 4).


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


def sim_node(keys, options):
    """The node `hair_sim` with the keys that this version of the package knows."""
    known = inspect.signature(sd.nodes.hair_sim).parameters
    keys = {**keys, **options.params}
    if options.preset:
        keys["preset"] = options.preset
    for name in sorted(set(keys) - set(known)):
        print(f"warning: hair_sim has no '{name}': left out", file=sys.stderr)
    return {"node": "hair_sim", "strands": "hair", "pose": "pose"} | {k: v for k, v in keys.items() if k in known}


def own_scene(options, strands, solid, grid, keys, head=still, obstacle=None, moving=0.0, **more):
    """A scene of strands (s, n, 3) on the joint `head`, and a solid that moves as the head, or as `obstacle`."""
    strands = np.asarray(strands)
    hair = sd.Strands(
        "hair",
        strands.reshape(-1, 3),
        np.full(len(strands), strands.shape[1]),
        joint_indices=np.zeros((strands[..., 0].size, 1)),
        joint_weights=np.ones((strands[..., 0].size, 1)),
    )
    meshes, nodes, inputs = [], {}, {"pose": {"type": "pose"}, "hair": {"type": "strands"}}
    if solid and grid:
        points, triangles = lathe(solid)
        one = np.ones((len(points), 1))
        meshes.append(sd.Mesh("body", points, triangles, joint_indices=one, joint_weights=one))
        inputs["body"] = {"type": "mesh"}
        nodes["skin"] = {"node": "skin", "mesh": "body", "pose": "pose"}
        nodes["field"] = {"node": "sdf", "mesh": "skin", "pose": "pose", "follow": "solid", "cells": solid.cells}
    elif solid:
        nodes["field"] = {"node": "solids", "pose": "pose", "follow": "solid", "capsules": solid.capsules}
    if solid:
        keys = {"colliders": "field", "margins": [0.0005], **keys}
    keys = {"global_stiffness": 0.0, "root_motion": 0.0, **keys}
    nodes["sim"] = sim_node(keys, options)
    joints = [sd.Joint(name, None, np.eye(4)) for name in ("head", "solid")]
    return Scene(
        character=sd.Character.from_arrays("scene", meshes, joints, strands=[hair]),
        document={"sinew": "1.0", "inputs": inputs, "nodes": nodes, "outputs": {"hair": "sim"}},
        joints=["head", "solid"],
        pose=lambda t: np.stack([head(t), (obstacle or head)(t)]),
        moving=moving,
        depths=closed_form(solid.depth) if solid else None,
        solid=obstacle or head,
        limp={"local_stiffness": 0.0},
        **more,
    )


def closed_form(depth):
    """Depths of points along strands."""
    return lambda points: depth(points.reshape(-1, 3)).reshape(points.shape[:2])


# The scenes. Each takes options and whether the solid is a grid.


def pendulum(degrees):
    def make(options, _):
        hang = straight(2, 0.2 / 15, (0, 0, 0), (0, -1, 0))
        lean = math.radians(degrees)
        rest = straight(15, 0.2 * 14 / 15, hang[1], (math.sin(lean), -math.cos(lean), 0))
        keys = {"damping": 0.0, "local_stiffness": 0.0}
        return own_scene(options, [np.concatenate([hang[:1], rest])], None, False, keys, free=True)

    return make


def turn(options, grid, vertices=16, count=24, shape=straight):
    normals, tangents = over_ball(count)
    strands = [shape(vertices, 0.2, 0.1 * n, 0.7 * n + 0.7 * t) for n, t in zip(normals, tangents)]
    return own_scene(options, strands, ball_solid(0.1), grid, {"local_stiffness": 0.6}, turned(180, 0.5), moving=0.5)


def of_vertices(vertices, shape):
    return lambda options, grid: turn(options, grid, vertices, 8, shape)


def spike(options, grid):
    strands = []
    for k in range(24):
        # Every phase of a segment, and both sides of the tip.
        root = (-0.07 - 0.2 / 15 * k / 24, 0.05, 0.0003 * (k % 5 - 2))
        strands.append(straight(16, 0.2, root, (1, 0, 0)))
    return own_scene(options, strands, spike_solid(), grid, {"local_stiffness": 0.3})


def pocket(options, grid):
    strands = []
    for k in range(24):
        a = 2 * math.pi * k / 24
        root = (0.006 * math.cos(a), -0.04, 0.006 * math.sin(a))
        strands.append(straight(16, 0.12, root, (0.6 * math.cos(a + 1), 1, 0.6 * math.sin(a + 1))))
    return own_scene(options, strands, well_solid(), grid, {"local_stiffness": 2.0}, shaken(0.03, 2.0, 1.5), moving=1.5)


def into(degrees):
    def make(options, grid):
        lean = math.radians(degrees)
        strands = [straight(16, 0.2, 0.1 * n, math.cos(lean) * t - math.sin(lean) * n) for n, t in zip(*over_ball(24))]
        return own_scene(options, strands, ball_solid(0.1), grid, {"local_stiffness": 2.0})

    return make


def flat(options, grid):
    lean = math.radians(89)
    strands = [straight(64, 0.2, 0.11 * n, math.cos(lean) * n + math.sin(lean) * t) for n, t in zip(*over_ball(24))]
    return own_scene(options, strands, ball_solid(0.1), grid, {"local_stiffness": 2.0, "margins": [0.01]})


def sweep(speed):
    def make(options, grid):
        strands = [straight(16, 0.2, (0.02 * (k % 4), 0, 0.006 * (k // 4) - 0.015), (0, -1, 0)) for k in range(24)]
        moving = 0.6 / speed
        path = moved(lambda t: speed * min(t, moving))
        solid = ball_solid(0.04, (-0.2, -0.12, 0.0))
        keys = {"local_stiffness": 0.6}
        return own_scene(options, strands, solid, grid, keys, obstacle=path, moving=moving, judged=(0.0, 1 / 60))

    return make


def in_mesh(mesh, every):
    """Depths in a mesh, of each n-th strand; the others count as outside."""
    truth = MeshTruth(mesh.positions, mesh.triangles)

    def depths(points):
        out = np.zeros(points.shape[:2])
        out[::every] = truth.depths(np.ascontiguousarray(points[::every]))
        return out

    return depths


def rigid_scene(options, character, motion, moving, keys, field_keys, strands, every, **more):
    """A character that moves as a whole, so that its mesh at rest is the solid. `strands`: keys of the input."""
    root = character.joints[0]
    document = {
        "sinew": "1.0",
        "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands", **strands}},
        "nodes": {
            "skin": {"node": "skin", "mesh": "body", "pose": "pose"},
            "field": {"node": "sdf", "mesh": "skin", "pose": "pose", "follow": root.name, **field_keys},
            "sim": sim_node({"colliders": "field", **keys}, options),
        },
        "outputs": {"hair": "sim"},
    }
    depths = in_mesh(character.meshes[0], every)
    return Scene(character, document, [root.name], lambda t: (motion(t) @ root.rest)[None], moving, depths, motion, **more)


def grown(options, name, character, **keys):
    """A file with strands that `sinew hair grow` made."""
    path = Path(options.folder) / name
    if not path.exists():
        sd.hair_grow(character, output=path, **keys)
    return {"hair": str(path)}


def head(options, _):
    character = sd.Character.sample("head")
    file = grown(options, "head.tfx", character, joint="head", count=400, length=0.15, vertices=16)
    keys = {"margins": [0.002]}
    return rigid_scene(options, character, turned(180, 0.5), 0.5, keys, {"cells": 90, "sign": "winding_number"}, {}, 2, inputs=file)


def mohawk(margin):
    """The head's motion of the clip, five times; the whole rat moves so."""

    def make(options, _):
        rat = rat_character(options)
        guides = sd.load(Path(options.data) / "Ratboy_mohawk.tfx")
        character = with_strands(rat, guides, max(1, len(guides.strands[0].strand_counts) // max(options.mohawk, 1)))
        motion = clip_motion(rat, "frenchHornMonster_head_JNT", 2.0)
        followers = {"followers": {"count": 2, "radius": 0.008, "tip_separation": 0.5}}
        every = max(1, 3 * options.mohawk // 100)
        keys, field_keys = {"margins": [margin]}, {"cells": 100, "sign": "pseudonormals"}
        more = {"bundle": 3, "judged": (0.3, 0.5)}
        return rigid_scene(options, character, motion, 10.0, keys, field_keys, followers, every, **more)

    return make


def fur(options, _):
    rat = rat_character(options)
    file = grown(options, f"fur{options.fur}.tfx", rat, count=options.fur, vertices=8, length=0.02, lean=40.0)
    motion = clip_motion(rat, "frenchHornMonster_head_JNT", 2.0)
    keys, every = {"margins": [0.001]}, max(1, options.fur // 200)
    field_keys = {"cell_size": 0.006, "sign": "pseudonormals"}
    return rigid_scene(options, rat, motion, 1.0, keys, field_keys, {}, every, inputs=file)


def rat_character(options):
    path = Path(options.data) / "Ratboy_body_skinned.glb"
    if not path.exists():
        raise FileNotFoundError(f"{path} is absent")
    return sd.load(path)


def with_strands(rat, guides, step):
    """The rat with each n-th strand of a file, whose joints are found by name."""
    hair, index = guides.strands[0], {joint.name: n for n, joint in enumerate(rat.joints)}
    kept = np.flatnonzero(np.repeat(np.arange(len(hair.strand_counts)), hair.strand_counts) % step == 0)
    names = np.array([index[joint.name] for joint in guides.joints])
    joints, weights = padded(hair.influences)
    strands = sd.Strands(
        "hair", hair.positions[kept], hair.strand_counts[::step], joint_indices=names[joints[kept]], joint_weights=weights[kept]
    )
    body = rat.meshes[0]
    joints, weights = padded(body.influences)
    mesh = sd.Mesh(body.name, body.positions, body.triangles, joint_indices=joints, joint_weights=weights)
    above = [np.eye(4) if j.parent is None else rat.joints[j.parent].rest for j in rat.joints]
    rig = [sd.Joint(j.name, j.parent, np.linalg.inv(up) @ j.rest) for j, up in zip(rat.joints, above)]
    return sd.Character.from_arrays("rat", [mesh], rig, strands=[strands])


def padded(influences):
    """Joints and weights (n, k) of influences in one list."""
    offsets, joints, weights = influences
    counts = np.diff(offsets.astype(int))
    row = np.repeat(np.arange(len(counts)), counts)
    column = np.arange(len(joints)) - offsets[:-1].astype(int)[row]
    out = np.zeros((2, len(counts), max(counts.max(), 1)))
    out[0, row, column], out[1, row, column] = joints, weights
    return out[0].astype(int), out[1]


def clip_motion(character, joint, period):
    """How a joint moves in the first clip, over and over: time -> (4, 4) from its place in the first frame."""
    document = {"sinew": "1.0", "inputs": {"pose": {"type": "pose"}}, "outputs": {"pose": "pose"}}
    # Frames of 1/240 s hold the times of all frame rates here.
    player = sd.Player(character, sd.Graph.from_dict(document), fps=240)
    index = next(n for n, j in enumerate(character.joints) if j.name == joint)

    def matrix(frame):
        player.advance(frame)
        return player["pose"].pose()[index]

    back = np.linalg.inv(matrix(0))
    return lambda t: matrix(round(t * 240) % round(period * 240)) @ back


SCENES: dict[str, Callable[[Options, bool], Scene]] = {
    "pendulum10": pendulum(10),
    "pendulum80": pendulum(80),
    "turn": turn,
    "spike": spike,
    "pocket": pocket,
    **{f"into{d}": into(d) for d in (10, 20, 30, 60)},
    "flat": flat,
    "head": head,
    "mohawk0": mohawk(0.0),
    "mohawk2": mohawk(0.002),
    "fur": fur,
    **{f"straight{n}": of_vertices(n, straight) for n in (8, 16, 32, 64, 128, 256)},
    **{f"curled{n}": of_vertices(n, coil) for n in (8, 16, 32, 64, 128, 256)},
    **{f"sweep{s}": sweep(s) for s in (0.5, 1, 3)},
}
QUICK = ["pendulum10", "pendulum80", "turn", "spike", "pocket", "into30", "flat", "head", "sweep1"]
NO_GRID = ("pendulum",)
# Their fields are built anew in each frame, which takes most of the time: 30 Hz, and no comparison of frame rates.
MESHES = ("head", "mohawk", "fur")
ONLY_GRID = ("pocket", *MESHES)


def variants(name):
    """The solids that a scene has."""
    if name.startswith(NO_GRID):
        return [""]
    return ["grid"] if name.startswith(ONLY_GRID) else ["solid", "grid"]


# Measures.


class Measures:
    """What one run shows, frame by frame."""

    def __init__(self, scene, rest, fps, seconds):
        self.scene, self.fps = scene, fps
        self.end = scene.moving + seconds
        lengths = np.linalg.norm(np.diff(rest, axis=1), axis=2)
        self.lengths = lengths
        # Lumped from lengths, of free vertices.
        mass = np.pad(lengths, ((0, 0), (1, 0))) / 2 + np.pad(lengths, ((0, 0), (0, 1))) / 2
        self.mass = mass[:, PINNED:]
        self.vertex = self.segment = self.stretch = 0.0
        self.speeds = np.zeros(len(rest))
        self.tips, self.energy, self.digest = [], [], hashlib.blake2b()
        self.before = None

    def add(self, frame, hair, solid):
        """Takes strands (s, n, 3) of a frame, and where the solid is."""
        t = frame / self.fps
        self.digest.update(hair.tobytes())
        hair = hair.astype(np.float64)
        if frame % (self.fps // 30) == 0:
            self.tips.append(hair[:, -1])
        if self._is_judged(frame):
            self._judge(hair, solid)
        if self.before is not None:
            self._move(t, hair)
        self.before = hair

    def _is_judged(self, frame):
        """Whether a judged time is within this frame."""
        first, every = self.scene.judged
        count = [math.floor((n / self.fps - first) / every + 1e-9) for n in (frame, frame - 1)]
        return count[0] >= 0 and count[0] > count[1]

    def _judge(self, hair, solid):
        stretch = np.linalg.norm(np.diff(hair, axis=1), axis=2) / self.lengths - 1
        self.stretch = max(self.stretch, np.abs(stretch[:, PINNED - 1 :]).max())
        if self.scene.depths is None:
            return
        hair = (hair - solid[:3, 3]) @ solid[:3, :3]
        start, end = hair[:, PINNED:-1, None], hair[:, PINNED + 1 :, None]
        along = start + (end - start) * SHARES[:, None]
        points = np.concatenate([start, along], axis=2).reshape(len(hair), -1, 3)
        found = self.scene.depths(np.concatenate([points, hair[:, -1:]], axis=1))
        last, inner = found[:, -1], found[:, :-1].reshape(len(hair), -1, 1 + len(SHARES))
        self.vertex = max(self.vertex, inner[..., 0].max(), last.max())
        self.segment = max(self.segment, inner[..., 1:].max())

    def _move(self, t, hair):
        velocity = (hair - self.before) * self.fps
        if t > self.end - 0.3 + 1e-9:
            self.speeds = np.maximum(self.speeds, np.linalg.norm(velocity, axis=2).max(axis=1))
        if t > max(self.scene.moving, 0 if self.scene.free else 0.3) + 1e-9:
            # Both energies belong to the time between two frames, so that the error is of second order.
            middle = (hair + self.before)[:, PINNED:, 1] / 2
            squared = np.sum(velocity[:, PINNED:] ** 2, axis=2)
            self.energy.append(np.sum(self.mass * (squared / 2 + GRAVITY * middle), axis=1))

    def energies(self):
        """Largest rise, as mm of lift; for free strands also shares of the start."""
        energy = np.array(self.energy)
        if not len(energy):
            return {}
        rise = (energy - np.minimum.accumulate(energy)).max(axis=0)
        out = {"energy_rise_mm": (rise / (GRAVITY * self.mass.sum(axis=1))).max() * 1e3}
        if self.scene.free:
            # Zero: all free vertices hang straight down.
            reach = np.cumsum(self.lengths[:, PINNED - 1 :], axis=1)
            lowest = np.sum(self.mass * GRAVITY * (self.before[:, PINNED - 1, 1, None] - reach), axis=1)
            share = (energy - lowest) / (energy[0] - lowest)
            out["energy_rise_share"] = (share - np.minimum.accumulate(share)).max()
            out["energy_left"] = {t: share[round(t * self.fps) - 1].max() for t in (1, 2, 5) if t * self.fps <= len(share)}
        return out


def play(name, variant, options, fps, seconds, judged=False, limp=False):
    """One run of a scene, in this process: numbers, tips and the last frame. Depths only if `judged`."""
    scene = SCENES[name](options, variant == "grid")
    if limp:
        known = inspect.signature(sd.nodes.hair_sim).parameters
        scene.document["nodes"]["sim"] |= {k: v for k, v in scene.limp.items() if k in known}
    if not judged:
        scene.depths = None
    graph = sd.Graph.from_dict(scene.document)
    player = sd.Player(scene.character, graph, fps=fps, inputs=scene.inputs, normals=False, profile=True, device=options.device)
    player.set_clip(None)
    counts = player["hair"].strand_counts
    if len(set(counts.tolist())) != 1:
        raise SystemExit(f"error: {name}: found strands of {sorted(set(counts.tolist()))} vertices, expected one number")
    shape = (len(counts), int(counts[0]), 3)
    measures, timing = Measures(scene, hair_at_rest(scene, shape[1]), fps, seconds), Timing()
    last = round((scene.moving + seconds) * fps)
    for frame in range(last + 1):
        t = min(frame / fps, scene.moving)
        timing.frame(player, frame, scene.pose(t), scene.joints)
        hair = player["hair"].positions().reshape(shape)
        measures.add(frame, hair, scene.solid(t))
    return report(measures, timing, scene, hair)


def hair_at_rest(scene, vertices):
    """Strands at rest (s, n, 3). Followers have the shape of their guide."""
    source = sd.load(scene.inputs["hair"]) if "hair" in scene.inputs else scene.character
    guides = source.strands[0].positions.reshape(-1, vertices, 3).astype(np.float64)
    return np.repeat(guides, scene.bundle, axis=0)


class Timing:
    """Seconds of frames after the first."""

    def __init__(self):
        self.wall, self.cpu, self.node = [], [], []

    def frame(self, player, number, matrices, joints):
        wall, cpu = time.perf_counter(), time.process_time()
        player.advance_posed(number, matrices, joints=joints)
        if number:
            self.wall.append(time.perf_counter() - wall)
            self.cpu.append(time.process_time() - cpu)
            self.node.append(sum(s for node, s in player.node_times() if "sim" in node.split(" + ")))

    def milliseconds(self):
        """Medians: other work on the machine makes means too long."""
        return {f"{key}_ms": np.median(getattr(self, key)) * 1e3 for key in ("wall", "cpu", "node")}


def report(measures, timing, scene, hair):
    """What a run hands back, as plain numbers and arrays."""
    finite = bool(np.isfinite(hair).all())
    speeds = measures.speeds * 1e3 if finite else np.full(len(hair), np.inf)
    meshes, end = scene.character.meshes, scene.solid(scene.moving)
    return {
        "strands": len(hair),
        "vertices": hair.shape[1],
        "moving": scene.moving,
        "numbers": {
            "vertex_mm": measures.vertex * 1e3,
            "segment_mm": measures.segment * 1e3,
            "stretch": measures.stretch,
            "rest_max_mm_s": speeds.max(),
            "rest_median_mm_s": np.median(speeds),
            "restless": int((~(speeds <= 1)).sum()),
            "guides_restless": int((~(speeds[:: scene.bundle] <= 1)).sum()),
            **timing.milliseconds(),
        },
        "energy": measures.energies(),
        "tips": np.array(measures.tips),
        "digest": measures.digest.hexdigest(),
        "hair": hair,
        "body": meshes[0].positions @ end[:3, :3].T + end[:3, 3] if meshes else None,
        "triangles": meshes[0].triangles if meshes else None,
    }


# The table.


class Workers:
    """A process for each number of threads: Sinew takes the number from its environment when it starts."""

    def __init__(self):
        self.pools = {}

    def run(self, threads, *arguments):
        if threads not in self.pools:
            os.environ["RAYON_NUM_THREADS"] = str(threads)
            self.pools[threads] = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        return self.pools[threads].submit(play, *arguments).result()

    def close(self):
        for pool in self.pools.values():
            pool.shutdown()


def whole(workers, name, variant, options, arguments):
    """All runs of a scene: the numbers of the line."""
    meshes = name.startswith(MESHES)
    fps, threads, seconds = 30 if meshes else arguments.fps, arguments.threads, options.seconds
    run = lambda *keys: workers.run(keys[0], name, variant, options, *keys[1:])  # noqa: E731
    if name.startswith("pendulum"):
        main = run(threads, 240, 5.0, True)
        out = line_of(name, variant, main)
        return out | main["energy"], main
    main = run(threads, fps, seconds, True)
    out = line_of(name, variant, main)
    moving = main["moving"]
    short = [run(n, fps, min(moving + 1.0, 1.0 if meshes else 2.5) - moving) for n in (threads, 1)]
    out |= {"one_thread_ms": short[1]["numbers"]["wall_ms"], "same_bits": short[0]["digest"] == short[1]["digest"]}
    out["two_threads_ms"] = short[0]["numbers"]["wall_ms"]
    if not meshes:
        out |= run(threads, 240, min(seconds, 2.0), False, True)["energy"]
    if not (meshes or arguments.quick):
        out["rates"] = rates({r: main if r == fps else run(threads, r, seconds) for r in (30, 60, 120)}, moving)
    return out, main


def line_of(name, variant, main):
    return {"scene": name, "variant": variant, "strands": main["strands"], "vertices": main["vertices"], **main["numbers"]}


def rates(runs, moving):
    """Tips against those of the fastest frame rate, in mm: during the motion, and in the last frame."""
    during = round(max(moving, 1.0) * 30) + 1
    out = {}
    for fps in (30, 60):
        apart = np.linalg.norm(runs[fps]["tips"] - runs[120]["tips"], axis=2) * 1e3
        out[str(fps)] = {
            "motion_mean": apart[:during].mean(),
            "motion_max": apart[:during].max(),
            "end_mean": apart[-1].mean(),
            "end_max": apart[-1].max(),
        }
    return out


COLUMNS = (
    ("scene", 17), ("strands", 11), ("vertex", 7), ("segm.", 7), ("stretch", 8), ("rest max", 9), ("median", 7), ("moving", 11),
    ("rise", 7), ("30Hz: mean,max,end", 20), ("60Hz: mean,max,end", 20), ("2 thr.", 7), ("1 thr.", 7), ("node", 7), ("bits", 5),
)  # fmt: skip


def heading():
    units = ["", "", "mm", "mm", "share", "mm/s", "mm/s", ">1 mm/s", "mm", "mm", "mm", "ms", "ms", "ms", ""]
    rows = ([c for c, _ in COLUMNS], units)
    return "\n".join(" ".join(text.rjust(width) for text, (_, width) in zip(row, COLUMNS)) for row in rows)


def line(out):
    """One line of the table."""

    def number(key, digits=2):
        return f"{out[key]:.{digits}f}" if key in out else "-"

    def tips(fps):
        found = out.get("rates", {}).get(fps)
        return "-" if found is None else f"{found['motion_mean']:.1f},{found['motion_max']:.1f},{found['end_mean']:.2f}"

    cells = [
        f"{out['scene']} {out['variant']}", f"{out['strands']}x{out['vertices']}", number("vertex_mm", 3), number("segment_mm", 3),
        f"{out['stretch']:.0e}", number("rest_max_mm_s"), number("rest_median_mm_s"), f"{out['restless']}/{out['strands']}",
        number("energy_rise_mm"), tips("30"), tips("60"), number("two_threads_ms"), number("one_thread_ms"), number("node_ms"),
        {True: "same", False: "DIFF"}.get(out.get("same_bits"), "-"),
    ]  # fmt: skip
    text = " ".join(cell.rjust(width) for cell, (_, width) in zip(cells, COLUMNS))
    if "energy_left" in out:
        left = ", ".join(f"{share:.2f} after {t} s" for t, share in out["energy_left"].items())
        text += f"\n{'':17} energy left: {left}; largest rise {out['energy_rise_share']:.2%} of the start"
    return text


def picture(main, path):
    """Strands from the front and from the side, over the mesh."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (1280, 640), "white")
    low, high = main["hair"].min(axis=(0, 1)), main["hair"].max(axis=(0, 1))
    middle, scale = (low + high) / 2, 560 / (high - low).max()
    for view, across in enumerate((0, 2)):
        axes, mirror = [across, 1], np.array([scale, -scale])
        flat = lambda p: (p[..., axes] - middle[axes]) * mirror + 320  # noqa: B023, E731
        panel = Image.new("RGB", (640, 640), "white")
        draw = ImageDraw.Draw(panel)
        if main["triangles"] is not None:
            for a, b, c in flat(main["body"])[main["triangles"]]:
                draw.polygon([tuple(a), tuple(b), tuple(c)], fill=(225, 225, 230))
        for strand in flat(main["hair"]):
            draw.line([tuple(p) for p in strand], fill=(90, 50, 20))
        image.paste(panel, (640 * view, 0))
    image.save(path)


def arguments_of(argv):
    parser = argparse.ArgumentParser(description="Plays hair in hard scenes and measures it.")
    parser.add_argument("scenes", nargs="*", help="scenes to play, by the beginning of their names; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer scenes, no comparison of frame rates: about a minute")
    parser.add_argument("--list", action="store_true", help="print the names of scenes")
    parser.add_argument("--variant", choices=["solid", "grid"], help="only this kind of collider")
    parser.add_argument("--fps", type=int, default=60, choices=[30, 60, 120, 240], help="frames per second; default: 60")
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds without motion at the end; default: 5")
    parser.add_argument("--threads", type=int, default=2, help="threads of runs; one thread is measured besides; default: 2")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--preset", help="preset of hair_sim for all scenes; settings of a scene replace its values")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of hair_sim for all scenes; JSON")
    parser.add_argument("--data", default=str(Path(__file__).parents[2] / "shared" / "data" / "hair"), help="folder with the rat")
    parser.add_argument("--fur", type=int, default=3000, help="strands of fur; the benchmark has 82000; default: 3000")
    parser.add_argument("--mohawk", type=int, default=140, help="guides of the mohawk, at most about; the file has 2228; default: 140")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="draw the last frame of each scene")
    return parser.parse_args(argv)


def params_of(texts):
    """NAME=VALUE, the value as JSON or as text."""
    out = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            out[name] = json.loads(value)
        except json.JSONDecodeError:
            out[name] = value
    return out


def chosen(arguments):
    """Names of the scenes to play."""
    names = QUICK if arguments.quick else list(SCENES)
    out = [n for n in names if not arguments.scenes or n.startswith(tuple(arguments.scenes))]
    if not out:
        raise SystemExit(f"error: no scene begins with {arguments.scenes}; --list prints the names")
    return out


def main(argv=None):
    arguments = arguments_of(argv)
    if arguments.list:
        print("\n".join(SCENES))
        return
    found, workers = [], Workers()
    with tempfile.TemporaryDirectory() as folder:
        options = Options(
            arguments.seconds, arguments.preset, params_of(arguments.param), arguments.data, arguments.fur, arguments.mohawk, folder,
            arguments.device,
        )  # fmt: skip
        print(f"sinew_deform {sd.__version__}, {arguments.device}, {arguments.threads} threads, {arguments.fps} Hz")
        print(heading(), flush=True)
        for name in chosen(arguments):
            for variant in variants(name):
                if arguments.variant in (None, variant) or not variant:
                    play_all(workers, name, variant, options, arguments, found)
    workers.close()
    if arguments.json:
        document = {"version": sd.__version__, "command": sys.argv[1:], "scenes": found}
        arguments.json.write_text(json.dumps(document, indent=1, default=float))


def play_all(workers, name, variant, options, arguments, found):
    """Plays a scene, prints its line and keeps its numbers."""
    begun = time.perf_counter()
    try:
        out, run = whole(workers, name, variant, options, arguments)
    except FileNotFoundError as error:
        print(f"{name}: skipped: {error}", flush=True)
        return
    out["seconds"] = time.perf_counter() - begun
    found.append(out)
    print(line(out), flush=True)
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
        picture(run, arguments.pictures / f"{name}_{variant or 'free'}.png")


if __name__ == "__main__":
    main()
