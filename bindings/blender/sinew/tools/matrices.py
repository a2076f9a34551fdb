# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints and skin of a bound graph at its last frame."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..core import sd
from ..report import Problem
from ..session import Request, Session
from ..space import SCENE_FROM_WORLD, Matrix, Points, moved

MIRROR: Matrix = np.diag([-1.0, 1.0, 1.0, 1.0])


def frame(bound: Session) -> Request:
    """What the last frame was made of."""
    if bound.last is None:
        raise Problem("There is no frame yet. Change the frame, or press Rebind")
    return bound.last


def rest(bound: Session) -> Matrix:
    """(j, 4, 4) rest transforms: joint space to scene space."""
    return np.array([joint.rest for joint in bound.character.joints])


def posed(bound: Session) -> Matrix:
    """(j, 4, 4) transforms of the last frame: joint space to scene space."""
    return frame(bound).matrices @ rest(bound)


def local(scene: Matrix, bound: Session, index: int) -> Matrix:
    """Transform of a joint relative to its parent."""
    parent = bound.character.joints[index].parent
    return scene[index] if parent is None else np.linalg.solve(scene[parent], scene[index])


def motion(bound: Session, index: int) -> Matrix:
    """Motion of a joint from rest, in its own axes."""
    return np.linalg.solve(local(rest(bound), bound, index), local(posed(bound), bound, index))


def mirror(bound: Session) -> Matrix:
    """Mirrors scene space at the X plane of the armature."""
    frame = SCENE_FROM_WORLD @ bound.binds[1]
    return frame @ MIRROR @ np.linalg.inv(frame)


def view(bound: Session) -> Any:
    """The mesh or the strands of the object itself. Other objects that the graph reads come after it."""
    is_hair = bound.document["inputs"][bound.input].get("type") == "strands"
    return (bound.character.strands if is_hair else bound.character.meshes)[0]


def influences(bound: Session) -> tuple[Any, Any, Any]:
    """Offsets, joints and weights of the vertices of the object."""
    own = view(bound)
    if own.influences is None:
        raise Problem(f"'{own.name}' has no skin weights. Choose an armature, and give the mesh vertex groups of its bones")
    return own.influences  # type: ignore[no-any-return]


def blended(bound: Session) -> Matrix:
    """(n, 4, 4) matrix of each vertex under linear skinning."""
    offsets, joints, weights = influences(bound)
    weighted = frame(bound).matrices[joints] * weights.astype(np.float64)[:, None, None]
    return np.add.reduceat(weighted, offsets[:-1].astype(np.intp), axis=0)


def names_of_joints(bound: Session, vertex: int, limit: int = 3) -> list[tuple[str, float]]:
    """The joints that move a vertex most."""
    offsets, joints, weights = influences(bound)
    part = slice(int(offsets[vertex]), int(offsets[vertex + 1]))
    pairs = sorted(zip(weights[part], joints[part]), reverse=True)[:limit]
    return [(bound.bones.joints[j], float(w)) for w, j in pairs]


def before_graph(bound: Session) -> Points:
    """(n, 3) positions that reach the graph, in scene space: rest shape with Blender's shape keys and modifiers."""
    given = frame(bound).positions.get(bound.input)
    if given is not None:
        return given  # type: ignore[no-any-return]
    return view(bound).positions  # type: ignore[no-any-return]


def to_object(bound: Session) -> Matrix:
    """Scene space at bind to the space of the object."""
    return np.linalg.inv(SCENE_FROM_WORLD @ bound.binds[0])


def player(bound: Session, document: dict[str, Any], **options: Any) -> Any:
    """Another player of the same character."""
    from ..session import folder

    graph = sd.Graph.from_dict(document, "graph", folder())
    numbers = {n: v for n, v in frame(bound).value_inputs.items() if n in document.get("inputs", {})}
    return sd.Player(bound.character, graph, fps=bound.player.fps, device="cpu", values=numbers, **options)


def advance(bound: Session, other: Any, matrices: Matrix | None = None) -> None:
    """Evaluates the pose of the last frame in another player."""
    last = frame(bound)
    if bound.skinned:
        other.advance_posed(last.tick, last.matrices if matrices is None else matrices, bound.bones.joints, space="skin")
    else:
        other.advance(last.tick)


def give_inputs(bound: Session, other: Any) -> None:
    """Gives another player of the same graph the parameters and positions of the last frame."""
    last = frame(bound)
    if last.values:
        other.set(**last.values)
    for name, numbers in last.value_inputs.items():
        other.set_values(name, numbers)
    for name, points in last.positions.items():
        other.set_positions(name, points)


def in_object(obj: bpy.types.Object, bound: Session, points: Points) -> Points:
    """Positions of scene space in the space of the object at the present frame."""
    from ..space import WORLD_FROM_SCENE, matrix

    now = matrix(obj.matrix_world) if bound.skinned else bound.binds[0]
    return moved(points, np.linalg.inv(now) @ WORLD_FROM_SCENE)
