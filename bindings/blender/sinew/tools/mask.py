# SPDX-License-Identifier: GPL-3.0-or-later
"""Mask nodes from vertex groups, colour attributes and selected vertices."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..operators import target
from ..report import Operator, Problem
from . import graphs
from .ui import SubPanel

CHANNELS = [("0", "Red", ""), ("1", "Green", ""), ("2", "Blue", ""), ("3", "Alpha", "")]
COMBINE = [
    ("REPLACE", "Replace", "In place of a mask that is linked"),
    ("multiply", "Multiply", "Product with the mask that is linked"),
    ("maximum", "Add Region", "The larger weight of both"),
    ("subtract", "Subtract Linked", "This mask minus the mask that is linked"),
]


def masked_node(obj: bpy.types.Object, given: graphs.Document, wanted: str = "") -> str:
    """The node that a mask is linked to: the named one, the active one, or the last one with a mask input."""
    if wanted:
        if wanted not in given["nodes"]:
            raise Problem(f"The graph has no node '{wanted}'. It has {', '.join(given['nodes'])}")
        if not _takes_mask(given["nodes"][wanted]):
            raise Problem(f"Node '{wanted}' ({given['nodes'][wanted]['node']}) has no mask input")
        return wanted
    active = getattr(getattr(obj.sinew.tree.nodes, "active", None), "key", None)
    if active in given["nodes"] and _takes_mask(given["nodes"][active]):
        return active  # type: ignore[no-any-return]
    for name in reversed(graphs.chain(given, graphs.output_of(obj, given))):
        if _takes_mask(given["nodes"][name]):
            return name
    raise Problem(f"No node of the graph of '{obj.name}' has a mask input. Add one that has, such as delta_mush or smooth")


def _takes_mask(keys: dict[str, Any]) -> bool:
    return any(port["name"] == "mask" for port in graphs.kinds().get(keys["node"], {}).get("inputs", []))


def add_mask(given: graphs.Document, node: str, base: str, keys: dict[str, Any], combine: str) -> str:
    """Adds a mask node, and links it to a node."""
    main = graphs.main_input(given, "mesh")
    if main is None:
        raise Problem("The graph has no mesh input. Add an input node of type mesh")
    name = graphs.free(given, _legal(base))
    made: dict[str, Any] = {"node": "mask", "mesh": main, **keys}
    before = given["nodes"][node].get("mask")
    if before is not None and combine != "REPLACE":
        made["with"], made["combine"] = before, combine
    elif before is not None:
        _drop(given, graphs.source(before), node)
    given["nodes"][name] = made
    given["nodes"][node]["mask"] = name
    return name


def _legal(base: str) -> str:
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in base) or "mask"


def _drop(given: graphs.Document, mask: str | None, user: str) -> None:
    """Removes a replaced mask that nothing else reads."""
    if mask not in given["nodes"] or given["nodes"][mask]["node"] != "mask":
        return
    others = [n for n, keys in given["nodes"].items() if n not in (mask, user) and mask in graphs._sources(keys)]
    outputs = [graphs.source(link) for link in given["outputs"].values()]
    if not others and mask not in outputs:
        del given["nodes"][mask]


def free_attribute(obj: bpy.types.Object, base: str) -> str:
    """A name that no attribute and no vertex group of the mesh has."""
    taken = {a.name for a in obj.data.attributes} | {g.name for g in obj.vertex_groups}
    name, number = base, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name


def write_attribute(obj: bpy.types.Object, name: str, weights: Any) -> None:
    """A float for each vertex."""
    attribute = obj.data.attributes.get(name) or obj.data.attributes.new(name, "FLOAT", "POINT")
    attribute.data.foreach_set("value", np.ascontiguousarray(weights, np.float32))
    obj.data.update_tag()


def select(mesh: bpy.types.Mesh, chosen: Any) -> None:
    """Selects vertices (n,) and nothing else. Setting "select" of `mesh.edges` as an array crashes Blender 5.0."""
    import bmesh

    made = bmesh.new()
    made.from_mesh(mesh)
    for part in (made.faces, made.edges):
        for element in part:
            element.select = False
    for vertex, wanted in zip(made.verts, chosen):
        vertex.select = bool(wanted)
    made.to_mesh(mesh)
    made.free()


def group_weights(obj: bpy.types.Object, group: bpy.types.VertexGroup) -> Any:
    """(n,) weights of a vertex group."""
    weights = np.zeros(len(obj.data.vertices), np.float32)
    for vertex in obj.data.vertices:
        for entry in vertex.groups:
            if entry.group == group.index:
                weights[vertex.index] = entry.weight
    return weights


class MaskOperator(Operator):
    """Base of the operators that add a mask."""

    bl_idname = "sinew.mask_base"
    node: bpy.props.StringProperty(
        name="Node", description="Node that takes the mask. Empty: the active one, or the last one with a mask input"
    )
    combine: bpy.props.EnumProperty(name="Combine", description="What happens to a mask that is linked", items=COMBINE)
    invert: bpy.props.BoolProperty(name="Invert", description="Use 1 minus the weight")

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        if obj.type != "MESH":
            raise Problem(f"'{obj.name}' is hair. Masks are for meshes")
        given = graphs.document(obj)
        node = masked_node(obj, given, self.node)
        base, keys = self.keys(obj)
        if keys["source"] == "joint":
            keys["pose"] = graphs.need_input(given, "pose")
        if self.invert:
            keys["invert"] = True
        name = add_mask(given, node, base, keys, self.combine)
        graphs.put(context, obj, given)
        return f"Mask '{name}' limits node '{node}'"

    def keys(self, obj: bpy.types.Object) -> tuple[str, dict[str, Any]]:
        """Name and source of the mask."""
        raise NotImplementedError


class SINEW_OT_mask_from_group(MaskOperator):
    """Limit a node to the active vertex group. For the group of a deforming bone, the mask has the skin weights of the bone"""

    bl_idname = "sinew.mask_from_group"
    bl_label = "Mask from Vertex Group"

    group: bpy.props.StringProperty(name="Group", description="Vertex group. Empty: the active one")

    def keys(self, obj: bpy.types.Object) -> tuple[str, dict[str, Any]]:
        group = obj.vertex_groups.get(self.group) if self.group else obj.vertex_groups.active
        if group is None:
            names = ", ".join(g.name for g in obj.vertex_groups) or "none"
            what = (
                f"has no vertex group '{self.group}'. It has {names}"
                if self.group
                else "has no active vertex group. Make one in Properties > Data"
            )
            raise Problem(f"'{obj.name}' {what}")
        armature = obj.sinew.armature
        name = group.name
        bone = armature.data.bones.get(name) if armature is not None else None
        if bone is not None and bone.use_deform:
            # The weights of the skin: they stay those of the bone when the character is painted again or comes from a file.
            return name, {"source": "joint", "joints": [name]}
        if bone is not None:
            # A bone that does not deform has no weights in the skin.
            name = free_attribute(obj, f"{group.name}_mask")
            write_attribute(obj, name, group_weights(obj, group))
        return group.name, {"source": "attribute", "attribute": name}


class SINEW_OT_mask_from_color(MaskOperator):
    """Limit a node to a channel of the active colour attribute"""

    bl_idname = "sinew.mask_from_color"
    bl_label = "Mask from Colour"

    channel: bpy.props.EnumProperty(name="Channel", description="Channel of the colours", items=CHANNELS)

    def keys(self, obj: bpy.types.Object) -> tuple[str, dict[str, Any]]:
        active = obj.data.color_attributes.active_color
        if active is None:
            raise Problem(f"'{obj.name}' has no colour attribute. Paint one in Vertex Paint mode")
        return active.name, {"source": "attribute", "attribute": active.name, "component": int(self.channel)}


class SINEW_OT_mask_from_selection(MaskOperator):
    """Limit a node to the selected vertices"""

    bl_idname = "sinew.mask_from_selection"
    bl_label = "Mask from Selection"

    def run(self, context: bpy.types.Context) -> str:
        obj = target(context)
        editing = obj.mode == "EDIT"
        if editing:
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            return super().run(context)
        finally:
            if editing:
                bpy.ops.object.mode_set(mode="EDIT")

    def keys(self, obj: bpy.types.Object) -> tuple[str, dict[str, Any]]:
        selected = np.zeros(len(obj.data.vertices), bool)
        obj.data.vertices.foreach_get("select", selected)
        if not selected.any():
            raise Problem(f"No vertex of '{obj.name}' is selected. Select vertices in edit mode")
        name = free_attribute(obj, "selection_mask")
        write_attribute(obj, name, selected)
        return name, {"source": "attribute", "attribute": name}


class SINEW_PT_mask(SubPanel, bpy.types.Panel):
    """Masks for the nodes of the graph."""

    bl_label = "Mask"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For meshes with a graph."""
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.sinew.tree is not None

    def show(self, context: bpy.types.Context) -> None:
        """Where masks come from."""
        obj = context.object
        column = self.layout.column(align=True)
        active = obj.vertex_groups.active
        column.operator("sinew.mask_from_group", text=f"Group: {active.name}" if active else "Vertex Group", icon="GROUP_VERTEX")
        color = obj.data.color_attributes.active_color
        column.operator_menu_enum(
            "sinew.mask_from_color", "channel", text=f"Colour: {color.name}" if color else "Colour", icon="GROUP_VCOL"
        )
        column.operator("sinew.mask_from_selection", text="Selected Vertices", icon="VERTEXSEL")


CLASSES = [SINEW_OT_mask_from_group, SINEW_OT_mask_from_color, SINEW_OT_mask_from_selection, SINEW_PT_mask]


def register() -> None:
    """Registers operators and panel."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
