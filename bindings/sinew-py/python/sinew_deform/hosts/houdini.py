"""Sinew inside Houdini. Never run inside Houdini; tested against a fake of its API.

In a Python SOP with the inputs of a Bone Deform (skin, capture pose, animated pose):

    import hou
    import sinew_deform as sd
    from sinew_deform.hosts import houdini

    node = hou.pwd()
    rig = houdini.Rig(node.inputs()[0].geometry(), node.inputs()[1].geometry())
    player = sd.Player(rig.character, sd.Graph.from_nodes("skin", sd.nodes.delta_mush()))
    points = rig.deform(player, int(hou.frame()), node.inputs()[2].geometry())
    houdini.write(node.geometry(), points)

Keep ``rig`` and ``player`` between frames, for example in ``hou.session``: setup then runs once.
It reads KineFX skeletons: points with ``name`` and ``transform``, and the point attribute ``boneCapture``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import Joint, Mesh
from .._errors import UsageError
from .._native import Character, Player

Array = npt.NDArray[Any]


class Rig:
    """A captured skin and its skeleton.

    ``character`` has one joint for each point of the skeleton, parents first.
    """

    def __init__(self, skin: Any, skeleton: Any) -> None:
        """Reads the rest geometry.

        Args:
            skin: ``hou.Geometry`` with polygons and ``boneCapture``.
            skeleton: ``hou.Geometry`` of the capture pose.

        Raises:
            UsageError: An attribute is missing, or the skin is captured to a joint that the skeleton lacks.
        """
        names, rests, parents = list(_strings(skeleton, "name")), transforms(skeleton), _parents(skeleton)
        order = sorted(range(len(names)), key=lambda i: _depth(parents, i, names))
        self._names: list[str] = [names[i] for i in order]
        joints = []
        for i in order:
            parent = parents.get(i)
            local = rests[i] if parent is None else np.linalg.inv(rests[parent]) @ rests[i]
            joints.append(Joint(names[i], None if parent is None else order.index(parent), local))
        self.character: Character = Character.from_arrays("houdini", [self._mesh(skin)], joints)

    def pose(self, skeleton: Any) -> Array:
        """(j, 4, 4) joint space to scene space.

        Args:
            skeleton: ``hou.Geometry`` of the animated pose, with the points of the capture pose by name.

        Raises:
            UsageError: A joint is missing.
        """
        found = dict(zip(_strings(skeleton, "name"), transforms(skeleton)))
        missing = [name for name in self._names if name not in found]
        if missing:
            raise UsageError(f"the animated skeleton lacks the joint {missing[0]!r}", code="no_joint", found=missing[0])
        return np.array([found[name] for name in self._names])

    def deform(self, player: Player, n: int, skeleton: Any, output: str = "body") -> Array:
        """Evaluates a pose.

        Args:
            player: Player of ``character``.
            n: Number of the frame, for simulations.
            skeleton: ``hou.Geometry`` of the animated pose.
            output: Mesh output of the graph.

        Returns:
            (n, 3) points, metres.
        """
        player.advance_posed(n, self.pose(skeleton))
        return player[output].positions()

    def _mesh(self, skin: Any) -> Mesh:
        positions = np.array(skin.pointFloatAttribValues("P")).reshape(-1, 3)
        # Houdini's polygons are clockwise.
        faces = [[vertex.point().number() for vertex in reversed(prim.vertices())] for prim in skin.prims()]
        joints, weights = self._influences(skin)
        return Mesh("skin", positions, faces=faces, joint_indices=joints, joint_weights=weights)

    def _influences(self, skin: Any) -> tuple[Array, Array]:
        """Pairs of joint and weight of each point; unused ones have the joint -1."""
        attribute = skin.findPointAttrib("boneCapture")
        if attribute is None:
            raise UsageError("the skin has no attribute 'boneCapture'", code="no_skin", help="capture it first")
        table = attribute.indexPairPropertyTables()[0]
        paths = [table.stringPropertyValueAtIndex("pCaptPath", i) for i in range(table.numIndices())]
        joints = np.array([self._index(path.split("/cregion")[0]) for path in paths], dtype=np.int64)
        pairs = [np.array(point.floatListAttribValue(attribute)).reshape(-1, 2) for point in skin.points()]
        width = max((len(p) for p in pairs), default=0)
        indices, weights = np.zeros((len(pairs), width), np.int64), np.zeros((len(pairs), width))
        for row, pair in enumerate(pairs):
            used = pair[(pair[:, 0] >= 0) & (pair[:, 1] > 0)]
            indices[row, : len(used)] = joints[used[:, 0].astype(np.int64)]
            weights[row, : len(used)] = used[:, 1]
        return indices, weights

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise UsageError(f"the skin is captured to {name!r}, which the skeleton lacks", code="no_joint", found=name)
        return self._names.index(name)


def _parents(skeleton: Any) -> dict[int, int]:
    """Parent of each point: polylines go from parents to children."""
    out: dict[int, int] = {}
    for prim in skeleton.prims():
        numbers = [vertex.point().number() for vertex in prim.vertices()]
        out.update(zip(numbers[1:], numbers))
    return out


def _depth(parents: dict[int, int], point: int, names: list[str]) -> int:
    depth, at = 0, point
    while at in parents:
        depth, at = depth + 1, parents[at]
        if depth > len(names):
            raise UsageError(f"the skeleton has a loop at the joint {names[point]!r}", code="loop", found=names[point])
    return depth


def transforms(skeleton: Any) -> Array:
    """(j, 4, 4) joint space to scene space of the points of a skeleton."""
    positions = np.array(skeleton.pointFloatAttribValues("P")).reshape(-1, 3)
    out = np.tile(np.eye(4), (len(positions), 1, 1))
    if skeleton.findPointAttrib("transform") is not None:
        rows = np.array(skeleton.pointFloatAttribValues("transform")).reshape(-1, 3, 3)
        # Row vectors.
        out[:, :3, :3] = rows.transpose(0, 2, 1)
    out[:, :3, 3] = positions
    return out


def write(geometry: Any, points: Array) -> None:
    """Sets the points of a ``hou.Geometry``.

    Args:
        geometry: Geometry of the SOP, with the points of the skin.
        points: (n, 3) points, metres.
    """
    geometry.setPointFloatAttribValues("P", np.ascontiguousarray(points, dtype=np.float32).ravel().tolist())


def _strings(geometry: Any, name: str) -> Any:
    if geometry.findPointAttrib(name) is None:
        raise UsageError(f"the skeleton has no point attribute {name!r}", code="no_attribute", found=name)
    return geometry.pointStringAttribValues(name)
