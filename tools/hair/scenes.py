"""The scenes: each is a function of options, and of whether its solid is a grid."""

import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import sinew_deform as sd

from .shapes import (
    ball_solid,
    coil,
    lathe,
    moved,
    over_ball,
    shaken,
    spike_solid,
    still,
    straight,
    turned,
    well_solid,
)
from .truth import MeshTruth


@dataclass
class Scene:
    """A scene to play: a character, a graph whose node `sim` makes the output `hair`, and a motion."""

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


@cache
def warn_of(name):
    """Says once that the node has no such key."""
    print(f"warning: hair_sim has no '{name}': left out", file=sys.stderr)


def sim_node(keys, options):
    """The node `hair_sim` with the keys that this version of the package knows."""
    known = inspect.signature(sd.nodes.hair_sim).parameters
    keys = {**keys, **options.params}
    if options.preset:
        keys["preset"] = options.preset
    for name in sorted(set(keys) - set(known)):
        warn_of(name)
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


# The scenes.


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
# With the pull to the rest shape, which does work: no energy.
MESHES = ("head", "mohawk", "fur")
ONLY_GRID = ("pocket", *MESHES)


def variants(name):
    """The solids that a scene has."""
    if name.startswith(NO_GRID):
        return [""]
    return ["grid"] if name.startswith(ONLY_GRID) else ["solid", "grid"]
