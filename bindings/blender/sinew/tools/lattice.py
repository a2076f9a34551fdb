# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's lattices to lattice nodes and back."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..operators import target
from ..report import Operator, Problem
from ..session import VALUE_SOURCES, Session
from ..space import SCENE_FROM_WORLD, WORLD_FROM_SCENE, Matrix, matrix
from . import graphs, transforms
from .ui import SubPanel

INTERPOLATIONS = {
    "KEY_LINEAR": "linear",
    "KEY_CARDINAL": "cardinal",
    "KEY_CATMULL_ROM": "catmull_rom",
    "KEY_BSPLINE": "bspline",
}


def coordinates(lattice: bpy.types.Lattice, moved: bool = True) -> Matrix:
    """(n, 3) control points in the space of the lattice, u fastest: as they are, or at rest."""
    flat = np.empty(len(lattice.points) * 3, np.float32)
    lattice.points.foreach_get("co_deform" if moved else "co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def interpolation(lattice: bpy.types.Object) -> str:
    """The node's name for the interpolation of a lattice."""
    data = lattice.data
    counts = (data.points_u, data.points_v, data.points_w)
    kinds = {k for k, n in zip((data.interpolation_type_u, data.interpolation_type_v, data.interpolation_type_w), counts) if n > 1}
    if len(kinds) > 1:
        raise Problem(f"Lattice '{lattice.name}' has different interpolations along U, V and W. Give all three the same one")
    return INTERPOLATIONS[kinds.pop() if kinds else "KEY_LINEAR"]


def scene_from_lattice(obj: bpy.types.Object, lattice: bpy.types.Object) -> Matrix:
    """The space of a lattice to scene space, as it stands to the object."""
    world = matrix(lattice.matrix_world)
    if obj.sinew.armature is None:
        # The motion of the object is no part of scene space.
        bind = np.array(obj.sinew.bind_object, np.float64).reshape(4, 4)
        world = bind @ np.linalg.solve(matrix(obj.matrix_world), world)
    return SCENE_FROM_WORLD @ world


def parameters(node: str) -> tuple[str, str]:
    """Names of the parameters of the graph that a live lattice sets: control points, and box."""
    return f"{node}_points", f"{node}_box"


def live_values(bound: Session, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> dict[str, Any]:
    """Control points and boxes of the lattices that move nodes of an object, in this frame."""
    declared = bound.document.get("parameters", {})
    out: dict[str, Any] = {}
    for entry in obj.sinew_tools.lattices:
        points, box = parameters(entry.node)
        if entry.lattice is None or points not in declared or box not in declared:
            continue
        keys = keys_of(obj.evaluated_get(depsgraph), entry.lattice.evaluated_get(depsgraph))
        found, wanted = len(keys["points"]), len(declared[points]["default"])
        if found != wanted:
            raise Problem(
                f"Lattice '{entry.lattice.name}' has {found} points, and node '{entry.node}' has {wanted}. Press Lattice from Object again"
            )
        out[points], out[box] = keys["points"], keys["rest_transform"]
    return out


def _make_live(obj: bpy.types.Object, source: bpy.types.Object, given: graphs.Document, name: str) -> None:
    """Lets parameters of the graph hold points and box of a node, and a lattice set them."""
    keys = given["nodes"][name]
    points, box = parameters(name)
    declared = given.setdefault("parameters", {})
    declared[points] = {"type": "points", "default": keys["points"]}
    declared[box] = {"type": "transform", "default": keys["rest_transform"]}
    keys["points"], keys["rest_transform"] = f"${points}", f"${box}"
    _release(obj, name)
    entry = obj.sinew_tools.lattices.add()
    entry.node, entry.lattice = name, source


def _release(obj: bpy.types.Object, name: str) -> None:
    """A node that no lattice moves any more."""
    entries = obj.sinew_tools.lattices
    for i in reversed(range(len(entries))):
        if entries[i].node == name:
            entries.remove(i)


def keys_of(obj: bpy.types.Object, lattice: bpy.types.Object) -> dict[str, Any]:
    """The parameters of a lattice node that deforms as Blender's modifier does with this lattice."""
    data = lattice.data
    counts = np.array([data.points_u, data.points_v, data.points_w])
    rest, now = coordinates(data, moved=False), coordinates(data)
    low, high = rest.min(axis=0), rest.max(axis=0)
    size = np.where(counts > 1, high - low, 1.0)
    if np.any(size <= 0.0):
        raise Problem(f"Lattice '{lattice.name}' is flat at rest. Give it a size along each axis with several points")
    centre = np.eye(4)
    centre[:3, 3] = (low + high) / 2.0
    made: dict[str, Any] = {
        "resolution": [int(n) for n in counts],
        "rest_transform": transforms.matrix_value(scene_from_lattice(obj, lattice) @ centre),
        "size": [float(x) for x in size],
        "points": [[float(x) for x in p] for p in now - centre[:3, 3]],
        "points_are": "positions",
        "points_space": "local",
        "interpolation": interpolation(lattice),
        "border": "clamp",
        "outside": "natural",
    }
    return made


def lattice_object(context: bpy.types.Context) -> bpy.types.Object:
    """The selected lattice."""
    found = [o for o in context.selected_objects if o.type == "LATTICE"]
    if len(found) != 1:
        what = "no lattice" if not found else f"{len(found)} lattices"
        raise Problem(f"{what} selected. Select one lattice, then the mesh as the active object".capitalize())
    return found[0]


class SINEW_OT_lattice_from_object(Operator):
    """Take the selected lattice into the graph of the active object, as Blender's Lattice modifier would deform it"""

    bl_idname = "sinew.lattice_from_object"
    bl_label = "Lattice from Object"

    node: bpy.props.StringProperty(name="Node", description="Lattice node that gets the control points. Empty: a new one at the end")
    live: bpy.props.BoolProperty(
        name="Live", description="The lattice moves the node in each frame. Off: the node keeps what the lattice is now"
    )

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        source = lattice_object(context)
        if source.mode == "EDIT":
            source.update_from_editmode()
        given = graphs.document(obj)
        keys = keys_of(obj, source)
        name = self.node
        if name:
            if given["nodes"].get(name, {}).get("node") != "lattice":
                found = ", ".join(graphs.of_kind(given, "lattice")) or "none"
                raise Problem(f"The graph has no lattice node '{name}'. It has {found}")
            for unread in ("fit", "origin", "follow", "cage"):
                given["nodes"][name].pop(unread, None)
            given["nodes"][name].update(keys)
        else:
            name = graphs.free(given, "lattice")
            graphs.append(given, graphs.output_of(obj, given), name, {"node": "lattice", **keys})
        for parameter in parameters(name):
            given.get("parameters", {}).pop(parameter, None)
        _release(obj, name)
        if self.live:
            _make_live(obj, source, given, name)
        graphs.put(context, obj, given)
        off = _switch_off(obj, source)
        count = len(coordinates(source.data))
        return f"Node '{name}' has the {count} points of '{source.name}'" + (f". Modifier '{off}' is off now" if off else "")


def _switch_off(obj: bpy.types.Object, source: bpy.types.Object) -> str:
    """Switches Blender's own modifier off: the lattice would act twice."""
    for modifier in obj.modifiers:
        if modifier.type == "LATTICE" and modifier.object == source:
            modifier.show_viewport = modifier.show_render = False
            return modifier.name  # type: ignore[no-any-return]
    return ""


class SINEW_OT_lattice_to_object(Operator):
    """Make a Blender lattice of a lattice node. Edit it, then press Lattice from Object"""

    bl_idname = "sinew.lattice_to_object"
    bl_label = "Lattice to Object"

    node: bpy.props.StringProperty(name="Node", description="Lattice node. Empty: the only one")

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        given = graphs.document(obj)
        found = graphs.of_kind(given, "lattice")
        if not found:
            raise Problem(f"The graph of '{obj.name}' has no lattice node")
        name = self.node or found[0]
        if name not in found or (not self.node and len(found) > 1):
            raise Problem(f"The graph of '{obj.name}' has the lattice nodes {', '.join(found)}. Name one of them")
        made = _make(context, obj, name, _with_defaults(given, given["nodes"][name]))
        return f"Lattice '{made.name}' stands for node '{name}'"


def _with_defaults(given: graphs.Document, keys: dict[str, Any]) -> dict[str, Any]:
    """The node with the defaults of the parameters that it reads."""
    declared = given.get("parameters", {})
    return {k: declared[v[1:]].get("default") if isinstance(v, str) and v[:1] == "$" and v[1:] in declared else v for k, v in keys.items()}


def _make(context: bpy.types.Context, obj: bpy.types.Object, name: str, keys: dict[str, Any]) -> bpy.types.Object:
    """A lattice object with the box and the control points of a node."""
    resolution = [int(n) for n in keys.get("resolution", [4, 4, 4])]
    if min(resolution) < 1 or max(resolution) > 64:
        raise Problem(f"Node '{name}' has {resolution} control points. Blender's lattices have 1 to 64 along each axis")
    box, points = _box(obj, name, keys, resolution)
    data = bpy.data.lattices.new(name)
    data.points_u, data.points_v, data.points_w = resolution
    blender = {v: k for k, v in INTERPOLATIONS.items()}.get(keys.get("interpolation", "bernstein"), "KEY_BSPLINE")
    data.interpolation_type_u = data.interpolation_type_v = data.interpolation_type_w = blender
    made = bpy.data.objects.new(name, data)
    (obj.users_collection or (context.scene.collection,))[0].objects.link(made)
    # Blender's box is as large as its number of points asks for; the object scales it to the box of the node.
    rest = coordinates(data, moved=False)
    low, high = rest.min(axis=0), rest.max(axis=0)
    scale = np.where(high > low, 1.0 / np.where(high > low, high - low, 1.0), 1.0)
    fit = np.eye(4)
    fit[:3, :3] = np.diag(scale)
    fit[:3, 3] = -scale * (low + high) / 2.0
    from mathutils import Matrix as BlenderMatrix

    made.matrix_world = BlenderMatrix((_world(obj, box) @ fit).tolist())
    if points is not None:
        local = (points - fit[:3, 3]) / scale
        data.points.foreach_set("co_deform", local.astype(np.float32).ravel())
    return made


def _world(obj: bpy.types.Object, scene: Matrix) -> Matrix:
    """Scene space to where the object stands now."""
    world = WORLD_FROM_SCENE @ scene
    if obj.sinew.armature is None:
        bind = np.array(obj.sinew.bind_object, np.float64).reshape(4, 4)
        world = matrix(obj.matrix_world) @ np.linalg.solve(bind, world)
    return world


def _box(obj: bpy.types.Object, name: str, keys: dict[str, Any], resolution: list[int]) -> tuple[Matrix, Matrix | None]:
    """The unit box of a node in scene space, and its control points in the unit box; None at rest."""
    size = np.array(keys.get("size", [1.0, 1.0, 1.0]), np.float64)
    given = keys.get("rest_transform", {})
    if keys.get("fit") == "mesh":
        size, rest = _around(obj, keys)
    elif "fit" in keys or not isinstance(given, dict) or "joint" in given or "link" in given:
        raise Problem(f"The box of node '{name}' is fitted or follows a joint. State its transform and size at the node first")
    else:
        rest = transforms.decode(given)
    if keys.get("origin", "center") == "corner" and "fit" not in keys:
        shift = np.eye(4)
        shift[:3, 3] = size / 2.0
        rest = rest @ shift
    points = keys.get("points") or []
    if not isinstance(points, list) or (points and len(points) != int(np.prod(resolution))):
        raise Problem(f"The control points of node '{name}' have keys or come from a parameter. Give the node a list of points first")
    box = rest @ np.diag([*size, 1.0])
    if not points:
        return box, None
    moved = np.array(points, np.float64)
    if keys.get("points_space", "local") == "world":
        frame = (
            rest
            if keys.get("points_are") == "positions" or "points_are" not in keys
            else np.vstack([np.c_[rest[:3, :3], [0, 0, 0]], [0, 0, 0, 1]])
        )
        moved = np.linalg.solve(frame, np.c_[moved, np.ones(len(moved))].T).T[:, :3]
    if keys.get("points_are", "positions") == "offsets":
        return box, _grid(resolution) + moved / size
    if keys.get("origin", "center") == "corner" and keys.get("points_space", "local") == "local":
        moved = moved - size / 2.0
    return box, moved / size


def _grid(resolution: list[int]) -> Matrix:
    """Control points at rest in the unit box, x fastest."""
    axes = [np.linspace(-0.5, 0.5, n) if n > 1 else np.zeros(1) for n in resolution]
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)


def _around(obj: bpy.types.Object, keys: dict[str, Any]) -> tuple[Matrix, Matrix]:
    """Size and transform of the box around the rest mesh."""
    from ..character import rest_positions

    bind = np.array(obj.sinew.bind_object, np.float64).reshape(4, 4)
    points = np.c_[rest_positions(obj), np.ones(len(obj.data.vertices))] @ (SCENE_FROM_WORLD @ bind).T
    margin = float(keys.get("margin", 0.0))
    low, high = points[:, :3].min(axis=0) - margin, points[:, :3].max(axis=0) + margin
    rest = np.eye(4)
    rest[:3, 3] = (low + high) / 2.0
    return high - low, rest


class SINEW_PT_lattice(SubPanel, bpy.types.Panel):
    """Lattices in and out."""

    bl_label = "Lattice"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For objects with a graph."""
        return context.object is not None and context.object.sinew.tree is not None

    def show(self, _context: bpy.types.Context) -> None:
        """In and out."""
        column = self.layout.column(align=True)
        column.operator("sinew.lattice_from_object", icon="IMPORT").live = False
        column.operator("sinew.lattice_from_object", text="Live Lattice from Object", icon="LINKED").live = True
        column.operator("sinew.lattice_to_object", icon="EXPORT")


CLASSES = [SINEW_OT_lattice_from_object, SINEW_OT_lattice_to_object, SINEW_PT_lattice]


def register() -> None:
    """Registers operators and panel, and lattices as a source of values."""
    VALUE_SOURCES.append(live_values)
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    VALUE_SOURCES.remove(live_values)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
