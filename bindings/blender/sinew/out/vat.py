# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes any animated object to vertex textures: cloth, fluids, geometry nodes, also with faces that change."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from .. import jobs, preferences
from ..core import sd
from ..jobs import Steps
from ..report import Problem, message_of
from ..session import fps
from ..space import SCENE_FROM_WORLD, matrix
from . import bake, ply, words

KINDS = {"MESH", "CURVE", "SURFACE", "FONT", "META", "POINTCLOUD"}
MODES = [
    ("auto", "Automatic", "Sinew looks at the frames and chooses"),
    ("remesh", "Changing Faces", "Triangles change: fluids, booleans, cloth that tears"),
    ("soft", "Soft", "Triangles stay the same: cloth, characters"),
    ("rigid", "Rigid Pieces", "Pieces move without bending: fractures"),
    ("particles", "Particles", "Points without faces"),
]
ENGINES = [
    ("gltf", "glTF", "Y up, metres"),
    ("godot", "Godot", "Y up, metres, for Godot's 8-bit textures"),
    ("three", "three.js", "Y up, metres"),
    ("bevy", "Bevy", "Y up, metres"),
    ("blender", "Blender", "Z up, metres"),
    ("unity", "Unity", "Y up, left-handed, metres"),
    ("unreal", "Unreal", "Z up, left-handed, centimetres"),
]
ENDS = [
    ("loop", "Loop", "Jump to the first frame"),
    ("seamless-loop", "Seamless Loop", "Blend into the first frame"),
    ("clamp", "Clamp", "Stay on the last frame"),
]
MENUS = {"mode": MODES, "for": ENGINES, "at-end": ENDS}
SPACES = [("WORLD", "World", "The textures hold the motion of the object"), ("OBJECT", "Object", "As seen from the object")]


class SINEW_OT_bake_vat(bake.BakeOperator):
    """Bake the active object to vertex textures for game engines. It needs no Sinew graph: every animated object works"""

    bl_idname = "sinew.bake_vat"
    bl_label = "Bake Vertex Textures"
    bl_options = {"REGISTER"}

    folder: bpy.props.StringProperty(
        name="Folder", description="Folder for the bake. Empty: in the cache folder", subtype="DIR_PATH", options=bake.PATH_OPTIONS
    )
    mode: bpy.props.EnumProperty(name="Mode", description="Kind of bake", items=MODES)
    engine: bpy.props.EnumProperty(name="For", description="Axes and unit of the textures", items=ENGINES)
    at_end: bpy.props.EnumProperty(name="At the End", description="What follows the last frame", items=ENDS)
    space: bpy.props.EnumProperty(name="Space", description="Where positions are measured from", items=SPACES)
    faces: bpy.props.IntProperty(name="Faces", description="Simplify each frame to this number of faces. 0: keep all", min=0)
    textures: bpy.props.StringProperty(
        name="Textures",
        description="Textures with their formats, separated by commas: position:unorm16, normal:unorm8, uv0:half, attribute=NAME:half. "
        "Empty: positions and normals",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Any object with faces or points."""
        if context.object is None or context.object.type not in KINDS:
            cls.poll_message_set("Select an object with faces or points")
            return False
        return True

    def steps(self, context: bpy.types.Context) -> Steps:
        obj = context.object
        first, last = self.range(context)
        total = last - first + 1
        out = bake.absolute(self.folder or os.path.join(preferences.cache(), bpy.path.clean_name(obj.name) + "_vat"))
        new = "" if os.path.isdir(out) else ". The folder is new"
        with bake.temporary_folder() as work, _new_folder(out), _words(work, obj):
            source = os.path.join(work, "frames")
            os.mkdir(source)
            has_velocity, smooth = True, set()
            for frame in jobs.frames(context, first, last):
                made = self._frame(context, obj)
                has_velocity = has_velocity and "vx" in made.attributes
                smooth.add(made.smooth)
                with bake.files():
                    ply.write(os.path.join(source, f"frame_{frame:05d}.ply"), made)
                yield frame - first, 2 * total
            results: list[Any] = []
            arguments = self._arguments(context, obj, has_velocity)
            # Smooth and flat shading as Blender shows them. Other normals: edges are sharp from the default angle on.
            if smooth in ({1.0}, {0.0}):
                arguments["crease"] = 180.0 * smooth.pop()
            yield from _half(
                jobs.threaded(
                    lambda progress, cancel: sd.bake_vat(
                        source, output=out, work=os.path.join(work, "work"), progress=progress, cancel=cancel, **arguments
                    ),
                    results,
                )
            )
        text = _report(obj, results[0], out)
        self.result = f"Wrote {out}. The text '{text.name}' is the report{new}"
        for warning in results[0].warnings:
            self.report({"WARNING"}, words.translated(warning["message"], MENUS))

    def _frame(self, context: bpy.types.Context, obj: bpy.types.Object) -> ply.Frame:
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        world = matrix(evaluated.matrix_world) if self.space == "WORLD" else np.eye(4)
        return ply.frame(evaluated, SCENE_FROM_WORLD @ world, ["velocity", "id", "size", *self._named()])

    def _named(self) -> list[str]:
        """Attributes that the textures name."""
        return [part.split("=", 1)[1].split(":")[0] for part in self._textures() if "=" in part]

    def _textures(self) -> list[str]:
        return [part.strip() for part in self.textures.split(",") if part.strip()]

    def _arguments(self, context: bpy.types.Context, obj: bpy.types.Object, has_velocity: bool) -> dict[str, Any]:
        out: dict[str, Any] = {"up": "y", "fps": fps(context.scene), "name": bpy.path.clean_name(obj.name)}
        out.update(mode=self.mode, for_=self.engine, at_end=self.at_end)
        if has_velocity and self.mode in {"auto", "remesh"}:
            out["velocity"] = "velocity"
        if self.faces:
            out["faces"] = self.faces
        if self._textures():
            out["texture"] = self._textures()
        return out


@contextmanager
def _words(work: str, obj: bpy.types.Object) -> Iterator[None]:
    """Errors of the package in the words of the operator. Instead of temporary files they name the object."""
    try:
        yield
    except sd.SinewError as error:
        text = words.translated(message_of(error), MENUS)
        raise Problem(re.sub(rf"'?{re.escape(work)}[^\s':;,]*'?", f"'{obj.name}'", text)) from error


@contextmanager
def _new_folder(path: str) -> Iterator[None]:
    """Removes a folder again that an error or a cancel left behind. A folder that was there stays."""
    was_there = os.path.exists(path)
    is_done = False
    try:
        yield
        is_done = True
    finally:
        if not is_done and not was_there and os.path.isdir(path):
            shutil.rmtree(path)


def _half(steps: Steps) -> Steps:
    """Second half of the progress bar."""
    for done, total in steps:
        yield total + done, 2 * total


def _report(obj: bpy.types.Object, result: Any, out: str) -> bpy.types.Text:
    """The report as a text of the file."""
    name = f"Vertex Textures {obj.name}"
    text = bpy.data.texts.get(name) or bpy.data.texts.new(name)
    lines = [f"Vertex textures of '{obj.name}'", f"Folder: {out}"]
    lines += [words.translated(str(event["message"]), MENUS) for event in result.events if event.get("message")]
    if result.data is not None:
        lines.append(result.data if isinstance(result.data, str) else json.dumps(result.data, indent=2, ensure_ascii=False))
    text.from_string("\n".join(lines) + "\n")
    text.use_fake_user = False
    return text


def register() -> None:
    """Registers the operator."""
    bpy.utils.register_class(SINEW_OT_bake_vat)


def unregister() -> None:
    """Removes it."""
    bpy.utils.unregister_class(SINEW_OT_bake_vat)
