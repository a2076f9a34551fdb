# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports, in the panel and in Blender's File menu."""

from __future__ import annotations

import bpy

from .. import report


class SINEW_PT_into(bpy.types.Panel):
    """Imports."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sinew"
    bl_label = "Import"
    bl_parent_id = "SINEW_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """One button for each."""
        column = self.layout.column(align=True)
        column.operator("sinew.import_glb", icon="IMPORT")
        column.operator("sinew.import_psd", icon="DRIVER")


@report.guarded
def _menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    self.layout.operator("sinew.import_glb", text="Character with Sinew Graph (.glb, .gltf, .vrm, .fbx)")


def register() -> None:
    """Registers the panel and the menu entry."""
    bpy.utils.register_class(SINEW_PT_into)
    bpy.types.TOPBAR_MT_file_import.append(_menu)


def unregister() -> None:
    """Removes them."""
    bpy.types.TOPBAR_MT_file_import.remove(_menu)
    bpy.utils.unregister_class(SINEW_PT_into)
