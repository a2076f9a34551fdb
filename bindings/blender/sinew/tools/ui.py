# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels of the tools share."""

from __future__ import annotations

import bpy

from .. import labels, report


class SubPanel:
    """A panel below the main one, closed by default. `show` draws it; its errors stay inside."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sinew"
    bl_parent_id = "SINEW_PT_main"
    bl_options = {"DEFAULT_CLOSED"}
    layout: bpy.types.UILayout

    def show(self, context: bpy.types.Context) -> None:
        """Draws the panel."""
        raise NotImplementedError

    def draw(self, context: bpy.types.Context) -> None:
        """Draws the panel, whatever happens."""
        try:
            self.show(context)
        except Exception as error:  # noqa: BLE001  Blender would print it at every redraw.
            labels.draw(self.layout, report.show_once(type(self).__name__, error), "ERROR", labels.sidebar_width(context))
