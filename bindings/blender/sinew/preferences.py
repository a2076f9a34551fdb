# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences: device, threads, cache folder."""

from __future__ import annotations

import os

import bpy

from . import core


class SinewPreferences(bpy.types.AddonPreferences):
    """Settings for all files."""

    bl_idname = __package__

    device: bpy.props.EnumProperty(
        name="Device",
        description="Where graphs are evaluated, unless an object says otherwise",
        items=[
            ("cpu", "CPU", "The same numbers in every run"),
            ("gpu", "GPU", "The graphics card. Results are equal up to rounding"),
        ],
    )
    threads: bpy.props.IntProperty(
        name="Threads", description="Threads of the CPU. 0: one for each core. Takes effect when Blender starts", min=0, max=1024
    )
    cache: bpy.props.StringProperty(
        name="Cache", description="Folder for bakes. // is the folder of the .blend file", default="//sinew_cache", subtype="DIR_PATH"
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """The page in Blender's preferences."""
        layout = self.layout
        if core.MISSING:
            column = layout.column()
            column.alert = True
            for line in core.MISSING.split(". "):
                column.label(text=line, icon="ERROR")
            return
        layout.use_property_split = True
        layout.prop(self, "device")
        layout.prop(self, "threads")
        layout.prop(self, "cache")
        layout.label(text=f"Sinew {core.version()}")


def get() -> SinewPreferences | None:
    """The preferences; `None` while Blender registers the extension from a script."""
    addon = bpy.context.preferences.addons.get(__package__)
    return addon.preferences if addon else None


def device() -> str:
    """Device for objects that name none."""
    own = get()
    return own.device if own else "cpu"


def cache() -> str:
    """Folder for bakes, absolute."""
    own = get()
    named = own.cache if own else "//sinew_cache"
    if named.startswith("//") and not bpy.data.filepath:
        return os.path.join(bpy.app.tempdir, "sinew_cache")
    return bpy.path.abspath(named)


def register() -> None:
    """Registers the page, and takes over the number of threads."""
    bpy.utils.register_class(SinewPreferences)
    own = get()
    if own and own.threads:
        # Read by the thread pool at its first use.
        os.environ.setdefault("RAYON_NUM_THREADS", str(own.threads))


def unregister() -> None:
    """Removes the page."""
    bpy.utils.unregister_class(SinewPreferences)
