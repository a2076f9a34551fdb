# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels in the sidebar of the 3D view."""

from __future__ import annotations

import bpy

from . import core, labels, live, modifier


class SINEW_PT_main(bpy.types.Panel):
    """Graph of the active object."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sinew"
    bl_label = "Sinew"

    def draw(self, context: bpy.types.Context) -> None:
        """Add, or graph, mix and state."""
        layout = self.layout
        if core.MISSING:
            layout.label(text="Package missing: see the preferences", icon="ERROR")
            return
        obj = context.object
        own = modifier.find(obj) if obj else None
        if obj is not None and obj.type == "ARMATURE":
            _of_armature(context, layout, obj)
            return
        if obj is not None and obj.sinew_sculpt.source is not None:
            labels.draw(layout, f"Sculpt of '{obj.sinew_sculpt.source.name}'", "SCULPTMODE_HLT", labels.sidebar_width(context))
            layout.operator("sinew.corrective_apply", icon="CHECKMARK")
            return
        if own is None and obj is not None and obj.sinew.tree is not None:
            box = layout.box()
            box.alert = True
            labels.draw(box, "The Sinew modifier is gone", "ERROR", labels.sidebar_width(context))
            layout.operator("sinew.rebind", text="Add It Again", icon="ADD")
            layout.operator("sinew.remove", icon="X")
            return
        if own is None:
            layout.operator_menu_enum("sinew.add", "preset", text="Add Sinew", icon="ADD")
            layout.operator("sinew.graph_load", icon="FILE_FOLDER")
            return
        _graph(layout, obj, own)
        _state(context, layout, obj)


def _of_armature(context: bpy.types.Context, layout: bpy.types.UILayout, armature: bpy.types.Object) -> None:
    """The objects with a graph that an armature moves. Their graphs are shown when they are active."""
    moved = [o for o in context.scene.objects if o.sinew.tree is not None and o.sinew.armature == armature]
    if not moved:
        labels.draw(layout, "Select the mesh that this armature moves", "INFO", labels.sidebar_width(context))
    for obj in moved:
        layout.label(text=obj.name, icon="MESH_DATA" if obj.type == "MESH" else "CURVES_DATA")
        if live.message(obj):
            box = layout.box()
            box.alert = True
            labels.draw(box, live.message(obj), "ERROR", labels.sidebar_width(context))


def _graph(layout: bpy.types.UILayout, obj: bpy.types.Object, own: bpy.types.Modifier) -> None:
    layout.prop(obj.sinew, "tree")
    row = layout.row(align=True)
    row.prop(own, "show_viewport", text="")
    row.prop(own, "show_render", text="")
    row.prop(own, f'["{modifier.identifier(own, modifier.MIX)}"]', text="Mix", slider=True)
    column = layout.column()
    column.use_property_split = True
    column.prop(obj.sinew, "armature")
    column.prop(obj.sinew, "device")
    tree = obj.sinew.tree
    if obj.sinew.output or (tree and sum(node.bl_idname == "SinewOutputNode" for node in tree.nodes) > 1):
        column.prop(obj.sinew, "output")


def _state(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    width = labels.sidebar_width(context)
    text = live.message(obj)
    if text:
        box = layout.box()
        box.alert = True
        labels.draw(box, text, "ERROR", width)
    bound = live.session(obj)
    for warning in bound.warnings if bound else []:
        labels.draw(layout.box(), warning, "INFO", width)
    row = layout.row(align=True)
    row.operator("sinew.rebind", icon="FILE_REFRESH")
    if bound and bound.simulates:
        row.operator("sinew.restart", icon="REW", text="Restart")
    row.operator("sinew.remove", icon="X", text="")
    row = layout.row(align=True)
    row.operator("sinew.graph_load", icon="FILE_FOLDER", text="Load")
    row.operator("sinew.graph_save", icon="FILE_TICK", text="Save")


CLASSES = [SINEW_PT_main]


def register() -> None:
    """Registers the panels."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Removes them."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
