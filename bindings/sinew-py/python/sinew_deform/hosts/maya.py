"""Sinew inside Maya. Never run inside Maya; tested against a fake of its API.

    import sinew_deform as sd
    from sinew_deform.hosts import maya

    rig = maya.Rig("body_mesh")
    player = sd.Player(rig.character, sd.Graph.from_nodes("skin", sd.nodes.delta_mush()))
    points = rig.deform(player, 12)     # the pose of the current frame; centimetres, world space

It reads the mesh before the skin cluster, the weights, and the joints of the skin cluster. It uses the Python API 2.0.
"""

from __future__ import annotations

from typing import Any

import maya.api.OpenMaya as om  # type: ignore[import-not-found]
import maya.api.OpenMayaAnim as oma  # type: ignore[import-not-found]
import numpy as np
import numpy.typing as npt

from .._arrays import Joint, Mesh
from .._errors import UsageError
from .._native import Character, Player

Array = npt.NDArray[Any]

METRES = 0.01
"""Maya's API has centimetres, whatever the scene shows."""


def scene_from_world() -> Array:
    """(4, 4) rotation from Maya's world to Y up. Lengths stay."""
    out = np.eye(4)
    if not om.MGlobal.isYAxisUp():
        # (x, y, z) becomes (x, z, -y).
        out[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    return out


class Rig:
    """A skinned mesh of the scene.

    ``character`` is the mesh at bind, with one joint for each influence of the skin cluster.
    """

    def __init__(self, mesh: str) -> None:
        """Reads the mesh.

        Args:
            mesh: Name of the transform or of the shape.

        Raises:
            UsageError: There is no such mesh, or it has no skin cluster.
        """
        self._shape = _shape(mesh)
        skin, skin_object = _skin_cluster(self._shape, mesh)
        influences = list(skin.influenceObjects())
        # Parents first.
        self._order = sorted(range(len(influences)), key=lambda i: influences[i].fullPathName().count("|"))
        self._influences = [influences[i] for i in self._order]
        self._scene_from_world = scene_from_world()
        inverse_binds = _bind_matrices(skin, skin_object, self._influences)
        self.character: Character = Character.from_arrays(
            mesh, [self._mesh(mesh, skin, skin_object)], self._joints(inverse_binds)
        )

    def pose(self) -> Array:
        """(j, 4, 4) joint space to scene space in the current frame, metres."""
        worlds = [_matrix(path.inclusiveMatrix()) for path in self._influences]
        return np.array([self._in_scene(world) for world in worlds])

    def deform(self, player: Player, n: int, output: str = "body") -> Array:
        """Evaluates the pose of the current frame.

        Args:
            player: Player of ``character``.
            n: Number of the frame, for simulations.
            output: Mesh output of the graph.

        Returns:
            (n, 3) points in Maya's world space, centimetres.
        """
        player.advance_posed(n, self.pose())
        positions = player[output].positions().astype(np.float64)
        # The inverse of a rotation is its transpose: rows times the rotation itself.
        out: Array = positions @ self._scene_from_world[:3, :3] / METRES
        return out

    def _in_scene(self, world_from_joint: Array) -> Array:
        """Lengths in metres on both sides, so that joints keep their scale."""
        out: Array = self._scene_from_world @ world_from_joint
        out[:3, 3] *= METRES
        return out

    def _joints(self, joint_from_world: list[Array]) -> list[Joint]:
        rests = [self._in_scene(np.linalg.inv(m)) for m in joint_from_world]
        joints = []
        for path, rest in zip(self._influences, rests):
            parent = self._parent(path.fullPathName())
            local = rest if parent is None else np.linalg.inv(rests[parent]) @ rest
            joints.append(Joint(path.partialPathName(), parent, local))
        return joints

    def _parent(self, path: str) -> int | None:
        """The nearest influence above."""
        paths = [p.fullPathName() for p in self._influences]
        above = [i for i, p in enumerate(paths) if path.startswith(f"{p}|")]
        return max(above, key=lambda i: len(paths[i]), default=None)

    def _mesh(self, name: str, skin: Any, skin_object: Any) -> Mesh:
        original = om.MFnMesh(_original(self._shape))
        points = np.array([[p.x, p.y, p.z] for p in original.getPoints(om.MSpace.kObject)])
        counts, corners = original.getVertices()
        world_from_mesh = _matrix_of_plug(om.MFnDependencyNode(skin_object).findPlug("geomMatrix", False))
        world = points @ world_from_mesh[:3, :3].T + world_from_mesh[:3, 3]
        component = om.MFnSingleIndexedComponent()
        vertices = component.create(om.MFn.kMeshVertComponent)
        component.setCompleteData(len(points))
        weights, per_vertex = skin.getWeights(self._shape, vertices)
        weights = np.asarray(weights).reshape(len(points), per_vertex)[:, self._order]
        return Mesh(
            name,
            world @ self._scene_from_world[:3, :3].T * METRES,
            face_counts=list(counts),
            face_corners=list(corners),
            joint_indices=np.tile(np.arange(per_vertex), (len(points), 1)),
            joint_weights=weights,
        )


def _shape(mesh: str) -> Any:
    selected = om.MSelectionList()
    try:
        selected.add(mesh)
    except RuntimeError as error:
        raise UsageError(f"there is no node {mesh!r} in the scene", code="no_mesh", found=mesh) from error
    path = selected.getDagPath(0)
    if not path.hasFn(om.MFn.kMesh):
        raise UsageError(f"{mesh!r} is no mesh", code="no_mesh", found=mesh, expected="a mesh")
    path.extendToShape()
    return path


def _skin_cluster(shape: Any, mesh: str) -> tuple[Any, Any]:
    found = om.MItDependencyGraph(shape.node(), om.MFn.kSkinClusterFilter, om.MItDependencyGraph.kUpstream)
    if found.isDone():
        raise UsageError(f"{mesh!r} has no skin cluster", code="no_skin", found=mesh, help="bind the mesh to joints")
    node = found.currentNode()
    return oma.MFnSkinCluster(node), node


def _original(shape: Any) -> Any:
    """The mesh before all deformers: the intermediate shape with as many vertices."""
    count = om.MFnMesh(shape).numVertices
    transform = om.MFnDagNode(shape.transform())
    for i in range(transform.childCount()):
        child = transform.child(i)
        is_original = child.hasFn(om.MFn.kMesh) and om.MFnDagNode(child).isIntermediateObject
        if is_original and om.MFnMesh(child).numVertices == count:
            return child
    return shape


def _bind_matrices(skin: Any, skin_object: Any, influences: list[Any]) -> list[Array]:
    plug = om.MFnDependencyNode(skin_object).findPlug("bindPreMatrix", False)
    indices = [skin.indexForInfluenceObject(path) for path in influences]
    return [_matrix_of_plug(plug.elementByLogicalIndex(i)) for i in indices]


def _matrix_of_plug(plug: Any) -> Array:
    return _matrix(om.MFnMatrixData(plug.asMObject()).matrix())


def _matrix(matrix: Any) -> Array:
    """With column vectors; Maya has row vectors."""
    rows = np.array(list(matrix), dtype=np.float64).reshape(4, 4)
    return np.ascontiguousarray(rows.T)
