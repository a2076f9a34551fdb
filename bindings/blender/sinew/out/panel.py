# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel with the bakes and exports."""

from __future__ import annotations

import bpy

from .. import labels, modifier
from . import bake

BAKES = [("sinew.bake_shape_keys", "SHAPEKEY_DATA"), ("sinew.bake_point_cache", "MOD_MESHDEFORM"), ("sinew.bake_skin", "MOD_ARMATURE")]
EXPORTS = [("sinew.export_glb", "EXPORT"), ("sinew.export_alembic", "EXPORT")]


class SINEW_PT_out(bpy.types.Panel):
    """Bakes and exports of the active object."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sinew"
    bl_label = "Bake and Export"
    bl_parent_id = "SINEW_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Vertex textures work for any object with faces or points."""
        return context.object is not None and (modifier.find(context.object) is not None or bpy.ops.sinew.bake_vat.poll())

    def draw(self, context: bpy.types.Context) -> None:
        """One button for each format."""
        deformed = modifier.find(context.object) is not None
        if context.object.get(bake.BAKED):
            self.layout.operator("sinew.bake_remove", icon="LOOP_BACK")
        column = self.layout.column(align=True)
        for name, icon in BAKES if deformed else []:
            column.operator(name, icon=icon)
        column.operator("sinew.bake_vat", icon="TEXTURE")
        column = self.layout.column(align=True)
        for name, icon in EXPORTS if deformed else []:
            column.operator(name, icon=icon)
        report = bpy.data.texts.get(f"Vertex Textures {context.object.name}")
        if report is not None:
            box = self.layout.box()
            for part in report.as_string().replace("; ", "\n").split("\n")[:8]:
                if part:
                    labels.draw(box, part, "DOT", labels.sidebar_width(context), most=3)


def register() -> None:
    """Registers the panel."""
    bpy.utils.register_class(SINEW_PT_out)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_PT_out)
