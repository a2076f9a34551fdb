# SPDX-License-Identifier: GPL-3.0-or-later
"""Hair from Blender's curves: a graph that simulates them, colliders from objects, the present shape as rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from .. import live, modifier, nodes, operators, presets
from ..character import rest_positions
from ..operators import target
from ..report import Operator, Problem
from ..space import SCENE_FROM_WORLD, Matrix, matrix
from . import graphs, matrices
from .ui import SubPanel

STYLES = [
    ("short", "Short", "Short hair on a head, 3 to 8 cm"),
    ("long_straight", "Long, Straight", "Long straight hair, 20 to 50 cm"),
    ("curly", "Curly", "Curly hair, 15 to 30 cm"),
    ("fur", "Fur", "Fur of an animal, 1 to 5 cm"),
    ("ponytail", "Ponytail", "Hair combed back along a curve, 35 to 60 cm"),
]
MARGIN = 0.002
MOST_COLLIDERS = 8
SIMULATIONS = ("hair_sim", "collide")


def document(style: str) -> graphs.Document:
    """A graph that simulates strands."""
    return {
        "sinew": "1.0",
        "inputs": {"hair": {"type": "strands"}, "pose": {"type": "pose"}},
        "nodes": {"sim": {"node": "hair_sim", "preset": style, "strands": "hair", "pose": "pose"}},
        "outputs": {"hair": "sim"},
    }


def add_collider(given: graphs.Document, node: str, name: str, keys: dict[str, Any], margin: float) -> str:
    """Adds a field node, and links it to the colliders of a simulation. A field of the same object gets the new values."""
    simulation = given["nodes"][node]
    linked = simulation.get("colliders", [])
    linked = [linked] if isinstance(linked, (str, dict)) else list(linked)
    known = next((i for i, link in enumerate(linked) if _is_field_of(given, graphs.source(link), name, keys)), None)
    if known is None and len(linked) >= MOST_COLLIDERS:
        raise Problem(f"Node '{node}' has {len(linked)} colliders, and {MOST_COLLIDERS} are allowed. Join objects, or remove a collider")
    margins = list(simulation.get("margins", []))
    margins = margins * len(linked) if len(margins) == 1 else (margins + [0.0] * len(linked))[: len(linked)]
    if known is not None:
        field = graphs.source(linked[known])
        given["nodes"][field] = keys
        margins[known] = round(margin, 6)
        simulation["margins"] = margins
        return field  # type: ignore[return-value]
    field = graphs.free(given, name)
    given["nodes"][field] = keys
    simulation["colliders"] = [*linked, field]
    simulation["margins"] = [*margins, round(margin, 6)]
    return field


def _is_field_of(given: graphs.Document, field: str | None, name: str, keys: dict[str, Any]) -> bool:
    """True for the field that Add Colliders made of the same object."""
    found = given["nodes"].get(field, {})
    if found.get("node") != keys["node"]:
        return False
    return found.get("mesh") == keys["mesh"] if keys["node"] == "sdf" else field == name


def mesh_collider(given: graphs.Document, obj: bpy.types.Object, cells: int) -> dict[str, Any]:
    """A distance field around a mesh of the scene; the mesh becomes an input."""
    if not obj.data.polygons:
        raise Problem(f"'{obj.name}' has no faces. Colliders are meshes with faces, or empties of the type Sphere")
    if "*" in obj.name:
        raise Problem(f"The name '{obj.name}' has a '*', which graphs read as any text. Rename the object")
    found = next((n for n, k in given["inputs"].items() if k.get("type") == "mesh" and k.get("select") == obj.name), None)
    if found is None:
        found = graphs.free(given, "".join(c if c.isalnum() else "_" for c in obj.name.lower()))
        given["inputs"][found] = {"type": "mesh", "select": obj.name}
    return {"node": "sdf", "mesh": found, "cells": cells}


def solid_collider(hair: bpy.types.Object, given: graphs.Document, obj: bpy.types.Object) -> dict[str, Any]:
    """A ball where an empty of type Sphere is, or a capsule if one axis is longer. It moves with the bone that it is parented to."""
    world = matrix(obj.matrix_world)
    keys: dict[str, Any] = {"node": "solids"}
    armature, bind = _rig(hair)
    if obj.parent is not None and obj.parent == armature and obj.parent_type == "BONE":
        bone = armature.pose.bones[obj.parent_bone]
        now = matrix(armature.matrix_world) @ matrix(bone.matrix)
        world = bind @ matrix(bone.bone.matrix_local) @ np.linalg.solve(now, world)
        keys["pose"], keys["follow"] = graphs.need_input(given, "pose"), bone.name
    keys["capsules"] = [_capsule(SCENE_FROM_WORLD @ world, obj.empty_display_size)]
    return keys


def _rig(hair: bpy.types.Object) -> tuple[bpy.types.Object | None, Matrix]:
    """The armature of hair, and its world matrix at bind; for hair without a graph, as it will be bound."""
    if hair.sinew.tree is not None:
        return hair.sinew.armature, np.array(hair.sinew.bind_armature, np.float64).reshape(4, 4)
    armature = presets.armature_of(hair)
    return armature, np.eye(4) if armature is None else matrix(armature.matrix_world)


def _capsule(scene: Matrix, size: float) -> dict[str, Any]:
    lengths = np.linalg.norm(scene[:3, :3], axis=0)
    longest = int(np.argmax(lengths))
    radius = float(np.delete(lengths, longest).max()) * size
    half = max(float(lengths[longest]) * size - radius, 0.0)
    along = scene[:3, longest] / lengths[longest] * half
    centre = scene[:3, 3]
    return {"from": [float(x) for x in centre - along], "to": [float(x) for x in centre + along], "radius": radius}


def hair_object(context: bpy.types.Context) -> bpy.types.Object:
    """The active hair."""
    obj = context.object
    if obj is not None and obj.type == "CURVE":
        raise Problem(f"'{obj.name}' is a curve of the older type. Convert it with Object > Convert > Hair Curves")
    if obj is not None and obj.type == "MESH":
        raise Problem(f"'{obj.name}' is a mesh. Select hair curves (Add > Curve > Empty Hair), with colliders selected as well")
    found = target(context)
    if found.type != "CURVES":
        raise Problem(f"'{found.name}' is no hair. Select hair curves")
    return found


def add_colliders(
    hair: bpy.types.Object, given: graphs.Document, objects: Sequence[bpy.types.Object], margin: float, cells: int
) -> list[str]:
    """Makes colliders of objects."""
    node = next((n for kind in SIMULATIONS for n in graphs.of_kind(given, kind)), None)
    if node is None:
        raise Problem(f"The graph of '{hair.name}' has no hair_sim. Press Hair from Curves")
    made = []
    for obj in objects:
        if obj.type == "MESH":
            keys = mesh_collider(given, obj, cells)
        elif obj.type == "EMPTY" and obj.empty_display_type == "SPHERE":
            keys = solid_collider(hair, given, obj)
        else:
            raise Problem(f"'{obj.name}' is {_article(obj)}. Colliders are meshes, or empties of the type Sphere")
        made.append(add_collider(given, node, f"{_plain(obj.name)}_field", keys, margin))
    return made


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name.lower())


def _article(obj: bpy.types.Object) -> str:
    word = f"{obj.empty_display_type.lower().replace('_', ' ')} empty" if obj.type == "EMPTY" else obj.type.lower()
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _check_surface(obj: bpy.types.Object) -> str:
    """The reason why hair cannot follow the body; empty if it can."""
    if obj.data.surface is None:
        return f"'{obj.name}' has no surface: it does not follow a mesh. Set one in Properties > Data > Surface, then press Rebind"
    if obj.data.surface.type != "MESH" or not obj.data.surface.data.polygons:
        return f"Surface '{obj.data.surface.name}' has no faces: the roots do not move"
    return ""


class SINEW_OT_hair_from_curves(Operator):
    """Simulate the active hair curves. Other selected meshes and sphere empties become colliders"""

    bl_idname = "sinew.hair_from_curves"
    bl_label = "Hair from Curves"

    style: bpy.props.EnumProperty(name="Style", description="Stiffness and damping of the hair", items=STYLES, default="long_straight")
    margin: bpy.props.FloatProperty(
        name="Margin", description="Distance that hair keeps from colliders", default=MARGIN, min=0.0, subtype="DISTANCE"
    )
    cells: bpy.props.IntProperty(
        name="Cells", description="Cells of the field of a mesh along its longest side", default=64, min=4, max=512
    )

    def run(self, context: bpy.types.Context) -> str:
        obj = hair_object(context)
        others = [o for o in context.selected_objects if o != obj and o.type != "ARMATURE"]
        is_new = modifier.find(obj) is None
        given = document(self.style) if is_new else self._restyled(obj)
        fields = add_colliders(obj, given, others, self.margin, self.cells)
        if is_new:
            operators.add(obj, nodes.from_document(given, f"{obj.name} {self.style}"), context.scene)
            context.view_layer.update()
            if live.message(obj):
                raise Problem(live.message(obj))
        else:
            graphs.put(context, obj, given)
        problem = _check_surface(obj)
        if problem:
            self.report({"WARNING"}, problem)
        return f"'{obj.name}': {len(obj.data.curves)} strands, {len(fields)} colliders"

    def _restyled(self, obj: bpy.types.Object) -> graphs.Document:
        """The graph with another style."""
        given = graphs.document(obj)
        for name in graphs.of_kind(given, "hair_sim"):
            given["nodes"][name]["preset"] = self.style
            return given
        raise Problem(f"'{obj.name}' has a graph without hair_sim. Remove Sinew first, or add the node yourself")


class SINEW_OT_hair_colliders(Operator):
    """Let the active hair collide with the other selected objects: meshes, and empties of the type Sphere"""

    bl_idname = "sinew.hair_colliders"
    bl_label = "Add Colliders"

    margin: bpy.props.FloatProperty(
        name="Margin", description="Distance that hair keeps from colliders", default=MARGIN, min=0.0, subtype="DISTANCE"
    )
    cells: bpy.props.IntProperty(
        name="Cells", description="Cells of the field of a mesh along its longest side", default=64, min=4, max=512
    )

    def run(self, context: bpy.types.Context) -> str:
        obj = hair_object(context)
        others = [o for o in context.selected_objects if o != obj]
        if not others:
            raise Problem(f"Only '{obj.name}' is selected. Select the colliders, then the hair as the active object")
        given = graphs.document(obj)
        fields = add_colliders(obj, given, others, self.margin, self.cells)
        graphs.put(context, obj, given)
        return f"{len(fields)} colliders: {', '.join(fields)}"


class SINEW_OT_hair_rest(Operator):
    """Make the present shape of the hair its rest shape. The simulation starts again"""

    bl_idname = "sinew.hair_rest"
    bl_label = "Apply as Rest"

    def run(self, context: bpy.types.Context) -> str:
        obj = hair_object(context)
        bound = graphs.session(context, obj)
        points = rest_of_present(bound)
        local = points @ matrices.to_object(bound)[:3, :3].T + matrices.to_object(bound)[:3, 3]
        farthest = float(np.linalg.norm(local - rest_positions(obj), axis=1).max())
        obj.data.points.foreach_set("position", local.astype(np.float32).ravel())
        obj.data.update_tag()
        live.bind(obj)
        context.view_layer.update()
        if live.message(obj):
            raise Problem(live.message(obj))
        return f"The rest shape of '{obj.name}' moved by up to {farthest:.4f} m"


def rest_of_present(bound: Any) -> Matrix:
    """The strands of the last frame, moved back to the bind pose with their roots. The roots themselves stay."""
    view = bound.character.strands[0]
    now = bound.scene.astype(np.float64)
    if not bound.skinned:
        made = now.copy()
    else:
        skins = matrices.blended(bound)
        local = np.linalg.solve(skins, np.c_[now, np.ones(len(now))][:, :, None])[:, :, 0]
        made = local[:, :3]
    roots = np.concatenate([[0], np.cumsum(view.strand_counts)[:-1]]).astype(np.intp)
    made[roots] = view.positions[roots]
    return made


class SINEW_PT_hair(SubPanel, bpy.types.Panel):
    """Hair of the active curves."""

    bl_label = "Hair"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For hair curves."""
        return context.object is not None and context.object.type == "CURVES"

    def show(self, context: bpy.types.Context) -> None:
        """Styles, colliders, rest shape."""
        obj = context.object
        layout = self.layout
        layout.prop(obj.data, "surface")
        layout.operator_menu_enum("sinew.hair_from_curves", "style", icon="OUTLINER_OB_CURVES")
        if obj.sinew.tree is None:
            return
        layout.operator("sinew.hair_colliders", icon="MOD_PHYSICS")
        layout.operator("sinew.hair_rest", icon="CHECKMARK")
        bound = live.session(obj)
        if bound is not None:
            view = bound.character.strands[0]
            layout.label(text=f"{len(obj.data.curves)} strands, {view.vertex_count} points")


CLASSES = [SINEW_OT_hair_from_curves, SINEW_OT_hair_colliders, SINEW_OT_hair_rest, SINEW_PT_hair]


def register() -> None:
    """Registers operators and panel."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
