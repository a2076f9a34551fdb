# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes the deformation to a PC2 file, which a Mesh Cache modifier plays: also without the extension, for example on a farm."""

from __future__ import annotations

import struct

import bpy

from .. import modifier
from ..jobs import Steps
from . import bake


class SINEW_OT_bake_point_cache(bake.BakeOperator):
    """Bake the deformation to a point cache (PC2) and play it with a Mesh Cache modifier. Sinew is switched off afterwards"""

    bl_idname = "sinew.bake_point_cache"
    bl_label = "Bake to Point Cache"
    filename_ext = ".pc2"

    filepath: bpy.props.StringProperty(
        name="File", description="PC2 file. Empty: in the cache folder", subtype="FILE_PATH", options=bake.PATH_OPTIONS
    )
    filter_glob: bpy.props.StringProperty(default="*.pc2", options={"HIDDEN"})

    def steps(self, context: bpy.types.Context) -> Steps:
        obj = bake.deformed(context, again=bake.POINT_CACHE)
        first, last = self.range(context)
        total = last - first + 1
        path = bake.absolute(self.filepath or bake.default_path(obj, ".pc2"), ".pc2")
        new = bake.new_folder(path)
        with bake.complete(path) as temporary, bake.files(path), open(temporary, "wb") as file:
            file.write(header(len(obj.data.vertices), first, total))
            for frame, points in bake.positions(context, obj, first, last):
                file.write(points.astype("<f4", copy=False).tobytes())
                yield frame - first, total
            file.close()
        _play(obj, path, first)
        self.result = f"Wrote {total} frames to {path}. Modifier '{bake.CACHE}' plays them, and Sinew is off. Back to Live undoes this{new}"


def header(points: int, first: int, frames: int) -> bytes:
    """Head of a PC2 file with one sample for each frame."""
    return struct.pack("<12siiffi", b"POINTCACHE2\0", 1, points, float(first), 1.0, frames)


def _play(obj: bpy.types.Object, path: str, first: int) -> None:
    """Sets up the modifier at the place of Sinew. The one of an earlier bake is used again."""
    own = modifier.find(obj)
    cache = next(iter(bake.caches(obj)), None)
    if cache is None:
        cache = obj.modifiers.new(bake.CACHE, "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = bake.stored(path)
    cache.deform_mode, cache.interpolation = "OVERWRITE", "LINEAR"
    cache.play_mode, cache.time_mode = "SCENE", "FRAME"
    cache.frame_start, cache.frame_scale, cache.factor = float(first), 1.0, 1.0
    # The file has the axes of the object.
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"
    cache.show_viewport = cache.show_render = True
    index = list(obj.modifiers).index(own)
    place = list(obj.modifiers).index(cache)
    obj.modifiers.move(place, index + 1 if place > index else index)
    bake.mark(obj, bake.POINT_CACHE, render=own.show_render or obj.get(bake.BAKED) == bake.POINT_CACHE)
    bake.switch_off(obj)


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_bake_point_cache)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_bake_point_cache)
