# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes Sinew's character from objects of Blender: mesh or hair, vertex groups, shape keys, armature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from . import modifier
from .core import sd
from .report import Problem
from .space import SCENE_FROM_WORLD, Matrix, Points, matrix, moved

# Blender leaves vertices alone whose weights have this sum.
NO_WEIGHT = 0.0001
# On a bone: quaternion w, x, y, z from the axes that graphs use for the joint to the axes of the bone.
AXES = "sinew_axes"


@dataclass
class Bones:
    """The joints of a character in the order of their matrices."""

    names: list[str]
    """Names of the bones."""
    rest: Matrix
    """(j, 4, 4) rest matrices in the space of the armature."""
    object_joint: str | None
    """Joint that moves with the object: of vertices without weights."""

    strands: list[str] = field(default_factory=list)
    """Joints of strands that follow a surface."""

    def __post_init__(self) -> None:
        self.inverse_rest = np.linalg.inv(self.rest)

    @property
    def joints(self) -> list[str]:
        """Names of all joints."""
        return self.names + ([self.object_joint] if self.object_joint else []) + self.strands

    def same(self, other: Bones) -> bool:
        """True if names and rest pose are equal."""
        return self.names == other.names and np.array_equal(self.rest, other.rest)


@dataclass
class Built:
    """A character, and what was noticed on the way."""

    character: Any
    bones: Bones
    count: int
    """Vertices of the object, or points of its hair."""
    warnings: list[str] = field(default_factory=list)


def build(
    obj: bpy.types.Object,
    armature: bpy.types.Object | None,
    binds: tuple[Matrix, Matrix],
    extras: Sequence[bpy.types.Object] = (),
    clips: Sequence[Any] = (),
    follows_surface: bool = False,
) -> Built:
    """The character of an object.

    `binds`: world matrices of object and armature at bind. `extras`: further meshes and hair that the graph names; they have no weights.
    `follows_surface`: each strand of hair has a joint of its own.
    """
    warnings: list[str] = []
    bones = bones_of(armature)
    scene_from_object = SCENE_FROM_WORLD @ binds[0]
    weights = _influences(obj, armature, bones) if obj.type == "MESH" and armature is not None else None
    if obj.type == "CURVES" and armature is not None:
        weights = _curve_influences(obj, armature, bones)
    if armature is not None:
        warnings += _warnings_of_armature(obj, armature)
    joints = _joints(armature, bones, binds)
    if follows_surface:
        weights = _strand_influences(obj, bones)
        joints += [sd.Joint(name, None, np.eye(4)) for name in bones.strands]
    meshes, strands = [], []
    if obj.type == "MESH":
        meshes.append(_mesh(obj, scene_from_object, weights, bones))
        count = len(obj.data.vertices)
    elif obj.type == "CURVES":
        strands.append(_strands(obj, scene_from_object, weights))
        count = len(obj.data.points)
    else:
        raise Problem(f"'{obj.name}' is {_kind(obj)}. Sinew deforms meshes and hair curves: select one of these")
    for extra in extras:
        transform = SCENE_FROM_WORLD @ matrix(extra.matrix_world)
        if extra.type == "MESH":
            meshes.append(_mesh(extra, transform, None, bones))
        elif extra.type == "CURVES":
            strands.append(_strands(extra, transform, None))
        else:
            raise Problem(f"The graph names '{extra.name}', which is {_kind(extra)}. Name a mesh or hair curves")
    character = sd.Character.from_arrays(obj.name, meshes, joints, strands=strands, clips=list(clips))
    return Built(character, bones, count, warnings)


def rest_positions(obj: bpy.types.Object) -> Points:
    """(n, 3) positions of the mesh without shape keys, or of hair points, in the space of the object."""
    data = obj.data
    if obj.type == "CURVES":
        flat = np.empty(len(data.points) * 3, np.float32)
        data.points.foreach_get("position", flat)
        return flat.reshape(-1, 3)
    flat = np.empty(len(data.vertices) * 3, np.float32)
    keys = data.shape_keys
    (keys.reference_key.data if keys else data.vertices).foreach_get("co", flat)
    return flat.reshape(-1, 3)


def _kind(obj: bpy.types.Object) -> str:
    word = obj.type.replace("_", " ").lower()
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def bones_of(armature: bpy.types.Object | None) -> Bones:
    """The joints of an armature, in its rest pose."""
    if armature is None:
        return Bones([], np.zeros((0, 4, 4)), None)
    bones = armature.data.bones
    flat = np.empty(len(bones) * 16, np.float32)
    bones.foreach_get("matrix_local", flat)
    # Blender stores matrices column by column.
    rest = flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)
    names = [bone.name for bone in bones]
    free = "object"
    while free in names:
        free += "_"
    return Bones(names, rest, free)


def _joints(armature: bpy.types.Object | None, bones: Bones, binds: tuple[Matrix, Matrix]) -> list[Any]:
    """Bones, parents first, and the joint of the object."""
    if armature is None:
        return []
    index = {name: i for i, name in enumerate(bones.names)}
    parents = [index[b.parent.name] if b.parent else None for b in armature.data.bones]
    if any(p is not None and p >= i for i, p in enumerate(parents)):
        raise Problem(f"Armature '{armature.name}': bones come before their parents")
    scene = [SCENE_FROM_WORLD @ binds[1] @ rest @ _axes(bone) for rest, bone in zip(bones.rest, armature.data.bones)]
    joints = []
    for name, parent, own in zip(bones.names, parents, scene):
        local = own if parent is None else np.linalg.solve(scene[parent], own)
        joints.append(sd.Joint(name, parent, local))
    joints.append(sd.Joint(bones.object_joint, None, np.eye(4)))
    return joints


def _axes(bone: bpy.types.Bone) -> Matrix:
    """Turns the axes of a bone to those that graphs use for it."""
    given = bone.get(AXES)
    if given is None:
        return np.eye(4)
    from mathutils import Quaternion

    return matrix(Quaternion(given).to_matrix().to_4x4())


def _influences(obj: bpy.types.Object, armature: bpy.types.Object, bones: Bones) -> tuple[Any, Any]:
    """Joints and weights (n, k): as Blender's armature modifier takes them, of deforming bones and with the sum 1."""
    deforming = {bone.name for bone in armature.data.bones if bone.use_deform}
    joint_of = {name: i for i, name in enumerate(bones.names)}
    joint_of_group = {g.index: joint_of[g.name] for g in obj.vertex_groups if g.name in deforming}
    vertices = []
    for vertex in obj.data.vertices:
        pairs = [(joint_of_group[g.group], g.weight) for g in vertex.groups if g.group in joint_of_group and g.weight > 0.0]
        total = sum(weight for _, weight in pairs)
        # A vertex without weights moves with the object.
        vertices.append([(j, w / total) for j, w in pairs] if total > NO_WEIGHT else [(len(bones.names), 1.0)])
    return _padded(vertices)


def _padded(vertices: list[list[tuple[int, float]]]) -> tuple[Any, Any]:
    width = max((len(pairs) for pairs in vertices), default=1)
    joints = np.zeros((len(vertices), width), np.uint32)
    weights = np.zeros((len(vertices), width), np.float32)
    for v, pairs in enumerate(vertices):
        for k, (joint, weight) in enumerate(pairs):
            joints[v, k], weights[v, k] = joint, weight
    return joints, weights


def _strand_influences(obj: bpy.types.Object, bones: Bones) -> tuple[Any, Any]:
    """Each strand moves with a joint of its own."""
    first = len(bones.joints)
    taken = set(bones.joints)
    base = "strand"
    while any(name.startswith(base) for name in taken):
        base += "_"
    bones.strands = [f"{base}{i}" for i in range(len(obj.data.curves))]
    lengths = [c.points_length for c in obj.data.curves]
    joints = np.repeat(np.arange(first, first + len(lengths), dtype=np.uint32), lengths)[:, None]
    return joints, np.ones(joints.shape, np.float32)


def _curve_influences(obj: bpy.types.Object, armature: bpy.types.Object, bones: Bones) -> tuple[Any, Any]:
    """Each strand moves with the point of the surface nearest to its root."""
    surface = obj.data.surface
    points = len(obj.data.points)
    if surface is None or surface.type != "MESH":
        return np.full((points, 1), len(bones.names), np.uint32), np.ones((points, 1), np.float32)
    from mathutils import kdtree

    joints, weights = _influences(surface, armature, bones)
    tree = kdtree.KDTree(len(surface.data.vertices))
    to_surface = surface.matrix_world.inverted() @ obj.matrix_world
    for i, co in enumerate(rest_positions(surface)):
        tree.insert(co, i)
    tree.balance()
    roots = [c.first_point_index for c in obj.data.curves]
    rest = rest_positions(obj)
    from mathutils import Vector

    nearest = [tree.find(to_surface @ Vector(rest[r]))[1] for r in roots]
    vertex = np.repeat(np.array(nearest, np.intp), [c.points_length for c in obj.data.curves])
    return joints[vertex], weights[vertex]


def _mesh(obj: bpy.types.Object, transform: Matrix, influences: tuple[Any, Any] | None, bones: Bones) -> Any:
    data = obj.data
    if not data.vertices:
        raise Problem(f"'{obj.name}' has no vertices. Select an object with a mesh")
    counts = np.empty(len(data.polygons), np.uint32)
    data.polygons.foreach_get("loop_total", counts)
    corners = np.empty(len(data.loops), np.uint32)
    data.loops.foreach_get("vertex_index", corners)
    joints, weights = influences or (None, None)
    return sd.Mesh(
        obj.name,
        moved(rest_positions(obj), transform),
        face_counts=counts,
        face_corners=corners,
        uvs=_uvs(data, corners),
        colors=_colors(data, corners),
        joint_indices=joints,
        joint_weights=weights,
        targets=_targets(data, transform),
        attributes=_attributes(obj, bones),
    )


def _uvs(data: bpy.types.Mesh, corners: Any) -> list[Any]:
    """The active texture coordinates. A vertex on a seam takes those of its last corner."""
    layer = data.uv_layers.active
    if layer is None:
        return []
    flat = np.empty(len(data.loops) * 2, np.float32)
    layer.uv.foreach_get("vector", flat)
    uvs = np.zeros((len(data.vertices), 2), np.float32)
    uvs[corners] = flat.reshape(-1, 2)
    uvs[:, 1] = 1.0 - uvs[:, 1]
    return [uvs]


def _colors(data: bpy.types.Mesh, corners: Any) -> list[Any]:
    active = data.color_attributes.active_color
    return [] if active is None else [point_colors(data, active, corners)]


def point_colors(data: bpy.types.Mesh, attribute: bpy.types.Attribute, corners: Any) -> Any:
    """(n, 4) linear colours; a vertex takes the mean of its corners."""
    flat = np.empty(len(attribute.data) * 4, np.float32)
    attribute.data.foreach_get("color", flat)
    colors = flat.reshape(-1, 4)
    if attribute.domain == "POINT":
        return colors
    uses = np.maximum(np.bincount(corners, minlength=len(data.vertices)), 1)
    sums = [np.bincount(corners, colors[:, c], len(data.vertices)) / uses for c in range(4)]
    return np.stack(sums, axis=1).astype(np.float32)


def _targets(data: bpy.types.Mesh, transform: Matrix) -> list[Any]:
    """Shape keys as morph targets with the weight 0: Blender itself adds its shape keys, before the graph."""
    if not data.shape_keys:
        return []
    linear = transform[:3, :3].T
    targets = []
    for block in data.shape_keys.key_blocks:
        if block == data.shape_keys.reference_key:
            continue
        ends = []
        for key in (block, block.relative_key):
            flat = np.empty(len(data.vertices) * 3, np.float32)
            key.data.foreach_get("co", flat)
            ends.append(flat.reshape(-1, 3))
        deltas = ends[0] - ends[1]
        moving = np.flatnonzero(np.any(deltas != 0.0, axis=1))
        targets.append(sd.Target(block.name, deltas[moving] @ linear, vertices=moving))
    return targets


def _attributes(obj: bpy.types.Object, bones: Bones) -> dict[str, Any]:
    """Float attributes of points, and vertex groups that are not bones, by name: graphs read them as masks."""
    data, out = obj.data, {}
    for attribute in data.attributes:
        if attribute.domain != "POINT" or attribute.data_type != "FLOAT" or attribute.name.startswith("."):
            continue
        values = np.empty(len(attribute.data), np.float32)
        attribute.data.foreach_get("value", values)
        out[attribute.name] = values
    for attribute in data.color_attributes:
        corners = np.empty(len(data.loops), np.uint32)
        data.loops.foreach_get("vertex_index", corners)
        out[attribute.name] = point_colors(data, attribute, corners)
    known = set(bones.names)
    groups = {g.index: np.zeros(len(data.vertices), np.float32) for g in obj.vertex_groups if g.name not in known}
    if groups:
        for vertex in data.vertices:
            for g in vertex.groups:
                if g.group in groups:
                    groups[g.group][vertex.index] = g.weight
        out.update({g.name: groups[g.index] for g in obj.vertex_groups if g.index in groups})
    return out


def _strands(obj: bpy.types.Object, transform: Matrix, influences: tuple[Any, Any] | None) -> Any:
    data = obj.data
    if not data.points:
        raise Problem(f"'{obj.name}' has no curves. Add hair to it first")
    counts = np.empty(len(data.curves), np.int32)
    data.curves.foreach_get("points_length", counts)
    if counts.min() < 2:
        short = int(np.argmin(counts))
        raise Problem(f"Curve {short} of '{obj.name}' has {counts[short]} point. Hair needs at least 2 in each curve")
    joints, weights = influences or (None, None)
    return sd.Strands(
        obj.name,
        moved(rest_positions(obj), transform),
        counts,
        thickness=_thickness(data),
        joint_indices=joints,
        joint_weights=weights,
    )


def _thickness(data: bpy.types.Curves) -> Any:
    """Diameters of the points, from their radii."""
    radius = data.attributes.get("radius")
    if radius is None:
        return None
    values = np.empty(len(radius.data), np.float32)
    radius.data.foreach_get("value", values)
    return values * 2.0


def _warnings_of_armature(obj: bpy.types.Object, armature: bpy.types.Object) -> list[str]:
    """What Blender's armature modifier does and Sinew does not."""
    out = []
    bendy = [b.name for b in armature.data.bones if b.bbone_segments > 1 and b.use_deform]
    if bendy:
        out.append(f"Bendy bones move as plain ones: {_some(bendy)}")
    replaced = obj.modifiers.get(obj.sinew.replaced) if obj.sinew.replaced else None
    if replaced is not None and replaced.type == "ARMATURE":
        if replaced.use_bone_envelopes:
            out.append(f"Modifier '{replaced.name}' uses bone envelopes. Sinew reads vertex groups only: assign weights")
        if replaced.vertex_group:
            out.append(f"Modifier '{replaced.name}' is limited to '{replaced.vertex_group}'. Use a mask node for that")
    if obj.type == "MESH" and modifier.find(obj) is not None:
        deforming = {b.name for b in armature.data.bones if b.use_deform}
        if not any(g.name in deforming for g in obj.vertex_groups):
            out.append(f"No vertex group of '{obj.name}' has the name of a deforming bone of '{armature.name}': no bone moves it")
    return out


def _some(names: Sequence[str], limit: int = 5) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
