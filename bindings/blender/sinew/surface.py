# SPDX-License-Identifier: GPL-3.0-or-later
"""Strands that follow a surface, whatever moves it: armature, another graph, cloth, shape keys.

Each strand is a joint of its own. Its matrix is the motion of the point of the surface where the strand grows: from the position, the
interpolated normal and an edge of the triangle, at rest and in the frame.
"""

from __future__ import annotations

import bpy
import numpy as np

from .report import Problem
from .space import SCENE_FROM_WORLD, Matrix, Points, matrix, moved


class Roots:
    """The points of a surface where the strands of a hair object grow."""

    def __init__(self, hair: bpy.types.Object, bind: Matrix, rest: Points, roots: Points) -> None:
        """`bind`: world matrix of the hair at bind. `rest`: the surface at rest, `roots`: first points of the strands, both local."""
        surface = hair.data.surface
        self.name, self.uid = surface.name, surface.session_uid
        self.count = len(rest)
        # The hair moves with the surface: what the objects are to each other is the same at bind.
        to_scene = SCENE_FROM_WORLD @ bind @ np.linalg.inv(matrix(hair.matrix_world)) @ matrix(surface.matrix_world)
        self.size = _size(to_scene)
        points = moved(rest, to_scene)
        triangles = _triangles(surface, points)
        self.corners, self.shares = _nearest(points, triangles, moved(roots, SCENE_FROM_WORLD @ bind))
        used = np.zeros(self.count, bool)
        used[self.corners] = True
        self.around = triangles[used[triangles].any(axis=1)]
        self.inverse_rest = np.linalg.inv(self._frames(points))

    def present_name(self) -> str:
        """The name of the surface now."""
        found = object_of(self.name, self.uid)
        if found is not None:
            self.name = found.name
        return self.name

    def matrices(self, points: Points, size: float) -> Matrix:
        """(strands, 4, 4) motion of each root since rest. `points`: surface in the frame, scene space; `size`: scale of its object."""
        frames = self._frames(points)
        frames[:, :3, :3] *= size / self.size
        return frames @ self.inverse_rest

    def _frames(self, points: Points) -> Matrix:
        """(strands, 4, 4) frame at each root: normal, direction along the surface, and their cross product."""
        given = points.astype(np.float64)
        a, b, c = given[self.around].transpose(1, 0, 2)
        areas = np.cross(b - a, c - a)
        vertex = self.around.ravel()
        normals = np.stack([np.bincount(vertex, np.repeat(areas[:, i], 3), self.count) for i in range(3)], axis=1)
        normals = _unit(normals)
        normal = _unit(np.einsum("sk,ski->si", self.shares, normals[self.corners]))
        edge = given[self.corners[:, 1]] - given[self.corners[:, 0]]
        along = _unit(edge - normal * np.einsum("si,si->s", edge, normal)[:, None])
        made = np.zeros((len(self.corners), 4, 4))
        made[:, :3, 0], made[:, :3, 1], made[:, :3, 2] = normal, along, np.cross(normal, along)
        made[:, :3, 3] = np.einsum("sk,ski->si", self.shares, given[self.corners])
        made[:, 3, 3] = 1.0
        return made


def object_of(name: str, uid: int) -> bpy.types.Object | None:
    """The object that had a name, also when it has another one now."""
    found = bpy.data.objects.get(name)
    if found is not None and found.session_uid == uid:
        return found
    return next((o for o in bpy.data.objects if o.session_uid == uid), None)


def roots_of(hair: bpy.types.Object, bind: Matrix, rest: Points, roots: Points) -> Roots | None:
    """The roots of hair that can follow its surface: a mesh with faces whose vertices stay the same in all frames."""
    surface = hair.data.surface
    if surface is None or surface.type != "MESH" or not len(surface.data.polygons):
        return None
    if surface.sinew.tree is None and _count(surface) != len(surface.data.vertices):
        return None
    return Roots(hair, bind, rest, roots)


def positions(roots: Roots, depsgraph: bpy.types.Depsgraph, others: dict[str, Points]) -> tuple[Points, float]:
    """The surface in the frame, in scene space, and the scale of its object. `others`: results of graphs in this frame."""
    found = object_of(roots.name, roots.uid)
    if found is None or found.name not in depsgraph.scene.objects:
        raise Problem(f"Surface '{roots.name}' is gone. Set one in Properties > Data > Surface, then press Rebind")
    surface = found.evaluated_get(depsgraph)
    world = matrix(surface.matrix_world)
    if found.name in others:
        points = others[found.name]
        if surface.sinew.armature is None:
            # Without an armature, scene space does not have the motion of the object.
            bind = np.array(surface.sinew.bind_object, np.float64).reshape(4, 4)
            points = moved(points, SCENE_FROM_WORLD @ world @ np.linalg.inv(SCENE_FROM_WORLD @ bind))
    else:
        flat = np.empty(len(surface.data.vertices) * 3, np.float32)
        surface.data.vertices.foreach_get("co", flat)
        points = moved(flat.reshape(-1, 3), SCENE_FROM_WORLD @ world)
    if len(points) != roots.count:
        raise Problem(
            f"Surface '{found.name}' has {len(points)} vertices in this frame and {roots.count} in its mesh. "
            "Switch off the modifiers that add or remove vertices, then press Rebind"
        )
    return points, _size(SCENE_FROM_WORLD @ world)


def _count(surface: bpy.types.Object) -> int:
    """Vertices after the modifiers."""
    return len(surface.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)


def _size(transform: Matrix) -> float:
    return float(np.cbrt(abs(np.linalg.det(transform[:3, :3])))) or 1.0


def _unit(vectors: Matrix) -> Matrix:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-30)[:, None]


def _triangles(surface: bpy.types.Object, points: Points) -> Matrix:
    """(m, 3) vertices of the triangles that have an area."""
    mesh = surface.data
    mesh.calc_loop_triangles()
    flat = np.empty(len(mesh.loop_triangles) * 3, np.int32)
    mesh.loop_triangles.foreach_get("vertices", flat)
    triangles = flat.reshape(-1, 3)
    a, b, c = points[triangles].transpose(1, 0, 2)
    solid = np.linalg.norm(np.cross(b - a, c - a), axis=1) > 0.0
    if not solid.any():
        raise Problem(f"The faces of surface '{surface.name}' have no area")
    return triangles[solid]


def _nearest(points: Points, triangles: Matrix, roots: Points) -> tuple[Matrix, Matrix]:
    """The triangle nearest to each root, and the share that each of its vertices has at the nearest point."""
    from mathutils.bvhtree import BVHTree

    tree = BVHTree.FromPolygons(points.tolist(), triangles.tolist(), all_triangles=True)
    found = [tree.find_nearest(root.tolist()) for root in roots]
    corners = triangles[[f[2] for f in found]]
    at = np.array([tuple(f[0]) for f in found], np.float64)
    a, b, c = points.astype(np.float64)[corners].transpose(1, 0, 2)
    area = np.cross(b - a, c - a)
    whole = np.einsum("si,si->s", area, area)
    share_b = np.einsum("si,si->s", np.cross(at - a, c - a), area) / whole
    share_c = np.einsum("si,si->s", np.cross(b - a, at - a), area) / whole
    return corners, np.stack([1.0 - share_b - share_c, share_b, share_c], axis=1)
