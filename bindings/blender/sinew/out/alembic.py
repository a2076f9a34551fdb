# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports the object through Blender's Alembic exporter, frame by frame as it is live."""

from __future__ import annotations

import bpy

from .. import live
from ..jobs import Steps
from ..report import Problem
from . import bake, places


class SINEW_OT_export_alembic(bake.BakeOperator):
    """Export the deformed object as Alembic (.abc), with all of its modifiers"""

    bl_idname = "sinew.export_alembic"
    bl_label = "Export Alembic"
    bl_options = {"REGISTER"}
    filename_ext = ".abc"

    filepath: bpy.props.StringProperty(
        name="File", description="Alembic file. Empty: in the cache folder", subtype="FILE_PATH", options=bake.PATH_OPTIONS
    )
    filter_glob: bpy.props.StringProperty(default="*.abc", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Blender can be built without Alembic."""
        if not bpy.app.build_options.alembic:
            cls.poll_message_set("This Blender was built without Alembic")
            return False
        return super().poll(context)

    def steps(self, context: bpy.types.Context) -> Steps:
        obj = context.object
        bake.bound(context, obj)
        if obj.type == "MESH":
            places.check(context, obj)
        first, last = self.range(context)
        path = bake.absolute(self.filepath or bake.default_path(obj, ".abc"), ".abc")
        new = bake.new_folder(path)
        yield 0, 1
        for bound in live.STATE.sessions.values():
            bound.restart()
        with bake.complete(path) as temporary, bake.selected(context, [obj]):
            # A background job would run Python handlers in another thread.
            done = bpy.ops.wm.alembic_export(
                filepath=temporary,
                start=first,
                end=last,
                selected=True,
                flatten=False,
                evaluation_mode="VIEWPORT",
                as_background_job=False,
            )
            if "FINISHED" not in done or live.message(obj):
                raise Problem(f"Blender could not export '{obj.name}'. {live.message(obj) or 'Its console says why'}")
        self.result = f"Wrote frames {first} to {last} to {path}{new}"


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_export_alembic)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_export_alembic)
